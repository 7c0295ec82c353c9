// Looks at pages with Debian's Chromium, over its DevTools protocol: node pages.mjs TOOLS ORIGIN [--shots FOLDER] PATH...
// Prints one JSON object a page: errors of the console, findings of axe-core, sideways scroll at 360 px, bytes, first paint, what is there without scripts,
// where the Tab key goes.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [tools, origin, ...rest] = process.argv.slice(2);
const shots = rest[0] === '--shots' ? rest.splice(0, 2)[1] : null;
const require = createRequire(import.meta.url);
const WebSocket = require(join(tools, 'ws-8.23.0'));
const axe = readFileSync(join(tools, 'axe-core-4.14.1', 'axe.min.js'), 'utf8');

const profile = mkdtempSync(join(tmpdir(), 'gleaner-pages-'));
const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0', '--no-first-run', '--disable-extensions',
  '--disable-background-networking', `--user-data-dir=${profile}`, 'about:blank'];
const chromium = spawn('chromium', flags, { stdio: ['ignore', 'ignore', 'pipe'] });
const address = await new Promise((found, failed) => {
  let text = '';
  chromium.stderr.on('data', part => {
    text += part;
    const line = text.match(/DevTools listening on (ws:\S+)/);
    if (line) found(line[1]);
  });
  chromium.on('exit', () => failed(new Error(`chromium has ended: ${text}`)));
});

const socket = new WebSocket(address, { perMessageDeflate: false });
await new Promise(open => socket.on('open', open));
let number = 0;
const waiting = new Map(), heard = [];
socket.on('message', data => {
  const message = JSON.parse(data);
  if (message.id) {
    const [found, failed] = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) failed(new Error(JSON.stringify(message.error))); else found(message.result);
  } else for (const hear of [...heard]) hear(message);
});
const send = (method, params = {}, sessionId = undefined) => new Promise((found, failed) => {
  waiting.set(++number, [found, failed]);
  socket.send(JSON.stringify({ id: number, method, params, sessionId }));
});

async function tab(work) {
  const { browserContextId } = await send('Target.createBrowserContext');
  const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const ask = (method, params) => send(method, params, sessionId);
  const events = [];
  const hear = message => { if (message.sessionId === sessionId) events.push(message); };
  heard.push(hear);
  for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await ask(`${domain}.enable`);
  const until = async is => {
    for (let tries = 0; tries < 600; tries++) {
      const found = events.find(is);
      if (found) return found;
      await new Promise(later => setTimeout(later, 25));
    }
    throw new Error('the page does not load');
  };
  const go = async path => {
    events.length = 0;
    await ask('Page.navigate', { url: origin + path });
    await until(event => event.method === 'Page.loadEventFired');
  };
  const value = async expression => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  };
  try { return await work({ ask, go, value, events, until }); } finally {
    heard.splice(heard.indexOf(hear), 1);
    await send('Target.disposeBrowserContext', { browserContextId });
  }
}

const size = (width, height) => ({ width, height, deviceScaleFactor: 1, mobile: width < 600 });
const scheme = value => ({ features: [{ name: 'prefers-color-scheme', value }] });

for (const path of rest) {
  const name = path.replace(/[^a-z0-9]+/gi, '_').replace(/^_|_$/g, '').slice(0, 40) || 'overview';
  const shot = async (ask, what) => {
    if (!shots) return;
    const { cssContentSize } = await ask('Page.getLayoutMetrics');
    const clip = { x: 0, y: 0, width: cssContentSize.width, height: Math.min(cssContentSize.height, 2600), scale: 1 };
    const { data } = await ask('Page.captureScreenshot', { format: 'png', clip, captureBeyondViewport: true });
    writeFileSync(join(shots, `${name}-${what}.png`), Buffer.from(data, 'base64'));
  };
  const told = await tab(async ({ ask, go, value, events }) => {
    await ask('Emulation.setDeviceMetricsOverride', size(1280, 900));
    await go(path);
    const page = events.find(event => event.method === 'Network.responseReceived' && event.params.type === 'Document').params.response;
    await new Promise(later => setTimeout(later, 300));
    const bytes = events.filter(event => event.method === 'Network.loadingFinished').reduce((sum, event) => sum + event.params.encodedDataLength, 0);
    const paint = await value(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1`);
    const strangers = events.filter(event => event.method === 'Network.requestWillBeSent').map(event => event.params.request.url)
      .filter(url => !url.startsWith(origin) && !url.startsWith('data:'));
    const findings = [];
    const check = async mode => {
      await ask('Emulation.setEmulatedMedia', scheme(mode));
      const { result } = await ask('Runtime.evaluate', { expression: `${axe}; axe.run().then(of => of.violations.filter(one => ['serious', 'critical'].includes(one.impact)).map(one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' ' + (node.failureSummary ?? '').slice(0, 200)).join(' | ')))`, awaitPromise: true, returnByValue: true });
      findings.push(...(result.value ?? ['axe has not run']).map(text => `${mode}: ${text}`));
      await shot(ask, mode);
    };
    await check('light');
    await check('dark');
    // The keyboard reaches every link, field and button that is shown, each in its turn.
    const wanted = await value(`[...document.querySelectorAll('a[href],button,input:not([type=hidden]),select,textarea,summary')].filter(of => of.checkVisibility()).length`);
    await value('document.body.focus()');
    const reached = new Set();
    for (let press = 0; press < Math.min(wanted, 150) + 2; press++) {
      for (const type of ['rawKeyDown', 'keyUp']) await ask('Input.dispatchKeyEvent', { type, key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 });
      reached.add(await value(`[...document.querySelectorAll('a[href],button,input,select,textarea,summary')].indexOf(document.activeElement)`));
    }
    reached.delete(-1);
    await ask('Emulation.setDeviceMetricsOverride', size(360, 740));
    await ask('Emulation.setEmulatedMedia', scheme('light'));
    await go(path);
    const wide = await value(`document.documentElement.scrollWidth - innerWidth`);
    const widest = wide <= 0 ? '' : await value(`[...document.querySelectorAll('main *')].filter(of => of.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map(of => of.outerHTML.slice(0, 120)).join(' | ')`);
    await shot(ask, '360');
    const errors = events.filter(event => event.method === 'Runtime.exceptionThrown' || event.method === 'Log.entryAdded' && event.params.entry.level === 'error'
      || event.method === 'Runtime.consoleAPICalled' && event.params.type === 'error').map(event => JSON.stringify(event.params).slice(0, 400));
    return { status: page.status, bytes, paint, errors, strangers, findings, wide, widest, wanted: Math.min(wanted, 150), reached: reached.size };
  });
  told.without_scripts = await tab(async ({ ask, go }) => {
    await ask('Emulation.setScriptExecutionDisabled', { value: true });
    await go(path);
    await shot(ask, 'noscript');
    const { root } = await ask('DOM.getDocument', { depth: 0 });
    const { nodeId } = await ask('DOM.querySelector', { nodeId: root.nodeId, selector: 'main' });
    const { outerHTML } = await ask('DOM.getOuterHTML', { nodeId });
    return outerHTML.replace(/<[^>]*>/g, ' ').trim().length;
  });
  console.log(JSON.stringify({ path, ...told }));
}
socket.close();
chromium.removeAllListeners('exit');
const ended = new Promise(end => chromium.on('exit', end));
chromium.kill();
await ended;
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
