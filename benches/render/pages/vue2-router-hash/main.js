import Vue from 'vue';
import Router from 'vue-router';

Vue.use(Router);
const api = (path) => fetch(path).then((answer) => answer.json());

const List = {
  template: `<ul><li v-for="item in items" :key="item.id">
    <router-link :to="{ name: 'torrent', params: { id: item.id } }">{{ item.name }}</router-link>
    <a :href="item.download">get</a></li></ul>`,
  data: () => ({ items: [] }),
  beforeRouteEnter(to, from, next) {
    api(`/api/torrents?category=${to.params.category || ''}`).then((data) => next((view) => (view.items = data.items)));
  },
  beforeRouteUpdate(to, from, next) {
    api(`/api/torrents?category=${to.params.category || ''}`).then((data) => {
      this.items = data.items;
      next();
    });
  },
};
const Torrent = {
  props: ['id'],
  template: '<p><a :href="`/download/${id}.torrent`">download {{ id }}</a> <router-link to="/">back</router-link></p>',
};

const router = new Router({
  routes: [
    { path: '/', component: List },
    { path: '/category/:category', component: List },
    { path: '/torrent/:id', name: 'torrent', component: Torrent, props: true },
  ],
});

new Vue({
  router,
  data: { categories: [] },
  async mounted() {
    this.categories = await api('/api/categories');
  },
  template: `<div><nav><router-link v-for="(name, index) in categories" :key="name" :data-act="'category-' + index"
    :to="'/category/' + name">{{ name }}</router-link></nav><router-view></router-view></div>`,
}).$mount('#app');
