//! Lists that change while they are read: rows with changing counts, tabs over rows that are patched in place, ways back of any look, and
//! "more" in rows.

use super::again::read_faulty;
use super::*;

pub(super) fn titles(read: &ReadOutcome) -> usize {
    let links = read.urls().into_iter().map(str::to_owned).chain(read.gone.clone());
    links.filter(|url| url.contains("/t/")).collect::<std::collections::HashSet<_>>().len()
}

pub(super) fn is_whole(html: &str, links: usize) {
    let read = read_faulty(html, "0");
    assert_eq!((titles(&read), read.told.cut.as_ref()), (links, None), "{html}: {:?}", read.acts());
}

#[test]
fn tabs_over_rows_that_are_patched_in_place_show_other_rows() {
    for (tab, button) in [
        ("button", "<button class=g>Get</button>"),
        ("a", "<a class=g href=#>Get</a>"),
        ("span", "<span class=g>Get</span>"),
    ] {
        is_whole(
            &format!(
                "<div id=tabs></div><table><tbody id=list></tbody></table><script>let kind = 0;
                for (let i = 0; i < 3; i++) {{ const b = document.createElement('{tab}'); b.className = 'tab'; b.textContent = ['Movies', 'Music', 'Books'][i]; b.onclick = () => {{ kind = i; draw() }}; tabs.append(b) }}
                for (let k = 0; k < 10; k++) {{ const r = document.createElement('tr'); r.innerHTML = '<td></td><td>1 GB</td><td>{button}</td>'; r.querySelector('.g').onclick = e => {{ e.preventDefault(); location.href = '/t/' + kind + '-' + k }}; list.append(r) }}
                const draw = () => [...list.rows].forEach((r, k) => r.cells[0].textContent = 'Title ' + kind + ' number ' + k); draw()</script>"
            ),
            30,
        );
    }
}

#[test]
fn rows_whose_counts_live_are_the_same_rows() {
    let anew = "<table><tbody id=list></tbody></table><script>let n = 0;
        const draw = () => { n++; list.innerHTML = Array.from({ length: 10 }, (_, k) => `<tr><td>Title ${k}</td><td>${(k * 37 + n * 11) % 97}UNIT</td><td><button onclick='get(${k})'>Get</button>OTHER</td></tr>`).join('') };
        const get = async k => { await 0; location.href = '/t/' + k; draw() }, info = async () => { await 0; draw() }; draw()</script>";
    let patched = "<table><tbody id=list></tbody></table><script>let n = 0;
        for (let k = 0; k < 10; k++) list.insertAdjacentHTML('beforeend', `<tr><td>Title ${k}</td><td class=a></td><td><button onclick='get(${k})'>Get</button>OTHER</td></tr>`);
        const draw = () => { n++; document.querySelectorAll('.a').forEach((a, k) => a.textContent = (k * 37 + n * 11) % 97 + 'UNIT') };
        const get = async k => { await 0; location.href = '/t/' + k; draw() }, info = async () => { await 0; draw() }; draw()</script>";
    for page in [anew, patched] {
        for unit in ["", " downloads", " min ago"] {
            for other in ["<button onclick='info()'>Info</button>", ""] {
                is_whole(&page.replace("UNIT", unit).replace("OTHER", other), 10);
            }
        }
    }
}

#[test]
fn what_says_that_it_leads_back_does_whatever_stands_beside_it() {
    for bar in [
        "<a href=# class=b>Back to list</a> / <span>Title</span>",
        "<a href=# class=b>Back to list</a> » <b>Title</b>",
        "<button class=b>Back</button> / <span>Title</span>",
        "<a href=# class=b>Back</a> → ",
    ] {
        is_whole(
            &format!(
                "<div id=app></div><script>
                const list = () => {{ app.innerHTML = '<ul></ul>'; for (let k = 0; k < 20; k++) {{ const r = document.createElement('li'); r.textContent = 'Title number ' + k + ' of the list'; r.onclick = () => view(k); app.firstChild.append(r) }} }};
                const view = k => {{ app.innerHTML = `<div>{bar}</div><h2>Title ${{k}}</h2><a href=/t/${{k}}>torrent</a>`; app.querySelector('.b').onclick = e => {{ e.preventDefault(); list() }} }}; list()</script>"
            ),
            20,
        );
    }
    // In the middle of a list.
    is_whole(
        "<table><tbody id=list></tbody></table><div><a href=# id=p>Prev</a> / <a href=# id=n>Next</a></div><script>
        let at = 4; const show = to => { at = Math.max(1, Math.min(6, to)); list.innerHTML = Array.from({ length: 10 }, (_, k) => at * 100 + k).map(i => `<tr><td>Title ${i}<td><button onclick=\"location.href='/t/${i}'\">Get</button>`).join('') };
        p.onclick = e => { e.preventDefault(); show(at - 1) }; n.onclick = e => { e.preventDefault(); show(at + 1) }; show(at)</script>",
        60,
    );
}

