//! Malicious pages, and boards that break the conventions: bounded, no panic, and reported.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gleaner_page::boards::walk::{Change, Grounds, KnownThread, Memory, Stop, Verdict, Walk};
use gleaner_page::boards::when::Conventions;
use gleaner_page::boards::{BoardPage, Times};

use super::{NOW, read, read_with, url};

const DAY: i64 = 86_400;
const BOARD: &str = "http://x.example/forum/1";

/// A page of threads: id, seconds before `now`, replies.
fn page(rows: &[(u32, i64, u32)], now: i64, next: Option<&str>) -> BoardPage {
    let rows: String = rows
        .iter()
        .map(|(id, ago, replies)| format!("<tr><td><a href=\"/topic/{id}\">Thread called {id}</a></td><td>{replies}</td><td><time datetime=\"{}\">x</time></td></tr>", stamp(now - ago)))
        .collect();
    let next = next.map_or(String::new(), |next| format!("<a rel=\"next\" href=\"{next}\">2</a>"));
    let html = format!(
        "<html><body><table><tr><th>Topic</th><th>Replies</th><th>Last post</th></tr>{rows}</table>{next}</body></html>"
    );
    read_with(&html, BOARD, now, None, None, &mut Default::default())
}

fn stamp(at: i64) -> String {
    let date = time::OffsetDateTime::from_unix_timestamp(at).unwrap();
    date.format(&time::format_description::well_known::Rfc3339).unwrap()
}

fn known_of(page: &BoardPage, at: i64) -> impl Fn(&str) -> Option<KnownThread> + use<> {
    let rows = page.rows.clone();
    move |id| rows.iter().find(|row| row.id == id).map(|row| KnownThread::fetched(row, at))
}

fn look(memory: &mut Memory, page: &BoardPage, now: i64, known: impl Fn(&str) -> Option<KnownThread>) -> Verdict {
    let mut walk = Walk::begin(memory, now, 9);
    let verdict = walk.page(page, &url(BOARD), &url(BOARD), known);
    walk.finish();
    verdict
}

fn thirty() -> Vec<(u32, i64, u32)> {
    (0..30).map(|at| (at, i64::from(at) * 3_600 + 60, at)).collect()
}

#[test]
fn what_is_known_and_unchanged_is_not_fetched() {
    let mut memory = Memory::default();
    let before = page(&thirty(), NOW, None);
    assert_eq!(before.rows.len(), 30);
    let later = NOW + DAY / 4;
    let mut rows: Vec<(u32, i64, u32)> =
        thirty().into_iter().map(|(id, ago, replies)| (id, ago + DAY / 4, replies)).collect();
    rows[20] = (20, 50, 21);
    rows.sort_by_key(|(_, ago, _)| *ago);
    rows.insert(0, (99, 20, 0));
    let verdict = look(&mut memory, &page(&rows, later, Some("/forum/1?page=2")), later, known_of(&before, NOW));
    let fetched: Vec<(&str, Change)> = verdict.fetch.iter().map(|fetch| (fetch.from.path(), fetch.why)).collect();
    assert_eq!(fetched, [("/topic/99", Change::New), ("/topic/20", Change::Later)]);
    assert_eq!((verdict.grounds, verdict.step.is_ok()), (Some(Grounds::Times), true));
    let again = page(&rows, later, Some("/forum/1?page=2"));
    let verdict = look(&mut memory, &again, later, known_of(&again, later));
    assert_eq!((verdict.fetch.len(), verdict.step), (0, Err(Stop::NothingNew)));
}

/// A page of a list without times.
fn timeless(ids: std::ops::Range<u32>) -> BoardPage {
    let rows: String =
        ids.map(|id| format!("<tr><td><a href=\"/topic/{id}\">Thread called {id}</a></td><td>x</td></tr>")).collect();
    let next = "<a rel=\"next\" href=\"/forum/1?page=2\">2</a>";
    read(&format!("<html><body><table><tr><th>Topic</th><th>By</th></tr>{rows}</table>{next}</body></html>"), BOARD)
}

