//! Retries: unanswered requests, by the page's own button or by the act that made them; and boxes.

use super::*;
use crate::wire::{Answer, Request, RequestId, Response};

/// A server that answers `/api/…/N` with ten numbers. One URL in three has status 500 on the first request; those with `down` in them
/// always do, and those with `busy` have 503.
#[derive(Default)]
struct Faulty {
    waiting: Vec<(RequestId, String)>,
    asked: std::collections::HashSet<String>,
}

impl Net for Faulty {
    fn start(&mut self, id: RequestId, request: Request) {
        self.waiting.push((id, request.url));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, url) = self.waiting.remove(0);
        let page: u32 = url.rsplit('/').next().and_then(|page| page.parse().ok()).unwrap_or_default();
        let is_first = self.asked.insert(url.clone()) && page % 3 == 2;
        let rows: Vec<String> = (page * 10..page * 10 + 10).map(|n| n.to_string()).collect();
        let status = match url.contains("busy") {
            true => 503,
            false if is_first || url.contains("down") => 500,
            false => 200,
        };
        let body = if status == 200 { format!("[{}]", rows.join(",")) } else { "[]".to_owned() };
        let answer =
            Response { url, status, status_text: "OK".to_owned(), body: body.into_bytes(), ..Response::default() };
        (id, Ok(answer))
    }
}

pub(super) fn read_faulty(html: &str, expression: &str) -> ReadOutcome {
    let net = || Box::new(Faulty::default()) as Box<dyn Net>;
    read_on(net, html, &[], Seeks::ALL, expression, Viewport::default())
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

#[test]
fn rows_that_a_server_fails_are_asked_once_more_and_busy_servers_not_at_all() {
    for (down, wanted) in [("down", "18"), ("busy", "12")] {
        let html = format!(
            "<div id=list></div><script>let asked = 0;
            '0a9f 1b8e 2c7d 3d6c 4e5b 5f4a 6a3f 7b2e 8c1d 9d0c ae9f bf8e'.split(' ').forEach((id, n) => {{ const row = document.createElement('div'); row.className = 'row'; row.textContent = 'Title ' + id; list.append(row);
                row.onclick = async () => {{ asked++; const answer = await fetch('/api/one/' + id + (n % 2 ? '' : '?{down}')); if (answer.ok) row.insertAdjacentHTML('beforeend', `<a href=/t/${{id}}>get</a>`) }} }})</script>"
        );
        let read = read_faulty(&html, "asked");
        let told = read.told.cut.as_ref().map(|cut| cut.bound);
        assert_eq!((read.urls().len(), &*read.value, told), (6, wanted, Some(Bound::Unanswered)), "{down}");
    }
}

#[test]
fn only_a_button_that_came_with_a_fault_is_there_to_try_again() {
    // Each of these is there from the beginning and has nothing to do with an error.
    let html = "<a href=/t/1>x</a><button id=stats>Show statistics</button><button id=a>Reload trackers</button><button id=b>Повторить заказ</button><script>let pressed = 0, failed = 0;
        stats.onclick = async () => { if (!(await fetch('/stats/down')).ok) failed++ }; a.onclick = b.onclick = () => pressed++</script>";
    let read = read_faulty(html, "failed + ' ' + (pressed <= 2)");
    assert_eq!(read.value, "2 true", "as any button is, at most");
    let titles = "<div id=app></div><script>fetch('/stats/down');
        const titles = ['Alien 1979', 'Brazil 1985', 'The Matrix Reloaded', 'Casablanca 1942', 'Reload', 'Retry', 'Heat 1995'];
        const list = () => { app.innerHTML = ''; titles.forEach((title, n) => { const row = document.createElement('div'); row.className = 'row'; row.textContent = title; app.append(row);
            row.onclick = () => { app.innerHTML = `<h2>x</h2><a href=/t/${n}>torrent</a><button>Back</button>`; app.querySelector('button').onclick = list } }) }; list()</script>";
    assert_eq!(read_faulty(titles, "0").urls().len(), 7);
}

#[test]
fn boxes_of_lists_that_are_drawn_anew_with_what_is_chosen_are_ticked_to_the_last() {
    for (count, class, heard) in
        [(5, "selected", false), (15, "selected", false), (50, "selected", false), (5, "selected", true)]
    {
        let html = format!(
            "<button id=get disabled>Get magnets</button><table><tbody id=list></tbody></table><div id=out></div><script>const chosen = new Set();
            const draw = () => {{ list.innerHTML = Array.from({{ length: {count} }}, (_, n) => `<tr class='${{chosen.has(n) ? '{class}' : ''}}'><td><input type=checkbox data-i=${{n}} ${{chosen.has(n) ? 'checked' : ''}}></td><td>Title ${{n}}</td></tr>`).join('');
                get.disabled = !chosen.size }};
            if ({heard}) list.addEventListener('click', () => 0); list.addEventListener('change', event => {{ const n = +event.target.dataset.i; event.target.checked ? chosen.add(n) : chosen.delete(n); draw() }});
            get.onclick = () => out.innerHTML = [...chosen].map(n => `<a href=/t/${{n}}>x</a>`).join(''); draw()</script>"
        );
        let read = read_page_of(&html, "0");
        assert_eq!((read.urls().len(), read.told.cut.as_ref()), (count, None), "{:?}", read.acts());
    }
}

#[test]
fn a_server_that_was_busy_for_a_moment_is_asked_again_when_all_else_is_done() {
    let html = "<button class=tab id=a>New</button><button class=tab id=b>Old</button><ul id=list></ul><button id=more>Load more</button><script>let of = 'a', failed = 0; const at = { a: 0, b: 0 };
        const load = async () => { const busy = of == 'a' && at.a == 2 && failed++ < 1 ? '?busy' : '', answer = await fetch(`/api/${of}/` + at[of] * 3 + busy);
            if (!answer.ok) { more.textContent = 'Failed — retry'; return }
            for (const n of await answer.json()) list.insertAdjacentHTML('beforeend', `<li><a href=/t/${of}${n}>x</a>`);
            at[of]++; more.textContent = 'Load more'; more.hidden = at[of] == 5 };
        a.onclick = () => { of = 'a'; more.hidden = at.a == 5; more.textContent = failed && at.a == 2 ? 'Failed — retry' : 'Load more' };
        b.onclick = () => { of = 'b'; more.textContent = 'Load more'; more.hidden = at.b == 5; if (!at.b) load() }; more.onclick = load; load()</script>";
    let read = read_faulty(html, "at.a + ' ' + at.b");
    assert_eq!((read.urls().len(), read.value.as_str()), (100, "5 5"));
}
