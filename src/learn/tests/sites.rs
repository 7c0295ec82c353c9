//! Sites of the kinds that people archive.

use super::*;

fn number(path: &str, front: &str) -> Option<u64> {
    let rest = path.strip_prefix(front)?;
    rest.split(|of: char| !of.is_ascii_digit()).next()?.parse().ok()
}

fn pager(pages: u64, link: impl Fn(u64) -> String) -> String {
    (1..=pages).map(|page| format!("<a href='{}'>{page}</a> ", link(page))).collect()
}

/// A tracker: lists link to details and to the torrents themselves, and to the same list in other orders.
fn tracker(path: &str) -> Reply {
    const COUNT: u64 = 200;
    const PER_PAGE: u64 = 25;
    let nav = "<a href=/>Home</a><a href=/upload>Upload</a><a href=/help>Help</a><a href=/rss>RSS</a><a href=/login>Login</a>";
    if path == "/" || path.starts_with("/?") {
        let page = number(path, "/?p=").unwrap_or(1);
        let rows: String = (0..PER_PAGE)
            .filter_map(|row| COUNT.checked_sub((page - 1) * PER_PAGE + row).filter(|id| *id > 0))
            .map(|id| format!("<tr><td><a href='/view/{id}'>Thing number {id}</a><td><a href='/get/{id}.torrent'><img alt=dl></a><td><a href='/user/u{}'>u</a>", id % 7))
            .collect();
        return Reply::Page(format!(
            "{nav}<a href='/?s=size&o=desc'>size</a><table>{rows}</table>{}",
            pager(COUNT / PER_PAGE, |page| format!("/?p={page}"))
        ));
    }
    if let Some(id) = number(path, "/view/") {
        return Reply::Page(format!("{nav}<a href='/user/u{}'>u</a><a href='/get/{id}.torrent'>Download</a>", id % 7));
    }
    match number(path, "/get/") {
        Some(id) => Reply::Torrent(id),
        None if path.starts_with("/user/") => Reply::Page(format!("{nav}somebody")),
        None => Reply::Page(format!("{nav}words")),
    }
}

#[test]
fn a_tracker_is_learned_and_its_details_are_not_needed() {
    let learned = is_whole(&mut MadeUp::new(tracker), &options("/"), 200, 420);
    assert!(learned.lean.is_some() && learned.rules.len() <= 4, "{}", learned.text);
    assert_eq!(learned.estimate, Estimate::About(200));
    let lean = is_whole(&mut MadeUp::new(tracker), &Options { lean: true, ..options("/") }, 200, 215);
    assert!(lean.text.contains("# Not needed: "), "{}", lean.text);
}

#[test]
fn files_that_are_linked_in_two_spellings_are_fetched_once() {
    let spelled = |path: &str| {
        let id = path.strip_prefix("/get.php?").and_then(|query| number(query, "id="));
        let reply = tracker(&id.map_or_else(|| path.to_owned(), |id| format!("/get/{id}.torrent")));
        let Reply::Page(text) = reply else { return reply };
        let name = if path.starts_with("/view/") { "[a] thing's" } else { "%5Ba%5D+thing%27s" };
        let mut parts = text.split("'/get/");
        let mut spelled = parts.next().unwrap().to_owned();
        for part in parts {
            let (id, rest) = part.split_once(".torrent'").unwrap();
            spelled += &format!("\"/get.php?id={id}&f={name}+{id}.torrent\"{rest}");
        }
        Reply::Page(spelled)
    };
    let learned = is_whole(&mut MadeUp::new(spelled), &options("/"), 200, 420);
    assert!(learned.text.contains("\nform_values = true\n"), "{}", learned.text);
    assert!(!is_whole(&mut MadeUp::new(tracker), &options("/"), 200, 420).text.contains("form_values"));
}

/// Every tenth row has the address of before a redesign, which is the only one that leads to it; some of these are closed.
fn moved(path: &str) -> Reply {
    if let Some(id) = number(path, "/old/") {
        return Reply::To(format!("/view/{id}"));
    }
    let Reply::Page(text) = tracker(path) else { return tracker(path) };
    let is_list = path == "/" || path.starts_with("/?");
    let mut text = (1..=20).map(|of| of * 10).filter(|_| is_list).fold(text, |text, id| {
        text.replace(&format!("'/view/{id}'"), &format!("'/old/{id}'"))
            .replace(&format!("<a href='/get/{id}.torrent'><img alt=dl></a>"), "")
    });
    text += if is_list { "" } else { "<a href='/old/7'>once</a>" };
    Reply::Page(text)
}

#[test]
fn redirects_that_are_the_only_way_to_a_page_are_followed() {
    let learned = is_whole(&mut MadeUp::new(moved), &options("/"), 200, 425);
    assert!(learned.text.contains(r"'^/old/\d+$'"), "{}", learned.text);
}

#[test]
fn sixty_requests_are_enough_for_a_tracker() {
    is_whole(&mut MadeUp::new(tracker), &Options { requests: 60, ..options("/") }, 200, 420);
}