/// Other lists showed the newest, which were read since: pages with only those are as quiet as any.
#[test]
fn a_look_goes_on_over_pages_that_stand_above_what_the_last_one_showed() {
    let at = url(BOARD);
    let pages = [timeless(100..120), timeless(120..140), timeless(140..160)];
    let read = |id: &str| pages.iter().find_map(|page| known_of(page, NOW - DAY)(id));
    for (above, pages_looked_at) in [([0; 3], 1), ([20, 20, 5], 3), ([20, 5, 0], 2)] {
        let mut memory = Memory::default();
        let mut walk = Walk::begin(&mut memory, NOW, 9);
        for (page, above) in pages.iter().zip(above) {
            walk.stands_above(above);
            if walk.page(page, &at, &at, read).step.is_err() {
                break;
            }
        }
        assert_eq!(walk.pages(), pages_looked_at, "{above:?}");
    }
}

/// Some rows that the last visit could not have shown were read for other lists: news below them are no disorder.
#[test]
fn rows_that_other_lists_have_shown_since_tell_nothing_of_the_order() {
    let page = timeless(100..120);
    let known = known_of(&page, NOW - DAY);
    for (above, disorder) in [(0, 1.0), (6, 0.0)] {
        let mut memory = Memory::default();
        let mut walk = Walk::begin(&mut memory, NOW, 9);
        walk.stands_above(above);
        // The third and the fifth row are new.
        let is_new = |id: &str| id.ends_with("/102") || id.ends_with("/104");
        let verdict = walk.page(&page, &url(BOARD), &url(BOARD), |id| known(id).filter(|_| !is_new(id)));
        assert_eq!(verdict.fetch.len(), 2);
        walk.finish();
        assert_eq!(memory.disorder, disorder, "{above} above");
    }
}

/// A row that moves to the next page during the visit is new once.
#[test]
fn what_a_look_has_shown_is_no_news_on_its_next_page() {
    let mut memory = Memory::default();
    let mut walk = Walk::begin(&mut memory, NOW, 9);
    let at = url(BOARD);
    let known = known_of(&timeless(103..200), NOW - DAY);
    walk.page(&timeless(100..120), &at, &at, &known);
    let second = walk.page(&timeless(102..122), &at, &at, |id| known(id).filter(|_| !id.ends_with("/121")));
    let new = second.changes.iter().filter(|change| **change == Change::New).count();
    assert_eq!((new, second.fetch.len()), (1, 1));
}

#[test]
fn pages_that_repeat_end_the_walk() {
    let mut memory = Memory::default();
    let same = page(&thirty(), NOW, Some("/forum/1?page=2"));
    let mut walk = Walk::begin(&mut memory, NOW, 1_000);
    let at = url(BOARD);
    assert!(walk.page(&same, &at, &at, |_| None).step.is_ok());
    let second = walk.page(&same, &at, &at, |_| None);
    assert_eq!((second.step, second.fetch.len()), (Err(Stop::Repeats), 0), "nothing is fetched twice");
    assert_eq!(walk.finish(), 2);
}

#[test]
fn a_walk_is_capped() {
    let mut memory = Memory::default();
    let mut walk = Walk::begin(&mut memory, NOW, 3);
    let at = url(BOARD);
    for number in 0..3_u32 {
        let rows: Vec<(u32, i64, u32)> =
            (0..20).map(|row| (number * 20 + row, i64::from(number * 20 + row) * 600, 1)).collect();
        let verdict = walk.page(&page(&rows, NOW, Some("/forum/1?page=9")), &at, &at, |_| None);
        assert_eq!(verdict.step.is_ok(), number < 2);
        assert_eq!(verdict.step.err(), (number == 2).then_some(Stop::Capped));
    }
}

#[test]
fn empty_boards_and_boards_that_moved_are_told() {
    let mut memory = Memory::default();
    let empty = read(
        "<html><body><p>There are no threads.</p><ul><li><a href=/a>Home</a><li><a href=/b>Help</a></ul></body></html>",
        BOARD,
    );
    let mut walk = Walk::begin(&mut memory, NOW, 9);
    let verdict = walk.page(&empty, &url(BOARD), &url(BOARD), |_| None);
    assert_eq!((verdict.step, verdict.grounds), (Err(Stop::Empty), None));
    drop(walk);
    let mut walk = Walk::begin(&mut memory, NOW, 9);
    let there = url("http://x.example/forum/77");
    let verdict = walk.page(&page(&thirty(), NOW, None), &url(BOARD), &there, |_| None);
    assert_eq!(verdict.moved, Some(there));
}

