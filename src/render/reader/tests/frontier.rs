//! Rows that disappeared before their turn, and are revisited or reported.

use super::again::read_faulty;
use super::live::{is_whole, titles};
use super::*;

const ROWS: &str = "const rows = (of, n = 10) => { list.innerHTML = ''; for (let k = 0; k < n; k++) {
    const row = document.createElement('p'); row.innerHTML = `<b>Title ${of} ${k}</b> ROW`;
    const b = row.querySelector('button'); if (b) b.onclick = () => location.href = `/t/${of}-${k}`; else row.querySelector('a').href = `/t/${of}-${k}`; list.append(row) } };";

fn rows(row: &str) -> String {
    ROWS.replace("ROW", row)
}

const BUTTON: &str = "<button class=g>Get</button>";
const BARE: &str = "<button>Get</button>";
const LINK: &str = "<a>get</a>";

#[test]
fn tabs_without_a_name_for_it_over_rows_of_buttons_are_read_one_by_one() {
    for row in [BUTTON, BARE, LINK] {
        for tab in [
            "<button data-n=${n}>${name}</button>",
            "<li><a class='nav-link${n ? \"\" : \" active\"}' href=# data-n=${n}>${name}</a></li>",
            "<span class=chip tabindex=0 data-n=${n}>${name}</span>",
        ] {
            is_whole(
                &format!(
                    "<div id=tabs></div><div id=list></div><script>{}
                    tabs.innerHTML = ['Films', 'Music', 'Books', 'Games'].map((name, n) => `{tab}`).join('');
                    tabs.onclick = event => {{ event.preventDefault(); const to = event.target.dataset.n; if (!to) return;
                        tabs.querySelectorAll('.nav-link').forEach(one => one.classList.toggle('active', one == event.target)); rows(to) }};
                    rows(0)</script>",
                    rows(row)
                ),
                40,
            );
        }
    }
}

#[test]
fn two_rows_of_tabs_are_read_as_their_product() {
    for row in [BUTTON, BARE, LINK] {
        for (tab, words) in [
            ("<button data-n=${n}>${name}</button>", "['2022', '2023']"),
            ("<button role=tab data-n=${n}>${name}</button>", "['New', 'Old', 'Best']"),
        ] {
            let years = words.matches(',').count() + 1;
            is_whole(
                &format!(
                    "<div id=kinds></div><div id=ages></div><div id=list></div><script>{}
                    let kind = 0, age = 0; const show = () => rows(kind + '-' + age, 5);
                    kinds.innerHTML = ['Films', 'Music', 'Books'].map((name, n) => `{tab}`).join(''); ages.innerHTML = {words}.map((name, n) => `{tab}`).join('');
                    kinds.onclick = event => {{ kind = event.target.dataset.n ?? kind; show() }}; ages.onclick = event => {{ age = event.target.dataset.n ?? age; show() }}; show()</script>",
                    rows(row)
                ),
                3 * years * 5,
            );
        }
    }
}

#[test]
fn two_pages_behind_each_tab_are_read_though_but_one_number_can_be_pressed_at_a_time() {
    for row in [BUTTON, BARE] {
        for kind in ["class=tab", "role=tab"] {
            is_whole(
                &format!(
                    "<div id=tabs></div><div id=list></div><div id=pager></div><script>{}
                    let tab = 0; const show = page => {{ rows(tab + '-' + page, 5); pager.innerHTML = '';
                        for (const n of [1, 2]) {{ const b = document.createElement('button'); b.textContent = n; b.disabled = n == page; b.onclick = () => show(n); pager.append(b) }} }};
                    tabs.innerHTML = ['Films', 'Music', 'Books', 'Games'].map((name, n) => `<button {kind} data-n=${{n}}>${{name}}</button>`).join('');
                    tabs.onclick = event => {{ if (!event.target.dataset.n) return; tab = event.target.dataset.n; show(1) }}; show(1)</script>",
                    rows(row)
                ),
                40,
            );
        }
    }
}

