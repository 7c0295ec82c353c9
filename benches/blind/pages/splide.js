import '@splidejs/splide/css';
import Splide from '@splidejs/splide';
import { rows } from '../rows.js';

const app = document.getElementById('app');
rows().then((items) => {
  const slides = items.map((item) => `<li class="splide__slide"><a href="${item.url}">${item.id}</a></li>`);
  app.innerHTML = `<section class="splide"><div class="splide__track"><ul class="splide__list">${slides.join('')}</ul></div></section>`;
  const splide = new Splide('.splide', { type: 'loop', perPage: 3 });
  splide.on('mounted', () => app.insertAdjacentHTML('beforeend', `<a href="/mounted/${splide.length}">mounted</a>`));
  splide.mount();
});