/// A forum: attachments of threads, every third of which has none, and links that act.
fn forum(path: &str) -> Reply {
    const THREADS: u64 = 90;
    let nav = "<a href='/index.php'>Index</a><a href='/index.php?mark=forums&hash=ab12cd34'>Mark</a><a href='/ucp.php?mode=logout'>Bye</a><a href='/privmsg.php'>PM</a><a href='/faq.php'>FAQ</a>";
    if let Some(board) = number(path, "/viewforum.php?f=") {
        let start = path.split_once("start=").map_or(0, |(_, start)| start.parse().unwrap());
        let threads: Vec<u64> = (1..=THREADS).filter(|thread| thread % 3 == board % 3).collect();
        let rows: String = threads
            .iter()
            .skip(start)
            .take(10)
            .map(|thread| format!("<li><a href='/viewtopic.php?f={board}&t={thread}'>Thread about {thread}</a> <a href='/viewtopic.php?f={board}&t={thread}&watch=topic'>w</a> <a href='/viewtopic.php?p={}'>last</a>", thread + 1_000))
            .collect();
        let link = |page: u64| {
            if page == 1 {
                format!("/viewforum.php?f={board}")
            } else {
                format!("/viewforum.php?f={board}&start={}", (page - 1) * 10)
            }
        };
        return Reply::Page(format!(
            "{nav}<a href='/posting.php?mode=post&f={board}'>New</a><ul>{rows}</ul>{}",
            pager(3, link)
        ));
    }
    let thread = path
        .split_once("t=")
        .and_then(|(_, rest)| number(rest, ""))
        .or_else(|| number(path, "/viewtopic.php?p=").map(|post| post - 1_000));
    if let Some(thread) = thread.filter(|_| path.starts_with("/viewtopic.php")) {
        let attachment = if thread % 3 == 0 {
            String::new()
        } else {
            format!("<a href='/file.php?id={thread}'>{thread}.torrent</a>")
        };
        let board = thread % 3;
        return Reply::Page(format!(
            "{nav}<a href='/viewforum.php?f={board}'>up</a><a href='/posting.php?mode=reply&f={board}&t={thread}'>Reply</a><a href='/viewtopic.php?f={board}&t={thread}&view=print'>Print</a><a href='/thanks.php?p={thread}'>Thanks</a>{attachment}"
        ));
    }
    match number(path, "/file.php?id=") {
        Some(id) => Reply::Torrent(id),
        None if path == "/" || path == "/index.php" => Reply::Page(format!(
            "{nav}<a href='/viewforum.php?f=0'>A</a><a href='/viewforum.php?f=1'>B</a><a href='/viewforum.php?f=2'>C</a>"
        )),
        None => Reply::Page(format!("{nav}words")),
    }
}

#[test]
fn a_forum_is_learned_without_acting() {
    let learned = is_whole(&mut MadeUp::new(forum), &options("/"), 60, 175);
    assert!(learned.rules.len() <= 6, "{}", learned.text);
    assert!(learned.text.contains("learned = true"));
    let text = is_whole(&mut MadeUp::new(forum), &Options { user: Some("anna".into()), ..options("/") }, 60, 175).text;
    assert!(text.contains("[login]\nuser = 'anna'"), "{text}");
}

/// Folders of folders of torrents, and of other files.
fn folders(path: &str) -> Reply {
    let depth = path.matches('/').count();
    if let Some(name) = path.strip_suffix(".torrent") {
        return Reply::Torrent(name.bytes().fold(7, |sum, of| sum * 31 % 1_000_003 + u64::from(of)));
    }
    let link = |name: String| format!("<a href='{name}'>{name}</a>");
    let names: Vec<String> = match depth {
        1 => (8..14).map(|version| format!("{version}.0/")).collect(),
        2 => vec!["amd64/".into(), "i386/".into()],
        _ => (0..5).flat_map(|disc| [format!("disc-{disc}.torrent"), format!("disc-{disc}.iso")]).collect(),
    };
    Reply::Page(format!(
        "<h1>Index of {path}</h1><a href='../'>up</a>{}",
        names.into_iter().map(link).collect::<String>()
    ))
}

#[test]
fn a_tree_of_folders_is_learned() {
    let mut site = MadeUp::new(folders);
    let learned = is_whole(&mut site, &options("/"), 60, 100);
    assert!(!site.asked.iter().any(|path| path.ends_with(".iso")));
    assert!(learned.rules.len() <= 6, "{}", learned.text);
}

#[test]
fn downloads_that_are_new_on_each_view_are_told_apart_by_their_titles() {
    let mut views = 0;
    let mut site = MadeUp::new(move |path: &str| {
        views += 1;
        if let Some(id) = number(path, "/attach?aid=") {
            return Reply::Torrent(id);
        }
        match number(path, "/thread-") {
            Some(id) => Reply::Page(format!(
                "<a href='/attach?aid={id}&time=17{views:08}'>release {id}.torrent</a><a href='/thread-{id}-print'>Print</a>"
            )),
            None => {
                Reply::Page((1..=40).map(|id| format!("<li><a href='/thread-{id}.html'>Release {id}</a>")).collect())
            }
        }
    });
    let learned = is_whole(&mut site, &options("/"), 40, 130);
    assert!(learned.notes.iter().any(|note| note.contains("new on each view")), "{:?}", learned.notes);
}

