import { createResource, createSignal, For, Show, Suspense } from 'solid-js';
import { Portal, render } from 'solid-js/web';

function App() {
  const [page, setPage] = createSignal(1);
  const [details, setDetails] = createSignal(false);
  const [data] = createResource(page, async (n) => (await fetch(`/api/torrents?page=${n}`)).json());
  return (
    <Suspense fallback={<p>loading</p>}>
      <ul>
        <For each={data()?.items}>
          {(item, index) => (
            <li classList={{ odd: index() % 2 === 1 }}>
              <a href={item.url} style={{ color: 'navy' }}>{item.name}</a>
              <Show when={details()}>
                <a href={item.magnet}>magnet</a>
              </Show>
            </li>
          )}
        </For>
      </ul>
      <button data-act="next" onClick={() => setPage(page() + 1)}>next</button>
      <button data-act="details" onClick={[setDetails, true]}>details</button>
      <Portal><a href="/help">help</a></Portal>
    </Suspense>
  );
}

render(App, document.getElementById('root'));
