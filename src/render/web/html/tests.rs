//! Forms, handlers and clicks: expressions in small pages, with the results of browsers.

use std::fmt::Write as _;

use url::Url;

use super::load::{Window, text_of};
use super::navigation;
use crate::engine::Start;
use crate::engine::net::Net;
use crate::wire::{Answer, Reach, Request, RequestId};

/// A network that never answers.
struct Nothing(Vec<RequestId>);

impl Net for Nothing {
    fn start(&mut self, id: RequestId, _: Request) {
        self.0.push(id);
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        (self.0.remove(0), Err("no network".to_owned()))
    }
}

fn page(html: &str) -> Window {
    let start = Start::at(Url::parse("http://site.test/dir/page?q=1").unwrap());
    let mut window = Window::open(&start, Box::new(Nothing(Vec::new()))).unwrap();
    window.load(html, Reach::default());
    window
}

/// Each expression yields its text; all run in order in one page.
#[track_caller]
fn assert_all(html: &str, expressions: &[(&str, &str)]) {
    let mut window = page(html);
    let mut faults = String::new();
    for (expression, wanted) in expressions {
        let told = text_of(&mut window, &format!("String(({expression}))"));
        if told.as_deref() != Some(*wanted) {
            let errors = window.engine.page().borrow().errors.clone();
            writeln!(faults, "{expression}\n    gave {told:?}, not {wanted:?}; {errors:?}").unwrap();
        }
        window.engine.run(Reach::default());
    }
    assert!(faults.is_empty(), "{faults}");
}

/// The navigations of the page, as method, URL and body.
#[track_caller]
fn assert_goes(html: &str, script: &str, wanted: &[&str]) {
    let mut window = page(html);
    window.engine.evaluate(script, "test");
    window.engine.run(Reach::default());
    let told = window.engine.with(|context| navigation::taken_since(0, context)).unwrap();
    let told: Vec<String> = told
        .iter()
        .map(|one| format!("{} {} {}", one.method, one.url, String::from_utf8_lossy(&one.body)).trim_end().to_owned())
        .collect();
    let errors = window.engine.page().borrow().errors.clone();
    assert_eq!(told, wanted, "{script}: {errors:?}");
}

const FORM: &str = "<form id=f action=go?x><input name=a value=1><input name=b type=checkbox checked>\
    <input name=c type=radio value=x checked><input name=c type=radio value=y>\
    <select name=s><option>one<option value=2 selected>two</select><textarea name=t>a\nb</textarea>\
    <input name=d disabled value=no><input type=submit id=go name=send value=yes><button id=again type=reset>r</button>\
    <input name=up type=file></form>";

#[test]
fn forms_know_their_controls() {
    assert_all(
        FORM,
        &[
            ("f.length + ',' + f.elements.length + ',' + f[0].name", "10,10,a"),
            ("f.a.value + f.elements.s.value + f.c.value + f.elements.namedItem('t').value", "12xa\nb"),
            ("f.c instanceof RadioNodeList && (f.c.value = 'y', f.c[1].checked)", "true"),
            ("f.action + ' ' + f.method + ' ' + f.getAttribute('action')", "http://site.test/dir/go?x get go?x"),
            ("'a' in f && f.a.form === f && document.getElementById('f') === f.a.form", "true"),
            ("[f.s.selectedIndex, f.s.options.length, f.s[1].text, f.s.selectedOptions.length]", "1,2,two,1"),
            ("f.s.selectedIndex = 0, f.s.value + f.s.options[0].selected", "onetrue"),
            ("f.s.selectedIndex = -1, f.s.value + f.s.selectedIndex", "-1"),
            ("f.s.value = '2', f.s.selectedIndex", "1"),
            ("f.s.add(new Option('three', 3)), f.s.options[2].value + f.s.length", "33"),
            ("f.s.length = 1, f.s.value", "one"),
            ("f.a.value = 'changed', f.a.defaultValue + f.a.getAttribute('value')", "11"),
            ("f.reset(), f.a.value + f.c.value", "1x"),
            ("f.a.value = 'new', again.click(), f.a.value", "1"),
        ],
    );
}

