import m from 'mithril';
import stream from 'mithril/stream';

const List = () => {
  const items = stream([]);
  let shown = null;
  const load = async (page) => {
    shown = page;
    items((await m.request(`/api/torrents?page=${page}`)).items);
  };
  return {
    oninit: ({ attrs }) => load(attrs.page),
    onbeforeupdate: ({ attrs }) => {
      if (attrs.page !== shown) load(attrs.page);
    },
    view: ({ attrs }) => [
      items().map((item) => m('div', m(m.route.Link, { href: `/torrent/${item.id}` }, item.name), m('a', { href: item.download }, 'get'))),
      m(m.route.Link, { href: `/list/${Number(attrs.page) + 1}`, 'data-act': 'next' }, 'next'),
    ],
  };
};
const Torrent = { view: ({ attrs }) => m('a', { href: `/download/${attrs.id}.torrent` }, 'download') };

m.route(document.getElementById('app'), '/list/1', { '/list/:page': List, '/torrent/:id': Torrent });
