import '@mantine/core/styles.css';
import { Anchor, MantineProvider, ScrollArea, Table, Tabs } from '@mantine/core';
import { show } from '../react.jsx';

show(({ items }) => (
  <MantineProvider>
    <Tabs defaultValue="new">
      <Tabs.List><Tabs.Tab value="new">New</Tabs.Tab><Tabs.Tab value="top">Top</Tabs.Tab></Tabs.List>
      <Tabs.Panel value="new">
        <ScrollArea h={400}>
          <Table highlightOnHover stickyHeader>
            <Table.Thead><Table.Tr><Table.Th>Name</Table.Th><Table.Th>Seeders</Table.Th></Table.Tr></Table.Thead>
            <Table.Tbody>
              {items.map((item) => (
                <Table.Tr key={item.id}><Table.Td><Anchor href={item.url}>{item.name}</Anchor></Table.Td><Table.Td>{item.seeders}</Table.Td></Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea>
      </Tabs.Panel>
    </Tabs>
  </MantineProvider>
));
