// What a crawl meets that the comparison pages do not: a hundred pages of one site, which all bring the same scripts, and pages whose
// frames run scripts, each in a realm of its own. Prints CPU and time of the pages.
//
// node site.mjs COMMAND… {list}
import { execFileSync, fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, pages, resultPath } from './common.mjs';
import { BUILT, HERE, PORT } from './serve.mjs';

const PAGES = 100;
const SITES = ['jquery3-scroll', 'vue3-global', 'react19-list', 'angular-list', 'preact-importmap', 'ember7-component'];
const FRAMES = [0, 1, 4, 16, 60];
/** Each page of frames so often, of which the median counts. */
const ROUNDS = 15;
const COMMAND = process.argv.slice(2);
const server = join(HERE, 'serve.mjs');

/** Runs a list; the answers in its order. */
function ask(entries) {
  const list = resultPath('site-list');
  writeFileSync(list, JSON.stringify(entries));
  const command = COMMAND.map((word) => (word === '{list}' ? list : word));
  const output = execFileSync(command[0], command.slice(1), { encoding: 'utf8', maxBuffer: 1 << 28 });
  return output.split('\n').filter(Boolean).map(JSON.parse);
}

const ms = (answers, key) => median(answers.map((answer) => answer[key])).toFixed(1).padStart(8);
const mb = (answers) => (median(answers.map((answer) => answer.pss_bytes)) / 1e6).toFixed(0).padStart(4);
const told = (answers) => `cpu ${ms(answers, 'cpu_ms')} ms, wall ${ms(answers, 'wall_ms')} ms, ${mb(answers)} MB`;

if (!COMMAND.length) throw new Error(`say what to measure: node site.mjs COMMAND… {list}`);

// The engine runs while this process waits for it, so that the site must be another process.
const site = fork(server, [], { silent: true });
await new Promise((resolve, reject) => {
  site.stdout.once('data', resolve);
  site.once('exit', () => reject(new Error('the server ended')));
});
const origin = `http://127.0.0.1:${PORT}`;
try {
  for (const page of pages(SITES)) {
    const entries = Array.from({ length: PAGES }, (_, at) => ({
      name: `${page.name} ${at}`,
      url: `${origin}/${page.name}/?at=${at}`,
      manifest: page.manifest,
    }));
    const answers = ask(entries);
    const [first, later] = [answers.slice(0, 1), answers.slice(3)];
    const alike = new Set(answers.map((answer) => JSON.stringify(answer.states?.map((links) => links.length)))).size;
    console.log(
      `${page.name.padEnd(20)} first ${told(first)}; behind the third ${told(later)};`,
      alike === 1 ? 'links alike' : `links differ in ${alike} ways`,
    );
  }
  const manifest = join(BUILT, 'frames.json');
  writeFileSync(manifest, '{}');
  for (const [kind, inside] of [
    ['without scripts', '<a href=/inside>a</a>'],
    ['with a script', '<a href=/inside>a</a><script>parent.seen = (parent.seen || 0) + 1</script>'],
  ]) {
    for (const count of FRAMES) {
      const name = `frames-${kind.replaceAll(' ', '-')}-${count}`;
      mkdirSync(join(BUILT, name), { recursive: true });
      const frames = `<iframe srcdoc="${inside}"></iframe>`.repeat(count);
      const check = `<script>onload = () => { const a = document.body.appendChild(document.createElement('a')); a.href = '/seen/' + (window.seen || 0) }</script>`;
      writeFileSync(join(BUILT, name, 'index.html'), `<!doctype html><title>frames</title><body>${check}${frames}</body>`);
      const entries = Array.from({ length: ROUNDS }, () => ({ name, url: `${origin}/${name}/`, manifest }));
      const answers = ask(entries);
      const seen = answers.at(-1).load.map((link) => link.split('/').at(-1)).join(' ');
      console.log(`${String(count).padStart(2)} frames ${kind}: ${told(answers.slice(3))}; scripts seen: ${seen}`);
    }
  }
} finally {
  site.kill();
}
