//! Unit tests of `noise::words`.

use super::*;

fn kind(text: &str) -> Kind {
    shape(text.as_bytes()).kind
}

#[test]
fn kinds_are_told_apart() {
    for (text, expected) in [
        ("Debian", Kind::Words),
        ("1,234", Kind::Count),
        ("464%", Kind::Count),
        ("12/3", Kind::Count),
        ("1.2k", Kind::Count),
        ("12 seeders, 3 leechers", Kind::Mixed),
        ("x264", Kind::Mixed),
        ("1.4 GB", Kind::Size),
        ("700&nbsp;MiB", Kind::Size),
        ("0.4K", Kind::Size),
        ("415 bytes", Kind::Size),
        ("2026-11-21", Kind::Date),
        ("22.11.2026", Kind::Date),
        ("14:03", Kind::Date),
        ("Nov 22", Kind::Date),
        ("2026年11月21日", Kind::Date),
        ("21-Nov-2026 07:39   415", Kind::Date),
        ("1795246103", Kind::Long),
        ("1,234,567,890", Kind::Long),
        ("da39a3ee5e6b4b0d3255bfef95601890afd80709", Kind::Hash),
        ("Info: GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", Kind::Hash),
    ] {
        assert_eq!(kind(text), expected, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn a_count_is_one_by_the_quick_look_as_well(text in "([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,9}|[.,'/%:-]|k|m|K|M|b|kb|&nbsp;|&NBSP;|nbsp|[a-z]{1,3}|[ \\n]|é|年){0,8}") {
        proptest::prop_assert_eq!(is_count(text.as_bytes()), shape(text.as_bytes()).kind == Kind::Count, "{}", text);
    }

    #[test]
    fn a_relative_time_is_one_by_the_quick_look_as_well(
        text in "(ago|Yesterday|TODAY|minutes?|vor|gestern|вчера|昨天|hier|à|in|[0-9]{1,3}|[,. :-]|&nbsp;|&|é|[a-z]{1,3}){0,6}"
    ) {
        proptest::prop_assume!((1..=RELATIVE_BYTES).contains(&text.len()));
        proptest::prop_assert_eq!(relative(text.as_bytes(), UTF_8), relative_utf8(&text), "{}", text);
    }
}

#[test]
fn shapes_differ_in_words_and_not_in_numbers() {
    let same = |a: &str, b: &str| shape(a.as_bytes()).masked == shape(b.as_bytes()).masked;
    for (a, b) in [
        ("1,234", "7"),
        ("0.0237", "12"),
        ("1.2k", "900"),
        ("12 comments", "3 comments"),
        ("Processed in 0.023 s, 11 queries", "Processed in 1.5 s, 9 queries"),
        ("11-21-2026, 07:31 AM", "11-22-2026, 10:00 AM"),
        ("token 0123456789abcdef0", "token fedcba98765432101"),
    ] {
        assert!(same(a, b), "{a} / {b}");
    }
    for (a, b) in [("1 seeder", "2 leechers"), ("x264", "y264"), ("a 1", "a"), ("1 GB", "1 MB")] {
        assert!(!same(a, b), "{a} / {b}");
    }
}

#[test]
fn sizes_stay_where_the_counts_beside_them_are_masked() {
    let of = |text: &str| shape(text.as_bytes());
    let (one, counted) = (of("(Size: 1,204 bytes / Downloads: 0)"), of("(Size: 1,204 bytes / Downloads: 17)"));
    let sized = of("(Size: 1,205 bytes / Downloads: 0)");
    assert_eq!((one.counted, one.masked), (counted.counted, sized.masked));
    assert_ne!(one.counted, sized.counted);
    assert_ne!(of("1.4G of 3").counted, of("1.5G of 3").counted);
    assert_ne!(of("17952461030").counted, of("17952461031").counted);
}

#[test]
fn relative_times_are_known_in_many_languages_and_titles_are_not() {
    let of = |text: &str| relative(text.as_bytes(), UTF_8);
    for text in [
        "3 minutes ago",
        "Less than 1 minute ago",
        "just now",
        "26&nbsp;秒前",
        "半小时前",
        "vor 5 Minuten",
        "hace 3 horas",
        "5 минут назад",
        "2 uur geleden",
        "3 dakika önce",
    ] {
        assert_eq!(of(text), Some(Relative::Age), "{text}");
    }
    assert_eq!(of("Today, 14:03"), of("Yesterday, 14:03"));
    assert_ne!(of("Today, 14:03"), of("Today, 14:04"));
    assert!(matches!(of("昨天 14:03"), Some(Relative::Day(_))));
    for text in ["Debian 12", "3", "14:03", "28 Days Later", "A Day Ago in Paris", "", "11-21-2026", "New posts"] {
        assert_eq!(of(text), None, "{text}");
    }
    let gbk = encoding_rs::GBK.encode("26 秒前").0.into_owned();
    assert_eq!(relative(&gbk, encoding_rs::GBK), Some(Relative::Age));
    assert_eq!(relative(b"\xff\xfe\x80", UTF_8), None);
}

#[test]
fn blank_texts_are_empty() {
    for text in ["", " \n", "&nbsp;", " | ", "[&nbsp;]"] {
        assert!(trimmed(text.as_bytes()).is_empty() || text == "[&nbsp;]", "{text}");
    }
    assert_eq!(trimmed(b" &nbsp; a b &nbsp;\n"), b"a b");
}
