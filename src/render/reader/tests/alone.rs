//! Rows that are alone of their class, overlay links, folders of the same names: elements that belong to others though they do not look
//! so, and the reverse.

use super::live::titles;
use super::*;

/// Six pages of ten rows; the fourth row of each has its own class.
fn coloured(listens: &str, row: &str) -> String {
    format!(
        "<table><tbody id=list></tbody></table><button id=next>Next</button><script>let page = 0;
        const colours = ['vip', 'sticky', 'internal', 'freeleech', 'featured', 'hot'], open = id => {{ location.href = '/t/' + id }};
        const show = () => {{ list.innerHTML = Array.from({{ length: 10 }}, (_, k) => {{ const id = page * 10 + k;
            return `<tr id=r${{id}} class='torrent${{k == 3 ? ' ' + colours[page] : ''}}'>{row}</tr>` }}).join('');
            {listens}; if (++page == 6) next.remove() }};
        next.onclick = show; show()</script>"
    )
}

#[test]
fn a_row_that_is_alone_of_its_class_on_each_page_is_one_of_its_list() {
    let row = "<td>Title ${id}</td><td>1 GB</td>";
    let button = "<td>Title ${id}</td><td><button class=${k == 3 ? colours[page] : 'plain'}>Get</button></td>";
    let name = "<td><span class='name ${k == 3 ? colours[page] : ''}'>Title ${id}</span></td><td>1 GB</td>";
    let within = |of: &str| {
        format!("list.querySelectorAll('{of}').forEach(one => one.onclick = () => open(one.closest('tr').id.slice(1)))")
    };
    let own = "list.querySelectorAll('tr').forEach(tr => tr.onclick = () => open(tr.id.slice(1)))";
    let above = "list.onclick = event => { const tr = event.target.closest('tr'); if (tr) open(tr.id.slice(1)) }";
    for (listens, row) in [(own, row), (above, row), (&within("button"), button), (&within(".name"), name)] {
        let read = read_page_of(&coloured(listens, row), "0");
        assert_eq!((titles(&read), read.told.cut.as_ref()), (60, None), "{listens}: {:?}", read.acts());
    }
}

#[test]
fn the_head_of_a_table_and_what_is_made_otherwise_are_none_of_its_rows() {
    let html = "<table><tbody id=list><tr class=head><th>Title</th><th>Size</th></tr><tr class=ad><td colspan=2>Buy this</td></tr></tbody></table><script>let others = 0;
        for (let id = 0; id < 10; id++) list.insertAdjacentHTML('beforeend', `<tr class=row id=r${id}><td>Title ${id}</td><td>1 GB</td></tr>`);
        list.onclick = event => { const tr = event.target.closest('tr'); if (tr.className == 'row') location.href = '/t/' + tr.id.slice(1); else others++ }</script>";
    let read = read_page_of(html, "others");
    assert_eq!((titles(&read), read.value.as_str()), (10, "0"));
}

#[test]
fn rows_on_top_of_a_list_that_open_nothing_do_not_end_it() {
    let html = "<table><tbody id=list></tbody></table><button id=next>Next</button><script>let page = 0;
        const head = '<tr class=head><td>Title</td><td>Size</td></tr><tr class=filter><td>All of them</td><td>any size</td></tr>';
        const show = () => { list.innerHTML = head + Array.from({ length: 10 }, (_, k) => page * 10 + k).map(k => `<tr class=row data-k=${k}><td>Title ${k}</td><td>1 GB</td></tr>`).join('');
            list.querySelectorAll('tr').forEach(row => row.onclick = () => { if (row.dataset.k) location.href = '/t/' + row.dataset.k }); next.disabled = page == 2 };
        next.onclick = () => { page++; show() }; show()</script>";
    let read = read_page_of(html, "0");
    assert_eq!((titles(&read), read.told.cut.as_ref()), (30, None), "{:?}", read.acts());
}

#[test]
fn links_that_only_lead_somewhere_do_not_end_the_buttons_beside_them() {
    let html = "<ul id=list></ul><script>for (let k = 0; k < 12; k++) { const row = document.createElement('li');
        row.innerHTML = `Title number ${k} <a class=btn data-toggle=modal href=/show/${k}>Details</a> <a class=btn href=#>Download</a>`;
        const [details, download] = row.querySelectorAll('a'); details.addEventListener('click', () => 0);
        download.onclick = event => { event.preventDefault(); location.href = '/t/' + k }; list.append(row) }</script>";
    let read = read_page_of(html, "0");
    assert_eq!((titles(&read), read.told.cut.as_ref()), (12, None), "{:?}", read.acts());
}