#[test]
fn threads_that_should_be_there_are_missed() {
    let mut memory = Memory::default();
    let before = page(&thirty(), NOW, None);
    let rows: Vec<(u32, i64, u32)> = thirty().into_iter().filter(|(id, ..)| *id != 7).collect();
    let mut walk = Walk::begin(&mut memory, NOW, 9);
    walk.page(&page(&rows, NOW, None), &url(BOARD), &url(BOARD), known_of(&before, NOW));
    let known: Vec<(String, KnownThread)> =
        before.rows.iter().map(|row| (row.id.clone(), KnownThread::fetched(row, NOW))).collect();
    let missing = walk.missing(known.iter().map(|(id, known)| (id.as_str(), known)));
    assert_eq!(missing, ["http://x.example/topic/7"]);
}

#[test]
fn times_that_move_with_our_clock_are_not_believed() {
    let mut memory = Memory::default();
    let first = page(&thirty(), NOW, None);
    let later = NOW + DAY / 4;
    // The same intervals again: the page shows the time at which it was generated.
    let again = page(&thirty(), later, None);
    let verdict = look(&mut memory, &again, later, known_of(&first, NOW));
    assert_eq!((verdict.fetch.len(), verdict.grounds, memory.lies), (0, Some(Grounds::Replies), 1));
}

#[test]
fn counts_that_grow_while_nothing_happens_are_views() {
    let mut memory = Memory::default();
    let first = page(&thirty(), NOW, None);
    let later = NOW + DAY / 4;
    let rows: Vec<(u32, i64, u32)> =
        thirty().into_iter().map(|(id, ago, views)| (id, ago + DAY / 4, views + 5)).collect();
    let verdict = look(&mut memory, &page(&rows, later, None), later, known_of(&first, NOW));
    assert_eq!((verdict.fetch.len(), verdict.grounds), (0, Some(Grounds::Times)));
}

#[test]
fn replies_within_the_minute_in_which_their_threads_were_read_are_replies() {
    // Eight threads of the last minute were read at once, and each has one more reply half a minute later.
    let minute = |now: i64, replies: u32| {
        let rows: String = (0..30_i64)
            .map(|id| {
                let at = if id < 8 { NOW } else { NOW - id * 3_600 } / 60 * 60;
                let replies = if id < 8 { replies } else { 3 };
                format!(
                    "<tr><td><a href=\"/topic/{id}\">Thread called {id}</a></td><td>{replies}</td><td>{}</td></tr>",
                    &stamp(at)[..16].replace('T', " ")
                )
            })
            .collect();
        let html = format!("<table><tr><th>Topic</th><th>Replies</th><th>Last post</th></tr>{rows}</table>");
        read_with(&html, BOARD, now, None, None, &mut Conventions::with_offset(Some(0)))
    };
    let (first, later) = (minute(NOW + 20, 0), minute(NOW + 50, 1));
    let mut memory = Memory::default();
    let verdict = look(&mut memory, &later, NOW + 50, known_of(&first, NOW + 20));
    assert_eq!((verdict.fetch.len(), verdict.grounds), (8, Some(Grounds::Times)), "{:?}", first.rows[0]);
    // Read an hour later, a count that grows while the time stands still counts views.
    let verdict = look(&mut Memory::default(), &later, NOW + 7_200, known_of(&first, NOW + 3_600));
    assert_eq!(verdict.fetch.len(), 0);
}

#[test]
fn a_post_that_was_taken_back_is_no_news() {
    let mut memory = Memory::default();
    let first = page(&thirty(), NOW, None);
    let mut rows = thirty();
    rows[3] = (3, 40 * 3_600, 2);
    let verdict = look(&mut memory, &page(&rows, NOW, None), NOW, known_of(&first, NOW));
    assert_eq!((verdict.fetch.len(), verdict.changes[3]), (0, Change::Receded));
}

