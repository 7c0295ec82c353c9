import 'flowbite/dist/flowbite.css';
import { Accordion, Carousel, initFlowbite, Tabs } from 'flowbite';
import { rows } from '../rows.js';

const app = document.getElementById('app');
rows().then((items) => {
  const list = items.map((item) => `<h2 id="head-${item.id}"><button>${item.id}</button></h2><div id="body-${item.id}" class="hidden"><a href="${item.url}">open</a></div>`);
  app.innerHTML = `<button id="new-tab">New</button><div id="new">${list.join('')}</div><div id="slides">${items.map((item) => `<div id="slide-${item.id}" class="hidden"><a href="${item.download}">get</a></div>`).join('')}</div>
    <button data-collapse-toggle="more">more</button><div id="more" class="hidden"><a href="/more">more</a></div>`;
  const get = (id) => document.getElementById(id);
  new Tabs(app, [{ id: 'new', triggerEl: get('new-tab'), targetEl: get('new') }], {
    defaultTabId: 'new',
    onShow: () => app.insertAdjacentHTML('beforeend', '<a href="/shown">shown</a>'),
  });
  new Accordion(get('new'), items.map(({ id }) => ({ id: `head-${id}`, triggerEl: get(`head-${id}`), targetEl: get(`body-${id}`), active: id === 1 })));
  new Carousel(get('slides'), items.map(({ id }, position) => ({ position, el: get(`slide-${id}`) })), { interval: 3000 });
  initFlowbite();
});
