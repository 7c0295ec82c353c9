import { Virtuoso } from 'react-virtuoso';
import { Link, show } from '../react.jsx';

show(({ items }) => (
  <Virtuoso style={{ height: 400 }} data={items} itemContent={(_, item) => <div style={{ height: 40 }}><Link item={item} /></div>} />
));