#[test]
fn tabs_within_sections_are_opened_in_each_and_no_section_is_closed() {
    for head in [
        "<button class=head>${year}</button>",
        "<h3 class=head role=button tabindex=0 aria-expanded=false>${year}</h3>",
    ] {
        is_whole(
            &format!(
                "<div id=all></div><script>all.innerHTML = [2022, 2023].map(year => `<section>{head}<div class=body hidden><div>` +
                    ['Films', 'Music', 'Books'].map(kind => `<button class=tab data-at=${{kind}}-${{year}}>${{kind}}</button>`).join('') + '</div><div class=part></div></div></section>').join('');
                const show = tab => tab.closest('.body').querySelector('.part').innerHTML = Array.from({{ length: 5 }}, (_, k) => `<p><a href=/t/${{tab.dataset.at}}-${{k}}>x</a></p>`).join('');
                all.onclick = event => {{ const head = event.target.closest('.head'), tab = event.target.closest('.tab');
                    if (head) {{ const body = head.nextElementSibling; body.hidden = !body.hidden; if (!body.querySelector('p')) show(body.querySelector('.tab')) }} if (tab) show(tab) }}</script>"
            ),
            30,
        );
    }
}

#[test]
fn menus_that_stand_hidden_in_each_row_are_opened_for_what_they_get() {
    for (menu, get, others) in [
        ("<div class=menu style='display:none'>GET</div>", "<button class=get data-id=${k}>Download</button>", ""),
        (
            "<ul class=menu style='display:none'><li>GET</li><li><a href=# class=copy>Share</a></li></ul>",
            "<a href=# class=get data-id=${k}>Download</a>",
            "all.querySelectorAll('.menu').forEach(one => one != menu && (one.style.display = 'none'));",
        ),
    ] {
        let menu = menu.replace("GET", get);
        is_whole(
            &format!(
                "<div id=all></div><script>all.innerHTML = Array.from({{ length: 24 }}, (_, k) => `<div class=item><b>Title ${{k}}</b> <button class=toggle>Actions</button>{menu}</div>`).join('');
                all.onclick = event => {{ const toggle = event.target.closest('.toggle'), get = event.target.closest('.get'); event.preventDefault();
                    if (toggle) {{ const menu = toggle.nextElementSibling; {others} menu.style.display = menu.style.display ? '' : 'none' }} if (get) location.href = '/t/' + get.dataset.id }}</script>"
            ),
            24,
        );
    }
}

#[test]
fn whoever_stops_before_other_tabs_says_so() {
    for (tabs, left) in
        [("<button role=tab onclick=1>Films</button><button role=tab onclick=1>Music</button>", true), ("", false)]
    {
        let dead = |class: &str| format!("<p><button class={class} onclick=1>Title</button></p>").repeat(3);
        let html = format!("{tabs}{}{}{}", dead("a"), dead("b"), dead("c"));
        let cut = read_with(&html, &[], Seeks { tries: 4, ..Seeks::ALL }, "0", Viewport::default()).told.cut;
        assert_eq!(cut.map(|cut| (cut.bound, cut.tabs)), Some((Bound::Tries, left)));
    }
}

#[test]
fn folders_hold_files_of_another_class() {
    for (up, name) in [("<button id=up>⬆ Up</button>", "tile"), ("<button id=up>Back</button>", "row")] {
        is_whole(
            &format!(
                "{up}<div id=grid></div><script>const at = []; const years = ['2022', '2023'], kinds = ['video', 'audio', 'books'];
                const show = () => {{ grid.innerHTML = ''; up.disabled = !at.length; const put = (name, text, click) => {{ const one = document.createElement('div'); one.className = '{name} ' + name; one.textContent = text; one.onclick = click; grid.append(one) }};
                    if (at.length < 2) for (const of of at.length ? years : kinds) put('folder', of, () => {{ at.push(of); show() }});
                    else for (let k = 0; k < 5; k++) put('file', `Title ${{at.join(' ')}} ${{k}}.torrent`, () => {{ location.href = `/t/${{at.join('-')}}-${{k}}` }}) }};
                up.onclick = () => {{ at.pop(); show() }}; show()</script>"
            ),
            30,
        );
    }
}

