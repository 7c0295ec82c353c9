//! Folders that show others in their place, in tables and lists, with files beside folders; and cards with their own buttons.

use super::again::read_faulty;
use super::live::is_whole;

/// An archive whose folders are rows of a list; `put` creates an empty list, `add` a row with a class, a name, a kind and an act, `file`
/// a row for a file.
fn archive(tree: &str, list: &str, put: &str, add: &str, file: &str) -> String {
    format!(
        "<h1>Archive</h1>{list}<div id=dialog hidden></div><script>const tree = {tree}, at = [], acts = [];
        const row = (cls, name, kind, act) => {{ {add} }};
        const show = () => {{ {put}; acts.length = 0; const dir = at.reduce((dir, name) => dir[name], tree);
            if (at.length) row('folder', '..', '', () => {{ at.pop(); show() }});
            for (const name of Object.keys(dir)) if (name != 'f') row('folder', name, 'folder', () => {{ at.push(name); show() }});
            for (let k = 0; k < (dir.f ?? 0); k++) {{ const id = [...at, k].join('-'); {file} }} }};
        show()</script>"
    )
}

const ONLY_FOLDERS: (&str, usize) = (
    "{ Films: { 2022: { f: 4 }, 2023: { f: 4 } }, Books: { f: 4 }, Music: { Rock: { f: 4 }, Jazz: { f: 4 } }, Games: { f: 4 } }",
    24,
);
const BOTH: (&str, usize) = (
    "{ f: 3, Films: { f: 4 }, Music: { f: 3, Rock: { f: 4 }, Jazz: { f: 4 } }, Books: { f: 4 }, Games: { f: 4 }, Tools: { f: 4 } }",
    30,
);

const TABLE: &str = "<table id=table></table>";
const ANEW: &str = "table.innerHTML = ''";
const CELLS: &str = "const r = table.insertRow(); r.className = cls; r.innerHTML = `<td>${name}</td><td>${kind}</td>`";
const DIALOG: &str = "row('file', `Title ${id}`, '1 GB', () => { dialog.hidden = false; dialog.innerHTML = `<a href=/t/${id}>Download</a> <button onclick='dialog.hidden = true'>Close</button>` })";
const LINK: &str = "row('file', `<a href=/t/${id}>Title ${id}</a>`, '1 GB', null)";

#[test]
fn folders_of_a_table_that_is_made_anew_are_read_to_their_files() {
    let own = format!("{CELLS}; r.onclick = act");
    let heard = format!("{CELLS}; r.dataset.n = acts.push(act) - 1");
    let listens = "table.onclick = event => acts[event.target.closest('tr')?.dataset.n]?.(); show()</script>";
    for (tree, files) in [ONLY_FOLDERS, BOTH] {
        for file in [DIALOG, LINK, "row('file', `Title ${id}`, '1 GB', () => { location.href = '/t/' + id })"] {
            is_whole(&archive(tree, TABLE, ANEW, &own, file), files);
            is_whole(&archive(tree, TABLE, ANEW, &heard, file).replace("show()</script>", listens), files);
        }
    }
}

#[test]
fn a_folder_with_files_and_folders_costs_nothing_beside_it() {
    let table = "<table><thead><tr><th>Name<th>Kind</thead><tbody id=table></tbody></table>";
    let item = "const r = document.createElement('li'); r.className = cls; r.innerHTML = `<span>${name}</span> <i>${kind}</i>`; r.onclick = act; table.append(r)";
    for file in [DIALOG, LINK] {
        is_whole(&archive(BOTH.0, table, ANEW, &format!("{CELLS}; r.onclick = act"), file), BOTH.1);
        is_whole(&archive(BOTH.0, "<ul id=table></ul>", ANEW, item, file), BOTH.1);
    }
}

