//! Threads with news: which of their pages is read again, for all kinds of links, counts and dates in rows.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::site::Site;
use gleaner_store::crawldb::CrawlDb;

use super::boards::*;
use super::web::{Answer, Machine, page};

/// A list that counts replies, or does not, and shows no times.
fn counted(threads: &[Thread], next: Option<&str>, counts: bool) -> Answer {
    let mut text = String::from("<body><h1>Board</h1><table class=topics><tr><th>Topic<th>Replies<th>Views</tr>");
    for Thread { n, replies, last_page, .. } in threads {
        let replies = if counts { replies.to_string() } else { String::new() };
        let pages = if *last_page > 1 {
            format!(" [ <a href='/viewtopic?t={n}&amp;page={last_page}'>{last_page}</a> ]")
        } else {
            String::new()
        };
        let _ = write!(
            text,
            "<tr class=row><td><a class=topictitle href='/viewtopic?t={n}'>The talk about matter {n}</a>{pages}</td><td>{replies}</td><td>{}</td></tr>",
            n * 7 + 60
        );
    }
    text.push_str("</table>");
    if let Some(next) = next {
        let _ = write!(text, "<p class=pages><a rel=next href={next}>Next</a></p>");
    }
    page(&(text + "</body>"))
}

#[tokio::test(start_paused = true)]
async fn of_a_thread_that_history_read_the_last_page_that_was_read_is_known_by_the_database() {
    // It is on the third page, which no recheck reaches, until somebody replies.
    let all = threads(50, 30);
    let mut old: Vec<Vec<Thread>> = all.chunks(10).map(<[Thread]>::to_vec).collect();
    old[2][4].last_page = 3;
    let n = old[2][4].n;
    let mut woken = old[2][4];
    (woken.last, woken.last_page) = (START + 1_800, 4);
    let mut front = old[0].clone();
    front.insert(0, woken);
    let web = posts()
        .at("/", &[board(&old[0], Some("/board/2"), true), board(&front, Some("/board/2"), true)])
        .at("/board/2", &[board(&old[1], Some("/board/3"), true)])
        .at("/board/3", &[board(&old[2], None, true)]);
    let (web, machine) = (Arc::new(web), Machine::new());
    looks(&machine, &web, "", 2).await;
    let asked = [3, 4].map(|page| web.asked(&format!("/viewtopic?t={n}&page={page}")));
    assert_eq!((web.asked(&format!("/viewtopic?t={n}")), asked), (1, [2, 1]));
}

#[tokio::test(start_paused = true)]
async fn a_thread_with_news_whose_page_could_not_be_had_is_asked_for_again() {
    // It does not move on its list; the list itself stays the same from then on.
    let before = threads(30, 12);
    let mut after = before.clone();
    let mut woken = after.remove(5);
    (woken.last, woken.replies) = (START + 1_800, 4);
    after.insert(0, woken);
    let path = format!("/viewtopic?t={}", woken.n);
    for (code, tries) in [(500, 4), (403, 1)] {
        let good = page("<h1>Talk</h1><p>words</p>");
        let mut answers = vec![good.clone()];
        answers.extend(vec![super::web::status(code); tries]);
        answers.push(good);
        let web = posts().at("/", &[board(&before, None, true), board(&after, None, true)]).at(&path, &answers);
        let (web, machine) = (Arc::new(web), Machine::new());
        looks(&machine, &web, "", 6).await;
        assert_eq!(web.asked(&path), tries + 2, "{code}: read once, tried in vain, read again, and no more");
    }
    // A permanently refused page is not requested at each recheck.
    let refused = [page("<h1>Talk</h1><p>words</p>"), super::web::status(403)];
    let web = posts().at("/", &[board(&before, None, true), board(&after, None, true)]).at(&path, &refused);
    let (web, machine) = (Arc::new(web), Machine::new());
    looks(&machine, &web, "", 100).await;
    assert!((5..=11).contains(&web.asked(&path)), "{} requests in four days", web.asked(&path));
}

