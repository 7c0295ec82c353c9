//! The demo site over real sockets: every documented oddity exists, and its truth file is correct.

mod walker;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;
use std::time::Duration;

use gleaner_demo::{Area, DemoError, DemoOptions, DemoSite, Fate, Kind, Link, RequestLog, Truth, Version, start};
use gleaner_torrent::Infohashes;
use url::Url;
use walker::{Client, Reply, Rules, Walk, infohashes, walk};

/// A walk over the default site, shared by all tests of its content.
struct Default500 {
    walk: Walk,
    truth: Truth,
    log: RequestLog,
    rules: Rules,
}

static WALKED: LazyLock<Default500> = LazyLock::new(|| {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let site = start(DemoOptions::default()).await.expect("a site");
        let rules = Rules::read(&site.rules_text);
        let walk = walk(&rules, true).await;
        let (truth, log) = ((*site.truth()).clone(), site.log());
        site.stop().await;
        Default500 { walk, truth, log, rules }
    })
});

async fn site(torrents: usize) -> DemoSite {
    start(DemoOptions { torrents, ..DemoOptions::default() }).await.expect("a site")
}

fn at(site: &DemoSite, path: &str) -> Url {
    Url::parse(site.origin()).and_then(|origin| origin.join(path)).expect("a URL")
}

fn links_to<'a>(reply: &'a Reply, path: &'a str) -> impl Iterator<Item = Url> + 'a {
    reply.links().into_iter().filter_map(|(_, url)| url).filter(move |url| url.path().starts_with(path))
}

fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

fn set_of(torrents: impl Iterator<Item = Infohashes>) -> BTreeSet<Infohashes> {
    torrents.collect()
}

#[test]
fn a_right_walk_brings_every_reachable_torrent_and_asks_for_nothing_closed() {
    let Default500 { walk, truth, log, .. } = &*WALKED;
    let score = truth.score(walk.torrents.iter().map(|torrent| torrent.infohashes));
    assert_eq!((score.reachable, score.found, score.foreign), (500, 500, 0));
    assert_eq!(log.refused_fetches(), 0, "{:?}", log.counts);
    assert_eq!(log.paths.len() as u64, log.requests());
    assert_eq!(log.paths_dropped, 0);
}

#[test]
fn infohashes_of_what_is_served_are_those_of_the_truth() {
    let Default500 { walk, truth, .. } = &*WALKED;
    let served = set_of(walk.torrents.iter().map(|torrent| torrent.infohashes));
    assert_eq!(served, set_of(truth.reachable().map(|torrent| torrent.infohashes)));
    assert!(walk.torrents.len() > served.len(), "torrents that are listed twice come twice");
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        let count = truth.reachable().filter(|torrent| torrent.version == version).count();
        let kind = ["v1", "v2", "hybrid"][version as usize];
        assert!(count >= 50, "{count} {version:?}");
        assert_eq!(served.iter().filter(|hashes| hashes.kind() == kind).count(), count);
    }
}

#[test]
fn every_mixture_of_type_disposition_and_bytes_is_served() {
    let torrents = &WALKED.walk.torrents;
    let count = |is: &dyn Fn(&walker::Served) -> bool| torrents.iter().filter(|torrent| is(torrent)).count();
    for content_type in [Some("application/x-bittorrent"), Some("text/plain"), Some("application/octet-stream"), None] {
        for has_disposition in [true, false] {
            let is = |torrent: &walker::Served| {
                torrent.content_type.as_deref() == content_type && torrent.has_disposition == has_disposition
            };
            assert!(count(&is) > 0, "{content_type:?} {has_disposition}");
        }
    }
    for beginning in [
        &b"d8:announce"[..],
        b"d4:info",
        b"d13:announce-list",
        b"d10:created by",
        b"\xef\xbb\xbfd",
        b"\r\n\r\n\nd",
        b"<br />\n<b>Warning</b>",
    ] {
        assert!(count(&|torrent| torrent.body.starts_with(beginning)) > 0, "{:?}", String::from_utf8_lossy(beginning));
    }
    assert!(count(&|torrent| torrent.body.ends_with(b"e\n")) > 0);
    assert_eq!(count(&|torrent| torrent.url.as_str().contains(".torrent")), 0, "no address tells what is behind it");
}

