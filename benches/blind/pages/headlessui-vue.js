import { Disclosure, DisclosureButton, DisclosurePanel, Tab, TabGroup, TabList, TabPanel, TabPanels } from '@headlessui/vue';
import { show } from '../vue.js';

show(
  `<TabGroup>
    <TabList><Tab>New</Tab><Tab>Top</Tab></TabList>
    <TabPanels>
      <TabPanel>
        <Disclosure v-for="item in items" :key="item.id" :default-open="item.id % 2 === 0">
          <DisclosureButton>{{ item.id }}</DisclosureButton><a :href="item.url">{{ item.name }}</a>
          <DisclosurePanel><a :href="item.magnet">magnet</a></DisclosurePanel>
        </Disclosure>
      </TabPanel>
      <TabPanel><a href="/top">top</a></TabPanel>
    </TabPanels>
  </TabGroup>`,
  { Disclosure, DisclosureButton, DisclosurePanel, Tab, TabGroup, TabList, TabPanel, TabPanels },
);
