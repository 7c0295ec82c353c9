import { h, mount } from './dom-51d0c2.js';

// Views come when they are wanted, each in a file of its own, as bundlers cut them.
const routes = [
  { path: /^\/spa\/(?:page\/(\d+))?$/, view: () => import('./list-c07e9d.js') },
  { path: /^\/spa\/torrent\/(\d+)$/, view: () => import('./torrent-2ba644.js') },
];

const outlet = h('main', { class: 'outlet' });
let turn = 0;

async function show() {
  const mine = ++turn;
  const route = routes.find((one) => one.path.test(location.pathname));
  if (!route) {
    return mount(outlet, h('p', {}, 'Not found'));
  }
  mount(outlet, h('p', { class: 'spinner' }, 'Loading…'));
  const [, argument] = location.pathname.match(route.path);
  try {
    const { default: view } = await route.view();
    const made = await view(argument ? Number(argument) : 1);
    // A view that was left while it loaded is not shown.
    if (mine === turn) mount(outlet, made);
  } catch (error) {
    if (mine === turn) mount(outlet, h('p', { class: 'error' }, String(error)));
  }
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href^="/spa/"]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  if (link.pathname !== location.pathname) {
    history.pushState({ at: Date.now() }, '', link.href);
    show();
  }
});
window.addEventListener('popstate', show);

mount(document.getElementById('root'), h('nav', {}, h('a', { href: '/spa/' }, 'Tracker')), outlet);
show();
