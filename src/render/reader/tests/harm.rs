//! What the reader never clicks: actions on rows, menus, and boxes that keep, choose or delete something.

use super::again::read_faulty;
use super::*;

/// The answered POSTs of a page, and the number of links it has shown.
fn posted(page: &str) -> (String, usize) {
    let html = format!(
        "<script>const posts = []; const post = w => fetch('/post/0', {{ method: 'POST', body: '{{}}' }}).then(() => posts.push(w), () => 0)</script>{page}"
    );
    let read = read_faulty(&html, "posts.join()");
    let links = read.urls().iter().filter(|url| url.contains("/t/")).count();
    (read.value, links)
}

#[test]
fn actions_that_repeat_in_each_row_are_no_titles() {
    let acts = "<div id=l></div><script>for (let i = 0; i < 8; i++) { const d = document.createElement('div'); d.className = 'row';
        d.innerHTML = `Torrent ${i} <span class=KIND>Show file list</span> <span class=KIND>Say thank you</span> <span class=KIND>Give a like</span> <span class=KIND>Let us all thank the uploader of torrent ${i}</span><div></div>`;
        const [a, b, c, e] = d.querySelectorAll('.KIND'); a.onclick = () => d.lastChild.innerHTML = `<a href=/t/${i}>get</a>`;
        b.onclick = () => post('thank'); c.onclick = () => post('like'); e.onclick = () => post('long'); l.append(d) }</script>";
    for kind in ["act", "plain"] {
        assert_eq!(posted(&acts.replace("KIND", kind)), (String::new(), 8), "{kind}");
    }
}

#[test]
fn menus_and_long_texts_of_harm_are_left_alone() {
    let menu = "<div class=menu></div><p id=o></p><script>
        for (const w of ['Show all files', 'Show the comments', 'Show the trackers', 'Show peers now', 'Show the history', 'Permanently delete this torrent', 'Please report this torrent', 'Log me out', 'Yes, remove it', 'Pay 5 coins'])
        { const e = document.createElement('a'); e.href = '#'; e.className = 'KIND'; e.textContent = w; e.onclick = ev => { ev.preventDefault(); /Show/.test(w) ? o.innerHTML = `<a href=/t/${w.length}${w[9]}>x</a>` : post(w) }; document.querySelector('.menu').append(e) }</script>";
    for kind in ["dropdown-item", "x"] {
        let (posts, links) = posted(&menu.replace("KIND", kind));
        assert_eq!((&*posts, links > 2), ("", true), "{kind}");
    }
    let buttons = "<div id=l></div><p id=out></p><script>
        for (const w of ['Overview', 'Statistics', 'Trackers', 'Peers', 'Mirrors', 'Files', 'I confirm that I am an adult and I want to delete my account now']) { const b = document.createElement('button'); b.className = 'btn'; b.textContent = w;
            b.onclick = () => w.length > 30 ? post(w) : out.innerHTML = `<a href=/t/${w}>x</a>`; l.append(b) }</script>";
    assert_eq!(posted(buttons), (String::new(), 6));
    let long = "<a href=/t/1>x</a><script>const w = 'I confirm that I am an adult and I want to delete my account now';
        for (const t of ['a', 'div', 'span', 'p']) { const e = document.createElement(t); if (t == 'a') e.href = '#'; e.textContent = w + ' ' + t; e.onclick = ev => { ev.preventDefault(); post(t) }; document.body.append(e) }
        for (const w of ['Torrent removal: delete this torrent and all of its files for ever', 'Getting rid of it: remove this upload and all of its comments now']) {
            const b = document.createElement('button'); b.textContent = w; b.onclick = () => post(w); document.body.append(b) }</script>";
    assert_eq!(posted(long), (String::new(), 1));
}

#[test]
fn controls_without_words_are_known_by_their_pictures_and_post_nothing() {
    let page = "<ul id=l></ul><script>for (let n = 0; n < 12; n++) { const row = document.createElement('li'); row.innerHTML = `<span>Title number ${n}</span> <button class=g>Get</button> PICTURE`;
        row.querySelector('.g').onclick = () => location.href = '/t/' + n; row.querySelector('.act').onclick = () => post(n); l.append(row) }</script>";
    for picture in [
        "<button class='act btn'><i class='fa fa-trash'></i></button>",
        "<button class='act btn'><i class='fa fa-heart'></i></button>",
        "<button class=act><svg data-testid=DeleteIcon><path d=M1 /></svg></button>",
        "<button class=act><svg><path d=M1 /></svg></button>",
        "<button class=act><svg><use href='/icons.svg#trash-2'></use></svg></button>",
        "<button class='act p-button'><span class='p-button-icon pi pi-thumbs-up'></span></button>",
        "<a href=# class=act><img src=/img/del.png></a>",
        "<button class=act>▲</button>",
        "<button class=act>+1</button>",
        "<button class=act>🔔</button>",
        "<button class=act>Hide</button>",
        "<span class='act vote'>⬆ 12</span>",
    ] {
        assert_eq!(posted(&page.replace("PICTURE", picture)).0, "", "{picture}");
    }
    let table = "<table><tbody id=l></tbody></table><script>l.innerHTML = Array.from({ length: 12 }, (_, n) => `<tr data-k=${n}>CELL<td>Title ${n}</td></tr>`).join('');
        l.addEventListener('click', event => { if (event.target.closest('i, span')) post('harm') })</script>";
    for cell in [
        "<td class=details><i class='fa fa-info-circle'></i> <i class='fa fa-trash'></i></td>",
        "<td class=detail><i class='fa fa-heart'></i></td>",
        "<td class=torrent-details><span class='glyphicon glyphicon-heart' title='Say thanks'></span></td>",
    ] {
        assert_eq!(posted(&table.replace("CELL", cell)).0, "", "{cell}");
    }
}