#[test]
fn a_list_of_births_tells_new_threads_and_no_replies() {
    let list = |ids: std::ops::Range<u32>| {
        let rows: String = ids.rev().map(|id| format!("<tr><td><a href=\"details.php?id={id}\">Torrent called {id}</a></td><td>2026-11-2{} 10:00</td><td>1.{id} GB</td></tr>", id / 10)).collect();
        read(
            &format!(
                "<html><body><table><tr><th>Name</th><th>Added</th><th>Size</th></tr>{rows}</table></body></html>"
            ),
            "http://x.example/browse.php",
        )
    };
    let (first, second) = (list(0..20), list(2..22));
    assert_eq!(first.times, Times::Created);
    let verdict = look(&mut Memory::default(), &second, NOW, known_of(&first, NOW));
    assert_eq!((verdict.fetch.len(), verdict.grounds), (2, Some(Grounds::UnknownUrls)));
}

/// A generous limit for a fast operation; machines that run tests are busy.
fn within(seconds: u64, what: &str, run: impl FnOnce()) {
    #[allow(clippy::disallowed_methods)] // measures the reader itself
    let start = Instant::now();
    run();
    let taken = start.elapsed();
    assert!(taken < Duration::from_secs(seconds), "{what} took {taken:?}");
}

#[test]
fn a_hundred_thousand_rows_are_read() {
    let rows: String = (0..100_000)
        .map(|at| format!("<li><a href=\"/t/{at}\">Thread {at}</a> 2026-11-21 10:00 5 replies</li>"))
        .collect();
    let html = format!("<html><body><ul>{rows}</ul></body></html>");
    within(120, "a long list", || {
        let page = read(&html, BOARD);
        assert_eq!(page.rows.len(), 100_000);
    });
}

