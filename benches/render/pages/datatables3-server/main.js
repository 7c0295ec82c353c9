import DataTable from 'datatables.net';

new DataTable('#list', {
  serverSide: true,
  ajax: '/api/datatables',
  pageLength: 20,
  ordering: false,
  lengthMenu: [20, 50],
  columns: [
    {
      title: 'Name',
      data: 'name',
      render: (name, type, item) => {
        const link = document.createElement('a');
        link.href = item.url;
        link.textContent = name;
        return link;
      },
    },
    { title: 'Seeders', data: 'seeders' },
    { title: 'Magnet', data: 'magnet', render: (magnet) => `<a href="${magnet}">magnet</a>` },
  ],
});
