//! The event loop: order, time, errors, budgets.

use super::*;

#[test]
fn tasks_run_by_time_then_by_order_and_microtasks_before_them() {
    assert_eq!(
        log_of(
            "setTimeout(() => log.push('b'), 10); setTimeout(() => log.push('c'), 10); setTimeout(() => log.push('a'), 5);
             Promise.resolve().then(() => log.push('micro')); queueMicrotask(() => log.push('queued')); log.push('sync')"
        ),
        "sync micro queued a b c"
    );
}

#[test]
fn a_task_that_throws_is_told_with_its_place_and_stops_nothing() {
    let mut engine = engine();
    engine.evaluate(
        "var log = [];\nsetTimeout(() => {\n  null.x }, 1);\nsetTimeout(() => log.push('after'), 2)",
        "https://a.example/x.js",
    );
    assert_eq!(engine.run(Reach::default()), End::Idle);
    assert_eq!(engine.evaluate("log[0]", "log").unwrap().display().to_string(), "\"after\"");
    let errors = engine.page().borrow().errors.clone();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!((errors[0].source.as_str(), errors[0].line), ("https://a.example/x.js", 3), "{errors:?}");
    assert!(errors[0].message.starts_with("TypeError"), "{errors:?}");
}

#[test]
fn an_error_of_syntax_is_told_with_its_line() {
    let mut engine = engine();
    assert!(engine.evaluate("var a;\nvar 1b;", "https://a.example/x.js").is_none());
    let errors = engine.page().borrow().errors.clone();
    assert_eq!((errors.len(), errors[0].line), (1, 2), "{errors:?}");
    assert_eq!(errors[0].source, "https://a.example/x.js", "{errors:?}");
}

#[test]
fn the_window_is_told_of_errors_and_of_rejections() {
    assert_eq!(
        log_of(
            "window.onerror = (message, source, line, column, error) => { log.push(message, source, line, error instanceof TypeError); return true };
             setTimeout(() => { null.x }, 1)"
        )
        .split(' ')
        .next(),
        Some("Uncaught")
    );
    assert_eq!(
        log_of(
            "addEventListener('unhandledrejection', e => { log.push(e.reason); e.preventDefault() }); Promise.reject('why')"
        ),
        "why"
    );
    assert_eq!(
        log_of("onerror = () => { log.push('told'); throw 1 }; setTimeout(() => { throw 2 })"),
        "told",
        "an error of the handler itself is not told to it again"
    );
}

#[test]
fn a_rejection_that_is_handled_in_time_is_no_error() {
    let mut engine = engine();
    engine.evaluate("let p = Promise.reject(1); p.catch(() => {}); (async () => { throw 2 })()", "x");
    let errors = engine.page().borrow().errors.clone();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].message.contains("Uncaught (in promise) 2"), "{errors:?}");
}

#[test]
fn intervals_go_on_until_they_are_cleared_and_a_timer_can_clear_another() {
    assert_eq!(log_of("let n = 0, i = setInterval(() => { log.push(++n); if (n == 3) clearInterval(i) }, 7)"), "1 2 3");
    assert_eq!(log_of("let t = setTimeout(() => log.push('no'), 2); setTimeout(() => clearTimeout(t), 1)"), "");
    assert_eq!(
        log_of("let n = 0, i = setInterval(() => { log.push(++n); if (n == 2) clearInterval(i); throw 1 })"),
        "1 2"
    );
    assert_eq!(
        log_of("setTimeout('log.push(this === window)', 1); setTimeout((a, b) => log.push(a + b), 2, 3, 4)"),
        "true 7"
    );
}

#[test]
fn deep_timers_wait_four_milliseconds() {
    assert_eq!(
        log_of(
            "let last = performance.now(), n = 0;
             (function again() { let now = performance.now(); if (n) log.push(Math.round(now - last)); last = now; if (n++ < 9) setTimeout(again, 0) })()"
        ),
        "0 0 0 0 0 0 4 4 4"
    );
}

#[test]
fn time_stands_in_a_script_but_a_script_that_waits_by_looking_ends() {
    assert_eq!(log_of("let t = Date.now(); while (Date.now() - t < 20); log.push(Date.now() - t)"), "20");
    assert_eq!(log_of("let t = Date.now(); setTimeout(() => log.push(Date.now() - t >= 3600), 3600)"), "true");
}

