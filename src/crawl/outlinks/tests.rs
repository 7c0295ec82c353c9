//! Unit tests of `outlinks`.

use super::*;
use crate::frontier::crews::Crew;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::Canonical;
use gleaner_store::crawldb::{HostId, Lease, UrlKey};

fn read(robots: &str, content_type: &str, body: &str) -> PageFindings {
    read_as(Class::Index, robots, content_type, body)
}

fn read_as(class: Class, robots: &str, content_type: &str, body: &str) -> PageFindings {
    read_at("http://site.example/", class, robots, content_type, body)
}

fn read_at(url: &str, class: Class, robots: &str, content_type: &str, body: &str) -> PageFindings {
    let rules = format!(
        "start = ['http://site.example/']\nrobots = {robots}\n[classes]\nindex = ['^/']\ndownload = ['\\.torrent']\n"
    );
    let rules = gleaner_rules::from_text("site", &rules).unwrap();
    let url = CrawlUrl::parse(url, &Canonical::default()).unwrap();
    let key = UrlKey { host: HostId(1), path: "/".into() };
    let lease = Lease {
        key,
        depth: 0,
        rank: 0,
        attempts: 0,
        via: None,
        memo: None,
        deadline: UnixMillis(0),
        found: None,
        seq: 0,
    };
    let headers = ResponseHeaders { content_type: Some(content_type.to_owned()), ..ResponseHeaders::default() };
    read_page(
        &rules,
        &Sitemaps::default(),
        &Job { lease, url, class, rule: 0, crew: Crew::History, was_read: false, is_guess: false },
        &headers,
        body.as_bytes(),
    )
}

fn urls(findings: &PageFindings) -> Vec<&str> {
    findings.found.iter().map(|found| found.url.as_str()).collect()
}

#[test]
fn a_base_that_is_no_place_on_the_web_is_ignored() {
    for (base, first) in [
        ("javascript:void(0)", "http://site.example/a"),
        ("data:text/html,x", "http://site.example/a"),
        ("mailto:a@site.example", "http://site.example/a"),
        ("/folder/", "http://site.example/folder/a"),
    ] {
        let findings = read(OBEY, "text/html", &format!("<base href='{base}'><a href='a'>x</a>"));
        assert_eq!(urls(&findings), [first], "{base}");
    }
}

const OBEY: &str = "{ obey = true }";
const IGNORE: &str = "{ obey = false, reason = 'own server' }";

#[test]
fn a_feed_is_read_as_one_whatever_its_type_says() {
    let body = "<?xml version='1.0'?><rss><link>/a?x=1&amp;y=2</link><enclosure url='b.torrent'/>\
            <link>magnet:?xt=urn:btih:0123456789ABCDEF0123456789ABCDEF01234567&amp;dn=A</link></rss>";
    for content_type in ["application/rss+xml", "text/xml", "text/html", "text/plain"] {
        let findings = read(OBEY, content_type, body);
        assert_eq!(urls(&findings), ["http://site.example/a?x=1&y=2", "http://site.example/b.torrent"]);
        assert_eq!(findings.magnets.len(), 1);
        assert_eq!(findings.magnets[0].name.as_deref(), Some("A"));
        assert!(!findings.truncated);
    }
}

#[test]
fn nofollow_is_obeyed_unless_the_rules_do_not_obey_robots() {
    let body = "<meta name=robots content=nofollow><a href=/a>a</a> <a href='thunder://QUFodHRwOi8vc2l0ZS5leGFtcGxlL2JaWg=='>b</a>\
            <a href='magnet:?xt=urn:btih:0123456789ABCDEF0123456789ABCDEF01234567'>m</a>";
    let obeyed = read(OBEY, "text/html", body);
    assert!(obeyed.nofollow && obeyed.found.is_empty(), "{:?}", urls(&obeyed));
    assert_eq!(obeyed.magnets.len(), 1, "a magnet is nothing to follow");
    let ignored = read(IGNORE, "text/html", body);
    assert_eq!(urls(&ignored), ["http://site.example/a", "http://site.example/b"]);
    assert!(!ignored.nofollow);
}

#[test]
fn a_redirector_to_a_magnet_is_the_magnet() {
    let hash = "0123456789ABCDEF0123456789ABCDEF01234567";
    let body = format!(
        "<a href='/away?to=magnet%3A%3Fxt%3Durn%3Abtih%3A{hash}%26dn%3DA&amp;x=1'>a</a><a href='/magnet%3Fs'>b</a>\
            <a href='&#109;agnet&#58;?xt=urn:btih:{}'>c</a>",
        hash.replace('0', "1")
    );
    let findings = read(OBEY, "text/html", &body);
    assert_eq!(urls(&findings), ["http://site.example/magnet%3Fs"]);
    assert_eq!(findings.magnets.len(), 2);
    assert_eq!(findings.magnets[0].name.as_deref(), Some("A"));
    assert_eq!(&*findings.magnets[0].link, format!("magnet:?xt=urn:btih:{hash}&dn=A"));
}

