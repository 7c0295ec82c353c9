// What the drivers of the engines share: the list of pages, the two functions that run inside a page, and what the
// kernel tells of a tree of processes.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BUILT, ROOT } from './serve.mjs';

/** The pages of one file each, by name: a folder that has such pages says in its `pages.json` what the others say in their `page.json`. */
const LISTED = existsSync(join(ROOT, 'pages.json')) ? JSON.parse(readFileSync(join(ROOT, 'pages.json'), 'utf8')) : null;

/** The pages, by name, each with its `page.json`; all of them, or those that are named. */
export function pages(names) {
  const all = LISTED ? Object.keys(LISTED) : readdirSync(join(ROOT, 'pages')).sort();
  for (const name of names) if (!all.includes(name)) throw new Error(`no page is called ${name}`);
  return (names.length ? names : all).map((name) => {
    const folder = LISTED ? join(ROOT, 'pages') : join(ROOT, 'pages', name);
    const manifest = join(LISTED ? join(BUILT, name) : folder, 'page.json');
    return { name, folder, manifest, ...(LISTED?.[name] ?? JSON.parse(readFileSync(manifest, 'utf8'))) };
  });
}

/** Runs inside a page before its scripts: closed shadow roots are kept where `linksOf` finds them, as a person sees what is in them. */
export function keepClosedRoots() {
  const { attachShadow } = Element.prototype;
  const closed = (window[Symbol.for('closed roots')] = new WeakMap());
  Element.prototype.attachShadow = function (...settings) {
    const root = attachShadow.apply(this, settings);
    if (root.mode === 'closed') closed.set(this, root);
    return root;
  };
}

/** Runs inside a page: `a.href` of every `a[href]`, shadow roots included. */
export function linksOf() {
  const found = [];
  const closed = window[Symbol.for('closed roots')];
  const walk = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.matches('a[href]') && typeof element.href === 'string') found.push(element.href);
      const root = element.shadowRoot ?? closed?.get(element);
      if (root) walk(root);
    }
  };
  walk(document);
  return [...new Set(found)].sort();
}

/** Runs inside a page: one interaction of its `page.json`. */
export function act(interaction) {
  const find = (root, css) => {
    const own = root.querySelector(css);
    if (own) return own;
    for (const element of root.querySelectorAll('*')) {
      const inner = element.shadowRoot && find(element.shadowRoot, css);
      if (inner) return inner;
    }
    return null;
  };
  if (interaction.click) {
    const element = find(document, interaction.click);
    if (!element) throw new Error(`nothing to click: ${interaction.click}`);
    element.click();
  } else if (interaction.scroll === 'bottom') {
    window.scrollTo(0, document.documentElement.scrollHeight);
  } else if (interaction.goto) {
    location.href = interaction.goto;
  } else {
    throw new Error(`not an interaction: ${JSON.stringify(interaction)}`);
  }
}

/** A process and its descendants. */
export function tree(root) {
  const children = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = read(`/proc/${pid}/stat`);
    if (!stat) continue;
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
  }
  const found = [root];
  for (let at = 0; at < found.length; at += 1) found.push(...(children.get(found[at]) ?? []));
  return found;
}

/** The four times of a process, in ms: user, system, and both of the children it has waited for; in steps of 10 ms. */
function timesMs(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return stat
    ? stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 15)
        .map((ticks) => Number(ticks) * 10)
    : [0, 0, 0, 0];
}

/** CPU time of processes with all they have waited for, in ms. */
export const cpuMs = (pids) => pids.reduce((sum, pid) => sum + timesMs(pid).reduce((total, ms) => total + ms, 0), 0);

/** CPU time of the children that this process has waited for, with theirs, in ms. */
export function waitedMs() {
  const [, , user, system] = timesMs(process.pid);
  return user + system;
}

/** Proportional share of memory of processes, in bytes. */
export function pssBytes(pids) {
  return pids.reduce((sum, pid) => {
    const kib = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '');
    return sum + (kib ? Number(kib[1]) * 1024 : 0);
  }, 0);
}

/** A process may end between the listing of its folder and the look into it. */
function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

export const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted.length ? (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2 : 0;
};

/** Where the answer of an engine is kept, outside git. */
export const resultPath = (engine) => join(BUILT, '..', `${basename(ROOT)}-${engine}.json`);