#[test]
fn values_are_what_their_types_make_of_them() {
    assert_all(
        "<input id=i><input id=r type=range min=0 max=10 step=3><input id=n type=number min=1 max=9 step=2>",
        &[
            ("i.value = 'a\\nb', i.value", "ab"),
            ("i.type = 'color', i.value", "#000000"),
            ("i.type = 'date', i.value = '2024-02-30', i.value", ""),
            (
                "i.value = '2024-02-29', i.valueAsNumber + ' ' + i.valueAsDate.toISOString()",
                "1709164800000 2024-02-29T00:00:00.000Z",
            ),
            ("i.valueAsNumber = 0, i.value", "1970-01-01"),
            ("i.stepUp(), i.value", "1970-01-02"),
            ("i.type = 'datetime-local', i.value = '2024-01-02 03:04:00', i.value", "2024-01-02T03:04"),
            ("i.type = 'email', i.value = ' a@b ', i.value", "a@b"),
            ("r.value", "6"),
            ("r.value = 100, r.value", "9"),
            ("n.value = 4, n.validity.stepMismatch + ',' + n.validity.valid", "true,false"),
            ("n.stepUp(), n.value", "5"),
            ("n.value = 10, n.validity.rangeOverflow", "true"),
            ("n.value = 'x', n.value + isNaN(n.valueAsNumber)", "true"),
            ("i.type = 'checkbox', i.value", "a@b"),
            ("(() => { try { i.type = 'file'; i.value = 'x' } catch (e) { return e.name } })()", "InvalidStateError"),
        ],
    );
}

#[test]
fn validity_tells_what_is_wrong() {
    assert_all(
        "<form id=f><input id=a required pattern='[a-c]+'><input id=m type=email><select id=s required><option value=''>-\
         <option>x</select><textarea id=t required readonly></textarea></form>",
        &[
            ("[a.validity.valueMissing, a.validity.valid, a.willValidate, t.willValidate]", "true,false,true,false"),
            ("a.value = 'abcd', a.validity.patternMismatch", "true"),
            ("a.value = 'abc', a.checkValidity()", "true"),
            ("m.value = 'x', m.validity.typeMismatch", "true"),
            (
                "window.told = 0, f.addEventListener('invalid', () => told++, true), f.checkValidity() + ',' + told",
                "false,2",
            ),
            ("m.value = '', s.value = 'x', f.checkValidity()", "true"),
            ("a.setCustomValidity('no'), a.validationMessage + a.validity.customError", "notrue"),
        ],
    );
}

#[test]
fn clicks_do_what_elements_do() {
    assert_all(
        "<label id=l>x<input id=c type=checkbox></label><input id=r type=radio name=g checked><input id=q type=radio name=g>\
         <details id=d><summary id=s>s</summary>x</details>",
        &[
            (
                "window.log = [], c.onclick = e => log.push(c.checked), c.onchange = () => log.push('change'), c.click(), log",
                "true,change",
            ),
            ("c.checked", "true"),
            ("l.click(), c.checked", "false"),
            ("c.onclick = e => e.preventDefault(), c.click(), c.checked", "false"),
            ("c.onclick = () => false, c.click(), c.checked", "false"),
            ("q.click(), [r.checked, q.checked]", "false,true"),
            ("r.onclick = () => false, r.click(), [r.checked, q.checked]", "false,true"),
            ("s.click(), d.open", "true"),
            ("s.click(), d.open", "false"),
            ("c.disabled = true, c.click(), c.checked", "false"),
        ],
    );
}

#[test]
fn handlers_of_markup_see_element_form_and_document() {
    assert_all(
        "<body onload='window.loaded = event.type'><form id=f><input name=other value=7>\
         <button type=button id=b onclick=\"window.told = [other.value, id, forms.length, this === b, event.type]; return false\">b</button>\
         </form><a id=bad onclick='}{'>x</a><p id=p>x</p>",
        &[
            ("window.loaded", "load"),
            ("b.click(), told", "7,b,1,true,click"),
            ("typeof b.onclick + b.onclick.name", "functiononclick"),
            ("b.setAttribute('onclick', 'told = 1'), b.click(), told", "1"),
            ("b.removeAttribute('onclick'), b.onclick", "null"),
            ("bad.onclick", "null"),
            ("p.onclick = () => { told = 'p' }, p.click(), told", "p"),
            ("p.setAttribute('onclick', 'told = \"text\"'), p.click(), told", "text"),
            ("document.body.onhashchange = () => 1, typeof window.onhashchange", "function"),
            (
                "p.onclick = null, p.innerHTML = '<i onclick=\"told = this.tagName\">x</i>', p.firstChild.click(), told",
                "I",
            ),
        ],
    );
}

