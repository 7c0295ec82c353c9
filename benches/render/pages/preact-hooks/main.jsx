import { createContext, render } from 'preact';
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';

const Base = createContext('');

function Row({ item }) {
  const base = useContext(Base);
  return <li><a href={base + item.url} class="title" onMouseOver={() => {}}>{item.name}</a></li>;
}

function App() {
  const [items, setItems] = useState([]);
  const [page, setPage] = useState(1);
  useEffect(async () => {
    const data = await (await fetch(`/api/torrents?page=${page}`)).json();
    setItems((before) => before.concat(data.items));
  }, [page]);
  const more = useCallback(() => setPage((before) => before + 1), []);
  return (
    <Base.Provider value={location.origin}>
      <ul>{items.map((item) => <Row key={item.id} item={item} />)}</ul>
      <button data-act="more" onClick={more}>more</button>
    </Base.Provider>
  );
}

render(<App />, document.body);