#[test]
fn download_managers_links_and_magnets_are_there() {
    let Default500 { walk, truth, .. } = &*WALKED;
    for (scheme, link) in [
        ("thunder", Link::Thunder),
        ("flashget", Link::Flashget),
        ("flashget", Link::FlashgetTagged),
        ("qqdl", Link::Qqdl),
    ] {
        let only = truth.reachable().filter(|torrent| torrent.link == link).count();
        assert!(only > 0 && walk.schemes[scheme] >= only, "{link:?}");
    }
    assert!(truth.reachable().any(|torrent| torrent.link == Link::Noscript));
    let named = set_of(truth.torrents.iter().filter(|torrent| torrent.magnet).map(|torrent| torrent.infohashes));
    assert_eq!(walk.magnets, named);
    let stored = set_of(walk.torrents.iter().map(|torrent| torrent.infohashes));
    let only_named = set_of(truth.magnets().map(|torrent| torrent.infohashes));
    assert_eq!(walk.magnets.difference(&stored).copied().collect::<BTreeSet<_>>(), only_named);
    assert!(only_named.len() >= 3 && named.len() > only_named.len());
}

#[test]
fn decoys_redirects_gone_pages_and_the_archive_are_met_on_the_way() {
    let Default500 { walk, truth, log, .. } = &*WALKED;
    let is_html = |body: &&Vec<u8>| String::from_utf8_lossy(body).to_lowercase().trim_start().starts_with(['<']);
    let html = walk.decoys.iter().filter(is_html).count();
    assert!(html >= truth.with_fate(Fate::PosesAsHtml).count() && html > 0);
    let malformed = walk.decoys.iter().filter(|body| body.windows(11).any(|bytes| bytes == b"Fatal error")).count();
    assert!(malformed >= truth.with_fate(Fate::Malformed).count() && malformed > 0);
    assert_eq!((walk.not_found + walk.moved) as u64, log.count(Kind::Gone));
    assert!(walk.not_found + walk.moved >= truth.with_fate(Fate::Gone).count());
    assert!(walk.not_found > 0 && walk.moved > 0);
    assert_eq!(walk.redirects as u64, log.count(Kind::OldAddress));
    let archived = truth.reachable().filter(|torrent| torrent.area == Area::Archive).count();
    assert!(archived > 0 && walk.redirects > archived);
    assert!(truth.reachable().any(|torrent| torrent.listings == 2));
    assert!(truth.reachable().any(|torrent| torrent.area == Area::Gbk));
}

#[test]
fn pages_have_the_sizes_of_real_ones() {
    let pages = &WALKED.walk.pages;
    let mean = |sizes: &[usize]| sizes.iter().sum::<usize>() / sizes.len();
    let (index, detail) = (mean(&pages["index"]), mean(&pages["detail"]));
    assert!((20_000..48_000).contains(&index), "{index}");
    assert!((6_000..13_000).contains(&detail), "{detail}");
    assert!(pages["board"].len() > 2 && pages["thread"].len() == 50);
}

#[test]
fn the_rule_file_refuses_traps_and_cleans_addresses() {
    let rules = &WALKED.rules;
    let origin = Url::parse(&WALKED.walk.torrents[0].url[..url::Position::BeforePath]).unwrap();
    let url = |path: &str| origin.join(path).unwrap();
    for path in [
        "/search?search_id=1",
        "/calendar?month=2026-12",
        "/ads/click?id=1",
        "/user/1",
        "/logout",
        "/news",
        "/private/",
    ] {
        assert_eq!(rules.class(&url(path)), None, "{path}");
    }
    let cleaned = rules.clean(url("/?page=2&sort=size&order=desc&sid=00112233445566778899aabbccddeeff#top"));
    assert_eq!(cleaned.as_str(), url("/?page=2").as_str());
}

