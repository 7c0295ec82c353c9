//! Rows that show their link in one place or in themselves, trees, and tabs: what changes beside a list, and what changes the list.

use super::*;

/// A list of `pages` pages of ten rows; `open(n, row, name)` is what a click on the name in a row does.
fn turned(pages: u32, row: &str, open: &str) -> String {
    format!(
        "<div id=list></div><div id=panel></div><div id=bar></div><script>let at = 0, closed = 0;
        const open = (n, row, name) => {{ {open} }};
        function show() {{
            list.innerHTML = Array.from({{ length: 10 }}, (_, k) => at * 10 + k).map(n => `{row}`).join('');
            for (const row of list.children) {{ const name = row.querySelector('.name') ?? row, n = name.textContent.match(/[0-9]+/)[0];
                name.onclick = () => open(n, row, name) }}
            bar.innerHTML = at + 1 < {pages} ? '<button>Next</button>' : '';
            if (bar.firstChild) bar.firstChild.onclick = () => {{ at++; show() }} }}
        show()</script>"
    )
}

const LINK: &str = "`<a href=/t/${n}>torrent</a>`";
const NAME: &str = "<div class=row><div class=name>Title ${n}</div></div>";

fn titles(read: &Read) -> usize {
    let links = read.urls().into_iter().map(str::to_owned).chain(read.gone.clone());
    links.filter(|url| url.contains("/t/")).collect::<std::collections::HashSet<_>>().len()
}

#[test]
fn rows_that_show_their_link_in_one_place_are_clicked_on_each_page_of_their_list() {
    let bare = "<p class=row>Title ${n}</p>";
    let one = format!(
        "document.querySelector('.child')?.remove(); row.insertAdjacentHTML('afterend', '<p class=child>' + {LINK})"
    );
    for (row, open) in [
        (bare, format!("panel.innerHTML = {LINK}")),
        ("<p class=row data-id=${n}>Title ${n}</p>", format!("panel.innerHTML = '<b>Title</b>' + {LINK}")),
        (bare, format!("setTimeout(() => panel.innerHTML = '<h2>Title ' + n + '</h2>' + {LINK}, 50)")),
        (bare, one),
    ] {
        let read = read_page_of(&turned(4, row, &open), "0");
        assert_eq!((titles(&read), read.told.cut.as_ref()), (40, None), "{open}: {:?}", read.acts());
    }
}

#[test]
fn rows_that_open_in_themselves_are_opened_once_on_each_page_of_their_list() {
    let toggle = |made: &str| {
        format!(
            "const old = row.querySelector('.more'); if (old) {{ old.remove(); closed++ }} else {{
            const more = document.createElement('div'); more.className = 'more'; row.append(more); {made} }}"
        )
    };
    let link = toggle(&format!("more.innerHTML = {LINK}"));
    let button = toggle(
        "more.innerHTML = '<button>Download</button>'; more.firstChild.onclick = () => location.href = '/t/' + n",
    );
    let marked = "<div class=row data-id=${n}><div class=name style='cursor:pointer'>Title ${n}</div></div>";
    for (row, open) in [(NAME, &link), (NAME, &button), (marked, &link), (marked, &button)] {
        for pages in [1, 4] {
            let read = read_page_of(&turned(pages, row, open), "closed");
            let wanted = usize::try_from(pages * 10).unwrap();
            assert_eq!(
                (titles(&read), read.value.as_str(), read.told.cut.as_ref()),
                (wanted, "0", None),
                "{row} {open}: {:?}",
                read.acts()
            );
        }
    }
}

#[test]
fn rows_of_which_one_is_open_at_a_time_are_all_opened() {
    let one = |made: &str| {
        format!(
            "const old = row.querySelector('.more'), others = document.querySelectorAll('.more');
            if (old) closed++; for (const other of others) other.remove(); if (old) return;
            const more = document.createElement('div'); more.className = 'more'; row.append(more); {made}"
        )
    };
    let link = one(&format!("more.innerHTML = {LINK}"));
    let button =
        one("more.innerHTML = '<button>Download</button>'; more.firstChild.onclick = () => location.href = '/t/' + n");
    for open in [&link, &button] {
        for pages in [1, 4] {
            let read = read_page_of(&turned(pages, NAME, open), "closed");
            let wanted = usize::try_from(pages * 10).unwrap();
            assert_eq!(
                (titles(&read), read.value.as_str(), read.told.cut.as_ref()),
                (wanted, "0", None),
                "{open}: {:?}",
                read.acts()
            );
        }
    }
}

#[test]
fn a_list_that_is_drawn_anew_with_its_open_row_is_read_whole() {
    let html = "<div id=list></div><script>let open = null, closed = 0;
        const draw = () => { list.innerHTML = '';
            for (let n = 0; n < 20; n++) { const row = document.createElement('div'); row.className = 'row';
                row.innerHTML = `<span class=name>Title ${n}</span>` + (open === n ? `<div><a href=/t/${n}>torrent</a></div>` : '');
                row.firstChild.onclick = () => { if (open === n) { closed++; open = null } else open = n; draw() }; list.append(row) } };
        draw()</script>";
    let read = read_page_of(html, "closed");
    assert_eq!((titles(&read), read.value.as_str()), (20, "0"), "{:?}", read.acts());
}