#[test]
fn hostile_markup_is_bounded() {
    let wide_row =
        format!("<table>{}</table>", format!("<tr>{}</tr>", "<td><a href=/t/1>x</a> 1</td>".repeat(3_000)).repeat(5));
    let nested = format!("{}{}", "<div><a href=/t/1>a</a><a href=/t/2>b</a>".repeat(200), "</div>".repeat(200));
    let lists = "<ul><li><a href=/t/1>abc</a><li><a href=/t/2>def</a></ul>".repeat(10_000);
    let spans = "<tr><td rowspan=99999 colspan=999999><a href=/t/1>abc</a></td></tr>".repeat(500);
    let kinds: String = (0..3_000).map(|at| format!("<x{at}><a href=/t/{at}>thread {at}</a></x{at}>")).collect();
    let long = format!(
        "<ul>{}</ul>",
        format!("<li><a href=/t/1>{}</a> {}</li>", "long ".repeat(20_000), "2026-".repeat(20_000)).repeat(10)
    );
    let linkless = "<table><tr><td>2026-11-21 10:00</td><td>5</td></tr>".repeat(5_000);
    let bad_links =
        "<li><a href=\"http://[\">abc def</a> <a href=javascript:x>ghi jkl</a> <a href=\"\">m</a></li>".repeat(2_000);
    let same = "<li><a href=/t/1>the same thread</a> 2026-11-21 10:00</li>".repeat(5_000);
    for (name, html) in [
        ("wide rows", wide_row),
        ("nested lists", nested),
        ("many lists", lists),
        ("spans", format!("<table>{spans}</table>")),
        ("many kinds", kinds),
        ("long texts", long),
        ("rows without links", linkless),
        ("bad links", bad_links),
        ("one thread", same),
        ("nothing", String::new()),
    ] {
        within(60, name, || {
            let page = read(&html, BOARD);
            assert!(page.rows.len() <= 3_000, "{name}");
        });
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn any_soup_of_tags_is_read(parts in proptest::collection::vec(0..16_usize, 0..120)) {
        const PARTS: [&str; 16] = [
            "<table>", "</table>", "<tr>", "<td>", "<ul>", "<li>", "<div class='sticky sidebar'>", "</div>", "<a href='/t/1'>one two</a>", "<a href='/t/2?page=3'>x</a>",
            "2026-11-21 10:00", " 12 replies ", "<dt>", "<dd>", "<br>", "<time datetime='1795246760000'>",
        ];
        let html: String = parts.into_iter().map(|part| PARTS[part]).collect();
        let page = read(&html, BOARD);
        let mut memory = Memory::default();
        let verdict = look(&mut memory, &page, NOW, |_| None);
        proptest::prop_assert_eq!(verdict.fetch.len(), page.rows.len());
    }
}

#[test]
fn what_people_write_in_titles_names_no_zone() {
    let title = "Live stream on Sunday 20:00 GMT+9";
    let page = |title: &str, footer: &str| {
        let rows: String = (1..=9)
            .map(|id| {
                let name = if id == 4 { title.to_owned() } else { format!("Thread called {id}") };
                format!(
                    "<tr><td><a href='/topic/{id}'>{name}</a></td><td>{id}</td><td>2026-11-22 09:{:02}</td></tr>",
                    59 - id
                )
            })
            .collect();
        let latest = format!("<div class=side><p>Latest: <a href='/topic/4'>{title}</a></p></div>");
        let html = format!(
            "<html><body><table><tr><th>Topic</th><th>Replies</th><th>Last post</th></tr>{rows}</table>{latest}<p>{footer}</p></body></html>"
        );
        let mut conventions = Conventions::default();
        let page = read_with(&html, BOARD, NOW, None, None, &mut conventions);
        assert_eq!(page.rows.len(), 9);
        conventions.zone
    };
    let untold = page("Thread called 4", "");
    assert_eq!(page(title, ""), untold);
    assert_eq!(page("It is currently Sun Nov 22, 2026 07:03 pm", ""), untold);
    let told = page(title, "All times are UTC+02:00");
    assert_eq!((told.low_s(), told.high_s()), (7_200, 7_200));
}

#[test]
fn a_list_that_tells_days_has_no_thread_of_today_read_at_each_look() {
    let rows: String = (1..=12)
        .map(|id| format!("<tr><td><a href='/topic/{id}'>Thread called {id}</a></td><td>2026-11-22</td></tr>"))
        .collect();
    let html = format!("<html><body><table><tr><th>Topic</th><th>Last post</th></tr>{rows}</table></body></html>");
    let page = read(&html, BOARD);
    let fetched = |minutes: i64| {
        let mut memory = Memory::default();
        look(&mut memory, &page, NOW, known_of(&page, NOW - minutes * 60)).fetch.len()
    };
    assert_eq!(page.rows.len(), 12);
    assert_eq!([1, 59, 60, 300].map(fetched), [0, 0, 12, 12], "missed is worse, once an hour");
}

#[test]
fn a_thread_that_was_just_read_and_that_nobody_remembers_is_read_once_more_where_its_time_cannot_be_compared() {
    let rows: String = (1..=6)
        .map(|id| format!("<tr><td><a href='/topic/{id}'>Thread called {id}</a></td><td>2026-11-22</td></tr>"))
        .collect();
    let html = format!("<html><body><table><tr><th>Topic</th><th>Last post</th></tr>{rows}</table></body></html>");
    let page = read(&html, BOARD);
    assert_eq!(page.rows.len(), 6);
    let forgotten = |id: &str| match id == page.rows[4].id {
        true => Some(KnownThread { last: None, replies: None, last_page: None, read_at: NOW - 60 }),
        false => known_of(&page, NOW - 60)(id),
    };
    let mut memory = Memory::default();
    let fetched: Vec<usize> = look(&mut memory, &page, NOW, forgotten).fetch.iter().map(|fetch| fetch.row).collect();
    assert_eq!(fetched, [4], "as after a kill: what came between its visit and the look, nobody knows");
    assert_eq!(
        look(&mut memory, &page, NOW + 60, known_of(&page, NOW)).fetch.len(),
        0,
        "it is remembered from then on"
    );
    let mut walk = Walk::begin(&mut memory, NOW, 9).resumed(false);
    assert_eq!(walk.page(&page, &url(BOARD), &url(BOARD), forgotten).fetch.len(), 0, "on fronts alone");
}

/// The pages of a list sorted by name, each with the next one's URL.
fn by_name(pages: u32) -> Vec<BoardPage> {
    let of = |number: u32| {
        let rows: Vec<(u32, i64, u32)> =
            (0..5).map(|row| (number * 20 + row, i64::from(row * 7 % 5) * DAY, 1)).collect();
        page(&rows, NOW, (number < pages).then(|| format!("{BOARD}?page={}", number + 1)).as_deref())
    };
    (1..=pages).map(of).collect()
}

/// A visit of them, with one new row at the front or none: the pages that it reads.
fn look_by_name(
    memory: &mut Memory,
    pages: &[BoardPage],
    now: i64,
    room_per_day: f64,
    front_has_news: bool,
) -> Vec<u32> {
    let mut walk = Walk::begin(memory, now, 1_000).with_room(room_per_day);
    let mut read = Vec::new();
    let mut next = if front_has_news { Ok(url(BOARD)) } else { walk.unchanged() };
    while let Ok(asked) = next {
        let number: u32 = asked.as_str().rsplit_once('=').map_or(1, |(_, number)| number.parse().unwrap());
        let page = &pages[number as usize - 1];
        let is_new = |id: &str| number == 1 && id.ends_with("/23");
        let known = known_of(page, now);
        next = walk.page(page, &asked, &asked, |id| known(id).filter(|_| !is_new(id))).step;
        read.push(number);
    }
    walk.finish();
    read
}

/// Two days of visits of a list sorted by name, after one in which its length was learnt; for each page when it was read, and how
/// many pages.
fn days_by_name(pages: u32, every_s: i64, room_per_day: f64, front_has_news: bool) -> (HashMap<u32, Vec<i64>>, usize) {
    let (mut memory, pages) = (Memory::default(), by_name(pages));
    let (mut at, mut read): (HashMap<u32, Vec<i64>>, usize) = (HashMap::new(), 0);
    look_by_name(&mut memory, &pages, NOW - DAY - every_s, room_per_day, true);
    for look in 0..3 * DAY / every_s {
        let now = NOW - DAY + look * every_s;
        for number in look_by_name(&mut memory, &pages, now, room_per_day, front_has_news) {
            let times = at.entry(number).or_insert_with(|| vec![now]);
            if now >= NOW {
                times.push(now);
                read += 1;
            } else {
                times[0] = now;
            }
        }
    }
    at.values_mut().for_each(|times| times.push(NOW + 2 * DAY - every_s));
    (at, read)
}

#[test]
fn pages_of_a_list_by_name_are_read_in_turn_and_all_within_hours_whatever_its_front_shows() {
    // Pages, seconds between visits, visits within which each page is read again, maximum pages per visit.
    for (pages, every_s, within, most) in
        [(12, 600, 4, 4), (12, 6 * 3_600, 1, 11), (12, DAY, 1, 11), (100, 600, 32, 20), (100, 3_600, 5, 25)]
    {
        for front_has_news in [false, true] {
            let (at, read) = days_by_name(pages, every_s, f64::INFINITY, front_has_news);
            let longest = |at: &Vec<i64>| at.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(i64::MAX);
            let behind: Vec<i64> =
                (2..=pages).map(|number| at.get(&number).map_or(i64::MAX, longest) / every_s).collect();
            assert!(behind.iter().all(|longest| *longest <= within), "{pages} {every_s} {front_has_news}: {behind:?}");
            let looks = usize::try_from(2 * DAY / every_s).unwrap();
            // If the front page has news, the pages after it are read, too.
            let most = if front_has_news { most + 3 } else { most };
            assert!(read <= most * looks, "{pages} {every_s} {front_has_news}: {read} pages at {looks} looks");
        }
    }
}

#[test]
fn the_turn_of_a_lists_pages_takes_no_more_requests_than_there_are() {
    let (_, read) = days_by_name(50, 600, 40.0, false);
    assert!((70..=80).contains(&read), "{read} pages in two days of forty");
}

/// Pages of a list sorted by time as of `now`, with this many rows each.
fn in_order(pages: u32, now: i64) -> Vec<BoardPage> {
    let of = |number: u32| {
        let rows: Vec<(u32, i64, u32)> =
            (0..10).map(|row| (number * 20 + row, i64::from(number * 10 + row) * DAY + now - NOW, 1)).collect();
        page(&rows, now, (number < pages).then(|| format!("{BOARD}?page={}", number + 1)).as_deref())
    };
    (1..=pages).map(of).collect()
}

/// The number of pages after the front page that ten days of visits, one every ten minutes, read of a quiet list sorted by time.
fn ten_quiet_days(length: u32, room_per_day: f64) -> Vec<usize> {
    let (mut memory, pages) = (Memory::default(), in_order(length, NOW));
    let mut read = Vec::new();
    for look in 0..10 * 144 {
        let mut walk = Walk::begin(&mut memory, NOW + look * 600, 1_000).with_room(room_per_day);
        let mut next = match look {
            0 => walk.page(&pages[0], &url(BOARD), &url(BOARD), known_of(&pages[0], NOW)).step,
            _ => walk.unchanged(),
        };
        while let Ok(asked) = next {
            let number: usize = asked.as_str().rsplit_once('=').unwrap().1.parse().unwrap();
            next = walk.page(&pages[number - 1], &asked, &asked, known_of(&pages[number - 1], NOW)).step;
            read.push(number);
        }
        walk.finish();
    }
    assert!(memory.is_in_order());
    read
}

#[test]
fn of_a_list_in_the_order_of_time_a_page_is_read_in_turn_each_few_hours() {
    let read = ten_quiet_days(10, f64::INFINITY);
    assert!((55..=60).contains(&read.len()) && read.starts_with(&[2, 3, 4, 5, 6, 7, 8, 9, 10, 2]), "{read:?}");
    let read = ten_quiet_days(300, f64::INFINITY);
    assert!((60..=240).contains(&read.len()), "a page an hour at the most: {}", read.len());
    assert!((18..=20).contains(&ten_quiet_days(10, 2.0).len()), "and none that looks have not left");
    assert_eq!(ten_quiet_days(10, 0.0), [0; 0]);
}

#[test]
fn a_row_that_was_put_in_late_is_found_and_a_page_of_such_is_no_other_order() {
    let list = |ids: std::ops::Range<u32>, next: u32| {
        let rows: String = ids.map(|id| format!("<li><a href=\"/topic/{id}\">Thread called {id}</a></li>")).collect();
        read(&format!("<ul>{rows}</ul><a rel=next href=\"{BOARD}?page={next}\">{next}</a>"), BOARD)
    };
    let (front, second) = (list(100..120, 2), list(200..220, 3));
    let mut memory = Memory { is_sorted: true, ..Memory::default() };
    look(&mut memory, &front, NOW, known_of(&front, NOW));
    let mut late = |now: i64| {
        memory.tour.starts(Some(&url(&format!("{BOARD}?page=2"))));
        let mut walk = Walk::begin(&mut memory, now, 9);
        assert!(walk.unchanged().is_err(), "from now on");
        let mut walk = Walk::begin(&mut memory, now + 5 * 3_600, 9);
        let next = walk.unchanged().unwrap();
        let known = known_of(&second, NOW);
        let found = walk.page(&second, &next, &next, |id| known(id).filter(|_| !id.ends_with("207"))).fetch.len();
        walk.turns_back();
        walk.finish();
        (found, memory.is_in_order())
    };
    assert_eq!(late(NOW), (1, true));
    assert_eq!(late(NOW + 6 * 3_600), (1, false), "two of them in a day are");
}

#[test]
fn a_page_that_never_comes_and_a_list_that_got_shorter_stop_no_turn() {
    let (mut memory, pages) = (Memory::default(), by_name(12));
    look_by_name(&mut memory, &pages, NOW - 600, f64::INFINITY, true);
    let mut asked = Vec::new();
    for look in 0..12 {
        // Requests for page 5 time out.
        let mut walk = Walk::begin(&mut memory, NOW + look * 600, 1_000);
        let mut next = walk.unchanged();
        while let Ok(url) = next {
            let number: usize = url.as_str().rsplit_once('=').unwrap().1.parse().unwrap();
            asked.push(number);
            if number == 5 {
                break;
            }
            next = walk.page(&pages[number - 1], &url, &url, known_of(&pages[number - 1], NOW)).step;
        }
    }
    for number in 4..=12 {
        assert!(
            asked.iter().filter(|asked| **asked == number).count() >= 2,
            "page {number}, also behind the one: {asked:?}"
        );
    }
    // For a list that is shorter now, the round ends where the list does, and the next one starts after the front page.
    let (mut memory, shorter) = (Memory::default(), by_name(8));
    look_by_name(&mut memory, &pages, NOW - 600, f64::INFINITY, true);
    let mut look = |pages: &[BoardPage], after| look_by_name(&mut memory, pages, NOW + after, f64::INFINITY, false);
    assert_eq!(look(&pages, 0), [4, 5, 6, 7]);
    assert_eq!([look(&shorter, 600), look(&shorter, 1_200)], [vec![8], vec![2, 3, 4, 5]]);
}
