//! What our changes to the engine's parser and compiler must leave as the language has it (`vendor/README.md`).

use super::*;

#[test]
fn operators_bind_as_the_language_says() {
    assert_js(&[
        "(8 | 1 << 2 & 3 ^ 4 == 5 < 6 >> 1 + 2 * 3 % 4 - 1) === (8 | (((1 << 2) & 3) ^ (4 == (5 < (6 >> (1 + ((2 * 3) % 4) - 1))))))",
        "10 - 3 - 2 === 5 && 100 / 5 / 2 === 10 && 7 % 4 % 2 === 1",
        "1 < 2 === true && 3 > 2 > 1 === false",
        "2 ** 3 ** 2 === 512",
        "(1 | 2 ^ 2 & 3) === 1",
        "'a' in { a: 1 } === true",
        "[] instanceof Array === true",
        "class A { #x; static of(o) { return #x in o } static not(o) { return 1 == #x in o } } A.of(new A) && !A.of({}) && A.not(new A)",
        "var found = []; for (var key in { p: 1 }) found.push(key); found[0] === 'p'",
        "var n = 0; for (var i = ('a' in { a: 1 }) ? 1 : 0; i < 3; i++) n += i; n === 3",
        "var a = 6; a / 2 / 1 === 3 && /2/.test('2')",
    ]);
}

#[test]
fn operators_that_belong_to_nobody_are_errors() {
    let fails = |text: &str| format!("try {{ eval({text:?}); false }} catch (e) {{ e instanceof SyntaxError }}");
    let facts: Vec<String> = [
        "class A { #x; static of(o) { return #x in o < 3 } }",
        "class A { #x; static of(o) { return 1 + #x in o } }",
        "-1 ** 2",
        "1 +",
        "var o = {}; ({ a = 1 })",
        "() => ({ a = 1 })",
        "async () => ({ a = 1 })",
        "function outer() { return function () { ({ a = 1 }) } }",
        "x => y => ({ a = 1 })",
    ]
    .map(fails)
    .into();
    assert_js(&facts.iter().map(String::as_str).collect::<Vec<_>>());
    assert_js(&["(({ a = 1 }) => a)({}) === 1", "var s; (() => ({ s = 3 } = {}))(); s === 3"]);
}

#[test]
fn functions_are_compiled_when_they_are_called() {
    assert_js(&[
        "function f(a, b = 2, ...c) {} f.name === 'f' && f.length === 1 && f.toString() === 'function f(a, b = 2, ...c) {}'",
        "function P(x) { this.x = x; if (!new.target) throw 1 } P.prototype.of = function () { return this.x }; new P(3).of() === 3",
        "function P() { if (!new.target) throw 1 } try { P(); false } catch (e) { e === 1 }",
        "(() => 0).prototype === undefined && 'prototype' in function () {} && !('prototype' in { m() {} }.m)",
        "var f = function name(n) { return n ? name(n - 1) : typeof name }; f(3) === 'function'",
        "function strict() { 'use strict'; return this === undefined } strict() && (function () { return this === globalThis })()",
        "function mapped(a) { arguments[0] = 9; return a } mapped(1) === 9",
        "function count() { return arguments.length } count(1, 2, 3) === 3 && count() === 0",
        "function outer() { let a = 1; return () => () => ++a } var o = outer(); o()(); o()() === 3",
        "var fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); fs.map(f => f()).join() === '0,1,2'",
        "class A { #p = 1; q = () => this.#p; static s = () => 7; static { this.t = () => 8 } } new A().q() + A.s() + A.t() === 16",
        "class A { get z() { return 5 } } class B extends A { constructor() { super(); this.w = () => super.z } } new B().w() === 5",
        "var o = { m() { return super.toString === Object.prototype.toString }, get g() { return 1 }, *n() { yield 1 } }; o.m() && o.g === 1 && [...o.n()].length === 1",
        "function* two() { yield* [1, 2] } [...two()].join() === '1,2' && typeof (async () => 1)().then === 'function'",
        "function within(o) { with (o) { return (function () { return inside })() } } within({ inside: 42 }) === 42",
        "if (true) { function hoisted() { return 1 } } hoisted() === 1",
        "(function (a, b) { var a; function b() { return 3 } return a + b() })(1, 2) === 4",
    ]);
}

#[test]
fn functions_see_what_eval_adds_around_them() {
    assert_js(&[
        "function f() { function g() { return typeof added } var before = g(); eval('var added = 1'); return before + g() } f() === 'undefinednumber'",
        "function f() { eval('var added = 2'); return (() => added)() } f() === 2",
        "var added = 'outside'; function f() { var before = (() => added)(); eval('var added = 3'); return before + (() => added)() } f() === 'outside3'",
        "function f(x) { return eval('(function () { return x + 1 })')() } f(1) === 2",
        "new Function('a', 'return (() => a + 1)()')(1) === 2",
    ]);
}

#[test]
fn names_are_found_in_scopes_of_any_size() {
    let many: Vec<String> = (0..300).map(|n| format!("var v{n} = {n}; let l{n} = {n};")).collect();
    let sum: Vec<String> = (0..300).map(|n| format!("v{n} + l{n}")).collect();
    let fact = format!("(function () {{ {} return () => {} }})()() === {}", many.concat(), sum.join(" + "), 299 * 300);
    assert_js(&[&fact]);
    assert_js(&[
        "(function () { const a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9; try { i = 1; return false } catch (e) { return a + i === 10 } })()",
    ]);
    assert_js(&["try { eval('let a,b,c,d,e,f,g,h,i,j,a'); false } catch (e) { e instanceof SyntaxError }"]);
}
