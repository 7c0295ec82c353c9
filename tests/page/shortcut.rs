//! Endpoints learned from synthetic renders of many shapes, and endpoints that must not be learned.

mod lists;
mod records;
mod values;

use std::collections::BTreeSet;

use gleaner_page::shortcut::endpoint::{Difference, Endpoint};
use gleaner_page::shortcut::rests::Rest;
use gleaner_page::shortcut::template::Scope;
use gleaner_page::shortcut::written::Written;
use gleaner_page::shortcut::{Answer, ClassShortcuts, Event, Exchange, Link, Observation, kind_of, learn};
use gleaner_torrent::magnet;
use serde_json::{Value as Json, json};
use url::Url;

const ORIGIN: &str = "https://h.example";

/// Normalises a link; the crawl accepts links of its own host, and magnets.
fn normal(base: &Url, text: &str) -> Option<String> {
    if text.starts_with("magnet:") {
        return magnet::parse(text).ok().map(|magnet| format!("magnet:{:?}", magnet.infohashes));
    }
    let url = base.join(text).ok()?;
    (url.host_str() == Some("h.example")).then(|| url.to_string())
}

/// A render of a page: the requests of its scripts with their responses, and the links that they generated.
fn render(page: &str, exchanges: Vec<Exchange>, links: &[String]) -> Observation {
    let page = Url::parse(&format!("{ORIGIN}{page}")).unwrap();
    let link = |text: &String| {
        let key = normal(&page, text).unwrap();
        Link { text: if text.starts_with("magnet:") { text.clone() } else { key.clone() }, key }
    };
    let links = links.iter().map(link).collect();
    let html = "<div id=app></div><script src=/app.js></script>".to_owned();
    let (cookies, unread, shell) = Default::default();
    Observation { page, html, cookies, now_ms: 1_790_000_000_000, exchanges, unread, shell, links }
}

fn get(url: &str, answer: impl ToString) -> Exchange {
    let url = format!("{ORIGIN}{url}");
    Exchange {
        method: "GET".into(),
        url,
        headers: Vec::new(),
        body: String::new(),
        status: 200,
        answer: answer.to_string(),
    }
}

fn learned(renders: &[Observation]) -> Option<Endpoint> {
    learn(&renders.iter().collect::<Vec<_>>(), &normal)
}

fn table(endpoint: &Endpoint) -> Written {
    Written::of(endpoint)
}

/// Visits a page through an endpoint; the site answers by path and query of the requests.
fn visited(
    endpoint: &Endpoint,
    page: &str,
    html: &str,
    site: impl Fn(&str) -> String,
) -> Result<BTreeSet<String>, Difference> {
    let page = Url::parse(&format!("{ORIGIN}{page}")).unwrap();
    assert!(endpoint.covers(&page), "{page}");
    let ask = |slots: &_| {
        let asked = gleaner_page::shortcut::call::asked(slots);
        let head: String = asked.headers.iter().map(|(name, value)| format!(" {name}:{value}")).collect();
        Answer::of(&site(&format!("{}{head}{}", asked.url.strip_prefix(ORIGIN).unwrap(), asked.body)))
    };
    let mut scope = Scope::of(&page, html, &[], 1_790_000_009_000);
    let before = endpoint.before.as_ref().map(|call| ask(&call.fill(&scope).unwrap()));
    if let Some(Answer::Json(json)) = &before {
        scope.before = Some(json);
    }
    let (mut next, mut links, mut seen) = (Some(endpoint.first(&scope)?), BTreeSet::new(), 0);
    while let Some(slots) = next.take() {
        let answer = ask(&slots);
        let reading = endpoint.read(&slots, &answer, &scope, seen)?;
        if seen == 0 {
            links
                .extend(endpoint.around(&answer, reading.records, &page).iter().filter_map(|link| normal(&page, link)));
        }
        seen += reading.records;
        links.extend(reading.links.iter().filter_map(|link| normal(&page, link)));
        next = reading.next;
    }
    Ok(links)
}

fn urls(paths: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    paths.into_iter().map(|path| format!("{ORIGIN}{path}")).collect()
}

