// A feed without an end to be seen: what comes into view is loaded by an opaque cursor.
const feed = document.getElementById('feed');
const sentinel = document.getElementById('sentinel');
let cursor = '';
let loading = false;

const article = (item) => {
  const made = document.createElement('article');
  made.innerHTML = `<h2></h2><p>${item.size}</p><a href="${item.get}">Torrent</a>`;
  made.querySelector('h2').textContent = item.title;
  return made;
};

async function more() {
  if (loading || cursor === null) return;
  loading = true;
  try {
    const response = await fetch('/scroll/feed?cursor=' + encodeURIComponent(cursor));
    if (!response.ok) throw new Error(response.statusText || response.status);
    const { items, next } = await response.json();
    feed.append(...items.map(article));
    cursor = next;
  } finally {
    loading = false;
  }
  if (cursor === null) {
    observer.disconnect();
    sentinel.remove();
  } else {
    // Told anew where it still is in view.
    observer.unobserve(sentinel);
    observer.observe(sentinel);
  }
}

const observer = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) more();
}, { rootMargin: '200px' });
observer.observe(sentinel);
