//! What a reader finds on small pages who looks for all that they have, and what such a reader leaves alone.

use url::Url;

use super::*;
use crate::render::engine::Start;
use crate::render::engine::net::NoNet;
use crate::render::web::load::{Setting, text_of};
use crate::render::web::window::Viewport;

/// What came of a page after `tries`, and what an expression gives there then.
struct Read {
    told: Told,
    value: String,
    gone: Vec<String>,
}

impl Read {
    fn urls(&self) -> Vec<&str> {
        self.told.states.iter().flat_map(|state| &state.links).map(|link| link.url.as_str()).collect()
    }

    /// How the states came about.
    fn acts(&self) -> Vec<&str> {
        self.told.states.iter().map(|state| state.by.as_str()).collect()
    }
}

fn read_with(html: &str, acts: &[Act], tries: u32, expression: &str, viewport: Viewport) -> Read {
    let (html, acts, expression) = (html.to_owned(), acts.to_vec(), expression.to_owned());
    let page = move || {
        let start = Start::at(Url::parse("http://site.test/list").unwrap());
        let setting = Setting { viewport, ..Setting::default() };
        let mut window = Window::open_with(&start, &setting, Box::new(NoNet::new())).unwrap();
        window.load(&html, Reach::default());
        let told = read_page(&mut window, &acts, tries, Reach::default());
        let gone = window.navigations().into_iter().map(|one| one.url).collect();
        let value = text_of(&mut window, &format!("String({expression})")).unwrap_or_default();
        Read { told, value, gone }
    };
    std::thread::Builder::new().stack_size(limits::RENDER_STACK_BYTES).spawn(page).unwrap().join().unwrap()
}

fn read_page_of(html: &str, expression: &str) -> Read {
    read_with(html, &[], limits::RENDER_TRIES, expression, Viewport::default())
}

/// A list that shows one page of ten links at a time, of `pages`.
fn pages(pages: u32, controls: &str) -> String {
    format!(
        "<ul id=list></ul><nav>{controls}</nav><script>
        let at = 1, turns = 0; const last = {pages};
        function show(page) {{
            turns++; at = Math.min(Math.max(page, 1), last);
            list.innerHTML = Array.from({{ length: 10 }}, (_, i) => `<li><a href=/${{at}}-${{i}}>x</a>`).join('');
        }}
        show(1)</script>"
    )
}

#[test]
fn next_is_pressed_to_the_end_of_a_list_however_long() {
    let read = read_page_of(&pages(75, "<button onclick='show(at + 1)'>Next</button>"), "turns");
    assert_eq!(read.urls().len(), 750);
    assert_eq!(read.value, "76", "the last press brought nothing");
}

#[test]
fn a_list_without_an_end_is_left_at_the_bound_of_acts() {
    let html = "<div id=list></div><button class=load-more onclick='more()'>Show</button><script>
        let n = 0; const more = () => list.insertAdjacentHTML('beforeend', `<a href=/${n++}>x</a>`)</script>";
    let read = read_page_of(html, "n");
    let acts: u32 = read.value.parse().unwrap();
    // Two of them are scrolls.
    assert!((limits::RENDER_ACTS_MAX - 5..=limits::RENDER_ACTS_MAX).contains(&acts), "{acts}");
}

#[test]
fn page_numbers_are_opened_one_by_one() {
    let numbers: String = (1..=6).map(|n| format!("<a href='#' onclick='show({n}); return false'>{n}</a>")).collect();
    let read = read_page_of(&pages(6, &numbers), "turns");
    assert_eq!(read.urls().iter().filter(|url| !url.contains('#')).count(), 60, "{:?}", read.acts());
}

#[test]
fn tabs_are_opened() {
    let html =
        "<div role=tablist><div role=tab id=a>New</div><div role=tab id=b>Best</div><div role=tab id=c>Old</div></div>
        <div id=panel></div><script>for (const tab of document.querySelectorAll('[role=tab]'))
            tab.addEventListener('click', () => panel.innerHTML = `<a href=/${tab.id}>x</a>`)</script>";
    let read = read_page_of(html, "0");
    assert_eq!(read.urls(), ["http://site.test/a", "http://site.test/b", "http://site.test/c"]);
    assert_eq!(read.acts(), ["load", "click New", "click Best", "click Old"]);
}

