import { h, ref, watch } from 'vue';
import { RouterLink, useRoute } from 'vue-router';

export default {
  setup() {
    const route = useRoute();
    const data = ref({ items: [], pages: 0 });
    const load = async (page) => (data.value = await (await fetch(`/api/torrents?page=${page}`)).json());
    watch(() => route.params.page, (page) => page && load(page), { immediate: true });
    return () => [
      h('ul', data.value.items.map((item) => h('li', { key: item.id }, h(RouterLink, { to: `/torrent/${item.id}` }, () => item.name)))),
      h(RouterLink, { to: `/browse/${Number(route.params.page) + 1}`, 'data-act': 'next' }, () => 'next'),
    ];
  },
};
