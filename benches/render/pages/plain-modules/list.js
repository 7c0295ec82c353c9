export let count = 0;

export default function list(items) {
  const rows = document.createDocumentFragment();
  for (const { url, name } of items) {
    const row = document.createElement('li');
    row.innerHTML = '<a></a>';
    Object.assign(row.firstChild, { href: url, textContent: name });
    rows.append(row);
    count += 1;
  }
  document.querySelector('ul').append(rows);
}
