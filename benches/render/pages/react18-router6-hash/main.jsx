import { lazy, StrictMode, Suspense, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { HashRouter, Link, NavLink, Outlet, Route, Routes, useParams, useSearchParams } from 'react-router-dom';

const Torrent = lazy(() => import('./torrent.jsx'));

function Frame() {
  return (
    <>
      <nav>
        <NavLink to="/">all</NavLink> <NavLink to="/category/linux" data-act="linux">linux</NavLink>
      </nav>
      <Suspense fallback="loading">
        <Outlet />
      </Suspense>
    </>
  );
}

function List() {
  const { category = '' } = useParams();
  const [search, setSearch] = useSearchParams();
  const [items, setItems] = useState([]);
  const page = Number(search.get('page') ?? 1);
  useEffect(() => {
    const abort = new AbortController();
    fetch(`/api/torrents?per=10&page=${page}&category=${category}`, { signal: abort.signal })
      .then((answer) => answer.json())
      .then((data) => setItems(data.items), () => {});
    return () => abort.abort();
  }, [category, page]);
  return (
    <>
      {items.map((item) => (
        <div key={item.id}>
          <Link to={`/torrent/${item.id}`}>{item.name}</Link> <a href={item.download}>get</a>
        </div>
      ))}
      <button data-act="next" onClick={() => setSearch({ page: page + 1 })}>next</button>
    </>
  );
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <HashRouter>
      <Routes>
        <Route element={<Frame />}>
          <Route index element={<List />} />
          <Route path="category/:category" element={<List />} />
          <Route path="torrent/:id" element={<Torrent />} />
        </Route>
      </Routes>
    </HashRouter>
  </StrictMode>,
);
