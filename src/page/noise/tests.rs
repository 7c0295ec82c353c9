//! The model on small pages: what is learned, what never is, and how it handles bad input.

use encoding_rs::{GBK, UTF_8, UTF_16LE};
use proptest::prelude::*;

use super::*;

fn page(url: u64, body: &str) -> Page<'_> {
    Page { url, body: body.as_bytes(), encoding: UTF_8 }
}

fn matters(href: &str) -> bool {
    href.contains("/t/")
}

/// A list of torrents with a counter, a clock, an advertisement and the users online.
fn list(look: u32, rows: &[(u32, &str)]) -> String {
    let mut text = format!(
        "<html><head><title>Torrents</title></head><body><ul class=menu><li><a href=/>Home</a><li><a href=/rules>Rules</a>\
         <li><a href='/new?search={:032x}'>New</a><li><a href=/faq>FAQ</a><li>Welcome</ul><div class=ad><a \
         href='/go?id={}'>Buy {}</a></div><p class=count>Torrents: {}</p><table>",
        u128::from(look) * 0x1234_5678_9abc_def1,
        look * 77,
        ["shoes", "boxes", "cars", "tea", "cups"][look as usize % 5],
        1_000 + look,
    );
    for (id, title) in rows {
        text += &format!(
            "<tr class=row{}><td><a href=/t/{id}>{title}</a></td><td>{}.{} GB</td><td>{}</td><td>{} minutes ago</td></tr>",
            id % 2,
            id % 9,
            id % 7,
            (id * 7 + look * 3) % 100,
            look + id,
        );
    }
    let online: Vec<String> =
        (0..4).map(|n| format!("<a href=/user/{}>user{}</a>", (look + n) % 13, (look + n) % 13)).collect();
    text + &format!(
        "</table><div id=online>{}</div><p>It is 12:{:02}, made in 0.{look} s</p></body></html>",
        online.join(", "),
        look % 60
    )
}

const ROWS: [(u32, &str); 5] = [(5, "Debian"), (4, "Arch"), (3, "Fedora"), (2, "Void"), (1, "Alpine")];

/// A model after ten visits.
fn taught() -> Model {
    let mut model = Model::new(Holds::List);
    for look in 0..10 {
        model.observe(&page(1, &list(look, &ROWS)), &matters);
    }
    model
}

fn same(model: &Model, one: &str, other: &str) -> bool {
    let print = |body| model.fingerprint(&page(1, body), &matters);
    print(one).since(&print(other)) == Verdict::Unchanged
}

#[test]
fn what_changes_at_each_look_is_learned_and_looks_are_the_same_from_then_on() {
    let model = taught();
    for look in 20..60 {
        assert!(same(&model, &list(look, &ROWS), &list(look + 1, &ROWS)), "look {look}\n{}", {
            let body = list(look, &ROWS);
            model.explain(&page(1, &body), &matters)
        });
    }
    let plain = Model::new(Holds::List);
    assert!(!same(&plain, &list(20, &ROWS), &list(21, &ROWS)), "nothing is noise before it was seen to change");
}

#[test]
fn rows_titles_sizes_and_their_order_are_content() {
    let model = taught();
    let mut other = ROWS;
    let before = list(30, &ROWS);
    other[1].1 = "Arch 2";
    assert!(!same(&model, &before, &list(30, &other)), "a title");
    other = ROWS;
    other.swap(0, 1);
    assert!(!same(&model, &before, &list(30, &other)), "the order");
    assert!(!same(&model, &before, &list(30, &ROWS[1..])), "a row less");
    assert!(!same(&model, &before, &list(30, &[&[(6, "Gentoo")], &ROWS[..]].concat())), "a row more");
    assert!(!same(&model, &before, &before.replacen("5.5 GB", "5.6 GB", 1)), "a size");
    assert!(same(&model, &before, &before.replacen("<td>44</td>", "<td>45</td>", 1)), "a count");
}

