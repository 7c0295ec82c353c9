//! Functions of long scripts are parsed when they are called first (`vendor/README.md`). All facts of these tests hold with it and without it
//! (`assert_js`); here are those that a search for the end of a function could be wrong about.

use super::*;

#[test]
fn the_ends_of_functions_are_found_behind_all_that_looks_like_one() {
    assert_js(&[
        "function f(a) { return '}' + \"}\" + `}${ { a: `}${a}` }.a }` + /[}/]}/.test('}}') } f(1) === '}}}}1true'",
        "function f(a) { // }\n /* } */ if (a) /}/.test('}'); return a /1/ 1 } f(4) === 4",
        "function f(a, b) { let g = 2; return a / b / g } function h(a) { return a++ / 2 } f(8, 2) === 2 && h(4) === 2",
        "function f(a) { if (a) { } /}/g.exec(''); { } /}/; return (a)/2 } f(4) === 2",
        "function f() { return { 'a}': 1, get b() { return 2 }, [`c}`]: 3, d() { return '}' } } } f().b === 2 && f().d() === '}'",
        "function f(a) { switch (a) { case 1: { return 'one' } default: return a => { return '}' } } } f(1) === 'one' && f(2)() === '}'",
        "function f(a) { return a ? b => { return b } : { c: 1 } } f(1)(2) === 2 && f(0).c === 1",
        "function f(a) { return a?.b?.[0] ?? (a ? .5 : 1.5) } f({ b: [7] }) === 7 && f(null) === 1.5 && f({}) === .5",
        "function f() { class A { static { this.x = '}' } static y = { a: 1 }; 'z}'() { return 1 } async *[Symbol.iterator]() { } } return A.x + A.y.a + new A()['z}']() } f() === '}11'",
        "function f(a) { a: for (;;) { for (const b of [1]) { break a } } do { a-- } while (a > 0)\n return a-->0 } f(2) === false",
        "function f() { return 0x1f + 1e3 + 1_0 + .5e1 + 1..toString().length + 0b1 } f() === 31 + 1000 + 10 + 5 + 1 + 1",
        "function f(a) {\r\n  return a;\r} f(1) === 1 && f.toString().length === 30",
        "function f(a) { return 'ü💩' + a } function g() { throw new Error } f('}') === 'ü💩}' && f.toString() === \"function f(a) { return 'ü💩' + a }\"",
        "var ünd = 1; function f(é) { return ünd + é } f(2) === 3",
    ]);
}

#[test]
fn functions_that_are_parsed_late_see_the_variables_around_them() {
    assert_js(&[
        "function f(e) { var t = e; return function (n) { return [e, t, n].map(function (e) { return e + t }) } } f(1)(2).join() === '2,2,3'",
        "function f(e) { let t = 1; for (let e of [2]) t += e; for (let e of [3]) { t += e } return (() => e + t)() } f(10) === 16",
        "function f(e) { const t = 5; function n() { for (const e of [t]) { const t = e + 1; return t } } return n() + t } f(0) === 11",
        "function f(t) { return (function (a = t) { var t = 2; return a + t })() } f(5) === 7",
        "function f(t) { return (({ a = t, ...b }) => { let t = 1; return a + t + b.c })({ c: 3 }) } f(5) === 9",
        "function f(t) { return (([a, [t] = [2]], ...n) => a + t + n.length)([1]) + t } f(5) === 8",
        "function f(e) { try { throw 1 } catch (e) { e++ } return (() => e)() } f(7) === 7",
        "function f(e) { try { null.x } catch { } const g = () => { try { throw {} } catch ({ a = e }) { let e = 2; return e + a } }; return g() } f(7) === 9",
        "function f(a) { return (() => { if (a) { function b() { return 1 } } return b() })() } f(1) === 1",
        "function f(b) { return (() => { { function c() { return b } } return c() })() } f(3) === 3",
        "function f() { return (() => arguments[0])() + (function () { return arguments.length })() } f(5) === 5",
        "var o = { v: 3, f() { return [1].map(() => [1].map(() => this.v)[0])[0] } }; o.f() === 3",
        "var o = { v: 3, f() { return ((a = this.v) => a)() } }; o.f() === 3",
        "function f() { const g = (n) => n ? g(n - 1) + 1 : 0, h = x => y => x + y; return g(3) + h(1)(2) } f() === 6",
        "function f(e, t) { const n = e => e.x\n const r = t\n return n({ x: 1 }) + r } f(0, 2) === 3",
        "function f(x) { var a = 1\n ++x\n var b = x, c = a\n return () => a + b + c } f(1)() === 4",
        "function f(a) { return [a => a ? a : 1, a => ({ a }), async a => a, async (a) => a].length + a } f(1) === 5",
        "function f(q) { let u = 0; return { m(u) { return q + u }, n: q => q + u, ['o' + q]: function o(n) { return n ? o(n - 1) : q } } } f(1).m(2) === 3 && f(1).n(2) === 2 && f(1).o1(2) === 1",
        "function f(q) { return class q2 extends (class { v = q }) { w = q; static s = () => q; t() { return this.v + this.w } } } new (f(2))().t() === 4 && f(2).s() === 2",
        "function* g(n) { const inner = function* (m) { yield m + n; yield* [n] }; yield* inner(1) } [...g(2)].join() === '3,2'",
        "function f(let1) { var let2 = let1; return () => { let let1 = 2, [let2] = [3]; return let1 + let2 } } f(9)() === 5",
        "function f(a) { label: { if (a) break label } return (() => { x: for (;;) { break x } return a })() } f(2) === 2",
        "function f(async) { return (() => async)() + (async => async)(1) } f(2) === 3",
        "function f(a) { return (() => { var r = a in { b: 1 }, s = []; for (var k in { c: a }) s.push(k); for (a of [5]); return s + r + a })() } f('b') === 'ctrue5'",
        "function f(yes) { 'use strict'; return (function () { return this })() === undefined && yes } f(true)",
        "function f(x) { return (function () { return eval('x') })() } f(4) === 4",
        "function f(x) { return eval('(() => x)')() + (() => x)() } f(4) === 8",
        "function f(o) { with (o) { return (() => { return v })() } } f({ v: 6 }) === 6",
        "function T(a) { this.a = a } T.prototype = { get() { return () => this.a } }; new T(1).get()() === 1",
    ]);
}

