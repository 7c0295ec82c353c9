//! What the engine does without (results of iterators, arrays of matches, calls of its own functions, collections of garbage) is there for
//! whoever looks (`vendor/README.md`).

use super::*;

#[test]
fn iterators_without_results_show_them_to_whoever_looks() {
    assert_js(&[
        "(() => { const own = [][Symbol.iterator](), proto = Object.getPrototypeOf(own), next = proto.next; let n = 0; proto.next = function () { n++; return next.call(this) }; const all = [...[1, 2]]; proto.next = next; return n === 3 && all.join() === '1,2' })()",
        "(() => { const values = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function* () { yield 7 }; const [a] = [1], all = [...[1, 2]]; Array.prototype[Symbol.iterator] = values; return a === 7 && all.join() === '7' })()",
        "(() => { const a = [1, 2]; a[Symbol.iterator] = function* () { yield 9 }; return [...a].join() === '9' })()",
        "(() => { const a = [1, 2], seen = []; for (const x of a) { seen.push(x); if (a.length < 5) a.push(x + 2) } return seen.join() === '1,2,3,4,5' })()",
        "(() => { const a = [1, 2, 3], seen = []; for (const x of a) { seen.push(x); a.length = 2 } return seen.join() === '1,2' })()",
        "(() => { Array.prototype[1] = 'p'; const all = [...[0, , 2]]; delete Array.prototype[1]; return all.join() === '0,p,2' })()",
        "(() => { const a = [0, 1]; Object.defineProperty(a, 1, { get() { return 'got' } }); return [...a].join() === '0,got' })()",
        "(() => { const a = [0], it = a.values(); Object.defineProperty(a, 0, { get() { return it.next().done } }); return it.next().value === true })()",
        "(() => { const m = new Map([[1, 'a'], [2, 'b']]), seen = []; for (const [k, v] of m) { seen.push(k + v); m.delete(2); if (k < 3) m.set(3, 'c') } return seen.join() === '1a,3c' })()",
        "(() => { const s = new Set([1, 2]), seen = []; for (const x of s) { seen.push(x); s.delete(x); if (x < 4) s.add(x + 2) } return seen.join() === '1,2,3,4,5' })()",
        "[...'a💩b'].join() === 'a,💩,b' && [...new Map([[1, 2]]).keys(), ...new Set([3]).entries()].join() === '1,3,3'",
        "(() => { function* g() { const r = yield* [1, 2]; return r } const it = g(), a = it.next(), b = it.next(), c = it.next(); return a.value === 1 && b.value === 2 && c.done && c.value === undefined && Object.keys(a).join() === 'value,done' })()",
        "(() => { let closed = 0; const it = { [Symbol.iterator]() { return { next: () => ({ value: 1, done: false }), return() { closed++; return {} } } } }; const [a] = it; for (const x of it) break; return closed === 2 })()",
        "(() => { const it = [1, 2, 3][Symbol.iterator](); for (const x of it) break; return [...it].join() === '2,3' })()",
        "(() => { const next = [][Symbol.iterator]().next; try { next.call({}); return false } catch (e) { return e instanceof TypeError } })()",
        "(() => { const o = { 0: 'x', length: 1 }; return [...Array.prototype.values.call(o)].join() === 'x' && [...new Uint8Array([4, 5])].join() === '4,5' })()",
    ]);
}

