import { AllCommunityModule, createGrid, ModuleRegistry } from 'ag-grid-community';
import { rows } from '../rows.js';

ModuleRegistry.registerModules([AllCommunityModule]);
const app = document.getElementById('app');
app.style.height = '500px';
const grid = createGrid(app, {
  rowData: [],
  columnDefs: [
    { field: 'name', flex: 1, cellRenderer: ({ data }) => `<a href="${data.url}">${data.id}</a>` },
    { field: 'seeders' },
  ],
});
rows().then((items) => grid.setGridOption('rowData', items));