#[test]
fn a_list_that_changes_at_every_look_stays_content() {
    let mut model = Model::new(Holds::List);
    for look in 0..40 {
        let rows: Vec<(u32, String)> = (0..8).map(|n| (100 + look - n, format!("Title {}", 100 + look - n))).collect();
        let rows: Vec<(u32, &str)> = rows.iter().map(|(id, title)| (*id, title.as_str())).collect();
        model.observe(&page(1, &list(look, &rows)), &matters);
    }
    let mut other = ROWS;
    other[4].1 = "Alpinist";
    assert!(!same(&model, &list(50, &ROWS), &list(50, &other)));
    assert!(!same(&model, &list(50, &ROWS), &list(50, &ROWS[1..])));
    // All rows but the last are new at each visit, so only texts outside of rows were learned.
    assert!(model.has_learned());
}

#[test]
fn where_no_link_matters_only_numbers_are_taken_off() {
    let mut model = Model::new(Holds::List);
    for look in 0..30 {
        model.observe(&page(1, &list(look, &ROWS)), &|_| false);
    }
    let print = |body: &str| model.fingerprint(&page(1, body), &|_| false);
    let mut other = ROWS;
    other[0].1 = "Devuan";
    assert_ne!(print(&list(40, &ROWS)), print(&list(40, &other)));
}

#[test]
fn what_all_pages_of_the_class_share_is_template_and_a_new_one_is_noticed() {
    let mut model = Model::new(Holds::List);
    let of = |url: u32, style: &str| {
        let menu: String = (0..12).map(|n| format!("<li>{style} {n}x")).collect();
        format!(
            "<ul class={style}>{menu}</ul><h1><a href=/t/{url}>Title {url}</a></h1><p>Text of {url} and more</p><b>a{url}</b><i>b{url}</i>"
        )
    };
    for url in 1..=6 {
        model.observe(&page(u64::from(url), &of(url, "old")), &matters);
    }
    let explained = model.explain(&page(9, &of(9, "old")), &matters);
    assert_eq!((explained.template, explained.relearned), (12, 0), "{explained}");
    let mut relearned = Vec::new();
    for url in 11..=18 {
        relearned.push(model.observe(&page(u64::from(url), &of(url, "new")), &matters).is_relearned);
    }
    assert_eq!(relearned.iter().filter(|is| **is).count(), 1, "{relearned:?}");
    assert!(relearned[2], "at the third stranger in a row: {relearned:?}");
    let explained = model.explain(&page(19, &of(19, "new")), &matters);
    assert_eq!((explained.template, explained.relearned), (12, 1), "{explained}");
}

#[test]
fn pinned_records_are_no_template() {
    let mut model = Model::new(Holds::List);
    for url in 0..8_u32 {
        let rows = [(900, "Pinned"), (url * 10 + 1, "One"), (url * 10 + 2, "Two"), (url * 10 + 3, "Three")];
        model.observe(&page(u64::from(url), &list(3, &rows)), &matters);
    }
    let rows = [(900, "Pinned"), (1, "One"), (2, "Two"), (3, "Three")];
    assert!(!same(&model, &list(3, &rows), &list(3, &rows[1..])));
}

#[test]
fn tokens_in_links_are_learned_and_identifiers_are_not() {
    let detail = |look: u32, id: u32| {
        format!(
            "<h1>Debian</h1><p>Infohash da39a3ee5e6b4b0d3255bfef95601890afd80709</p><p>Some words</p>\
             <p>More</p><a href='/t/{id}?t=MTJ8YWJ8{look:06}QzE'>Get</a>"
        )
    };
    let mut model = Model::new(Holds::List);
    for look in 0..6 {
        model.observe(&page(1, &detail(look, 7)), &matters);
    }
    assert!(same(&model, &detail(20, 7), &detail(21, 7)));
    assert!(!same(&model, &detail(20, 7), &detail(20, 8)));
    let other = detail(20, 7).replace("afd80709", "afd80708");
    assert!(!same(&model, &detail(20, 7), &other), "one digit of an infohash");
}

