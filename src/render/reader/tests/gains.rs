//! What counts as a gain for the reader, and what keeps it from the page.

use std::collections::HashSet;

use super::*;
use crate::wire::{Answer, Request, RequestId, Response};

/// A site that answers `/get/…` with torrents, and anything else with an empty list.
#[derive(Default)]
struct Torrents(Vec<(RequestId, String)>);

impl Net for Torrents {
    fn start(&mut self, id: RequestId, request: Request) {
        self.0.push((id, request.url));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, url) = self.0.remove(0);
        let body = if url.contains("/get/") { &b"d8:announce14:http://t.test/4:infod4:name1:aee"[..] } else { b"[]" };
        let status_text = "OK".to_owned();
        (
            id,
            Ok(Response {
                url,
                redirected: false,
                status: 200,
                status_text,
                headers: Vec::new(),
                ongoing: false,
                body: body.to_vec(),
            }),
        )
    }
}

#[test]
fn buttons_that_fetch_torrents_to_save_them_are_pressed_to_the_end_of_their_list() {
    let list = |path: &str| {
        format!(
            "<table><tbody id=list></tbody></table><script>let clicks = 0;
            list.innerHTML = Array.from({{ length: 120 }}, (_, id) => `<tr><td>Title ${{id}}</td><td><button class=dl data-id=${{id}}>Download</button></td></tr>`).join('');
            for (const one of document.querySelectorAll('.dl')) one.onclick = async () => {{ clicks++;
                const blob = await (await fetch('{path}' + one.dataset.id)).blob(), a = document.createElement('a');
                a.href = URL.createObjectURL(blob); a.download = 'x.torrent'; a.click() }}</script>"
        )
    };
    let clicks = |path: &str| {
        let net = || Box::new(Torrents::default()) as Box<dyn Net>;
        read_on(net, &list(path), &[], Seeks::ALL, "clicks", Viewport::default()).value
    };
    assert_eq!(clicks("/get/"), "120");
    assert!(clicks("/stats/").parse::<u32>().unwrap() < 40, "what is fetched is no torrent");
}

#[test]
fn a_page_that_asks_for_leave_to_show_itself_gets_it_before_anything_else() {
    let page = |gate: &str| {
        format!(
            "<div id=gate>{gate}</div><div id=list style='display:none'></div><button id=more onclick='add()'>Load more</button><script>
            let said = [], n = 0; const say = what => {{ said.push(what); if (what == 'in') {{ gate.remove(); list.style.display = 'block'; add() }} }};
            const add = () => {{ if (said.includes('in') && n < 50) for (let k = 0; k < 10; k++) list.insertAdjacentHTML('beforeend', `<a href=/t/${{n++}}>x</a>`) }}
            </script>"
        )
    };
    for enter in [
        "Yes, enter",
        "I am over 18",
        "I confirm that I am over 18",
        "I agree",
        "Enter site",
        "18 歳以上 入る",
        "Accept all cookies",
    ] {
        let gate = format!(
            "<a href=# onclick=say('out')>Leave</a><button onclick=say('out')>I am under 18</button><button onclick=say('in')>{enter}</button>"
        );
        let read = read_page_of(&page(&gate), "said.join()");
        let shown = read.urls().into_iter().filter(|url| url.contains("/t/")).count();
        assert_eq!((shown, read.value.as_str()), (50, "in"), "{enter}: {:?}", read.acts());
    }
    let harm = "<button onclick=say('in')>Confirm order</button><button onclick=say('in')>Proceed to checkout</button>
        <form method=post><button onclick=say('in')>I agree</button></form>";
    assert_eq!(read_page_of(&page(harm), "said.join()").value, "", "nobody who only looks says that");
}

