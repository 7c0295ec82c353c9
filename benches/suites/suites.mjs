// The test suites of four libraries, in Chromium and in gleaner: each page of a suite reports its tests in its own document, and a test that
// passes in Chromium must pass in gleaner. `run` puts the suites into FOLDER; `README.md` says what is printed.
//
// node suites.mjs FOLDER RESULT.json COMMAND…      (COMMAND prints the final document of the URL that follows it)
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';

const [folder, resultPath, ...command] = process.argv.slice(2);
const PORT = 8461;
const MINUTES_MAX = 5;

/** Modules of jQuery's suite whose results do not depend on a clock or a server. */
const JQUERY = (
  'basic core callbacks deferred deprecated support data queue attributes event selector traversing manipulation wrap css serialize'
).split(' ');

const PAGES = [
  ...JQUERY.map((module) => ({ suite: 'jquery', name: `jquery ${module}`, path: `/jquery/test/index.html?module=${module}` })),
  { suite: 'knockout', name: 'knockout', path: '/knockout/spec/runner.html' },
  { suite: 'backbone', name: 'backbone', path: '/backbone/test/index.html' },
  { suite: 'underscore', name: 'underscore', path: '/underscore/test/index.html' },
];

/** Put behind the script of the test framework: writes the results into the document when all tests have run. */
const REPORTER = `<script>(() => {
  const tests = [];
  const told = document.createElement('script');
  told.type = 'application/json'; told.id = 'suite-results';
  document.documentElement.appendChild(told);
  const test = (...one) => {
    tests.push(one);
    told.textContent = JSON.stringify(tests).replace(/</g, '\\u003c');
  };
  const tell = () => {
    const request = new XMLHttpRequest();
    request.open('POST', '/suite-results');
    request.send(JSON.stringify(tests));
  };
  if (window.QUnit) {
    // A test that hangs must leave time to those behind it: a page in gleaner has ten seconds of its own time.
    const patience = location.hash === '#brief' ? 2500 : 30000;
    Object.defineProperty(QUnit.config, 'testTimeout', { get: () => patience, set() {} });
    let why = '';
    QUnit.log((one) => { if (!one.result && !why) why = one.message + ' ' + one.actual + ' for ' + one.expected; });
    QUnit.testDone((one) => { test(one.module + ': ' + one.name, one.failed === 0, why); why = ''; });
    QUnit.done(() => tell());
  } else {
    jasmine.getEnv().addReporter({
      reportRunnerStarting() {}, reportSpecStarting() {}, reportSuiteResults() {}, log() {},
      reportSpecResults: (spec) => {
        const failed = spec.results().getItems().find((one) => one.passed && !one.passed());
        test(spec.getFullName(), spec.results().passed(), failed ? String(failed.message) : '');
      },
      reportRunnerResults: tell,
    });
  }
})()</script>`;

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css',
  '.xml': 'text/xml',
  '.json': 'application/json',
  '.txt': 'text/plain',
};

/** jQuery's own server of test data wants a package for request bodies: these lines stand for it. */
const BODIES = `module.exports = (request) => new Promise((done) => {
  let text = ''; request.on('data', (piece) => { text += piece }).on('end', () => done(text));
});`;

function mock() {
  const modules = join(folder, 'jquery/node_modules/raw-body');
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(modules, 'index.js'), BODIES);
  // What its build makes.
  const fixture = readFileSync(join(folder, 'jquery/test/data/qunit-fixture.html'), 'utf8');
  writeFileSync(join(folder, 'jquery/test/data/qunit-fixture.js'), `QUnit.config.fixture = ${JSON.stringify(fixture)};`);
  return createRequire(join(folder, 'jquery/test/'))('./middleware-mockserver.js')();
}

