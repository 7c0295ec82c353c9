//! Unit tests of `shortcut::written`.

use super::*;

#[test]
fn a_table_is_read_as_it_is_written() {
    let text = r#"
            on = "/browse/*?cat=7&page?=*"
            url = "https://api.h.example/v1/list%20x/{@path.1#0}?page={@query.page|1 * 50 - 50}&tag=a&tag=b"
            items = "data.groups[*].torrents"
            link = ["/torrent/{id}", { items = "top", link = "/x/{id}" }]
            html = ["data.html"]
            constant = ["https://h.example/about"]
            with_page = true
            json = '{"page":"\#{@query.page|1}","q":"{@query.q}","n":5}'
            expect = { more = ["false", "null"] }
            [headers]
            x-token = "{@before.token}"
            [before]
            url = "/token"
            [page]
            parameter = "json.after"
            cursor = "data.next"
            more = "data.more"
            [pages]
            number = "@query.page"
            first = 1
            total = "total"
            size = 50
        "#
    .replace("\\#", "#");
    let written: Written = toml::from_str(&text).unwrap();
    let endpoint = written.endpoint().unwrap();
    let again = Written::of(&endpoint);
    assert_eq!(again.endpoint().unwrap(), endpoint);
    assert_eq!((again.on, again.url, again.items), (written.on, written.url, written.items));
    assert_eq!((again.link, again.page, again.pages), (written.link, written.page, written.pages));
    assert!(toml::to_string(&Written::of(&endpoint)).unwrap().contains("url = "));
}

#[test]
fn every_fault_of_a_table_is_told_with_its_key() {
    let text = r#"
            on = "browse"
            url = "api/list"
            method = "DELETE"
            link = ["/t/{"]
            headers = { Authorization = "Bearer x" }
            page = { parameter = "p", next = "x" }
            pages = { number = "page" }
        "#;
    let written: Written = toml::from_str(text).unwrap();
    let faults = written.endpoint().unwrap_err();
    let keys: Vec<&str> = faults.iter().map(|(key, ..)| key.as_str()).collect();
    for key in ["on", "url", "method", "link[0]", "headers.Authorization", "page", "pages.number", "pages"] {
        assert!(keys.contains(&key), "{key}: {faults:?}");
    }
}