#[test]
fn rows_that_are_called_like_gates_are_rows() {
    let html = "<ul id=list></ul><div id=panel></div><script>
        for (const title of ['Enter the Dragon', 'Accept 2018', 'Big Buck Bunny', 'Sintel', 'Proceed', 'Night', 'Agree', 'Tears']) {
            const row = document.createElement('li'); row.textContent = title; list.append(row);
            row.onclick = () => { panel.innerHTML += `<a href='/d/${title}.torrent'>get</a>` } }</script>";
    let read = read_page_of(html, "0");
    assert_eq!(read.urls().len(), 8, "{:?}", read.acts());
    let harm = "<button onclick=n++>Confirm payment of 1800 coins</button><button onclick=n++>Confirm deletion of 18 files</button>
        <button onclick=n++>I accept the deletion</button><button onclick=n++>Proceed with payment</button><script>let n = 0</script>";
    assert_eq!(read_page_of(harm, "n").value, "0");
}

#[test]
fn a_calendar_is_read_backwards_though_its_next_month_is_empty() {
    let html = "<button onclick=show(--at)>‹ Previous month</button><b id=t></b><button onclick=show(++at)>Next month ›</button><div id=list></div>
        <script>let at = 100; const show = month => { t.textContent = month; const k = 100 - month;
            list.innerHTML = k < 0 || k > 5 ? 'Nothing' : Array.from({ length: 10 }, (_, i) => `<a href=/t/${k * 10 + i}>x</a>`).join('') };
        show(at)</script>";
    let read = read_page_of(html, "at");
    assert_eq!(read.urls().len(), 60, "{:?}", read.acts());
}

#[test]
fn rows_whose_view_has_the_button_cost_no_tries() {
    let html = "<table><tbody id=list></tbody></table><div id=view></div><script>
        const rows = () => { view.innerHTML = ''; list.innerHTML = Array.from({ length: 90 }, (_, id) => `<tr data-i=${id}><td>Title ${id}</td></tr>`).join('');
            for (const row of list.children) row.onclick = () => { history.pushState(null, '', '/item/'); list.innerHTML = '';
                view.innerHTML = `<h1>Title</h1><button>Download</button>`; view.lastChild.onclick = () => location.href = '/dl/' + row.dataset.i } };
        onpopstate = rows; rows()</script>";
    let read = read_page_of(html, "0");
    let downloads = read.gone.iter().filter(|url| url.contains("/dl/")).count();
    assert_eq!((downloads, read.told.cut.as_ref()), (90, None), "{:?}", read.acts());
}

#[test]
fn a_page_that_is_loaded_anew_has_nothing_new() {
    let kinds: String =
        (0..12).map(|n| format!("<button class=k onclick='n++; location.reload()'>Refresh {n}</button>")).collect();
    let read = read_page_of(&format!("<script>let n = 0</script>{kinds}"), "n");
    assert_eq!((read.value.as_str(), read.gone.len()), ("2", 1), "its kind is given up");
}

#[test]
fn rows_whose_links_come_with_the_mouse_are_hovered() {
    let list = |react: &str| {
        format!(
            "<div id=list></div><script>list.innerHTML = Array.from({{ length: 60 }}, (_, id) => `<div class=r data-i=${{id}}>Title ${{id}}</div>`).join('');
            for (const row of list.children) {{ {react} }}</script>"
        )
    };
    let link = "row.innerHTML = `<a href=/t/${row.dataset.i}>x</a>`";
    for react in [
        format!("row.onmouseenter = () => {link}"),
        format!("row.addEventListener('mouseover', () => {link})"),
        format!("row.addEventListener('pointerenter', () => {link})"),
    ] {
        let read = read_page_of(&list(&react), "0");
        assert_eq!(read.urls().len(), 60, "{react}: {:?}", read.acts());
    }
    let lit = "row.onmouseover = () => { n++; row.style.color = 'red' }";
    let read = read_page_of(&format!("<script>let n = 0</script>{}", list(lit)), "n");
    assert!(read.value.parse::<u32>().unwrap() < 5, "rows that only light up are left alone: {}", read.value);
}

