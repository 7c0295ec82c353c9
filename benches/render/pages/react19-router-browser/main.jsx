import { createRoot } from 'react-dom/client';
import { createBrowserRouter, Link, Outlet, useLoaderData, useNavigation } from 'react-router';
import { RouterProvider } from 'react-router/dom';

function Frame() {
  const { state } = useNavigation();
  return <><nav><Link to="/">home</Link></nav><main data-state={state}><Outlet /></main></>;
}

function List() {
  const { items, page, pages } = useLoaderData();
  return (
    <>
      <ul>{items.map((item) => <li key={item.id}><Link to={`/torrent/${item.id}`}>{item.name}</Link></li>)}</ul>
      {page < pages && <Link data-act="next" to={`?page=${page + 1}`}>next</Link>}
    </>
  );
}

const router = createBrowserRouter(
  [
    {
      Component: Frame,
      HydrateFallback: () => 'loading',
      children: [
        {
          index: true,
          Component: List,
          loader: ({ request }) => fetch(`/api/torrents?page=${new URL(request.url).searchParams.get('page') ?? 1}`),
        },
        { path: 'torrent/:id', lazy: () => import('./torrent.jsx') },
      ],
    },
  ],
  { basename: '/react19-router-browser' },
);

createRoot(document.getElementById('root')).render(<RouterProvider router={router} />);