#[test]
fn what_a_click_brings_is_judged_as_a_link_and_with_an_account_only_if_it_is_a_target() {
    let body = "<form action=/go><input type=hidden name=id value=1><button>x</button></form>\
        <tr onclick=\"location='/a.torrent'\"><td data-href=//other.example/b.torrent>";
    assert_eq!(urls(&read(OBEY, "text/html", body)), ["http://site.example/go?id=1", "http://site.example/a.torrent"]);
    let account = "{ obey = true }\nlogin = { user = 'anna', page = '/login' }";
    // To these rules both are pages of a list.
    assert_eq!(urls(&read(account, "text/html", body)), [""; 0]);
}

#[test]
fn keys_of_a_bucket_are_relative_to_it_whether_its_url_ends_with_a_slash_or_not() {
    let body = "<?xml version='1.0'?><ListBucketResult><Name>pub</Name><IsTruncated>true</IsTruncated>\
        <Contents><Key>a/b.torrent</Key></Contents></ListBucketResult>";
    for (page, expected) in [
        ("http://site.example/", "http://site.example/a/b.torrent"),
        ("http://site.example/pub/?list-type=2", "http://site.example/pub/a/b.torrent"),
        ("http://site.example/pub?list-type=2", "http://site.example/pub/a/b.torrent"),
        ("http://site.example/other?x", "http://site.example/a/b.torrent"),
    ] {
        let findings = read_at(page, Class::Index, OBEY, "application/xml", body);
        assert_eq!(urls(&findings)[0], expected, "{page}");
        assert!(urls(&findings)[1].ends_with("?marker=a/b.torrent"), "{page}");
    }
}

#[test]
fn an_index_of_more_sitemaps_than_are_taken_says_so_and_one_of_other_sites_does_not() {
    let index = |host: &str, count: usize| {
        let maps: String =
            (0..count).map(|map| format!("<sitemap><loc>http://{host}/{map}.xml</loc></sitemap>")).collect();
        read_as(Class::Sitemap, OBEY, "text/xml", &format!("<?xml version='1.0'?><sitemapindex>{maps}</sitemapindex>"))
    };
    let all = index("site.example", limits::SITEMAPS_PER_SITE_MAX);
    assert_eq!((all.found.len(), all.truncated), (limits::SITEMAPS_PER_SITE_MAX, false));
    let more = index("site.example", limits::SITEMAPS_PER_SITE_MAX + 9);
    assert_eq!((more.found.len(), more.truncated), (limits::SITEMAPS_PER_SITE_MAX, true));
    let others = index("other.example", 3);
    assert_eq!((others.found.len(), others.truncated), (0, false));
}

#[test]
fn sitemaps_beyond_the_limit_are_left_out_however_often_they_are_named() {
    let rules =
        gleaner_rules::from_text("site", "start = ['http://site.example/']\n[classes]\nindex = ['^/']\n").unwrap();
    let url = |map: usize| CrawlUrl::parse(&format!("http://site.example/{map}.xml"), &Canonical::default()).unwrap();
    let sitemaps = Sitemaps::default();
    let mut taken = |map| sitemaps.take(&rules, url(map)).is_some();
    assert!((0..limits::SITEMAPS_PER_SITE_MAX).all(&mut taken));
    for map in [0, 1, 0].map(|more| limits::SITEMAPS_PER_SITE_MAX + more) {
        assert!(!taken(map), "{map}");
    }
    assert!(taken(0), "one that was taken stays");
}

#[test]
fn a_long_base_does_not_fill_the_memory() {
    let folder = "d".repeat(limits::URL_BYTES_MAX - 100);
    let mut body = format!("<base href='/{folder}/'>");
    let fit = limits::OUTLINK_BYTES_PER_PAGE_MAX / limits::URL_BYTES_MAX;
    for number in 0..2 * fit {
        body.push_str(&format!("<a href={number}>"));
    }
    let findings = read(OBEY, "text/html", &body);
    assert!(findings.truncated);
    let bytes: usize = findings.found.iter().map(|found| found.url.as_str().len()).sum();
    assert!(bytes <= limits::OUTLINK_BYTES_PER_PAGE_MAX, "{bytes}");
    assert!(findings.found.len() >= fit, "{} of {fit}", findings.found.len());
}