#[test]
fn links_that_are_said_to_open_something_here_are_clicked_for_it_and_one_click_tells_of_those_that_do_not() {
    let list = |link: &str, listens: &str| {
        format!(
            "<ul id=list></ul><div id=box hidden></div><script>let clicks = 0;
            for (let id = 0; id < 12; id++) list.insertAdjacentHTML('beforeend', `<li>Title ${{id}} {link}</li>`);
            const open = id => {{ box.hidden = false; box.innerHTML = `<p>Title ${{id}}</p><a href=/t/${{id}}>get</a><button onclick='box.hidden = true'>Close</button>` }};
            addEventListener('click', event => {{ clicks += event.target.className == 'x' || 'x' in event.target.dataset }}, true);
            {listens}</script>"
        )
    };
    let own =
        "list.querySelectorAll('a').forEach((a, id) => a.onclick = event => { event.preventDefault(); open(id) })";
    let above = "document.addEventListener('click', event => { const a = event.target.closest('[data-xf-click=overlay]'); if (a) { event.preventDefault(); open(a.dataset.x) } })";
    for (link, listens) in [
        ("<a class='x lightbox' data-x=${id} href=/show?${id}>details</a>", own),
        ("<a data-fancybox data-x=${id} href=/show?${id}>details</a>", own),
        ("<a data-xf-click=overlay data-x=${id} href=/show?${id}>details</a>", above),
    ] {
        let read = read_page_of(&list(link, listens), "clicks");
        let files = read.urls().iter().filter(|url| url.contains("/t/")).count();
        assert_eq!((files, read.told.cut.as_ref()), (12, None), "{link}: {:?}", read.acts());
        assert_eq!(read.urls().iter().filter(|url| url.contains("/show")).count(), 12, "they stay links");
    }
    for (link, most) in [
        ("<a class=lightbox data-x=${id} href=/show/${id}>details</a>", 1),
        ("<a class=lightbox data-x=${id} href=/show/${id}.jpg>details</a>", 0),
        ("<a class=title data-x=${id} href=/show/${id}>details</a>", 0),
        ("<a class=popup data-x=${id} href=https://other.test/${id}>details</a>", 0),
    ] {
        let own = "list.querySelectorAll('a').forEach(a => a.addEventListener('click', () => 0))";
        let read = read_page_of(&list(link, own), "clicks");
        assert_eq!(read.value, most.to_string(), "{link}: {:?}", read.acts());
        assert!(read.told.cut.is_none() && read.urls().len() == 12, "{link}");
    }
}

#[test]
fn folders_of_the_same_names_behind_addresses_that_only_clicks_lead_to_are_each_gone_into() {
    let page = |name: &str, file: &str| {
        format!(
            "<div id=list></div><script>
            const inside = at => at.length == 0 ? ['audio', 'video', 'books'] : at.length == 1 ? ['2022', '2023', '2024'] : [];
            const draw = () => {{ const at = location.hash.slice(2).split('/').filter(Boolean); list.innerHTML = '';
                const row = (name, to) => {{ const one = document.createElement('{name}'); one.className = 'dir'; one.textContent = name; one.onclick = () => {{ location.hash = '#/' + to.join('/') }}; list.append(one) }};
                for (const name of inside(at)) row(name, [...at, name]);
                if (at.length == 2) for (let k = 0; k < 5; k++) {{ const to = '/t/' + at.join('-') + '-' + k, one = document.createElement('{name}'); one.className = 'file'; {file}; list.append(one) }} }};
            addEventListener('hashchange', draw); draw()</script>"
        )
    };
    for name in ["p", "button", "li"] {
        for file in [
            "one.innerHTML = `<a href=${to}>x</a>`",
            "one.textContent = 'File ' + k; one.onclick = () => location.href = to",
        ] {
            let read = read_page_of(&page(name, file), "0");
            assert_eq!((titles(&read), read.told.cut.as_ref()), (45, None), "{name} {file}: {:?}", read.acts());
        }
    }
}

#[test]
fn rows_of_a_pane_that_each_have_others_in_their_place_do_not_end_the_list_beside_them() {
    let page = |row: &str, similar: &str| {
        format!(
            "<table id=torrents><tbody id=list></tbody></table><button id=next>Next</button><div id=pane></div><script>let page = 0;
            const row = k => `{row}`, similar = k => `{similar}`;
            const view = k => {{ pane.innerHTML = `<h2>Title ${{k}}</h2><a href=/t/${{k}}>torrent</a><table id=similar><tbody>` + Array.from({{ length: 4 }}, (_, n) => similar((k * 7 + n * 5 + 1) % 48)).join('') + '</tbody></table>' }};
            const show = () => {{ list.innerHTML = Array.from({{ length: 12 }}, (_, k) => row(page * 12 + k)).join(''); next.disabled = page == 3 }};
            next.onclick = () => {{ page++; show() }}; show();
            document.addEventListener('click', event => {{ const one = event.target.closest('[data-k]'); if (one) view(+one.dataset.k) }})</script>"
        )
    };
    let plain = "<tr data-k=${k}><td>Title number ${k}</td><td>${1000 + k} MB</td></tr>";
    let button = "<tr><td>Title number ${k}</td><td><button data-k=${k}>Get</button></td></tr>";
    let link = "<tr><td><a href=# data-k=${k}>Title number ${k}</a></td><td>${1000 + k} MB</td></tr>";
    for row in [plain, button, link] {
        for similar in [plain, button, link] {
            let read = read_page_of(&page(row, similar), "0");
            assert_eq!(titles(&read), 48, "{row} {similar}: {:?}", read.acts());
            // A text that both share has been read, and no cut is reported.
            assert!(row != similar || read.told.cut.is_none(), "{row}: {:?}", read.told.cut);
        }
    }
}

