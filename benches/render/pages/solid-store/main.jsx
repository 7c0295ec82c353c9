import { Index, Match, onMount, Switch } from 'solid-js';
import { createStore, produce } from 'solid-js/store';
import { Dynamic, render } from 'solid-js/web';

function App() {
  const [state, set] = createStore({ items: [], offset: 0, view: 'list' });
  const more = () => {
    const request = new XMLHttpRequest();
    request.onreadystatechange = () => {
      if (request.readyState !== 4 || request.status !== 200) return;
      set(produce((draft) => {
        draft.items.push(...JSON.parse(request.responseText).items);
        draft.offset = draft.items.length;
      }));
    };
    request.open('GET', `/api/torrents?per=20&offset=${state.offset}`);
    request.send();
  };
  onMount(more);
  return (
    <>
      <Switch>
        <Match when={state.view === 'list'}>
          <Index each={state.items}>{(item) => <p><a href={item().url}>{item().name}</a></p>}</Index>
        </Match>
        <Match when={state.view === 'grid'}>
          <Index each={state.items}>{(item) => <Dynamic component="a" attr:href={item().download}>{item().name}</Dynamic>}</Index>
        </Match>
      </Switch>
      <button data-act="more" on:click={more}>more</button>
      <button data-act="grid" onClick={() => set('view', 'grid')}>grid</button>
    </>
  );
}

render(() => <App />, document.body);