/// Records of a page, newest first; their numbers are far from those of pages and categories.
fn items(page: usize, size: usize) -> Vec<Json> {
    (0..size).map(|at| json!({ "id": 9_000 - (page * size + at), "title": format!("No {page} {at}"), "cat": at % 3, "seeds": at })).collect()
}

fn list_pages(
    pages: &[usize],
    api: impl Fn(usize) -> (String, Json),
    more: impl Fn(usize) -> Vec<String>,
) -> Vec<Observation> {
    let one = |page: &usize| {
        let (url, answer) = api(*page);
        let links: Vec<String> =
            items(*page, 10).iter().map(|item| format!("/torrent/{}", item["id"])).chain(more(*page)).collect();
        render(&format!("/list?page={page}"), vec![get("/api/stats", json!({ "users": 7 })), get(&url, answer)], &links)
    };
    pages.iter().map(one).collect()
}

/// The request for a page of data, and its content.
type Shape<'a> = &'a dyn Fn(usize) -> (String, Json);

/// One render of a page with a button for the next page: four requests, or as many as the list has.
fn turned(requests: &[(String, Json)]) -> Observation {
    let links: Vec<String> =
        (0..requests.len()).flat_map(|page| items(page, 10)).map(|item| format!("/torrent/{}", item["id"])).collect();
    render("/", requests.iter().map(|(url, answer)| get(url, answer)).collect(), &links)
}

#[test]
fn a_member_that_matches_by_chance_is_not_learned() {
    // Each page shows three links, whose numbers are also those of the categories of its records; no other member has the rest.
    let one = |page: usize| {
        let answer: Vec<Json> = (0..6).map(|at| json!({ "id": 9_000 + page * 10 + at, "cat": at % 3 })).collect();
        let links: Vec<String> = (0..6)
            .map(|at| format!("/torrent/x{}", (page * 6 + at) * 7_919 % 10_007))
            .chain(["/torrent/0".to_owned()])
            .collect();
        render(&format!("/l/{page}"), vec![get(&format!("/api?page={page}"), json!(answer))], &links)
    };
    assert_eq!(learned(&[one(1), one(2), one(3)]), None);
    // Two records are too few to distinguish a member from chance.
    let few = |page: usize| {
        let links = if page == 1 { vec!["/torrent/501".to_owned()] } else { Vec::new() };
        render(&format!("/l/{page}"), vec![get(&format!("/api?page={page}"), json!([{ "id": 500 + page }]))], &links)
    };
    assert_eq!(learned(&[few(1), few(2), few(3)]), None, "records without a link are not explained");
    // A link that some records lack without any sign of it.
    let some = |page: usize| {
        let links: Vec<String> =
            items(page, 8).iter().step_by(2).map(|item| format!("/torrent/{}", item["id"])).collect();
        render(&format!("/l/{page}"), vec![get(&format!("/api?page={page}"), json!(items(page, 8)))], &links)
    };
    assert_eq!(learned(&[some(1), some(2), some(3)]), None);
}

#[test]
fn one_link_that_no_answer_bears_keeps_a_class_rendered() {
    let api = |page: usize| (format!("/api?page={page}"), json!(items(page, 10)));
    assert!(learned(&list_pages(&[1, 2, 3], api, |_| Vec::new())).is_some());
    assert_eq!(learned(&list_pages(&[1, 2, 3], api, |page| vec![format!("/torrent/extra-{}", page * 7_907)])), None);
    assert_eq!(learned(&list_pages(&[1, 2], api, |_| Vec::new())), None, "two renders are too few");
}

#[test]
fn an_endpoint_holds_for_addresses_like_those_it_was_learned_from_only() {
    let api = |page: usize| (format!("/api?page={page}"), json!(items(page, 10)));
    let endpoint = learned(&list_pages(&[1, 2, 3], api, |_| Vec::new())).unwrap();
    for (page, covers) in [
        ("/list?page=9", true),
        ("/list", false),
        ("/list?page=9&cat=2", false),
        ("/other?page=9", false),
        ("/list/x?page=1", false),
    ] {
        assert_eq!(endpoint.covers(&Url::parse(&format!("{ORIGIN}{page}")).unwrap()), covers, "{page}");
    }
}

