import { api, h } from './dom-51d0c2.js';

const row = ({ id, title, size }) =>
  h('li', { class: 'card', 'data-id': id }, h('a', { href: `/spa/torrent/${id}` }, title), h('small', {}, size));

export default async function list(page) {
  const { items, pages } = await api(`torrents?${new URLSearchParams({ page })}`);
  const to = (at, label) => (at >= 1 && at <= pages ? h('a', { href: `/spa/page/${at}`, rel: label }, label) : null);
  return h('section', {}, h('ul', {}, items.map(row)), h('nav', { class: 'pager' }, to(page - 1, 'prev'), to(page + 1, 'next')));
}
