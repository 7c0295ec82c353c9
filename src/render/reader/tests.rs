//! What a reader finds on small pages when it explores them fully, and what it leaves alone.

use url::Url;

use super::*;
use crate::engine::Start;
use crate::engine::net::{Net, NoNet};
use crate::limits;
use crate::web::html::load::{Setting, text_of};
use crate::wire::{Bound, Viewport};

mod again;
mod alone;
mod folders;
mod frontier;
mod gains;
mod harm;
mod inferred;
mod lists;
mod live;
mod pickers;
mod shapes;
mod steps;
mod turns;

/// The outcome of a page after `tries`, and the value of an expression there.
struct ReadOutcome {
    told: ActResults,
    value: String,
    gone: Vec<String>,
}

impl ReadOutcome {
    fn urls(&self) -> Vec<&str> {
        self.told.states.iter().flat_map(|state| &state.links).map(|link| link.url.as_str()).collect()
    }

    /// The acts that led to the states.
    fn acts(&self) -> Vec<&str> {
        self.told.states.iter().map(|state| state.by.as_str()).collect()
    }
}

fn read_with(html: &str, acts: &[Act], seeks: Seeks, expression: &str, viewport: Viewport) -> ReadOutcome {
    read_on(|| Box::new(NoNet::new()), html, acts, seeks, expression, viewport)
}

fn read_on(
    net: fn() -> Box<dyn Net>,
    html: &str,
    acts: &[Act],
    seeks: Seeks,
    expression: &str,
    viewport: Viewport,
) -> ReadOutcome {
    let start = Start::at(Url::parse("http://site.test/list").unwrap());
    read_from(start, net, html, acts, seeks, expression, viewport)
}

fn read_from(
    start: Start,
    net: fn() -> Box<dyn Net>,
    html: &str,
    acts: &[Act],
    seeks: Seeks,
    expression: &str,
    viewport: Viewport,
) -> ReadOutcome {
    let (html, acts, expression) = (html.to_owned(), acts.to_vec(), expression.to_owned());
    let page = move || {
        let setting = Setting { viewport, ..Setting::default() };
        let mut window = Window::open_with(&start, &setting, net()).unwrap();
        window.load(&html, Reach::default());
        let told = read_page(&mut window, &acts, seeks, Reach::default());
        let gone = window.navigations().into_iter().map(|one| one.url).collect();
        let value = text_of(&mut window, &format!("String({expression})")).unwrap_or_default();
        ReadOutcome { told, value, gone }
    };
    std::thread::Builder::new().stack_size(limits::RENDER_STACK_BYTES).spawn(page).unwrap().join().unwrap()
}

fn read_page_of(html: &str, expression: &str) -> ReadOutcome {
    read_with(html, &[], Seeks::ALL, expression, Viewport::default())
}

/// A list of `pages` pages that shows ten links at a time.
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
fn a_list_is_read_to_its_end_however_often_more_is_to_be_loaded() {
    let html = "<div id=list></div><button id=more onclick='add()'>Load more</button><script>
        let n = 0; const add = () => { list.insertAdjacentHTML('beforeend', `<p><a href=/${n++}>x</a></p>`); if (n == 450) more.remove() }
        </script>";
    let read = read_page_of(html, "n");
    assert_eq!((read.value.as_str(), read.urls().len(), read.told.cut), ("450", 450, None));
}

#[test]
fn a_list_without_an_end_is_left_at_the_bound_of_links_and_that_is_told() {
    let html = "<div id=list></div><button class=load-more onclick='more()'>Show</button><script>
        let n = 0; const more = () => { list.innerHTML = Array.from({ length: 1000 }, () => `<a href=/${n++}></a>`).join('') }</script>";
    let read = read_page_of(html, "n");
    assert_eq!(read.urls().len(), limits::RENDER_LINKS_MAX);
    let acts = u32::try_from(limits::RENDER_LINKS_MAX / 1_000).unwrap();
    // Some of them are scrolls.
    assert!(read.told.cut.is_some_and(|cut| cut.bound == Bound::Links && (acts..acts + 5).contains(&cut.acts)));
}

