import { useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';

function App() {
  const [items, setItems] = useState([]);
  const [next, setNext] = useState('');
  const sentinel = useRef(null);
  useEffect(() => {
    if (next === null) return;
    const observer = new IntersectionObserver(async ([entry]) => {
      if (!entry.isIntersecting) return;
      observer.disconnect();
      const data = await (await fetch(`/api/cursor?after=${next}`)).json();
      setItems((before) => [...before, ...data.items]);
      setNext(data.next);
    });
    observer.observe(sentinel.current);
    return () => observer.disconnect();
  }, [next]);
  return (
    <section>
      {items.map((item) => <p key={item.id}><a href={item.url} target="_blank" rel="noreferrer">{item.name}</a></p>)}
      <div ref={sentinel} />
    </section>
  );
}

createRoot(document.getElementById('root')).render(<App />);
