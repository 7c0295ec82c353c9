//! Console, encodings, random numbers, copies, and browser extensions to the standard.

use super::*;

#[test]
fn consoles_keep_what_they_are_told() {
    let mut engine = engine();
    engine.evaluate(
        "console.log('a %s %d', 'b', 1, {x: 1}); console.error(new TypeError('t')); console.assert(0, 'no')",
        "x",
    );
    let lines: Vec<_> =
        engine.page().borrow().console.iter().map(|line| format!("{} {}", line.level, line.text)).collect();
    assert_eq!(lines, ["log a b 1 {x: 1}", "error TypeError: t", "error Assertion failed no"]);
    engine.evaluate("for (let i = 0; i < 1000; i++) console.log('é'.repeat(5000))", "x");
    let page = engine.page().borrow();
    assert_eq!((page.console.len(), page.untold), (limits::CONSOLE_LINES_MAX, 803));
    assert!(page.console.iter().all(|line| line.text.len() <= limits::CONSOLE_LINE_BYTES_MAX));
}

#[test]
fn texts_and_bytes_become_each_other() {
    assert_js(&[
        "atob('aGk=') === 'hi' && btoa('hi') === 'aGk=' && atob(' aG k ') === 'hi' && atob('') === ''",
        "btoa('\\xff\\0') === '/wA=' && atob('/wA=').charCodeAt(0) === 255",
        "try { atob('a'); false } catch (e) { e.name === 'InvalidCharacterError' }",
        "try { btoa('\\u0100'); false } catch (e) { e.code === 5 }",
        "try { atob('a==='); false } catch (e) { e.code === 5 }",
        "new TextEncoder().encode('é€').join() === '195,169,226,130,172'",
        "new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xa9])) === 'é'",
        "new TextDecoder('windows-1252').decode(new Uint8Array([0x80])) === '€' && new TextDecoder('latin1').encoding === 'windows-1252'",
        "try { new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([255])); false } catch (e) { e instanceof TypeError }",
        "try { new TextDecoder('none'); false } catch (e) { e instanceof RangeError }",
        "let d = new TextDecoder(); d.decode(new Uint8Array([0xc3]), {stream: true}) + d.decode(new Uint8Array([0xa9])) === 'é'",
        "let a = new Uint8Array(2), r = new TextEncoder().encodeInto('aé', a); r.read === 1 && r.written === 1",
        "new TextDecoder().decode(new Uint8Array([97, 98, 99]).subarray(1, 2)) === 'b'",
    ]);
}

#[test]
fn chance_and_time_are_the_pages_own() {
    assert_js(&[
        "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())",
        "let a = crypto.getRandomValues(new Uint32Array(8)); a instanceof Uint32Array && new Set(a).size > 6",
        "try { crypto.getRandomValues(new Uint8Array(65537)); false } catch (e) { e.name === 'QuotaExceededError' }",
        "let n = []; for (let i = 0; i < 1000; i++) n.push(Math.random()); n.every(x => x >= 0 && x < 1) && Math.abs(n.reduce((a, b) => a + b) / 1000 - .5) < .1",
        "Math.floor(Date.now() / 1000) === 1700000000 && performance.now() < 100 && performance.timeOrigin === 1700000000000",
        "new Date(2026, 10, 21).getTimezoneOffset() === 0",
    ]);
    assert_eq!(
        log_of(
            "crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc')).then(b => log.push([...new Uint8Array(b)].map(x => x.toString(16).padStart(2, '0')).join('').slice(0, 16)))"
        ),
        "ba7816bf8f01cfea"
    );
}

