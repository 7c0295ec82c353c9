// A React application that loads the rows and gives them to a list.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { rows } from './rows.js';

function App({ List }) {
  const [items, setItems] = useState([]);
  useEffect(() => void rows().then(setItems), []);
  return items.length ? <List items={items} /> : <p>Loading…</p>;
}

export const show = (List) => createRoot(document.getElementById('app')).render(<App List={List} />);
export const Link = ({ item }) => <a href={item.url}>{item.name}</a>;