#[tokio::test]
async fn a_walk_without_cookies_meets_session_ids_and_the_same_torrents() {
    let site = site(120).await;
    let walk = walk(&Rules::read(&site.rules_text), false).await;
    let score = site.truth().score(walk.torrents.iter().map(|torrent| torrent.infohashes));
    assert_eq!((score.found, score.foreign, site.refused_fetches()), (120, 0, 0));
    assert_eq!(site.log().with_session_id, 0, "the rules remove them");
    site.stop().await;
}

#[tokio::test]
async fn only_a_visit_without_cookie_gets_session_ids_and_then_on_every_link() {
    let site = site(60).await;
    let mut client = Client::new();
    let first = client.get(&at(&site, "/")).await;
    let own = |reply: &Reply| -> Vec<Url> {
        let ours =
            reply.links().into_iter().filter_map(|(_, url)| url).filter(|url| url.origin() == at(&site, "/").origin());
        ours.filter(|url| url.fragment() != Some("top")).collect()
    };
    let links = own(&first);
    let sids: HashSet<String> = links
        .iter()
        .filter_map(|url| url.query_pairs().find(|(name, _)| name == "sid"))
        .map(|(_, sid)| sid.into_owned())
        .collect();
    assert!(links.iter().all(|url| url.query().is_some_and(|query| query.contains("sid="))));
    assert_eq!(sids.len(), 1);
    assert!(sids.iter().all(|sid| sid.len() == 32 && sid.bytes().all(|byte| byte.is_ascii_hexdigit())));
    let second = client.get(&at(&site, "/")).await;
    assert!(!own(&second).iter().any(|url| links.contains(url)), "another visit, another session");
    let again = client.get(&at(&site, &format!("/?sid={}", sids.iter().next().unwrap()))).await;
    assert!(own(&again).iter().any(|url| links.contains(url)), "a session in the address goes on");
    client.cookie = first.header("set-cookie").and_then(|cookie| cookie.split(';').next()).map(str::to_owned);
    let third = client.get(&at(&site, "/")).await;
    assert!(third.header("set-cookie").is_none());
    assert!(own(&third).iter().all(|url| !url.as_str().contains("sid=")));
    site.stop().await;
}

#[tokio::test]
async fn each_view_has_new_download_links_and_all_of_them_work() {
    let site = site(60).await;
    let client = Client::returning();
    let index = client.get(&at(&site, "/cat/software")).await;
    let again = client.get(&at(&site, "/cat/software")).await;
    let (first, second): (Vec<Url>, Vec<Url>) = (links_to(&index, "/dl").collect(), links_to(&again, "/dl").collect());
    assert!(!first.is_empty());
    assert_eq!(first.len(), second.len());
    for (one, two) in first.iter().zip(&second) {
        assert_ne!(one, two);
        let (one, two) = (client.get(one).await, client.get(two).await);
        assert_eq!((one.status, infohashes(&one.body)), (200, infohashes(&two.body)));
    }
    let forged = client.get(&at(&site, "/dl?t=MXwwMDAwMDAwMHwx")).await;
    assert_eq!(forged.status, 404);
    site.stop().await;
}