#[test]
fn a_book_learns_checks_ever_more_seldom_and_forgets_at_the_first_difference() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "rows": items(page, 10) }));
    let of = |page: usize| std::sync::Arc::new(list_pages(&[page], api, |_| Vec::new()).remove(0));
    let mut book = ClassShortcuts::default();
    let add = |book: &mut ClassShortcuts, page: usize| {
        let sets = book.add(of(page));
        let learned = sets.iter().find_map(|set| learn(&set.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &normal));
        book.learned(learned, 5)
    };
    assert_eq!((add(&mut book, 1), add(&mut book, 2), add(&mut book, 3)), (None, None, Some(Event::Learned)));
    let page = of(9).page.clone();
    let uses_until_check =
        |book: &mut ClassShortcuts| (0..1_000).take_while(|_| book.plan(&page, false, true, 9).is_some()).count();
    let mut waits = Vec::new();
    for _ in 0..6 {
        waits.push(uses_until_check(&mut book));
        let endpoint = book.to_check(&page).unwrap();
        let result = endpoint.explains(&of(9), &normal);
        assert_eq!(book.checked(of(9), result, 6), Some(Event::Proven));
    }
    assert_eq!(waits, [10, 20, 40, 80, 100, 100]);
    // Stored and restored, it continues where it was.
    let kept: gleaner_page::shortcut::book::KeptBook =
        serde_json::from_slice(&serde_json::to_vec(&book.to_keep()).unwrap()).unwrap();
    let mut again = ClassShortcuts::default();
    again.take_up(kept.clone());
    assert_eq!(again.to_keep(), kept);
    let changed = std::sync::Arc::new(
        list_pages(&[9], |page| (format!("/api?page={page}"), json!({ "torrents": items(page, 10) })), |_| Vec::new())
            .remove(0),
    );
    let result = again.to_check(&page).unwrap().explains(&changed, &normal);
    assert!(
        matches!(again.checked(changed, result, 7), Some(Event::Differs(Difference::NoList(place))) if place == "rows")
    );
    assert_eq!(again.plan(&page, false, true, 9), None);
    assert_eq!(again.to_keep().difference.unwrap().0, 7);
}

#[test]
fn a_switch_that_was_never_so_is_noticed_and_taken_up_once_it_is_borne_out() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "rows": items(page, 10), "more": page < 4 }));
    let mut endpoint = learned(&list_pages(&[1, 2, 3], api, |_| Vec::new())).unwrap();
    let last = list_pages(&[4], api, |_| Vec::new()).remove(0);
    let answer = Answer::of(&last.exchanges[1].answer);
    assert!(endpoint.is_as_expected(&answer, 10).is_err());
    assert_eq!(endpoint.explains(&last, &normal), Ok(()));
    endpoint.absorb(&last);
    assert_eq!(endpoint.is_as_expected(&answer, 10), Ok(()));
}

#[test]
fn a_count_that_exceeds_the_records_says_that_there_is_more_than_was_ever_seen() {
    let one = |page: usize, size: usize, total: usize| {
        let links: Vec<String> = items(page, size).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        let answer = json!({ "total": total, "rows": items(page, size) });
        render(&format!("/user/{page}"), vec![get(&format!("/api/user/{page}"), answer)], &links)
    };
    let endpoint = learned(&[one(1, 4, 4), one(2, 7, 7), one(3, 1, 1)]).unwrap();
    for (total, is_expected) in [(9, true), (10, true), (11, false)] {
        let answer = Answer::of(&one(5, 10, total).exchanges[0].answer);
        assert_eq!(endpoint.is_as_expected(&answer, 10).is_ok(), is_expected, "{total}");
    }
}