#[test]
fn rows_that_are_replaced_do_not_make_their_identifiers_noise() {
    let rows = |look: u32, titled: bool| -> String {
        let row = |n: u32| {
            let (id, title) =
                (look * 10 + n, if titled { format!("Release {}", look * 10 + n) } else { String::new() });
            format!("<tr><td><a href='/t/?hash={:040x}'>{title}</a><td>{}</tr>", u128::from(id) << 64 | 0xabc, id % 7)
        };
        format!("<p>a</p><p>b</p><p>c</p><table>{}</table><p>d</p>", (0..6).map(row).collect::<String>())
    };
    for titled in [true, false] {
        let mut model = Model::new(Holds::List);
        for look in 0..30 {
            model.observe(&page(1, &rows(look, titled)), &matters);
        }
        assert!(!same(&model, &rows(50, titled), &rows(51, titled)), "titled: {titled}");
        let one_digit = rows(50, titled).replacen("000000abc", "000000abd", 1);
        assert!(!same(&model, &rows(50, titled), &one_digit), "titled: {titled}");
    }
}

#[test]
fn pages_whose_noise_is_all_they_have_are_compared_by_all_bytes() {
    let short = |look: u32| format!("<p class=n>{look}</p><p>{look} minutes ago</p>");
    let mut model = Model::new(Holds::List);
    for look in 0..10 {
        model.observe(&page(1, &short(look)), &matters);
    }
    let print = |body: &str| model.fingerprint(&page(1, body), &matters);
    assert_eq!(print(&short(20)).basis, Basis::NoiseIsContent);
    assert_ne!(print(&short(20)).hash, print(&short(21)).hash);
    assert_eq!(print("plain text").basis, Basis::NoMarkup);
    assert_eq!(print(&"a".repeat(PAGE_BYTES_MAX + 1)).basis, Basis::TooLong);
}

#[test]
fn fingerprints_of_another_epoch_say_nothing() {
    let print = |hash, epoch, basis| Fingerprint { hash, epoch, basis };
    let content = Basis::Content;
    assert_eq!(print(1, 1, content).since(&print(1, 1, content)), Verdict::Unchanged);
    assert_eq!(print(2, 1, content).since(&print(1, 1, content)), Verdict::Changed);
    assert_eq!(print(1, 2, content).since(&print(1, 1, content)), Verdict::Unknown);
    let plain = Basis::NoMarkup;
    assert_eq!(print(1, 2, plain).since(&print(1, 1, plain)), Verdict::Unchanged, "all bytes are the same");
}

#[test]
fn a_note_gives_the_model_back_and_broken_ones_are_refused() {
    let model = taught();
    let bytes = model.to_bytes();
    assert_eq!(Model::from_bytes(&bytes).expect("its own note"), model);
    let text = String::from_utf8(bytes.clone()).expect("JSON");
    for bad in [
        "",
        "{",
        "null",
        "{\"version\":1}",
        &text[..text.len() / 2],
        &text.replacen("\"version\":1", "\"version\":9", 1),
    ] {
        assert!(Model::from_bytes(bad.as_bytes()).is_err(), "{bad:.40}");
    }
    assert!(matches!(Model::from_bytes(&vec![b' '; crate::limits::NOISE_NOTE_BYTES_MAX + 1]), Err(NoteError::TooLong)));
    let bent = text.replacen("\"atoms\":\"", "\"atoms\":\"A", 1);
    assert!(matches!(Model::from_bytes(bent.as_bytes()), Err(NoteError::Broken(_))));
}