#[tokio::test]
async fn the_gbk_section_is_gbk_in_pages_and_addresses_and_takes_nothing_else() {
    let site = site(500).await;
    let client = Client::returning();
    let forum = client.get(&at(&site, "/gbk/forum")).await;
    assert_eq!(forum.header("content-type"), Some("text/html; charset=gbk"));
    let raw = [b"/gbk/board?name=", encoding_rs::GBK.encode("电影").0.as_ref()].concat();
    assert!(forum.body.windows(raw.len()).any(|window| window == raw), "raw GBK bytes in an address");
    assert!(text(&forum).contains("/gbk/board?name=%D2%F4%C0%D6"));
    let boards: Vec<Url> = links_to(&forum, "/gbk/board").collect();
    assert_eq!(boards.len(), 2);
    let board = client.get(&boards[0]).await;
    assert_eq!(board.status, 200);
    let last = board.links().into_iter().filter_map(|(_, url)| url).find(|url| url.as_str().contains("page=2"));
    assert!(last.is_some(), "the section has pages of its own");
    let thread = client.get(&links_to(&board, "/gbk/thread").next().expect("a thread")).await;
    assert_eq!((thread.status, thread.header("content-type")), (200, Some("text/html")));
    assert!(text(&thread).contains("charset=gb2312"));
    let misread = client.get(&at(&site, "/gbk/board?name=电影")).await;
    assert_eq!((misread.status, site.log().count(Kind::Unknown)), (404, 1));
    site.stop().await;
}

#[tokio::test]
async fn what_robots_txt_closes_is_linked_and_there_and_counted_as_refused() {
    let site = site(120).await;
    let client = Client::returning();
    let robots = client.get(&at(&site, "/robots.txt")).await;
    assert_eq!(robots.header("content-type"), Some("text/plain"));
    assert!(text(&robots).contains("Disallow: /private/") && !text(&robots).contains("Crawl-delay"));
    let staff = client.get(&at(&site, "/private/")).await;
    let mut found = BTreeSet::new();
    for detail in links_to(&staff, "/private/details") {
        let detail = client.get(&detail).await;
        let download = links_to(&detail, "/private/dl").next().expect("a download");
        found.extend(infohashes(&client.get(&download).await.body));
    }
    let truth = site.truth();
    assert_eq!(found, set_of(truth.with_fate(Fate::ClosedByRobots).map(|torrent| torrent.infohashes)));
    assert!(found.len() >= 4);
    assert_eq!(truth.score(found.iter().copied()).foreign, found.len());
    assert_eq!(site.refused_fetches(), 1 + 2 * found.len() as u64);
    site.stop().await;
}

#[tokio::test]
async fn an_old_address_may_lead_into_the_closed_area_and_a_link_to_another_name_of_this_host() {
    let site = site(120).await;
    let client = Client::returning();
    let index = client.get(&at(&site, "/")).await;
    let backup = index.links().into_iter().filter_map(|(_, url)| url).find(|url| url.host_str() == Some("localhost"));
    let backup = client.get(&backup.expect("a link to the backup domain")).await;
    assert_eq!(backup.status, 200);
    assert_eq!(site.log().count(Kind::OtherHost), 1);
    assert_eq!(site.refused_fetches(), 1);
    let mut closed_ends = 0;
    for detail in links_to(&index, "/details").filter(|url| url.query().is_none()) {
        for old in links_to(&client.get(&detail).await, "/t/") {
            let answer = client.get(&old).await;
            assert_eq!(answer.status, 301);
            assert!(answer.header("location").expect("a target").starts_with("/private/details/"));
            closed_ends += 1;
        }
    }
    assert!(closed_ends > 0);
    assert_eq!(site.refused_fetches(), 1, "only the end of the way is closed");
    site.stop().await;
}

#[tokio::test]
async fn search_and_calendar_never_end() {
    let site = site(30).await;
    let client = Client::returning();
    for (path, kind) in [("/search?", Kind::Search), ("/calendar?month", Kind::Calendar)] {
        let mut seen = HashSet::new();
        let mut next = at(&site, "/");
        for step in 0..40 {
            let page = client.get(&next).await;
            let fresh = page
                .links()
                .into_iter()
                .filter_map(|(_, url)| url)
                .find(|url| url.as_str().contains(path) && !seen.contains(url));
            next = fresh.unwrap_or_else(|| panic!("{path} ends after {step} steps"));
            seen.insert(next.clone());
        }
        assert_eq!(site.log().count(kind), 39);
    }
    assert_eq!(site.refused_fetches(), 78);
    site.stop().await;
}

