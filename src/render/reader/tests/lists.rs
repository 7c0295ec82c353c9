//! Rows that show their link in one place or in themselves, trees, and tabs: changes beside a list, and changes of the list.

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

fn titles(read: &ReadOutcome) -> usize {
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
    // Each kind has its own pages; the last has only one, or the first has.
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

/// Ninety titles, fifteen a page, with this markup for rows and pager; `more` runs when a page has been shown.
fn paged(row: &str, pager: &str, more: &str) -> String {
    format!(
        "<div id=root><table><tbody id=list></tbody></table><ul class=pagination id=u></ul></div><script>let at = 1; const last = 6, get = id => location.href = '/t/' + id;
        function show(to) {{ at = Math.max(1, Math.min(last, to));
            list.innerHTML = Array.from({{ length: 15 }}, (_, k) => at * 100 + k).map(id => `{row}`).join('');
            u.innerHTML = Array.from({{ length: last }}, (_, i) => i + 1).map(n => `{pager}`).join(''); {more} }}
        show(1)</script>"
    )
}

#[test]
fn numbers_of_pages_that_somebody_above_them_listens_for_are_all_pressed() {
    let button = "<tr><td>Title ${id}<td><button onclick=get(${id})>Get</button>";
    let menu = "<tr><td>Title ${id}<td><button onclick='this.nextSibling.hidden = false'>Actions</button><div hidden><button onclick=get(${id})>Download</button></div>";
    let heard = "u.onclick = event => { const a = event.target.closest('a, span'); if (a) { event.preventDefault(); show(+a.textContent) } }";
    let root = "root.onclick = event => { const a = event.target.closest('.pagination a, .pagination span'); if (a) { event.preventDefault(); show(+a.textContent) } }";
    let own =
        "u.querySelectorAll('a, span').forEach((a, n) => a.onclick = event => { event.preventDefault(); show(n + 1) })";
    for row in [button, menu, "<tr><td>Title ${id}<td><a href=/t/${id}>get</a>"] {
        for pager in [
            "<li class=${n == at ? 'active' : ''}><a href=# data-page=${n}>${n}</a></li>",
            "<li class=${n == at ? 'active' : ''}><a href=#>${n}</a></li>",
            "<li class=${n == at ? 'active' : ''}><span>${n}</span></li>",
        ] {
            for more in [heard, root, own] {
                let read = read_page_of(&paged(row, pager, more), "0");
                assert_eq!(titles(&read), 90, "{row} {pager} {more}: {:?}", read.acts());
            }
        }
    }
}

#[test]
fn sections_turn_each_by_itself_whether_one_or_all_of_them_are_open() {
    let numbers = "Array.from({ length: 3 }, (_, n) => `<button class=pg>${n + 1}</button>`).join('')";
    let next = "at < 2 ? '<button class=nx>Next</button>' : ''";
    for (one, pager, grows) in [
        (true, numbers, false),
        (false, numbers, false),
        (true, next, false),
        (false, next, false),
        (true, &next.replace("Next", "Load more"), true),
        (false, &next.replace("Next", "Load more"), true),
    ] {
        let html = format!(
            "<div id=all></div><script>'Anime Books Comics Docs Ebooks Films'.split(' ').forEach((name, kind) => {{
                const item = document.createElement('div'); item.className = 'item'; item.innerHTML = `<h2><button class=head aria-expanded=false>${{name}}</button></h2><div class=part hidden></div>`;
                const head = item.querySelector('button'), part = item.querySelector('.part');
                const load = at => {{ part.querySelector('.nx')?.remove(); const rows = Array.from({{ length: 5 }}, (_, k) => `<p><a href=/t/${{kind}}-${{at}}-${{k}}>x</a>`).join('');
                    part.innerHTML = ({grows} ? part.innerHTML : '') + rows + ({pager});
                    part.querySelectorAll('.pg').forEach((b, n) => b.onclick = () => load(n)); const nx = part.querySelector('.nx'); if (nx) nx.onclick = () => load(at + 1) }};
                head.onclick = () => {{ const opens = part.hidden; if ({one}) document.querySelectorAll('.part').forEach(one => one.hidden = true);
                    part.hidden = !opens; if (opens && !part.innerHTML) load(0) }}; all.append(item) }})</script>"
        );
        let read = read_page_of(&html, "0");
        assert_eq!((titles(&read), read.told.cut.as_ref()), (90, None), "{one} {pager}: {:?}", read.acts());
    }
}

