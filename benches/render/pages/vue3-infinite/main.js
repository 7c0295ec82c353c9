import { createApp, h, nextTick, onMounted, onUnmounted, ref, shallowRef } from 'vue';

createApp({
  setup() {
    const items = shallowRef([]);
    const sentinel = ref(null);
    let next = '';
    const observer = new IntersectionObserver(async (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.unobserve(sentinel.value);
      const data = await (await fetch(`/api/cursor?after=${next}`)).json();
      items.value = items.value.concat(data.items);
      next = data.next;
      await nextTick();
      if (next !== null) observer.observe(sentinel.value);
    }, { rootMargin: '50px' });
    onMounted(() => observer.observe(sentinel.value));
    onUnmounted(() => observer.disconnect());
    return () => [
      ...items.value.map((item) => h('div', { key: item.id }, h('a', { href: item.url }, item.name))),
      h('div', { ref: sentinel, class: 'sentinel' }, 'loading'),
    ];
  },
}).mount('#app');
