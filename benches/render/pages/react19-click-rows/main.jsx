import { Component, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createPortal } from 'react-dom';

class Boundary extends Component {
  state = { failed: false };
  static getDerivedStateFromError() {
    return { failed: true };
  }
  render() {
    return this.state.failed ? <a href="/report">this list is broken</a> : this.props.children;
  }
}

function Broken() {
  throw new Error('broken on purpose');
}

function App() {
  const [items, setItems] = useState([]);
  const [shown, setShown] = useState(null);
  useEffect(() => {
    fetch('/api/array').then((answer) => answer.json()).then(setItems);
  }, []);
  const stop = (event, then) => {
    event.stopPropagation();
    then();
  };
  return (
    <>
      <table><tbody>
        {items.map((item) => (
          <tr key={item.id} data-id={item.id} onClick={() => window.location.assign(item.url)}>
            <td>{item.name}</td>
            <td><button onClick={(event) => stop(event, () => setShown(item))}>details</button></td>
            <td><span className="get" onClick={(event) => stop(event, () => (window.location.href = item.download))}>get</span></td>
          </tr>
        ))}
      </tbody></table>
      {shown && createPortal(<dialog open><a href={shown.magnet}>magnet</a> <a href={shown.url}>{shown.name}</a></dialog>, document.getElementById('modal'))}
      <Boundary><Broken /></Boundary>
    </>
  );
}

createRoot(document.getElementById('root'), { onCaughtError() {} }).render(<App />);
