//! Pages that are held open in their own child: the form is filled in as seen, with user events, and sent.

use std::sync::Mutex;

use gleaner_render::children::{Bounds, Children};
use gleaner_render::wire::{Answer, Filling, Outcome, Page, Request, Response, Submit};

fn children() -> Children {
    Children::new(env!("CARGO_BIN_EXE_gleaner").into(), vec!["__render".into()], Bounds::default())
}

fn page(markup: &str) -> Page {
    Page::at("https://example.org/login", 1_700_000_000_000).with_markup(markup)
}

async fn no_net(_: Request) -> Answer {
    Err("refused".to_owned())
}

/// The mark of the first control whose tag contains a text.
fn mark(outcome: &Outcome, of: &str) -> u32 {
    let tag = outcome.html.split('<').find(|tag| tag.contains(of) && tag.contains("data-gleaner-node="));
    let tag = tag.unwrap_or_else(|| panic!("{of} is not in {}", outcome.html));
    tag.split('"').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn fields_are_typed_into_as_a_person_does_and_the_button_is_clicked() {
    let children = children();
    let markup = "<form id=f method=post action=/in><input id=u name=u data-gleaner-node=7><select name=s><option value=1>a\
        <option value=2>b</select><input type=checkbox name=c value=y><input type=hidden name=h value=old>\
        <textarea name=t></textarea><button name=b value=go>Go</button></form><script>const said = [];\
        for (const kind of ['focus', 'keydown', 'input', 'keyup', 'change', 'blur', 'click'])\
            u.addEventListener(kind, e => said.push(kind + e.isTrusted));\
        f.addEventListener('submit', e => { console.log(said.join(), e.submitter.name) })</script>";
    let (loaded, mut held) = children.hold(&page(markup), &no_net).await.unwrap();
    let mut filling = Filling::new(Submit::Click(mark(&loaded, "name=\"b\"")));
    filling.type_in(mark(&loaded, "id=\"u\""), "änna");
    filling.type_in(mark(&loaded, "name=\"s\""), "2");
    filling.check(mark(&loaded, "name=\"c\""));
    filling.type_in(mark(&loaded, "name=\"h\""), "new");
    filling.type_in(mark(&loaded, "name=\"t\""), "line");
    let sent = held.fill(&filling, &no_net).await.unwrap();
    assert_eq!((sent.errors.len(), sent.unfilled.len()), (0, 0), "{sent:?}");
    assert_eq!(sent.console[0].text, "focustrue,keydowntrue,inputtrue,keyuptrue,changetrue,blurtrue b");
    let way = &sent.navigations[0];
    assert_eq!((way.url.as_str(), way.method.as_str()), ("https://example.org/in", "POST"));
    assert_eq!(String::from_utf8_lossy(&way.body), "u=%C3%A4nna&s=2&c=y&h=new&t=line&b=go");
}

#[tokio::test]
async fn the_enter_key_sends_a_form_without_a_button_and_a_listener_of_keys_hears_it() {
    let children = children();
    let markup = "<form method=post action=/in><input name=u><input name=p type=password></form><input id=x>\
        <script>x.onkeydown = e => { if (e.key === 'Enter') fetch('/heard?' + e.keyCode + x.value) }</script>";
    let asked = Mutex::new(Vec::new());
    let net = |request: Request| {
        asked.lock().unwrap().push(request.url.clone());
        async move { Ok(Response { url: request.url, status: 200, ..Response::default() }) }
    };
    let (loaded, mut held) = children.hold(&page(markup), &net).await.unwrap();
    let mut filling = Filling::new(Submit::Enter(mark(&loaded, "name=\"p\"")));
    filling.type_in(mark(&loaded, "name=\"p\""), "q");
    let sent = held.fill(&filling, &net).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&sent.navigations[0].body), "u=&p=q");
    let mut filling = Filling::new(Submit::Enter(mark(&loaded, "id=\"x\"")));
    filling.type_in(mark(&loaded, "id=\"x\""), "1");
    held.fill(&filling, &net).await.unwrap();
    assert_eq!(*asked.lock().unwrap(), ["https://example.org/heard?131"]);
}

#[tokio::test]
async fn controls_in_open_shadow_roots_are_seen_and_filled_and_those_that_went_are_told() {
    let children = children();
    let markup = "<a-login></a-login><p id=q><input name=gone></p><script>customElements.define('a-login', class extends HTMLElement {\
        connectedCallback() { const root = this.attachShadow({ mode: 'open' });\
            root.innerHTML = '<input name=u><button>Go</button>';\
            root.querySelector('button').onclick = () => { console.log(root.querySelector('input').value); q.remove() } } })</script>";
    let (loaded, mut held) = children.hold(&page(markup), &no_net).await.unwrap();
    let mut filling = Filling::new(Submit::Click(mark(&loaded, "button ")));
    filling.type_in(mark(&loaded, "name=\"u\""), "anna");
    let sent = held.fill(&filling, &no_net).await.unwrap();
    assert_eq!(sent.console[0].text, "anna", "{sent:?}");
    let gone = mark(&loaded, "name=\"gone\"");
    let mut filling = Filling::new(Submit::Click(mark(&loaded, "button ")));
    filling.type_in(gone, "x");
    filling.check(u32::MAX);
    assert_eq!(held.fill(&filling, &no_net).await.unwrap().unfilled, [gone]);
}

#[tokio::test]
async fn the_child_of_a_held_page_runs_nothing_else_and_ends_with_it() {
    let children = children();
    children.run(&page("<p>one"), &no_net).await.unwrap();
    let (_, held) = children.hold(&page("<p>two"), &no_net).await.unwrap();
    assert_eq!(children.started(), 2, "a child that has run another page is not held");
    drop(held);
    assert_eq!(children.idle_ids().len(), 1);
    children.run(&page("<p>three"), &no_net).await.unwrap();
    assert_eq!(children.started(), 2);
}

#[tokio::test]
async fn a_held_page_that_never_ends_is_stopped_and_the_next_is_served() {
    let children = children();
    let (loaded, mut held) = children.hold(&page("<button onclick='for (;;) {}'>Go</button>"), &no_net).await.unwrap();
    let stuck = held.fill(&Filling::new(Submit::Click(mark(&loaded, "button "))), &no_net).await;
    assert!(stuck.is_err() || stuck.is_ok_and(|outcome| outcome.errors.len() == 1 || outcome.spent.is_some()));
    drop(held);
    let (next, _held) = children.hold(&page("<input name=u>"), &no_net).await.unwrap();
    assert!(mark(&next, "name=\"u\"") > 0);
}
