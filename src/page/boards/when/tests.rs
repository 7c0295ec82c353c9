//! Dates in the forms that sites use, interpreted at Sunday 2026-11-22 10:00:00 UTC.

use super::*;

/// 2026-11-22 10:00:00 UTC.
const NOW: i64 = 1_795_341_600;

fn at(text: &str) -> i64 {
    let format = time::macros::format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
    time::PrimitiveDateTime::parse(text, &format).unwrap().assume_utc().unix_timestamp()
}

fn utc() -> Conventions {
    Conventions { order: None, ..Conventions::with_offset(Some(0)) }
}

#[track_caller]
fn reads(text: &str, expected: &str, precision: Precision) {
    let found = read(text).unwrap_or_else(|| panic!("{text:?} is not read"));
    let mut conventions = utc();
    conventions.learn(&Evidence { columns: vec![vec![found.reading]], ..Evidence::default() }, NOW);
    let time = conventions.time(&found.reading, NOW).unwrap_or_else(|| panic!("{text:?}: {found:?}"));
    assert_eq!(time.precision, precision, "{text:?}: {found:?}");
    assert_eq!(time.told, Some(at(expected)), "{text:?}: {found:?}");
}

#[test]
fn now_is_what_the_tests_say() {
    assert_eq!(NOW, at("2026-11-22 10:00:00"));
}