#[test]
fn closed_shadow_trees_are_read_as_a_person_sees_them() {
    let html = "<l-l></l-l><script>customElements.define('l-l', class extends HTMLElement { connectedCallback() {
        const root = this.attachShadow({ mode: 'closed' }); let page = 0;
        const show = () => { page++; root.innerHTML = Array.from({ length: 10 }, (_, k) => `<a href=/t/${page * 10 + k}>x</a>`).join('')
            + (page < 5 ? '<button>Next</button>' : ''); const next = root.querySelector('button'); if (next) next.onclick = show };
        show() } })</script>";
    assert_eq!(read_page_of(html, "0").urls().len(), 50);
}

#[test]
fn a_rows_button_that_says_what_it_has_done_is_not_pressed_again() {
    let html = "<div id=list></div><script>let clicks = 0;
        list.innerHTML = Array.from({ length: 60 }, (_, id) => `<div class=r>Title ${id} <button data-h=${String(id).padStart(40, '0')}>Copy magnet</button></div>`).join('');
        for (const one of document.querySelectorAll('button')) one.onclick = async () => { clicks++;
            await navigator.clipboard.writeText('magnet:?xt=urn:btih:' + one.dataset.h); one.textContent = 'Copied!' }</script>";
    let read = read_page_of(html, "clicks");
    let found: usize = read.told.states.iter().map(|state| state.found.len()).sum();
    assert_eq!((found, read.value.as_str(), read.told.cut), (60, "60", None));
}

#[test]
fn magnets_that_scripts_put_into_fields_are_read() {
    let all = "const all = from => Array.from({ length: 20 }, (_, at) => 'magnet:?xt=urn:btih:' + String(from + at).padStart(40, '0'))";
    for (page, wanted) in [
        // On load; in a field for each row, over three pages; in one that is shown when a button is clicked.
        (format!("<textarea id=o></textarea><script>{all}; o.value = all(0).join('\\n')</script>"), 20),
        (
            format!(
                "<ul id=u></ul><button id=n>Next</button><script>{all}; let page = 0; const show = () => {{
                u.innerHTML = all(0).map((_, at) => `<li>Title ${{page}} ${{at}} <input class=mg readonly></li>`).join('');
                document.querySelectorAll('.mg').forEach((field, at) => field.value = all(20 * page)[at]); n.disabled = page >= 2 }};
                n.onclick = () => {{ page++; show() }}; show()</script>"
            ),
            60,
        ),
        (
            format!(
                "<button id=b>Show all magnets</button><textarea id=o></textarea><script>{all};
                b.onclick = () => {{ o.value = all(0).join(' ') }}</script>"
            ),
            20,
        ),
    ] {
        let read = read_page_of(&page, "0");
        let mut found: Vec<_> = read.told.states.iter().flat_map(|state| state.found.clone()).collect();
        found.sort();
        let numbers: Vec<String> = (0..wanted).map(|n| format!("magnet:?xt=urn:btih:{n:040}")).collect();
        assert_eq!(found, numbers, "{page}: {:?}", read.acts());
    }
}

#[test]
fn titles_with_the_words_of_controls_are_rows_of_their_list() {
    let titles = [
        "Leave No Trace 2018",
        "Exit 2020",
        "I Am Not Okay",
        "I Swear 2025",
        "Declare War",
        "Center Dragon",
        "Back to the Future",
        "Close Encounters",
        "Enter the Dragon",
        "Notes of the Night Post 2017",
        "Tears of Steel",
        "Big Buck Bunny",
        "Sintel",
        "Night of the Hunter",
    ];
    let rows: String = titles.iter().map(|title| format!("<div class=row>{title}</div>")).collect();
    let html = format!(
        "<div id=list>{rows}</div><div id=panel></div><script>for (const row of document.querySelectorAll('.row'))
            row.onclick = () => panel.innerHTML += `<a href='/d/${{row.textContent}}.torrent'>get</a>`</script>"
    );
    let read = read_page_of(&html, "0");
    assert_eq!(read.urls().len(), titles.len(), "{:?}", read.acts());
}