#[test]
fn copies_keep_their_shape() {
    assert_js(&[
        "let o = {a: [1, {b: new Date(5)}], m: new Map([[1, new Set([2])]])}; o.self = o; let c = structuredClone(o); c !== o && c.self === c && c.a[1].b.getTime() === 5 && c.m.get(1).has(2)",
        "try { structuredClone(() => 1); false } catch (e) { e.name === 'DataCloneError' && e.code === 25 }",
        "let u = structuredClone(new Uint8Array([1, 2])); u instanceof Uint8Array && u.join() === '1,2'",
        "structuredClone(new TypeError('x')).message === 'x' && structuredClone(/a/g).flags === 'g'",
        "let a = [1, , 3]; let c = structuredClone(a); c.length === 3 && !(1 in c)",
        "try { structuredClone(new EventTarget()); false } catch (e) { e.name === 'DataCloneError' }",
    ]);
}

#[test]
fn json_is_read_as_the_standard_has_it() {
    assert_js(&[
        "JSON.stringify(JSON.parse('{\"b\":1,\"a\":[1.5,-0,1e3,null,true],\"10\":0,\"2\":0}')) === '{\"2\":0,\"10\":0,\"b\":1,\"a\":[1.5,0,1000,null,true]}'",
        "Object.is(JSON.parse('-0'), -0) && JSON.parse('12345678901234567890') === 12345678901234567890 && JSON.parse('3') === 3",
        "JSON.parse('{\"__proto__\":1}').__proto__ === 1 && JSON.parse('{\"a\":1,\"a\":2}').a === 2",
        "try { JSON.parse('{a}'); false } catch (e) { e instanceof SyntaxError }",
        "JSON.parse('\"\\\\ud800\"').length === 1",
        "JSON.parse('[1,2]', (k, v) => Array.isArray(v) ? v : v * 2 || v).join() === '2,4'",
        "JSON.parse('['.repeat(200) + ']'.repeat(200)).length === 1",
        "JSON.parse(' [1] ').length === 1 && JSON.parse(5) === 5 && JSON.parse.length === 2 && JSON.parse.name === 'parse'",
    ]);
}

#[test]
fn dates_and_matches_are_as_in_browsers() {
    assert_js(&[
        "new Date('2026/11/21').getTime() === Date.UTC(2026, 10, 21) && Date.parse('Nov 21, 2026') === Date.UTC(2026, 10, 21)",
        "new Date('Sat, 21 Nov 2026 10:00:00 GMT').getTime() === Date.UTC(2026, 10, 21, 10)",
        "new Date('2026-11-21T10:00:00Z').getTime() === Date.UTC(2026, 10, 21, 10) && isNaN(new Date('never'))",
        "class D extends Date { x() { return 1 } } new D(5).x() === 1 && new D(5).getTime() === 5 && new D() instanceof Date",
        "new Date(2026, 0).getFullYear() === 2026 && typeof Date() === 'string' && Date.length === 7 && new Date().constructor === Date",
        "new Date(new Date(5)).getTime() === 5 && Date.name === 'Date' && typeof Date.now() === 'number'",
        "/(a)(b)?/.test('xaby'); RegExp.$1 === 'a' && RegExp.$2 === 'b' && RegExp.$3 === '' && RegExp.lastMatch === 'ab' && RegExp['$`'] === 'x' && RegExp.rightContext === 'y' && RegExp.lastParen === 'b'",
        "'2026-11'.replace(/(\\d+)-(\\d+)/, 'x'); RegExp.$1 === '2026' && RegExp.$2 === '11'",
        "/x/.test('a') === false && 'aXbX'.split(/X/).length === 3 && 'abc'.match(/b/).index === 1 && [...'aa'.matchAll(/a/g)].length === 2",
    ]);
}

