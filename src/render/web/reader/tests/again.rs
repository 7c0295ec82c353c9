//! What is done again: requests that a server has not answered, by the page's own button or by the act that they were for; and boxes.

use super::*;
use crate::render::engine::net::{Answer, Request, RequestId, Response};

/// A server that answers `/api/…/N` with ten numbers, but not each time: one request in three has the status 503, the addresses with `down` in
/// them have it always.
#[derive(Default)]
struct Faulty {
    waiting: Vec<(RequestId, String)>,
    asked: u32,
}

impl Net for Faulty {
    fn start(&mut self, id: RequestId, request: Request) {
        self.waiting.push((id, request.url));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, url) = self.waiting.remove(0);
        self.asked += 1;
        let is_well = self.asked % 3 != 2 && !url.contains("down");
        let page: u32 = url.rsplit('/').next().and_then(|page| page.parse().ok()).unwrap_or_default();
        let rows: Vec<String> = (page * 10..page * 10 + 10).map(|n| n.to_string()).collect();
        let (status, body) = if is_well { (200, format!("[{}]", rows.join(","))) } else { (503, "[]".to_owned()) };
        let answer =
            Response { url, status, status_text: "OK".to_owned(), body: body.into_bytes(), ..Response::default() };
        (id, Ok(answer))
    }
}

fn read_faulty(html: &str, expression: &str) -> Read {
    let net = || Box::new(Faulty::default()) as Box<dyn Net>;
    read_on(net, html, &[], limits::RENDER_TRIES, expression, Viewport::default())
}

#[test]
fn a_pages_own_button_to_try_again_is_pressed_in_whatever_language() {
    for words in ["Failed — retry", "Try again", "Ошибка. Повторить", "重试", "Erneut versuchen", "Tentar novamente"]
    {
        let html = format!(
            "<ul id=list></ul><button id=more>Load more</button><script>let page = 0;
            const load = async () => {{ try {{ const answer = await fetch('/api/new/' + page); if (!answer.ok) throw 0;
                for (const n of await answer.json()) list.insertAdjacentHTML('beforeend', `<li><a href=/t/${{n}}>x</a>`);
                more.textContent = 'Load more'; if (++page == 9) more.remove() }} catch {{ more.textContent = '{words}' }} }};
            more.onclick = load; load()</script>"
        );
        let read = read_faulty(&html, "page");
        assert_eq!((read.urls().len(), read.value.as_str(), read.told.cut), (90, "9", None), "{words}");
    }
}

#[test]
fn rows_and_turns_that_a_fault_has_met_are_clicked_again() {
    let html = "<div id=list></div><div id=panel></div><button id=next>Next</button><script>let page = 0;
        const show = async () => { const answer = await fetch('/api/list/' + page); if (!answer.ok) return;
            list.innerHTML = ''; for (const n of await answer.json()) { const row = document.createElement('p'); row.className = 'row'; row.textContent = 'Title ' + n; list.append(row);
                row.onclick = async () => { const answer = await fetch('/api/one/' + n); if (answer.ok) panel.innerHTML = `<a href=/t/${n}>x</a>` } }
            page++; if (page == 4) next.remove() };
        next.onclick = show; (async () => { while (!page) await show() })()</script>";
    let read = read_faulty(html, "page");
    assert_eq!((read.urls().len(), read.value.as_str(), read.told.cut), (40, "4", None));
}

#[test]
fn what_stays_unanswered_is_told_and_is_asked_for_a_few_times_only() {
    let html = "<div id=list></div><button id=more>Load more</button><script>let page = 0, asked = 0;
        const load = async () => { asked++; const answer = await fetch(page < 3 ? '/api/list/' + page : '/api/list/' + page + '?down'); if (!answer.ok) { more.textContent = 'Retry'; return }
            for (const n of await answer.json()) list.insertAdjacentHTML('beforeend', `<a href=/t/${n}>x</a>`); page++; more.textContent = 'Load more' };
        more.onclick = load; load()</script>";
    let read = read_faulty(html, "asked");
    assert_eq!((read.urls().len(), read.told.cut.map(|cut| cut.bound)), (30, Some(Bound::Unanswered)));
    assert!(read.value.parse::<u32>().unwrap() < 20, "{}", read.value);
}

/// Sixty rows with boxes, twenty a page; `ticked` runs at each tick, and with `numbers`, those that are ticked.
fn boxes(ticked: &str, pressed: &str, drawn_anew: bool) -> String {
    format!(
        "<button id=get disabled>Get magnets</button><ul id=list></ul><div id=out></div><button id=next>Next</button><script>
        let page = 0, chosen = new Set();
        const give = () => out.innerHTML = [...chosen].map(n => `<a href=/t/${{n}}>x</a>`).join('');
        const draw = () => {{ list.innerHTML = '';
            for (let n = page * 20; n < page * 20 + 20; n++) {{ const row = document.createElement('li');
                row.innerHTML = `<label><input type=checkbox class=pick ${{chosen.has(n) ? 'checked' : ''}}> Title ${{n}}</label>`;
                row.querySelector('input').onchange = event => {{ event.target.checked ? chosen.add(n) : chosen.delete(n); get.disabled = !chosen.size; {ticked}; if ({drawn_anew}) draw() }};
                list.append(row) }} }};
        get.onclick = () => {{ {pressed} }}; next.onclick = () => {{ page++; chosen.clear(); get.disabled = true; draw(); if (page == 2) next.remove() }}; draw()</script>"
    )
}

#[test]
fn boxes_of_rows_are_ticked_before_the_button_that_gives_what_is_chosen() {
    for (ticked, pressed) in [("", "give()"), ("give()", "")] {
        for drawn_anew in [false, true] {
            let read = read_page_of(&boxes(ticked, pressed, drawn_anew), "0");
            assert_eq!(
                (read.urls().len(), read.told.cut.as_ref()),
                (60, None),
                "{ticked} {drawn_anew}: {:?}",
                read.acts()
            );
        }
    }
}

#[test]
fn boxes_of_forms_that_are_posted_of_consent_and_of_filters_are_left_as_they_are() {
    let rows = |class: &str| -> String {
        (0..5)
            .map(|n| format!("<li><label><input type=checkbox class='{class}' onchange=n++> Title {n}</label></li>"))
            .collect()
    };
    for html in [
        format!("<form method=post><ul>{}</ul><button>Get magnets</button></form>", rows("c")),
        format!("<div class=cookie-consent><ul>{}</ul><button type=button>Save</button></div>", rows("c")),
        format!("<ul>{}</ul>", rows("remember-me")),
    ] {
        let read = read_page_of(&format!("<script>let n = 0</script>{html}"), "n");
        assert_eq!(read.value, "0", "{html}");
    }
    let filters = "<ul><li><label><input type=checkbox class=c> Films</label><li><label><input type=checkbox class=c> Music</label><li><label><input type=checkbox class=c> Books</label></ul>
        <div id=list></div><button id=next>Next</button><script>let page = 1, ticks = 0;
        const show = () => list.innerHTML = document.querySelector(':checked') ? 'Nothing' : Array.from({ length: 10 }, (_, k) => `<a href=/t/${page}-${k}>x</a>`).join('');
        for (const one of document.querySelectorAll('.c')) one.onchange = () => { ticks++; show() };
        next.onclick = () => { page++; show(); if (page == 5) next.remove() }; show()</script>";
    let read = read_page_of(filters, "ticks + ' ' + document.querySelectorAll(':checked').length");
    assert_eq!((read.urls().len(), read.value.as_str()), (50, "2 0"), "{:?}", read.acts());
}