#[test]
fn more_of_groups_and_more_groups_are_told_apart() {
    for (more, after) in [
        ("Earlier days", "b.remove()"),
        ("Earlier days", "b.style.display = 'none'"),
        ("Load more", "b.style.display = 'none'"),
        ("Load more", ""),
    ] {
        let html = format!(
            "<div id=all></div><button id=m>{more}</button><script>let page = 0;
            const next = () => {{ for (let group = page * 4; group < page * 4 + 4; group++) {{
                const part = document.createElement('section'), put = (from, to) => {{ for (let k = from; k < to; k++) part.querySelector('ul').insertAdjacentHTML('beforeend', `<li><a href=/t/${{group}}-${{k}}>x</a>`) }};
                part.innerHTML = `<h3>Day ${{group}}</h3><ul></ul><button>Show all 12 releases</button>`; put(0, 3);
                const b = part.querySelector('button'); b.onclick = () => {{ if (part.querySelectorAll('li').length < 12) put(3, 12); {after} }}; all.append(part) }}
                if (++page == 4) m.remove() }};
            m.onclick = next; next()</script>"
        );
        let read = read_page_of(&html, "0");
        assert_eq!((titles(&read), read.told.cut.as_ref()), (192, None), "{more} {after}: {:?}", read.acts());
    }
}

#[test]
fn folders_that_show_others_in_their_place_are_read_to_their_files() {
    let page = |draw: &str, same: bool| {
        format!(
            "<nav id=c></nav><div id=list></div><script>const same = {same};
            const inside = at => at.length == 0 ? ['Movies', 'Music', 'Software'] : at.length == 1 ? ['2020', '2021'].map(year => same ? year : year + ' of ' + at[0])
                : at.length == 2 ? ['A to M', 'N to Z'].map(part => same ? part : part + at.join(' ')) : [];
            const files = at => Array.from({{ length: 5 }}, (_, k) => `<p><a href='/t/${{at.join('-').replaceAll(' ', '')}}-${{k}}'>x</a></p>`).join('');
            const go = async at => {{ await 0; {draw} }};
            const row = (text, act, name) => {{ const row = document.createElement('p'); row.className = name; row.textContent = text; row.onclick = act; list.append(row) }};
            go([])</script>"
        )
    };
    let up = |label: &str| {
        format!(
            "list.innerHTML = ''; if (at.length) row('{label}', () => go(at.slice(0, -1)), 'up'); for (const name of inside(at)) row(name, () => go([...at, name]), 'dir'); if (at.length == 3) list.insertAdjacentHTML('beforeend', files(at))"
        )
    };
    let crumbs = "c.innerHTML = ['Archive', ...at].map((name, n) => n < at.length || !n ? `<a href=# id=c${n}>${name}</a>` : name).join(' / ');
        c.querySelectorAll('a').forEach((a, n) => a.onclick = event => { event.preventDefault(); go(at.slice(0, n)) }); list.innerHTML = at.length == 3 ? files(at) : '';
        for (const name of inside(at)) { const p = document.createElement('p'), a = document.createElement('a'); a.href = '#'; a.textContent = name; a.onclick = event => { event.preventDefault(); go([...at, name]) }; p.append(a); list.append(p) }";
    for draw in [up(".."), up("⬆ Up"), up("Back"), crumbs.to_owned()] {
        for same in [false, true] {
            let read = read_page_of(&page(&draw, same), "0");
            assert_eq!((titles(&read), read.told.cut.as_ref()), (60, None), "{draw} {same}: {:?}", read.acts());
        }
    }
}

#[test]
fn branches_of_the_same_names_are_each_opened() {
    let html = "<nav id=tree></nav><script>
        const dirs = path => path.length == 0 ? ['audio', 'video', 'books'] : path.length == 1 ? ['2020', '2021', '2022'] : path.length == 2 ? ['H1', 'H2'] : [];
        const fill = async (of, path) => { await 0; for (const name of dirs(path)) { const branch = document.createElement('details'); branch.innerHTML = `<summary>${name}</summary><div></div>`;
            branch.addEventListener('toggle', () => { if (branch.open && !branch.dataset.l) { branch.dataset.l = 1; fill(branch.lastElementChild, [...path, name]) } }); of.append(branch) }
            if (path.length == 3) for (let k = 0; k < 5; k++) of.insertAdjacentHTML('beforeend', `<p><a href=/t/${path.join('-')}-${k}>x</a></p>`) };
        fill(tree, [])</script>";
    let read = read_page_of(html, "0");
    assert_eq!((titles(&read), read.told.cut.as_ref()), (90, None), "{:?}", read.acts());
}

#[test]
fn cells_that_say_nothing_and_open_their_rows_are_clicked_and_others_are_not() {
    let page = |cell: &str, of: &str| {
        format!(
            "<table><tbody id=list></tbody></table><button id=next>Next</button><script>let page = 0, clicks = 0;
            const show = () => {{ list.innerHTML = Array.from({{ length: 15 }}, (_, k) => `<tr id=r${{page * 15 + k}}>{cell}<td>Title ${{page * 15 + k}}</td><td>1 GB</td></tr>`).join(''); if (++page == 4) next.remove() }};
            list.addEventListener('click', event => {{ const cell = event.target.closest('{of}'); if (!cell) return; const row = cell.parentNode; clicks++;
                if (row.nextSibling?.className == 'child') row.nextSibling.remove(); else row.insertAdjacentHTML('afterend', `<tr class=child><td colspan=3><a href=/t/${{row.id}}>get</a></td></tr>`) }});
            next.onclick = show; show()</script>"
        )
    };
    for (cell, of) in [
        ("<td class=dt-control></td>", "td.dt-control"),
        ("<td class=exp>+</td>", "td.exp"),
        ("<td class=details-control><i class=icon-plus></i></td>", "td.details-control"),
    ] {
        let read = read_page_of(&page(cell, of), "clicks");
        assert_eq!((titles(&read), read.value.as_str()), (60, "60"), "{cell}: {:?}", read.acts());
    }
    for (cell, of) in
        [("<td class=fav-toggle></td>", "td.fav-toggle"), ("<td class=delete-control></td>", "td.delete-control")]
    {
        assert_eq!(read_page_of(&page(cell, of), "clicks").value, "0", "{cell}");
    }
}