#[test]
fn a_note_with_numbers_of_any_size_teaches_on() {
    let mut note: serde_json::Value = serde_json::from_slice(&taught().to_bytes()).expect("JSON");
    for name in ["pages", "with_records", "looks", "relearned"] {
        note[name] = u32::MAX.into();
    }
    note["epoch"] = u64::MAX.into();
    for evidence in note["evidence"].as_array_mut().expect("a list") {
        for place in 3..8 {
            evidence[place] = u32::MAX.into();
        }
    }
    let mut model = Model::from_bytes(note.to_string().as_bytes()).expect("a note");
    for look in 0..12 {
        let body = list(look * 5 + 1, &ROWS);
        model.observe(&page(1, &body), &matters);
        model.unchanged(1);
        let _ = model.explain(&page(1, &body), &matters).to_string();
    }
}

#[test]
fn a_model_stays_within_its_bytes_whatever_it_is_shown() {
    let mut model = Model::new(Holds::List);
    for look in 0..12_u32 {
        let mut body = String::new();
        for n in 0..6_000_u32 {
            let letter = |place: u32| char::from(b'a' + u8::try_from((n / 26_u32.pow(place)) % 26).unwrap_or(0));
            let class: String = (0..3).map(letter).collect();
            body +=
                &format!("<p class={class}>{}<a href='/t/{n}?k={look:020}x{n}&a=1&b=2&c=3'>t{look}</a></p>", look * n);
        }
        model.observe(&page(u64::from(look % 4), &body), &matters);
    }
    let bytes = model.to_bytes();
    assert!(bytes.len() <= crate::limits::NOISE_NOTE_BYTES_MAX, "{}", bytes.len());
    assert!(Model::from_bytes(&bytes).is_ok());
}

#[test]
fn hostile_pages_end_in_time_linear_in_their_bytes() {
    let mut model = taught();
    let big = 1 << 20;
    for body in [
        String::new(),
        "<div>".repeat(big / 5),
        "<a href=/t/1>".repeat(big / 13),
        "<td>1".repeat(big / 5),
        "&nbsp;".repeat(big / 6),
        format!("<p>{}", "1,".repeat(big / 2)),
        format!("<a href='{}'>x</a>", "/a&b=".repeat(big / 5)),
        "<b class=a1 id=2>1".repeat(big / 18),
        "\u{0}\u{fffd}<".repeat(big / 5),
    ] {
        for url in [1, 1, 2] {
            model.observe(&page(url, &body), &matters);
        }
        let _ = model.fingerprint(&page(1, &body), &matters);
        let _ = model.explain(&page(1, &body), &matters);
    }
}

#[test]
fn other_charsets_are_read_as_they_are() {
    let body = "<ul><li>昨天 14:03<li>26 秒前<li>标题<li>内容<li>其他</ul>";
    let later = "<ul><li>今天 14:03<li>27 秒前<li>标题<li>内容<li>其他</ul>";
    let model = Model::new(Holds::List);
    let encode = |text: &str, encoding: &'static Encoding| match encoding {
        encoding if encoding == UTF_16LE => text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
        _ => encoding.encode(text).0.into_owned(),
    };
    for encoding in [UTF_8, GBK, UTF_16LE] {
        let print = |text: &str| {
            let body = encode(text, encoding);
            model.fingerprint(&Page { url: 1, body: &body, encoding }, &matters)
        };
        assert_eq!(print(body), print(later), "{}", encoding.name());
        assert_ne!(print(body).hash, print(&later.replace("标题", "标志")).hash);
        assert_eq!(print(body).basis, Basis::Content);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_page_panics_and_no_note_does(
        bodies in proptest::collection::vec("(<(a href=|td|tr|b|p class=x|/a|/td|!--|script|select|title)?[ >\"]?|[a-z0-9 &;/#?=.,:-]{0,9}|\\PC){0,60}", 1..5),
        note in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut model = Model::new(Holds::List);
        for (url, body) in bodies.iter().enumerate() {
            model.observe(&page(url as u64 % 2, body), &matters);
            let _ = model.fingerprint(&page(0, body), &matters);
        }
        prop_assert_eq!(Model::from_bytes(&model.to_bytes()).expect("its own note"), model);
        prop_assert!(Model::from_bytes(&note).is_err());
    }
}
