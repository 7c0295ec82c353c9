import EmblaCarousel from 'embla-carousel';
import { rows } from '../rows.js';

const app = document.getElementById('app');
rows().then((items) => {
  const slides = items.map((item) => `<div class="slide" style="flex: 0 0 100%"><a href="${item.url}">${item.id}</a></div>`);
  app.innerHTML = `<div class="embla" style="overflow: hidden"><div style="display: flex">${slides.join('')}</div></div><nav></nav>`;
  const embla = EmblaCarousel(app.firstChild, { loop: true });
  const dots = () => {
    const dot = (at) => `<a href="#slide-${at}">${at}</a>`;
    app.lastChild.innerHTML = embla.scrollSnapList().map((_, at) => dot(at)).join('');
  };
  embla.on('init', dots).on('reInit', dots);
});