#[test]
fn controls_without_words_that_give_what_they_name_are_pressed() {
    let page = "<ul id=l></ul><script>for (let n = 0; n < 12; n++) { const row = document.createElement('li'); row.innerHTML = `<span>Title number ${n}</span> PICTURE`;
        row.querySelector('.act').onclick = () => row.insertAdjacentHTML('beforeend', `<a href=/t/${n}>x</a>`); l.append(row) }</script>";
    for picture in [
        "<button class='act btn'><i class='fa fa-download'></i></button>",
        "<button class=act><svg><path d=M1 /></svg></button>",
        "<span class=act>🧲</span>",
    ] {
        assert_eq!(posted(&page.replace("PICTURE", picture)), (String::new(), 12), "{picture}");
    }
}

#[test]
fn rows_that_say_much_are_members_of_their_list_whatever_they_say() {
    let html = "<div id=l></div><script>for (let n = 0; n < 9; n++) { const d = document.createElement('div'); d.className = 'card'; d.textContent = `Title ${n} of a year, 12 likes, 3 comments, add one, report it, share it`;
        d.onclick = () => d.innerHTML += `<a href=/t/${n}>x</a>`; l.append(d) }</script>";
    assert_eq!(posted(html), (String::new(), 9));
}

#[test]
fn boxes_that_keep_choose_or_delete_something_are_not_ticked() {
    let favourites = "<ul id=l></ul><script>for (let i = 0; i < 12; i++) { const d = document.createElement('li'); d.innerHTML = `<input type=checkbox NAMED> <a href=/t/${i}>Torrent number ${i}</a>`; d.firstChild.onchange = () => post(i); l.append(d) }</script>";
    for named in ["class=fav", "title='Add to favourites'", "aria-label=Bookmark", "name=seen[]", "class=pick"] {
        assert_eq!(posted(&favourites.replace("NAMED", named)), (String::new(), 12), "{named}");
    }
    let poll = "<a href=/t/1>x</a><form id=poll><ul><li><label><input type=checkbox name=o value=1 onchange='this.form.requestSubmit()'> x264</label></li><li><label><input type=checkbox name=o value=2 onchange='this.form.requestSubmit()'> x265</label></li><li><label><input type=checkbox name=o value=3 onchange='this.form.requestSubmit()'> av1</label></li></ul></form><script>KIND = e => { e.preventDefault(); post('ballot') };</script>";
    for kind in ["poll.onsubmit", "document.onsubmit"] {
        assert_eq!(posted(&poll.replace("KIND", kind)), (String::new(), 1), "{kind}");
    }
}

/// Six pages of twenty links, with filters by kind above them; `ticked` says which rows a set of filters leaves, `anew` whether the boxes
/// are redrawn with the list.
fn filters(labels: &str, left: &str, anew: bool, sticks: bool) -> String {
    format!(
        "<div id=boxes></div><div id=app></div><script>let page = 0; const set = new Set(), labels = '{labels}'.split(',');
        const boxes = () => {{ document.getElementById('boxes').innerHTML = '<ul>' + labels.map(c => `<li><label><input type=checkbox ${{set.has(c) ? 'checked' : ''}} value='${{c}}'> ${{c}}</label></li>`).join('') + '</ul>';
            for (const b of document.querySelectorAll('input')) b.onchange = e => {{ e.target.checked ? set.add(b.value) : {sticks} || set.delete(b.value); draw() }} }};
        const draw = () => {{ if ({anew}) boxes(); const rows = [];
            for (let k = 0; k < 20; k++) {{ const c = labels[k % labels.length]; if ({left}) rows.push(`<p><a href=/t/${{page * 20 + k}}>x</a></p>`) }}
            app.innerHTML = rows.join('') + (page < 5 ? '<button id=next>Next</button>' : ''); const next = document.querySelector('#next'); if (next) next.onclick = () => {{ page++; draw() }} }};
        boxes(); draw()</script>"
    )
}