#[test]
fn entries_of_menus_in_rows_that_bring_nothing_are_left_and_those_that_do_are_pressed_in_each() {
    let page = |menu: &str| {
        format!(
            "<table><tbody id=list></tbody></table><button id=next>Next</button><script>let page = 0, vain = 0; const get = k => {{ location.href = '/t/' + k }};
            const show = () => {{ list.innerHTML = Array.from({{ length: 15 }}, (_, k) => page * 15 + k).map(k => `<tr><td>Title ${{k}}</td><td>{menu}</td></tr>`).join(''); next.disabled = page == 2 }};
            next.onclick = () => {{ page++; show() }}; show()</script>"
        )
    };
    let opens = "onclick='this.nextSibling.hidden = !this.nextSibling.hidden'";
    for menu in [
        format!(
            "<button class=menu {opens}>⋯</button><div hidden><button onclick=vain++>Copy title</button><button onclick=get(${{k}})>Download</button></div>"
        ),
        format!(
            "<button class=menu {opens}>⋯</button><div hidden><a href=# onclick=vain++>Details</a><a href=# onclick='event.preventDefault(); get(${{k}})'>Download</a></div>"
        ),
        format!(
            "<span class=toggle {opens}>Actions</span><ul hidden><li onclick=vain++>Preview</li><li onclick=vain++>Similar</li><li onclick=get(${{k}})>Torrent</li></ul>"
        ),
    ] {
        let read = read_page_of(&page(&menu), "vain");
        assert_eq!((titles(&read), read.told.cut.as_ref()), (45, None), "{menu}: {:?}", read.acts());
        assert!(read.value.parse::<u32>().unwrap() < 20, "{menu}: {} presses in vain", read.value);
    }
}

#[test]
fn rows_that_show_others_are_clicked_on_each_page_and_rows_that_were_viewed_are_not_clicked_again() {
    let similar = "<table><tbody id=list></tbody></table><button id=next>Next</button><script>let page = 0;
        const says = k => `<td>Title ${k}</td><td>1 GB</td>`;
        const act = row => { if (row.dataset.k) return location.href = '/t/' + row.dataset.k;
            const of = +row.dataset.s, rows = [...list.children], at = rows.indexOf(row);
            for (let n = 1; n <= 3; n++) { const other = rows[at + n]; if (other?.dataset.k) { other.dataset.k = 100 + of * 10 + n; other.innerHTML = says(100 + of * 10 + n) } } };
        const show = () => { list.innerHTML = Array.from({ length: 20 }, (_, i) => page * 20 + i).map(k => k % 5 == 4 ? `<tr class=similar data-s=${k}><td>Similar to ${k - 1}</td><td>+</td></tr>` : `<tr class=t data-k=${k}>${says(k)}</tr>`).join('');
            [...list.children].forEach(row => row.onclick = () => act(row)); next.disabled = page == 2 };
        next.onclick = () => { page++; show() }; show()</script>";
    let viewed = "<aside><table><tbody id=recent></tbody></table></aside><table><tbody id=list></tbody></table><button id=next>Next</button><div id=pane></div><script>let page = 0; const seen = [];
        const row = k => `<tr data-k=${k}><td>Title ${k}</td><td>${k} MB</td></tr>`;
        const show = () => { list.innerHTML = Array.from({ length: 25 }, (_, k) => row(page * 25 + k)).join(''); next.disabled = page == 2 };
        next.onclick = () => { page++; show() }; show();
        document.onclick = event => { const one = event.target.closest('[data-k]'); if (!one) return; seen.unshift(+one.dataset.k);
            pane.innerHTML = `<a href=/t/${one.dataset.k}>torrent</a>`; recent.innerHTML = [...new Set(seen)].slice(0, 5).map(row).join('') }</script>";
    for html in [similar, viewed] {
        let read = read_page_of(html, "0");
        assert_eq!((titles(&read), read.told.cut.as_ref()), (75, None), "{:?}", read.acts());
    }
}