#[test]
fn cards_are_clicked_and_their_buttons_of_harm_are_not() {
    let page = |tag: &str, label: &str| {
        format!(
            "<div id=grid></div><div id=dialog hidden></div><script>let harm = 0;
            for (let n = 0; n < 20; n++) {{ const card = document.createElement('{tag}'); card.className = 'card'; card.innerHTML = `<h4>Title ${{n}}</h4><button>{label}</button>`;
                card.onclick = () => {{ dialog.hidden = false; dialog.innerHTML = `<h3>Title ${{n}}</h3><a href=/t/${{n}}>get</a><button onclick='dialog.hidden = true'>Close</button>` }};
                card.querySelector('button').onclick = event => {{ event.stopPropagation(); harm++ }}; grid.append(card) }}</script>"
        )
    };
    for tag in ["div", "article", "li"] {
        for label in ["Like", "Follow", "Share", "Reply", "Add to list", "Delete"] {
            let read = read_faulty(&page(tag, label), "harm");
            assert_eq!((super::live::titles(&read), &*read.value), (20, "0"), "{tag} {label}: {:?}", read.acts());
        }
    }
    // An element without text belongs to its button, as does a count beside one; a harmful word of its own counts.
    for inside in
        ["<button>Like</button>", "<b>${n}</b> <button>Like</button>", "<b>Thanks ${n}</b> <button>Show</button>"]
    {
        let html = format!(
            "<div id=grid></div><script>let harm = 0; for (let n = 0; n < 20; n++) {{ const one = document.createElement('div'); one.className = 'x'; one.innerHTML = `{inside}`; one.onclick = () => harm++; grid.append(one) }}</script>"
        );
        let value = read_faulty(&html.replace("<button>Show</button>", "<button disabled>Show</button>"), "harm").value;
        assert_eq!(value, "0", "{inside}");
    }
}

#[test]
fn a_list_behind_links_that_draw_another_view_in_its_place_is_come_back_to() {
    let page = |to: &str, back: &str| {
        format!(
            "<div id=app></div><script>
            const list = () => {{ app.innerHTML = '<ul></ul>' + Array.from({{ length: 4 }}, (_, n) => `<p>Title ${{n}} <button onclick=\"location.href='/t/b${{n}}'\">Get</button></p>`).join('');
                for (let n = 0; n < 10; n++) {{ const row = document.createElement('li'); row.innerHTML = `Title number ${{n}} <a data-xf-click=overlay href=/show/${{n}}>Details</a>`;
                    row.lastChild.onclick = event => {{ {to}; app.innerHTML = `{back}<h2>Title ${{n}}</h2><a href=/t/${{n}}>torrent</a>`; const b = app.querySelector('.b'); if (b) b.onclick = list }}; app.firstChild.append(row) }} }};
            onpopstate = list; list()</script>"
        )
    };
    for (to, back, links) in [
        ("event.preventDefault(); history.pushState({}, '', event.target.href)", "", 14),
        ("event.preventDefault()", "<button class=b>Back</button>", 14),
        // A browser would have navigated: one click shows the effect of all.
        ("", "<button class=b>Back</button>", 5),
        ("history.pushState({}, '', event.target.href)", "", 5),
    ] {
        let read = read_faulty(&page(to, back), "app.querySelectorAll('li').length");
        assert_eq!((super::live::titles(&read), &*read.value), (links, "10"), "{to}: {:?}", read.acts());
    }
}

#[test]
fn links_of_one_class_that_are_called_otherwise_do_not_end_each_other() {
    for reseed in ["fetch('/post/0', { method: 'POST', body: '{}' }).then(() => posts++)", "return"] {
        let html = format!(
            "<ul id=list></ul><div id=dialog hidden></div><script>let posts = 0; for (let n = 0; n < 12; n++) {{ const row = document.createElement('li');
                row.innerHTML = `Title number ${{n}} <a class='btn overlay' href=/t/${{n}}/reseed>Reseed</a> <a class='btn overlay' href=/show/${{n}}>Details</a>`;
                const [reseed, details] = row.querySelectorAll('a'); reseed.onclick = event => {{ {reseed}; event.preventDefault() }};
                details.onclick = event => {{ event.preventDefault(); dialog.hidden = false; dialog.innerHTML = `<a href=/f/${{n}}>get</a><button onclick='dialog.hidden = true'>Close</button>` }}; list.append(row) }}</script>"
        );
        let read = read_faulty(&html, "posts");
        let files = read.urls().iter().filter(|url| url.contains("/f/")).count();
        assert_eq!((files, &*read.value), (12, "0"), "{reseed}: {:?}", read.acts());
    }
}

#[test]
fn links_of_two_rows_that_are_called_otherwise_do_not_end_each_other() {
    let html = "<ul id=list></ul><div id=dialog hidden></div><script>let posts = 0; for (let n = 0; n < 2; n++) { const row = document.createElement('li');
        row.innerHTML = `Title number ${n} <a class='btn overlay' href=/t/${n}/reseed>Reseed</a> <a class='btn overlay' href=/show/${n}>Details</a>`;
        const [reseed, details] = row.querySelectorAll('a');
        reseed.onclick = event => { event.preventDefault(); fetch('/post/0', { method: 'POST', body: '{}' }).then(() => posts++) };
        details.onclick = event => { event.preventDefault(); dialog.hidden = false; dialog.innerHTML = `<a href=/f/${n}>get</a><button onclick='dialog.hidden = true'>Close</button>` }; list.append(row) }</script>";
    let read = read_faulty(html, "posts");
    let files = read.urls().iter().filter(|url| url.contains("/f/")).count();
    assert_eq!((files, &*read.value), (2, "0"), "{:?}", read.acts());
}

