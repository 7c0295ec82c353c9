//! The reported positions of script errors: file, line and column of each kind of error, the same as the first line of the `stack` in
//! Chromium (checked by hand against 141), and the arguments of the page's handlers.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

/// Time limit of one command; debug builds take seconds per page.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(120);

const ADDRESS: &str = "https://example.org/p.html";

/// Renders a page from these files, one of them `p.html`; returns the output of `--json`.
fn render(files: &[(&str, &str)], more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let output = command(folder.path(), &[&["p.html", "--base", ADDRESS, "--json"], more].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn command(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.current_dir(folder).arg("render").args(arguments).timeout(COMMAND_TIME_MAX);
    for variable in ["GLEANER_DATA", "GLEANER_RULES", "GLEANER_CONFIG"] {
        command.env_remove(variable);
    }
    command.output().unwrap()
}

/// `file:line:column message` of each error, with the page's own file as `p.html`.
fn places(page: &Value) -> Vec<String> {
    let errors = page["errors"].as_array().unwrap();
    let place = |error: &Value| {
        let source = error["source"].as_str().unwrap().replace("https://example.org/", "");
        format!("{source}:{}:{} {}", error["line"], error["column"], error["message"].as_str().unwrap())
    };
    errors.iter().map(place).collect()
}

fn console(page: &Value) -> Vec<&str> {
    page["console"].as_array().unwrap().iter().filter_map(|line| line["text"].as_str()).collect()
}

/// One page, each script with the first stack line in Chromium.
#[test]
fn each_error_is_told_with_the_line_and_column_of_the_page_where_it_was_thrown() {
    let cases: &[(&str, &str)] = &[
        (
            "\nvar foo, nul = null, o = {};\nfoo.bar();",
            "3:5 TypeError: Cannot read properties of undefined (reading 'bar')",
        ),
        ("nul.x", "1:13 TypeError: Cannot read properties of null (reading 'x')"),
        ("\n  undefinedName + 1;", "2:3 ReferenceError: undefinedName is not defined"),
        (" throw new Error('t1')", "1:16 Error: t1"),
        (" throw 'text'", "1:10 text"),
        ("\n o.method();", "2:4 TypeError: o.method is not a function"),
        ("\n new o.Foo(1);", "2:2 TypeError: o.Foo is not a constructor"),
        ("\n foo.bar = 3;", "2:10 TypeError: Cannot set properties of undefined (setting 'bar')"),
        ("\n foo['bar'] ;", "2:5 TypeError: Cannot read properties of undefined (reading 'bar')"),
        ("\n const {qq} = foo;", "2:9 TypeError: Cannot destructure 'undefined' value"),
        ("\n $jq(1)\n  .foo();", "2:2 ReferenceError: $jq is not defined"),
        ("\n o\n  .a\n  .b();", "4:4 TypeError: Cannot read properties of undefined (reading 'b')"),
        (
            "\n [1].map(function (v) {\n   return v.a.b;\n });",
            "3:15 TypeError: Cannot read properties of undefined (reading 'b')",
        ),
        (
            "\n class Mine extends Error { constructor(m) {\n  super(m); } }\n function f() {\n  throw new Mine('m');\n }\n f();",
            "5:9 Error: m",
        ),
        ("\n var late = new Error('late');\n (function () {\n  throw late; })();", "2:13 Error: late"),
        ("\n for (const x of foo) {}", "2:18 TypeError: cannot convert 'null' or 'undefined' to object"),
        ("\n 1 in foo;", "2:4 TypeError: right-hand side of 'in' should be an object, got `undefined`"),
        ("\n class D extends foo {}", "2:18 TypeError: superclass must be a constructor"),
        ("\n document.querySelector('###');", "2:11 SyntaxError: the selector cannot be read"),
        ("\n const fixed = 1;\n fixed = 2;", "3:8 TypeError: cannot mutate an immutable binding 'fixed'"),
        ("\n if (foo.cond) {}", "2:10 TypeError: Cannot read properties of undefined (reading 'cond')"),
        ("\n function d(a = foo.b) {}\n d();", "2:21 TypeError: Cannot read properties of undefined (reading 'b')"),
        (
            "\n eval('1;\\n foo.bar()');",
            "(p.html:2:2), 2:6 TypeError: Cannot read properties of undefined (reading 'bar')",
        ),
        (
            "\n new Function('a', 'return a.b.c')({});",
            "(p.html:2:2), 3:12 TypeError: Cannot read properties of undefined (reading 'c')",
        ),
        ("\n var b = ;", "2:10 SyntaxError: unexpected token ';', primary expression"),
        ("\n function open() { if (1) {\n", "3:1 SyntaxError: unexpected end of input"),
        ("\n let dup; let dup;", "2:15 SyntaxError: identifier 'dup' has already been declared"),
        ("\n  'open", "2:3 SyntaxError: unterminated string literal"),
        (
            "\n eval('1;\\n var = 3');",
            "2:2 SyntaxError: expected token 'identifier', got '=' in identifier parsing at line 2, col 6",
        ),
        ("\n\n  for (;;) ;", "3:3 RuntimeLimitError: reached the maximum number of iteration loops on this execution"),
        (
            "\n setTimeout(function () {\n   foo.timer;\n }, 5);",
            "3:8 TypeError: Cannot read properties of undefined (reading 'timer')",
        ),
        ("\n Promise.reject(new Error('no'));", "2:17 Uncaught (in promise) Error: no"),
        (
            "\n (async () => { await 1; foo.later; })();",
            "2:30 Uncaught (in promise) TypeError: Cannot read properties of undefined (reading 'later')",
        ),
        (
            "\n setTimeout('foo.text', 6);",
            "(p.html:2:2), 1:5 TypeError: Cannot read properties of undefined (reading 'text')",
        ),
        (
            "\n document.write('<script>foo.written<\\/script>')",
            "(p.html:2:11), 1:5 TypeError: Cannot read properties of undefined (reading 'written')",
        ),
    ];
    // Lines are those of the page: each script starts on the next one, whatever the line breaks are.
    let (mut markup, mut expected) = ("<!doctype html>\r\n".to_owned(), Vec::new());
    for (script, place) in cases {
        let line = 1 + markup.matches('\n').count();
        // For evaluated text, the call is a position in the page, and the text's own lines after it are not.
        let is_evaluated = place.starts_with('(');
        let (at, message) = place.split_once(' ').unwrap();
        expected.push(match (is_evaluated, at.split_once(':')) {
            (false, Some((its_line, column))) => {
                let its_line: usize = its_line.parse().unwrap();
                format!("p.html:{}:{column} {message}", line + its_line - 1)
            }
            _ => {
                let (call, rest) = place.split_once("), ").unwrap();
                let column = call.rsplit_once(':').unwrap().1;
                format!("(p.html:{}:{column}):{rest}", line + 1)
            }
        });
        markup.push_str(&format!("<script>{script}</script>\r\n"));
    }
    let page = render(&[("p.html", &markup)], &[]);
    let told: Vec<String> = places(&page)
        .into_iter()
        // The kind of evaluation precedes the position of the call.
        .map(|place| {
            match place.strip_prefix("eval at ").and_then(|place| place.find(" (").map(|at| place[at + 1..].to_owned()))
            {
                Some(place) => place,
                None => place,
            }
        })
        .collect();
    for place in &expected {
        assert!(told.contains(place), "{place}\nin\n{}", told.join("\n"));
    }
    assert_eq!(told.len(), expected.len(), "{}", told.join("\n"));
}

#[test]
fn an_error_in_another_file_is_told_there_and_the_innermost_function_is_named_first() {
    let external = "function f() {\n  undefinedFn();\n}\nfunction g(o) {\n  return o.a.b;\n}\nf();\n";
    let markup = "<script src=ext.js></script>\n<script>\n g({});\n</script>\n<script src=bad.js></script>
<script type=module src=mod.js></script><script type=module>\n null.inline;</script><script type=module src=broken.js></script>";
    let files = [
        ("p.html", markup),
        ("ext.js", external),
        ("bad.js", "var a = 1;\nvar b = ;"),
        ("mod.js", "import './deep.js';\nconst x = {};\nx.y.z = 1;\n"),
        ("deep.js", "export const a = 1;\nsetTimeout(() => {\n  null.deep;\n}, 1);"),
        ("broken.js", "import './syntax.js';"),
        ("syntax.js", "\nlet = ;"),
    ];
    let page = render(&files, &[]);
    let told = places(&page);
    let expected = [
        "ext.js:2:3 ReferenceError: undefinedFn is not defined",
        "ext.js:5:14 TypeError: Cannot read properties of undefined (reading 'b')",
        "bad.js:2:9 SyntaxError: unexpected token ';', primary expression",
        "mod.js:3:7 TypeError: Cannot set properties of undefined (setting 'z')",
        "p.html:7:7 TypeError: Cannot read properties of null (reading 'inline')",
        "deep.js:3:8 TypeError: Cannot read properties of null (reading 'deep')",
    ];
    for place in expected {
        assert!(told.iter().any(|told| told == place), "{place}\nin\n{}", told.join("\n"));
    }
    assert!(
        told.iter().any(|told| told.starts_with("syntax.js:2:1 ") && told.contains("SyntaxError")),
        "{}",
        told.join("\n")
    );
    assert_eq!(told.len(), expected.len() + 1, "{}", told.join("\n"));
}

#[test]
fn handlers_in_markup_are_told_where_their_text_stands() {
    let markup = "<p title='bad()'><a onclick='bad()'>x</a>\n<a id=b onclick=\"\n  bad()\">y</a>\n<a id=c onclick='bad()'>z</a><b id=d onclick='x.('>";
    let act = |id: &'static str| ["--act", id];
    let page = render(&[("p.html", markup)], &[act("click #b"), act("click #c"), act("click #d")].concat());
    let told = places(&page);
    assert_eq!(told[0], "p.html:3:3 ReferenceError: bad is not defined");
    assert_eq!(told[1], "p.html:4:18 ReferenceError: bad is not defined");
    assert!(told[2].starts_with("p.html:4:49 SyntaxError"), "{told:?}");
}

#[test]
fn the_page_is_told_as_browsers_tell_it() {
    let markup = "<script>
 addEventListener('error', e => console.log([e.message, e.filename, e.lineno, e.colno, e.error && e.error.stack].join('|')));
 window.onerror = (...all) => console.log(all.slice(0, 4).join('|') + '|' + (all[4] instanceof Error));
 addEventListener('unhandledrejection', e => console.log(e.reason.stack));
</script>
<script>
 function f() { null.x }
 function g() { [1].forEach(function () { f() }) }
 g();
</script>
<script>
 var made = new Error('made');
 throw made;
</script>
<script>throw 1</script>
<script>Promise.reject(new RangeError('r'))</script>
<script>eval('\\nnull.y')</script>
<script>
 const e = new TypeError('own'); e.name = { toString() { throw 1 } }; console.log(e.stack);
 console.log(Object.create(Error.prototype).stack === undefined, new Error('').stack.split('\\n')[0]);
</script>";
    let page = render(&[("p.html", markup)], &[]);
    let stack = "TypeError: Cannot read properties of null (reading 'x')\n    at f (https://example.org/p.html:7:22)\n    \
                 at https://example.org/p.html:8:43\n    at forEach (<anonymous>)\n    at g (https://example.org/p.html:8:21)\n    \
                 at https://example.org/p.html:9:2";
    let expected = [
        format!("Uncaught TypeError: Cannot read properties of null (reading 'x')|{ADDRESS}|7|22|{stack}"),
        format!("Uncaught TypeError: Cannot read properties of null (reading 'x')|{ADDRESS}|7|22|true"),
        // The position of the throw, and that of the creation.
        format!("Uncaught Error: made|{ADDRESS}|13|2|Error: made\n    at {ADDRESS}:12:13"),
        format!("Uncaught Error: made|{ADDRESS}|13|2|true"),
        format!("Uncaught 1|{ADDRESS}|15|9|"),
        format!("Uncaught 1|{ADDRESS}|15|9|false"),
        format!("RangeError: r\n    at {ADDRESS}:16:24"),
        format!(
            "Uncaught TypeError: Cannot read properties of null (reading 'y')|{ADDRESS}|2|6|TypeError: Cannot read properties of null \
             (reading 'y')\n    at eval (eval at <anonymous> ({ADDRESS}:17:9), <anonymous>:2:6)\n    at {ADDRESS}:17:9"
        ),
        format!("Uncaught TypeError: Cannot read properties of null (reading 'y')|{ADDRESS}|2|6|true"),
        format!("Error\n    at {ADDRESS}:19:12"),
        "true Error".to_owned(),
    ];
    let told = console(&page);
    for (told, expected) in told.iter().zip(&expected) {
        assert_eq!(told, expected);
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
}

#[test]
fn calls_within_each_other_are_as_many_as_browsers_hold_and_too_many_can_be_caught() {
    let markup = "<script>
 let depth = 0; function count() { depth++; count() }
 try { count() } catch (e) { console.log(e instanceof RangeError, e.message, depth > 9000, depth < 20000) }
 function sum(n) { return n ? n + sum(n - 1) : 0 }
 console.log(sum(5000), sum(9000));
 let natives = 0; function nest() { natives++; [1].forEach(nest) }
 try { nest() } catch (e) { console.log(e.name, natives > 1000) }
 let caught = 0; for (let i = 0; i < 300; i++) try { count() } catch { caught++ } console.log(caught);
</script><a href=/after></a>";
    let page = render(&[("p.html", markup)], &[]);
    let expected = ["true Maximum call stack size exceeded true true", "12502500 40504500", "RangeError true", "300"];
    assert_eq!(console(&page), expected, "{page}");
    assert_eq!(places(&page), Vec::<String>::new());
}

#[test]
fn what_is_left_out_is_counted_and_what_kills_a_pages_process_is_told_in_words_with_the_links_of_its_markup() {
    let folder = tempfile::tempdir().unwrap();
    let popups = "<script>for (let i = 0; i < 25; i++) open('/w' + i)</script>";
    fs::write(folder.path().join("p.html"), popups).unwrap();
    let told = String::from_utf8(command(folder.path(), &["p.html"]).stdout).unwrap();
    assert_eq!(told.matches("would navigate to ").count(), 10, "{told}");
    assert!(told.contains("and 15 more navigations"), "{told}");

    let deep = "<base href=/d/><a href=kept>k</a><script>eval('['.repeat(1e6))</script>";
    fs::write(folder.path().join("p.html"), deep).unwrap();
    let output = command(folder.path(), &["p.html", "--base", ADDRESS]);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(err.contains("died of signal 6") && err.contains("memory limit of 384 MB"), "{err}");
    assert_eq!(out, "# static: the links of the markup, without its scripts\nhttps://example.org/d/kept\n");
}

#[test]
fn a_mistyped_flag_of_a_view_is_no_password() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.html"), "x").unwrap();
    for flag in ["--screenshot", "--screen", "--screenshots"] {
        let output = command(folder.path(), &["p.html", flag]);
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains("--screenshot-text") && !err.contains("password"), "{err}");
    }
}

/// Each call with what it cannot call, mostly as Chromium names it.
#[test]
fn errors_of_calls_name_what_is_called() {
    let cases: &[(&str, &str)] = &[
        ("foo()", "foo is not a function"),
        ("o . method\n(1)", "o.method is not a function"),
        ("o?.method()", "o?.method is not a function"),
        ("o.method?.call.x()", ""),
        ("o.f(')', \"]\").x()", "o.f(...).x is not a function"),
        ("o.f()()", "o.f(...) is not a function"),
        ("new o.F().y()", "(intermediate value).F(...).y is not a function"),
        ("(foo || o).z()", "(intermediate value).z is not a function"),
        ("o['x-y'](1)", "o[...] is not a function"),
        ("list[0]()", "list[0] is not a function"),
        ("list[0].w()", "list[0].w is not a function"),
        ("[1].q()", "(intermediate value).q is not a function"),
        ("o.method(...list)", "o.method is not a function"),
        ("o.method`text`", "o.method is not a function"),
        ("eval.x()", "eval.x is not a function"),
        ("(() => o.f().deep.er())()", "o.f(...).deep.er is not a function"),
        ("/* \u{1F4A9} */ o.after()", "o.after is not a function"),
        ("new foo", "foo is not a constructor"),
        ("new o.f.g(1)", "o.f.g is not a constructor"),
        ("new (() => 1)()", "not a constructor"),
        ("o.f.call(o).apply()", "o.f.call(...).apply is not a function"),
    ];
    let mut script = "var foo = 1, list = [{}, {}], o = { f() { return { deep: {} } }, F: class {} };\n".to_owned();
    script.extend(cases.iter().map(|(call, _)| {
        format!("try {{ {call}; console.log('') }} catch (error) {{ console.log(error.message) }}\n")
    }));
    let page = render(&[("p.html", "<script src=a.js></script>"), ("a.js", &script)], &[]);
    let expected: Vec<&str> = cases.iter().map(|(_, message)| *message).collect();
    assert_eq!(console(&page), expected);
}
