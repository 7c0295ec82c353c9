import { useState } from 'react';
import InfiniteScroll from 'react-infinite-scroll-component';
import { Link, show } from '../react.jsx';

show(({ items }) => {
  const [count, setCount] = useState(20);
  return (
    <InfiniteScroll dataLength={count} next={() => setCount(count + 20)} hasMore={count < items.length} loader={<h4>Loading...</h4>}>
      {items.slice(0, count).map((item) => <div key={item.id} style={{ height: 30 }}><Link item={item} /></div>)}
    </InfiniteScroll>
  );
});
