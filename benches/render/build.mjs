// Builds each page of `pages/` into `target/render-pages/NAME/`, as a production build of its library would be: bundled
// and minified by esbuild, or with the library's own distribution file beside the page (`copy` of its `page.json`).
//
// node build.mjs [NAME…]
import { build } from 'esbuild';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BUILT, HERE } from './serve.mjs';

const PAGES = join(HERE, 'pages');
const MODULES = join(HERE, 'node_modules');

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
async function angular(page, folder) {
  const { performCompilation, readConfiguration } = await import('@angular/compiler-cli');
  const { createEs2015LinkerPlugin } = await import('@angular/compiler-cli/linker/babel');
  const { NodeJSFileSystem, ConsoleLogger, LogLevel } = await import('@angular/compiler-cli');
  const { transformAsync } = await import('@babel/core');
  // The compiler resolves packages upwards from the file it reads, so its output stays below this folder's modules.
  const outDir = join(MODULES, '.angular', page);
  rmSync(outDir, { recursive: true, force: true });
  const config = readConfiguration(join(HERE, 'tsconfig.angular.json'));
  const { diagnostics } = performCompilation({
    rootNames: [join(folder, 'main.ts')],
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
    entryPoints: [join(outDir, 'main.js')],
    plugins: [plugin('angular-linker', /@angular\/.*\.mjs$/, link)],
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

async function buildPage(name) {
  const folder = join(PAGES, name);
  const out = join(BUILT, name);
  const page = JSON.parse(readFileSync(join(folder, 'page.json'), 'utf8'));
  const { entry, format = 'iife', splitting = false, alias = {}, flavour, copy = {}, jsx } = page.build ?? {};
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  cpSync(folder, out, {
    recursive: true,
    filter: (path) => !entry || path === folder || /\.(html|css|json)$/.test(path),
  });
  for (const [to, from] of Object.entries(copy)) cpSync(join(MODULES, from), join(out, to));
  if (entry) {
    const {
      plugins = [],
      define = {},
      entryPoints,
      tsconfigRaw,
    } = flavour ? await FLAVOURS[flavour](name, folder) : {};
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
      define: { 'process.env.NODE_ENV': '"production"', ...define },
      ...(jsx ? { jsx: 'automatic', jsxImportSource: jsx } : {}),
      format,
      splitting,
      alias,
      plugins,
      tsconfigRaw,
    });
  }
  return scriptBytes(out);
}

const named = process.argv.slice(2);
const names = named.length ? named : readdirSync(PAGES).sort();
if (!named.length) rmSync(BUILT, { recursive: true, force: true });
const sizes = [];
for (const name of names) sizes.push([name, await buildPage(name)]);
for (const [name, bytes] of sizes) console.log(`${String(bytes).padStart(9)} ${name}`);
console.log(`${names.length} pages, ${sizes.reduce((sum, [, bytes]) => sum + bytes, 0)} bytes of scripts in files`);
