//! The cache of scripts shared by pages of one child does not change what the scripts do.

use super::*;
use crate::engine::kept::EngineCache;

/// A text that is long enough to be cached.
fn long(text: &str) -> String {
    format!("{text}\n/*{}*/", "x".repeat(limits::RENDER_KEPT_TEXT_BYTES_MIN))
}

/// Runs scripts and then a module as one page; returns its `log` and the cache for the next page.
fn page_of(kept: EngineCache, scripts: &[&str], module: &str) -> (String, EngineCache) {
    let start = Start::at(Url::parse("https://example.org/").unwrap());
    let mut engine = Engine::behind(kept, &start, Box::new(NoNet::new())).unwrap();
    engine.evaluate("var log = []", "log");
    for script in scripts {
        engine.evaluate(script, "script");
    }
    engine.module(module);
    engine.run(Reach::default());
    let errors: Vec<_> = engine.page().borrow().errors.iter().map(|error| error.message.clone()).collect();
    let log = engine.evaluate("log.join(' ')", "log").unwrap().as_string().unwrap().to_std_string_lossy();
    (format!("{log} {}", errors.join(" ")), engine.end())
}

#[test]
fn scripts_and_modules_that_pages_share_are_parsed_twice_and_run_on_each() {
    let script = long(
        "const own = 'own', tag = strings => strings; let count = 0; class List { ids() { return [1].map(i => () => this.id + i) } }
        var shared = 1; function next(a, b = a + 1) { count += b; return () => [count, own, typeof later, arguments.length].join() }
        log.push(next(1)(), next(2, 5)(), Object.assign(new List, { id: 3 }).ids()[0](), typeof window.own, shared);
        const same = () => tag`a${1}`; log.push(same() === same(), tag`a${1}` === same());
        { function hoisted() { return 'hoisted' } } log.push(hoisted(), this === window)",
    );
    let module =
        long("const own = 'module'; export let x = 1; log.push(own, typeof count, (() => x)(), import.meta.url)");
    let mut kept = EngineCache::default();
    let mut trees = Vec::new();
    for number in 0..5 {
        // A page does not see the bindings of other pages, and a script does not include what precedes it in the page.
        let before = format!("let of_page_{number} = {number}; log.push(typeof of_page_{})", (number + 4) % 5);
        let (log, next) = page_of(kept, &[&before, &script, "var later = 1; log.push(next(1)())"], &module);
        assert_eq!(
            log,
            "undefined 2,own,undefined,1 7,own,undefined,2 4 undefined 1 true false hoisted true 9,own,number,1 \
             module number 1 https://example.org/ ",
            "page {number}"
        );
        kept = next;
        trees.push(kept.trees());
    }
    assert_eq!(trees, [0, 2, 2, 2, 2]);
}

#[test]
fn a_kept_script_is_read_anew_within_a_page_and_its_declarations_are_held_against_the_pages() {
    let script = long("let once = 1; log.push('ran')");
    let (mut kept, mut logs) = (EngineCache::default(), Vec::new());
    for scripts in
        [&[&*script][..], &[&script], &[&script], &[&script, &script], &["var once", &script], &["let once", &script]]
    {
        let (log, next) = page_of(kept, scripts, "0");
        (kept, logs) = (next, [logs, vec![log]].concat());
    }
    // The same as from an engine without a cache.
    let (twice, global) =
        ("SyntaxError: invalid scope analysis: duplicate lexical declaration", "SyntaxError: cannot redefine");
    assert_eq!(logs[..4], ["ran ", "ran ", "ran ", &format!("ran {twice}")]);
    assert!(logs[4].starts_with(&format!(" {global}")), "{logs:?}");
    assert_eq!(logs[5], format!(" {twice}"));
    assert_eq!(kept.trees(), 1);
}

#[test]
fn a_script_is_parsed_late_on_one_page_and_whole_for_those_that_share_it() {
    // A function that is none shows which it was.
    let script = long(
        "function never() { let = = 'a body that is long enough to be passed over, of eighty bytes and more'; } log.push('ran')",
    );
    let (mut kept, mut logs) = (EngineCache::default(), Vec::new());
    for _ in 0..2 {
        let (log, next) = page_of(kept, &[&format!("{script}/*{}*/", "y".repeat(16 << 10))], "");
        kept = next;
        logs.push(log);
    }
    assert_eq!(logs[0], "ran ");
    assert!(logs[1].contains("SyntaxError"), "{logs:?}");
}

#[test]
fn scripts_that_call_eval_directly_are_not_kept() {
    let scripts = [
        "function f(text) { eval(text); return typeof added } log.push(f('var added = 1'), f('1'))",
        "class A { static { (eval)('1') } } log.push('a')",
        "log.push([1].map(i => ev\\u0061l('i'))[0])",
        "eval('var added = 1'); log.push(added)",
    ];
    for script in scripts.map(long) {
        let mut kept = EngineCache::default();
        for _ in 0..3 {
            kept = page_of(kept, &[&script], "0").1;
        }
        assert_eq!(kept.trees(), 0, "{script}");
    }
    // An indirect call sees no scope.
    let script = long("log.push((0, eval)('1'), window.eval('2'))");
    let mut kept = EngineCache::default();
    for _ in 0..3 {
        let (log, next) = page_of(kept, &[&script], "0");
        assert_eq!(log, "1 2 ");
        kept = next;
    }
    assert_eq!(kept.trees(), 1);
}

#[test]
fn what_was_not_used_for_longest_makes_room() {
    let large = |name: char| {
        format!("log.push('{name}') /*{}*/", name.to_string().repeat(limits::RENDER_KEPT_BYTES_MAX / 5 * 2))
    };
    let mut kept = EngineCache::default();
    for name in "aabbaccbaa".chars() {
        kept = page_of(kept, &[&large(name)], "0").1;
        assert!(kept.trees() <= 2);
    }
    assert_eq!(kept.trees(), 2);
    for page in 1..=limits::RENDER_KEPT_PAGES_MAX {
        kept = page_of(kept, &["1"], "0").1;
        assert!(kept.trees() > 0 || page == limits::RENDER_KEPT_PAGES_MAX, "page {page}");
    }
    kept = page_of(kept, &["1"], "0").1;
    assert_eq!(kept.trees(), 0);
    // Names of other pages are not retained, and the next page that has the text caches it.
    let names = kept.names();
    kept = page_of(
        kept,
        &[&format!("var {}", (0..500).map(|at| format!("name_{at}")).collect::<Vec<_>>().join(","))],
        "0",
    )
    .1;
    assert!(kept.names() > names);
    kept = page_of(kept, &[&large('a')], "0").1;
    assert_eq!((kept.trees(), kept.names() < names + 100), (1, true));
}

#[test]
fn a_page_whose_engine_broke_down_leaves_nothing() {
    let script = long("log.push(1)");
    let mut kept = EngineCache::default();
    for _ in 0..2 {
        kept = page_of(kept, &[&script], "0").1;
    }
    assert_eq!(kept.trees(), 1);
    let start = Start::at(Url::parse("https://example.org/").unwrap());
    let mut engine = Engine::behind(kept, &start, Box::new(NoNet::new())).unwrap();
    assert!(engine.with(|_| -> () { panic!("a native") }).is_none());
    assert!(
        engine.page().borrow().errors.last().is_some_and(|error| error.message.contains("the script engine failed"))
    );
    assert_eq!(engine.end().trees(), 0);
}