#[test]
fn who_listens_above_cards_hears_no_click_on_their_buttons_of_harm() {
    for (inside, titles) in [
        ("<h4>Dune ${n}</h4><span role=button>Add to watch list</span>", [12, 12]),
        ("Any title ${n}<span role=button>Like</span>", [12, 12]),
        // Nothing shows that a word in a row is a control by itself.
        ("Four words of title ${n} <span class=l>Like</span>", [0, 12]),
        ("<b>${n}</b><span role=button>Add to watch list</span>", [0, 12]),
    ] {
        for (tag, titles) in ["div", "li"].into_iter().zip(titles) {
            let html = format!(
                "<div id=grid></div><div id=dialog hidden></div><script>let harm = 0, posts = 0;
                for (let n = 0; n < 12; n++) {{ const card = document.createElement('{tag}'); card.className = 'card'; card.dataset.id = n; card.innerHTML = `{inside}`; grid.append(card) }}
                grid.onclick = event => {{
                    if (event.target.closest('[role=button], .l')) {{ harm++; return fetch('/post/0', {{ method: 'POST', body: '{{}}' }}).then(() => posts++) }}
                    const card = event.target.closest('.card'); if (!card) return;
                    dialog.hidden = false; dialog.innerHTML = `<h3>Title ${{card.dataset.id}}</h3><a href=/t/${{card.dataset.id}}>get</a><button onclick='dialog.hidden = true'>Close</button>` }}</script>"
            );
            let read = read_faulty(&html, "harm + posts");
            assert_eq!((super::live::titles(&read), &*read.value), (titles, "0"), "{tag} {inside}: {:?}", read.acts());
        }
    }
}

#[test]
fn a_wrapper_that_listens_pays_no_price_and_posts_nothing_for_the_button_in_it() {
    for inside in
        ["Download torrent <button>5 points</button>", "<span>Enjoyed Title ${n}?</span> <button>Like</button>"]
    {
        let html = format!(
            "<div id=grid></div><script>let posts = 0; for (let n = 0; n < 5; n++) {{ const one = document.createElement('div'); one.className = 'x'; one.innerHTML = `{inside}`;
            one.onclick = () => fetch('/post/0', {{ method: 'POST', body: '{{}}' }}).then(() => posts++); grid.append(one) }}</script>"
        );
        assert_eq!(read_faulty(&html, "posts").value, "0", "{inside}");
    }
}

#[test]
fn nothing_is_posted_for_buttons_of_cards_that_have_their_link() {
    let links = ["<a href='/t/${i}'>Download</a>", "<button onclick='location.href = `/t/${i}`'>Download</button>"];
    for (label, link) in ["Thumbs up", "Trash", "Reset password", "Freeleech", "Notify me", "Star", "Nuke"]
        .into_iter()
        .zip(links.iter().cycle())
    {
        let link = link.replace("`/t/${i}`", "\\`/t/${i}\\`");
        let html = format!(
            "<div id=r></div><script>let posts = 0; for (let i = 0; i < 12; i++) {{ const c = document.createElement('div'); c.className = 'card';
                c.innerHTML = `<h3>Film number ${{i}}</h3>{link} <button>{label}</button>`;
                c.lastChild.onclick = () => fetch('/post/0', {{ method: 'POST', body: '{{}}' }}).then(() => posts++); r.append(c) }}</script>"
        );
        let read = read_faulty(&html, "posts");
        assert_eq!((super::live::titles(&read), &*read.value), (12, "0"), "{label}: {:?}", read.acts());
    }
}

