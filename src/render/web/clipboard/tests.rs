//! Copying: scripts in a small page, with the results of browsers.

use url::Url;

use super::take;
use crate::engine::Start;
use crate::engine::net::NoNet;
use crate::web::html::load::{Window, text_of};
use crate::wire::Reach;

/// A page after a script, and its variable `log`, joined by spaces.
fn run(script: &str) -> (Window, String) {
    let start = Start::at(Url::parse("https://site.test/").unwrap());
    let mut window = Window::open(&start, Box::new(NoNet::new())).unwrap();
    let script = format!(
        "<body><textarea id=t></textarea><p id=p>words</p><script>var log = [];
        (async () => {{ {script} }})().catch(e => log.push('failed', e.name, e.message))</script>"
    );
    window.load(&script, Reach::default());
    let told = text_of(&mut window, "log.join(' ')");
    let errors = window.engine.page().borrow().errors.clone();
    assert!(errors.is_empty(), "{errors:?}");
    (window, told.unwrap_or_default())
}

#[test]
fn what_a_page_copies_is_kept_for_its_reader() {
    for (script, wanted) in [
        ("await navigator.clipboard.writeText('one'); log.push(await navigator.clipboard.readText())", "one"),
        ("t.value = 'typed'; t.select(); log.push(document.execCommand('copy'))", "typed"),
        (
            "const r = document.createRange(); r.selectNodeContents(p); getSelection().addRange(r); document.execCommand('copy')",
            "words",
        ),
        (
            "document.addEventListener('copy', e => { e.clipboardData.setData('text/plain', 'instead'); e.preventDefault() }); document.execCommand('copy')",
            "instead",
        ),
    ] {
        let (mut window, _) = run(script);
        assert_eq!(window.engine.with(|context| take(context)).unwrap(), [wanted], "{script}");
        assert!(window.engine.with(|context| take(context)).unwrap().is_empty());
    }
    let told = run(
        "log.push(document.execCommand('copy'), document.queryCommandSupported('copy'), document.execCommand('bold'), typeof DataTransfer, navigator.clipboard instanceof Clipboard)",
    );
    assert_eq!(told.1, "false true false function true");
}
