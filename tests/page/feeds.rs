//! Feeds and sitemaps as sites serve them, compared with the links that a person would find in the file.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gleaner_net::fetch::charset;
use gleaner_page::feed;

#[test]
fn each_feed_gives_the_links_that_stand_beside_it() {
    let folder = Path::new(env!("GLEANER_ROOT")).join("fixtures/pages/feeds");
    let mut feeds = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "xml") {
            continue;
        }
        let body = fs::read(&path).unwrap();
        let encoding = charset::detect(Some("application/xml"), &body, None);
        assert!(feed::is_feed(&body, encoding), "{}", path.display());
        let page = feed::links(&body, encoding);
        let mut told = page.base.iter().map(|base| format!("base {base}\n")).collect::<String>();
        for link in &page.links {
            writeln!(told, "{} {}", format!("{:?}", link.kind).to_lowercase(), link.href).unwrap();
        }
        let expected = fs::read_to_string(path.with_extension("links")).unwrap_or_default();
        assert_eq!(told, expected, "{}", path.display());
        feeds += 1;
    }
    assert_eq!(feeds, 7, "feeds in {}", folder.display());
}