#[test]
fn folders_are_opened_whose_files_are_links_that_react_to_being_chosen() {
    let html = "<ul id=t role=tree></ul><script>
        for (let f = 0; f < 6; f++) { const n = document.createElement('li'); n.setAttribute('role', 'treeitem'); n.setAttribute('aria-expanded', 'false'); n.innerHTML = `<div class=content>Folder ${f}</div>`; let k;
            n.firstChild.onclick = () => { const o = n.getAttribute('aria-expanded') === 'true'; n.setAttribute('aria-expanded', String(!o));
                if (!k) { k = document.createElement('ul'); k.setAttribute('role', 'group');
                    for (let j = 0; j < 12; j++) { const l = document.createElement('li'); l.setAttribute('role', 'treeitem'); l.innerHTML = `<div class=content><a href='/t/${f}-${j}'>Film ${f}-${j} of the year ${1900 + j}</a></div>`;
                        l.firstChild.onclick = () => { document.querySelectorAll('.sel').forEach(x => x.classList.remove('sel')); l.firstChild.classList.add('sel') }; k.append(l) }
                    n.append(k) }
                k.style.display = o ? 'none' : '' };
            t.append(n) }</script>";
    let read = read_faulty(html, "t.children.length");
    assert_eq!(super::live::titles(&read), 72, "{:?}", read.acts());
}

#[test]
fn a_list_of_choices_that_opens_when_it_is_pressed_down_is_gone_through() {
    for (tag, event) in [("div", "mousedown"), ("div", "pointerdown"), ("input", "mousedown"), ("div", "click")] {
        let html = format!(
            "<{tag} role=combobox aria-haspopup=listbox tabindex=0 id=c></{tag}><ul id=list></ul><script>
            const D = ['1910s', '1920s', '1930s'];
            const show = d => {{ c.textContent = d; list.innerHTML = ''; for (let i = 0; i < 5; i++) {{ const li = document.createElement('li'); li.innerHTML = `Film ${{d}} number ${{i}} <a href='/t/${{d}}-${{i}}'>Torrent</a>`; list.append(li) }} }};
            c.addEventListener('{event}', e => {{ const u = document.createElement('ul'); u.setAttribute('role', 'listbox');
                D.forEach(d => {{ const o = document.createElement('li'); o.setAttribute('role', 'option'); o.tabIndex = -1; o.textContent = d; o.onclick = () => {{ u.remove(); show(d) }}; u.append(o) }});
                document.body.append(u) }}); show(D[0])</script>"
        );
        let read = read_faulty(&html, "list.children.length");
        assert_eq!(super::live::titles(&read), 15, "{tag} {event}: {:?}", read.acts());
    }
}

#[test]
fn a_list_is_scrolled_until_its_end_is_seen_and_no_farther() {
    let html = "<div id=s style='height:200px;overflow:auto'><div id=inner style='height:500px'></div></div>
        <p id=told></p><script>s.scrollTop = 9999; told.textContent = s.scrollTop</script>";
    assert_eq!(read_faulty(html, "told.textContent").value, "300");
    let edges = "(() => { 'use strict'; const r = s.getBoundingClientRect(); r.x = 5; s.setPointerCapture(1); return r.left + ' ' + s.hasPointerCapture(1) })()";
    assert_eq!(read_faulty(html, edges).value, "5 false");
}

#[test]
fn a_row_whose_click_only_closes_what_lay_over_it_is_pressed_again() {
    let html = "<div id=rows></div><div id=m role=dialog aria-modal=true style='display:none'><h5></h5><div></div><button aria-label=Close></button></div><script>
        m.lastElementChild.onclick = () => { m.style.display = 'none' };
        for (let i = 0; i < 30; i++) { const d = document.createElement('div'); d.className = 'card'; d.innerHTML = `<h5>Film number ${i}</h5><button>Info</button>`;
            d.lastChild.onclick = () => { if (m.style.display === '') { m.style.display = 'none'; return }
                m.children[0].textContent = 'Film number ' + i; m.children[1].innerHTML = `<a href='/t/${i}'>Download</a>`; m.style.display = '' };
            rows.append(d) }</script>";
    let read = read_faulty(html, "rows.children.length");
    assert_eq!(super::live::titles(&read), 30, "{:?}", read.acts());
}

#[test]
fn rows_that_are_drawn_while_they_are_in_view_are_pressed_window_by_window() {
    let html = "<div id=s style='height:500px;overflow:auto;position:relative'><div id=inner style='height:5040px'></div></div><aside id=a></aside><script>
        const draw = () => { inner.innerHTML = ''; const first = Math.floor(s.scrollTop / 42);
            for (let i = first; i < Math.min(120, first + 14); i++) { const d = document.createElement('div'); d.style.cssText = 'position:absolute;height:42px;top:' + i * 42 + 'px';
                d.setAttribute('role', 'row'); d.textContent = 'Film number ' + i; d.onclick = () => { a.innerHTML = `<a href='/t/${i}'>Download</a>` }; inner.append(d) } };
        s.addEventListener('scroll', draw); draw()</script>";
    let read = read_faulty(html, "inner.children.length");
    assert_eq!(super::live::titles(&read), 120, "{:?}", read.acts());
}
