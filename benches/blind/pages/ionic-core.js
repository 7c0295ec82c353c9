import '@ionic/core/css/ionic.bundle.css';
import { initialize } from '@ionic/core/components';
import { defineCustomElement as app } from '@ionic/core/components/ion-app.js';
import { defineCustomElement as content } from '@ionic/core/components/ion-content.js';
import { defineCustomElement as item } from '@ionic/core/components/ion-item.js';
import { defineCustomElement as label } from '@ionic/core/components/ion-label.js';
import { defineCustomElement as list } from '@ionic/core/components/ion-list.js';
import { rows } from '../rows.js';

initialize();
for (const define of [app, content, item, label, list]) define();
rows().then((items) => {
  const inner = items.map((item) => `<ion-item href="${item.url}"><ion-label>${item.id}</ion-label></ion-item>`);
  document.getElementById('app').innerHTML = `<ion-app><ion-content><ion-list>${inner.join('')}</ion-list></ion-content></ion-app>`;
});
