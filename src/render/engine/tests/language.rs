//! Language semantics that our changes to the engine's parser and compiler must preserve (`vendor/README.md`).

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
fn declarations_go_on_behind_the_end_of_a_line() {
    assert_js(&[
        "let a = 1\n, b = 2\n\n,\nc; const d = 3\n, e = 4\nvar f\n, g = 5\na + b + d + e + g === 15",
        "let n = 0; for (let i = 0\n, j = 2; i < j; i++) n += j\nn === 4",
        "let a\nlet b = 1\n;[a, b] = [b, 2]; a + b === 3",
    ]);
}

#[test]
fn initializers_of_fields_may_write_to_their_class() {
    assert_js(&[
        "class O { static n = 0; id = O.n++ } new O(); new O().id === 1 && O.n === 2",
        "class O { static n = 0; id = ++O.n; other = O['n'] += 2 } var o = new O(); o.id === 1 && o.other === 3",
        "class O { static #n = 1; id = O.#n++ } new O(); new O().id === 2",
        "class O { id = O.s ??= 5 } new O().id === 5 && O.s === 5",
        "class O { static n = 0; static inc() { return ++O.n } #d = O.inc(); get d() { return this.#d } } new O().d === 1",
        "class O { static all = []; place = O.all.push(this); k = O.prototype.m = () => 3 } new O(); new O().place === 2 && new O().m() === 3",
        "class P { static c = 0; id = P.c++ } class Q extends P { j = Q.c++; k = P.c } var q = new Q(); q.id + '' + q.j + q.k + Q.c === '0112'",
        "class A { static n = 0; b = new (class B { static m = 0; x = [A.n++, B.m++] }) } new A(); new A().b.x.join() === '1,0'",
    ]);
}

#[test]
fn super_in_fields_and_private_members_is_what_the_member_belongs_to() {
    assert_js(&[
        "class P { g() { return 1 } } class Q extends P { h = () => super.g() + 1; i = super.g() } new Q().h() + new Q().i === 3",
        "class P { static g() { return 's' } g() { return 'i' } } class Q extends P { h = super.g(); static k = super.g() } new Q().h + Q.k === 'is'",
        "class P { get g() { return 'i' + this.y } } class Q extends P { y = 1; h = () => () => super.g } new Q().h()() === 'i1'",
        "class P { g() { return 1 } } class Q extends P { #p = () => super.g(); #m() { return super.g() } get #a() { return super.g() } t() { return this.#p() + this.#m() + this.#a } } new Q().t() === 3",
        "class P { static g() { return 1 } } class Q extends P { static #m() { return super.g() } static get #a() { return super.g() } static t() { return this.#m() + this.#a } } Q.t() === 2",
    ]);
}

#[test]
fn variables_begin_as_the_parameters_of_their_name() {
    assert_js(&[
        "(function (a, b = 2) { var a; return a })(1) === 1",
        "(function (a, b = 2) { var a = a || 5; return a })(3) === 3",
        "(function (a, b = () => a, c = b()) { var a = 9; return [a, b(), c].join() })(1) === '9,1,1'",
        "(function (a, b = () => a) { var before = a; a = 7; return [before, a, b()].join(); var a })(1) === '1,7,1'",
        "(function ({ a }, b = 1) { var a, b; return (() => a + b)() })({ a: 4 }) === 5",
        "(function (a, b = 2) { return a(); function a() { return b } })(1) === 2",
    ]);
}

#[test]
fn private_names_are_of_the_class_around_that_has_them() {
    assert_js(&[
        "class A { #x = 1; m() { class B { n(a) { return a.#x } } return new B().n(this) } } new A().m() === 1",
        "class A { m() { class B { #x = 2; n() { return this.#x } } return new B().n() } } new A().m() === 2",
        "class A { #x = 1; m() { class B { #x = 2; n(a) { return #x in a } } return new B().n(this) } } new A().m() === false",
        "class A { #x = 1; m() { class B { y = this.z(); z() { return (a) => a.#x } } return new B().y(this) } } new A().m() === 1",
        "class A { #x = 3; static m(a) { return class { static y = a.#x; static { this.z = a.#x } } } } A.m(new A()).y + A.m(new A()).z === 6",
        "class A { #x = 4; m() { class B {} try { eval('(b => b.#y)') } catch { return eval('this.#x') } } } new A().m() === 4",
    ]);
}

