//! Sites on which nothing can be learned, and those that mean harm: each ends within its requests, with the reason.

use super::*;

fn nothing<F: FnMut(&str) -> Reply>(site: &mut MadeUp<F>) -> (Nothing, usize) {
    let outcome = site.learn(&options("/"));
    let nothing = outcome.learned.expect_err("nothing can be learned here");
    assert!(!nothing.to_string().is_empty() && !nothing.hint().is_empty());
    assert_eq!(outcome.requests as usize, site.asked.len());
    (nothing, site.asked.len())
}

#[test]
fn a_site_where_nothing_is_found_ends_at_once() {
    let (why, asked) = nothing(&mut MadeUp::new(|_: &str| Reply::Status(404)));
    assert!(matches!(why, Nothing::NoStart(_)) && asked <= 2, "{why:?} after {asked}");
    let (why, asked) = nothing(&mut MadeUp::new(|path: &str| Reply::To(format!("{path}x"))));
    assert!(asked <= 10, "{why:?} after {asked}");
    let soft = (0..30).map(|id| format!("<a href='/torrent/{id}'>t</a>")).collect::<String>();
    let (why, asked) =
        nothing(&mut MadeUp::new(move |_: &str| Reply::Page(format!("Sorry, this page is gone {soft}"))));
    assert!(why == Nothing::NoTorrent && asked <= 10, "{why:?} after {asked}");
}

#[test]
fn links_without_end_have_an_end() {
    let mut next = 0_u64;
    let mut site = MadeUp::new(move |_: &str| {
        let links = (0..40).map(|_| {
            next += 1;
            format!(
                "<a href='/{}/{next}/{}-{next}'>x</a>",
                ["red", "blue", "green"][next as usize % 3],
                ["a", "b"][next as usize % 2]
            )
        });
        Reply::Page(links.collect())
    });
    let (why, asked) = nothing(&mut site);
    assert!(why == Nothing::NoTorrent && asked <= 60, "{why:?} after {asked}");
}

#[test]
fn what_robots_txt_closes_is_not_asked_for_and_told() {
    let page = |path: &str| match path {
        "/" => Reply::Page((0..30).map(|id| format!("<a href='/dl.php?id={id}'>Thing {id}</a>")).collect()),
        _ => Reply::Torrent(1),
    };
    let mut all = MadeUp { closed: &["/"], ..MadeUp::new(page) };
    assert_eq!(nothing(&mut all), (Nothing::ClosedByRobots, 0));
    let mut some = MadeUp { closed: &["/dl.php"], ..MadeUp::new(page) };
    let (why, asked) = nothing(&mut some);
    assert!(
        matches!(why, Nothing::ClosedByRobots | Nothing::DownloadsClosed(..)) && asked <= 3,
        "{why:?} after {asked}"
    );
    assert!(!some.asked.iter().any(|path| path.starts_with("/dl.php")));
}

#[test]
fn a_start_page_that_is_not_there_is_no_start_whatever_it_links_to() {
    let mut site = MadeUp::new(|path: &str| match path {
        "/" => Reply::Page((1..30).map(|id| format!("<a href='/get/{id}.torrent'>Thing {id}</a>")).collect()),
        _ => Reply::Status(404),
    });
    let why = site.learn(&options("/nosuch")).learned.err();
    assert_eq!((why, site.asked.len()), (Some(Nothing::NoStart("status 404".to_owned())), 1));
}

#[test]
fn magnets_alone_are_rules_with_a_word_about_it() {
    let mut site = MadeUp::new(|path: &str| match path.strip_prefix("/t/") {
        Some(id) => {
            Reply::Page(format!("<a href='magnet:?xt=urn:btih:{:040x}'>m</a>", id.parse::<u64>().unwrap_or(1) + 1))
        }
        None => Reply::Page((1..=30).map(|id| format!("<li><a href='/t/{id}'>Thing {id}</a>")).collect()),
    });
    let learned = site.learn(&options("/")).learned.unwrap();
    assert!(learned.questions.iter().any(|line| line.contains("only magnets")), "{:?}", learned.questions);
    assert!(learned.text.contains(r"'^/t/\d+$'"), "{}", learned.text);
}

#[test]
fn downloads_that_are_a_login_page_are_no_downloads() {
    let login = "<form method=post action=/login><input name=u><input type=password name=p></form>";
    let mut site = MadeUp::new(|path: &str| match path {
        "/" => Reply::Page((0..30).map(|id| format!("<a href='/download/{id}.torrent'>Thing {id}</a>")).collect()),
        _ => Reply::Bytes("application/x-bittorrent", login.into()),
    });
    let (why, asked) = nothing(&mut site);
    assert!(matches!(why, Nothing::DownloadsWantLogin) && asked <= 12, "{why:?} after {asked}");
}