#[test]
fn a_table_of_the_rule_file_is_checked_where_it_stands() {
    let head = "start = ['https://h.example/list']\nclasses.index = ['^/list']\n[shortcut.index]\n";
    let faults = |table: &str| {
        let faults = gleaner_rules::from_text("site", &format!("{head}{table}")).err().unwrap_or_default();
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(faults("url = '/api?p={@query.p|1}'\nitems = 'rows'\nlink = ['/t/{id}']\n"), "");
    for (table, line, wanted) in [
        ("url = 'https://other.example/api'\nlink = ['/t/{id}']\n", 4, "`other.example` is not a host of this site"),
        ("url = '/api'\nlink = ['/t/{id']\n", 5, "brace"),
        ("url = '/api'\nlink = ['/t/{@nothing.x}']\n", 5, "`@nothing` is none of"),
        ("url = '/api'\n", 4, "no links are made of the answer"),
        (
            "url = '/api'\nlink = ['/t/{id}']\npage = { parameter = 'p', cursor = 'a', next = 'b' }\n",
            6,
            "how the list is turned",
        ),
        ("url = '/api'\nlink = ['/t/{id}']\nitem = 'rows'\n", 6, "unknown key `item`"),
        ("url = '/api'\nlink = ['/t/{id}']\nheaders = { Cookie = 'sid=1' }\n", 6, "holds a secret"),
        ("link = ['/t/{id}']\n", 3, "the key `url` is missing"),
    ] {
        let told = faults(table);
        assert!(told.contains(wanted) && told.contains(&format!(":{line}:")), "{table}: {told}");
    }
}

#[test]
fn answers_that_are_made_to_cost_teach_nothing_and_end() {
    let record = |at: usize| -> Json {
        (0..60)
            .map(|member| (format!("m{member}"), json!((at + member) % 10)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let answer = json!({ "rows": (0..1_500).map(record).collect::<Vec<_>>(), "deep": nested(100) });
    let one = |page: usize| {
        let links: Vec<String> = (0..200)
            .map(|at| format!("/{}/{}/{}/{}-{}", page % 10, at % 7, at % 10, (at * page) % 9, at % 3))
            .collect();
        let url =
            format!("/api?{}", (0..100).map(|at| format!("p{at}={}", (at + page) % 10)).collect::<Vec<_>>().join("&"));
        render(&format!("/l/{page}?a={page}"), vec![get(&url, &answer)], &links)
    };
    assert_eq!(learned(&[one(1), one(2), one(3)]), None);
}

fn nested(depth: usize) -> Json {
    (0..depth).fold(json!([1]), |inner, _| json!([inner, 2]))
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_a_person_writes_is_read_or_told_to_be_wrong(text in "[ -~é]{0,60}", other in "[{}@a-z.|#0-9*+% -]{0,30}") {
        let written = Written {
            on: Some(text.clone()),
            url: format!("/{other}{text}"),
            json: Some(text.clone()),
            items: Some(other.clone()),
            html: vec![text.clone()],
            headers: [(other.clone(), text.clone())].into(),
            ..Written::default()
        };
        if let Ok(endpoint) = written.endpoint() {
            let again = Written::of(&endpoint).endpoint();
            proptest::prop_assert!(again.is_ok(), "{:?}", again);
        }
        let _ = Answer::of(&text);
        if let Ok(template) = gleaner_page::shortcut::template::Template::parse(&other) {
            let again = gleaner_page::shortcut::template::Template::parse(&template.to_string());
            proptest::prop_assert_eq!(again, Ok(template));
        }
    }
}

#[test]
fn answers_of_another_shape_are_differences() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "rows": items(page, 10) }));
    let endpoint = learned(&list_pages(&[1, 2, 3], api, |_| Vec::new())).unwrap();
    for (answer, wanted) in [
        (json!({ "items": [] }).to_string(), Difference::NoList("rows".into())),
        (json!({ "rows": [{ "number": 5 }] }).to_string(), Difference::NoLinks),
        ("<html>maintenance".to_owned(), Difference::NoData),
        ("oops".to_owned(), Difference::NoData),
    ] {
        assert_eq!(visited(&endpoint, "/list?page=9", "", |_| answer.clone()), Err(wanted), "{answer}");
    }
    assert!(visited(&endpoint, "/list?page=9", "", |_| json!({ "rows": [] }).to_string()).unwrap().is_empty());
}