#[test]
fn dates_are_read_in_the_forms_of_many_languages() {
    for (text, expected) in [
        ("2026-11-21 15:12", "2026-11-21 15:12:00"),
        ("2026-11-21T15:12", "2026-11-21 15:12:00"),
        ("2026/11/21 15:12", "2026-11-21 15:12:00"),
        ("2026.11.21 15:12", "2026-11-21 15:12:00"),
        ("2026-1-3 05:02", "2026-01-03 05:02:00"),
        ("11/21/2026 2:03 PM", "2026-11-21 14:03:00"),
        ("11-21-2026, 07:31 AM", "2026-11-21 07:31:00"),
        ("Sat Nov 21, 2026 2:03 pm", "2026-11-21 14:03:00"),
        ("by admin » Sat Nov 21, 2026 2:03 pm", "2026-11-21 14:03:00"),
        ("May 3rd, 2026, 12:03 am", "2026-05-03 00:03:00"),
        ("May 3rd, 2026, 12:03 p.m.", "2026-05-03 12:03:00"),
        ("3rd May 2026 at 12:03", "2026-05-03 12:03:00"),
        ("21-Nov-2026 07:39", "2026-11-21 07:39:00"),
        ("21 Nov 26 07:39", "2026-11-21 07:39:00"),
        ("Nov 21 '26, 07:39", "2026-11-21 07:39:00"),
        ("21.11.2026, 14:03 Uhr", "2026-11-21 14:03:00"),
        ("21.11.2026 14.03 Uhr", "2026-11-21 14:03:00"),
        ("Sa 21. Nov 2026, 14:03", "2026-11-21 14:03:00"),
        ("Verfasst am: 3. März 2026 um 09:05 Uhr", "2026-03-03 09:05:00"),
        ("21 novembre 2026 à 14:03", "2026-11-21 14:03:00"),
        ("21 novembre 2026 à 14h03", "2026-11-21 14:03:00"),
        ("le 1er févr. 2026, 14:03", "2026-02-01 14:03:00"),
        ("21 de noviembre de 2026 a las 14:03", "2026-11-21 14:03:00"),
        ("21 de novembro de 2026 às 14h03", "2026-11-21 14:03:00"),
        ("21 agosto 2026 alle ore 14:03", "2026-08-21 14:03:00"),
        ("21 ago 2026, 14:03", "2026-08-21 14:03:00"),
        ("21 listopada 2026, o godz. 14:03", "2026-11-21 14:03:00"),
        ("21 lis 2026, 14:03", "2026-11-21 14:03:00"),
        ("21 november 2026 om 14:03", "2026-11-21 14:03:00"),
        ("3 mei 2026 14:03", "2026-05-03 14:03:00"),
        ("21 Kasım 2026, 14:03", "2026-11-21 14:03:00"),
        ("3 Şubat 2026 14:03", "2026-02-03 14:03:00"),
        ("21 ноября 2026 г. в 14:03", "2026-11-21 14:03:00"),
        ("21-Ноя-26 14:03", "2026-11-21 14:03:00"),
        ("2026年11月21日 14:03", "2026-11-21 14:03:00"),
        ("2026年11月21日14时03分", "2026-11-21 14:03:00"),
        ("2026年11月21日 下午 2:03", "2026-11-21 14:03:00"),
        ("11月21日 14:03", "2026-11-21 14:03:00"),
        ("2026년 11월 21일 오후 2:03", "2026-11-21 14:03:00"),
        ("14:03, 21 Nov 2026", "2026-11-21 14:03:00"),
        ("14:03 21.11.2026", "2026-11-21 14:03:00"),
        ("11-21 14:03", "2026-11-21 14:03:00"),
        ("12-24 14:03", "2025-12-24 14:03:00"),
        ("24. Dez, 14:03", "2025-12-24 14:03:00"),
        ("Heute, 09:03", "2026-11-22 09:03:00"),
        ("Gestern, 14:03 Uhr", "2026-11-21 14:03:00"),
        ("vorgestern um 14:03", "2026-11-20 14:03:00"),
        ("Today, 09:03", "2026-11-22 09:03:00"),
        ("Yesterday at 2:03 PM", "2026-11-21 14:03:00"),
        ("Yesterday, 14:03", "2026-11-21 14:03:00"),
        ("Aujourd’hui à 09:03", "2026-11-22 09:03:00"),
        ("Hier à 14:03", "2026-11-21 14:03:00"),
        ("avant-hier, 14:03", "2026-11-20 14:03:00"),
        ("Ayer 14:03", "2026-11-21 14:03:00"),
        ("Ieri, 14:03", "2026-11-21 14:03:00"),
        ("Ontem às 14:03", "2026-11-21 14:03:00"),
        ("Wczoraj, 14:03", "2026-11-21 14:03:00"),
        ("Gisteren om 14:03", "2026-11-21 14:03:00"),
        ("Dün 14:03", "2026-11-21 14:03:00"),
        ("Вчера, 14:03", "2026-11-21 14:03:00"),
        ("Сегодня в 09:03", "2026-11-22 09:03:00"),
        ("昨天 14:03", "2026-11-21 14:03:00"),
        ("前天 14:03", "2026-11-20 14:03:00"),
        ("昨日 14:03", "2026-11-21 14:03:00"),
        ("어제 14:03", "2026-11-21 14:03:00"),
        ("Friday at 2:11 PM", "2026-11-20 14:11:00"),
        ("Sunday at 2:11 PM", "2026-11-15 14:11:00"),
        ("09:03", "2026-11-22 09:03:00"),
        ("14:03", "2026-11-21 14:03:00"),
    ] {
        reads(text, expected, Precision::Minute);
    }
    for (text, expected) in [
        ("2026-11-21 15:12:09", "2026-11-21 15:12:09"),
        ("2026-11-21T15:12:09.123", "2026-11-21 15:12:09"),
        ("Sat Nov 21 14:03:07 2026", "2026-11-21 14:03:07"),
    ] {
        reads(text, expected, Precision::Second);
    }
    for (text, expected) in [
        ("21.11.2026", "2026-11-21 00:00:00"),
        ("21.11.26", "2026-11-21 00:00:00"),
        ("2026-11-21", "2026-11-21 00:00:00"),
        ("2026年11月21日", "2026-11-21 00:00:00"),
        ("Nov 21, 2026", "2026-11-21 00:00:00"),
        ("Nov 21", "2026-11-21 00:00:00"),
        ("Dec 24", "2025-12-24 00:00:00"),
        ("21 novembre", "2026-11-21 00:00:00"),
        ("昨天", "2026-11-21 00:00:00"),
        ("Yesterday", "2026-11-21 00:00:00"),
    ] {
        reads(text, expected, Precision::Day);
    }
}

