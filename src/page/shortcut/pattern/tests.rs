//! Unit tests of `shortcut::pattern`.

use super::*;

#[test]
fn what_pages_have_in_common_is_kept_and_what_changed_may_be_anything() {
    let pages =
        ["https://h.example/a/x?cat=7&page=1", "https://h.example/a/y?cat=7", "https://h.example/a/z?cat=7&page=3"];
    let pages: Vec<Url> = pages.iter().map(|page| Url::parse(page).unwrap()).collect();
    let pattern = Pattern::of(&pages.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(pattern.to_string(), "https://h.example/a/*?cat=7&page?=*");
    assert_eq!(Pattern::parse("https://h.example:443/a/*?cat=7&page?=*"), Some(pattern.clone()));
    for (page, fits) in [
        ("/a/w?cat=7&page=9", true),
        ("/a/w?cat=7", true),
        ("/a/w?cat=8", false),
        ("/a/w?page=9", false),
        ("/b/w?cat=7", false),
    ] {
        assert_eq!(pattern.fits(&Url::parse(&format!("https://h.example{page}")).unwrap()), fits, "{page}");
    }
    for bad in ["a/b", "https://h.example", "https://h.example?a=b/c", "https://u:p@h.example/a", "ftp://h.example/a"] {
        assert_eq!(Pattern::parse(bad), None, "{bad}");
    }
    let star = Pattern::of(&[&Url::parse("https://h.example/a*b/*").unwrap()]).unwrap();
    assert_eq!(Pattern::parse(&star.to_string()), Some(star));
}

#[test]
fn one_hosts_pages_are_none_of_anothers_unless_it_was_learned_from_both() {
    let [films, games] = ["https://films.example:8443/list?page=1", "https://games.example:8443/list?page=2"]
        .map(|page| Url::parse(page).unwrap());
    let own = Pattern::of(&[&films]).unwrap();
    assert_eq!(own.to_string(), "https://films.example:8443/list?page=1");
    let other = Url::parse("https://games.example:8443/list?page=1").unwrap();
    assert!(own.fits(&films) && !own.fits(&other));
    assert!(!own.fits(&Url::parse("https://films.example/list?page=1").unwrap()), "a port is a part of it");
    let both = Pattern::of(&[&films, &games]).unwrap();
    assert_eq!(both.to_string(), "/list?page=*");
    assert!(both.fits(&films) && both.fits(&games));
    assert_eq!(Pattern::parse("/list?page=*"), Some(both));
}
