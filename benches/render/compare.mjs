// Compares an engine with Chromium, page by page: links after load and after each interaction, navigations, CPU, PSS.
// Needs `target/render-chromium.json`. The engine is a command, or a file that was written before:
//
// node compare.mjs [NAME…] -- COMMAND…   runs COMMAND; README.md says what is put into it and what it prints
// node compare.mjs [NAME…] --time -- COMMAND…   does not look at its memory, which takes of its time, and writes no file
// node compare.mjs [NAME…] --result jsdom   reads target/render-jsdom.json
//
// It ends with 0 when every page is equal, with 1 when one is not.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { median, pages, pssBytes, resultPath, tree, waitedMs } from './common.mjs';
import { serve } from './serve.mjs';

const PAGE_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** How often the memory of the engine's processes is looked at. */
const SAMPLE_MS = 10;
/** And how often where the engine tells its own: the looking takes time from the server, which is this process. */
const SAMPLE_LIST_MS = 500;
/** How many links of a difference are told. */
const SHOWN = 3;

/** Runs a command to its end: what it printed, its CPU time with its children's, the highest PSS seen, its time. */
function measure(command, timeMs, sampleMs = SAMPLE_MS) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const cpuBefore = waitedMs();
    const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks = [];
    let bytes = 0;
    let pss = 0;
    const look = () => (pss = Math.max(pss, pssBytes(tree(child.pid))));
    const sampler = timeOnly ? undefined : setInterval(look, sampleMs);
    const timer = setTimeout(() => child.kill('SIGKILL'), timeMs);
    child.stdout.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) child.kill('SIGKILL');
      else chunks.push(chunk);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearInterval(sampler);
      clearTimeout(timer);
      resolve({
        output: Buffer.concat(chunks).toString(),
        failure: code === 0 ? null : `ended with ${signal ?? code}`,
        cpu_ms: waitedMs() - cpuBefore,
        pss_bytes: pss,
        wall_ms: performance.now() - began,
      });
    });
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { failure: `no JSON: ${text.slice(0, 80)}` };
  }
}