#[test]
fn groups_of_tabs_with_the_same_names_have_pages_of_their_own() {
    let html = "<aside id=side></aside><ul id=list></ul><button id=next>Next page</button><script>let kind = 0, age = 0, page = 0;
        const show = async () => { await 0; list.innerHTML = Array.from({ length: 6 }, (_, k) => `<li><a href=/t/${kind}-${age}-${page}-${k}>x</a></li>`).join(''); next.disabled = page == 2 };
        ['Movies', 'Music', 'Software'].forEach((name, n) => { const part = document.createElement('div'); part.innerHTML = `<h4>${name}</h4><ul><li class=sub>New</li><li class=sub>Classic</li></ul>`;
            part.querySelectorAll('.sub').forEach((tab, k) => tab.onclick = () => { document.querySelectorAll('.sub').forEach(one => one.classList.remove('on')); tab.classList.add('on'); kind = n; age = k; page = 0; show() }); side.append(part) });
        next.onclick = () => { page++; show() }; show()</script>";
    let read = read_page_of(html, "0");
    assert_eq!((titles(&read), read.told.cut.as_ref()), (108, None), "{:?}", read.acts());
}

#[test]
fn a_branch_of_a_tree_that_is_open_is_not_closed_by_its_sign() {
    let html = "<div id=tree role=tree></div><div id=pane></div><script>let closed = 0;
        const node = (label, kids) => { const at = document.createElement('div'); at.className = 'node'; at.setAttribute('role', 'treeitem'); at.setAttribute('aria-expanded', 'false');
            at.innerHTML = `<div class=content><i class='switcher ${kids ? '' : 'leaf'}'><svg><path d=M1 /></svg></i><span>${label}</span></div><div role=group style='display: none'></div>`;
            let loaded = false; const group = at.lastChild;
            const toggle = () => { if (!kids) return; if (!loaded) { loaded = true; at.firstChild.insertAdjacentHTML('afterbegin', '<i class=loading></i>'); setTimeout(() => { kids().forEach(kid => group.append(kid)); at.querySelector('.loading').remove(); show() }, 50); return } show() }; const show = () => { const open = group.style.display; group.style.display = open ? '' : 'none'; at.setAttribute('aria-expanded', String(!!open)) };
            at.querySelector('i').onclick = event => { event.stopPropagation(); if (kids && !group.style.display) closed++; toggle() };
            at.onclick = event => { event.stopPropagation(); document.querySelector('.current')?.classList.remove('current'); at.classList.add('current'); if (kids) toggle(); else pane.innerHTML = `<h3>${label}</h3><a href=/t/${label.split(' ').pop()}>x</a>` };
            return at };
        for (let y = 0; y < 3; y++) tree.append(node(`Year ${y}`, () => [0, 1, 2, 3].map(q => node(`Quarter ${q} of ${y}`, () => Array.from({ length: 5 }, (_, n) => node(`Title number ${y * 20 + q * 5 + n}`, null))))))</script>";
    let read = read_page_of(html, "closed");
    let found = read.urls().iter().filter(|url| url.contains("/t/")).count();
    assert_eq!((found, read.value.as_str(), read.told.cut.as_ref()), (60, "0", None), "{:?}", read.acts());
}

#[test]
fn what_a_tables_head_opens_is_looked_at_behind_its_rows() {
    let html = "<table><thead><tr id=head></tr></thead><tbody id=list></tbody></table><p id=out></p><div id=menu></div><script>let pressed = '';
        for (const name of ['Title', 'Size', 'Seeds', 'Added']) { const th = document.createElement('th'); th.textContent = name; th.onclick = () => { pressed += 'h'; menu.innerHTML = ['Sort up', 'Sort down', 'Filter'].map(w => `<button class=entry onclick='pressed += &quot;m&quot;'>${w}</button>`).join('') }; head.append(th) }
        for (let n = 0; n < 8; n++) { const row = document.createElement('tr'); row.innerHTML = `<td>Title number ${n}</td><td>${n} GB</td>`; row.onclick = () => { pressed += 'r'; out.innerHTML = `<a href=/t/${n}>x</a>` }; list.append(row) }</script>";
    let read = read_page_of(html, "pressed.slice(0, 8)");
    assert_eq!((read.urls().len(), read.value.as_str()), (8, "rrrrrrrr"), "{:?}", read.acts());
}