#[test]
fn details_with_tables_of_files_are_no_folders() {
    for dead in [1, 3] {
        is_whole(
            &format!(
                "<div id=app></div><script>
                const list = () => {{ app.innerHTML = '<table><tbody>' + Array.from({{ length: 20 }}, (_, k) => `<tr data-k=${{k}}><td>Title number ${{k}}<td>1 GB</tr>`).join('') + '</tbody></table>' }};
                const view = k => {{ app.innerHTML = `<button class=b>Back</button><h2>Title ${{k}}</h2>` + (k < {dead} ? '<p>waits for approval</p>' : `<a href=/t/${{k}}>torrent</a>`) + '<table><tbody>' + Array.from({{ length: 4 }}, (_, f) => `<tr><td>file ${{f}} of ${{k}}<td>1 MB</tr>`).join('') + '</tbody></table>' }};
                app.addEventListener('click', e => {{ if (e.target.closest('.b')) return list(); const r = e.target.closest('tr'); if (r && r.dataset.k) view(+r.dataset.k) }}); list()</script>"
            ),
            20 - dead,
        );
    }
}

#[test]
fn rows_that_open_by_a_cell_or_by_themselves_are_clicked_once() {
    is_whole(
        "<table><tbody id=list></tbody></table><script>
        list.innerHTML = Array.from({ length: 15 }, (_, k) => `<tr data-k=${k}><td class=details-control></td><td>Title number ${k}</td><td>1 GB</td></tr>`).join('');
        list.addEventListener('click', e => { if (e.target.closest('button')) return location.href = '/t/' + e.target.dataset.g; const r = e.target.closest('tr'); if (!r.dataset.k) return;
            if (r.nextSibling?.className == 'child') r.nextSibling.remove(); else r.insertAdjacentHTML('afterend', `<tr class=child><td colspan=3><button data-g=${r.dataset.k}>Fetch ${r.dataset.k}</button></td></tr>`) })</script>",
        15,
    );
}

#[test]
fn a_crumb_that_is_called_like_what_the_page_gives_leads_back() {
    is_whole(
        "<div id=app></div><script>
        const list = () => { app.innerHTML = '<ul></ul>'; for (let k = 0; k < 20; k++) { const r = document.createElement('li'); r.textContent = 'Title number ' + k + ' of the list'; r.onclick = () => view(k); app.firstChild.append(r) } };
        const view = k => { app.innerHTML = `<nav class=breadcrumb><a href=# class=b>Torrents</a> / <span>Title</span></nav><h2>Title ${k}</h2><a href=/t/${k}>torrent</a>`; app.querySelector('.b').onclick = e => { e.preventDefault(); list() } }; list()</script>",
        20,
    );
}

#[test]
fn more_in_rows_ends_and_is_pressed_once_where_it_posts() {
    let page = "<table><tbody id=list></tbody></table><script>let posts = 0; for (let k = 0; k < 5; k++) { list.insertAdjacentHTML('beforeend', `<tr><td>Title ${k}</td><td class=o></td><td><button>Show more</button></td></tr>`);
        const r = list.lastChild; let n = 0; r.querySelector('button').onclick = async () => { await WHAT; r.querySelector('.o').innerHTML += `<a href=/t/x${k}-${++n}>x</a>` } }</script>";
    let read = read_faulty(&page.replace("WHAT", "0"), "0");
    let most = usize::try_from(limits::RENDER_MORE_OF_ROW_MAX).unwrap() * 5;
    assert_eq!((titles(&read), read.told.cut.map(|cut| cut.bound)), (most, Some(Bound::Rows)));
    let read = read_faulty(&page.replace("WHAT", "fetch('/api/0', { method: 'POST' }).then(() => posts++)"), "posts");
    assert_eq!((titles(&read), read.value.as_str()), (5, "5"), "{:?}", read.acts());
}

#[test]
fn pagers_of_pictures_are_turned_to_their_ends() {
    for (back, on) in [
        ("<i class='fa fa-chevron-left'></i>", "<i class='fa fa-chevron-right'></i>"),
        ("<svg class='lucide lucide-chevron-left'></svg>", "<svg class='lucide lucide-chevron-right'></svg>"),
        ("<span class=material-icons>chevron_left</span>", "<span class=material-icons>chevron_right</span>"),
    ] {
        is_whole(
            &format!(
                "<table><tbody id=b></tbody></table><div class=pager><button type=button id=pv>{back}</button><span id=n></span><button type=button id=nx>{on}</button></div><script>let page = 1;
                const load = () => {{ b.innerHTML = Array.from({{ length: 15 }}, (_, k) => page * 100 + k).map(x => `<tr><td>Title ${{x}}</td><td><button class=m data-h=${{x}}>Magnet</button></td></tr>`).join(''); n.textContent = page + ' / 5'; pv.disabled = page < 2; nx.disabled = page > 4 }};
                pv.onclick = () => {{ page--; load() }}; nx.onclick = () => {{ page++; load() }}; b.addEventListener('click', e => {{ const m = e.target.closest('.m'); if (m) location.href = '/t/' + m.dataset.h }}); load()</script>"
            ),
            75,
        );
    }
}
