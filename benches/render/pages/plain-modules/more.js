import { api } from './api.js';
import list from './list.js';
import { base } from './main.js';

export async function more() {
  list(await api(2));
  document.body.insertAdjacentHTML('afterbegin', `<a href="${base}help">help</a>`);
}
