import axios from 'axios';
import Vue from 'vue';

const http = axios.create({ baseURL: '/api', timeout: 5000, headers: { 'X-Requested-With': 'XMLHttpRequest' } });
http.interceptors.response.use((answer) => ({ ...answer.data, status: answer.status }));

new Vue({
  data: { items: [], page: 0, done: false },
  created() {
    this.more();
  },
  methods: {
    async more() {
      const { items, pages } = await http.get('/torrents', { params: { page: ++this.page, per: 30 } });
      this.items.push(...items);
      this.done = this.page === pages;
    },
  },
  render(h) {
    const rows = this.items.map((item) => h('div', { key: item.id }, [h('a', { attrs: { href: item.url } }, item.name)]));
    const more = h('button', { attrs: { 'data-act': 'more' }, on: { click: this.more } }, 'more');
    return h('main', [h('transition-group', { props: { name: 'fade', tag: 'div' } }, rows), this.done ? null : more]);
  },
}).$mount('#app');