#[tokio::test]
async fn links_that_are_none_stand_in_comments_scripts_and_text_areas_and_are_noticed_when_followed() {
    let site = site(60).await;
    let client = Client::returning();
    let index = client.get(&at(&site, "/")).await;
    let detail = links_to(&index, "/details").find(|url| url.query().is_none());
    let detail = client.get(&detail.expect("a row that is not pinned")).await;
    for (page, bait) in [
        (&index, "<!-- old menu: <a href=\"/details/900000-old-layout\">"),
        (&index, "'<tr><td><a href=\"/details/900001-template-row\">"),
        (&detail, "<textarea rows=2 cols=70 readonly><a href=\"/details/900004-embed-code\">"),
    ] {
        assert!(text(page).contains(bait), "{bait}");
    }
    assert!(!index.links().iter().any(|(link, _)| link.contains("/details/90")));
    for path in [
        "/details/900000-old-layout",
        "/dl?t=OTAwMDAzfDAwMDAwMDAwfDE3OTUxMzI4MDA%3D",
        "/?sort=size",
        "/none",
        "/?page=99",
    ] {
        client.get(&at(&site, path)).await;
    }
    let log = site.log();
    assert_eq!((log.count(Kind::Bait), log.count(Kind::Uncanonical), log.count(Kind::Unknown)), (1, 1, 3));
    assert_eq!(log.refused_fetches(), 5);
    site.stop().await;
}

#[tokio::test]
async fn links_are_written_in_every_way_that_templates_write_them() {
    let site = site(200).await;
    let client = Client::new();
    let mut pages = String::new();
    for path in ["/", "/?page=2", "/?page=3", "/archive/"] {
        pages.push_str(&text(&client.get(&at(&site, path)).await));
    }
    let authority = site.address.to_string();
    for form in [
        "href='/details/".to_owned(),
        "href=/details/".to_owned(),
        "<A HREF=\"/details/".to_owned(),
        "href=\"\n\t/details/".to_owned(),
        format!("href=\"http://{authority}/details/"),
        format!("href=\"//{authority}/details/"),
        "href=\"&#47;details&#x2F;".to_owned(),
        "href=\"/cat/../details/".to_owned(),
        "?from=index&copy=1&sid=".to_owned(),
        "?from=pinned&amp;copy=1&amp;sid=".to_owned(),
        "data-href=\"/details/90".to_owned(),
        "#comments'".to_owned(),
        "%E3%82".to_owned(),
        format!("<base href=\"http://{authority}/old/\">"),
        "href=\"t/".to_owned(),
        "<noscript>".to_owned(),
    ] {
        assert!(pages.contains(&form), "{form}");
    }
    site.stop().await;
}

#[tokio::test]
async fn a_torrent_that_is_asked_for_again_is_not_sent_again() {
    let site = site(60).await;
    let client = Client::returning();
    let index = client.get(&at(&site, "/cat/software")).await;
    let mut answers = BTreeMap::new();
    for url in links_to(&index, "/dl") {
        let first = client.get(&url).await;
        let Some(tag) = first.header("etag") else { continue };
        let date = first.header("last-modified").expect("a date beside the tag");
        for (name, value) in [("if-none-match", tag), ("if-modified-since", date)] {
            let again = client.get_with(&url, &[(name, value)]).await;
            assert!(again.body.is_empty());
            *answers.entry(again.status).or_insert(0) += 1;
        }
        assert_eq!(client.get_with(&url, &[("if-none-match", "\"other\"")]).await.body, first.body);
    }
    assert!(answers.len() == 1 && answers[&304] > 0, "{answers:?}");
    site.stop().await;
}

#[tokio::test]
async fn what_is_published_stands_at_the_top_of_the_index_and_can_be_fetched() {
    let site = site(60).await;
    let client = Client::returning();
    let published: BTreeSet<Infohashes> = site.publish(120).into_iter().collect();
    assert_eq!(published.len(), 120);
    let walk = walk(&Rules::read(&site.rules_text), true).await;
    let score = site.truth().score(walk.torrents.iter().map(|torrent| torrent.infohashes));
    assert_eq!((score.reachable, score.found, score.foreign), (180, 180, 0));
    let index = client.get(&at(&site, "/")).await;
    let top = links_to(&index, "/details").find(|url| url.query().is_none()).expect("a row that is not pinned");
    let page = text(&client.get(&top).await);
    assert!(published.iter().any(|hashes| page.contains(&hashes.key_hex())), "{top}");
    site.stop().await;
}

