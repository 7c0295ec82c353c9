import { DataGrid } from '@mui/x-data-grid';
import { Link, show } from '../react.jsx';

const columns = [
  { field: 'name', headerName: 'Name', width: 300, renderCell: ({ row }) => <Link item={row} /> },
  { field: 'seeders', headerName: 'Seeders', type: 'number' },
];

show(({ items }) => (
  <div style={{ height: 500, width: '100%' }}>
    <DataGrid rows={items} columns={columns} initialState={{ pagination: { paginationModel: { pageSize: 50 } } }} pageSizeOptions={[50]} />
  </div>
));