#[test]
fn instants_are_the_same_everywhere() {
    for (text, expected) in [
        ("2026-11-21T14:03:07Z", "2026-11-21 14:03:07"),
        ("2026-11-21T14:03:07+01:00", "2026-11-21 13:03:07"),
        ("2026-11-21T14:03:07+0100", "2026-11-21 13:03:07"),
        ("2026-11-21T14:03:07.250-05:30", "2026-11-21 19:33:07"),
        ("Sat, 21 Nov 2026 14:03:07 GMT", "2026-11-21 14:03:07"),
        ("Sat, 21 Nov 2026 14:03:07 +0800", "2026-11-21 06:03:07"),
        ("21 Nov 2026 14:03:07 CET", "2026-11-21 13:03:07"),
    ] {
        let time = Conventions::default().time(&read(text).unwrap().reading, NOW).unwrap();
        assert_eq!((time.earliest, time.latest, time.how), (at(expected), at(expected), How::Offset), "{text}");
    }
    for (text, expected) in [("1795246760", 1_795_246_760), ("1795246760000", 1_795_246_760)] {
        assert_eq!(read_attribute(text), Some(Reading::Absolute { at: expected, span: 1, own_offset: false }));
    }
    for none in ["0", "12", "99999999999999999999", "", "-1", "x"] {
        assert_eq!(read_attribute(none), None, "{none}");
    }
}

#[test]
fn distances_are_intervals_before_now() {
    const M: i64 = 60;
    const H: i64 = 3_600;
    const D: i64 = 86_400;
    for (text, seconds) in [
        ("3 hours ago", 3 * H),
        ("3h ago", 3 * H),
        ("about 3 hours ago", 3 * H),
        ("an hour ago", H),
        ("a minute ago", M),
        ("26&nbsp;秒前".replace("&nbsp;", "\u{a0}").as_str(), 26),
        ("3 小时前", 3 * H),
        ("3个小时前", 3 * H),
        ("半小时前", H / 2),
        ("5 分鐘前", 5 * M),
        ("2 天前", 2 * D),
        ("3時間前", 3 * H),
        ("3시간 전", 3 * H),
        ("vor 2 Tagen", 2 * D),
        ("vor einer Stunde", H),
        ("il y a 3 heures", 3 * H),
        ("il y a une heure", H),
        ("hace 5 minutos", 5 * M),
        ("há 3 horas", 3 * H),
        ("3 ore fa", 3 * H),
        ("3 godz. temu", 3 * H),
        ("3 uur geleden", 3 * H),
        ("3 saat önce", 3 * H),
        ("3 часа назад", 3 * H),
        ("2d 4h", 2 * D + 4 * H),
        ("1 hour, 30 minutes ago", H + 30 * M),
        ("Last post 2 weeks ago by admin", 14 * D),
    ] {
        let Some(TextReading { reading: Reading::Ago { least, most, .. }, .. }) = read(text) else {
            panic!("{text:?}: {:?}", read(text));
        };
        assert!(least <= seconds && seconds <= most && most <= 2 * seconds + 60, "{text:?}: {least} {most}");
    }
    for text in [
        "Just now",
        "刚刚",
        "à l'instant",
        "gerade eben",
        "a moment ago",
        "a few seconds ago",
        "Less than 1 minute ago",
        "только что",
        "hace un momento",
    ] {
        let Some(TextReading { reading: Reading::Ago { least, most, .. }, .. }) = read(text) else {
            panic!("{text:?}: {:?}", read(text));
        };
        assert!(least == 0 && most <= 120, "{text:?}: {least} {most}");
    }
}

#[test]
fn what_is_no_time_is_not_read() {
    for text in [
        "",
        "0",
        "12",
        "1.2.3.4",
        "v2.10.3",
        "10-20-30-40",
        "[NTV] Debian netinst - 0446 [1080p]",
        "S01E02 1080p WEB h264",
        "Hier klicken",
        "may the source be with you",
        "32.13.2026 foo",
        "3/5",
        "1,024 MB",
        "12:34:56:78",
        "Seite 1 von 20",
        "2026",
        "100 %",
        "admin",
        "Now playing",
        "5 m",
        "00:1a:2b",
    ] {
        let found = read(text);
        let time = found.and_then(|read| utc().time(&read.reading, NOW));
        let is_weak = matches!(found, Some(TextReading { reading: Reading::Ago { marked: false, .. }, .. }));
        assert!(time.is_none() || is_weak, "{text:?}: {found:?}");
    }
}

fn column(texts: &[&str]) -> Evidence<'static> {
    Evidence { columns: vec![texts.iter().map(|text| read(text).unwrap().reading).collect()], ..Evidence::default() }
}