#[test]
fn keys_of_the_account_are_in_no_line_of_the_file() {
    const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    let mut site = MadeUp::new(|path: &str| match number(path, "/download.php?id=") {
        Some(id) => Reply::Torrent(id),
        None => Reply::Page(
            (1..=30)
                .map(|id| format!("<tr><td><a href='/download.php?id={id}&passkey={KEY}'>Thing {id}</a>"))
                .collect(),
        ),
    });
    let learned = is_whole(&mut site, &options("/"), 30, 40);
    let told = format!("{} {:?} {:?}", learned.text, learned.questions, learned.notes);
    assert!(!told.contains(KEY), "{told}");
    assert!(learned.text.contains("download"), "{}", learned.text);
}

#[test]
fn a_site_below_a_folder_is_learned_and_its_neighbour_is_not() {
    let mut site = MadeUp::new(|path: &str| match path.strip_prefix("/one") {
        Some(rest) => match number(rest, "/get/") {
            Some(id) => Reply::Torrent(id),
            None => Reply::Page(
                (1..=20).map(|id| format!("<li><a href='/one/get/{id}'>Thing {id}</a>")).collect::<String>()
                    + "<a href='/two/'>the other</a>",
            ),
        },
        None => Reply::Page((1..=20).map(|id| format!("<li><a href='/two/get/{id}'>Other {id}</a>")).collect()),
    });
    let learned = is_whole(&mut site, &options("/one/"), 20, 30);
    assert!(learned.text.contains("below_start = true"), "{}", learned.text);
    assert!(!site.asked.iter().any(|path| path.starts_with("/two")), "{:?}", site.asked);
}

#[test]
fn a_list_of_two_pages_is_one_rule() {
    let mut site = MadeUp::new(|path: &str| {
        let page = number(path, "/?page=").unwrap_or(1);
        match number(path, "/get/") {
            Some(id) => Reply::Torrent(id),
            None => {
                let rows: String = (0..15)
                    .map(|row| (page - 1) * 15 + row)
                    .map(|id| format!("<li><a href='/get/{id}.torrent'>Thing {id}</a>"))
                    .collect();
                Reply::Page(format!("{rows}<a href='/?page={}'>{}</a>", 3 - page, 3 - page))
            }
        }
    });
    let learned = is_whole(&mut site, &options("/"), 30, 40);
    assert!(learned.text.contains(r"'^/(?:\?page=(?<page>\d+))?$'"), "{}", learned.text);
}

/// Folders within folders, each listed by Apache with links to its other orders.
fn columned_folders(path: &str) -> Reply {
    let link = |to: String| format!("<tr><td><a href=\"{to}\">{to}</a></td></tr>");
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    if let Some(id) = path.rsplit('/').next().and_then(|file| number(file, "linux-")) {
        return Reply::Torrent(id);
    }
    let depth = path.matches('/').count() - 1;
    let rows: Vec<String> = match depth {
        0 => vec!["pub/".to_owned()],
        1 => (1..=6).map(|release| format!("{release}.0/")).collect(),
        2 => ["amd64/", "arm64/", "i386/"].map(str::to_owned).to_vec(),
        3 => ["bt-cd/", "bt-dvd/"].map(str::to_owned).to_vec(),
        _ => {
            let first = path.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) % 1_000_000 + u64::from(byte));
            (0..3).flat_map(|id| [format!("linux-{}.torrent", first * 3 + id), format!("linux-{id}.iso")]).collect()
        }
    };
    let columns: String = ["C=N;O=D", "C=M;O=A", "C=S;O=A", "C=D;O=A"].map(|query| link(format!("?{query}"))).concat();
    let rows: String = rows.into_iter().map(link).collect();
    let up = path.trim_end_matches('/').rsplit_once('/').map_or("", |(up, _)| up);
    Reply::Page(format!(
        "<title>Index of {path}</title><h1>Index of {path}</h1>{query}<table>{columns}<a href=\"{up}/\">Parent Directory</a>{rows}</table>"
    ))
}

#[test]
fn folders_are_learned_with_sixty_requests_and_never_asked_for_in_another_order() {
    let mut site = MadeUp::new(columned_folders);
    let options = Options { requests: 60, ..options("/") };
    is_whole(&mut site, &options, 6 * 3 * 2 * 3, 200);
    assert!(!site.asked.iter().any(|path| path.contains("?C=")), "{:?}", site.asked);
}

#[test]
fn what_is_left_of_the_requests_counts_the_folders() {
    let learned = is_whole(&mut MadeUp::new(columned_folders), &options("/"), 6 * 3 * 2 * 3, 200);
    assert_eq!(learned.estimate, Estimate::About(6 * 3 * 2 * 3), "{}", learned.text);
}