#[tokio::test(start_paused = true)]
async fn where_counts_alone_tell_news_a_thread_that_comes_up_from_a_page_behind_is_read_again() {
    // Whether history could count it on its page, or not.
    for counts in [true, false] {
        let all = threads(60, 30);
        let old: Vec<Vec<Thread>> = all.chunks(10).map(<[Thread]>::to_vec).collect();
        let mut woken = old[2][4];
        woken.replies += 1;
        let mut front = old[0].clone();
        front.insert(0, woken);
        let last = front.pop().unwrap();
        let mut second = old[1].clone();
        second.insert(0, last);
        let next = Some("/board/2");
        let web = posts()
            .at("/", &[counted(&old[0], next, true), counted(&old[0], next, true), counted(&front, next, true)])
            .at("/board/2", &[counted(&old[1], Some("/board/3"), counts), counted(&second, Some("/board/3"), counts)])
            .at("/board/3", &[counted(&old[2], None, counts)]);
        let (web, machine) = (Arc::new(web), Machine::new());
        looks(&machine, &web, "", 2).await;
        let asked = |n: u64| web.asked(&format!("/viewtopic?t={n}"));
        assert!(all.iter().all(|thread| asked(thread.n) == 1));
        looks(&machine, &web, "", 4).await;
        assert_eq!(asked(woken.n), 2, "{counts}");
        let others: Vec<u64> = all.iter().map(|thread| thread.n).filter(|n| *n != woken.n && asked(*n) != 1).collect();
        assert!(others.is_empty(), "{counts}: {others:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn news_on_a_page_of_a_thread_that_was_read_are_found_whatever_its_row_links_to() {
    let (before, n) = (threads(30, 12), 24);
    let bumped = |last_page: u64| {
        let mut after = before.clone();
        let at = after.iter().position(|thread| thread.n == n).unwrap();
        let mut woken = after.remove(at);
        (woken.last, woken.replies, woken.last_page) = (START + 1_800, 4, last_page);
        after.insert(0, woken);
        after
    };
    // The links of its row before and after, and whether its first page has to be read once more to reach the others.
    for (row_before, row_after, by_first) in [(2, 2, false), (1, 3, false), (1, 1, true)] {
        let mut rows = before.clone();
        rows.iter_mut().filter(|thread| thread.n == n).for_each(|thread| thread.last_page = row_before);
        let after = bumped(row_after);
        // The same list under two URLs: the thread waits for its first visit when the second one shows it.
        let twice = |rows: &[Thread]| {
            let Answer::Status(status, headers, body) = board(rows, None, true) else { unreachable!("a page") };
            Answer::Status(status, headers, [body.as_ref(), b"<a href=/board/1>1</a>".as_ref()].concat().into())
        };
        let path = format!("/viewtopic?t={n}");
        let links = "<a href='/viewtopic?t=24'>1</a> <a href='/viewtopic?t=24&page=2'>2</a> <a href='/viewtopic?t=24&page=3'>3</a>";
        let answers = [page(&format!("<h1>Talk</h1><p>words</p>{links}"))];
        let mut web = posts().at(&path, &answers);
        for list in ["/", "/board/1"] {
            web = web.at(list, &[twice(&rows), twice(&rows), twice(&after)]);
        }
        let (web, machine) = (Arc::new(web), Machine::new());
        looks(&machine, &web, "", 2).await;
        let asked = || [1, 2, 3].map(|at| web.asked(&if at == 1 { path.clone() } else { format!("{path}&page={at}") }));
        assert_eq!(asked(), [1, 1, 1]);
        looks(&machine, &web, "", 3).await;
        let [first, _, last] = asked();
        assert_eq!(
            (first, last),
            (1 + usize::from(by_first), if row_after == 2 { 1 } else { 2 }),
            "{row_before} {row_after} {:?}",
            asked()
        );
        assert_eq!(asked()[1], if row_after == 2 { 2 } else { 1 }, "{row_before} {row_after}");
    }
}

/// As in phpBB: each row links to the thread's last post by a URL that the site's rules refuse.
#[tokio::test(start_paused = true)]
async fn news_of_a_thread_whose_last_post_has_an_address_that_no_class_takes_are_read() {
    let (before, n) = (threads(30, 12), 24);
    let mut after = before.clone();
    let at = after.iter().position(|thread| thread.n == n).unwrap();
    let mut woken = after.remove(at);
    (woken.last, woken.replies) = (START + 1_800, 4);
    after.insert(0, woken);
    let list = |threads: &[Thread]| {
        let Answer::Status(status, headers, body) = board(threads, None, true) else { unreachable!("a page") };
        let mut text = String::from_utf8(body.to_vec()).unwrap();
        for Thread { n, replies, .. } in threads {
            let (title, last) = (format!("The talk about matter {n}</a>"), 1_000 * n + replies);
            let link = format!("{title} <a href='/viewtopic?f=1&amp;t={n}&amp;p={last}#p{last}'>last post</a>");
            text = text.replace(&title, &link);
        }
        Answer::Status(status, headers, text.into())
    };
    let web = Arc::new(posts().at("/", &[list(&before), list(&before), list(&after)]));
    let machine = Machine::new();
    let refused = "deny = ['[?&]p=']\n";
    looks(&machine, &web, refused, 2).await;
    let path = |n: u64| format!("/viewtopic?t={n}");
    assert_eq!(web.asked(&path(n)), 1);
    looks(&machine, &web, refused, 3).await;
    assert_eq!(web.asked(&path(n)), 2, "the thread itself leads to its last post");
    for other in before.iter().filter(|thread| thread.n != n) {
        assert_eq!(web.asked(&path(other.n)), 1, "thread {}", other.n);
    }
}

#[tokio::test(start_paused = true)]
async fn news_of_a_thread_that_history_read_minutes_ago_do_not_wait_for_the_zone_to_be_known() {
    // The site shows no time zone: whether a time of the last half day was before the thread was read is unknown.
    let list = |threads: &[Thread], next: Option<&str>, replies: bool| {
        let rows = threads.iter().map(|thread| {
            let time = iso(thread.last).replace('T', " ");
            let count = if replies { format!("<td>{}</td>", thread.replies) } else { String::new() };
            format!("<tr class=row><td><a href='/viewtopic?t={0}'>The talk about matter {0}</a></td>{count}<td>{1}</td></tr>", thread.n, &time[..16])
        });
        let head = if replies { "<th>Replies" } else { "" };
        let next = next.map(|next| format!("<p class=pages><a rel=next href={next}>Next</a></p>")).unwrap_or_default();
        page(&format!(
            "<body><h1>Board</h1><table class=topics><tr><th>Topic{head}<th>Last post</tr>{}</table>{next}</body>",
            rows.collect::<String>()
        ))
    };
    for replies in [true, false] {
        let all = threads(60, 30);
        let old: Vec<Vec<Thread>> = all.chunks(10).map(<[Thread]>::to_vec).collect();
        let mut woken = old[2][4];
        (woken.replies, woken.last) = (woken.replies + 1, START + 300);
        let mut front = old[0].clone();
        front.insert(0, woken);
        front.pop();
        let next = Some("/board/2");
        let web = posts()
            .at("/", &[list(&old[0], next, replies), list(&front, next, replies)])
            .at("/board/2", &[list(&old[1], Some("/board/3"), replies)])
            .at("/board/3", &[list(&old[2], None, replies)]);
        let (web, machine) = (Arc::new(web), Machine::new());
        for _ in 0..2 {
            let text = format!("start = ['http://sim.example/']\n{}", RULES.replace("= 59", "= 9"));
            let rules = gleaner_rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
            let db: Arc<dyn CrawlDb> = machine.db.clone();
            let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
            machine.crawl_site(site, RunOptions::default(), None, None).await.0.unwrap();
            tokio::time::sleep(Duration::from_secs(601)).await;
        }
        let asked = |n: u64| web.asked(&format!("/viewtopic?t={n}"));
        assert_eq!(asked(woken.n), 2, "{replies}");
        let others = all.iter().filter(|thread| thread.n != woken.n && asked(thread.n) != 1).count();
        assert_eq!(others, 0, "{replies}");
    }
}
