//! Lists of all shapes: drawn only in view, in shadow trees, from their end, by choices, by the clipboard.

use super::*;

#[test]
fn lists_that_draw_what_is_in_view_are_read_whole() {
    let draw = |top: &str, height: &str| {
        format!(
            "const rows = 1500; function draw() {{ const from = Math.floor({top} / 32), n = Math.ceil({height} / 32) + 2;
            i.style.height = rows * 32 + 'px'; i.innerHTML = '';
            for (let k = from; k < Math.min(rows, from + n); k++) i.insertAdjacentHTML('beforeend',
                `<div style='position:absolute;height:32px;top:${{k * 32}}px'><a href=/t/${{k}}>${{k}}</a></div>`) }}"
        )
    };
    let of_window = format!(
        "<div id=i style='position:relative'></div><script>{} addEventListener('scroll', draw); draw()</script>",
        draw("scrollY", "innerHeight")
    );
    let of_box = format!(
        "<div id=v style='height:600px;overflow:auto'><div id=i style='position:relative'></div></div><script>{}
        v.addEventListener('scroll', draw); draw()</script>",
        draw("v.scrollTop", "v.clientHeight")
    );
    let grows = "<style>.r { height: 60px } #b { height: 500px; overflow-y: auto }</style><div id=b></div><script>let p = 0;
        const more = () => { if (p < 75) for (let k = 0; k < 20; k++) b.insertAdjacentHTML('beforeend', `<div class=r><a href=/t/${p * 20 + k}>x</a></div>`); p++ };
        b.onscroll = () => { if (b.scrollTop + b.clientHeight >= b.scrollHeight - 100) more() }; more()</script>";
    for (what, html) in [("window", &*of_window), ("box", &*of_box), ("box that grows", grows)] {
        let read = read_page_of(html, "0");
        assert_eq!(read.urls().len(), 1500, "{what}: {:?}", read.told.cut);
    }
}

#[test]
fn a_grid_that_says_of_more_rows_than_it_shows_is_told() {
    // One that ignores scrolling, one that is redrawn page by page, and one whose filter shows less.
    let grid = |rows: u32, draw: &str| {
        format!(
            "<div role=grid class=g aria-rowcount={rows}></div><button>Next</button><script>let page = 0;
            document.querySelector('.g').addEventListener('scroll', () => 0); const row = n => `<div role=row aria-rowindex=${{n + 2}}><a href=/t/${{n}}>Title ${{n}}</a></div>`, next = document.querySelector('button');
            const rows = (from, to) => Array.from({{ length: to - from }}, (_, k) => row(from + k)).join(''), grid = () => document.querySelector('.g');
            {draw}</script>"
        )
    };
    let deaf = grid(61, "next.remove(); grid().innerHTML = rows(0, 20)");
    let paged = grid(
        61,
        "const draw = () => { const g = grid().cloneNode(); g.addEventListener('scroll', () => 0); g.innerHTML = rows(page * 20, page * 20 + 20); grid().replaceWith(g); if (page == 2) next.remove() }; next.onclick = () => { page++; draw() }; draw()",
    );
    let filtered = grid(
        61,
        "grid().innerHTML = rows(0, 60); next.textContent = 'Music'; next.onclick = () => { grid().innerHTML = rows(0, 5); grid().setAttribute('aria-rowcount', 6) }",
    );
    let table = deaf.replace("addEventListener('scroll', () => 0)", "append()");
    let unknown =
        grid(0, "next.remove(); grid().innerHTML = rows(0, 20)").replace("aria-rowcount=0", "aria-rowcount=-1");
    for (what, html, bound) in [
        ("deaf", deaf, Some(Bound::Unseen)),
        ("paged", paged, None),
        ("filtered", filtered, None),
        ("unknown", unknown, None),
        ("table with pages elsewhere", table, None),
    ] {
        let read = read_page_of(&html, "page");
        assert_eq!(read.told.cut.as_ref().map(|cut| cut.bound), bound, "{what}: {:?}", read.acts());
    }
}

