import { Column, Table } from 'react-virtualized';
import 'react-virtualized/styles.css';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <Table width={600} height={400} headerHeight={20} rowHeight={30} rowCount={items.length} rowGetter={({ index }) => items[index]}>
    <Column label="Name" dataKey="name" width={400} cellRenderer={({ rowData }) => <Link item={rowData} />} />
    <Column label="Seeders" dataKey="seeders" width={200} />
  </Table>
));
