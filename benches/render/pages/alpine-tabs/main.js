import Alpine from 'alpinejs';

const api = (path) => fetch(path).then((answer) => answer.json());

Alpine.store('categories', { names: [], async init() { this.names = await api('/api/categories'); } });
Alpine.data('list', () => ({
  category: 'linux',
  page: 1,
  done: false,
  init() {
    this.$watch('page', () => this.load());
    this.load();
  },
  async choose(name) {
    this.category = name;
    this.$refs.rows.replaceChildren();
    if (this.page === 1) await this.load();
    else this.page = 1;
  },
  async load() {
    const { items, pages } = await api(`/api/torrents?per=10&category=${this.category}&page=${this.page}`);
    for (const item of items) this.$refs.rows.insertAdjacentHTML('beforeend', `<li><a href="${item.url}">${item.id}</a></li>`);
    this.done = this.page >= pages;
  },
}));
window.Alpine = Alpine;
Alpine.start();