function serve() {
  const mocked = mock();
  process.chdir(join(folder, 'jquery'));
  const file = (request, response) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname)));
    if (!path.startsWith(folder) || !existsSync(path) || !statSync(path).isFile()) {
      return response.writeHead(404).end();
    }
    let body = readFileSync(path);
    if (PAGES.some((page) => page.path.split('?')[0] === path.slice(folder.length))) {
      const framework = /<script[^>]*(qunit|jasmine)\.js"[^>]*><\/script>/;
      body = body.toString().replace(framework, (script) => script + REPORTER);
    }
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(body);
  };
  const server = createServer((request, response) => {
    if (request.url === '/suite-results') {
      let text = '';
      request.on('data', (piece) => { text += piece }).on('end', () => {
        response.end();
        sent(JSON.parse(text));
      });
      return;
    }
    if (!request.url.startsWith('/jquery/')) return file(request, response);
    const whole = request.url;
    request.url = whole.slice('/jquery'.length).replace(/^\//, '/base/');
    mocked(request, response, () => {
      request.url = whole;
      file(request, response);
    });
  });
  return new Promise((done) => server.listen(PORT, '127.0.0.1', () => done(server)));
}

/** The results in the document that gleaner prints; none if it did not come to an end. */
function ours(url) {
  return new Promise((done) => {
    const options = { maxBuffer: 1 << 28, timeout: MINUTES_MAX * 60_000, cwd: '/' };
    execFile(command[0], [...command.slice(1), url], options, (_, text) => {
      const told = /<script[^>]*id="suite-results"[^>]*>([^]*?)<\/script>/.exec(text ?? '');
      done(told ? JSON.parse(told[1]) : []);
    });
  });
}

/** What Chromium's page sends at the end. */
let sent = () => {};

function theirs(url) {
  return new Promise((done) => {
    const folder = mkdtempSync(join(tmpdir(), 'suites-'));
    const browser = spawn(chromium, [...FLAGS, `--user-data-dir=${folder}`, url], { stdio: 'ignore' });
    const end = (results) => {
      clearTimeout(late);
      sent = () => {};
      browser.once('exit', () => {
        // Its other processes may still write there for a moment.
        setTimeout(() => {
          rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
          done(results);
        }, 300);
      });
      browser.kill();
    };
    const late = setTimeout(() => end([]), MINUTES_MAX * 60_000);
    sent = end;
  });
}

const chromium = process.env.CHROMIUM ?? 'chromium';
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', '--no-first-run'];
const server = await serve();
const told = [];
for (const page of PAGES.filter((page) => !process.env.SUITE || page.name.includes(process.env.SUITE))) {
  const url = `http://127.0.0.1:${PORT}${page.path}`;
  const truth = await theirs(url);
  const own = await ours(`${url}#brief`);
  const passed = new Map();
  for (const [name, is] of own) passed.set(name, (passed.get(name) ?? true) && is);
  const wanted = truth.filter(([, is]) => is).map(([name]) => name);
  const missed = wanted.filter((name) => !passed.get(name));
  told.push({ ...page, tests: truth.length, chromium: wanted.length, gleaner: wanted.length - missed.length, missed });
  console.log(`${page.name}: ${wanted.length - missed.length} of Chromium's ${wanted.length} (${own.length} of ${truth.length} ran)`);
  const reason = new Map(own.map(([name, , why]) => [name, why.slice(0, 300)]));
  for (const name of missed) console.log(`    ${name} (${reason.get(name) ?? 'did not run'})`);
  if (process.env.FAILED) for (const [name, is, why] of truth) if (!is) console.log(`    Chromium: ${name} (${why})`);
}
server.close();
const sum = (list, key) => list.reduce((sum, one) => sum + one[key], 0);
for (const suite of new Set(told.map((page) => page.suite))) {
  const pages = told.filter((page) => page.suite === suite);
  console.log(`${suite}: ${sum(pages, 'gleaner')} of ${sum(pages, 'chromium')}`);
}
writeFileSync(resultPath, JSON.stringify(told, null, 1));
process.exit(0);
