import Aura from '@primeuix/themes/aura';
import Column from 'primevue/column';
import PrimeVue from 'primevue/config';
import DataTable from 'primevue/datatable';
import { show } from '../vue.js';

show(
  `<DataTable :value="items" paginator :rows="50" sort-field="seeders" :sort-order="-1">
    <Column field="name" header="Name" sortable><template #body="{ data }"><a :href="data.url">{{ data.name }}</a></template></Column>
    <Column field="seeders" header="Seeders" sortable />
  </DataTable>`,
  { Column, DataTable },
  { install: (app) => app.use(PrimeVue, { theme: { preset: Aura } }) },
);
