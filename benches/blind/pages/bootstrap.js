import 'bootstrap/dist/css/bootstrap.min.css';
import { Collapse, ScrollSpy, Tab, Tooltip } from 'bootstrap';
import { rows } from '../rows.js';

const app = document.getElementById('app');
rows().then((items) => {
  const list = items.map(
    (item) => `<a class="list-group-item" id="item-${item.id}" href="${item.url}" data-bs-toggle="tooltip" data-bs-title="${item.slug}">${item.id}</a>`,
  );
  app.innerHTML = `<ul class="nav nav-tabs"><li><button class="nav-link" data-bs-toggle="tab" data-bs-target="#new">New</button></li></ul>
    <nav id="jump" class="nav">${items.map((item) => `<a class="nav-link" href="#item-${item.id}">${item.id}</a>`).join('')}</nav>
    <div class="tab-content"><div class="tab-pane" id="new"><div class="list-group collapse">${list.join('')}</div></div></div>`;
  new ScrollSpy(document.body, { target: '#jump' });
  document.querySelectorAll('[data-bs-toggle=tooltip]').forEach((each) => new Tooltip(each));
  new Collapse(app.querySelector('.collapse'), { toggle: true });
  const trigger = app.querySelector('[data-bs-toggle=tab]');
  trigger.addEventListener('shown.bs.tab', () => app.insertAdjacentHTML('beforeend', '<a href="/shown">shown</a>'));
  Tab.getOrCreateInstance(trigger).show();
});