#[test]
fn numbers_and_dates_are_put_as_in_english() {
    assert_js(&[
        "(1234567.891).toLocaleString() === '1,234,567.891' && (0.5).toLocaleString('en-US', {style: 'percent'}) === '50%' && NaN.toLocaleString() === 'NaN'",
        "(-1234.5).toLocaleString('de', {minimumFractionDigits: 2}) === '-1,234.50' && new Intl.NumberFormat('en', {style: 'currency', currency: 'USD'}).format(3) === '$3.00'",
        "new Date(Date.UTC(2026, 10, 21, 17, 4, 5)).toLocaleString() === '11/21/2026, 5:04:05 PM'",
        "let d = new Date(Date.UTC(2026, 10, 21)); d.toLocaleDateString() === '11/21/2026' && d.toLocaleTimeString() === '12:00:00 AM'",
        "new Date(Date.UTC(2026, 10, 21)).toLocaleDateString('en-US', {year: 'numeric', month: 'long', day: 'numeric'}) === 'November 21, 2026'",
        "new Intl.DateTimeFormat('en', {month: 'short', day: '2-digit', weekday: 'short'}).format(0) === 'Thu, Jan 01'",
        "new Date(NaN).toLocaleString() === 'Invalid Date'; try { new Intl.DateTimeFormat().format(NaN); false } catch (e) { e instanceof RangeError }",
        "['b', 'a10', 'B', 'a9'].sort((x, y) => new Intl.Collator('en', {numeric: true}).compare(x, y)).join() === 'a9,a10,b,B'",
        "Intl.DateTimeFormat().resolvedOptions().timeZone === 'UTC' && Intl.NumberFormat('en-US').format(2000) === '2,000'",
        "Intl.Collator('en') instanceof Intl.Collator && Intl.Collator('en').compare('a', 'b') === -1",
        "try { Intl.PluralRules(); false } catch (e) { e instanceof TypeError }",
        "let l = new Intl.Locale('zh-hant-tw', {region: 'HK'}); [l.language, l.script, l.region, l.baseName, String(l)].join() === 'zh,Hant,HK,zh-Hant-HK,zh-Hant-HK'",
        "try { new Intl.Locale('en_US'); false } catch (e) { e instanceof RangeError }",
        "new Intl.DisplayNames(['en'], {type: 'region'}).of('US') === 'US' && Intl.supportedValuesOf('timeZone').join() === 'UTC'",
        "new Intl.DisplayNames('en', {type: 'region', fallback: 'none'}).of('US') === undefined",
        "try { Intl.supportedValuesOf('x'); false } catch (e) { e instanceof RangeError }",
    ]);
}

#[test]
fn arrays_are_made_of_what_comes_in_time() {
    let log = |script: &str| log_of(&format!("(async () => {{ {script} }})().catch(e => log.push(e.name))"));
    assert_eq!(log("log.push((await Array.fromAsync([1, Promise.resolve(2)])).join())"), "1,2");
    assert_eq!(
        log(
            "async function* g() { yield 1; yield 2 } log.push((await Array.fromAsync(g(), async (x, i) => x * 10 + i)).join())"
        ),
        "10,21"
    );
    assert_eq!(log("log.push((await Array.fromAsync({ length: 2, 0: 'a', 1: 'b' })).join(''))"), "ab");
    assert_eq!(log("await Array.fromAsync([Promise.reject(new RangeError())])"), "RangeError");
    assert_eq!(log("await Array.fromAsync(null)"), "TypeError");
}

#[test]
fn methods_of_formats_that_are_passed_on_know_their_object() {
    assert_js(&[
        "['b', 'a'].sort(new Intl.Collator('en').compare).join() === 'a,b'",
        "var { compare } = new Intl.Collator('en', { numeric: true }); ['a10', 'a9'].sort(compare).join() === 'a9,a10'",
        "[1, 2000].map(new Intl.NumberFormat('en').format).join('|') === '1|2,000'",
        "[0].map(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format).join() === '1/1/1970'",
        "var c = new Intl.Collator(); c.compare === c.compare && c.compare !== new Intl.Collator().compare && c.compare.length === 2",
    ]);
}

