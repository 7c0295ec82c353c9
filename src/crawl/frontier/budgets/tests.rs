//! Budgets on simulated sites: honest ones are not cut, traps starve within the bounds that the module states.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::limits::{NOTE_BYTES_MAX, SHAPE_PAGES};

/// SplitMix64, so that each site follows from its seed.
fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed ^ index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The response of a simulated URL.
#[derive(Default)]
struct Answer {
    links: Vec<(String, Class)>,
    /// Infohash of a torrent.
    torrent: Option<u64>,
}

/// A URL, its class, and the page that contained its link with its class.
type Queued = (String, Class, Option<(String, Class)>);

/// The result of a crawl.
struct Crawl {
    shapes: Shapes,
    fetched: u64,
    torrents: usize,
    /// Fetched URLs by class.
    by_class: std::collections::BTreeMap<Class, u64>,
}

/// Crawls a site as the frontier does: downloads first, then lists, then what they list, each in the order of
/// discovery; what is cut comes back when the generation changes. Ends after `fetches` or when nothing is left.
fn crawl(start: (&str, Class), fetches: u64, mut site: impl FnMut(&str) -> Answer) -> Crawl {
    let mut shapes = Shapes::new(SHAPE_PAGES);
    let mut queues: [VecDeque<Queued>; 4] = std::array::from_fn(|_| VecDeque::new());
    let rank = |class: Class| usize::from(crate::priority::rank(class));
    let (mut known, mut infohashes) = (BTreeSet::from([start.0.to_owned()]), BTreeSet::new());
    queues[rank(start.1)].push_back((start.0.to_owned(), start.1, None));
    let (mut parked, mut generation) = (Vec::<Queued>::new(), 0);
    let (mut fetched, mut by_class) = (0, std::collections::BTreeMap::new());
    // A cut costs only a check; an endless trap requests without end.
    let mut looks = 0;
    while fetched < fetches && looks < 3 * fetches {
        looks += 1;
        if shapes.generation() != generation {
            generation = shapes.generation();
            for (path, class, via) in parked.drain(..) {
                queues[rank(class)].push_back((path, class, via));
            }
        }
        let Some((path, class, via)) = queues.iter_mut().find_map(VecDeque::pop_front) else {
            break;
        };
        if let Budget::Cut(_) = shapes.ask(&path, class) {
            parked.push((path, class, via));
            continue;
        }
        fetched += 1;
        *by_class.entry(class).or_insert(0) += 1;
        let answer = site(&path);
        let mut gain = Yield::default();
        if let Some(infohash) = answer.torrent {
            gain.torrents = u32::from(infohashes.insert(infohash));
        }
        for (link, of) in answer.links {
            if known.insert(link.clone()) {
                gain.links.add(&link, of);
                queues[rank(of)].push_back((link, of, Some((path.clone(), class))));
            }
        }
        let via = via.as_ref().map(|(path, class)| (path.as_str(), *class));
        shapes.fetched(&path, class, &gain, via);
    }
    Crawl { shapes, fetched, torrents: infohashes.len(), by_class }
}