#[test]
fn names_of_for_in_are_those_of_the_chain() {
    assert_js(&[
        "(() => { const seen = []; for (const k in { b: 1, 2: 1, a: 1, 1: 1, [Symbol()]: 1 }) seen.push(k); return seen.join() === '1,2,b,a' })()",
        "(() => { const o = Object.create({ a: 1, b: 2, c: 3 }, { b: { value: 1, enumerable: false, configurable: true }, d: { value: 4, enumerable: true } }), seen = []; for (const k in o) seen.push(k); return seen.join() === 'd,a,c' })()",
        "(() => { const o = Object.create({ b: 2 }); o.a = 1; o.b = 1; o.c = 1; const seen = []; for (const k in o) { seen.push(k); delete o.b } return seen.join() === 'a,c,b' })()",
        "(() => { const o = { a: 1, b: 1 }, seen = []; for (const k in o) { seen.push(k); delete o.b; o.z = 1 } return seen.join() === 'a' })()",
        "(() => { Object.prototype.more = 1; const seen = []; for (const k in { a: 1 }) seen.push(k); delete Object.prototype.more; return seen.join() === 'a,more' })()",
        "(() => { let o = { z: 1, y: 1 }; for (let i = 0; i < 20000; i++) o = Object.create(o, i === 9 ? { y: { value: 1 } } : {}); const seen = []; for (const k in o) seen.push(k); return seen.join() === 'z' })()",
        "(() => { const seen = []; for (const k in new Proxy({ a: 1, b: 2 }, { ownKeys: () => ['b', 'a'] })) seen.push(k); return seen.join() === 'b,a' })()",
        "(() => { const seen = [], o = Object.create(new Proxy({ p: 1 }, {})); o.a = 1; for (const k in o) seen.push(k); return seen.join() === 'a,p' })()",
        "(() => { let n = 0; for (const k in null) n++; for (const k in undefined) n++; for (const k in 'ab') n += +k + 1; return n === 3 })()",
        "(() => { function* g(o) { for (const k in o) yield k } return [...g({ a: 1, b: 2 })].join() === 'a,b' })()",
        "(() => { Iterator.prototype.return = () => { throw new Error('seen') }; let n = 0; try { for (const k in { a: 1, b: 1 }) { n++; break } } finally { delete Iterator.prototype.return } return n === 1 })()",
    ]);
}

#[test]
fn own_properties_are_listed_as_their_descriptors_say() {
    assert_js(&[
        "(() => { const o = { b: 1, 3: 'i', get g() { return 'got' } }; Object.defineProperty(o, 'hidden', { value: 1 }); return Object.keys(o).join() === '3,b,g' && Object.values(o).join() === 'i,1,got' && Object.entries(o).join(';') === '3,i;b,1;g,got' })()",
        "(() => { const seen = [], o = new Proxy({ a: 1, b: 2 }, { getOwnPropertyDescriptor(t, k) { seen.push(k); return Reflect.getOwnPropertyDescriptor(t, k) } }); return Object.keys(o).join() === 'a,b' && seen.join() === 'a,b' })()",
        "Object.keys('ab').join() === '0,1' && Object.values([7, , 8]).join() === '7,8' && Object.entries([5]).join() === '0,5'",
        "(() => { const a = []; return a.push(1, 'x', 2.5) === 3 && a.join() === '1,x,2.5' && a.push() === 3 && [1, 2].map(x => x / 2).join() === '0.5,1' })()",
        "(() => { try { Object.freeze([1]).push(2); return false } catch (e) { return e instanceof TypeError } })()",
        "(() => { const a = Object.defineProperty([1], 'length', { writable: false }); try { a.push(2); return false } catch (e) { return e instanceof TypeError && a.length === 1 } })()",
        "(() => { let set; Object.defineProperty(Array.prototype, 1, { set(v) { set = v }, configurable: true }); const a = [0]; a.push('s'); delete Array.prototype[1]; return set === 's' && a.length === 2 && !(1 in a) })()",
        "(() => { const a = [, 1]; a.push(2); return a.length === 3 && !(0 in a) && a[2] === 2 })()",
        "(() => { const o = { length: 4294967295 }; Array.prototype.push.call(o, 'x'); return o[4294967295] === 'x' && o.length === 4294967296 })()",
        "(() => { 'use strict'; function f() { return Array.prototype.slice.apply(arguments).concat(Math.max.apply(null, arguments)) } return f(1, 3, 2).join() === '1,3,2,3' && Math.max.apply(null, [4, , 5]) !== Math.max(4, 5) })()",
        "(() => { class A extends Array {} const m = A.of(1, 2).map(x => x); return m instanceof A && m.length === 2 && [1].map(x => x).constructor === Array })()",
    ]);
}