/// Four sections of three pages each, whose "Load more" is below their own rows.
fn sections(row: &str, body: &str, get: &str) -> String {
    format!(
        "<div id=all></div>{body}<script>const kinds = ['video', 'audio', 'books', 'software'], pages = {{}};
        all.innerHTML = kinds.map(kind => `<div class=item><button class=head aria-expanded=false data-c=${{kind}}>${{kind}}</button><div class=body BODY><ul></ul><button class=more>Load more</button></div></div>`).join('');
        const load = item => {{ const kind = item.querySelector('.head').dataset.c, at = pages[kind] = (pages[kind] || 0) + 1;
            item.querySelector('ul').insertAdjacentHTML('beforeend', Array.from({{ length: 6 }}, (_, k) => `<li>Title ${{kind}} ${{at * 6 + k}} {row}</li>`).join(''));
            item.querySelector('.more').hidden = at == 3 }};
        all.onclick = event => {{ const of = name => event.target.closest(name), head = of('.head'), more = of('.more'), get = of('.g');
            if (head) {{ const body = head.nextElementSibling; if (body.hidden) body.hidden = false; else if (body.dataset.shuts) body.hidden = true; if (body.dataset.shuts && !body.querySelector('li')) load(head.parentNode) }}
            if (more) load(more.closest('.item')); if (get) {get} }}</script>"
    )
}

#[test]
fn more_below_the_rows_of_a_section_is_pressed_to_its_end() {
    let shut = sections(
        "<button class=g data-id=${kind}-${at}-${k}>Get</button>",
        "",
        "location.href = '/t/' + get.dataset.id",
    );
    is_whole(&shut.replace("BODY", "hidden data-shuts=1"), 72);
    let open = sections(
        "<button class=g data-id=${kind}-${at}-${k}>Info</button>",
        "<div id=dialog hidden><a id=file>Download</a></div>",
        "{ dialog.hidden = false; file.href = '/t/' + get.dataset.id }",
    );
    is_whole(&open.replace("BODY", ""), 72);
}

#[test]
fn choices_of_a_list_have_numbered_pages_of_their_own() {
    is_whole(
        "<select id=kind><option>Films<option>Music<option>Books</select><div id=list></div><div class=pagination id=bar></div><script>let at = 1;
        const show = () => { list.innerHTML = Array.from({ length: 5 }, (_, k) => `<p><a href='/t/${kind.value}-${at}-${k}'>x</a></p>`).join(''); bar.innerHTML = '';
            for (let n = 1; n < 5; n++) { const b = document.createElement('button'); b.textContent = n; b.className = n == at ? 'active' : ''; b.onclick = () => { at = n; show() }; bar.append(b) } };
        kind.onchange = () => { at = 1; show() }; show()</script>",
        60,
    );
}

#[test]
fn choices_of_several_lists_are_shown_by_the_button_beside_them() {
    is_whole(
        "<div><select id=kind><option value=''>Choose a category<option>Films<option>Music<option>Books</select> <select id=age disabled><option value=''>Year</select> <button type=button id=go>Apply</button></div><div id=list></div><script>
        kind.onchange = async () => { await 0; age.innerHTML = '<option value=\"\">Year</option>' + [2022, 2023, 2024].map(year => `<option>${year}</option>`).join(''); age.disabled = false };
        go.onclick = () => { if (kind.value && age.value) list.innerHTML = Array.from({ length: 5 }, (_, k) => `<p><a href='/t/${kind.value}-${age.value}-${k}'>x</a></p>`).join('') }</script>",
        45,
    );
}

#[test]
fn a_pager_that_passes_by_pages_is_turned_page_by_page() {
    is_whole(
        "<ul id=list></ul><ul id=bar></ul><script>let at = 1; const last = 20;
        const show = to => { at = Math.max(1, Math.min(last, to)); list.innerHTML = Array.from({ length: 5 }, (_, k) => `<li><a href=/t/${at}-${k}>x</a></li>`).join(''); bar.innerHTML = '';
            const put = (title, text, to, name = 'item') => { const li = document.createElement('li'); li.title = title; li.className = 'pg-' + name; li.tabIndex = 0; li.innerHTML = `<a rel=nofollow>${text}</a>`; li.onclick = () => show(to); bar.append(li) };
            if (at > 1) put('Previous Page', '<', at - 1, 'prev'); put('1', '1', 1); if (at > 3) put('Previous 5 Pages', '•••', at - 5, 'jump-prev');
            for (let n = Math.max(2, at - 2); n <= Math.min(last - 1, Math.max(5, at + 2)); n++) put(n, n, n); if (at < last - 3) put('Next 5 Pages', '•••', at + 5, 'jump-next');
            put(last, last, last); if (at < last) put('Next Page', '>', at + 1, 'next') };
        show(1)</script>",
        100,
    );
}