#[track_caller]
fn order_of(texts: &[&str], language: Option<&'static str>) -> Option<Order> {
    let mut conventions = Conventions::default();
    conventions.learn(&Evidence { language, ..column(texts) }, NOW);
    conventions.order
}

#[test]
fn the_order_of_day_and_month_is_a_pages() {
    use Order::{DayMonthYear, MonthDayYear, YearMonthDay};
    let rows = ["11/21/2026 10:00", "11/12/2026 10:00", "11/10/2026 10:00"];
    assert_eq!(order_of(&rows, Some("de")), Some(MonthDayYear), "an impossible month");
    let rows = ["11/12/2026 10:00", "10/12/2026 10:00", "09/12/2026 10:00", "08/12/2026 10:00"];
    assert_eq!(order_of(&rows, None), Some(MonthDayYear), "the other order lies in the future");
    let rows = ["10/11/2026", "09/11/2026", "08/11/2026", "02/11/2026", "01/11/2026"];
    assert_eq!(order_of(&rows, Some("en-GB")), Some(DayMonthYear));
    let rows = ["12/03/2026", "01/03/2026", "28/02/2026", "12/02/2026", "11/01/2026"];
    assert_eq!(order_of(&rows, Some("en-US")), Some(DayMonthYear), "one impossible month speaks for all rows");
    assert_eq!(order_of(&["05/11/2026", "04/11/2026"], Some("fr")), Some(DayMonthYear));
    assert_eq!(order_of(&["05.11.2026", "04.11.2026"], None), Some(DayMonthYear));
    assert_eq!(order_of(&["26-11-21 10:00", "26-11-20 10:00"], Some("zh-CN")), Some(YearMonthDay));
    assert_eq!(order_of(&["11-21 14:03", "11-20 14:03"], Some("zh")), Some(YearMonthDay));
}

#[test]
fn an_order_that_nothing_tells_is_an_error_bound() {
    let mut conventions = Conventions::with_offset(Some(0));
    let rows = column(&["03/03/2026"]);
    conventions.learn(&rows, NOW);
    let time = conventions.time(&read("05/06/2026").unwrap().reading, NOW).unwrap();
    assert_eq!(conventions.order, None);
    assert_eq!((time.earliest, time.latest), (at("2026-05-06 00:00:00"), at("2026-06-05 23:59:59")));
}

#[test]
fn what_was_decided_holds_on_pages_that_do_not_tell() {
    let mut conventions = Conventions::default();
    conventions.learn(&column(&["11/21/2026", "11/19/2026", "11/18/2026"]), NOW);
    conventions.learn(&column(&["03/03/2026", "02/02/2026"]), NOW);
    assert_eq!(conventions.order, Some(Order::MonthDayYear));
}

#[test]
fn the_zone_is_told_by_times_told_twice() {
    let mut conventions = Conventions::default();
    let pair = |a: &str, b: &str| (read(a).unwrap().reading, read(b).unwrap().reading);
    let evidence = Evidence {
        pairs: vec![pair("26 秒前", "2026-11-22 17:59"), pair("2 分钟前", "2026-11-22 17:58")],
        ..Evidence::default()
    };
    conventions.learn(&evidence, NOW);
    assert_eq!(conventions.zone, Zone::fixed(8 * 3_600, ZoneSource::Page));
    let time = conventions.time(&read("2026-11-22 17:00").unwrap().reading, NOW).unwrap();
    assert_eq!((time.earliest, time.how), (NOW - 3_600, How::Local(ZoneSource::Page)));
}

#[test]
fn the_zone_is_told_by_the_page() {
    for (text, offset) in [
        ("All times are UTC+02:00", Some(7_200)),
        ("All times are GMT -5. The time now is 05:00 AM.", Some(-18_000)),
        ("GMT+8, 2026-11-22 18:00 , Processed in 0.02 second(s)", Some(28_800)),
        ("Alle Zeiten sind UTC+01:00", Some(3_600)),
        ("no zone here", None),
        ("UTC", None),
    ] {
        assert_eq!(offset_told(text), offset, "{text}");
    }
    let mut conventions = Conventions::default();
    let server_time = server_time_told("It is currently Sun Nov 22, 2026 12:03 pm");
    assert!(server_time.is_some());
    conventions.learn(&Evidence { server_time, ..Evidence::default() }, NOW);
    assert_eq!(conventions.zone, Zone::fixed(7_200, ZoneSource::Page), "three minutes are the clock's error");
}