#[test]
fn matches_without_arrays_are_seen_by_whoever_looks() {
    assert_js(&[
        "(() => { const m = /a(b)?(?<n>c)/d.exec('xac'); return Object.getOwnPropertyNames(m).join() === '0,1,2,length,index,input,groups,indices' && m.index === 1 && m[1] === undefined && m.groups.n === 'c' && m.indices[0].join() === '1,3' && m.indices.groups.n.join() === '2,3' && m.indices[1] === undefined })()",
        "(() => { let n = 0; class R extends RegExp { exec(s) { n++; return super.exec(s) } } const r = new R('b', 'g'); return r.test('abb') && 'abb'.replace(r, 'x') === 'axx' && 'abb'.match(r).length === 2 && n === 7 })()",
        "(() => { const r = /b/; r.exec = () => ({ index: 0, 0: 'a', length: 1 }); return r.test('') && 'abc'.replace(r, 'x') === 'xbc' })()",
        "(() => { const r = /b/g; return r.test('abab') && r.lastIndex === 2 && r.test('abab') && r.lastIndex === 4 && !r.test('abab') && r.lastIndex === 0 })()",
        "(() => { const r = /b/y; r.lastIndex = 1; return r.test('ab') && r.lastIndex === 2 && !r.test('ab') && r.lastIndex === 0 && 'bab'.replace(/b/y, 'x') === 'xab' })()",
        "'abc'.replace(/(?:)/g, '-') === '-a-b-c-' && '💩'.replace(/(?:)/gu, '-') === '-💩-' && 'aXb'.replace(/(a)(x)?/i, '[$2|$1|$&|$`|$\\'|$$]') === '[X|a|aX||b|$]b'",
        "'2026-11'.replace(/(?<y>\\d+)-(?<m>\\d+)/, '$<m>/$<y>') === '11/2026' && 'ab'.replace(/(?<=a)b/g, 'x') === 'ax'",
        "(() => { const seen = []; 'a1b2'.replace(/([a-z])(\\d)/g, (...all) => { seen.push(all.join()); return '' }); return seen.join(';') === 'a1,a,1,0,a1b2;b2,b,2,2,a1b2' })()",
        "'ÀÉ-ß'.replace(/[^\\w]/g, c => c.charCodeAt(0).toString(16)) === 'c0c92ddf' && 'x'.repeat(300).replace(/x/g, 'é').length === 300",
        "/a/yigsm.flags === 'gimsy' && Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get.call({ global: 1, sticky: 1 }) === 'gy'",
        "(() => { const r = /a/; Object.defineProperty(r, 'global', { value: true }); return r.flags === 'g' && /a/.flags === '' })()",
        "/(b)(c)/.test('abcd') && RegExp.$1 === 'b' && RegExp.$2 === 'c' && RegExp.$3 === '' && RegExp.lastMatch === 'bc' && RegExp['$`'] === 'a' && RegExp.rightContext === 'd' && RegExp.lastParen === 'c' && RegExp.input === 'abcd'",
        "(() => { 'xy'.replace(/(y)/, 'z'); const after = RegExp.$1; /q/.test('r'); return after === 'y' && RegExp.$1 === 'y' })()",
    ]);
}

