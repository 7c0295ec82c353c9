// Which DOM interfaces the pages call: every method, accessor and constructor of Chromium's window is counted while a
// page loads and its interactions run. Writes `target/render-interfaces.json`, `{member: [page…]}`, and prints the
// members by the number of pages that need them. It tells an engine what to have, and in which order.
//
// node interfaces.mjs [NAME…]
import { writeFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import puppeteer from 'puppeteer-core';
import { act, pages, resultPath } from './common.mjs';
import { serve } from './serve.mjs';

const IDLE_MS = 500;
const PAGE_MS_MAX = 20_000;
/** The globals that the language brings: all that a context without a host has. */
const LANGUAGE = runInNewContext('Object.getOwnPropertyNames(globalThis)');

/** Runs before a page's first script. Only what the language itself does not have is counted. */
function count(languageNames) {
  const language = new Set(languageNames);
  const seen = new Set();
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
  const { apply, construct } = Reflect;
  const counted = (name, target) =>
    new Proxy(target, {
      apply(inner, self, list) {
        seen.add(name);
        return apply(inner, self, list);
      },
    });
  const wrap = (owner, path, key) => {
    const descriptor = getOwnPropertyDescriptor(owner, key);
    if (!descriptor?.configurable || key === 'constructor' || key === 'prototype') return;
    if (typeof descriptor.value === 'function') descriptor.value = counted(`${path}${key}()`, descriptor.value);
    else if (descriptor.get) {
      descriptor.get = counted(`${path}${key}`, descriptor.get);
      if (descriptor.set) descriptor.set = counted(`${path}${key} =`, descriptor.set);
    } else return;
    defineProperty(owner, key, descriptor);
  };
  for (const name of getOwnPropertyNames(window)) {
    if (language.has(name)) continue;
    const descriptor = getOwnPropertyDescriptor(window, name);
    if (/^[A-Z]/.test(name) && typeof descriptor.value === 'function' && descriptor.value.prototype) {
      const type = descriptor.value;
      for (const key of getOwnPropertyNames(type.prototype)) wrap(type.prototype, `${name}.`, key);
      for (const key of getOwnPropertyNames(type))
        if (typeof getOwnPropertyDescriptor(type, key).value === 'function') wrap(type, `${name}::`, key);
      const counting = new Proxy(type, {
        construct(inner, list, target) {
          seen.add(`new ${name}`);
          return construct(inner, list, target === counting ? inner : target);
        },
      });
      defineProperty(type.prototype, 'constructor', { value: counting, writable: true, configurable: true });
      defineProperty(window, name, { ...descriptor, value: counting });
    } else if (!/^[A-Z]/.test(name)) {
      wrap(window, '', name);
    }
  }
  defineProperty(window, Symbol.for('interfaces'), { value: () => [...seen] });
}

const site = await serve();
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  pipe: true,
  timeout: 120_000,
  args: ['--no-sandbox', '--disable-extensions', '--no-first-run', '--disable-background-networking'],
});
const members = {};
try {
  for (const page of pages(process.argv.slice(2))) {
    const tab = await browser.newPage();
    const cdp = await tab.createCDPSession();
    let loaded = false;
    cdp.on('Fetch.requestPaused', ({ requestId }) => {
      const answer = loaded
        ? cdp.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
        : cdp.send('Fetch.continueRequest', { requestId });
      loaded = true;
      answer.catch(() => {});
    });
    await cdp.send('Fetch.enable', { patterns: [{ resourceType: 'Document' }] });
    await tab.evaluateOnNewDocument(count, LANGUAGE);
    const rest = () => tab.waitForNetworkIdle({ idleTime: IDLE_MS, timeout: PAGE_MS_MAX });
    await tab.goto(`${site.origin}/${page.name}/`, { waitUntil: 'load', timeout: PAGE_MS_MAX });
    await rest();
    // The interactions are made from a world of their own, whose calls are not counted.
    const { frameTree } = await cdp.send('Page.getFrameTree');
    for (const interaction of page.interactions ?? []) {
      const { executionContextId } = await cdp.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
      const expression = `(${act})(${JSON.stringify(interaction)})`;
      await cdp.send('Runtime.evaluate', { contextId: executionContextId, expression, userGesture: true });
      await rest();
    }
    const called = await tab.evaluate(() => window[Symbol.for('interfaces')]());
    for (const member of called) (members[member] ??= []).push(page.name);
    await tab.close();
  }
} finally {
  await browser.close();
  site.close();
}
const sorted = Object.entries(members).sort(
  ([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1),
);
writeFileSync(resultPath('interfaces'), JSON.stringify(Object.fromEntries(sorted), null, 1));
for (const [member, names] of sorted)
  console.log(String(names.length).padStart(4), member, names.length <= 2 ? `(${names.join(', ')})` : '');
