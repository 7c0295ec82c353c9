import { ScrollAreaRoot, ScrollAreaViewport, TabsContent, TabsList, TabsRoot, TabsTrigger, TreeItem, TreeRoot } from 'reka-ui';
import { show } from '../vue.js';

show(
  `<TabsRoot default-value="new">
    <TabsList><TabsTrigger value="new">New</TabsTrigger><TabsTrigger value="top">Top</TabsTrigger></TabsList>
    <TabsContent value="new">
      <ScrollAreaRoot style="height: 400px"><ScrollAreaViewport style="height: 100%">
        <TreeRoot v-slot="{ flattenItems }" :items="items" :get-key="(item) => item.hash">
          <TreeItem v-for="item in flattenItems" :key="item._id" v-bind="item.bind"><a :href="item.value.url">{{ item.value.name }}</a></TreeItem>
        </TreeRoot>
      </ScrollAreaViewport></ScrollAreaRoot>
    </TabsContent>
    <TabsContent value="top"><a href="/top">top</a></TabsContent>
  </TabsRoot>`,
  { ScrollAreaRoot, ScrollAreaViewport, TabsContent, TabsList, TabsRoot, TabsTrigger, TreeItem, TreeRoot },
);