#[test]
fn what_is_freed_without_a_collection_is_what_nothing_refers_to() {
    assert_js(&[
        "(() => { let l = null; for (let i = 0; i < 200000; i++) l = { next: l }; l = null; const o = {}; return o.next === undefined })()",
        "(() => { const made = []; for (let i = 0; i < 2000; i++) { const o = { i }; made.push(() => o.i) } for (let i = 0; i < 2000; i++) ({}); return made.every((f, i) => f() === i) })()",
        "(() => { const m = new WeakMap, keys = []; for (let i = 0; i < 500; i++) { const k = { i }; m.set(k, [i]); if (i % 2) keys.push(k) } for (let i = 0; i < 2000; i++) [i]; return keys.every(k => m.get(k)[0] === k.i) })()",
        "(() => { const w = new WeakRef({ a: 1 }); for (let i = 0; i < 2000; i++) ({}); return w.deref().a === 1 })()",
        "(() => { const s = new Set; let it = s.values(); s.add(it); it = null; s.clear(); for (let i = 0; i < 10; i++) ({}); s.add(1); return s.size === 1 })()",
        "(() => { const m = new Map; m.set(1, m.values()); m.set(1, 2); ({}); m.delete(1); return m.size === 0 })()",
        "(() => { const m = new Map; m.a = 1; const entries = Object.entries; (() => { m.values() })(); return entries(m).join() === 'a,1' })()",
        "(() => { const s = new Set; s.a = 1; s.b = 2; (() => { for (const x of s.add(1)) break })(); return delete s.a && Object.keys(s).join() === 'b' && Object.isFrozen(Object.freeze(s)) })()",
        "(() => { const m = new Map([[1, 1], [2, 2]]); { const it = m.values(); it.next(); m.delete(1) } for (let i = 0; i < 10; i++) ({}); m.set(3, 3); return m.size === 2 && [...m.keys()].join() === '2,3' })()",
        "(() => { const s = new Set([1, 2]), it = s.values(); s.delete(1); const t = structuredClone(s), m = new Map([[1, 1], [2, 2]]), mi = m.keys(); m.delete(1); return t.size === 1 && structuredClone(m).get(2) === 2 && it.next().value === 2 && mi.next().value === 2 })()",
        "(() => { const make = () => { const A = class { #x = 1; has(q) { return #x in q } }, o = new A; delete A.prototype.constructor; return o }; const all = Array.from({ length: 200 }, make); return all.every((o, i) => all.every((p, j) => o.has(p) === (i === j))) })()",
        "(() => { let f = () => { f = null; for (let i = 0; i < 100; i++) ({}); return 'ran' }; return f() === 'ran' })()",
        "(() => { let o = { m() { o = null; for (let i = 0; i < 100; i++) ({}); return this.v }, v: 5 }; return o.m() === 5 })()",
        "(() => { let a = [1, 2, 3].map((x, i, all) => { all.length = 0; return x }); return a.length === 3 && a[0] === 1 && !(1 in a) })()",
        "(() => { function* g() { let o = { v: 1 }; while (true) { yield o.v++; ({}) } } const it = g(); it.next(); for (let i = 0; i < 100; i++) [i]; return it.next().value === 2 })()",
    ]);
}