/// The links that a member's page yields, and those that are refused with the sign of it.
fn read_member(path: &str, body: &str) -> (Vec<String>, Vec<String>) {
    let rules = "start = ['http://site.example/']\nlogin = { user = 'anna2001' }\n[classes]\ndownload = ['^/get/']\npage = ['.']\n";
    read_with_rules(rules, path, body)
}

fn findings(rules: &str, path: &str, class: Class, body: &str) -> PageFindings {
    let rules = gleaner_rules::from_text("site", rules).unwrap();
    let url = CrawlUrl::parse(&format!("http://site.example{path}"), &Canonical::default()).unwrap();
    let key = UrlKey { host: HostId(1), path: path.into() };
    let lease = Lease {
        key,
        depth: 0,
        rank: 0,
        attempts: 0,
        via: None,
        memo: None,
        deadline: UnixMillis(0),
        found: None,
        seq: 0,
    };
    let job = Job { lease, url, class, rule: 1, crew: Crew::History, was_read: false, is_guess: false };
    let headers = ResponseHeaders { content_type: Some("text/html".to_owned()), ..ResponseHeaders::default() };
    read_page(&rules, &Sitemaps::default(), &job, &headers, body.as_bytes())
}

fn read_with_rules(rules: &str, path: &str, body: &str) -> (Vec<String>, Vec<String>) {
    let read = findings(rules, path, Class::Page, body);
    let found = read.found.iter().map(|found| found.url.path().to_owned()).collect();
    (found, read.acting.iter().map(|(path, sign)| format!("{} {path}", sign.name())).collect())
}

#[test]
fn a_members_page_shows_which_of_its_links_act() {
    const LINKS: &str =
        "<a href='/t?id=1'>1</a> <a href='/t?id=2'>2</a> <a href='/t?id=3'>3</a> <a href='/t?id=4'>4</a>";
    let only = |shown: &str, refused: &[&str]| {
        let (found, acting) = read_member("/t?id=9", &format!("{LINKS}{shown}"));
        assert_eq!(acting, refused, "{shown}");
        assert!(["/t?id=1", "/t?id=4"].iter().all(|link| found.iter().any(|of| of == link)), "{shown}: {found:?}");
    };
    // By its URL alone.
    only("<a href='/t?id=5&amp;watch=topic'>w</a>", &["parameter /t?id=5&watch=topic"]);
    // A token of a hidden field: by its name, or by its form.
    let field = |name: &str, value: &str| {
        format!(
            "<form method=post action=/x><input type=hidden name='{name}' value='{value}'><textarea name=t></textarea></form>"
        )
    };
    only(&(field("formhash", "a1b2c3d4") + "<a href='/t?id=5&k=a1b2c3d4'>k</a>"), &["token /t?id=5&k=a1b2c3d4"]);
    let long = "94689e0a1b2c3d4e5f60718293a4b5c6";
    only(
        &(field("b5effd7a0", long) + &format!("<a href='/t?id=5;b5effd7a0={long}'>k</a>")),
        &[&format!("token /t?id=5;b5effd7a0={long}")],
    );
    // Infohashes and the page's own identifiers are none, and neither are fields of rows, which differ.
    let hash = "6924995bf38d9b9378a202a1336e4c0968e45106";
    only(&(field("id", hash) + &format!("<a href='/t?id={hash}'>k</a>")), &[]);
    let rows = field("id", long) + &field("id", "84689e0a1b2c3d4e5f60718293a4b5c6");
    only(&(rows + &format!("<a href='/t?id={long}'>k</a>")), &[]);
    // The token of the log-out link, but not the user's name.
    let log_out = format!("<a href='/logout?user=anna2001&x={long}'>Log out</a>");
    only(
        &format!("{log_out}<a href='/c?x={long}'>c</a><a href='/u?name=anna2001'>me</a>"),
        &[&format!("token /c?x={long}")],
    );
    // Questions and methods.
    only("<a href='/t?id=5' onclick=\"return confirm('Sure?')\">5</a>", &["page /t?id=5"]);
    only("<a href='/t?id=5' data-method=PUT>5</a><a href='/t?id=6' data-method=get>6</a>", &["page /t?id=5"]);
    let own = read_member("/t?id=9", "<a href='#' onclick=\"return confirm('Sure?')\">x</a><a href='/t?id=9'>9</a>");
    assert_eq!(own.1, [""; 0], "the page itself");
    // A download may ask and has a token; its action is still judged.
    let asks = "onclick=\"return confirm('Download?')\"";
    only(
        &(field("formhash", "a1b2c3d4")
            + &format!("<a {asks} href='/get/5?k=a1b2c3d4'>5</a><a href='/get/5/report'>r</a>")),
        &["path /get/5/report"],
    );
    // The targets of POST forms are lists, too.
    only(
        "<form method=post action='/t?id=1'><input type=hidden name=formhash value=a1b2c3d4><select name=s></select></form>",
        &[],
    );
}