#[test]
fn spans_lists_and_plurals_are_put_as_in_english() {
    assert_js(&[
        "var r = new Intl.RelativeTimeFormat('en'); [r.format(-1, 'day'), r.format(3, 'hours'), r.format(-0, 'year'), r.format(-1500, 'second')].join('|') === '1 day ago|in 3 hours|0 years ago|1,500 seconds ago'",
        "var r = new Intl.RelativeTimeFormat('de', { numeric: 'auto' }); [r.format(-1, 'day'), r.format(0, 'second'), r.format(1, 'months'), r.format(-1, 'hour')].join('|') === 'yesterday|now|next month|1 hour ago'",
        "new Intl.RelativeTimeFormat('en', { style: 'short' }).format(-2, 'quarter') === '2 qtrs. ago' && new Intl.RelativeTimeFormat('en', { style: 'narrow' }).format(2, 'hour') === 'in 2h'",
        "JSON.stringify(new Intl.RelativeTimeFormat('en').formatToParts(-2, 'day')) === '[{\"type\":\"integer\",\"value\":\"2\",\"unit\":\"day\"},{\"type\":\"literal\",\"value\":\" days ago\"}]'",
        "try { new Intl.RelativeTimeFormat().format(1, 'eon'); false } catch (e) { e instanceof RangeError }",
        "var l = new Intl.ListFormat('en'); [l.format([]), l.format(['a']), l.format(['a', 'b']), l.format(new Set(['a', 'b', 'c']))].join('|') === '|a|a and b|a, b, and c'",
        "new Intl.ListFormat('en', { type: 'disjunction' }).format(['a', 'b', 'c']) === 'a, b, or c' && new Intl.ListFormat('en', { style: 'narrow', type: 'unit' }).format(['a', 'b']) === 'a b'",
        "new Intl.ListFormat('en').formatToParts(['a', 'b']).map(p => p.type + p.value).join('|') === 'elementa|literal and |elementb'",
        "var p = new Intl.PluralRules('en'); p.select(1) + p.select(0) + p.select(1.5) === 'oneotherother'",
        "var p = new Intl.PluralRules('en', { type: 'ordinal' }); [1, 2, 3, 4, 11, 12, 13, 21, 102].map(n => p.select(n)).join() === 'one,two,few,other,other,other,other,one,two'",
        "Intl.DateTimeFormat.supportedLocalesOf(['de', 'en-GB']).join() === 'en-GB' && Intl.getCanonicalLocales('en-US')[0] === 'en-US'",
    ]);
}

#[test]
fn formats_tell_the_parts_of_what_they_put() {
    assert_js(&[
        "new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' }).formatToParts(-1234.5).map(p => p.type + p.value).join(' ') === 'minusSign- currency$ integer1 group, integer234 decimal. fraction50'",
        "new Intl.NumberFormat().formatToParts(NaN)[0].type === 'nan' && new Intl.NumberFormat('en', { style: 'percent' }).formatToParts(0.5)[1].type === 'percentSign'",
        "new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' }).formatToParts(0).map(p => p.type + ':' + p.value).join('|') === 'month:January|literal: |day:1|literal:, |year:1970|literal: at |hour:12|literal::|minute:00|literal: |dayPeriod:AM'",
        "new Intl.DateTimeFormat('en', { weekday: 'short', month: 'numeric', day: '2-digit' }).formatToParts(0).map(p => p.type).join() === 'weekday,literal,month,literal,day'",
        "var o = {}; for (const { type, value } of new Intl.DateTimeFormat('en', { year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(0)) o[type] = value; o.year + o.month + o.day === '19700101'",
    ]);
}