#[test]
fn forms_are_sent_with_what_they_hold() {
    let all = "a=1&b=on&c=x&s=2&t=a%0D%0Ab";
    assert_goes(FORM, "go.click()", &[&format!("GET http://site.test/dir/go?{all}&send=yes&up=")]);
    assert_goes(FORM, "f.submit()", &[&format!("GET http://site.test/dir/go?{all}&up=")]);
    assert_goes(FORM, "f.onsubmit = () => false; go.click(); f.requestSubmit()", &[]);
    assert_goes(
        FORM,
        "f.method = 'post'; f.requestSubmit(go)",
        &[&format!("POST http://site.test/dir/go?x {all}&send=yes&up=")],
    );
    assert_goes(
        FORM,
        "f.addEventListener('formdata', e => e.formData.set('a', 'new')); f.removeChild(f.lastChild); f.submit()",
        &["GET http://site.test/dir/go?a=new&b=on&c=x&s=2&t=a%0D%0Ab"],
    );
    assert_goes("<form id=f action=/x><input name=q required></form>", "f.requestSubmit()", &[]);
    assert_goes(
        "<form id=f><button id=b formaction=/y formmethod=post name=n value=v></form>",
        "b.click()",
        &["POST http://site.test/y n=v"],
    );
}

#[test]
fn links_are_followed_when_they_are_clicked() {
    assert_goes("<a id=a href=next><b id=b>x</b></a>", "b.click()", &["GET http://site.test/dir/next"]);
    assert_goes("<a id=a href=next onclick='return false'>x</a>", "a.click()", &[]);
    assert_goes("<a id=a href='magnet:?xt=urn:btih:0'>x</a>", "a.click()", &["GET magnet:?xt=urn:btih:0"]);
    assert_goes("<a id=a>x</a>", "a.click()", &[]);
    assert_goes("<a id=a href='/x'><button id=b type=button>x</button></a>", "b.click()", &[]);
}

#[test]
fn form_data_reads_forms() {
    assert_all(
        FORM,
        &[
            ("[...new FormData(f).keys()]", "a,b,c,s,t,up"),
            ("new FormData(f, go).get('send')", "yes"),
            ("new FormData(f).get('up') instanceof File", "true"),
            ("new URLSearchParams(new FormData(f)).get('s')", "2"),
        ],
    );
}

#[test]
fn links_have_parts() {
    assert_all(
        "<a id=a href='//u:p@h.test:81/p/q?s#h'>text</a><img id=i src=x.png>",
        &[
            (
                "[a.protocol, a.host, a.hostname, a.port, a.pathname, a.search, a.hash, a.origin, a.username]",
                "http:,h.test:81,h.test,81,/p/q,?s,#h,http://h.test:81,u",
            ),
            ("a + ''", "http://u:p@h.test:81/p/q?s#h"),
            ("a.pathname = '/n', a.getAttribute('href')", "http://u:p@h.test:81/n?s#h"),
            ("a.text + i.src + i.complete", "texthttp://site.test/dir/x.pngtrue"),
            ("a.dataset.fooBar = 1, a.getAttribute('data-foo-bar') + Object.keys(a.dataset)", "1fooBar"),
            ("new Image(3, 4).width + new Audio('x').preload", "3auto"),
        ],
    );
}

#[test]
fn interfaces_are_complete_however_they_are_met() {
    let facts = [
        ("'disabled' in HTMLButtonElement.prototype", "true"),
        ("'colSpan' in document.createElement('td')", "true"),
        ("'src' in Object.getPrototypeOf(HTMLVideoElement.prototype)", "true"),
        ("(class extends HTMLQuoteElement {}).prototype instanceof HTMLElement", "true"),
        (
            "[1, 2, 3].map(() => { let met = 0; for (let i = 0; i < 3; i++) met += document.body instanceof HTMLQuoteElement; return met }) + ''",
            "0,0,0",
        ),
        ("window.HTMLFontElement = 1, HTMLFontElement", "1"),
        ("typeof HTMLMeterElement + ('HTMLDataElement' in window)", "functiontrue"),
    ];
    assert_all("", &facts);
}

#[test]
fn tables_grow_and_shrink() {
    assert_all(
        "<table id=t></table>",
        &[
            (
                "t.insertRow().insertCell().textContent = 'x', t.outerHTML",
                "<table id=\"t\"><tbody><tr><td>x</td></tr></tbody></table>",
            ),
            ("t.createTHead().insertRow().rowIndex + ',' + t.rows.length + t.tBodies[0].rows[0].rowIndex", "0,21"),
            ("t.createCaption() === t.caption && t.firstChild === t.caption", "true"),
            ("t.deleteRow(-1), t.rows.length", "1"),
        ],
    );
}

#[test]
fn text_is_told_as_it_is_seen() {
    assert_all(
        "<div id=d>a <b>b</b><p>c</p><span style='display:none'>no</span><ul><li>x<li>y</ul><script>var no</script></div>",
        &[
            ("d.innerText", "a b\n\nc\n\nx\ny"),
            ("d.innerText = 'p\\nq', d.innerHTML", "p<br>q"),
            ("d.hidden = true, d.innerText", "pq"),
        ],
    );
}

