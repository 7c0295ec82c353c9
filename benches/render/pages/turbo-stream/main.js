import '@hotwired/turbo';

document.addEventListener('turbo:before-stream-render', (event) => {
  for (const link of event.detail.newStream.templateContent.querySelectorAll('a')) link.href += '?from=stream';
});