#[test]
fn thirty_thousand_links_on_a_page_are_read_as_two_thousand() {
    let mut site = MadeUp::new(|path: &str| match path.strip_prefix("/dl/") {
        Some(id) => Reply::Torrent(id.trim_end_matches(".torrent").parse().unwrap_or(1)),
        None => Reply::Page(
            (0..15_000)
                .map(|id| format!("<a href='/dl/{id}.torrent'>{id}</a><a href='/x{}/{id}'>y</a>", id % 50))
                .collect(),
        ),
    });
    let learned = site.learn(&Options { requests: 20, ..options("/") }).learned.unwrap();
    assert!(learned.text.contains(r"'^/dl/\d+\.torrent$'"), "{}", learned.text);
}

#[test]
fn a_page_that_scripts_build_is_told_as_such() {
    let mut site = MadeUp::new(|_: &str| Reply::Page("<div id=app></div><script src=/app.js></script>".into()));
    let (why, asked) = nothing(&mut site);
    assert!(why == Nothing::Scripts && asked <= 4, "{why:?} after {asked}");
}

/// A list whose rows have a link that changes something, and whose address does not say so.
fn unnamed_harm(path: &str) -> Reply {
    match (path.strip_prefix("/dl/"), path.starts_with("/act/")) {
        (Some(id), _) => Reply::Torrent(id.parse().unwrap_or(1)),
        (_, true) => Reply::Page("Done.".into()),
        _ => Reply::Page(
            (1..=30).map(|id| format!("<li><a href='/dl/{id}'>Thing {id}</a> <a href='/act/{id}'>x</a>")).collect(),
        ),
    }
}

#[test]
fn addresses_that_say_nothing_are_asked_for_twice_by_a_guest_and_never_by_a_member() {
    let mut guest = MadeUp::new(unnamed_harm);
    let outcome = guest.learn(&options("/"));
    assert!(guest.asked.iter().filter(|path| path.starts_with("/act/")).count() <= 2, "{:?}", guest.asked);
    let mut member = MadeUp::new(unnamed_harm);
    let text = member
        .learn(&Options { user: Some("anna".into()), barren: outcome.barren, ..options("/") })
        .learned
        .unwrap()
        .text;
    assert!(!member.asked.iter().any(|path| path.starts_with("/act/")), "{:?}", member.asked);
    assert!(!text.contains("/act/"), "{text}");
}

#[test]
fn hostile_names_leave_the_file_a_file() {
    let names = ["\"]\n[rate]\nrequests_per_second = 99", "'''", "\u{0}", "\u{202e}gnp", "种子", "# x", "a\\b"];
    let mut site = MadeUp::new(move |path: &str| match path.strip_prefix("/get/") {
        Some(id) => Reply::Torrent(id.bytes().map(u64::from).sum()),
        None => {
            let link = |(id, name): (usize, &str)| {
                let encoded: String = name.bytes().map(|of| format!("%{of:02X}")).collect();
                format!("<li><a href='/get/{id}/{encoded}?n={}'>{name}</a>", &encoded)
            };
            let long = format!("<a href='/get/{}'>long</a>", "9".repeat(4_096));
            Reply::Page((0..40).map(|id| link((id, names[id % names.len()]))).collect::<String>() + &long)
        }
    });
    let learned = site.learn(&options("/")).learned.unwrap();
    let rules = rules_of(&learned);
    assert_eq!(rules.rate.interval, std::time::Duration::from_secs(1), "{}", learned.text);
    assert!(learned.text.chars().all(|of| of == '\n' || !of.is_control() && of != '\u{202e}'), "{}", learned.text);
}

#[test]
fn a_site_that_stops_answering_ends_the_run() {
    struct Silent(usize);
    impl Ask for Silent {
        async fn ask(&mut self, _: &CrawlUrl, _: &str) -> Result<Answer, String> {
            self.0 += 1;
            Err("connection refused".to_owned())
        }

        fn allows(&self, _: &CrawlUrl) -> bool {
            true
        }
    }
    let mut site = Silent(0);
    let outcome = learn(&mut site, &options("/")).now_or_never().unwrap();
    assert_eq!(outcome.learned.err(), Some(Nothing::NoStart("connection refused".to_owned())));
    assert!(site.0 <= 5, "{}", site.0);
}