#[test]
fn frames_come_each_sixteen_milliseconds_and_share_their_time() {
    assert_eq!(
        log_of(
            "let times = []; requestAnimationFrame(t => { times.push(t); requestAnimationFrame(t => { log.push(times[0] == times[1], Math.round(t - times[0])) }) });
             requestAnimationFrame(t => times.push(t)); let c = requestAnimationFrame(() => log.push('no')); cancelAnimationFrame(c)"
        ),
        "true 17"
    );
    assert_eq!(log_of("requestIdleCallback(d => log.push(d.timeRemaining() > 0, d.didTimeout))"), "true false");
}

#[test]
fn a_run_ends_by_time_by_tasks_and_goes_on_where_it_was() {
    let mut engine = engine();
    engine.evaluate("var n = 0; setInterval(() => n++, 100)", "x");
    assert_eq!(engine.run(Reach { virtual_ms: 1_050, tasks: 1_000 }), End::Time);
    assert_eq!(engine.evaluate("n", "x").unwrap().as_number(), Some(10.0));
    assert_eq!(engine.run(Reach { virtual_ms: 100_000, tasks: 5 }), End::Tasks);
    assert_eq!(engine.evaluate("n", "x").unwrap().as_number(), Some(15.0));
}

#[test]
fn an_endless_loop_costs_its_script_and_endless_scripts_the_page() {
    let start = Start { instructions: 60_000_000, ..Start::at(Url::parse("https://example.org/").unwrap()) };
    let mut engine = Engine::new(&start, Box::new(NoNet::new())).unwrap();
    engine.evaluate("setInterval(() => { try { for (let i = 0; i < 3000000; i++); } catch (e) {} }, 1)", "x");
    assert_eq!(engine.run(Reach::default()), End::Spent);
    assert_eq!(engine.spent(), Some(Spent::Instructions));
    assert!(engine.evaluate("1", "x").is_none());
}

/// Natives nest on the process's stack, which is large enough on a page's thread.
#[test]
fn recursion_without_end_costs_its_script_alone() {
    let scripts = [
        "function f() { f() } f()",
        "let p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
        "(function f() { [1].map(f) })()",
        "let o = { get x() { return this.x } }; o.x",
        "(function f() { JSON.stringify({ toJSON: f }) })()",
        "(function f() { 'a'.replace(/a/, f) })()",
        "(function f() { new (class { constructor() { f() } })() })()",
        "(function f() { Reflect.apply(f, null, []) })()",
        "(function f() { dispatchEvent(new Event('x')) }); addEventListener('x', () => dispatchEvent(new Event('x'))); dispatchEvent(new Event('x'))",
    ];
    let thread = std::thread::Builder::new().stack_size(limits::RENDER_STACK_BYTES);
    let run = move || {
        for script in scripts {
            let mut engine = engine();
            engine.evaluate(script, "x");
            assert!(!engine.page().borrow().errors.is_empty(), "{script}");
            assert_eq!(engine.evaluate("1 + 1", "x").unwrap().as_number(), Some(2.0), "{script}");
        }
    };
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let numbers = || log_of("log.push(Math.random(), Math.random(), crypto.randomUUID())");
    assert_eq!(numbers(), numbers());
    assert_ne!(log_of("log.push(Math.random() == Math.random())"), "true");
}

#[test]
fn microtasks_without_end_cost_the_page_and_too_many_timers_are_forgotten() {
    let mut page = engine();
    page.evaluate("(function again() { queueMicrotask(again) })()", "x");
    assert_eq!(page.spent(), Some(Spent::Microtasks));
    let mut page = engine();
    page.evaluate("var n = 0; for (let i = 0; i < 20000; i++) setTimeout(() => n++)", "x");
    assert_eq!(page.run(Reach::default()), End::Idle);
    assert_eq!(page.evaluate("n", "x").unwrap().as_number(), Some(limits::TIMERS_MAX as f64));
}

#[test]
fn what_is_thrown_cannot_hide_that_the_page_is_spent() {
    let start = Start { instructions: 1_000_000, ..Start::at(Url::parse("https://example.org/").unwrap()) };
    let mut engine = Engine::new(&start, Box::new(NoNet::new())).unwrap();
    engine.evaluate("throw { get name() { for (;;); } }", "x");
    assert_eq!(engine.spent(), Some(Spent::Instructions));
}
