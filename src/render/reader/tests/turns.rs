//! How lists are turned, and members' pages, where nothing else is clicked.

use super::*;

fn turned(html: &str, expression: &str) -> ReadOutcome {
    read_with(html, &[], Seeks::TURNS, expression, Viewport::default())
}

/// What a click on anything but a turn would have done.
const REST: &str = "<div class=rate><a href=#>1</a><a href=#>2</a><a href=#>3</a></div><button id=tab role=tab>Music</button><select><option>a<option>b</select>
    <button>Follow</button><div class=row>Title A</div><div class=row>Title B</div><div class=row>Title C</div><div class=row>Next 2007</div><div class=pageRating><a href=#>1</a><a href=#>2</a></div><nav class=tips><a href=#>25</a><a href=#>50</a></nav><button>Older</button><button class=lazy-loaded>Redeem</button><button>Claim daily bonus »</button><ul><li><span>One</span><button>More</button><li><span>Two</span><button>More</button><li><span>Three</span><button>More</button></ul><script>
    let done = 0; for (const of of document.querySelectorAll('.rate a, .pageRating a, .tips a, #tab, .row, li button, body > button')) of.addEventListener('click', () => done++);
    document.querySelector('select').onchange = () => done++</script>";

#[test]
fn members_pages_are_turned_and_nothing_else_of_them_is_clicked() {
    for (what, controls) in [
        ("next", "<button onclick='show(at + 1)'>Next</button>"),
        ("more", "<a href='#' onclick='show(at + 1)'>Load more</a>"),
        (
            "numbers",
            "<ul class=pagination><li><a href=# onclick='show(1)'>1</a><li><a href=# onclick='show(2)'>2</a><li><a href=# onclick='show(3)'>3</a></ul>",
        ),
        (
            "named",
            "<div aria-label='Pagination'><button onclick='show(1)'>1</button><button onclick='show(2)'>2</button><button onclick='show(3)'>3</button></div>",
        ),
    ] {
        let read = turned(&format!("{}{REST}", pages(3, controls)), "done");
        let urls = read.urls().iter().filter(|url| !url.contains('#')).count();
        assert_eq!((urls, &*read.value), (30, "0"), "{what}: {:?}", read.acts());
        // The tab, the select list and the rows stay as they are, and that is reported.
        assert_eq!(read.told.cut.map(|cut| cut.bound), Some(Bound::LeftAlone), "{what}");
    }
    // If the pages have URLs, they are links.
    let linked = pages(
        3,
        "<div class=pager><a href='?page=2'>2</a><a href='?page=3'>3</a><button onclick='show(at + 1)'>Next</button></div>",
    );
    assert_eq!(turned(&linked, "turns").value, "1");
    let read = read_page_of(&format!("{}{REST}", pages(3, "")), "done > 0");
    assert_eq!(read.value, "true", "a guest's reader clicks");
}

#[test]
fn members_pages_are_scrolled() {
    let grows = "<style>.r { height: 60px } #b { height: 500px; overflow-y: auto }</style><div id=b></div><script>let p = 0;
        const more = () => { if (p < 9) for (let k = 0; k < 20; k++) b.insertAdjacentHTML('beforeend', `<div class=r><a href=/t/${p * 20 + k}>x</a></div>`); p++ };
        b.onscroll = () => { if (b.scrollTop + b.clientHeight >= b.scrollHeight - 100) more() }; more()</script>";
    assert_eq!(turned(grows, "0").urls().len(), 180);
}

#[test]
fn a_members_list_that_is_turned_by_a_post_is_told() {
    let list =
        pages(3, "<button onclick=\"fetch('/livewire', { method: 'POST' }).then(() => show(at + 1))\">Next</button>");
    let read = turned(&list, "at");
    assert_eq!((&*read.value, read.told.cut.map(|cut| cut.bound)), ("1", Some(Bound::Unsent)));
    let form = "<form method=post action=/list><input name=page></form>".to_owned()
        + &pages(3, "<a href='javascript:document.forms[0].submit()'>Next</a>");
    assert_eq!(turned(&form, "at").told.cut.map(|cut| cut.bound), Some(Bound::Unsent));
    let endless = "<style>.r { height: 60px } #b { height: 500px; overflow-y: auto }</style><div id=b></div><script>
        for (let k = 0; k < 20; k++) b.insertAdjacentHTML('beforeend', `<div class=r><a href=/t/${k}>x</a></div>`);
        b.onscroll = () => fetch('/more', { method: 'POST' })</script>";
    assert_eq!(turned(endless, "0").told.cut.map(|cut| cut.bound), Some(Bound::Unsent));
    // A POST beside the list does not belong to it.
    let counted =
        pages(3, "<button onclick=\"fetch('/stat', { method: 'POST' }).catch(() => 0); show(at + 1)\">Next</button>");
    let read = turned(&counted, "at");
    assert_eq!((&*read.value, read.told.cut), ("3", None));
}

