import Swiper from 'swiper/bundle';
import 'swiper/css/bundle';
import { rows } from '../rows.js';

const app = document.getElementById('app');
rows().then((items) => {
  const slides = items.map((item) => `<div class="swiper-slide"><a href="${item.url}">${item.id}</a></div>`);
  app.innerHTML = `<div class="swiper"><div class="swiper-wrapper">${slides.join('')}</div><div class="swiper-pagination"></div></div>`;
  new Swiper('.swiper', {
    slidesPerView: 3,
    loop: true,
    pagination: { el: '.swiper-pagination', renderBullet: (index, name) => `<a class="${name}" href="#${index}">${index}</a>` },
  });
});