#[tokio::test]
async fn two_sites_of_one_seed_have_the_same_torrents() {
    let (one, two) = (site(80).await, site(80).await);
    let names = |site: &DemoSite| set_of(site.truth().torrents.iter().map(|torrent| torrent.infohashes));
    assert_eq!(names(&one), names(&two));
    let other = start(DemoOptions { torrents: 80, seed: 2, ..DemoOptions::default() }).await.expect("a site");
    assert!(names(&one).is_disjoint(&names(&other)));
}

#[tokio::test]
async fn each_nth_request_fails_and_answers_wait_as_they_are_told() {
    let response_delay = Duration::from_millis(30);
    let options = DemoOptions { torrents: 10, fail_every: 3, response_delay, ..DemoOptions::default() };
    let site = start(options).await.expect("a site");
    let client = Client::new();
    let mut statuses = Vec::new();
    let begun = tokio::time::Instant::now();
    for _ in 0..6 {
        statuses.push(client.get(&at(&site, "/archive/")).await.status);
    }
    assert!(begun.elapsed() >= 6 * response_delay);
    assert_eq!(statuses, [200, 200, 503, 200, 200, 503]);
    assert_eq!(site.log().failed, 2);
    site.stop().await;
}

#[tokio::test]
async fn a_stopped_site_gives_its_port_back_in_spite_of_open_connections() {
    let site = site(10).await;
    let client = Client::new();
    client.get(&at(&site, "/")).await;
    let bind = site.address;
    site.stop().await;
    let again = start(DemoOptions { torrents: 10, bind, ..DemoOptions::default() }).await.expect("the same port");
    assert_eq!(client.get(&at(&again, "/")).await.status, 200);
}

#[tokio::test]
async fn too_many_torrents_other_machines_and_taken_ports_are_refused() {
    let site = site(0).await;
    let with = |torrents, bind| start(DemoOptions { torrents, bind, ..DemoOptions::default() });
    assert!(matches!(with(usize::MAX, site.address).await, Err(DemoError::TooManyTorrents { .. })));
    assert!(matches!(with(1, site.address).await, Err(DemoError::Bind { .. })));
    assert!(matches!(with(1, ([0, 0, 0, 0], 0).into()).await, Err(DemoError::NotLoopback { .. })));
    assert_eq!(
        Client::new().get(&at(&site, "/")).await.status,
        200,
        "a site without torrents has an index all the same"
    );
}

#[tokio::test]
async fn a_site_of_five_thousand_lists_each_of_them() {
    let site = site(5_000).await;
    let client = Client::returning();
    assert_eq!(site.truth().reachable().count(), 5_000);
    let first = client.get(&at(&site, "/")).await;
    let last = first
        .links()
        .into_iter()
        .filter_map(|(_, url)| url)
        .filter_map(|url| url.query()?.strip_prefix("page=")?.parse().ok());
    let last: u32 = last.max().expect("a last page");
    assert!((90..130).contains(&last), "{last}");
    let mut listed = HashSet::new();
    for page in 1..=last {
        let page = client.get(&at(&site, &format!("/?page={page}"))).await;
        let rows = text(&page);
        listed.extend(rows.split("id=\"tor_").skip(1).filter_map(|row| row.split('"').next()?.parse::<u32>().ok()));
    }
    let main = site
        .truth()
        .torrents
        .iter()
        .filter(|torrent| torrent.area == Area::Main)
        .map(|torrent| usize::from(torrent.listings))
        .sum::<usize>();
    assert_eq!(listed.len(), main);
    site.stop().await;
}