#[test]
fn rows_that_change_for_ever_and_lead_nowhere_end_at_the_bound_of_acts() {
    let html =
        "<ul id=list></ul><button onclick='list.innerHTML = `<li>${n++}</li>`'>Next</button><script>let n = 0</script>";
    let read = read_page_of(html, "n");
    assert_eq!(read.told.cut.map(|cut| cut.bound), Some(Bound::Acts));
    assert!(read.value.parse::<u32>().is_ok_and(|acts| acts <= limits::RENDER_ACTS_MAX));
}

#[test]
fn rows_that_come_below_others_are_clicked_once_each_and_so_are_rows_that_are_named_by_numbers() {
    for open in ["const a = document.createElement('a'); a.href = '/t/' + id; a.click()", "location.hash = '#/t/' + id"]
    {
        let html = format!(
            "<div id=list></div><button id=more onclick=add()>Load more</button><script>let n = 0, clicks = 0;
            const add = () => {{ for (let i = 0; i < 10; i++) {{
                const row = document.createElement('p'), id = 9000 + n++; row.textContent = id; row.className = 'row';
                row.onclick = () => {{ clicks++; {open} }}; list.append(row) }} if (n == 60) more.remove() }};
            onhashchange = () => {{
                if (location.hash) {{ window.old = list.innerHTML && [...list.children]; list.innerHTML = `<a href=${{location.hash.slice(1)}}>x</a>` }}
                else list.replaceChildren(...old) }};
            add()</script>"
        );
        let read = read_page_of(&html, "clicks");
        let urls = read.urls().into_iter().map(str::to_owned).chain(read.gone.clone());
        let mut all: Vec<String> = urls.filter(|url| url.contains("/t/")).collect();
        all.sort();
        all.dedup();
        let wanted: Vec<String> = (9000..9060).map(|id| format!("http://site.test/t/{id}")).collect();
        assert_eq!((all, read.value.as_str()), (wanted, "60"), "{:?}", read.acts());
    }
}

/// A list of `6 * 10` rows without URLs, ten at a time, each row with this markup; `go(id)` is what a click on a `.go` does.
fn rows_of(row: &str, go: &str, controls: &str) -> String {
    format!(
        "<table><tbody id=list></tbody></table><span id=pos></span><nav id=nav></nav><script>
        let at = 1; const go = id => {{ {go} }};
        function show(page) {{
            at = Math.min(Math.max(page, 1), 6); pos.textContent = at + ' / 6';
            list.innerHTML = Array.from({{ length: 10 }}, (_, i) => at * 100 + i).map(id => `{row}`).join('');
            for (const one of list.querySelectorAll('.go')) one.onclick = () => go(one.dataset.id ?? one.textContent.match(/[0-9]+/)[0]);
            nav.innerHTML = `{controls}`
        }}
        show(1)</script>"
    )
}

/// Where the sixty rows lead.
fn sixty(prefix: &str) -> Vec<String> {
    let mut all: Vec<String> = (1..=6)
        .flat_map(|page| (0..10).map(move |row| (page, row)))
        .map(|(page, row)| format!("{prefix}{}", page * 100 + row))
        .collect();
    all.sort();
    all
}

#[test]
fn rows_are_clicked_before_the_page_is_turned_by_whatever_control() {
    let numbers: String = (1..=6).map(|n| format!("<button onclick=show({n})>{n}</button>")).collect();
    let arrows =
        "<a href=# onclick='show(at - 1); return false'>«</a> <a href=# onclick='show(at + 1); return false'>»</a>";
    for (row, controls) in [
        ("<tr class=go data-id=${id}><td>Image ${id}</td></tr>", "<button onclick='show(at + 1)'>Next page</button>"),
        ("<tr class='go row'><td>Image ${id}</td></tr>", &*numbers),
        ("<tr><td>${id}</td><td><a class=go data-id=${id} href='#'>get</a></td></tr>", arrows),
        ("<tr><td>${id}</td><td><a class=go data-id=${id} href='javascript:void(0)'>get</a></td></tr>", arrows),
        ("<tr><td>Debian edition ${id}<td><button class=go data-id=${id}>Download</button></td></tr>", arrows),
    ] {
        let read = read_page_of(&rows_of(row, "location.href = '/t/' + id", controls), "0");
        let mut gone = read.gone.clone();
        gone.sort();
        assert_eq!(gone, sixty("http://site.test/t/"), "{row}: {:?}", read.acts());
    }
}

