import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { Link, show } from '../react.jsx';

show(({ items }) => {
  const parent = useRef(null);
  const virtualizer = useVirtualizer({ count: items.length, getScrollElement: () => parent.current, estimateSize: () => 35 });
  return (
    <div ref={parent} style={{ height: 400, overflow: 'auto' }}>
      <div style={{ height: virtualizer.getTotalSize(), width: '100%', position: 'relative' }}>
        {virtualizer.getVirtualItems().map(({ key, index, size, start }) => (
          <div key={key} style={{ position: 'absolute', top: 0, left: 0, width: '100%', height: size, transform: `translateY(${start}px)` }}>
            <Link item={items[index]} />
          </div>
        ))}
      </div>
    </div>
  );
});