#[test]
fn the_id_of_a_session_on_every_link_is_no_token() {
    let links: String = (0..9).map(|n| format!("<a href='/t?id={n}&sess=a1b2c3d4e5'>{n}</a>")).collect();
    let (found, acting) = read_member("/", &format!("<a href='/logout?sess=a1b2c3d4e5'>Log out</a>{links}"));
    assert_eq!((found.len(), acting.len()), (9, 0), "{acting:?}");
}

#[test]
fn guests_and_what_the_operator_allows_are_refused_nothing() {
    let body = "<a href='/t?id=5&amp;watch=topic'>w</a><a href='/t?id=6' onclick=\"return confirm('Sure?')\">6</a>";
    let page = "[classes]\npage = ['.']\n";
    let guest = read_with_rules(&format!("start = ['http://site.example/']\n{page}"), "/", body);
    assert_eq!((guest.0.len(), guest.1.len()), (2, 0));
    let allowed = "start = ['http://site.example/']\nlogin = { user = 'anna' }\nallow_actions = { urls = ['watch=', 'id=6'], reason = 'seen' }\n";
    let member = read_with_rules(&format!("{allowed}{page}"), "/", body);
    assert_eq!((member.0.len(), member.1.len()), (2, 0), "{:?}", member.1);
}

#[test]
fn a_pager_is_closed_if_all_links_to_later_pages_are_denied() {
    let rules = "start = ['http://site.example/']\ndeny = ['order=']\n[classes]\nindex = ['^/$', '^/list']\ndetail = ['^/t/']\n";
    let denied =
        "<a href='/list?page=2&order=a'>2</a> <a href='/list?page=9&order=a'>9</a> <a href='/t/1?order=2'>x</a>";
    let read = findings(rules, "/", Class::Index, &format!("{denied}<a href=/t/1>x</a>"));
    let closed = read.closed_pager.unwrap();
    assert_eq!((closed.page, closed.rule, &*closed.path), (9, 0, "/list?page=9&order=a"));
    assert_eq!(read.listing.unwrap().page_max, 9, "coverage knows that there is more");
    // Other orders beside it.
    let open = findings(rules, "/", Class::Index, &format!("{denied}<a href='/list?page=2'>2</a>"));
    assert_eq!(open.closed_pager, None);
    // Page 1 in another order, and pages of what is no list.
    assert_eq!(findings(rules, "/", Class::Index, "<a href='/list?page=1&order=a'>date</a>").closed_pager, None);
    assert_eq!(findings(rules, "/t/1", Class::Detail, denied).closed_pager, None);
}

#[test]
fn links_to_torrents_of_other_hosts_are_left_out_with_their_urls() {
    let rules = "start = ['http://site.example/']\n[classes]\nindex = ['^/$']\ndownload = ['\\.torrent$']\n";
    let body =
        "<a href=http://files.example/1.torrent>a</a><a href=http://files.example/about>b</a><a href=/about>c</a>";
    let read = findings(rules, "/", Class::Index, body);
    assert_eq!(read.unclassed, ["http://files.example/1.torrent".into(), Box::<str>::from("/about")]);
}

#[test]
fn of_a_page_the_first_link_that_each_rule_refuses_is_told() {
    let rules = "start = ['http://site.example/']\ndeny = ['^/user/', '^/post/']\nclasses.index = ['^/$']\n";
    let links: String = (0..50)
        .map(|nth| format!("<a href=/user/{nth}>u</a><a href=/post/{nth}>p</a><a href=/x/{nth}>x</a>"))
        .collect();
    let read = findings(rules, "/", Class::Index, &links);
    let mut refused = crate::refused::Refused::default();
    let rules = gleaner_rules::from_text_at(std::path::Path::new("s.toml"), rules).unwrap();
    let page = CrawlUrl::from_parts("http://site.example", "/");
    refused.add(&rules, &page, &read.refused, gleaner_base::clock::UnixMillis(1));
    let told: Vec<(&str, Option<usize>)> = refused.links().map(|link| (&*link.url, link.line)).collect();
    let wanted = [
        ("http://site.example/x/0", None),
        ("http://site.example/post/0", Some(2)),
        ("http://site.example/user/0", Some(2)),
    ];
    assert_eq!(told, wanted);
}