#[test]
fn the_zone_is_bounded_by_rows_from_the_future_and_by_changes() {
    let mut conventions = Conventions::default();
    conventions.learn(&column(&["2026-11-22 15:02", "2026-11-21 10:00"]), NOW);
    assert_eq!((conventions.zone.low_s(), conventions.zone.source), (5 * 3_600, ZoneSource::Bounds));
    let reading = read("2026-11-22 15:30").unwrap().reading;
    let time = conventions.time(&reading, NOW + 6 * 3_600).unwrap();
    assert!(time.error_s() > 2 * 3_600, "the error is told: {time:?}");
    // Changed within the half hour before: the offset is at most 5:30.
    conventions.changed_between(&time, NOW, NOW + 1_800);
    assert!(conventions.zone.high_s() <= 20_700 && conventions.zone.low_s() == 18_000, "{:?}", conventions.zone);
    // Daylight saving ends: contradicting evidence resets the zone.
    let winter = Time { told: Some(time.told.unwrap() + 3 * 3_600), ..time };
    conventions.changed_between(&winter, NOW, NOW + 1_800);
    assert!(conventions.zone.low_s() > 20_700, "{:?}", conventions.zone);
}

#[test]
fn times_of_today_tell_where_a_site_is_not() {
    let mut conventions = Conventions::default();
    // At 10:00 UTC, 15:30 is in today only from +5:30 on; otherwise it is the day before.
    conventions.learn(&column(&["Today, 15:30", "Yesterday, 12:00"]), NOW);
    assert!(conventions.zone.offsets().all(|offset| !(-35_999..19_800).contains(&offset)), "{:?}", conventions.zone);
    // Changed within the last half hour: only eastern offsets are left, and its day is known.
    let time = conventions.time(&read("Today, 15:30").unwrap().reading, NOW).unwrap();
    assert_eq!(time.told, None, "which day it is, is open");
    conventions.zone = Zone::fixed(5 * 3_600, ZoneSource::Bounds);
    assert_eq!(
        conventions.time(&read("Yesterday, 12:00").unwrap().reading, NOW).unwrap().told,
        Some(at("2026-11-21 12:00:00"))
    );
}

#[test]
fn a_clock_in_the_future_is_told_and_never_passes_now() {
    let mut conventions = Conventions::with_offset(Some(0));
    let rows = column(&["2026-11-22 13:00", "2026-11-22 09:00"]);
    conventions.learn(&rows, NOW);
    assert_eq!(conventions.ahead_s, 3 * 3_600);
    assert_eq!(conventions.zone.source, ZoneSource::Rule, "the rule file's word stands");
    let time = conventions.time(&rows.columns[0][0], NOW).unwrap();
    assert!(time.latest <= NOW && time.earliest <= time.latest);
}

#[test]
fn local_times_compare_whatever_the_zone() {
    let reading = |text: &str| read(text).unwrap().reading;
    let unknown = Conventions::default();
    let known = Conventions::with_offset(Some(3_600));
    let before = unknown.time(&reading("2026-11-22 09:00"), NOW).unwrap();
    let after = known.time(&reading("2026-11-22 09:00"), NOW).unwrap();
    assert_eq!(before.against(&after), settle::Against::Equal);
    let later = unknown.time(&reading("2026-11-22 09:01"), NOW).unwrap();
    assert_eq!(later.against(&after), settle::Against::Later);
    let day = unknown.time(&reading("2026-11-22"), NOW).unwrap();
    assert_eq!(day.against(&later), settle::Against::Overlaps);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "[0-9a-zäé年月日前 .:/+'-]{0,60}", raw in ".{0,80}") {
        for text in [text, raw] {
            if let Some(found) = read(&text)
                && let Some(time) = Conventions::default().time(&found.reading, NOW)
            {
                proptest::prop_assert!(time.earliest <= time.latest && time.latest <= NOW);
            }
            let _ = (offset_told(&text), server_time_told(&text), read_attribute(&text));
        }
    }
}