#[test]
fn hosts_side_by_side_have_endpoints_of_their_own_and_proofs_of_their_own() {
    let page_of = |host: &str, page: usize| Url::parse(&format!("https://{host}.h.example/list?page={page}")).unwrap();
    let of = |host: &str, page: usize| {
        let answer = json!({ "rows": items(page, 10) });
        let links: Vec<String> = items(page, 10).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        let mut one = render(&format!("/list?page={page}"), vec![get(&format!("/{host}?page={page}"), answer)], &links);
        one.page = page_of(host, page);
        std::sync::Arc::new(one)
    };
    let mut book = ClassShortcuts::default();
    for page in 1..=3 {
        for host in ["films", "games"] {
            let sets = book.add(of(host, page));
            let found = sets.iter().find_map(|set| learn(&set.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &normal));
            assert_eq!(book.learned(found.clone(), 5).is_some(), page == 3, "{host} {page}: {found:?}");
        }
    }
    let asked = |book: &ClassShortcuts, host: &str| table(&book.to_check(&page_of(host, 9)).unwrap()).url;
    assert_eq!(asked(&book, "films"), format!("{ORIGIN}/films?page={{@query.page}}"));
    assert_eq!(asked(&book, "games"), format!("{ORIGIN}/games?page={{@query.page}}"));
    assert!(book.to_check(&page_of("books", 9)).is_none(), "nothing is known of a third");

    // One for all hosts, as a person may write it: a render at one of them proves nothing for the other.
    let mut pin = table(&book.to_check(&page_of("films", 9)).unwrap());
    pin.on = Some("/list?page=*".into());
    let mut book = ClassShortcuts::default();
    book.pin(&pin.endpoint().unwrap());
    for page in 4..=7 {
        for host in ["films", "games"] {
            book.worked(&page_of(host, page), false, 1);
        }
    }
    assert_eq!(book.checked(of("films", 8), Ok(()), 9), Some(Event::Proven));
    assert!(book.close(true), "games are checked before the crawl ends");
    assert_eq!(book.again(), [page_of("games", 7).to_string()]);
    assert!(book.plan(&page_of("games", 7), false, true, 9).is_none(), "that page is rendered");
    assert!(book.plan(&page_of("games", 6), false, true, 9).is_some());
}

/// Path of the list, template of its links, the responses, and the links of a page.
type ByName<'a> = (&'a str, &'a str, &'a dyn Fn(usize) -> Json, &'a dyn Fn(usize) -> Vec<String>);

#[test]
fn what_each_pages_own_markup_links_is_taken_from_it_and_what_one_pages_scripts_link_is_not_learned() {
    let of = |page: usize, is_own: bool| {
        let answer = json!({ "rows": items(page, 10) });
        let mut links: Vec<String> = items(page, 10).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        links.push(format!("/section/{}", ["a", "b", "c", "d"][page % 4]));
        let mut one = render(&format!("/list?page={page}"), vec![get(&format!("/api?page={page}"), answer)], &links);
        one.shell = if is_own { one.links[10..].to_vec() } else { Vec::new() };
        one
    };
    let renders = |is_own: bool| (1..=3).map(|page| of(page, is_own)).collect::<Vec<_>>();
    assert!(learned(&renders(true)).unwrap().with_page);
    assert_eq!(learned(&renders(false)), None);
}

#[test]
fn a_render_that_is_larger_than_all_may_be_is_learned_from_and_not_kept() {
    let pad = "x".repeat(gleaner_page::limits::SHORTCUT_OBSERVED_BYTES_MAX / 5);
    let api = |page: usize| (format!("/api?page={page}"), json!({ "items": items(page, 10), "pad": pad }));
    let render = turned(&(0..6).map(api).collect::<Vec<_>>());
    assert!(render.bytes() > gleaner_page::limits::SHORTCUT_OBSERVED_BYTES_MAX);
    let mut book = ClassShortcuts::default();
    let sets = book.add(render.clone().into());
    assert!(sets.first().is_some_and(|set| set.len() == 1), "{}", sets.len());
    assert!(book.learned(None, 1).is_none());
    let tries = (0..14).filter(|_| !book.add(render.clone().into()).is_empty() && book.learned(None, 1).is_none());
    assert_eq!(tries.count(), 3, "a vain try makes the next one wait, ever longer");
    assert_eq!(learned(&[render]).map(|endpoint| endpoint.turning.is_some()), Some(true));
}