#[test]
fn defaults_within_patterns_do_not_see_the_variables_of_the_body() {
    assert_js(&[
        "var t = 1; (({ a = t }) => { var t = 2; return a + t })({}) === 3",
        "var t = 1; (({ b: [a = t] }) => { var t = 2; return a + t })({ b: [] }) === 3",
        "var t = 'k'; (({ [t]: a }) => { var t = 2; return a + t })({ k: 1 }) === 3",
        "var t = 'k'; (({ [t]: { a } }) => { var t = 2; return a + t })({ k: { a: 1 } }) === 3",
        "var t = 1; (([, ...[a = t]]) => { var t = 2; return a + t })([]) === 3",
        "var t = 1; (({ a } = { a: t }) => { var t = 2; return a + t })() === 3",
        "var t = 1; (function ({ a = () => t }) { var t = 2; return (() => a() + t)() })({}) === 3",
        "(function ({ a = 1 }, b) { var a; return [a, b, arguments.length].join() })({}, 2) === '1,2,2'",
        "(({ a = 1 }, b, c = 2, d) => a).length === 2 && (([a] = [], b) => a).length === 0 && ((a, ...[b = 1]) => a).length === 1",
    ]);
}

#[test]
fn eval_in_methods_and_fields_sees_what_is_around_them() {
    assert_js(&[
        "(function () { let k = 5; class A { x = eval('k + 1') } return new A().x })() === 6",
        "(function () { let k = 5; class A { #x = eval('k + 1'); get x() { return this.#x } } return new A().x })() === 6",
        "(function () { let k = 5; class A { m() { return eval('k') } static { this.s = eval('k') } } return new A().m() + A.s })() === 10",
        "(function () { let k = 5; return { m() { return eval('k') } }.m() })() === 5",
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

/// Each site runs several times: the inline cache filled by the first object applies to the others.
#[test]
fn what_a_place_has_found_out_holds_no_longer_than_its_objects_are_so() {
    assert_js(&[
        "const clear = a => { a.length = 0 }; var all = []; for (let i = 0; i < 4; i++) { const a = [1, 2, 3]; clear(a); a[0] = 9; all.push(JSON.stringify(a)) } all.join() === '[9],[9],[9],[9]'",
        "const cut = a => { a.length = 1 }; var all = []; for (let i = 0; i < 3; i++) { const a = [1, 2, 3]; cut(a); a.push(7); all.push(JSON.stringify(a)) } all.join() === '[1,7],[1,7],[1,7]'",
        "const p = { a: 1, b: 2 }, q = Object.create(p), b = () => q.b; b(); b(); delete p.a; b() === 2",
        "const p = { a: 1 }, q = Object.create(p), a = () => q.a; a(); a(); delete p.a; a() === undefined",
        "class A { one() { return 1 } two() { return 2 } } const o = new A, two = () => o.two(); two(); two(); delete A.prototype.one; two() === 2",
        "const p = { a: 1, b: 2 }, q = Object.create(p), b = () => q.b; b(); b(); Object.defineProperty(p, 'a', { get: () => 5 }); b() === 2 && q.a === 5",
        "const p = { set a(v) { this.v = v } , b: 1 }, q = Object.create(p), put = v => { q.a = v }; put(1); put(2); delete p.a; put(3); q.v === 2 && Object.hasOwn(q, 'a')",
        "const read = () => globalThis.hasOwnProperty; read(); read(); globalThis.hasOwnProperty = 4; const own = read() === 4; delete globalThis.hasOwnProperty; own && typeof read() === 'function'",
    ]);
}

/// Objects that keep their properties as any object does are asked without descriptors; those that do not are asked themselves.
#[test]
fn properties_of_plain_objects_are_those_of_their_descriptors() {
    assert_js(&[
        "const a = { x: 1, get y() { return this.x + 1 }, set z(v) {} }, b = Object.create(Object.create(a)); b.x = 5; b.x + b.y === 11 && b.z === undefined && 'z' in b && !('q' in b)",
        "'use strict'; const a = Object.freeze({ x: 1 }); let failed = 0; for (const o of [a, Object.create(a)]) try { o.x = 2 } catch { failed++ } failed === 2 && a.x === 1",
        "const a = { x: 1 }; Object.defineProperty(a, 'x', { enumerable: false }); a['x'] = 2; JSON.stringify(Object.getOwnPropertyDescriptor(a, 'x')) === '{\"value\":2,\"writable\":true,\"enumerable\":false,\"configurable\":true}'",
        "const p = new Proxy({ x: 1 }, { get: (t, k, r) => k === 'x' ? 7 : Reflect.get(t, k, r), has: (t, k) => k === 'h' || k in t }), o = Object.create(p); o.x + '' + ('h' in o) + ('n' in o) === '7truefalse'",
        "const p = new Proxy({}, { set(t, k, v, r) { t[k] = v * 2; return true } }), o = Object.create(p); o.n = 2; p.n === 4 && !Object.hasOwn(o, 'n')",
        "const t = Object.freeze({ x: 1 }), p = new Proxy(t, { get: () => 2 }); let failed; try { p.x } catch (e) { failed = e } failed instanceof TypeError && p.y === 2",
        "const o = Object.create(new String('abc')); o[1] + o.length + (2 in o) + (3 in o) === 'b3truefalse'",
        "const o = Object.create([1, , 3]); Array.prototype[1] = 9; const s = o[1] + o.length; delete Array.prototype[1]; s === 12 && o[1] === undefined",
        "const o = {}; Object.defineProperty(o, 0, { get: () => 4, configurable: true }); Object.create(o)[0] + o[0] === 8",
        "const a = {}, wide = 'name_\\u0101'.slice(0, 5); a['name_'] = 1; a['caf\\u00e9 au lait'] = 2; a['\\u0101bcdefghij'] = 3; a[wide] + a[('caf\\u00e9 au lait\\u0101').slice(0, -1)] + a['\\u0101bcde' + 'fghij'] === 6 && a['\\u0001bcdefghij'] === undefined",
        "const a = { n: 1 }; const r = Reflect.set(a, 'n', 2, Object.create(a)); r && a.n === 1",
    ]);
}

#[test]
fn what_super_is_given_is_set_on_this() {
    assert_js(&[
        "(() => { let o = { __proto__: [1, 2], m(i) { super[i] = 9 } }; o.m(0); return Object.hasOwn(o, 0) && o[0] === 9 && Object.getPrototypeOf(o)[0] === 1 })()",
        "(() => { let o = { __proto__: [1, 2], m(i) { super[i] = 9 } }; o.m('1'); return o[1] === 9 && Object.getPrototypeOf(o)[1] === 2 })()",
        "(() => { class A extends Array { put(v) { super[0] = v } } let a = new A(3); a.put(4); return a[0] === 4 && !Object.hasOwn(A.prototype, 0) })()",
    ]);
}

#[test]
fn names_that_differ_in_their_high_halves_are_others() {
    assert_js(&[
        "(() => { let o = {}, s = n => String.fromCharCode(0x4100 + n * 0x2000).repeat(64), t = n => s(n) + s(n); o[t(0)] = 1; o[t(1)] = 2; return o[t(0)] === 1 && o[t(1)] === 2 })()",
    ]);
}

/// An operand is what its variable was when its turn came, whatever the rest of the expression assigns to the variable.
#[test]
fn operands_are_what_variables_were_at_their_turn() {
    assert_js(&[
        "(() => { let x = 1; return x + x++ === 2 && x === 2 && x - (x = 5) === -3 && (x < (x = 9)) === true && !(x < (x = 1)) })()",
        "(() => { let x = 1, y = [x, x++, x].join(), z = x * (() => 3)() + (x += 2); return y === '1,1,2' && z === 10 && x === 4 })()",
        "(() => { let o = { k: 1 }, p = o; return o[(o = { k: 2 }, 'k')] === 1 && o.k === 2 && p.k === 1 })()",
        "(() => { let o = { k: 1 }, p = o; o.k = (o = { k: 2 }).k + 5; return p.k === 7 && o.k === 2 })()",
        "(() => { let o = { a: 1 }, p = o, k = 'a'; o[k] = (k = 'b', o = 0, 3); return p.a === 3 && !('b' in p) })()",
        "(() => { let o = { a: 1 }, p = o; o.a += (o = { a: 5 }).a; return p.a === 6 && o.a === 5 })()",
        "(() => { let o = { m(v) { return this.n + v }, n: 1 }; return o.m(o = 2) === 3 && o === 2 })()",
        "(() => { let f = v => v + 1, g = f; return f(f = 2) === 3 && g(1) === 2 })()",
        "(() => { let k = 'a', o = { a() { return this === o }, b: 1 }; return o[k](k = 'b') && o[k] === 1 })()",
        "(() => { let x = 3; x = x - (x = 1) + x; return x === 3 })()",
        "(() => { let x = 5, y; y = x += 2; y += y += 1; return x === 7 && y === 15 })()",
        "(() => { let x = 1; try { x = null.y } catch { } try { x += { valueOf() { throw 0 } } } catch { } return x === 1 })()",
        "(() => { var x = 1, s = ''; for (var x = x + 1; x < 4; x++) s += x; return s === '23' && x === 4 })()",
        "(() => { let a = 'p', o = { p: 1 }; o[a] ??= (a = 'q', 4); o[a] ??= (a = 'r', 5); return o.p === 1 && o.q === undefined ? a === 'p' : o.q === 5 })()",
        "(() => { let i = 0, a = []; a[i++] = i++; a[i] = i = 7; return a.join() === '1,,7' && i === 7 })()",
        "(() => { let x = Symbol.iterator, y = 2 ** 31 - 1, z = -y - 1; try { x++ } catch { } try { x-- } catch { } y++; z--; return x === Symbol.iterator && y === 2 ** 31 && z === -(2 ** 31) - 1 })()",
        "(() => { const c = 1; let failed; try { c = 2 } catch (e) { failed = e } try { c += 1 } catch (e) { failed = failed && e } return failed instanceof TypeError && c === 1 })()",
        "(() => { const f = function g() { g = 1; return typeof g }; return f() === 'function' })()",
        "(() => { let r = ''; const t = v => (r += v, true), f = v => (r += v, false); if (t(1) && (f(2) || !t(3)) || t(4) && !f(5)) r += 'y'; if (!(f(6) || t(7)) && t(8)) r += 'n'; else r += 'e'; while (!(t(9) && t(0))) r += 'w'; return r === '12345y67e90' })()",
        "(() => { let n = 0; for (let i = 0; i < 5 && n < 3 || i === 3; i++) n++; return n === 4 })()",
    ]);
}

/// A constructor returns an object or `this`; other functions return anything.
#[test]
fn functions_return_what_their_caller_takes() {
    assert_js(&[
        "function F(v) { this.a = 1; return v } new F(5).a === 1 && new F({ b: 2 }).b === 2 && F.call({}, 5) === 5 && new F().a === 1",
        "class A {} class B extends A { constructor(v) { if (v !== 1) super(); return v === 3 ? { c: 3 } : v === 1 ? 5 : undefined } } let failed; try { new B(1) } catch (e) { failed = e } failed instanceof TypeError && new B() instanceof B && new B(3).c === 3",
        "class A {} class B extends A { constructor() { } } let failed; try { new B } catch (e) { failed = e } failed instanceof ReferenceError",
        "const f = () => { for (const x of [1, 2]) { try { return x } finally { if (x === 1) continue } } }; f() === 2",
        "const g = function* () { const x = yield 1; return x + 1 }, i = g(); i.next(); i.next(4).value === 5",
        "(() => { let s = 0; const f = n => n ? f(n - 1) + 1 : (() => 0)(); for (let i = 0; i < 3; i++) s += f(50); return s === 150 })()",
    ]);
}

/// What a place knows of properties that are absent, of the prototypes behind a prototype, and of objects that are given a property.
#[test]
fn what_a_place_knows_of_prototypes_holds_as_long_as_they_do() {
    assert_js(&[
        "const x = o => o.x, a = {}; x(a); x(a); Object.prototype.x = 4; const now = x(a); delete Object.prototype.x; now === 4 && x(a) === undefined",
        "const x = o => o.x, p = {}, a = Object.create(p), b = Object.create(p); x(a); x(b); p.x = 1; const s = x(a) + x(b); a.x = 5; s + x(a) + x(b) === 8",
        "class A { m() { return 1 } } class B extends A {} class C extends B {} const m = o => o.m(), c = new C; let s = m(c) + m(new C); B.prototype.m = () => 10; s += m(c); C.prototype.m = () => 100; s += m(c); delete C.prototype.m; s += m(c); delete B.prototype.m; s + m(c) === 123",
        "class A { get g() { return this.v } } class B extends A {} const g = o => o.g, b = new B; b.v = 1; let s = g(b) + g(b); Object.defineProperty(A.prototype, 'g', { get() { return 10 } , configurable: true }); s += g(b); Object.defineProperty(B.prototype, 'g', { value: 100 }); s + g(b) === 112",
        "class A { m() { return 1 } } class B extends A {} const m = o => o.m(), b = new B; m(b); m(b); Object.setPrototypeOf(B.prototype, { m: () => 2 }); m(b) === 2",
        "const x = o => o.x, a = Object.create(null), p = new Proxy({}, { get: () => 7 }); x(a) === undefined && x(a) === undefined && x(p) === 7",
        "const read = o => o.length, a = new String('abc'), b = Object.create(String.prototype); read(b) === 0 && read(a) === 3 && read(b) === 0",
        "function T(v) { this.a = v; this.b = 2 } const all = [1, 2, 3].map(v => new T(v)); all.map(t => JSON.stringify(t)).join() === '{\"a\":1,\"b\":2},{\"a\":2,\"b\":2},{\"a\":3,\"b\":2}'",
        "function T(v) { this.a = v } new T(1); new T(2); let seen; Object.defineProperty(T.prototype, 'a', { set(v) { seen = v }, configurable: true }); const t = new T(3); delete T.prototype.a; seen === 3 && !Object.hasOwn(t, 'a') && new T(4).a === 4",
        "function T(v) { this.a = v } new T(1); new T(2); let seen; Object.defineProperty(Object.prototype, 'a', { set(v) { seen = v }, configurable: true }); const t = new T(3); delete Object.prototype.a; seen === 3 && !Object.hasOwn(t, 'a')",
        "'use strict'; function T(v) { this.a = v } new T(1); new T(2); Object.defineProperty(T.prototype, 'a', { value: 0, configurable: true }); let failed; try { new T(3) } catch (e) { failed = e } failed instanceof TypeError",
        "'use strict'; const put = o => { o.n = 1 }; put({}); put({}); let failed = 0; for (const o of [Object.preventExtensions({}), Object.seal({}), Object.freeze({})]) try { put(o) } catch { failed++ } failed === 3",
        "const put = (o, v) => { o.n = v }; for (let i = 0; i < 3; i++) put({}, 1); const p = new Proxy({}, { set(t, k, v) { t[k] = v + 1; return true } }), q = Object.create(p); put(p, 1); put(q, 5); put(q, 6); p.n === 7 && !Object.hasOwn(q, 'n')",
        "'use strict'; const put = (o, v) => { o.n = v }, o = { n: 1 }; put(o, 2); put(o, 3); Object.defineProperty(o, 'n', { writable: false }); let failed; try { put(o, 4) } catch (e) { failed = e } o.n === 3 && failed instanceof TypeError",
        "'use strict'; const put = (o, v) => { o.n = v }, o = {}; for (let i = 0; i < 1100; i++) o['k' + i] = i; o.n = 1; put(o, 2); put(o, 3); Object.freeze(o); let failed; try { put(o, 4) } catch (e) { failed = e } o.n === 3 && failed instanceof TypeError",
        "const x = o => o.x, o = {}; for (let i = 0; i < 1100; i++) o['k' + i] = i; x(o); x(o); o.x = 3; x(o) === 3",
        "const x = o => o.x, all = []; for (let i = 0; i < 40; i++) all.push({ ['k' + i]: i, x: i }); let s = 0; for (let n = 0; n < 3; n++) for (const o of all) s += x(o); s === 2340",
        "class S { set v(x) { this.w = x * 2 } } class T extends S {} const put = (o, v) => { o.v = v }, t = new T; put(t, 1); put(t, 2); const w = t.w; Object.defineProperty(T.prototype, 'v', { value: 0, writable: true }); put(t, 3); w === 4 && t.w === 4 && t.v === 3",
    ]);
}

/// Equality of values of any two kinds.
#[test]
fn strict_equality_is_of_values() {
    assert_js(&[
        "const all = [undefined, null, true, false, 0, -0, 1, 1.5, NaN, '', 'a', 'a'.repeat(1), 1n, 10n ** 30n, {}, Symbol.iterator, Symbol('a')]; let same = ''; all.forEach((a, i) => all.forEach((b, k) => { if (a === b) same += i + '=' + k + ' ' })); same.trim() === '0=0 1=1 2=2 3=3 4=4 4=5 5=4 5=5 6=6 7=7 9=9 10=10 10=11 11=10 11=11 12=12 13=13 14=14 15=15 16=16'",
        "const s = 'a\\u00e9\\u0101\\ud83d', t = [0, 1, 2, 3].map(i => s[i]); t.join('') === s && s[4] === undefined && s[-1] === undefined && s[1.5] === undefined && s['1'] === '\\u00e9' && s[0] === 'a'",
        "10n ** 30n === 10n ** 30n && 0.5 + 0.5 === 1 && 'a\\u0101'.slice(0, 1) === 'a' && 2 ** 31 !== (2 ** 31 | 0)",
    ]);
}

/// A pattern is compiled once; what it makes does not share where it stopped, its flags, or its properties.
#[test]
fn literals_of_regular_expressions_share_nothing_that_is_seen() {
    assert_js(&[
        "const r = () => /a/g, one = r(), two = r(); one.test('aa'); one.p = 1; one !== two && one.lastIndex === 1 && two.lastIndex === 0 && two.p === undefined",
        "const i = /A/i.test('a'), n = /A/.test('a'), s = /./s.test('\\n'), d = /./.test('\\n'); i && !n && s && !d",
        "const r = /a/; r.compile('b'); /a/.test('a') && r.test('b') && !r.test('a')",
        "let failed = 0; for (let i = 0; i < 2; i++) try { new RegExp('(') } catch { failed++ } failed === 2",
    ]);
}

#[test]
fn functions_and_classes_give_their_text() {
    assert_js(&[
        "class A { m() { return 1 } }; A.toString() === 'class A { m() { return 1 } }'",
        "String(class extends Array { constructor() { super() } }) === 'class extends Array { constructor() { super() } }'",
        "(class {}).toString() + Function.prototype.toString.call(class B{}) === 'class {}class B{}'",
        "var made = () => class { static x = 1 /* here */ }; made().toString() === 'class { static x = 1 /* here */ }' && made() !== made()",
        "class A { static m() {} static async *g(a) {} } A.m.toString() + A.g === 'm() {}async *g(a) {}'",
        "var o = { get a() { return 1 } }; Object.getOwnPropertyDescriptor(o, 'a').get.toString() === 'get a() { return 1 }'",
        "(class using {}).name + (class of {}).name + (class async {}).name === 'usingofasync'",
        "/^class\\b/.test(eval('(class Z{})')) && /native code/.test(Map) && /native code/.test(function () {}.bind())",
    ]);
}

#[test]
fn calls_of_super_go_on() {
    assert_js(&[
        "class L extends Map { constructor() { super().u = 1 } } new L().u === 1",
        "class L extends Array { constructor() { super(3)[1] = 5 } } new L()[1] === 5",
        "class P { m() { return this } } class L extends P { constructor() { super().m().x = 2 } } new L().x === 2",
        "function P() { return strings => { P.told = strings[0] } } class L extends P { constructor() { super()`told`; } } new L(); P.told === 'told'",
        "class P { n = 4 } class L extends P { constructor() { L.n = super()?.n } } new L(); L.n === 4",
    ]);
}

#[test]
fn async_is_a_name_and_the_head_of_a_function() {
    assert_js(&[
        "var async = function (...a) { return a.length }; async() + async(1) + async(1, [2], { a: 3 }) + async(...[1, 2]) === 6",
        "var async = x => x + 1; async(2) + async\n(3) + (async)(4) === 12",
        "var async = { m() { return 1 } }; async.m() + [async].length === 2",
        "var seen; async(1); function async(a) { seen = a } seen === 1",
        "typeof (async () => 1)().then + typeof (async (a, { b, c = 1 }, [d] = [], ...e) => d)(1, {}).then === 'functionfunction'",
        "(async (a, b = 2, ...c) => {}).length === 1 && (async (a) => a).toString() === 'async (a) => a'",
        "var f = async (a) => { await a; }; f.constructor !== Function && f.name === 'f'",
        "var f = async x => x, g = async using => using; f.length + g.length === 2",
    ]);
    let fails = |text: &str| format!("try {{ eval({text:?}); false }} catch (e) {{ e instanceof SyntaxError }}");
    let facts: Vec<String> = [
        "async (a, a) => 1",
        "async (await) => 1",
        "async (a.b) => 1",
        "async (a)\n=> 1",
        "async ({ a: b.c }) => 1",
        "async (a = await 1) => 1",
        "async (...a, b) => 1",
        "async ({ a = 1 })",
        "(async (a)) => 1",
    ]
    .map(fails)
    .into();
    assert_js(&facts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn targets_of_patterns_may_stand_in_parentheses() {
    assert_js(&[
        "var a, b = [1]; [(a)] = b; a === 1",
        "var a, o = {}; ({ x: (a), y: (o.z) } = { x: 1, y: 2 }); a + o.z === 3",
        "var a, b; [(a) = 3, ((b))] = [undefined, 4]; a + b === 7",
        "var a, o = {}; [...(a)] = [1, 2]; ({ ...(o.r) } = { q: 1 }); a.length + o.r.q === 3",
        "var n = 0, o = {}; for ((o.a) of [1, 2]) n += o.a; for ([(o.b)] of [[3]]) n += o.b; n === 6",
        "var k = 'x', a, b; ({ [k]: { y: a } } = { x: { y: 1 } }); ({ [k]: b = 2 } = {}); a + b === 3",
        "var k = 'x', a; ({ [k]: [a] } = { x: [5] }); a === 5",
    ]);
    let fails = |text: &str| format!("try {{ eval({text:?}); false }} catch (e) {{ e instanceof SyntaxError }}");
    let facts: Vec<String> = [
        "[([a])] = [[1]]",
        "({ x: ({ y }) } = {})",
        "([(a)]) => 1",
        "({ x: (a) }) => 1",
        "[(a, b)] = []",
        "[(a = 1)] = []",
    ]
    .map(fails)
    .into();
    assert_js(&facts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Declares `of`, which makes resources that note their disposal.
const RESOURCES: &str = "var log = [], of = (name, error) => ({ name, [Symbol.dispose]() { log.push(name); if (error) throw error } }); \
     var later = (name, error) => ({ name, async [Symbol.asyncDispose]() { log.push(name); await 0; if (error) throw error; log.push(name + '!') } });";

#[test]
fn what_is_used_is_disposed_of_at_the_end_of_its_scope() {
    let facts: Vec<String> = [
        "{ using a = of('a'), b = of('b'), none = null; log.push(a.name + b.name) } log.join() === 'ab,b,a'",
        "function f() { using a = of('a'); return log.push('in') } f() === 1 && log.join() === 'in,a'",
        "for (using a of [of('a'), of('b')]) { if (a.name === 'b') break; log.push('in') } log.join() === 'in,a,b'",
        "for (using a = of('a'), i = null; log.length < 2; log.push('turn')); log.join() === 'turn,turn,a'",
        "l: for (const n of [1, 2]) { using a = of('a' + n); continue l } log.join() === 'a1,a2'",
        "try { using a = of('a'); throw 1 } catch (error) { log.push(error) } log.join() === 'a,1'",
        "try { using a = of('a', 1), b = of('b', 2); throw 3 } catch (e) { log.push(e.error, e.suppressed.error, e.suppressed.suppressed, e instanceof SuppressedError) } log.join() === 'b,a,1,2,3,true'",
        "try { using a = { } } catch (error) { log.push(error.name) } try { using b = 1 } catch (error) { log.push(error.name) } log.join() === 'TypeError,TypeError'",
        "function* g() { using a = of('a'); yield 1; yield 2 } for (const x of g()) { log.push(x); break } log.join() === '1,a'",
        "function* g() { using a = of('a'); yield 1 } const it = g(); it.next(); const end = it.return(7); log.push(end.value, end.done); log.join() === 'a,7,true'",
        "class A { static { using a = of('a'); log.push('in') } } log.join() === 'in,a'",
        "var fs = []; { using a = of('a'); fs.push(() => a.name) } fs[0]() === 'a' && log.join() === 'a'",
        "try { (() => { using a = of('a'); a = 1 })() } catch (error) { log.push(error.name) } log.join() === 'a,TypeError'",
        "const e = new SuppressedError(1, 2, 'm'); e.error + e.suppressed + e.message === '3m' && e instanceof Error && e.name === 'SuppressedError' && SuppressedError.length === 3",
        "var using = [4], x = 0; using[x] === 4 && using\n[x] === 4",
        "var using = 1, n = 0; for (using of [2, 3]) n += using; for (using in { a: 1 }) n += using; n === '5a'",
        "eval('{ using a = of(1); 5 }') === 5 && log.join() === '1'",
    ]
    .map(|fact| format!("{RESOURCES} {fact}"))
    .into();
    assert_js(&facts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn what_is_used_in_async_code_is_awaited() {
    let runs = |script: &str| log_of(&format!("{RESOURCES} {script}"));
    assert_eq!(
        runs(
            "(async () => { { await using a = later('a'), b = of('b'), c = null; log.push('in') } log.push('out') })()"
        ),
        "in b a a! out"
    );
    assert_eq!(
        runs(
            "(async () => { for await (await using a of [later('a')]) log.push('in') })().then(() => log.push('end'))"
        ),
        "in a a! end"
    );
    assert_eq!(
        runs("(async () => { await using a = later('a', 1); throw 2 })().catch(e => log.push(e.error, e.suppressed))"),
        "a 1 2"
    );
    assert_eq!(
        runs(
            "(async () => { const it = (async function* () { await using a = later('a'); yield 1 })(); log.push((await it.next()).value);
             log.push((await it.return(3)).value) })()"
        ),
        "1 a a! 3"
    );
}

#[test]
fn using_is_declared_in_scopes_that_end() {
    let fails = |text: &str| format!("try {{ eval({text:?}); false }} catch (e) {{ e instanceof SyntaxError }}");
    let facts: Vec<String> = [
        "using a = null",
        "{ using a }",
        "{ using { a } = null }",
        "switch (1) { case 1: using a = null }",
        "if (1) using a = null",
        "for (using a in {}) ;",
        "{ await using a = null }",
        "{ using a = null; let a }",
    ]
    .map(fails)
    .into();
    assert_js(&facts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn scripts_see_what_later_scripts_declare() {
    let mut engine = engine();
    let mut run = |text: &str| engine.evaluate(text, "test").map(|value| value.display().to_string());
    run(
        "function kind() { return typeof late + typeof Late } function name() { try { return new Late().n + late } catch (e) { return e.name } }",
    );
    run(
        "function put(v) { late = v; return late } function change() { 'use strict'; try { fixed = 2 } catch (e) { return e.name } }",
    );
    assert_eq!(run("kind() + name()").as_deref(), Some("\"undefinedundefinedReferenceError\""));
    assert_eq!(run("change()").as_deref(), Some("\"ReferenceError\""));
    run("try { kind() } catch (e) { globalThis.dead = e.name } let late = 'x'; class Late { n = 1 } const fixed = 1");
    assert_eq!(run("dead").as_deref(), Some("\"ReferenceError\""));
    assert_eq!(run("kind() + name()").as_deref(), Some("\"stringfunction1x\""));
    assert_eq!(run("put('y') + late + Object.hasOwn(globalThis, 'late')").as_deref(), Some("\"yyfalse\""));
    assert_eq!(run("change() + fixed").as_deref(), Some("\"TypeError1\""));
}

#[test]
fn what_a_module_exports_has_its_name_before_it_is_made() {
    let rows =
        vec![("/dir/a.js", answer("text/javascript", "export default class { static name = super.name + 'own' }"))];
    let (log, _) = net_log_of(
        rows,
        "import('/dir/a.js').then(a => log.push(a.default.name), e => log.push(e)); event = 7; log.push(Object.hasOwn(globalThis, 'event') + '' + event)",
    );
    assert_eq!(log, "true7 own");
}
