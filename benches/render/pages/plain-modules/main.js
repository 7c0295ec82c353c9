import list, { count } from './list.js';

export const base = new URL('.', import.meta.url).pathname;
const { api } = await import(`${base}api.js`);
list(await api(1));
document.querySelector('[data-act=more]').addEventListener('click', async () => {
  const module = await import('./more.js');
  await module.more();
  document.title = `${count} torrents`;
});
