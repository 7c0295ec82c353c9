import { PrimeReactProvider } from 'primereact/api';
import { Column } from 'primereact/column';
import { DataTable } from 'primereact/datatable';
import { DataView } from 'primereact/dataview';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <PrimeReactProvider>
    <DataTable value={items} paginator rows={50} sortField="seeders" sortOrder={-1}>
      <Column field="name" header="Name" sortable body={(item) => <Link item={item} />} />
      <Column field="seeders" header="Seeders" sortable />
    </DataTable>
    <DataView value={items} itemTemplate={(item) => <a key={item.id} href={item.magnet}>{item.name}</a>} />
  </PrimeReactProvider>
));
