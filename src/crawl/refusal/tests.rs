//! Tests of `refusal`.

use super::*;

#[test]
fn a_redirect_is_told_by_its_path_and_a_page_by_its_first_words() {
    let of = |path: &str| redirect_to(&CrawlUrl::from_parts("http://h.example", path));
    assert_eq!(of("/downloadnotice.php?torrentid=42&type=firsttime"), of("/downloadnotice.php?torrentid=7"));
    assert_eq!(of("/downloadnotice.php?torrentid=7"), "a redirect to http://h.example/downloadnotice.php");
    let page = |left: u32| {
        in_place_of_torrent(&format!(
            "<title>Limit</title><h1>Download limit exceeded</h1>Try again in {left} minutes."
        ))
    };
    assert_eq!(without_numbers(&page(12)), without_numbers(&page(3)), "a notice that counts down is one notice");
    assert_eq!(
        page(3),
        "a page in place of a torrent: \u{201c}Limit Download limit exceeded Try again in 3 minutes.\u{201d}"
    );
    let long = in_place_of_torrent(&"word ".repeat(1_000));
    assert!(long.chars().count() < limits::NOTICE_CHARACTERS + 40, "{long}");
}