#[test]
fn filters_are_left_as_they_were() {
    let (only, not) = ("!set.size || set.has(c)", "!set.has(c)");
    for labels in ["Hide Games,Hide Audio,Hide Books,Hide Video", "Games,Audio,Books,Video"] {
        for left in [only, not] {
            for anew in [true, false] {
                let read = read_page_of(&filters(labels, left, anew, false), "set.size");
                assert_eq!(
                    (read.urls().len(), &*read.value, read.told.cut),
                    (120, "0", None),
                    "{labels} {left} {anew}"
                );
            }
        }
    }
    let read = read_page_of(&filters("Games,Audio,Books,Video", only, true, true), "set.size");
    assert_eq!(read.value, "1", "one box, and no other of its kind");
    assert!(read.told.cut.is_some_and(|cut| cut.bound == Bound::NoWayBack), "what it took away is told");
}

#[test]
fn what_a_member_pays_or_keeps_by_is_no_step_to_a_link() {
    let page = "<table><tbody id=l></tbody></table><div id=menu></div><script>let harm = [];
        for (let n = 0; n < 6; n++) { const row = document.createElement('tr'); row.innerHTML = `<td>Snatch ${2000 + n}</td><td><button>⋯</button></td>`; l.append(row);
            row.querySelector('button').onclick = () => { menu.innerHTML = ''; for (const w of ['Snatch', 'Move to cart', 'Ignore', 'Use token']) { const e = document.createElement('div'); e.setAttribute('role', 'menuitem'); e.textContent = w;
                e.onclick = () => harm.push(w); menu.append(e) }
                const e = document.createElement('div'); e.setAttribute('role', 'menuitem'); e.textContent = 'View details'; e.onclick = () => location.href = '/t/' + n; menu.append(e) } }</script>";
    let read = read_faulty(page, "harm.join()");
    let gone = read.gone.iter().filter(|url| url.contains("/t/")).collect::<std::collections::HashSet<_>>().len();
    assert_eq!((gone, &*read.value), (6, ""), "{:?}", read.acts());
}

#[test]
fn links_that_open_something_here_post_nothing_and_are_no_gates() {
    let page = "<ul id=l></ul><script>for (let n = 0; n < 8; n++) { const row = document.createElement('li'); row.innerHTML = `Title number ${n} LINK`;
        row.querySelector('a').onclick = event => { event.preventDefault(); WHAT }; l.append(row) }</script>";
    for (link, what) in [
        ("<a class=modal-link data-remote=true href=/t/${n}/reseed>Request reseed</a>", "post(n)"),
        ("<a data-toggle=modal href=/t/${n}/claim>Claim</a>", "post(n)"),
        ("<a data-toggle=modal href=/t/delete/${n}>Details</a>", "posts.push(n)"),
        ("<a data-toggle=modal href='/t/${n}?action=thank'>Grazie</a>", "posts.push(n)"),
        ("<a data-toggle=modal href=/t/accept/${n}>Accept</a>", "posts.push(n)"),
    ] {
        assert_eq!(posted(&page.replace("LINK", link).replace("WHAT", what)), (String::new(), 8), "{link}");
    }
}

#[test]
fn what_names_its_price_is_not_pressed_and_other_numbers_are_no_prices() {
    let page = "<ul id=l></ul><div id=d></div><script>const price = ['PRICE'];
        for (let n = 0; n < 12; n++) { const row = document.createElement('li'); row.innerHTML = `<span class=t>Title number ${n}</span>`; l.append(row);
            row.firstChild.onclick = () => { d.innerHTML = n % 6 == 1 ? `<TAG class=b>PRICE</TAG>` : `<a href=/t/${n}>x</a>`; const b = d.querySelector('.b'); if (b) b.onclick = () => post(n) } }</script>";
    for tag in ["button", "span", "a"] {
        for price in ["Get it for 5 points", "Download (5 points)", "Get for 2 €", "Get with 1 freeleech token"] {
            let page = page.replace("</TAG", &format!("</{tag}")).replace("TAG", tag).replace("PRICE", price);
            assert_eq!(posted(&page), (String::new(), 10), "{tag} {price}");
        }
    }
    let page = "<ul id=l></ul><script>for (let n = 0; n < 8; n++) { const row = document.createElement('li'); row.innerHTML = `<span>Title number ${n}</span> <button>GETS</button><p></p>`; l.append(row);
        row.children[1].onclick = () => fetch('/post/0', { method: 'POST', body: '{}' }).then(() => row.lastChild.innerHTML = `<a href=/t/${n}>x</a>`) }</script>";
    for gets in ["5 seeds", "Download (5 MB)", "Get 3 files"] {
        assert_eq!(posted(&page.replace("GETS", gets)).1, 8, "{gets}");
    }
}

#[test]
fn nothing_is_posted_for_an_option_of_a_list_that_scripts_build() {
    let page = "<a href=/t/1>x</a><button id=open_ aria-haspopup=listbox>Online</button><script>open_.onclick = () => { if (document.querySelector('[role=listbox]')) return;
        const box = document.createElement('div'); box.setAttribute('role', 'listbox'); for (const c of ['Online', 'Away', 'Busy']) { const o = document.createElement('div'); o.setAttribute('role', 'option'); o.textContent = c; o.onclick = () => { post(c); box.remove() }; box.append(o) } document.body.append(box) }</script>";
    assert_eq!(posted(page), (String::new(), 1));
}