fn number_of(path: &str, front: &str) -> Option<u64> {
    let rest = path.strip_prefix(front)?;
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

fn download(id: u64) -> Answer {
    Answer { torrent: Some(id), ..Answer::default() }
}

/// A tracker: lists of fifty, details, downloads.
fn tracker(torrents: u64) -> impl FnMut(&str) -> Answer {
    move |path| {
        if let Some(page) = number_of(path, "/browse?page=") {
            let first = page * 50;
            let mut links: Vec<_> =
                (first..torrents.min(first + 50)).map(|id| (format!("/torrent/{id}"), Class::Detail)).collect();
            if first + 50 < torrents {
                links.push((format!("/browse?page={}", page + 1), Class::Index));
            }
            Answer { links, torrent: None }
        } else if let Some(id) = number_of(path, "/torrent/") {
            Answer { links: vec![(format!("/download/{id}.torrent"), Class::Download)], torrent: None }
        } else {
            number_of(path, "/download/").map_or_else(Answer::default, download)
        }
    }
}

#[test]
fn a_tracker_of_100_000_torrents_is_crawled_without_a_cut() {
    let crawl = crawl(("/browse?page=0", Class::Index), 1_000_000, tracker(100_000));
    assert_eq!(crawl.torrents, 100_000);
    assert_eq!(crawl.fetched, 2_000 + 200_000);
    assert_eq!(crawl.shapes.cuts(), []);
}

#[test]
fn a_board_with_a_torrent_in_one_thread_of_200_is_crawled_whole() {
    for seed in 0..4 {
        let site = move |path: &str| {
            if let Some(page) = number_of(path, "/forum-2-") {
                let mut links: Vec<_> =
                    (0..20).map(|n| (format!("/thread-{}-1-1.html", page * 20 + n), Class::Thread)).collect();
                if page < 1_500 {
                    links.push((format!("/forum-2-{}.html", page + 1), Class::Board));
                }
                Answer { links, torrent: None }
            } else if let Some(thread) = number_of(path, "/thread-") {
                let has = mix(seed, thread).is_multiple_of(200);
                let link = (format!("/attachment.php?aid={thread}"), Class::Download);
                Answer { links: if has { vec![link] } else { Vec::new() }, torrent: None }
            } else {
                number_of(path, "/attachment.php?aid=").map_or_else(Answer::default, download)
            }
        };
        let crawl = crawl(("/forum-2-1.html", Class::Board), 200_000, site);
        let expected = (20..30_020).filter(|thread| mix(seed, *thread).is_multiple_of(200)).count();
        assert_eq!(crawl.torrents, expected, "seed {seed}");
        assert_eq!(crawl.shapes.cuts(), [], "seed {seed}");
    }
}

#[test]
fn a_listing_of_folders_with_random_names_is_crawled_whole() {
    // 40,000 folders with unique names, one of 60 with a torrent in it.
    let name = |n: u64| -> String {
        let letters = mix(9, n);
        (0..8).map(|at| char::from(b'a' + u8::try_from(letters >> (at * 5) & 31).unwrap_or(0) % 26)).collect()
    };
    let site = move |path: &str| {
        let folder = |n: u64| (format!("/pub/{}-{}/", name(n), name(n + 1)), Class::Index);
        if path == "/pub/" {
            return Answer { links: (0..40_000).map(folder).collect(), torrent: None };
        }
        if path.ends_with(".torrent") {
            return download(xxh3_64(path.as_bytes()));
        }
        let has = xxh3_64(path.as_bytes()).is_multiple_of(60);
        let file = (format!("{path}image.iso.torrent"), Class::Download);
        Answer { links: if has { vec![file] } else { Vec::new() }, torrent: None }
    };
    let crawl = crawl(("/pub/", Class::Index), 100_000, site);
    assert!(crawl.torrents > 500, "{}", crawl.torrents);
    assert_eq!(crawl.shapes.cuts(), []);
    assert!(crawl.shapes.len() <= SHAPES_MAX);
}

#[test]
fn torrents_behind_900_barren_pages_are_found() {
    let site = |path: &str| {
        let Some(page) = number_of(path, "/list?page=") else {
            return number_of(path, "/get/").map_or_else(Answer::default, download);
        };
        let mut links = vec![(format!("/list?page={}", page + 1), Class::Index)];
        if page >= 900 {
            links = vec![(format!("/get/{page}"), Class::Download), (format!("/list?page={}", page + 1), Class::Index)];
        }
        Answer { links: if page < 3_000 { links } else { Vec::new() }, torrent: None }
    };
    let crawl = crawl(("/list?page=0", Class::Index), 100_000, site);
    assert_eq!(crawl.torrents, 2_100);
    assert_eq!(crawl.shapes.cuts(), []);
}

/// A healthy tracker with a trap beside it: `trap` handles everything that begins with `/t`.
fn beside(torrents: u64, entry: (&str, Class), mut trap: impl FnMut(&str) -> Answer) -> impl FnMut(&str) -> Answer {
    let mut healthy = tracker(torrents);
    let entry = (entry.0.to_owned(), entry.1);
    move |path| {
        if path.starts_with("/trap") {
            return trap(path);
        }
        let mut answer = healthy(path);
        if path == "/browse?page=0" {
            answer.links.push(entry.clone());
        }
        answer
    }
}

/// Fetches of the trap when the crawl may make 60,000 in all, and that nothing of the healthy part is lost.
fn trapped(entry: (&str, Class), trap: impl FnMut(&str) -> Answer) -> (u64, Shapes) {
    let crawl = crawl(("/browse?page=0", Class::Index), 60_000, beside(500, entry, trap));
    assert_eq!(crawl.torrents, 500, "the healthy part is whole");
    assert!(!crawl.shapes.cuts().is_empty(), "the trap is told");
    for cut in crawl.shapes.cuts() {
        assert!(cut.example.starts_with("/trap") && !cut.reason.is_empty(), "{cut:?}");
    }
    assert!(crawl.by_class.values().sum::<u64>() == crawl.fetched);
    (crawl.fetched - 10 - 1_000, crawl.shapes)
}

#[test]
fn a_calendar_without_end_starves_after_its_tenth() {
    let (fetched, shapes) = trapped(("/trap/calendar?month=2026-11", Class::Page), |path| {
        let month = path.rsplit_once('=').map_or("", |(_, month)| month);
        let (year, month) = month.split_once('-').expect("a month");
        let months = year.parse::<u64>().expect("a year") * 12 + month.parse::<u64>().expect("a month") - 1;
        let link = |at: u64| (format!("/trap/calendar?month={:04}-{:02}", at / 12, at % 12 + 1), Class::Page);
        Answer { links: vec![link(months.saturating_sub(1)), link(months + 1)], torrent: None }
    });
    assert!(fetched <= 150, "{fetched}: B0 / 10 and the first trickle");
    assert_eq!(shapes.cuts()[0].shape, "/trap/calendar?month={date}");
}

#[test]
fn a_search_by_ten_facets_and_five_orders_starves() {
    // Every page shows the same fifty details and a link to every neighbour.
    let (fetched, _) = trapped(("/trap/search?sort=a", Class::Index), |path| {
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let (mut facets, mut links) = ([false; 10], Vec::new());
        for (at, facet) in facets.iter_mut().enumerate() {
            *facet = query.contains(&format!("f{}=on", (b'a' + u8::try_from(at).unwrap_or(0)) as char));
        }
        for changed in 0..10 {
            for sort in ["a", "b", "c", "d", "e"] {
                let on = |at: &usize| facets[*at] != (*at == changed);
                let names: String = (0..10)
                    .filter(on)
                    .map(|at| format!("f{}=on&", (b'a' + u8::try_from(at).unwrap_or(0)) as char))
                    .collect();
                links.push((format!("/trap/search?{names}sort={sort}"), Class::Index));
            }
        }
        links.extend((0..50).map(|id| (format!("/torrent/{id}"), Class::Detail)));
        Answer { links, torrent: None }
    });
    assert!(fetched <= 4 * 1_000 + 200, "{fetched} of 5,120");
}

#[test]
fn pages_under_random_identifiers_starve() {
    for class in [Class::Page, Class::Index, Class::Detail] {
        let mut made = 0;
        let (fetched, _) = trapped(("/trap/00000000a1", class), |_| {
            made += 1;
            let links = (0..10).map(|n| (format!("/trap/{:016x}", mix(made, n) | 0xa1), class)).collect();
            Answer { links, torrent: None }
        });
        assert!(fetched <= 1_000 + 250 + 12_000 / 100, "{class:?}: {fetched}");
    }
}

#[test]
fn folders_of_made_up_words_starve() {
    let word = |n: u64| -> String {
        (0..7).map(|at| char::from(b'a' + u8::try_from(mix(3, n) >> (at * 5) & 31).unwrap_or(0) % 26)).collect()
    };
    let mut made = 0;
    let (fetched, shapes) = trapped(("/trap/", Class::Index), |path| {
        let links = (0..5).map(|_| {
            made += 1;
            (format!("{path}{}/", word(made)), Class::Index)
        });
        Answer { links: links.collect(), torrent: None }
    });
    assert!(fetched <= 21_000, "{fetched}: 16 B0 for each depth, breadth first, and the trickle");
    assert!(shapes.len() <= SHAPES_MAX);
}

#[test]
fn ever_longer_paths_end_at_their_third_repetition() {
    let (fetched, shapes) = trapped(("/trap/", Class::Page), |path| Answer {
        links: vec![(format!("{path}news/today/"), Class::Page)],
        torrent: None,
    });
    assert!(fetched <= 3, "{fetched}");
    assert_eq!(shapes.cuts()[0].shape, "repeated_folders");
}

#[test]
fn session_ids_in_paths_starve_though_they_lead_to_known_torrents() {
    // Each page puts a new session into its links; the torrents are those of the healthy part.
    let mut sessions = 0;
    let (fetched, _) = trapped(("/trap/00000000000000000000000000000001/list", Class::Index), |path| {
        let rest = path.trim_start_matches("/trap/").split_once('/').map_or("", |(_, rest)| rest);
        sessions += 1;
        let front = format!("/trap/{:032x}", u128::from(mix(7, sessions)) | 0xa0);
        match number_of(rest, "torrent/") {
            Some(id) => Answer { links: vec![(format!("{front}/get/{id}"), Class::Download)], torrent: None },
            None if rest == "list" => {
                let mut links: Vec<_> = (0..50).map(|id| (format!("{front}/torrent/{id}"), Class::Detail)).collect();
                links.push((format!("{front}/list"), Class::Index));
                Answer { links, torrent: None }
            }
            None => number_of(rest, "get/").map_or_else(Answer::default, download),
        }
    });
    // Lists 5 B0, details 5 B0 beyond what they earned, downloads of both, and the trickle.
    assert!(fetched <= 30_000, "{fetched}");
}

#[test]
fn a_next_page_without_end_starves() {
    let (fetched, _) = trapped(("/trap/list?page=1", Class::Index), |path| {
        let page = number_of(path, "/trap/list?page=").expect("a page");
        let mut links: Vec<_> = (0..50).map(|id| (format!("/torrent/{id}"), Class::Detail)).collect();
        links.push((format!("/trap/list?page={}", page + 1), Class::Index));
        Answer { links, torrent: None }
    });
    assert!(fetched <= 1_250, "{fetched}");
}

#[test]
fn two_traps_that_lead_to_each_other_starve_both() {
    let mut made = 0;
    let (fetched, _) = trapped(("/trap/a/1", Class::Index), |path| {
        let (other, class) = if path.starts_with("/trap/a/") { ("b", Class::Page) } else { ("a", Class::Index) };
        let links = (0..30).map(|_| {
            made += 1;
            (format!("/trap/{other}/{made}"), class)
        });
        Answer { links: links.collect(), torrent: None }
    });
    assert!(fetched <= 2 * (5 * 1_000 + 250) + 12_000 / 100, "{fetched}");
}

#[test]
fn a_shape_that_yielded_for_long_and_turned_barren_is_found_out() {
    let mut shapes = Shapes::new(100);
    for n in 0..10_000 {
        assert_eq!(shapes.ask(&format!("/t/{n}"), Class::Detail), Budget::Go);
        shapes.fetched(&format!("/t/{n}"), Class::Detail, &Yield { magnets: 1, ..Yield::default() }, None);
    }
    let barren = (0..).find(|n| {
        let path = format!("/t/9{n}");
        shapes.fetched(&path, Class::Detail, &Yield::default(), None);
        matches!(shapes.ask(&path, Class::Detail), Budget::Cut(Reason::Shape))
    });
    assert_eq!(barren, Some(499), "five times B0");
}

#[test]
fn a_starved_shape_trickles_and_recovers_with_one_torrent() {
    let mut shapes = Shapes::new(100);
    for n in 0..200 {
        shapes.fetched(&format!("/p/{n}"), Class::Page, &Yield::default(), None);
    }
    let asked: Vec<Budget> = (0..1_000).map(|n| shapes.ask(&format!("/p/{n}"), Class::Page)).collect();
    assert_eq!(asked.iter().filter(|budget| **budget == Budget::Trickle).count(), 10);
    assert_eq!(shapes.cuts()[0].cut, 990);
    let before = shapes.generation();
    shapes.fetched("/p/7", Class::Page, &Yield { torrents: 1, ..Yield::default() }, None);
    assert_ne!(shapes.generation(), before);
    assert_eq!(shapes.ask("/p/1000", Class::Page), Budget::Go);
    assert_eq!(shapes.cuts(), [], "what has recovered is cut no more");
}

#[test]
fn what_a_group_holds_back_and_lets_go_again_is_told_no_more() {
    let mut shapes = Shapes::new(10);
    let facet = |n: u32| format!("/s?{}=1", char::from(b'a' + u8::try_from(n % 26).unwrap_or(0)));
    let cut = (0..26 * 9).find_map(|n| {
        shapes.fetched(&facet(n), Class::Page, &Yield::default(), None);
        (shapes.ask(&facet(n), Class::Page) == Budget::Cut(Reason::Template)).then(|| facet(n))
    });
    let cut = cut.expect("four times B0 are used up before any facet's own B0");
    assert_eq!(shapes.cuts().len(), 1);
    shapes.fetched("/s?zz=1", Class::Page, &Yield { torrents: 1, ..Yield::default() }, None);
    assert_eq!(shapes.ask(&cut, Class::Page), Budget::Go);
    assert_eq!(shapes.cuts(), []);
}

#[test]
fn downloads_of_which_one_in_a_thousand_is_new_are_never_cut() {
    let mut shapes = Shapes::new(10);
    for n in 0..50_000_u32 {
        assert_eq!(shapes.ask(&format!("/get/{n}"), Class::Download), Budget::Go, "{n}");
        let torrents = u32::from(n.is_multiple_of(1_000));
        shapes.fetched(&format!("/get/{n}"), Class::Download, &Yield { torrents, ..Yield::default() }, None);
    }
    assert_eq!(shapes.cuts(), []);
    // One torrent is no permanent pass.
    let mut shapes = Shapes::new(10);
    shapes.fetched("/get/0", Class::Download, &Yield { torrents: 1, ..Yield::default() }, None);
    let fetched = (0..50_000).find(|n| {
        shapes.fetched(&format!("/get/{n}"), Class::Download, &Yield::default(), None);
        matches!(shapes.ask(&format!("/get/{n}"), Class::Download), Budget::Cut(Reason::Shape))
    });
    assert!(fetched.is_some_and(|fetched| (900..1_100).contains(&fetched)), "{fetched:?}");
}

#[test]
fn a_note_comes_back_as_it_was_and_a_bad_one_begins_anew() {
    let mut shapes = crawl(("/browse?page=0", Class::Index), 3_000, tracker(2_000)).shapes;
    let bytes = shapes.to_bytes();
    let (mut again, complaint) = Shapes::from_bytes(&bytes, SHAPE_PAGES);
    assert_eq!((&again, complaint), (&shapes, None));
    assert_eq!(again.to_bytes(), bytes);
    for bad in [&b""[..], b"{", b"null", b"{\"version\":1}", &bytes[..bytes.len() / 2], &vec![b' '; NOTE_BYTES_MAX + 1]]
    {
        let (empty, complaint) = Shapes::from_bytes(bad, SHAPE_PAGES);
        assert!(empty.is_empty() && complaint.is_some(), "{complaint:?}");
    }
    let other = String::from_utf8(bytes).expect("text").replacen("\"version\":1", "\"version\":99", 1);
    assert_eq!(Shapes::from_bytes(other.as_bytes(), 10).1.as_deref(), Some("version 99 is not known"));
}

#[test]
fn a_note_that_was_tampered_with_neither_hangs_nor_overflows() {
    let mut shapes = Shapes::new(10);
    shapes.fetched("/list?p=1", Class::Index, &Yield::default(), None);
    let note = String::from_utf8(shapes.to_bytes()).expect("text");
    let classless = note.replace("index /list", "/list");
    assert_ne!(classless, note);
    assert_eq!(Shapes::from_bytes(classless.as_bytes(), 10).1.as_deref(), Some("an account is of no class"));
    for (name, value) in [("turn", u64::MAX.to_string()), ("generation", u64::MAX.to_string())] {
        let huge = note.replace(&format!("\"{name}\":{}", u64::from(name == "turn")), &format!("\"{name}\":{value}"));
        assert_ne!(huge, note, "{name}");
        let (mut read, fault) = Shapes::from_bytes(huge.as_bytes(), 1_000_000);
        assert_eq!(fault, None);
        read.fetched("/list?p=2", Class::Index, &Yield { torrents: 1, ..Yield::default() }, None);
        assert!(!read.to_bytes().is_empty());
    }
}

#[test]
fn accounts_and_their_note_are_bounded_whatever_is_asked() {
    let mut shapes = Shapes::new(10);
    for n in 0..6_000_u64 {
        // Words make separate shapes, and long ones.
        let word = |seed: u64| -> String {
            (0..12).map(|at| char::from(b'a' + u8::try_from(mix(seed, n) >> (at * 5) & 15).unwrap_or(0))).collect()
        };
        let path =
            format!("/{}/{}/{}?{}=\"x\"&{}=1", word(1), word(2), word(3).repeat(12), word(4), "\\\"".repeat(300));
        let _ = shapes.ask(&path, Class::Page);
        let mut gain = Yield::default();
        for link in 0..20 {
            gain.links.add(&format!("/{}/l", word(100 + link % 3)), Class::Detail);
        }
        shapes.fetched(&path, Class::Page, &gain, Some((&path, Class::Page)));
    }
    assert!(shapes.accounts.len() <= SHAPES_MAX && shapes.pools.len() <= SHAPE_POOLS_MAX);
    assert!(shapes.to_bytes().len() <= NOTE_BYTES_MAX);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_calls_give_the_same_bytes(steps in proptest::collection::vec((0_u8..40, 0_u32..3, 0_usize..7), 0..300)) {
        let run = || {
            let mut shapes = Shapes::new(10);
            let mut told = Vec::new();
            for (page, torrents, class) in &steps {
                let path = format!("/{}/x?p={page}", ["a", "b", "c"][usize::from(page % 3)]);
                told.push(shapes.ask(&path, Class::ALL[*class]));
                shapes.fetched(&path, Class::ALL[*class], &Yield { torrents: *torrents / 2, ..Yield::default() }, None);
            }
            (told, shapes.to_bytes())
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn no_note_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (mut shapes, _) = Shapes::from_bytes(&bytes, 5);
        let _ = shapes.ask("/", Class::Page);
    }
}
