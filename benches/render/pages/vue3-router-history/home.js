import { h, onMounted, ref } from 'vue';
import { RouterLink } from 'vue-router';

export default {
  setup() {
    const items = ref([]);
    onMounted(async () => (items.value = (await (await fetch('/api/torrents?per=10&sort=seeders')).json()).items));
    return () => h('ul', items.value.map((item) => h('li', h(RouterLink, { to: `/torrent/${item.id}` }, () => item.name))));
  },
};
