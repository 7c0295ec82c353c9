import 'vuetify/styles';
import { createVuetify } from 'vuetify';
import * as components from 'vuetify/components';
import { show } from '../vue.js';

show(
  `<v-app><v-main>
    <v-data-table :items="items" :headers="[{ title: 'Name', key: 'name' }, { title: 'Seeders', key: 'seeders' }]" :items-per-page="50">
      <template #item.name="{ item }"><a :href="item.url">{{ item.name }}</a></template>
    </v-data-table>
    <v-list><v-list-item v-for="item in items" :key="item.id" :href="item.download" :title="item.name" /></v-list>
  </v-main></v-app>`,
  {},
  createVuetify({ components }),
);
