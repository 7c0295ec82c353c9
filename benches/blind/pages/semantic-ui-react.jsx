import { Accordion, Card, List, Pagination, Tab, Table } from 'semantic-ui-react';
import { Link, show } from '../react.jsx';

const pane = (items) => (
  <Tab.Pane>
    <Table celled sortable>
      <Table.Body>{items.map((item) => <Table.Row key={item.id}><Table.Cell><Link item={item} /></Table.Cell></Table.Row>)}</Table.Body>
    </Table>
    <List items={items.map((item) => ({ as: 'a', href: item.magnet, content: item.name, key: item.id }))} />
    <Card.Group items={items.slice(0, 20).map((item) => ({ header: item.name, href: item.download, key: item.id }))} />
    <Pagination totalPages={10} defaultActivePage={1} />
  </Tab.Pane>
);

show(({ items }) => (
  <>
    <Tab panes={[{ menuItem: 'New', render: () => pane(items) }, { menuItem: 'Top', render: () => <a href="/top">top</a> }]} />
    <Accordion defaultActiveIndex={0} panels={[{ key: 1, title: 'About', content: { content: <a href="/about">about</a> } }]} />
  </>
));
