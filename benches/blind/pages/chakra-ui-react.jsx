import { ChakraProvider, defaultSystem, Link, Table, Tabs } from '@chakra-ui/react';
import { show } from '../react.jsx';

show(({ items }) => (
  <ChakraProvider value={defaultSystem}>
    <Tabs.Root defaultValue="new" lazyMount>
      <Tabs.List><Tabs.Trigger value="new">New</Tabs.Trigger><Tabs.Trigger value="top">Top</Tabs.Trigger></Tabs.List>
      <Tabs.Content value="new">
        <Table.Root size="sm" interactive>
          <Table.Header><Table.Row><Table.ColumnHeader>Name</Table.ColumnHeader></Table.Row></Table.Header>
          <Table.Body>{items.map((item) => <Table.Row key={item.id}><Table.Cell><Link href={item.url}>{item.name}</Link></Table.Cell></Table.Row>)}</Table.Body>
        </Table.Root>
      </Tabs.Content>
      <Tabs.Content value="top"><Link href="/top">top</Link></Tabs.Content>
    </Tabs.Root>
  </ChakraProvider>
));
