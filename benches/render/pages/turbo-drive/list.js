document.addEventListener('turbo:load', async () => {
  const { items } = await (await fetch(`/api/torrents?per=20&page=${document.body.dataset.page}`)).json();
  const list = document.querySelector('ul');
  list.innerHTML = items.map((item) => `<li><a href="${item.url}">${item.id}</a></li>`).join('');
});
