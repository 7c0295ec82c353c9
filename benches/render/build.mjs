// Builds each page of `pages/` into `target/render-pages/NAME/`, as a production build of its library would be: bundled
// and minified by esbuild, or with the library's own distribution file beside the page (`copy` of its `page.json`).
// With `PAGES` the pages of that folder, which may be one file each: those get an `index.html` with an empty `#app`.
//
// node build.mjs [NAME…]
import { build } from 'esbuild';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pages } from './common.mjs';
import { BUILT, HERE, ROOT } from './serve.mjs';

const MODULES = join(ROOT, 'node_modules');
/** What style sheets name is no part of a page's links. */
const LEFT_OUT = ['.woff', '.woff2', '.ttf', '.eot', '.svg', '.png', '.gif', '.jpg'];

/** A compiler as an esbuild plugin: files whose name matches go through `compile(text, path)`. */
const plugin = (name, filter, compile) => ({
  name,
  setup(on) {
    on.onLoad({ filter }, async ({ path }) => ({
      contents: await compile(readFileSync(path, 'utf8'), path),
      loader: 'js',
      resolveDir: dirname(path),
    }));
  },
});

async function svelte() {
  const { compile } = await import('svelte/compiler');
  return {
    plugins: [plugin('svelte', /\.svelte$/, (text, filename) => compile(text, { filename, css: 'injected' }).js.code)],
  };
}

async function solid() {
  const { transformAsync } = await import('@babel/core');
  const compile = async (text, filename) =>
    (await transformAsync(text, { filename, presets: ['solid'], cwd: HERE, babelrc: false, configFile: false })).code;
  return { plugins: [plugin('solid', /\.jsx$/, compile)] };
}

async function vue() {
  const { compileScript, parse } = await import('vue/compiler-sfc');
  const compile = (text, filename) => {
    const { descriptor } = parse(text, { filename });
    return compileScript(descriptor, { id: basename(filename), inlineTemplate: true, isProd: true }).content;
  };
  const flags = {
    __VUE_OPTIONS_API__: 'true',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  };
  return { plugins: [plugin('vue', /\.vue$/, compile)], define: flags };
}

/** Angular ahead of time: its compiler turns TypeScript into Ivy code, its linker finishes the library packages. */
async function angular(page, folder, entry) {
  const { performCompilation, readConfiguration } = await import('@angular/compiler-cli');
  const { createEs2015LinkerPlugin } = await import('@angular/compiler-cli/linker/babel');
  const { NodeJSFileSystem, ConsoleLogger, LogLevel } = await import('@angular/compiler-cli');
  const { transformAsync } = await import('@babel/core');
  // The compiler resolves packages upwards from the file it reads, so its output stays below this folder's modules.
  const outDir = join(MODULES, '.angular', page);
  rmSync(outDir, { recursive: true, force: true });
  const config = readConfiguration(join(HERE, 'tsconfig.angular.json'));
  const { diagnostics } = performCompilation({
    rootNames: [join(folder, entry)],
    options: { ...config.options, rootDir: folder, outDir },
  });
  const faults = diagnostics.filter((each) => each.category === 1);
  if (faults.length) throw new Error(faults.map((each) => JSON.stringify(each.messageText)).join('\n'));
  const fileSystem = new NodeJSFileSystem();
  const linker = createEs2015LinkerPlugin({
    fileSystem,
    logger: new ConsoleLogger(LogLevel.error),
    linkerJitMode: false,
  });
  const link = async (text, filename) =>
    text.includes('ɵɵngDeclare')
      ? (
          await transformAsync(text, {
            filename,
            plugins: [linker],
            cwd: HERE,
            babelrc: false,
            configFile: false,
            compact: false,
          })
        ).code
      : text;
  return {
    entryPoints: [join(outDir, entry.replace(/ts$/, 'js'))],
    plugins: [plugin('angular-linker', /node_modules\/.*\.mjs$/, link)],
    define: { ngDevMode: 'false', ngJitMode: 'false', ngI18nClosureMode: 'false', ngServerMode: 'false' },
  };
}

/** Ember's packages lie in a folder of its own, under their names. */
function ember() {
  const packages = join(MODULES, 'ember-source/dist/prod/packages');
  const resolve = {
    name: 'ember',
    setup(on) {
      on.onResolve({ filter: /^@(ember|glimmer)\// }, ({ path }) => {
        const file = join(packages, path, 'index.js');
        return existsSync(file) ? { path: file } : undefined;
      });
    },
  };
  return {
    plugins: [resolve],
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
  };
}

const FLAVOURS = { svelte, solid, vue, angular, ember };

/** Sum of the bytes of a folder's scripts. */
function scriptBytes(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => /\.m?js$/.test(name))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** A page of one file: what loads it, and its `page.json`. */
function frame(out, page) {
  const sheet = existsSync(join(out, 'main.css')) ? '<link rel="stylesheet" href="main.css">' : '';
  const head = `<meta charset="utf-8"><title>Torrents</title>${sheet}`;
  const body = `<div id="app" class="app"></div><script src="main.js"></script>`;
  writeFileSync(join(out, 'index.html'), `<!DOCTYPE html>\n<html><head>${head}</head><body>${body}</body></html>\n`);
  writeFileSync(join(out, 'page.json'), JSON.stringify(page));
}

async function buildPage(page) {
  const { name, folder } = page;
  const out = join(BUILT, name);
  const isOneFile = folder === join(ROOT, 'pages');
  const { entry, format = 'iife', splitting = false, alias = {}, flavour, copy = {}, jsx } = page.build ?? {};
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const filter = (path) => !entry || path === folder || /\.(html|css|json)$/.test(path);
  if (!isOneFile) cpSync(folder, out, { recursive: true, filter });
  for (const [to, from] of Object.entries(copy)) cpSync(join(MODULES, from), join(out, to));
  if (entry) {
    const {
      plugins = [],
      define = {},
      entryPoints,
      tsconfigRaw,
    } = flavour ? await FLAVOURS[flavour](name, folder, entry) : {};
    await build({
      entryPoints: entryPoints ?? [join(folder, entry)],
      entryNames: 'main',
      outdir: out,
      bundle: true,
      minify: true,
      legalComments: 'none',
      logLevel: 'warning',
      target: 'es2022',
      conditions: ['production', 'browser'],
      nodePaths: [MODULES],
      define: { 'process.env': '{}', 'process.env.NODE_ENV': '"production"', ...define },
      ...(jsx ? { jsx: 'automatic', jsxImportSource: jsx } : {}),
      format,
      splitting,
      alias,
      plugins,
      tsconfigRaw,
      loader: Object.fromEntries(LEFT_OUT.map((each) => [each, 'empty'])),
    });
  }
  if (isOneFile) frame(out, page);
  return scriptBytes(out);
}

const named = process.argv.slice(2);
if (!named.length) rmSync(BUILT, { recursive: true, force: true });
const sizes = [];
for (const page of pages(named)) sizes.push([page.name, await buildPage(page)]);
for (const [name, bytes] of sizes) console.log(`${String(bytes).padStart(9)} ${name}`);
console.log(`${sizes.length} pages, ${sizes.reduce((sum, [, bytes]) => sum + bytes, 0)} bytes of scripts in files`);
