//! Unit tests of `scripts::rendered`.

use super::*;
use gleaner_page::scripted::Signs;
use gleaner_store::crawldb::CrawlDb as _;
use gleaner_store::crawldb::memory_store::MemoryStore;

#[tokio::test]
async fn what_a_class_has_gained_is_known_to_the_next_process() {
    let db = MemoryStore::default();
    assert_eq!(Rendered::take_up(&db, "s").await.unwrap(), Rendered::default());
    assert_eq!(Rendered::default().note(), None);
    let mut rendered = Rendered { requests: 7, ..Rendered::default() };
    for gained in [true, false, true] {
        rendered.of(Class::Index, "index bare").rendered(gained);
    }
    db.put_note("s", RENDERED_NOTE, rendered.note().unwrap()).await.unwrap();
    let mut later = Rendered::take_up(&db, "s").await.unwrap();
    assert_eq!(later, rendered);
    let of = *later.of(Class::Index, "index bare");
    assert_eq!((of.rendered, of.gained), (3, 2));
    assert_eq!(Rendered::take_up(&db, "other").await.unwrap(), Rendered::default());
}

#[test]
fn a_closed_host_is_told_once_a_crawl() {
    let mut rendered = Rendered::default();
    let closed =
        |host: &str, page: &str| Closed { host: host.into(), why: "robots.txt disallows it".into(), page: page.into() };
    assert!(rendered.close(closed("api.example", "/1")));
    assert!(!rendered.close(closed("api.example", "/2")));
    assert!(rendered.close(closed("cdn.example", "/2")));
    let later: Rendered = serde_json::from_slice(&rendered.note().unwrap()).unwrap();
    assert_eq!(later.closed(), [closed("api.example", "/1"), closed("cdn.example", "/2")]);
    rendered.begin();
    rendered.asked(0);
    assert_eq!(rendered.closed().len(), 2, "a crawl that renders nothing has not seen whether that is so");
    assert!(rendered.close(closed("api.example", "/3")));
    rendered.asked(2);
    assert_eq!((rendered.closed(), rendered.requests), (&[closed("api.example", "/3")][..], 2));
    rendered.begin();
    rendered.asked(1);
    assert!(rendered.closed().is_empty());
}

#[test]
fn pages_that_show_nothing_are_told_once_a_crawl_until_the_first_of_them_does() {
    let page = |page: &str| Nothing { pages: 1, page: page.into(), why: Some("boom at /app.js:3:1".into()) };
    let mut rendered = Rendered::default();
    assert!(rendered.shows_nothing(page("/1")) && !rendered.shows_nothing(page("/2")));
    for number in 0..limits::RENDER_AGAIN_MAX + 9 {
        rendered.look_again(&format!("/{number}"));
        rendered.look_again("/0");
    }
    let mut later: Rendered = serde_json::from_slice(&rendered.note().unwrap()).unwrap();
    let told = "2 pages showed nothing after their scripts, first /1: boom at /app.js:3:1";
    assert_eq!(later.nothing().unwrap().to_string(), told);
    assert_eq!((later.take_again().len(), later.take_again().len()), (limits::RENDER_AGAIN_MAX, 0));
    later.begin();
    assert!(later.nothing().is_some(), "a crawl that renders nothing has not seen whether that is so");
    assert!(later.shows_nothing(page("/3")));
    later.shows_again("/4");
    assert_eq!(later.nothing().unwrap().pages, 1);
    later.shows_again("/3");
    assert_eq!(later.nothing(), None);
}

#[test]
fn one_trial_of_a_shape_with_links_is_enough_on_a_site_whose_scripts_brought_nothing() {
    let page = |rule: usize, targets: usize| {
        let signs = Signs { scripts: true, ..Signs::default() };
        StaticContent { class: Class::Board, rule, signs, targets, links: targets }
    };
    let trials = |rendered: &mut Rendered, shown: StaticContent, gains: bool| {
        let shape = shown.shape();
        let wanted = (0..6).filter(|_| {
            let is_wanted = rendered.wants(RenderWhen::Auto, shown, &shape);
            if is_wanted {
                rendered.of(shown.class, &shape).rendered(gains);
            }
            is_wanted
        });
        wanted.count()
    };
    let mut rendered = Rendered::default();
    assert_eq!(trials(&mut rendered, page(0, 20), false), 3, "nothing is known of the site");
    assert_eq!(trials(&mut rendered, page(1, 20), false), 1);
    assert_eq!(trials(&mut rendered, page(2, 0), false), 3, "it shows nothing that it is for");
    assert_eq!(trials(&mut rendered, page(3, 0), true), 6);
    assert_eq!(trials(&mut rendered, page(4, 20), false), 3, "scripts have brought something");
}

#[test]
fn shapes_beyond_the_bound_share_the_account_of_their_class() {
    let mut rendered = Rendered::default();
    for number in 0..limits::RENDER_SHAPES_MAX + 50 {
        rendered.of(Class::Index, &format!("index {number}")).rendered(false);
    }
    assert_eq!(rendered.of(Class::Index, "index another").rendered, 50);
    assert_eq!(rendered.of(Class::Index, "index 0").rendered, 1);
}

#[tokio::test]
async fn a_note_of_nonsense_is_none() {
    let db = MemoryStore::default();
    db.put_note("s", RENDERED_NOTE, b"[1,2".to_vec()).await.unwrap();
    assert_eq!(Rendered::take_up(&db, "s").await.unwrap(), Rendered::default());
}
