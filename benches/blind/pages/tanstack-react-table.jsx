import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { Link, show } from '../react.jsx';

const features = tableFeatures({});
const helper = createColumnHelper();
const columns = helper.columns([
  helper.accessor('name', { header: 'Name', cell: ({ row }) => <Link item={row.original} /> }),
  helper.accessor('seeders', { header: 'Seeders' }),
]);

show(({ items }) => {
  const table = useTable({ features, columns, data: items });
  return (
    <table>
      <thead>
        {table.getHeaderGroups().map((group) => (
          <tr key={group.id}>{group.headers.map((header) => <th key={header.id}><table.FlexRender header={header} /></th>)}</tr>
        ))}
      </thead>
      <tbody>
        {table.getRowModel().rows.map((row) => (
          <tr key={row.id}>{row.getAllCells().map((cell) => <td key={cell.id}><table.FlexRender cell={cell} /></td>)}</tr>
        ))}
      </tbody>
    </table>
  );
});