/** One run a page, or one run for all when the command takes `{list}`. */
async function ask(command, chosen, origin) {
  const fill = (places) => command.map((word) => word.replace(/\{(\w+)\}/g, (whole, name) => places[name] ?? whole));
  const results = {};
  if (command.some((word) => word.includes('{list}'))) {
    const list = resultPath('list');
    const entries = chosen.map(({ name, manifest }) => ({ name, url: `${origin}/${name}/`, manifest }));
    writeFileSync(list, JSON.stringify(entries, null, 1));
    const run = await measure(fill({ list }), PAGE_MS_MAX * chosen.length, SAMPLE_LIST_MS);
    for (const line of run.output.split('\n').filter(Boolean)) {
      const answer = parse(line);
      if (answer.name) results[answer.name] = answer;
    }
    console.log(
      `one run: cpu ${run.cpu_ms} ms, highest pss ${megabytes(run.pss_bytes)}, ${run.wall_ms.toFixed(0)} ms`,
      run.failure ?? '',
    );
    return results;
  }
  for (const { name, manifest } of chosen) {
    const { output, ...cost } = await measure(fill({ url: `${origin}/${name}/`, manifest }), PAGE_MS_MAX);
    results[name] = { ...cost, ...(cost.failure ? {} : parse(output)) };
  }
  return results;
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const without = (some, others) => some.filter((each) => !others.includes(each));

/** The differences of one page, state by state; none when it is equal. */
function differences(truth, answer, page) {
  if (!answer) return [{ state: 'page', missing: truth.load, extra: [], failure: 'no answer' }];
  const wanted = [truth.load, ...truth.states];
  const got = [answer.load ?? [], ...(answer.states ?? [])];
  const named = ['load', ...(page.interactions ?? []).map((interaction) => JSON.stringify(interaction))];
  const found = wanted.map((links, at) => ({
    state: named[at],
    missing: without(links, got[at] ?? []),
    extra: without(got[at] ?? [], links),
    failure: got[at] ? undefined : 'not told',
  }));
  if (answer.navigations) {
    const { navigations } = answer;
    found.push({
      state: 'navigations',
      missing: without(truth.navigations, navigations),
      extra: without(navigations, truth.navigations),
    });
  }
  const differing = found.filter(({ missing, extra, failure }) => missing.length || extra.length || failure);
  const failure =
    answer.failure?.trim() ?? (got.length > wanted.length ? `${got.length} states, not ${wanted.length}` : null);
  return failure ? [{ state: 'page', missing: [], extra: [], failure }, ...differing] : differing;
}

const split = process.argv.indexOf('--');
const before = process.argv.slice(2, split < 0 ? undefined : split);
const timeOnly = before.includes('--time') && before.splice(before.indexOf('--time'), 1).length > 0;
const file = before.includes('--result') ? before.splice(before.indexOf('--result'), 2)[1] : null;
if (split < 0 && !file) throw new Error('say what to compare: -- COMMAND, or --result NAME');
const chosen = pages(before);
const chromium = JSON.parse(readFileSync(resultPath('chromium'), 'utf8'));

let results;
if (file) {
  results = JSON.parse(readFileSync(resultPath(file), 'utf8'));
} else {
  const site = await serve();
  results = await ask(process.argv.slice(split + 1), chosen, site.origin).finally(site.close);
  if (!timeOnly) writeFileSync(resultPath('engine'), JSON.stringify(results, null, 1));
}

const equal = [];
const ratios = { cpu_ms: [], pss_bytes: [] };
/** A page that is not equal has not done the work, so its cost is shown and not counted. */
const ratio = (key, page, counted) => {
  const [ours, theirs] = [results[page]?.[key], chromium[page][key]];
  if (!(ours > 0) || !(theirs > 0)) return '-'.padStart(7);
  if (counted) ratios[key].push(ours / theirs);
  return `1/${(theirs / ours).toFixed(1)}`.padStart(7);
};
console.log(`${'page'.padEnd(28)} verdict   states missing extra     cpu     pss`);
for (const page of chosen) {
  const truth = chromium[page.name];
  if (!truth) throw new Error(`${page.name} is not in ${resultPath('chromium')}: run chromium.mjs`);
  const found = differences(truth, results[page.name], page);
  if (!found.length) equal.push(page.name);
  const count = (key) => String(found.reduce((sum, each) => sum + each[key].length, 0)).padStart(7);
  const states = String(truth.states.length + 1).padStart(8);
  console.log(
    `${page.name.padEnd(28)} ${found.length ? 'DIFFERENT' : 'equal    '}${states}${count('missing')}${count('extra')}`,
    ratio('cpu_ms', page.name, !found.length),
    ratio('pss_bytes', page.name, !found.length),
  );
  for (const { state, missing, extra, failure } of found) {
    console.log(
      `    ${state}: ${failure ?? ''} ${missing
        .slice(0, SHOWN)
        .map((link) => `- ${link}`)
        .join(' ')} ${extra
        .slice(0, SHOWN)
        .map((link) => `+ ${link}`)
        .join(' ')}`,
    );
  }
  const errors = results[page.name]?.errors ?? [];
  if (found.length && errors.length) console.log(`    errors: ${[...new Set(errors)].slice(0, SHOWN).join(' | ')}`);
}

console.log(`\n${equal.length} of ${chosen.length} pages equal`);
for (const [key, goal] of [
  ['cpu_ms', 8],
  ['pss_bytes', 6],
]) {
  if (ratios[key].length)
    console.log(
      `median ${key} of the equal pages: 1/${(1 / median(ratios[key])).toFixed(1)} of Chromium's`,
      `(wanted: 1/${goal} or less)`,
    );
}
if (existsSync(resultPath('jsdom')) && file !== 'jsdom') {
  const jsdom = JSON.parse(readFileSync(resultPath('jsdom'), 'utf8'));
  const both = chosen.filter(({ name }) => jsdom[name] && results[name]?.wall_ms > 0);
  const sum = (some, answers, key) => some.reduce((total, { name }) => total + answers[name][key], 0).toFixed(0);
  const told = (some) => `${sum(some, results, 'wall_ms')} ms against jsdom's ${sum(some, jsdom, 'settled_ms')} ms`;
  const done = both.filter(
    (page) => !differences(chromium[page.name], { ...jsdom[page.name], navigations: undefined }, page).length,
  );
  console.log(
    `time: ${told(both)} over ${both.length} pages;`,
    `${told(done)} over the ${done.length} that jsdom renders as Chromium does`,
  );
}
process.exitCode = equal.length === chosen.length ? 0 : 1;
