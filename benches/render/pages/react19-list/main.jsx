import { memo, useEffect, useReducer } from 'react';
import { createRoot } from 'react-dom/client';

const Row = memo(({ item }) => (
  <tr>
    <td><a href={item.url}>{item.name}</a></td>
    <td><a href={item.magnet}>🧲</a></td>
    <td>{item.seeders}/{item.leechers}</td>
  </tr>
));

function reduce(state, action) {
  return action.data ? { ...state, ...action.data } : { ...state, page: action.page };
}

function App() {
  const [{ page, pages, items }, dispatch] = useReducer(reduce, { page: 1, pages: 0, items: [] });
  useEffect(() => {
    let current = true;
    fetch(`/api/torrents?page=${page}`).then((answer) => answer.json()).then((data) => current && dispatch({ data }));
    return () => (current = false);
  }, [page]);
  return (
    <>
      <title>{`Torrents, page ${page}`}</title>
      <table><tbody>{items.map((item) => <Row key={item.id} item={item} />)}</tbody></table>
      {Array.from({ length: pages }, (_, at) => (
        <button key={at} data-act={`page-${at + 1}`} onClick={() => dispatch({ page: at + 1 })}>{at + 1}</button>
      ))}
    </>
  );
}

createRoot(document.getElementById('root')).render(<App />);
