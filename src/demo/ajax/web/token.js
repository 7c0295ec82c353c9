// A list behind an interface that wants the page's own token first, then a bearer that ends soon.
(() => {
  const csrf = document.querySelector('meta[name="csrf-token"]').content;
  const list = document.getElementById('list');
  const button = document.getElementById('more');
  let bearer = null;
  let page = 0;

  async function renew() {
    const response = await fetch('/token/api/session', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf },
      body: JSON.stringify({ client: 'web', screen: `${screen.width}x${screen.height}` }),
    });
    if (!response.ok) throw new Error(`no session: ${response.status}`);
    bearer = (await response.json()).access_token;
  }

  async function ask(path, isAgain = false) {
    if (!bearer) await renew();
    const response = await fetch(path, { headers: { Authorization: `Bearer ${bearer}` } });
    if (response.status === 401 && !isAgain) {
      bearer = null;
      return ask(path, true);
    }
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }

  async function load() {
    button.disabled = true;
    const { rows, pages } = await ask(`/token/api/list?page=${page + 1}`);
    page += 1;
    for (const row of rows) {
      const item = document.createElement('li');
      const link = Object.assign(document.createElement('a'), { href: row.get, textContent: row.title });
      item.append(link, ` (${row.size})`);
      list.append(item);
    }
    button.hidden = page >= pages;
    button.disabled = false;
  }

  button.addEventListener('click', load);
  load();
})();