#[test]
fn magnets_are_told_of_each_state_wherever_they_stand() {
    let row = "<tr><td>${id}</td><td><span data-m=magnet:?xt=urn:btih:${'a'.repeat(37)}${id}>M</span></td></tr>";
    let html =
        rows_of(row, "", "<a href=# id=prev onclick='show(at - 1)'>«</a> <a href=# onclick='show(at + 1)'>»</a>");
    let read = read_page_of(&html, "0");
    let mut found: Vec<_> = read.told.states.iter().flat_map(|state| state.found.clone()).collect();
    found.sort();
    assert_eq!(found, sixty(&format!("magnet:?xt=urn:btih:{}", "a".repeat(37))));
}

#[test]
fn views_that_a_fragment_names_are_each_visited_once() {
    for back in ["<a href='#/'>back</a>", ""] {
        let html = format!(
            "<nav><a href='#/about'>About</a></nav><div id=app></div><script>let views = [];
            function show() {{
                const detail = location.hash.match(/^#\\/t\\/([0-9]+)$/); views.push(location.hash);
                if (detail) app.innerHTML = `{back}<a href=/dl/${{detail[1]}}>get</a>`;
                else app.innerHTML = Array.from({{ length: 30 }}, (_, i) => `<p><a href='#/t/${{i}}'>Title ${{i}}</a></p>`).join('')
            }}
            onhashchange = show; show()</script>"
        );
        let read = read_page_of(&html, "views.filter(view => /[0-9]/.test(view)).length");
        assert_eq!(read.urls().iter().filter(|url| url.contains("/dl/")).count(), 30, "{:?}", read.acts());
        assert_eq!(read.value, "30", "in no circles");
    }
}

#[test]
fn rows_whose_clicks_open_views_in_place_of_their_list_are_all_opened() {
    // By the fragment; by the history, over a list that starts at its first page again; by nothing but a way back.
    for (go, leave) in [
        (
            "location.hash = '#/t/' + id",
            "onhashchange = () => location.hash ? enter(location.hash.slice(4)) : show(at)",
        ),
        ("history.pushState(null, '', '/t/' + id); enter(id)", "onpopstate = () => show(1)"),
        ("enter(id)", "window.leave = () => show(at)"),
    ] {
        let html = rows_of(
            "<tr class=go data-id=${id}><td>Image ${id}</td></tr>",
            go,
            "<button onclick='show(at + 1)'>Next page</button>",
        )
        .replace(
            "show(1)</script>",
            &format!(
                "const enter = id => {{ list.innerHTML = `<tr><td><a href=/dl/${{id}}>get</a>`; nav.innerHTML = window.leave
                    ? '<button onclick=leave()>Back</button>' : '' }}; {leave}; show(1)</script>"
            ),
        );
        let read = read_page_of(&html, "0");
        let mut urls: Vec<_> = read.urls().into_iter().filter(|url| url.contains("/dl/")).map(str::to_owned).collect();
        urls.sort();
        assert_eq!(urls, sixty("http://site.test/dl/"), "{go}: {:?}", read.told.cut);
    }
}

