import { Disclosure, DisclosureButton, DisclosurePanel, Tab, TabGroup, TabList, TabPanel, TabPanels } from '@headlessui/react';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <TabGroup>
    <TabList><Tab>New</Tab><Tab>Top</Tab></TabList>
    <TabPanels>
      <TabPanel>
        {items.map((item) => (
          <Disclosure key={item.id} defaultOpen={item.id % 2 === 0}>
            <DisclosureButton>{item.id}</DisclosureButton>
            <Link item={item} />
            <DisclosurePanel><a href={item.magnet}>magnet</a></DisclosurePanel>
          </Disclosure>
        ))}
      </TabPanel>
      <TabPanel>nothing</TabPanel>
    </TabPanels>
  </TabGroup>
));
