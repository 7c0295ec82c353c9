import '@blueprintjs/core/lib/css/blueprint.css';
import { BlueprintProvider, Breadcrumbs, Card, CardList, HTMLTable, Menu, MenuItem, OverflowList, Tab, Tabs, Tree } from '@blueprintjs/core';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <BlueprintProvider>
    <Tabs renderActiveTabPanelOnly>
      <Tab id="new" title="New" panel={<HTMLTable><tbody>{items.map((item) => <tr key={item.id}><td><Link item={item} /></td></tr>)}</tbody></HTMLTable>} />
      <Tab id="top" title="Top" panel={<a href="/top">top</a>} />
    </Tabs>
    <Menu>{items.slice(0, 20).map((item) => <MenuItem key={item.id} href={item.download} text={item.name} />)}</Menu>
    <CardList>{items.map((item) => <Card key={item.id}><a href={`${item.url}/card`}>card</a></Card>)}</CardList>
    <Tree contents={items.slice(0, 30).map((item) => ({ id: item.id, label: <a href={item.magnet}>{item.name}</a> }))} />
    <Breadcrumbs items={items.slice(0, 5).map((item) => ({ href: `/crumb/${item.id}`, text: item.id }))} />
    <div style={{ width: 400 }}><OverflowList items={items} visibleItemRenderer={(item) => <a key={item.id} style={{ width: 60, display: 'block', flex: 'none' }} href={`/over/${item.id}`}>{item.id}</a>} overflowRenderer={() => null} /></div>
  </BlueprintProvider>
));
