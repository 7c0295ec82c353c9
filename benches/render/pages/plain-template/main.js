const table = document.querySelector('#rows');
const prototype = table.querySelector('template');

async function show(category) {
  const { items } = await fetch(`/api/torrents?category=${category}`).then((answer) => answer.json());
  table.querySelectorAll('tr').forEach((row) => row.remove());
  const rows = new DocumentFragment();
  for (const item of items) {
    const row = document.importNode(prototype.content, true);
    const [name, get] = row.querySelectorAll('a');
    name.setAttribute('href', item.url);
    name.append(item.name);
    get.href = item.download;
    row.firstElementChild.dataset.seeders = item.seeders;
    rows.appendChild(row);
  }
  table.append(rows);
}

fetch('/api/categories')
  .then((answer) => answer.json())
  .then((names) => {
    const tabs = document.getElementById('tabs');
    tabs.append(...names.map((name) => Object.assign(document.createElement('button'), { textContent: name })));
    for (const tab of tabs.children) Object.assign(tab.dataset, { act: 'tab', category: tab.textContent });
    tabs.addEventListener('click', ({ target }) => {
      const tab = target.closest('button');
      tabs.querySelector('.on')?.classList.remove('on');
      tab.classList.add('on');
      show(tab.dataset.category);
    });
    tabs.lastElementChild.click();
  });