/// A bug of boa_parser 0.22 that vendor/boa_parser fixes.
#[test]
fn words_of_the_language_that_are_names_are_parameters() {
    assert_js(&[
        "[1].map(of => of + 1)[0] === 2",
        "(async => async + 1)(2) === 3",
        "(let => let + 1)(3) === 4",
        "var f = of => async => of + async; f(1)(2) === 3",
        "var g = async of => of, h = async (of) => of, k = async x => x; [g, h, k].every(f => f(1) instanceof Promise)",
        "var of = 1, async = 2; of + async === 3",
        "(() => { try { eval('async \\n => 1') } catch (e) { return e instanceof SyntaxError } })()",
        "(() => { 'use strict'; try { eval('let => 1') } catch (e) { return e instanceof SyntaxError } })()",
    ]);
}

#[test]
fn texts_are_cut_into_what_a_reader_sees() {
    assert_js(&[
        "[...new Intl.Segmenter().segment('a\u{308}👩‍👧b')].map(of => [of.segment, of.index, of.input.length].join()).join('|') === 'a\u{308},0,8|👩‍👧,2,8|b,7,8'",
        "[...new Intl.Segmenter('de', { granularity: 'word' }).segment('Zwei Wörter.')].filter(of => of.isWordLike).map(of => of.segment).join() === 'Zwei,Wörter'",
        "[...new Intl.Segmenter('en', { granularity: 'sentence' }).segment('One. Two.')].length === 2",
        "new Intl.Segmenter('en', { granularity: 'word' }).segment('ab cd').containing(4).segment === 'cd'",
        "new Intl.Segmenter().segment('a').containing(1) === undefined",
        "(() => { try { new Intl.Segmenter('en', { granularity: 'page' }) } catch (e) { return e instanceof RangeError } })()",
        "new Intl.Segmenter().resolvedOptions().granularity === 'grapheme'",
    ]);
}

/// vendor/boa_parser reads a script in chunks of 8 KB, and takes runs of ASCII as a whole.
#[test]
fn scripts_are_read_alike_wherever_their_chunks_end() {
    let script = r#"
        var größe_$1 = 'aäö€😀\'"\
', b = `t${größe_$1.length}ü-crlf-$x`; // €
        var stack = (() => { try { null.x } catch (e) { return e.stack } })();
        (function fö(x) { /* ü */ return größe_$1 + x }).toString() === "function fö(x) { /* ü */ return größe_$1 + x }"
            && größe_$1 === "aäö€😀'\"" && b === "t8ü\n$x" && /:5:\d+/.test(stack)"#;
    let script = script.replace("-crlf-", "\r\n");
    let padded = |bytes: usize| format!("/*{}*/{script}", "é".repeat(bytes / 2) + &"-".repeat(bytes % 2));
    let facts: Vec<String> = (0..script.len()).step_by(3).map(|before| padded(8_192 - 4 - before)).collect();
    assert_js(&facts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A bug of boa_ast 0.22 that vendor/boa_ast fixes.
#[test]
fn arrow_functions_in_arrow_functions_share_this() {
    assert_js(&[
        "class A { constructor() { this.x = 1 } m() { return ['a'].map(i => () => this.x)[0]() } } new A().m() === 1",
        "class A { x = 2; deep = () => () => () => () => this.x } new A().deep()()()() === 2",
        "({ x: 3, m() { return (() => { let y = 1; const f = () => { y; return () => this.x }; return f()() })() } }).m() === 3",
        "(function () { return (async () => { await 0; })() && (() => () => arguments[0] + this.x)()() }).call({ x: 1 }, 3) === 4",
        "(function () { return (() => function () { return (() => () => this)()() })().call(this.inner) }).call({ inner: Math }) === Math",
        "class A { x() { return 5 } } class B extends A { m() { return (() => () => super.x())()() } } new B().m() === 5",
        "class A { constructor() { this.x = 6 } } class B extends A { constructor() { (() => (() => super())())(); } } new B().x === 6",
        "(function () { return (() => () => new.target)()() })() === undefined",
        "new (function F() { this.f = (() => () => new.target === F)()() })().f",
        "(function () { return (() => eval('() => this.x'))()() }).call({ x: 7 }) === 7",
    ]);
}
