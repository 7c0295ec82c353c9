import { Cell, Column, GridList, GridListItem, Row, Table, TableBody, TableHeader } from 'react-aria-components';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <>
    <Table aria-label="Torrents" selectionMode="multiple">
      <TableHeader><Column isRowHeader>Name</Column><Column>Seeders</Column></TableHeader>
      <TableBody items={items}>
        {(item) => <Row href={`${item.url}/row`}><Cell><Link item={item} /></Cell><Cell>{item.seeders}</Cell></Row>}
      </TableBody>
    </Table>
    <GridList aria-label="Magnets" items={items.slice(0, 30)}>
      {(item) => <GridListItem textValue={item.name}><a href={item.magnet}>{item.name}</a></GridListItem>}
    </GridList>
  </>
));
