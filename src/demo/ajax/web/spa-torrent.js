import { api, h } from './dom-51d0c2.js';

export default async function torrent(id) {
  const { title, size, files, download } = await api(`torrents/${id}`);
  document.title = title;
  return h(
    'article',
    {},
    h('h1', {}, title),
    h('p', {}, `${size} in ${files} file${files === 1 ? '' : 's'}`),
    h('a', { href: download, class: 'button', download: '' }, 'Download'),
  );
}
