// A Vue application that loads the rows for a template.
import { createApp, onMounted, ref } from 'vue';
import { rows } from './rows.js';

export function show(template, components = {}, ...plugins) {
  const app = createApp({
    template,
    components,
    setup() {
      const items = ref([]);
      onMounted(async () => (items.value = await rows()));
      return { items };
    },
  });
  for (const plugin of plugins) app.use(plugin);
  app.mount('#app');
}
