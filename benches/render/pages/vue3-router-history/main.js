import { createApp, h, resolveComponent } from 'vue';
import { createRouter, createWebHistory } from 'vue-router';

const router = createRouter({
  history: createWebHistory('/vue3-router-history/'),
  scrollBehavior: () => ({ top: 0 }),
  routes: [
    { path: '/', component: () => import('./home.js') },
    { path: '/browse/:page(\\d+)', component: () => import('./browse.js') },
    { path: '/torrent/:id', component: () => import('./torrent.js'), props: true },
  ],
});

const App = {
  render() {
    const Link = resolveComponent('router-link');
    return [
      h('nav', [h(Link, { to: '/' }, () => 'home'), h(Link, { to: '/browse/1', 'data-act': 'browse' }, () => 'browse')]),
      h('main', h(resolveComponent('router-view'))),
    ];
  },
};

createApp(App).use(router).mount('#app');