#[test]
fn rows_that_nothing_leads_back_from_are_told() {
    let html = rows_of(
        "<tr class=go data-id=${id}><td>Image ${id}</td></tr>",
        "list.innerHTML = `<tr><td><a href=/dl/${id}>get</a>`",
        "",
    );
    let read = read_page_of(&html, "0");
    assert_eq!(read.urls().len(), 1);
    assert_eq!(read.told.cut.map(|cut| cut.bound), Some(Bound::NoWayBack));
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
    // Observers that are never re-armed see the end of the list in view all the time.
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
        read_with(html, &[], Seeks::NOTHING, "n", viewport).value.parse::<u32>().unwrap()
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
    assert_eq!(read_with(&html, &[], Seeks::NOTHING, "turns", Viewport::default()).value, "1");
    let click = || Act::Click("#next".to_owned());
    let acts = [click(), Act::Click("#none".to_owned()), click(), Act::Goto("#x".to_owned()), Act::Back];
    let read = read_with(&html, &acts, Seeks::NOTHING, "turns + location.hash", Viewport::default());
    assert_eq!((read.value.as_str(), read.urls().len()), ("3", 60), "each asked-for state is told whole");
    assert_eq!(read.told.undone, [Act::Click("#none".to_owned())]);
    assert_eq!(read.acts(), ["load", "click #next", "click #none", "click #next", "goto #x", "back"]);
}

#[test]
fn rows_whose_clicks_are_heard_further_up_are_clicked() {
    let to = "location.href = '/t/' + row.dataset.id";
    let by_index = "location.href = '/t/' + row.textContent.match(/[0-9]+/)[0]";
    for (rows, go) in [
        // By the list; by the document, for the row and for its cells; by a framework's marker.
        (
            "<tr><td>Image ${id}</td></tr>",
            format!("list.addEventListener('click', e => {{ const row = e.target.closest('tr'); {by_index} }})"),
        ),
        (
            "<tr data-id=${id}><td>Image ${id}</td></tr>",
            format!("document.addEventListener('click', e => {{ const row = e.target.closest('tr'); if (row) {to} }})"),
        ),
        (
            "<tr data-id=${id}><td>1</td><td class=title>Image ${id}</td></tr>",
            format!(
                "document.body.onclick = e => {{ const row = e.target.matches('.title') && e.target.closest('tr'); if (row) {to} }}"
            ),
        ),
        (
            "<tr><td>Image ${id}</td><td><i class=dl data-id=${id}></i></td></tr>",
            format!(
                "document.addEventListener('click', e => {{ const row = e.target.closest('.dl'); if (row) {to} }})"
            ),
        ),
        (
            "<tr class=mark><td>Image ${id}</td></tr>",
            "document.addEventListener('click', e => e.target.closest('tr')?.$$click?.())".to_owned(),
        ),
    ] {
        let html = rows_of(rows, "", "<button onclick='show(at + 1)'>Next page</button>").replace(
            "show(1)</script>",
            &format!(
                "{go}; const events = Symbol('events'), plain = show;
                show = page => {{ plain(page); for (const row of list.querySelectorAll('.mark')) row.$$click = () => {{ {by_index} }} }};
                show(1)</script>"
            ),
        );
        let read = read_page_of(&html, "0");
        let mut gone = read.gone.clone();
        gone.sort();
        assert_eq!(gone, sixty("http://site.test/t/"), "{rows}: {:?}", read.acts());
    }
}

#[test]
fn what_only_looks_like_rows_costs_few_clicks() {
    let kinds: String = (0..20)
        .flat_map(|kind| (0..5).map(move |row| format!("<div class=k{kind} data-n={row}>Something long {row}</div>")))
        .collect();
    let html = format!(
        "{kinds}<ul><li data-n=1>one<li data-n=2>two</ul><script>let clicks = 0; onload = () => document.addEventListener('click', () => clicks++)</script>"
    );
    assert_eq!(read_page_of(&html, "clicks").value, "8", "two of each of four kinds");
}

/// A list of twenty rows without links of their own; `open(id)` is what a click on one does.
fn rows_that_open(open: &str, beside: &str) -> String {
    format!(
        "<div id=list></div>{beside}<script>
        let cur = 0; const go = id => location.href = '/dl/' + id;
        const open = (id, row) => {{ {open} }};
        function show() {{
            list.innerHTML = Array.from({{ length: 20 }}, (_, id) => `<div class=row data-i=${{id}}>Title ${{id}}</div>`).join('');
            for (const row of list.querySelectorAll('.row')) row.onclick = () => open(row.dataset.i, row);
        }}
        show()</script>"
    )
}

