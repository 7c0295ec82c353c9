//! Rows whose click opens something outside of them: menus and dialogs whose own buttons bring the link, or open what has it.

use super::*;
use crate::wire::{Answer, Request, RequestId, Response};

/// A site that answers every request.
#[derive(Default)]
struct UnansweredNet(Vec<RequestId>);

impl Net for UnansweredNet {
    fn start(&mut self, id: RequestId, _: Request) {
        self.0.push(id);
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        (self.0.remove(0), Ok(Response { status: 200, ..Response::default() }))
    }
}

/// Twelve rows with a button, and what is beside their list.
fn rows(beside: &str, opens: &str) -> String {
    format!(
        "<button id=query onclick='asked++; draw()'>Query</button><table><tbody id=list></tbody></table>{beside}<script>
        let asked = 0, cur = 0, posted = 0;
        const draw = () => list.innerHTML = Array.from({{ length: 12 }}, (_, id) => `<tr><td>Title ${{id}}</td><td><button data-id=${{id}}>⋯</button></td></tr>`).join('');
        list.onclick = event => {{ if (event.target.dataset.id) {{ cur = event.target.dataset.id; {opens} }} }};
        draw()</script>"
    )
}

#[test]
fn what_a_row_opens_is_followed_two_steps_to_its_link() {
    let mirrors = rows(
        "<div id=dialog hidden><h4></h4><p>Choose a mirror</p><button class=m>Europe</button><button class=m>America</button><p id=out></p><button onclick='dialog.hidden = true'>Cancel</button></div>
        <script>for (const one of document.querySelectorAll('.m')) one.onclick = () => { out.innerHTML = `<a href=/dl/${cur}>Start</a>` }</script>",
        "dialog.hidden = false; out.innerHTML = ''",
    );
    let menu = rows(
        "<div id=menu></div><div id=dialog style='display:none'><a>Magnet link</a><button onclick='dialog.style.display = \"none\"'>Close</button></div>",
        "menu.innerHTML = '<div role=menuitem>Delete</div><div role=menuitem onclick=\"menu.innerHTML = ``; dialog.style.display = `block`; dialog.firstChild.href = `/dl/` + cur\">View details</div>'",
    );
    let shown = rows(
        "<div id=menu style='display:none'><button id=view class=item>Details</button></div><div id=dialog style='display:none'><button id=get class=btn>Save file</button><button id=go class=btn>Start transfer</button></div>
        <script>view.onclick = () => { dialog.style.display = 'block'; menu.style.display = 'none' }; go.onclick = () => { location.href = '/dl/' + cur; dialog.style.display = 'none' }</script>",
        "menu.style.display = 'block'",
    );
    for (what, html) in [("mirrors", mirrors), ("menu", menu), ("shown", shown)] {
        let read = read_page_of(&html, "asked");
        let mut links: Vec<String> = read.urls().into_iter().map(str::to_owned).chain(read.gone.clone()).collect();
        links.retain(|link| link.contains("/dl/"));
        links.sort();
        links.dedup();
        assert_eq!(links.len(), 12, "{what}: {:?}", read.acts());
        assert!(
            read.value.parse::<u32>().unwrap() < 3,
            "{what}: a button for other things is not pressed in their place"
        );
    }
}

#[test]
fn nothing_is_posted_for_what_a_row_opens_and_says_nothing_of_files() {
    let html = rows(
        "<div id=dialog hidden><button id=boost>Boost</button></div><script>boost.onclick = () => { fetch('/api/boost/' + cur, { method: 'POST' }).then(() => posted++, () => 0) }</script>",
        "dialog.hidden = false",
    );
    let net = || Box::new(UnansweredNet::default()) as Box<dyn Net>;
    let start = Start::at(Url::parse("http://site.test/list").unwrap());
    let read = read_from(start, net, &html, &[], Seeks::ALL, "posted", Viewport::default());
    assert_eq!(read.value, "0");
}