#[test]
fn rows_that_went_before_their_turn_and_came_back_no_more_are_told() {
    let html = format!(
        "<div id=tabs></div><div id=list></div><script>{}
        tabs.innerHTML = ['Films', 'Music', 'Books'].map((name, n) => `<button class=tab data-n=${{n}}>${{name}}</button>`).join('');
        rows(9, 6); setTimeout(() => {{ tabs.onclick = event => rows(event.target.dataset.n) }}, 1);
        let gone = 0; list.addEventListener('click', () => {{ if (++gone == 3) [...list.children].slice(3).forEach(row => row.remove()) }})</script>",
        rows(BUTTON)
    );
    let read = read_faulty(&html, "0");
    let cut = read.told.cut.clone();
    assert_eq!(cut.as_ref().map(|cut| cut.bound), Some(Bound::Unopened), "{:?}", read.acts());
    assert_eq!(cut.map(|cut| cut.words()).as_deref(), Some("3 rows that it showed were not opened"));
}

#[test]
fn a_button_beside_choices_is_pressed_only_where_they_need_it_and_bring_something() {
    let page = |wires: &str, label: &str| {
        let options = |n: u32| (0..n).map(|k| format!("<option value={k}>choice{k}x</option>")).collect::<String>();
        let html = format!(
            "<select id=a><option value=''>All</option>{}</select><select id=b><option value=''>All</option>{}</select><button id=go type=button>{label}</button><ul id=list></ul><script>
            let drawn = 0, gone = 0; const is = (of, n) => of.value === '' || of.value == n;
            const draw = () => {{ drawn++; list.innerHTML = Array.from({{ length: 40 }}, (_, k) => k).filter(k => is(a, k % 12) && is(b, k % 9)).map(k => `<li><a href=/t/${{k}}>Title ${{k}}</a>`).join('') }};
            draw(); {wires}</script>",
            options(12),
            options(9)
        );
        let read = read_faulty(&html, "drawn + ' ' + gone");
        (titles(&read), read.told.cut, read.value)
    };
    for (wires, label) in [("go.onclick = draw", "Apply"), ("a.onchange = b.onchange = go.onclick = draw", "Search")] {
        let (links, cut, drawn) = page(wires, label);
        let drawn: u32 = drawn.split(' ').next().and_then(|drawn| drawn.parse().ok()).unwrap();
        assert!(links == 40 && cut.is_none() && drawn < 30, "{label}: {links} links, {drawn} draws, {cut:?}");
    }
    let (.., value) = page("a.onchange = draw; go.onclick = () => gone++", "Go premium");
    assert!(value.ends_with(" 1") || value.ends_with(" 0"), "{value}");
}

#[test]
fn a_list_with_a_pane_of_similar_rows_beside_it_is_read_whole() {
    is_whole(
                "<table id=torrents><tbody id=list></tbody></table><div id=pane></div><script>
                const row = (k, name) => `<tr ${name} data-k=${k}><td>Title number ${k}</td><td>${1000 + k} MB</td></tr>`;
                list.innerHTML = Array.from({ length: 12 }, (_, k) => row(k, '')).join('');
                const view = k => { pane.innerHTML = `<h2>Title ${k}</h2><a href=/t/${k}>torrent</a><table id=similar>` + Array.from({ length: 4 }, (_, n) => row((k * 7 + n * 5 + 1) % 12, '')).join('') + '</table>' };
                document.addEventListener('click', event => { const one = event.target.closest('tr'); if (one) view(+one.dataset.k) })</script>",
            12,
        );
}

#[test]
fn rows_that_are_called_by_their_category_are_of_one_list() {
    is_whole(
        "<table><tbody id=list></tbody></table><button id=next>Next</button><script>let page = 0; const names = ['movies', 'tv', 'games', 'movies', 'tv', 'movies', 'music', 'music', 'games', 'tv'];
        const show = () => { list.innerHTML = ''; names.forEach((name, k) => { const row = document.createElement('tr'); row.className = name; row.innerHTML = `<td>Title ${'abcdefghij'[k]} of ${'xyz'[page]}</td><td><button>Get</button></td>`;
            const to = `/t/${page}-${k}`; row.querySelector('button').onclick = () => location.href = to; list.append(row) }); next.disabled = page == 2 };
        next.onclick = () => { page++; show() }; show()</script>",
        30,
    );
}
