import { createApp } from 'vue/dist/vue.esm-bundler.js';
import { createRouter, createWebHashHistory } from 'vue-router';

const List = {
  data: () => ({ items: [], pages: 0 }),
  computed: {
    page() {
      return Number(this.$route.params.page ?? 1);
    },
  },
  watch: {
    page: {
      immediate: true,
      async handler(page) {
        Object.assign(this, await (await fetch(`/api/torrents?page=${page}`)).json());
      },
    },
  },
  template: `
    <table><tr v-for="{ id, url, name, magnet } in items" :key="id">
      <td><a :href="url" v-text="name"></a></td><td><a :href="magnet">magnet</a></td></tr></table>
    <router-link v-if="page > 1" data-act="previous" :to="{ name: 'page', params: { page: page - 1 } }">previous</router-link>
    <router-link v-if="page < pages" data-act="next" :to="{ name: 'page', params: { page: page + 1 } }">next</router-link>`,
};

const router = createRouter({
  history: createWebHashHistory(),
  routes: [{ path: '/', redirect: '/page/1' }, { path: '/page/:page', name: 'page', component: List }],
});
createApp({ template: '<router-view />' }).use(router).mount('#app');
