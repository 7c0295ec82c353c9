//! Select lists built by scripts, and menus that block the page: ARIA's patterns, in the variants of common libraries.

use super::*;

/// A list of five choices, each of which shows six links; `script` creates what the trigger opens.
fn chooser(trigger: &str, options: &str, script: &str) -> String {
    format!(
        "<div id=root><h1>Index</h1>{trigger}<div id=holder>{options}</div><div id=bar></div><ul id=list></ul></div><script>
        const cats = ['Movies', 'Series', 'Music', 'Games', 'Books']; let cat = 'Movies', chip = 0, opened = 0;
        const trigger = document.querySelector('[aria-haspopup=listbox], [role=combobox]');
        const draw = () => {{ list.innerHTML = Array.from({{ length: 6 }}, (_, n) => `<li>Title <a href=/t/${{cat}}-${{chip}}-${{n}}>x</a></li>`).join('') }};
        const pick = to => {{ cat = to; draw(); shut() }};
        {script}; draw()</script>"
    )
}

fn torrents(read: &ReadOutcome) -> usize {
    read.urls().iter().filter(|url| url.contains("/t/")).count()
}

/// Opens on mousedown, closes on Escape, and recreates its options each time.
const PORTAL: &str =
    "trigger.onmousedown = () => { if (document.querySelector('[role=listbox]')) return; opened++;
        const box = document.createElement('div'); box.setAttribute('role', 'listbox'); document.body.append(box); root.inert = true; trigger.setAttribute('aria-expanded', 'true');
        for (const c of cats) { const o = document.createElement('div'); o.setAttribute('role', 'option'); o.textContent = c; o.addEventListener('pointerup', () => pick(c)); box.append(o) }
        box.tabIndex = -1; box.focus(); box.onkeydown = event => { if (event.key == 'Escape') shut() } };
        const shut = () => { document.querySelector('[role=listbox]')?.remove(); root.inert = false; trigger.setAttribute('aria-expanded', 'false'); trigger.textContent = cat }";

/// Its options stay in the page, hidden; a second click closes it.
const HIDDEN: &str = "const box = holder.firstChild; trigger.onclick = () => { opened++; box.style.display = box.style.display ? '' : 'none' };
        const shut = () => { box.style.display = 'none'; trigger.textContent = cat };
        for (const o of document.querySelectorAll('[role=option]')) o.onclick = () => pick(o.textContent)";

/// Its visible part is beside a list for screen readers, and draws the options that are in view.
const FOR_EARS: &str = "const box = holder.firstChild; trigger.onclick = () => { opened++; box.style.display = ''; show(0) };
        const shut = () => { box.style.display = 'none'; trigger.textContent = cat };
        const show = from => { seen.innerHTML = ''; for (const c of cats.slice(from, from + 3)) { const o = document.createElement('div'); o.className = c == cat ? 'item item-selected' : 'item'; o.textContent = c; o.onclick = () => pick(c); seen.append(o) } };
        scrolled.onscroll = () => show(scrolled.scrollTop > 100 ? 2 : 0)";

#[test]
fn each_option_of_a_list_that_scripts_build_is_chosen() {
    let options = ["Movies", "Series", "Music", "Games", "Books"].map(|c| format!("<li role=option>{c}</li>")).concat();
    let options = format!("<div style='display: none'><ul role=listbox>{options}</ul></div>");
    let for_ears = "<div style='display: none'><div id=ears role=listbox style='height: 0; width: 0'><div role=option>2</div></div><div id=scrolled style='height: 60px; overflow: auto'><div id=seen style='height: 500px'></div></div></div>";
    for (what, html) in [
        ("portal", chooser("<div role=combobox aria-haspopup=listbox aria-expanded=false>Movies</div>", "", PORTAL)),
        ("button", chooser("<button aria-haspopup=listbox>Movies</button>", "", PORTAL)),
        ("hidden", chooser("<div role=combobox>Movies</div>", &options, HIDDEN)),
        ("for ears", chooser("<div role=combobox aria-controls=ears>Movies</div>", for_ears, FOR_EARS)),
    ] {
        let read = read_page_of(&html, "opened");
        assert_eq!((torrents(&read), read.told.cut.as_ref()), (30, None), "{what}: {:?}", read.acts());
        assert!(read.value.parse::<u32>().unwrap() < 20, "{what}: opened {} times", read.value);
    }
}

#[test]
fn what_a_list_of_choices_does_not_show_is_told() {
    let closed = chooser("<div role=combobox aria-haspopup=listbox>Movies</div>", "", "const shut = () => 0");
    assert_eq!(read_page_of(&closed, "0").told.cut.map(|cut| cut.bound), Some(Bound::Unchosen));
    // A text field waits for typing.
    let field = chooser("<input role=combobox aria-autocomplete=list>", "", "const shut = () => 0");
    assert_eq!(read_page_of(&field, "0").told.cut, None);
}

#[test]
fn tabs_beside_a_list_of_choices_are_gone_through_for_each_of_them() {
    let chips = "; ['720p', '1080p', '2160p', 'DVD'].forEach((c, n) => { const b = document.createElement('div'); b.className = 'chip'; b.setAttribute('role', 'button'); b.textContent = c;
        b.onclick = () => { chip = n; draw() }; bar.append(b) })";
    let html = chooser("<div role=combobox aria-haspopup=listbox>Movies</div>", "", &format!("{PORTAL}{chips}"));
    let read = read_page_of(&html, "opened");
    assert_eq!((torrents(&read), read.told.cut.as_ref()), (120, None), "{:?}", read.acts());
}

#[test]
fn a_menu_that_shuts_the_page_off_is_left_before_the_next_row() {
    let html = "<div id=root><ul id=list></ul><button id=next>Next</button></div><script>let page = 0;
        const draw = () => { list.innerHTML = ''; for (let n = page * 8; n < page * 8 + 8; n++) { const row = document.createElement('li'); row.innerHTML = `<span>Title ${n}</span> <button aria-haspopup=menu>Options</button>`;
            row.lastChild.onclick = () => { const menu = document.createElement('div'); menu.setAttribute('role', 'menu'); menu.tabIndex = -1; menu.innerHTML = `<a role=menuitem href=/t/${n}>Download</a>`; document.body.append(menu); root.inert = true; menu.focus();
                menu.onkeydown = event => { if (event.key == 'Escape') { menu.remove(); root.inert = false } } };
            list.append(row) } };
        next.onclick = () => { page++; draw(); if (page == 2) next.remove() }; draw()</script>";
    let read = read_page_of(html, "page");
    assert_eq!((torrents(&read), read.told.cut.as_ref()), (24, None), "{:?}", read.acts());
}

#[test]
fn options_of_harm_are_not_chosen() {
    let script = format!("const done = [], harm = c => done.push(c); {}", PORTAL.replace("pick(c)", "harm(c)"));
    let html = chooser("<button aria-haspopup=listbox>Bulk actions</button>", "", &script).replace(
        "'Series', 'Music', 'Games', 'Books'",
        "'Delete all', 'Report', 'Thank the uploader', 'Remove from list'",
    );
    assert_eq!(read_page_of(&html, "done.filter(c => c != 'Movies').length").value, "0");
}