#[test]
fn a_page_of_a_desktop_listens_to_clicks_and_reports_errors() {
    assert_all(
        "<body>",
        &[
            (
                "['ontouchstart' in window, 'ontouchend' in document, 'ontouchmove' in document.body]",
                "false,false,false",
            ),
            ("'onclick' in window && navigator.maxTouchPoints === 0", "true"),
            (
                "window.seen = [], onerror = (...all) => seen.push(all[0]), reportError(new TypeError('x')), seen",
                "Uncaught TypeError: x",
            ),
        ],
    );
}

#[test]
fn a_drop_down_list_keeps_the_option_that_it_shows() {
    assert_all(
        "<select id=s><option>B<option>C</select><select id=g><optgroup label=x><option>1</optgroup></select>",
        &[
            ("s.insertBefore(new Option('A'), s.firstChild), s.value + s.selectedIndex + s[1].selected", "B1true"),
            ("s.removeChild(s[1]), s.value", "A"),
            ("s.add(new Option('D', 'D', true)), s.value", "A"),
            ("s.innerHTML = '<option>x<option>y', s.prepend(new Option('w')), s.value", "x"),
            ("s[0].selected = false, s.value", "x"),
            ("s[1].selected = false, s.value", "w"),
            ("s.value = 'y', s.prepend(new Option('v')), s.value", "y"),
            ("s.selectedIndex = -1, s.append(new Option('z')), s.value", "v"),
            ("g.firstChild.prepend(new Option('0')), g.value + g.options[1].selected", "1true"),
            (
                "window.q = document.createElement('select'), q.append(new Option('a'), new Option('b', 'b', true, true)), \
                 Array.from({ length: 20 }, (_, n) => q.append(new Option(n))), q.value + q.selectedIndex",
                "b1",
            ),
            ("q.options[1].selected = false, q.append(new Option('c')), q.value", "a"),
            ("q.append(new Option('d', 'd', true, true)), q.value", "d"),
            ("q.lastChild.remove(), q.append(new Option('e')), q.value", "a"),
        ],
    );
}

#[test]
fn controls_are_valid_or_invalid_or_neither() {
    assert_all(
        "<form id=f><fieldset id=d><input id=i required><input id=h type=hidden><span></span></fieldset><input id=p pattern='a+'></form>",
        &[
            ("[...document.querySelectorAll(':invalid')].map(e => e.id)", "f,d,i"),
            ("[...document.querySelectorAll(':valid')].map(e => e.id)", "p"),
            ("i.value = 'x', document.querySelectorAll(':invalid').length", "0"),
            ("p.value = 'ab', p.matches(':invalid') && p.validity.patternMismatch && f.matches(':invalid')", "true"),
            ("p.value = 'aa', p.matches(':valid') && f.matches(':invalid')", "false"),
            ("p.pattern = 'b', p.matches(':invalid') && f.matches(':invalid') && !d.matches(':invalid')", "true"),
            ("p.pattern = 'a+', p.matches(':valid')", "true"),
            ("i.setCustomValidity('no'), i.matches(':invalid') + i.validationMessage", "trueno"),
            ("i.setCustomValidity(''), i.matches(':invalid, p')", "false"),
            ("h.matches(':valid') || h.matches(':invalid')", "false"),
        ],
    );
}

#[test]
fn a_style_refuses_lengths_without_a_unit() {
    assert_all(
        "<i id=d style='top: 1px'></i>",
        &[
            ("d.style.width = '10', d.style.height = '10px', d.style.width + '-' + d.style.height", "-10px"),
            ("d.style.height = '-1px', d.style.top = 7, d.style.height + d.style.top", "10px1px"),
            ("d.style.zIndex = 10, d.style.lineHeight = 2, d.style.zIndex + d.style.lineHeight", "102"),
        ],
    );
}

#[test]
fn cookies_of_one_name_have_paths() {
    assert_all(
        "<body>",
        &[
            (
                "document.cookie = 'a=1; path=/', document.cookie = 'a=2; path=/dir', document.cookie = 'a=3; path=/other', document.cookie",
                "a=2; a=1",
            ),
            ("document.cookie = 'b=1', document.cookie = 'b=2; path=/dir', document.cookie", "a=2; b=2; a=1"),
            ("document.cookie = 'a=; path=/dir; max-age=0', document.cookie", "b=2; a=1"),
        ],
    );
}

#[test]
fn a_computed_style_has_no_properties_but_those_of_css() {
    assert_all(
        "<i id=d style='padding: 7px'></i><script>const c = getComputedStyle(d)</script>",
        &[("[c.getPropertyValue('paddingLeft'), c.getPropertyValue('padding-left'), c.paddingLeft]", ",7px,7px")],
    );
}
