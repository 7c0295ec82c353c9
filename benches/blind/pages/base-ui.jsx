import { Accordion } from '@base-ui/react/accordion';
import { ScrollArea } from '@base-ui/react/scroll-area';
import { Tabs } from '@base-ui/react/tabs';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <Tabs.Root defaultValue="new">
    <Tabs.List><Tabs.Tab value="new">New</Tabs.Tab><Tabs.Tab value="top">Top</Tabs.Tab><Tabs.Indicator /></Tabs.List>
    <Tabs.Panel value="new">
      <ScrollArea.Root style={{ height: 400 }}>
        <ScrollArea.Viewport style={{ height: '100%' }}>
          <Accordion.Root multiple defaultValue={items.slice(0, 30).map((item) => item.hash)}>
            {items.map((item) => (
              <Accordion.Item key={item.id} value={item.hash}>
                <Accordion.Header><Accordion.Trigger>{item.id}</Accordion.Trigger><Link item={item} /></Accordion.Header>
                <Accordion.Panel><a href={item.magnet}>magnet</a></Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion.Root>
        </ScrollArea.Viewport>
        <ScrollArea.Scrollbar><ScrollArea.Thumb /></ScrollArea.Scrollbar>
      </ScrollArea.Root>
    </Tabs.Panel>
  </Tabs.Root>
));
