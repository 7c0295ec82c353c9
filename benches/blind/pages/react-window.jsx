import { List } from 'react-window';
import { Link, show } from '../react.jsx';

const Row = ({ index, items, style }) => <div style={style}><Link item={items[index]} /></div>;

show(({ items }) => <List style={{ height: 400 }} rowComponent={Row} rowCount={items.length} rowHeight={25} rowProps={{ items }} />);