#[test]
fn a_pager_that_shows_the_pages_around_is_gone_through() {
    let html = "<ul id=l></ul><div id=p class=pagination></div><script>const P = 20;
        function go(at) { l.innerHTML = [2 * at - 1, 2 * at].map(i => `<li><a href=/t/${i}>Torrent ${i}</a></li>`).join('');
            const shown = [1, P, at - 1, at, at + 1].filter(i => i >= 1 && i <= P); p.innerHTML = ''; let last = 0;
            [...new Set(shown)].sort((a, b) => a - b).forEach(i => { if (i - last > 1) p.append('…');
                const b = document.createElement('button'); b.textContent = i; b.disabled = i === at; b.onclick = () => go(i); p.append(b); last = i }) } go(1)</script>";
    for seeks in [Seeks::ALL, Seeks::TURNS] {
        let read = read_with(html, &[], seeks, "0", Viewport::default());
        assert_eq!((read.urls().len(), &read.told.cut), (40, &None), "{:?}", read.acts());
    }
}

#[test]
fn what_is_called_otherwise_or_shows_an_empty_page_ends_no_list() {
    let more =
        "<button onclick=\"this.after('Size, age')\">More filters</button><button onclick='show(at + 1)'>Next</button>";
    // Two days on which nothing came, and a page of what was shown before.
    let gaps = "<script>const whole = show; show = page => { whole(page); if (at == 2 || at == 3) list.innerHTML = `nothing on day ${at}`; if (at == 5) list.innerHTML = '<li><a href=/1-0>again</a>' }</script>";
    for (what, controls, rest, expected) in
        [("more filters", more, "", 60), ("gaps", "<button onclick='show(at + 1)'>Next</button>", gaps, 30)]
    {
        for seeks in [Seeks::ALL, Seeks::TURNS] {
            let read = read_with(&(pages(6, controls) + rest), &[], seeks, "turns", Viewport::default());
            assert_eq!((read.urls().len(), &read.told.cut), (expected, &None), "{what}: {:?}", read.acts());
        }
    }
}

#[test]
fn a_button_that_has_brought_links_in_one_view_is_pressed_in_the_others() {
    let html = "<ul id=l></ul><div id=v></div><script>let presses = 0;
        l.innerHTML = Array.from({ length: 12 }, (_, n) => `<li><a href='#/t/${n}'>Torrent ${n}</a>`).join('');
        addEventListener('hashchange', () => { const n = location.hash.split('/')[2]; v.innerHTML = `<h2>Torrent ${n}</h2><button>Show files</button><p></p>`;
            v.querySelector('button').onclick = () => { presses++; v.querySelector('p').innerHTML = `<a href=/f/${n}.torrent>file</a>` } })</script>";
    let read = read_page_of(html, "presses");
    let files = read.urls().iter().filter(|url| url.contains("/f/")).count();
    assert_eq!((files, &*read.value, &read.told.cut), (12, "12", &None), "{:?}", read.acts());
}

#[test]
fn signs_among_the_numbers_of_a_pager_take_no_page_away() {
    let html = "<ul id=l></ul><div class=pager><div class='pager-item pager-item--button'><svg></svg></div><span id=n></span><div class='pager-item pager-item--button'><svg></svg></div></div><script>let at = 1;
        const go = page => { at = Math.min(Math.max(page, 1), 5); l.innerHTML = Array.from({ length: 8 }, (_, n) => `<li><a href=/t/${at}-${n}>x</a></li>`).join('');
            n.innerHTML = ''; for (let i = 1; i <= 5; i++) { const d = document.createElement('div'); d.className = 'pager-item' + (i == at ? ' pager-item--active' : ''); d.textContent = i; d.onclick = () => go(i); n.append(d) } };
        const [back, on] = document.querySelectorAll('.pager-item--button'); back.onclick = () => go(at - 1); on.onclick = () => go(at + 1); go(1)</script>";
    for seeks in [Seeks::ALL, Seeks::TURNS] {
        let read = read_with(html, &[], seeks, "0", Viewport::default());
        assert_eq!((read.urls().len(), &read.told.cut), (40, &None), "{:?}", read.acts());
    }
}