#[test]
fn names_that_words_and_ends_of_lines_could_hide_are_seen() {
    // Each uses what the function around it declares.
    let bodies = [
        "let t\n[x, y] = [y, x]\nreturn x + y",
        "var t\n(t = x.z) != null ? t : x.z = 4\nreturn y",
        "let t\n`${x}`, y\nreturn y",
        "let t\n+x, y\nreturn x",
        "let t\n/}/.test(x)\nreturn y",
        "const cb = () => {}\n[x].forEach(cb), y\nreturn y",
        "let f = () => {}\n(x), y\nreturn y",
        "let f = () => {}\n/}/.test(x)\nreturn x",
        "let f = x => y => {}\n;[x, y].length\nreturn x",
        "let q = 1, t = q++\n;(x), y\nreturn y",
        "let q = x => x++\n;(x), y\nreturn x",
        "return { E: class extends m(B) {} }.E && x",
        "class A { static E = class extends (B) {} } return y",
        "return { async catch(e) { var x = 1 } } && x",
        "return { get if() { var x = 1 }, *for(e) { var y } } && x + y",
        "class A { static while(e) { var x } a = 1\n if(e) { var y } } return x + y",
        "l: { break l\n/}/.test(x), x / 1 } return x",
        "for (let d of [1]) if (1) function x(){}\nreturn y",
        "for (let of of [x]) return of",
        "return typeof let === 'undefined' && y",
        "function n() { return\n{ x(1) } } n(); return y",
        "return { async(a) { return a }, get: x, set: y, static: 1 }.get",
        "let a = x => { return x }, b = y => y, c = (x, y) => x ? y : x\nreturn a(x) + b(y) + c(x, y)",
        "return ((a, { b = x, c: [d = y] }, ...e) => { { let x, y } return b + d })(1, { c: [] })",
        "return ((a = x => x, b = (y) => { return y }) => a(x) + b(y))()",
    ];
    let told = |text: &str, all| {
        parsing_late(all, || {
            let mut engine = engine();
            let value = engine.evaluate(text, "test").map(|value| value.display().to_string());
            (value, format!("{:?}", engine.page().borrow().errors))
        })
    };
    for body in bodies {
        let text =
            format!("function f(x, y, m = B => B, B = class {{}}) {{ return (() => {{ {body} }})() }} String(f(3, 5))");
        let whole = told(&text, false);
        assert!(whole.0.is_some(), "{body}: {}", whole.1);
        assert_eq!(told(&text, true), whole, "{body}");
    }
}

#[test]
fn parameters_within_parameters_take_no_time_of_their_own() {
    let nested = (0..40).fold("1".to_owned(), |inner, n| format!("(a{n} = {inner}) => a{n}"));
    assert_js(&[&format!("function f() {{ return {nested} }} typeof f() === 'function'")]);
}

#[test]
fn a_function_that_is_none_fails_when_it_is_called() {
    let script = "var log = []; function never() { let a; let a }\nfunction called(a, b) { return a +\n * b } log.push(called.length);
        try { called() } catch (error) { log.push(error instanceof SyntaxError, error.message.length > 0) }
        try { called() } catch (error) { log.push(error.name) }; log.join(' ')";
    let told = |all| parsing_late(all, || engine().evaluate(script, "test").map(|value| value.display().to_string()));
    assert_eq!(told(true).as_deref(), Some("\"2 true true SyntaxError\""));
    assert_eq!(told(false), None, "a script that is parsed whole does not begin");
}

#[test]
fn only_long_scripts_have_functions_that_are_parsed_late() {
    let broken = "function never() { return ; let = = a; } var ran = true; ran";
    assert!(engine().evaluate(broken, "short").is_none());
    let long = format!("{broken}; /* {} */ ran", "x".repeat(1 << 14));
    let long = long.replace("return ;", &format!("return '{}';", "y".repeat(80)));
    let mut engine = engine();
    assert!(engine.evaluate(&long, "long").is_some(), "{:?}", engine.page().borrow().errors);
}

#[test]
fn places_of_errors_are_right_in_functions_that_are_parsed_late() {
    let script = "function a() {\n  var x = 1;\n  return function b() {\n    return /* ü */ missing + x } }\nfunction c() { null.y }\na()()";
    let told = |all| {
        parsing_late(all, || {
            let mut engine = engine();
            engine.evaluate(script, "https://example.org/a.js");
            format!("{:?}", engine.page().borrow().errors)
        })
    };
    assert_eq!(told(true), told(false));
    assert!(told(true).contains("missing"), "{}", told(true));
}
