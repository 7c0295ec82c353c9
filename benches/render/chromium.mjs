// The truth of the comparison: Debian's Chromium, headless, one warm browser and a new tab a page. Writes
// `target/render-chromium.json`: for each page the links after load, after each interaction, the navigations that it
// began (none is let through), and what it cost.
//
// node chromium.mjs [NAME…]
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import puppeteer from 'puppeteer-core';
import { act, cpuMs, keepClosedRoots, linksOf, median, pages, pssBytes, resultPath, tree } from './common.mjs';
import { serve } from './serve.mjs';

/** A page is at rest when nothing was on the network for so long. */
const IDLE_MS = 500;
const PAGE_MS_MAX = 20_000;
/** Pages that load until the end of the list is in view are shown in a window that holds all of it. */
const TALL = { width: 1280, height: 12_000 };
const USUAL = { width: 1280, height: 800 };

async function run(browser, origin, page) {
  const pid = browser.process().pid;
  const address = `${origin}/${page.name}/`;
  const errors = [];
  const navigations = new Set();
  const began = performance.now();
  const cpuBefore = cpuMs(tree(pid));

  const tab = await browser.newPage();
  await tab.setViewport(page.viewport === 'tall' ? TALL : USUAL);
  tab.on('pageerror', (error) => errors.push(String(error?.message ?? error).split('\n')[0]));
  const cdp = await tab.createCDPSession();
  await cdp.send('Page.enable');
  const { frameTree } = await cdp.send('Page.getFrameTree');
  const main = frameTree.frame.id;
  let loaded = false;
  const note = (url) => {
    if (url.split('#')[0] !== tab.url().split('#')[0]) navigations.add(url);
  };
  cdp.on('Page.frameRequestedNavigation', ({ frameId, url }) => loaded && frameId === main && note(url));
  cdp.on('Page.windowOpen', ({ url }) => navigations.add(url));
  cdp.on('Fetch.requestPaused', ({ requestId, frameId, request }) => {
    if (frameId !== main || !loaded) {
      loaded ||= frameId === main;
      cdp.send('Fetch.continueRequest', { requestId }).catch(() => {});
    } else {
      note(request.url);
      cdp.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' }).catch(() => {});
    }
  });
  await cdp.send('Fetch.enable', { patterns: [{ resourceType: 'Document' }] });

  const rest = () => tab.waitForNetworkIdle({ idleTime: IDLE_MS, concurrency: 0, timeout: PAGE_MS_MAX });
  await tab.evaluateOnNewDocument(keepClosedRoots);
  await tab.goto(address, { waitUntil: 'load', timeout: PAGE_MS_MAX });
  const loadEventMs = performance.now() - began;
  await rest();
  const load = await tab.evaluate(linksOf);
  const cpuLoad = cpuMs(tree(pid)) - cpuBefore;

  const states = [];
  for (const interaction of page.interactions ?? []) {
    const { exceptionDetails } = await cdp.send('Runtime.evaluate', {
      expression: `(${act})(${JSON.stringify(interaction)})`,
      userGesture: true,
    });
    if (exceptionDetails) errors.push(exceptionDetails.exception?.description?.split('\n')[0] ?? exceptionDetails.text);
    await rest();
    states.push(await tab.evaluate(linksOf));
  }
  const pss = pssBytes(tree(pid));
  await tab.close();
  const cpu = cpuMs(tree(pid)) - cpuBefore;
  const wall = performance.now() - began;
  return {
    load,
    states,
    navigations: [...navigations].sort(),
    errors,
    cpu_load_ms: cpuLoad,
    cpu_ms: cpu,
    pss_bytes: pss,
    load_event_ms: Math.round(loadEventMs),
    wall_ms: Math.round(wall),
  };
}

const site = await serve();
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  pipe: true,
  timeout: 120_000,
  args: ['--no-sandbox', '--disable-extensions', '--no-first-run', '--disable-background-networking'],
});
const names = process.argv.slice(2);
const results =
  names.length && existsSync(resultPath('chromium')) ? JSON.parse(readFileSync(resultPath('chromium'), 'utf8')) : {};
let faults = 0;
try {
  browser.on('targetcreated', async (target) => {
    if (target.opener()) await (await target.page())?.close().catch(() => {});
  });
  await (await browser.newPage()).goto('about:blank');
  for (const page of pages(names)) {
    const result = await run(browser, site.origin, page).catch((error) => ({
      load: [],
      states: [],
      navigations: [],
      errors: [String(error)],
    }));
    results[page.name] = result;
    // A page is at fault when its counts are not those that its `page.json` was written with.
    const counts = [result.load.length, ...result.states.map((state) => state.length)];
    const wanted = [page.links, page.navigations ?? 0];
    const got = [counts, result.navigations.length];
    const fault = JSON.stringify(wanted) !== JSON.stringify(got) || result.errors.length > 0;
    faults += fault ? 1 : 0;
    console.log(
      `${fault ? 'FAULT' : 'ok   '} ${page.name.padEnd(28)} links ${counts.join(' ')},`,
      `navigations ${result.navigations.length},`,
      `cpu ${result.cpu_ms} ms, pss ${((result.pss_bytes ?? 0) / 1e6).toFixed(0)} MB, wall ${result.wall_ms} ms`,
      result.errors.join(' | '),
    );
  }
} finally {
  await browser.close();
  site.close();
}
writeFileSync(resultPath('chromium'), JSON.stringify(results, null, 1));
const all = Object.values(results);
console.log(
  `${all.length} pages, ${faults} at fault; median cpu ${median(all.map((each) => each.cpu_ms))} ms,`,
  `pss ${(median(all.map((each) => each.pss_bytes)) / 1e6).toFixed(0)} MB,`,
  `wall ${median(all.map((each) => each.wall_ms))} ms`,
);
process.exitCode = faults ? 1 : 0;
