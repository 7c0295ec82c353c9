// The same pages in jsdom, the usual way to run a page's scripts without a browser: one warm process, a new window a
// page. Writes `target/render-jsdom.json`. It is helped where a driver can help: it is given Node's `fetch`, which it
// has none of its own, and scrolling, which means nothing without layout, fires the event. `--bare` helps with neither.
//
// node jsdom.mjs [--bare] [NAME…]
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { JSDOM, VirtualConsole } from 'jsdom';
import { act, linksOf, median, pages, resultPath } from './common.mjs';
import { HERE, PORT } from './serve.mjs';

/** A page is at rest when its tree was not touched for so long; the time it needed ends with the last touch. */
const QUIET_MS = 400;
const STATE_MS_MAX = 10_000;

const bare = process.argv.includes('--bare');
const names = process.argv.slice(2).filter((name) => name !== '--bare');

function help(window) {
  const absolute = (input) =>
    input instanceof Request ? input : new URL(String(input?.url ?? input), window.document.baseURI).href;
  Object.assign(window, {
    Headers,
    Request: class extends Request {
      constructor(input, init) {
        super(absolute(input), init);
      }
    },
    Response,
    AbortController,
    AbortSignal,
    TextDecoder,
    TextEncoder,
    ReadableStream,
    TransformStream,
  });
  window.fetch = (input, init = {}) => {
    const cookie = window.document.cookie;
    const body = init.body instanceof window.URLSearchParams ? new URLSearchParams(init.body.toString()) : init.body;
    return fetch(absolute(input), {
      ...init,
      body,
      headers: { ...Object.fromEntries(new Headers(init.headers)), ...(cookie ? { cookie } : {}) },
    });
  };
}

async function run(page) {
  const errors = [];
  const virtualConsole = new VirtualConsole();
  virtualConsole.on('jsdomError', (error) => errors.push(String(error.message).split('\n')[0]));
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  let touched = began;
  let settledMs = 0;
  /** Waits for rest, and counts the time up to the last touch only. */
  const rest = async (since) => {
    touched = since;
    while (performance.now() - touched < QUIET_MS && performance.now() - since < STATE_MS_MAX) await sleep(10);
    settledMs += touched - since;
  };
  const dom = await JSDOM.fromURL(`http://127.0.0.1:${PORT}/${page.name}/`, {
    runScripts: 'dangerously',
    resources: 'usable',
    pretendToBeVisual: true,
    virtualConsole,
    beforeParse(window) {
      if (!bare) help(window);
      const watch = (root) =>
        new window.MutationObserver(() => (touched = performance.now())).observe(root, {
          subtree: true,
          childList: true,
          attributes: true,
          characterData: true,
        });
      const { attachShadow } = window.Element.prototype;
      window.Element.prototype.attachShadow = function (init) {
        const root = attachShadow.call(this, init);
        watch(root);
        return root;
      };
      watch(window.document);
    },
  });
  const { window } = dom;
  const links = () => JSON.parse(window.eval(`JSON.stringify((${linksOf})())`));
  await rest(began);
  const load = links();
  const states = [];
  for (const interaction of page.interactions ?? []) {
    const since = performance.now();
    try {
      window.eval(`(${act})(${JSON.stringify(interaction)})`);
      if (interaction.scroll && !bare) window.dispatchEvent(new window.Event('scroll'));
    } catch (error) {
      errors.push(String(error?.message ?? error).split('\n')[0]);
    }
    await rest(since);
    states.push(links());
  }
  window.close();
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    load,
    states,
    errors,
    cpu_ms: Math.round((user + system) / 1000),
    settled_ms: Math.round(settledMs),
    wall_ms: Math.round(performance.now() - began),
  };
}

// The server is a process of its own, so that its work is not counted as jsdom's.
const server = fork(`${HERE}/serve.mjs`, [], { silent: true });
await new Promise((resolve, reject) => {
  server.stdout.once('data', resolve);
  server.once('exit', () => reject(new Error('the server ended')));
});
// A page's rejected promise is an error of that page, not of this process.
let rejected = 0;
process.on('unhandledRejection', () => (rejected += 1));
process.on('uncaughtException', () => (rejected += 1));

const results = {};
try {
  await run({ ...pages(['plain-in-place'])[0], interactions: [] });
  for (const page of pages(names)) {
    const result = await run(page).catch((error) => ({
      load: [],
      states: [],
      errors: [String(error)],
      cpu_ms: 0,
      settled_ms: 0,
      wall_ms: 0,
    }));
    results[page.name] = result;
    const counts = [result.load.length, ...result.states.map((state) => state.length)];
    console.log(
      `${JSON.stringify(counts) === JSON.stringify(page.links) ? 'same ' : 'other'} ${page.name.padEnd(28)}`,
      `links ${counts.join(' ')}, cpu ${result.cpu_ms} ms, settled ${result.settled_ms} ms`,
      [...new Set(result.errors)].slice(0, 2).join(' | ').slice(0, 120),
    );
  }
} finally {
  server.kill();
}
writeFileSync(resultPath('jsdom'), JSON.stringify(results, null, 1));
const all = Object.values(results);
const sum = (key) => all.reduce((total, each) => total + each[key], 0);
console.log(
  `${all.length} pages, cpu ${sum('cpu_ms')} ms in all, median ${median(all.map((each) => each.cpu_ms))} ms;`,
  `settled after ${sum('settled_ms')} ms in all; ${rejected} promises rejected;`,
  `resident ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`,
);
process.exit(0);
