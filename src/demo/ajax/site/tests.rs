//! Unit tests of `ajax::site`.

use super::*;

fn site() -> Site {
    Site::new("http://127.0.0.1:1".to_owned(), AjaxCatalogue::new(1, &Section::ALL, 15, 4), 1, None)
}

fn ask(target: &str) -> Ask<'_> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ask { is_post: false, path, query, cookies: "", requested_with: None, csrf: None, bearer: None }
}

#[test]
fn no_shell_and_no_script_names_a_torrent() {
    let site = site();
    for section in Section::ALL {
        let page = site.answer(&ask(&format!("/{}/", section.name())));
        assert_eq!(page.status, 200, "{}", section.name());
        let text = String::from_utf8(page.body).unwrap();
        assert!(!text.contains("/dl?t=") && !text.contains("/torrent/"), "{text}");
    }
    for (path, script) in SCRIPTS {
        assert!(!script.contains("/dl?t="), "{path}");
        assert_eq!(site.answer(&ask(path)).status, 200, "{path}");
    }
}

#[test]
fn data_is_refused_to_whoever_asks_as_no_script_would() {
    let site = site();
    for target in [
        "/xhr/rows?page=1",
        "/jquery/list.json?start=0&count=4",
        "/token/api/session",
        "/token/api/list?page=1",
        "/xhr/rows?page=99",
        "/scroll/feed?cursor=xyz",
        "/spa/api/torrents?page=0",
        "/spa/torrent/0",
        "/spa/page/4",
        "/dl?t=MTI%3D",
        "/admin/",
    ] {
        assert!(site.answer(&ask(target)).status >= 400, "{target}");
    }
    assert_eq!(site.log().refused, 11);
    let with = Ask { requested_with: Some("XMLHttpRequest"), ..ask("/xhr/rows?page=3") };
    assert_eq!(site.answer(&with).status, 200);
}

#[test]
fn a_bearer_needs_the_pages_own_token_and_ends() {
    let site = site();
    let page = site.answer(&ask("/token/"));
    let text = String::from_utf8(page.body).unwrap();
    let csrf = text.split("content=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let cookie = page.cookie.unwrap();
    let cookies = cookie.split(';').next().unwrap();
    let session = Ask { is_post: true, cookies, csrf: Some("0"), ..ask("/token/api/session") };
    assert_eq!(site.answer(&session).status, 403);
    let given = site.answer(&Ask { csrf: Some(csrf), ..session });
    let given: Value = serde_json::from_slice(&given.body).unwrap();
    let bearer = given["access_token"].as_str().unwrap();
    let list = || site.answer(&Ask { bearer: Some(bearer), ..ask("/token/api/list?page=2") }).status;
    let answers: Vec<u16> = (0..=BEARER_USES).map(|_| list()).collect();
    assert_eq!(answers.last(), Some(&401));
    assert!(answers[..answers.len() - 1].iter().all(|status| *status == 200), "{answers:?}");
}