#[test]
fn rows_that_lead_somewhere_are_followed_and_where_they_lead_is_told() {
    let rows: String = (0..5).map(|n| format!("<tr data-id={n}><td>Some title {n}</td></tr>")).collect();
    let html = format!(
        "<table id=table>{rows}</table><script>for (const row of document.querySelectorAll('tr'))
            row.addEventListener('click', () => location.href = '/t/' + row.dataset.id)</script>"
    );
    let read = read_page_of(&html, "0");
    let wanted: Vec<String> = (0..5).map(|n| format!("http://site.test/t/{n}")).collect();
    assert_eq!(read.gone, wanted);
}

#[test]
fn a_kind_of_rows_that_brings_nothing_is_given_up() {
    let rows: String = (0..50).map(|n| format!("<tr class=row><td>Some title {n}</td></tr>")).collect();
    let html = format!(
        "<table>{rows}</table><script>let clicks = 0; for (const row of document.querySelectorAll('tr'))
            row.addEventListener('click', () => clicks++)</script>"
    );
    assert_eq!(read_page_of(&html, "clicks").value, "2");
}

#[test]
fn lists_grow_with_scrolling_by_event_and_by_observer() {
    let rows = "const add = () => { if (n >= 40) return; for (let i = 0; i < 20; i++)
        list.insertAdjacentHTML('beforeend', `<p><a href=/${n}-${i}>x</a></p>`); n++ };";
    // Observers that are never told to look anew find the end of the list in view all the time.
    for script in [
        "addEventListener('scroll', () => { if (innerHeight + scrollY >= document.documentElement.scrollHeight - 50) add() }); add()",
        "new IntersectionObserver(seen => { if (seen.some(one => one.isIntersecting)) add() }).observe(end)",
    ] {
        let html = format!("<div id=list></div><div id=end>.</div><script>let n = 0; {rows} {script}</script>");
        let read = read_page_of(&html, "n");
        assert_eq!((read.value.as_str(), read.urls().len()), ("40", 800), "{script}");
    }
}

#[test]
fn a_tall_window_has_long_lists_in_view_at_once() {
    let html = "<div id=list></div><div id=end>.</div><script>let n = 0;
        const observer = new IntersectionObserver(seen => { if (!seen.some(one => one.isIntersecting) || n >= 30) return;
            for (let i = 0; i < 10; i++) list.insertAdjacentHTML('beforeend', `<p><a href=/${n}-${i}>x</a></p>`);
            n++; observer.unobserve(end); observer.observe(end) });
        observer.observe(end)</script>";
    let shown = |height: f64| {
        let viewport = Viewport { height, ..Viewport::default() };
        read_with(html, &[], 0, "n", viewport).value.parse::<u32>().unwrap()
    };
    let (usual, tall) = (shown(800.0), shown(f64::from(limits::RENDER_VIEW_HEIGHT)));
    assert!(usual < 10 && tall > 20, "{usual} and {tall} of 30 pages");
}

#[test]
fn what_ends_deletes_or_posts_is_left_alone() {
    let html = "<button>Log out</button><a href=# title='Delete all'>x</a><span role=button>Report</span><div class=tab>Reply</div>
        <form method=post action=/p><button>Next</button><input type=button value=More></form>
        <button disabled>Next</button><button hidden>Next</button><button aria-disabled=true>Next</button>
        <form><button type=submit>Go</button></form><a href=/real>Next</a>
        <script>let clicks = []; addEventListener('click', event => clicks.push(event.target.outerHTML), true)</script>";
    let read = read_page_of(html, "clicks.join()");
    assert_eq!(read.value, "");
    assert_eq!(read.told.states.len(), 1);
}

#[test]
fn without_tries_nothing_is_touched_and_acts_are_done_in_their_order() {
    let html = pages(3, "<button id=next onclick='show(at + 1)'>Next</button>");
    assert_eq!(read_with(&html, &[], 0, "turns", Viewport::default()).value, "1");
    let click = || Act::Click("#next".to_owned());
    let acts = [click(), Act::Click("#none".to_owned()), click(), Act::Goto("#x".to_owned()), Act::Back];
    let read = read_with(&html, &acts, 0, "turns + location.hash", Viewport::default());
    assert_eq!((read.value.as_str(), read.urls().len()), ("3", 60), "each asked-for state is told whole");
    assert_eq!(read.told.undone, [Act::Click("#none".to_owned())]);
    assert_eq!(read.acts(), ["load", "click #next", "click #none", "click #next", "goto #x", "back"]);
}