#[test]
fn lists_within_shadow_trees_are_turned_and_their_rows_clicked() {
    let html = "<l-l></l-l><script>customElements.define('l-l', class extends HTMLElement {
        connectedCallback() { this.root = this.attachShadow({ mode: 'open' }); this.show(1) }
        show(page) {
            this.root.innerHTML = Array.from({ length: 10 }, (_, k) => `<div class=row data-i=${page * 100 + k}>Title ${page * 100 + k}</div>`).join('')
                + (page < 6 ? '<button>Next</button>' : '');
            for (const row of this.root.querySelectorAll('.row')) row.onclick = () => location.href = '/t/' + row.dataset.i;
            const next = this.root.querySelector('button'); if (next) next.onclick = () => this.show(page + 1)
        } })</script>";
    let mut gone = read_page_of(html, "0").gone;
    gone.sort();
    assert_eq!(gone, sixty("http://site.test/t/"));
}

#[test]
fn lists_that_begin_at_their_end_and_lists_of_choices_are_read_whole() {
    let shown = |from: u32, controls: &str| {
        format!(
            "<ul id=list></ul><nav>{controls}</nav><script>let at = {from}, kind = 0; function show(page) {{
                at = Math.min(Math.max(page, 1), 6);
                list.innerHTML = Array.from({{ length: 10 }}, (_, i) => `<li><a href=/${{kind}}-${{at}}-${{i}}>x</a>`).join('') }} show(at)</script>"
        )
    };
    let turns = "<button onclick='show(at - 1)'>Previous</button><button onclick='show(at + 1)'>Next</button>";
    let choices: String =
        (0..4).map(|n| format!("<button class=chip onclick='kind = {n}; show(1)'>Kind {n}</button>")).collect();
    let options: String = (1..=6).map(|n| format!("<option value={n}>{n}")).collect();
    for (what, html, wanted) in [
        ("from its end", shown(6, turns), 60),
        ("from its middle", shown(3, turns), 60),
        ("by kinds", shown(1, &format!("{choices}<button onclick='show(at + 1)'>Next</button>")), 240),
        ("by a list of pages", shown(1, &format!("<select onchange='show(+this.value)'>{options}</select>")), 60),
        (
            "by a list of kinds",
            shown(
                1,
                &format!(
                    "<select id=cat><option value=0>A<option value=1>B<option value=2>C</select>{turns}
            <script>cat.addEventListener('change', () => {{ kind = cat.value; show(1) }})</script>"
                ),
            ),
            180,
        ),
        (
            "by a list of languages",
            shown(1, &format!("<select name=lang onchange='kind = 9; show(1)'>{options}</select>")),
            10,
        ),
    ] {
        let read = read_page_of(&html, "0");
        assert_eq!(read.urls().len(), wanted, "{what}: {:?}", read.acts());
    }
}

#[test]
fn a_turn_is_found_below_however_many_controls_and_whatever_else_it_says() {
    let list = |row: &str, more: &str| {
        format!("<ul id=l></ul>{more}<script>let n = 0; function more() {{ let s = '';
            for (let i = 0; i < 100 && n < 3000; i++, n++) s += `<li>{row}</li>`; l.insertAdjacentHTML('beforeend', s) }} more()</script>")
    };
    let link = "<a href=/t/${n}>Title ${n}</a>";
    let buttons =
        format!("{link} <button onclick=0 class=info>info</button><button onclick='this.dataset.x = 1'>open</button>");
    for (row, more) in [
        (&*buttons, "<button onclick=more()>Load more</button>"),
        (link, "<form method=post><button type=button onclick=more()>Load more</button></form>"),
        (
            link,
            "<button onclick=more() title='Show the next torrents of the latest uploads'>Load more torrents of this category</button>",
        ),
    ] {
        let read = read_page_of(&list(row, more), "n");
        assert_eq!(read.urls().len(), 3000, "{more}: {:?}", read.told.cut);
    }
}

#[test]
fn what_buttons_copy_is_found() {
    let magnet = |n: u32| format!("magnet:?xt=urn:btih:{n:040}");
    let rows: String = (1..=3)
        .map(|n| {
            format!(
                "<tr><td>row {n}<td><button onclick=\"navigator.clipboard.writeText('{}')\">Copy magnet</button>",
                magnet(n)
            )
        })
        .collect();
    let read = read_page_of(&format!("<table>{rows}</table>"), "0");
    let found: Vec<&str> = read.told.states.iter().flat_map(|state| &state.found).map(String::as_str).collect();
    let wanted: Vec<String> = (1..=3).map(magnet).collect();
    assert!(wanted.iter().all(|one| found.iter().any(|found| found == one)), "{found:?} by {:?}", read.acts());
}