/// A body is walked for `super`, `new.target`, `eval` and private names only if they were read in it, and tokens are read ahead of it.
#[test]
fn words_of_early_errors_are_found_wherever_they_stand() {
    assert_js(&[
        "(() => { class A { m() { return 1 } } class B extends A { m() { return (() => super.m())() + [0].map(() => { return super.m() })[0] } } return new B().m() === 2 })()",
        "(() => { function F() { return (() => new.target)() === F && (() => { return new.target })() === F } return new F() instanceof F && F.call({}) === false })()",
        "(() => { let q = 1; const f = () => eval('q'), g = () => { return eval('q = 2, q') }; function h() { eval('var own = q'); return own } return f() === 1 && g() === 2 && q === 2 && h() === 2 })()",
        "(() => { let v = 'a'; const deep = () => () => () => eval('v'); return deep()()() === 'a' })()",
        "(() => { class A { #x = 1; has(o) { return #x in o } get = () => this.#x; static s = (o) => { return o.#x } } const a = new A(); return a.has(a) && !a.has({}) && a.get() === 1 && A.s(a) === 1 })()",
        r"(() => { let v = 1; const f = () => ev\u0061l('v'), o = { get g() { return eval('v') } }; class A { static s; static { A.s = eval('v') } f = eval('v') } function* g() { yield eval('v') } return f() + o.g + A.s + new A().f + g().next().value === 5 })()",
        "(() => { let v = 1, seen; (async () => { seen = eval('v') })(); const f = async () => seen += eval('v'); f(); return seen === 2 })()",
        "(() => { const f = ({ a = 1 }) => a, g = ([{ b = 2 }]) => { return b }; let c; ({ c = 3 } = {}); return f({}) + g([{}]) + c === 6 })()",
    ]);
    for (broken, why) in [
        ("function f() { super.x }", "super"),
        ("function f() { return () => super.x }", "super"),
        ("() => super.x", "super"),
        ("(function () { super() })", "super"),
        ("() => new.target", "new.target"),
        ("const f = () => { new.target }", "new.target"),
        ("class A { m() { this.#y } }", "a private name"),
        ("class A { m() { return () => { () => #z in this } } }", "a private name"),
        ("function f() { return { a = 1 } }", "an initializer"),
        ("const f = () => ({ a = 1 })", "an initializer"),
        ("({ a = 1 })", "an initializer"),
        ("const f = async () => ({ a = 1 })", "an initializer"),
        ("const f = async x => ({ a = 1 })", "an initializer"),
        ("const f = async x => { ({ a = 1 }) }", "an initializer"),
        ("const f = async () => super.x", "super"),
    ] {
        let parses = format!(
            "(() => {{ try {{ new Function({broken:?}); return false }} catch (e) {{ return e instanceof SyntaxError }} }})()"
        );
        let runs = format!(
            "(() => {{ try {{ (0, eval)({broken:?}); return false }} catch (e) {{ return e instanceof SyntaxError }} }})()"
        );
        // A function may hold `new.target`, which the body of one then does.
        if why != "new.target" {
            assert_js(&[parses.as_str()]);
        }
        assert_js(&[runs.as_str()]);
    }
}

/// Words are taken out of the buffer that the source is read into, and remembered in a table.
#[test]
fn words_are_told_apart_by_all_of_their_bytes() {
    // Names of 2 to 20 characters, across the ends of all buffers.
    let names: Vec<String> = (0..6_000).map(|n| format!("{}{n}", &"$aZ_$aZ_$aZ_$aZ_"[..=n % 16])).collect();
    let given: String = names.iter().enumerate().map(|(n, name)| format!("o.{name}={n};")).collect();
    let read: String = names.iter().enumerate().map(|(n, name)| format!("o.{name}==={n},")).collect();
    assert_js(&[&format!(
        "(() => {{ const o = {{}}; {given} return [{read}].every(Boolean) && Object.keys(o).length === 6000 }})()"
    )]);

    let behind = "/* far enough into the script for the table */ ".repeat(100);
    for fact in [
        r"(() => { const a\u0062c = 1, \u0061bd = 2, aé = 3, abé = 4, ab = 5, é = 6, ab\u200c = 7; return abc + abd + aé + abé + ab + é + ab\u200c === 28 })()",
        r"(() => { let v\u0061r2 = 1; try { (0, eval)('v\\u0061r x'); return false } catch (e) { return e instanceof SyntaxError && var2 } })() === 1",
        "(() => { const o = { if: 1, true: 2, null: 3, of: 4, async: 5, instanceof: 6 }; return o.if + o.true + o.null + o.of + o.async + o.instanceof === 21 })()",
        "(() => { const a = { abcdefghijklmno: 1, abcdefghijklmnop: 2, abcdefghijklmnoq: 3 }; return a.abcdefghijklmno + a.abcdefghijklmnop + a.abcdefghijklmnoq === 6 })()",
        "(() => { let n = 0; for (const of of [1]) n += of; for (var async in { x: 1 }) n += async === 'x'; return n === 2 })()",
    ] {
        assert_js(&[fact, &format!("{behind}{fact}")]);
    }
}
