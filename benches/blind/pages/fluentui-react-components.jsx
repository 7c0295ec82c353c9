import { createTableColumn, DataGrid, DataGridBody, DataGridCell, DataGridHeader, DataGridHeaderCell, DataGridRow, FluentProvider, Link, webLightTheme } from '@fluentui/react-components';
import { show } from '../react.jsx';

const columns = [
  createTableColumn({ columnId: 'name', renderHeaderCell: () => 'Name', renderCell: (item) => <Link href={item.url}>{item.name}</Link> }),
  createTableColumn({ columnId: 'seeders', renderHeaderCell: () => 'Seeders', renderCell: (item) => item.seeders }),
];

show(({ items }) => (
  <FluentProvider theme={webLightTheme}>
    <DataGrid items={items} columns={columns} sortable selectionMode="multiselect" getRowId={(item) => item.id} resizableColumns>
      <DataGridHeader><DataGridRow>{({ renderHeaderCell }) => <DataGridHeaderCell>{renderHeaderCell()}</DataGridHeaderCell>}</DataGridRow></DataGridHeader>
      <DataGridBody>
        {({ item, rowId }) => <DataGridRow key={rowId}>{({ renderCell }) => <DataGridCell>{renderCell(item)}</DataGridCell>}</DataGridRow>}
      </DataGridBody>
    </DataGrid>
  </FluentProvider>
));
