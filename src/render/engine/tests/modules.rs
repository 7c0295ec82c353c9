//! Modules fetched through a page's requests.

use super::*;

fn script(text: &str) -> wire::Response {
    answer("text/javascript", text)
}

/// Runs an inline module and returns its `log`, and the requests made.
fn run(rows: Vec<(&'static str, wire::Response)>, map: &str, module: &str) -> (String, Vec<String>) {
    let (mut engine, asked) = engine_on(rows);
    engine.evaluate("var log = []; addEventListener('error', e => log.push('failed', e.message, e.filename))", "x");
    if !map.is_empty() {
        engine.import_map(map).unwrap();
    }
    engine.module(module);
    engine.run(Reach::default());
    let log = engine.evaluate("log.join(' ')", "log").unwrap().as_string().unwrap().to_std_string_lossy();
    let asked = asked.borrow().iter().map(|line| line.replace("GET https://example.org", "")).collect();
    (log, asked)
}

#[test]
fn imports_are_fetched_once_and_run_in_their_order() {
    let rows = vec![
        ("/dir/a.js", script("import './c.js'; export const a = 1; log.push('a')")),
        ("/dir/b.js", script("import { c } from '/dir/c.js'; export default c + 1; log.push('b')")),
        ("/dir/c.js", script("export let c = 5; log.push('c', import.meta.url, import.meta.resolve('./d'))")),
    ];
    let (log, mut asked) = run(rows, "", "import { a } from './a.js'; import b from './b.js'; log.push(a + b)");
    assert_eq!(log, "c https://example.org/dir/c.js https://example.org/dir/d a b 7");
    asked.sort();
    assert_eq!(asked, ["/dir/a.js", "/dir/b.js", "/dir/c.js"]);
}

#[test]
fn dynamic_imports_top_level_await_and_data_modules_work() {
    let rows = || vec![("/dir/a.js", script("export const a = await Promise.resolve(3)"))];
    assert_eq!(
        run(rows(), "", "const m = await import('./a.js'); log.push(m.a); log.push((await import('./a.js')) === m)").0,
        "3 true"
    );
    assert_eq!(run(rows(), "", "import x from 'data:text/javascript,export default 4'; log.push(x)").0, "4");
    assert_eq!(
        run(
            vec![("/dir/j.json", answer("application/json", "{\"x\":5}"))],
            "",
            "import j from './j.json' with { type: 'json' }; log.push(j.x)"
        )
        .0,
        "5"
    );
}

#[test]
fn import_maps_say_where_names_lead() {
    let rows = || {
        vec![
            ("/lib/vue.js", script("export default 'vue'")),
            ("/lib/x/y.js", script("export default 'y'")),
            ("/old/vue.js", script("export default 'old'")),
            ("/legacy/m.js", script("import v from 'vue'; log.push(v)")),
        ]
    };
    let map = "{\"imports\": {\"vue\": \"/lib/vue.js\", \"x/\": \"/lib/x/\", \"no\": null}, \"scopes\": {\"/legacy/\": {\"vue\": \"/old/vue.js\"}}}";
    assert_eq!(
        run(rows(), map, "import v from 'vue'; import y from 'x/y.js'; import '/legacy/m.js'; log.push(v, y)").0,
        "old vue y"
    );
    assert!(run(rows(), map, "import 'no'").0.contains("Failed to resolve module specifier"));
    assert!(run(rows(), "", "import 'vue'").0.contains("Failed to resolve module specifier \"vue\""));
    let (mut engine, _) = engine_on(vec![]);
    assert!(engine.import_map("[]").is_err() && engine.import_map("{\"imports\": 5}").is_err());
}

#[test]
fn a_module_that_fails_is_told_and_stops_nobody() {
    let rows = || {
        vec![
            ("/dir/bad.js", script("export let (")),
            ("/dir/html.js", answer("text/html", "<p>")),
            ("/dir/throws.js", script("throw new Error('mine')")),
        ]
    };
    assert!(run(rows(), "", "import './bad.js'").0.contains("/dir/bad.js"));
    assert!(run(rows(), "", "import './html.js'").0.contains("text/html"));
    assert!(run(rows(), "", "import './throws.js'").0.contains("mine"));
    assert!(run(rows(), "", "import './none.js'").0.contains("Failed to fetch"));
    assert_eq!(run(rows(), "", "try { await import('./none.js') } catch (e) { log.push(e.name) }").0, "TypeError");
    let (mut engine, _) = engine_on(vec![]);
    engine.module("import {");
    let told = engine.page().borrow().errors[0].clone();
    assert!(told.source.starts_with("https://example.org/") && (told.line, told.column) == (1, 9), "{told:?}");
}

#[test]
fn a_module_at_an_address_runs_as_an_import_of_it_does() {
    let (mut engine, _) = engine_on(vec![("/app.js", script("globalThis.ran = import.meta.url"))]);
    engine.module_at("/app.js");
    engine.run(Reach::default());
    assert_eq!(engine.evaluate("ran", "x").unwrap().display().to_string(), "\"https://example.org/app.js\"");
}

#[test]
fn modules_may_end_without_a_semicolon() {
    let rows = vec![
        ("/dir/a.js", script("const a = 1\nexport { a }")),
        ("/dir/b.js", script("const b = 1;export{b as c}// the end")),
        ("/dir/c.js", script("export * from './a.js'")),
        ("/dir/d.js", script("export * as d from './a.js'\n")),
        ("/dir/e.js", script("export { c as default } from './b.js'")),
        ("/dir/f.js", script("import { a } from './a.js'")),
        ("/dir/g.js", script("import './a.js'")),
        ("/dir/h.js", script("export default 5")),
        ("/dir/i.js", script("const i = 1; export {\n i,\n}\n/* the\nend */\n")),
    ];
    let (log, _) = run(
        rows,
        "",
        "const all = await Promise.all([...'abcdefghi'].map(name => import(`./${name}.js`))); log.push(...all.map(m => Object.keys(m)))",
    );
    assert_eq!(log, "a c a d default   default i");
}

#[test]
fn modules_dispose_of_what_they_use() {
    let (log, _) = run(
        Vec::new(),
        "",
        "using a = { [Symbol.dispose]() { log.push('a') } }; await using b = { async [Symbol.asyncDispose]() { log.push('b') } }; log.push('in')",
    );
    assert_eq!(log, "in b a");
}

#[test]
fn modules_export_async_arrow_functions() {
    let rows = vec![
        ("/dir/a.js", script("export default async (x) => x")),
        ("/dir/b.js", script("export default async x => x")),
        ("/dir/c.js", script("export default async () => {};")),
        ("/dir/d.js", script("export default async function () {}")),
        ("/dir/e.js", script("export default async function* e() {}")),
        ("/dir/f.js", script("const async = 1; export default async\n")),
        ("/dir/g.js", script("const async = a => a; export default async(7)")),
        ("/dir/h.js", script("export default (class { static name() {} })")),
    ];
    let (log, _) = run(
        rows,
        "",
        "const all = await Promise.all([...'abcdefgh'].map(name => import(`./${name}.js`))); log.push(...all.map(m => m.default.name ?? m.default))",
    );
    assert_eq!(log.replace("name() {}", "name"), "default default default default e 1 7 name");
}

#[test]
fn what_is_no_expression_is_none_in_a_module_either() {
    for (module, said) in [
        ("({ a = 1 })", "invalid object literal"),
        ("const f = async () => ({ a = 1 })", "invalid object literal"),
        ("class A { m() { return this.#b } }", "private"),
    ] {
        let (mut engine, _) = engine_on(Vec::new());
        engine.module(module);
        engine.run(Reach::default());
        let page = engine.page();
        let told: Vec<String> = page.borrow().errors.iter().map(|error| error.message.clone()).collect();
        assert!(told.iter().any(|message| message.contains(said)), "{module}: {told:?}");
    }
}