#[test]
fn trees_are_read_to_their_leaves_and_no_branch_is_closed() {
    let leaves = [
        "li.innerHTML = `<a href=/t/${n}>File ${n}</a>`",
        "li.textContent = 'File ' + n; const b = document.createElement('button'); b.textContent = 'Download'; b.onclick = () => location.href = '/t/' + n; li.append(b)",
    ];
    for leaf in leaves {
        for months in ["'Jan Feb Mar'.split(' ')", "['Jan ', 'Feb ', 'Mar '].map(m => m + year)"] {
            for mark in
                ["s.setAttribute('role', 'button'); s.setAttribute('aria-expanded', 'false')", "", "s.prepend('▶ ')"]
            {
                let html = format!(
                    "<ul id=tree></ul><script>let closed = 0;
                    const node = (label, fill) => {{ const li = document.createElement('li'), s = document.createElement('span'), ul = document.createElement('ul');
                        s.className = 'toggle'; s.textContent = label; {mark}; ul.style.display = 'none'; let full = false;
                        s.onclick = async () => {{ if (!full) {{ full = true; await fill(ul) }} const opens = ul.style.display == 'none';
                            closed += !opens; ul.style.display = opens ? '' : 'none'; if (s.textContent[0] == '▶') s.textContent = s.textContent.replace('▶', '▼') }};
                        li.append(s, ul); return li }};
                    let n = 0; const leaf = ul => {{ const li = document.createElement('li'), id = n++; (n => {{ {leaf} }})(id); ul.append(li) }};
                    for (let year = 2022; year < 2026; year++) tree.append(node(year, async ul => {{ await 0;
                        for (const month of {months}) ul.append(node(month, async ul => {{ for (let k = 0; k < 5; k++) leaf(ul) }})) }}))
                    </script>"
                );
                let read = read_page_of(&html, "closed");
                assert_eq!(
                    (titles(&read), read.value.as_str(), read.told.cut.as_ref()),
                    (60, "0", None),
                    "{leaf} {months} {mark}: {:?}",
                    read.acts()
                );
            }
        }
    }
}

#[test]
fn tabs_are_told_from_rows_by_what_a_turn_does_to_them() {
    // Each kind has pages of its own; the last has but one, or the first has.
    for lasts in ["[4, 4, 1]", "[1, 4, 4]", "[3, 4, 5]"] {
        for pager in ["next", "numbers"] {
            let html = format!(
                "<nav><span class=chip>Films</span><span class=chip>Music</span><span class=chip>Books</span></nav><div id=list></div><div id=bar></div><script>
                const lasts = {lasts}; let kind = 0;
                const show = at => {{ list.innerHTML = Array.from({{ length: 10 }}, (_, k) => `<a href=/t/${{kind}}-${{at}}-${{k}}>x</a>`).join('');
                    bar.innerHTML = ''; const put = (label, to) => {{ const b = document.createElement('button'); b.textContent = label; b.onclick = () => show(to); bar.append(b) }};
                    if ('{pager}' == 'numbers') {{ for (let n = 1; n <= lasts[kind]; n++) put(n, n) }} else if (at < lasts[kind]) put('Next', at + 1) }};
                [...document.querySelectorAll('.chip')].forEach((chip, n) => chip.onclick = () => {{ kind = n; show(1) }});
                show(1)</script>"
            );
            let read = read_page_of(&html, "0");
            let pages: usize = lasts.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<usize>().ok()).sum();
            assert_eq!(titles(&read), pages * 10, "{lasts} {pager}: {:?}", read.acts());
        }
    }
}

#[test]
fn lists_are_turned_page_by_page_whatever_else_jumps_in_them() {
    let list = |pager: &str, row: &str| {
        format!(
            "<ul id=u></ul><ul class=pagination id=p></ul><script>
            let at = 1; const last = 6;
            const show = to => {{ at = Math.max(1, Math.min(last, to));
                u.innerHTML = Array.from({{ length: 5 }}, (_, i) => {{ const id = at * 100 + i; return `{row}` }}).join('');
                p.innerHTML = {pager} }};
            const button = (label, to) => `<button ${{to < 1 || to > last || to === at ? 'disabled' : ''}} onclick='show(${{to}})'>${{label}}</button>`;
            const get = id => {{ location.href = '/t/' + id }};
            show(1)</script>"
        )
    };
    let row = "<li>Title ${id} <button onclick=get(${id})>Get</button></li>";
    let signs = |[first, back, next, last]: [&str; 4]| {
        format!(
            "button('{first}', at === 1 ? 0 : 1) + button('{back}', at - 1) + button('{next}', at + 1) + button('{last}', at === last ? 9 : last)"
        )
    };
    for pager in [
        signs(["|&lt;", "&lt;", "&gt;", "&gt;|"]),
        signs(["&lt;&lt;", "&lt;", "&gt;", "&gt;&gt;"]),
        signs(["⏮", "◀", "▶", "⏭️"]),
        signs(["First", "Prev", "Next", "Last"]),
        signs(["&laquo;", "&lsaquo;", "&rsaquo;", "&raquo;"]),
        "button('&lt;&lt;', at - 1) + button('&gt;&gt;', at + 1)".to_owned(),
    ] {
        let read = read_page_of(&list(&pager, row), "0");
        let mut gone = read.gone.clone();
        gone.sort();
        gone.dedup();
        assert_eq!(gone.len(), 30, "{pager}: {:?}", read.acts());
    }
}
