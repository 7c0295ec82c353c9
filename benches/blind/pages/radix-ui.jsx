import { Accordion, ScrollArea, Tabs } from 'radix-ui';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <Tabs.Root defaultValue="new">
    <Tabs.List><Tabs.Trigger value="new">New</Tabs.Trigger><Tabs.Trigger value="top">Top</Tabs.Trigger></Tabs.List>
    <Tabs.Content value="new">
      <ScrollArea.Root style={{ height: 400 }}>
        <ScrollArea.Viewport style={{ height: '100%' }}>
          <Accordion.Root type="multiple" defaultValue={items.slice(0, 30).map((item) => item.hash)}>
            {items.map((item) => (
              <Accordion.Item key={item.id} value={item.hash}>
                <Accordion.Header><Accordion.Trigger>{item.id}</Accordion.Trigger><Link item={item} /></Accordion.Header>
                <Accordion.Content><a href={item.magnet}>magnet</a></Accordion.Content>
              </Accordion.Item>
            ))}
          </Accordion.Root>
        </ScrollArea.Viewport>
        <ScrollArea.Scrollbar orientation="vertical"><ScrollArea.Thumb /></ScrollArea.Scrollbar>
      </ScrollArea.Root>
    </Tabs.Content>
    <Tabs.Content value="top">nothing</Tabs.Content>
  </Tabs.Root>
));