#[test]
fn what_a_click_on_a_row_brings_is_pressed_for_each_row() {
    for (what, open, beside) in [
        (
            "a view with a button",
            "list.innerHTML = '<button id=b>Download</button><a href=# id=back>Back</a>'; b.onclick = () => go(id); back.onclick = show",
            "",
        ),
        (
            "a panel beside the list",
            "panel.innerHTML = `<h2>${id}</h2><button>Download</button>`; panel.lastChild.onclick = () => go(id)",
            "<div id=panel></div>",
        ),
        (
            "a button of the panel that names its row",
            "panel.innerHTML = `<button class=dl>Download Title ${id} of the long list of all that there is here</button>`; panel.lastChild.onclick = () => go(id)",
            "<div id=panel></div>",
        ),
        (
            "a button that was there before",
            "cur = id; row.className = 'row chosen'",
            "<button onclick='if (cur) go(cur)'>Download .torrent</button>",
        ),
        (
            "a menu",
            "menu.hidden = false; menu.innerHTML = '<button>Download</button><button>Report</button>'; menu.firstChild.onclick = () => { menu.hidden = true; go(id) }",
            "<div id=menu hidden></div>",
        ),
    ] {
        let read = read_page_of(&rows_that_open(open, beside), "0");
        let downloads = read.gone.iter().filter(|url| url.contains("/dl/")).count();
        // Nothing is chosen if the button is clicked first.
        assert!(downloads >= 19, "{what}: {downloads} {:?}", read.acts());
    }
}

#[test]
fn an_address_of_its_own_that_a_row_leads_to_is_a_link() {
    let read = read_page_of(
        &rows_that_open(
            "history.pushState(null, '', '/t/' + id); list.innerHTML = '<p>wait'",
            "<script>onpopstate = () => show()</script>",
        ),
        "0",
    );
    assert_eq!(read.gone.iter().filter(|url| url.contains("/t/")).count(), 20, "{:?}", read.gone);
}

#[test]
fn rows_that_open_below_themselves_are_opened_once_each() {
    let read = read_page_of(
        "<ul id=list></ul><script>list.innerHTML = Array.from({ length: 90 }, (_, id) => `<li data-i=${id}><b>Title ${id}</b><div></div></li>`).join('');
        let closed = 0; for (const row of list.children) row.onclick = () => { const box = row.lastChild;
            if (box.innerHTML) { box.innerHTML = ''; closed++ } else box.innerHTML = `<a href=/dl/${row.dataset.i}>get</a>` }</script>",
        "closed",
    );
    assert_eq!((read.urls().len(), read.value.as_str()), (90, "0"), "{:?}", read.acts());
}

#[test]
fn controls_that_do_harm_are_known_by_each_of_their_labels_their_names_and_their_places() {
    let html = "<button class=btn-delete><i class=icon></i></button><a href=# aria-label=Report title='Report this torrent to the moderators as fake'>!</a>
        <button>Upvote</button><button>Thanks</button><button>12 likes</button><button>Log-out</button><button>Flag as fake</button>
        <button>Clear all</button><button>Mark all as read</button><button>👍</button>
        <div style='display:none'><button>OK</button></div><dialog><button>Yes</button></dialog><div hidden><button>Sure</button></div>
        <form onsubmit='clicks.push(1); return false'><button>Go</button></form><table><tr><td><span role=button>×</span></td></tr></table>
        <script>let clicks = []; addEventListener('click', event => clicks.push(event.target.outerHTML), true)</script>";
    assert_eq!(read_page_of(html, "clicks.join()").value, "");
}

#[test]
fn where_acts_in_vain_are_used_up_that_is_told() {
    let kinds: String = (0..60).map(|n| format!("<button class=k{n} onclick='0'>Kind {n}</button>")).collect();
    let read = read_page_of(
        &format!("{kinds}<button onclick='document.body.innerHTML = `<a href=/t/1>x`'>Last</button>"),
        "0",
    );
    assert_eq!((read.urls().len(), read.told.cut.map(|cut| cut.bound)), (0, Some(Bound::Tries)));
}
