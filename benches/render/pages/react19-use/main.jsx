import { Suspense, use, useActionState, useState, useTransition } from 'react';
import { createRoot } from 'react-dom/client';

const cache = new Map();
function load(query) {
  if (!cache.has(query)) cache.set(query, fetch(`/api/torrents?${query}`).then((answer) => answer.json()));
  return cache.get(query);
}

function List({ query }) {
  const { items } = use(load(query));
  return <ul>{items.map((item) => <li key={item.id}><a href={item.url}>{item.name}</a></li>)}</ul>;
}

function App() {
  const [page, setPage] = useState(1);
  const [pending, start] = useTransition();
  const [found, search] = useActionState(async (before, form) => load(`q=${form.get('q')}`), null);
  return (
    <>
      <form action={search}><input name="q" defaultValue="river" /><button data-act="search">search</button></form>
      {found && <ol>{found.items.map((item) => <li key={item.id}><a href={item.download}>{item.name}</a></li>)}</ol>}
      <Suspense fallback={<a href="/loading">loading</a>}><List query={`page=${page}`} /></Suspense>
      <button data-act="next" disabled={pending} onClick={() => start(() => setPage(page + 1))}>next</button>
    </>
  );
}

createRoot(document.getElementById('root')).render(<App />);
