import { Table, Tabs } from 'antd';
import { Link, show } from '../react.jsx';

const columns = [
  { title: 'Name', dataIndex: 'name', render: (_, item) => <Link item={item} /> },
  { title: 'Seeders', dataIndex: 'seeders', sorter: (a, b) => a.seeders - b.seeders },
  { title: 'Get', render: (_, item) => <a href={item.download}>get</a> },
];

show(({ items }) => (
  <Tabs items={[{ key: 'new', label: 'New', children: <Table rowKey="id" columns={columns} dataSource={items} pagination={{ pageSize: 50 }} /> }]} />
));
