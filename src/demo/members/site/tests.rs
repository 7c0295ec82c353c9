//! The site without its socket: access, and what is counted.

use super::*;
use crate::members::family::all;

const NOW: UnixMillis = UnixMillis(1_795_000_000_000);

fn site(name: &str, expire_every: u64) -> Site {
    let family = all().find(|family| family.name == name).unwrap();
    let gate = Gate::new(family, "s3cret".to_owned(), expire_every, 1);
    Site::new(family, "http://127.0.0.1:1".to_owned(), gate, MembersCatalogue::new(1, 30))
}

fn cookies_of(reply: &Reply) -> String {
    let set = reply.headers.iter().filter(|(name, _)| *name == "set-cookie");
    set.map(|(_, value)| value.split(';').next().unwrap()).collect::<Vec<_>>().join("; ")
}

fn log_in(site: &Site, cookies: &str, body: &str) -> Reply {
    let content_type = "application/x-www-form-urlencoded";
    let target = site.family.at.login_action;
    site.answer(&Ask { is_post: true, target, cookies, content_type, body: body.as_bytes(), ..Ask::default() }, NOW)
}

fn get(site: &Site, cookies: &str, target: &str) -> Reply {
    site.answer(&Ask { target, cookies, ..Ask::default() }, NOW)
}

fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

#[test]
fn a_session_ends_in_the_middle_and_one_login_brings_the_next() {
    let site = site("xbtit", 2);
    let member = cookies_of(&log_in(&site, "", "uid=anna&pwd=s3cret"));
    let file = site.shelf.link(site.family.at.file, 0, 0);
    assert_eq!(get(&site, &member, &file).content_type, "application/x-bittorrent");
    assert!(text(&get(&site, &member, "/index.php")).contains("logout.php"));
    for _ in 0..2 {
        assert!(text(&get(&site, &member, &file)).contains("not authorized"));
    }
    let log = site.state().log.clone();
    assert_eq!((log.expiries, log.denials, log.member_requests, log.torrents), (1, 2, 2, 1));
    let next = cookies_of(&log_in(&site, &member, "uid=anna&pwd=s3cret"));
    assert_ne!(next, member);
    assert_eq!(get(&site, &next, &file).content_type, "application/x-bittorrent");
    assert_eq!(site.state().log.logins_ok, 2);
}

#[test]
fn logging_out_ends_the_session_and_is_counted() {
    let site = site("xbtit", 0);
    let member = cookies_of(&log_in(&site, "", "uid=anna&pwd=s3cret"));
    assert_eq!(get(&site, &member, "/logout.php").status, 302);
    assert!(!text(&get(&site, &member, "/index.php")).contains("logout.php"));
    assert_eq!(site.state().log.logouts, 1);
}

#[test]
fn every_familys_way_out_is_known() {
    for family in all() {
        let site = site(family.name, 0);
        get(&site, "", &filled(&family.at.logout.replace("{token}", "00ff"), "0123456789abcdef0123456789abcdef"));
        let log = site.state().log.clone();
        assert_eq!((log.logouts, log.unknown), (1, 0), "{}", family.name);
        get(&site, "", family.at.front);
        get(&site, "", family.at.login_page);
        assert_eq!(site.state().log.logouts, 1, "{}", family.name);
    }
}

#[test]
fn guests_are_turned_away_as_the_family_does() {
    for family in all() {
        let site = site(family.name, 0);
        let file = site.shelf.link(family.at.file, 3, 0);
        let reply = get(&site, "", &file);
        assert!(!reply.body.starts_with(b"d8:announce"), "{}", family.name);
        let detail = text(&get(&site, "", &site.shelf.link(family.at.detail, 3, 0)));
        let shows = detail.contains(&escaped(&file));
        assert!(!shows || family.denied_detail == Denied::Open, "{}", family.name);
        assert_eq!(site.state().log.torrents, 0, "{}", family.name);
        assert_eq!(get(&site, "", "/nothing/of/the/kind").status, 404, "{}", family.name);
    }
}

#[test]
fn a_visit_without_cookies_carries_its_session_on_each_link() {
    let site = site("phpbb", 0);
    let first = get(&site, "", "/index.php");
    assert!(text(&first).contains("/viewforum.php?f=2&amp;sid="), "{}", text(&first));
    assert!(!text(&get(&site, &cookies_of(&first), "/index.php")).contains("&amp;sid="));
}

#[test]
fn the_first_file_comes_after_a_notice() {
    let site = site("nexusphp", 0);
    let member = cookies_of(&log_in(&site, "", "username=anna&password=s3cret&returnto=torrents.php"));
    let reply = get(&site, &member, "/download.php?id=7");
    let location = &reply.headers.iter().find(|(name, _)| *name == "location").unwrap().1;
    assert_eq!(location, "/downloadnotice.php?torrentid=7&type=firsttime");
    assert!(get(&site, &member, "/download.php?id=7&letdown=1").body.starts_with(b"d8:announce"));
    assert!(text(&get(&site, &member, location)).contains("/download.php?id=7&amp;letdown=1"));
    assert!(get(&site, &member, "/download.php?id=8").body.starts_with(b"d8:announce"), "once only");
}

#[test]
fn pages_and_forms_of_gbk_are_in_gbk() {
    let site = site("discuz-gbk", 0);
    let page = get(&site, "", site.family.at.login_page);
    assert_eq!(page.content_type, "text/html; charset=gbk");
    assert!(encoding_rs::GBK.decode(&page.body).0.contains("用户名"));
    let cookies = cookies_of(&page);
    let sid = cookies.split("Fh1a_2132_sid=").nth(1).unwrap();
    // 安娜 in UTF-8, and then in GBK.
    for (user, is_in) in [("%E5%AE%89%E5%A8%9C", false), ("%B0%B2%C4%C8", true)] {
        let formhash = token(sid, "");
        let body = format!(
            "formhash={formhash}&referer=forum.php&username={user}&password=s3cret&questionid=0&answer=&loginsubmit=true"
        );
        let before = site.state().log.logins_ok;
        log_in(&site, &cookies, &body);
        assert_eq!(site.state().log.logins_ok > before, is_in, "{user}");
    }
}