#[test]
fn what_a_button_says_counts_for_harm_to_its_end_and_ages_are_whole_numbers() {
    let pressed = |buttons: &str| read_page_of(&format!("<script>let n = 0</script>{buttons}"), "n").value;
    for harm in [
        "<button onclick=n++>I confirm that I am an adult and I want to delete my account now</button>",
        "<button value=2104 onclick=n++>Confirm</button>",
        "<button title='over 18' onclick=n++>Confirm</button>",
        "<button onclick=n++>Confirm 1800 coins</button>",
        "<button onclick=n++>Enter raffle for 5 credits</button>",
        "<ul><li onclick=n++>Home</li><li onclick=n++>Log out</li></ul>",
    ] {
        let wanted = if harm.contains("Home") { "1" } else { "0" };
        assert_eq!(pressed(harm), wanted, "{harm}");
    }
    let titles: String = ["One", "Two", "Three", "Four", "Five", "The Order of the Phoenix"]
        .map(|title| {
            format!("<button class=row onclick='n++; document.body.insertAdjacentHTML(`beforeend`, `<a href=/t/${{n}}>x</a>`)'>{title}, a long title of the year 2007, all parts</button>")
        })
        .concat();
    assert_eq!(pressed(&titles), "5", "buttons are no titles");
}

#[test]
fn signs_turn_a_list_where_both_stand_beside_each_other() {
    for (back, next) in [("&lt;", "&gt;"), ("◀", "▶")] {
        let html = format!(
            "<table><tbody id=list></tbody></table><div><button id=f>|&lt;</button><button id=p>{back}</button><button id=n>{next}</button><button id=l>&gt;|</button></div><script>let at = 0;
            const show = page => {{ at = Math.min(Math.max(page, 0), 5); list.innerHTML = Array.from({{ length: 15 }}, (_, k) => `<tr><td>Title ${{at}}-${{k}}<td><a href=/t/${{at}}-${{k}}>x</a>`).join('') }};
            f.onclick = () => show(0); p.onclick = () => show(at - 1); n.onclick = () => show(at + 1); l.onclick = () => show(5); show(0)</script>"
        );
        let read = read_page_of(&html, "0");
        assert_eq!((read.urls().len(), read.told.cut.as_ref()), (90, None), "{next}: {:?}", read.acts());
    }
}

#[test]
fn what_saves_a_torrents_file_is_no_harm() {
    let html = "<button class=a onclick=n++>Save .torrent</button><button class=b onclick=n++>Save torrent file</button><button class=c onclick=n+=10>Save</button><button class=d onclick=n+=10>Save torrent file to favourites, delete it</button><button class=e onclick=n+=10>Report .torrent</button><script>let n = 0</script>";
    assert_eq!(read_page_of(html, "n").value, "2");
}

#[test]
fn acts_that_bring_links_are_given_instructions_for_the_next_ones() {
    // A dialog of a large library: 40 rows, each of which takes a twentieth of what the page may use in all.
    let list = |brings: &str| {
        format!(
            "<table><tbody id=list></tbody></table><div id=dialog></div><script>let opened = 0;
            list.innerHTML = Array.from({{ length: 40 }}, (_, id) => `<tr><td>Title ${{id}}</td><td><button data-id=${{id}}>Details</button></td></tr>`).join('');
            for (const one of document.querySelectorAll('button')) one.onclick = () => {{ opened++;
                for (let at = 0; at < 20000; at++) one.last = at;
                dialog.innerHTML = {brings} }}</script>"
        )
    };
    let read = |brings: &str| {
        let mut start = Start::at(Url::parse("http://site.test/list").unwrap());
        start.instructions = 4_000_000;
        let net = || Box::new(NoNet::new()) as Box<dyn Net>;
        read_from(start, net, &list(brings), &[], Seeks::ALL, "opened", Viewport::default())
    };
    let whole = read("'<a href=/get/' + one.dataset.id + '>Download</a>'");
    let links: HashSet<&str> = whole.urls().into_iter().collect();
    assert_eq!(links.len(), 40, "{:?}", whole.told.cut);
    let vain = read("'<p>Nothing ' + one.dataset.id + '</p>'");
    assert!(vain.value.parse::<u32>().unwrap_or(0) < 40, "what brings nothing is given nothing: {}", vain.value);
}
