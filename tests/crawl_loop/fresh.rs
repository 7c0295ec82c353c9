//! What is looked at again and is as it was is not read again; what is new on it never waits.

use std::sync::Arc;
use std::time::Duration;

use gleaner::crawl::RunOptions;
use gleaner::crawl::fresh::changed::{model, note_name};
use gleaner::crawldb::{CrawlDb as _, Reader};
use gleaner::rules::Class;

use super::web::{Answer, FAST, Machine, Web, page, torrent};

/// What differs from look to look without saying anything.
fn noise(look: u64) -> String {
    format!(
        "<div id=foot><p class=online>{} members online</p><p class=load>made in 0.{:03} s</p><p><a href=/ads/{look}>buy</a></p></div>",
        20 + look * 7 % 31,
        100 + look * 37 % 899
    )
}

fn rows(numbers: impl Iterator<Item = u64>) -> String {
    let row = |n| format!("<tr><td><a href=/detail/{n}>Release number {n}</a></td><td>{n}.5 MB</td></tr>");
    format!("<table id=list>{}</table>", numbers.map(row).collect::<String>())
}

fn front(look: u64, head: &str, body: &str) -> Answer {
    page(&format!(
        "<html><head><title>All releases</title>{head}</head><body><h1>Releases</h1>{body}{}</body></html>",
        noise(look)
    ))
}

/// Looks at the start page as often as it has answers.
async fn looks(machine: &Machine, web: &Arc<Web>, rules: &str, times: usize) {
    for _ in 0..times {
        machine.crawl(web, rules, RunOptions::default()).await;
        tokio::time::sleep(Duration::from_secs(601)).await;
    }
}

fn every_ten_minutes() -> String {
    format!("revisit_minutes = 10\n{FAST}")
}

#[tokio::test(start_paused = true)]
async fn a_page_of_which_only_its_noise_changed_is_not_read_again() {
    let answers: Vec<Answer> = (0..30).map(|look| front(look, "", &rows(1..20))).collect();
    let last = front(30, "", &rows(1..21));
    let web = Web::new(Duration::from_millis(10)).at("/", &[answers.clone(), vec![last]].concat());
    let web = Arc::new(
        web.otherwise(|path| path.starts_with("/detail/").then(|| page("<a href=/dl/1>x</a>")))
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    looks(&machine, &web, &every_ten_minutes(), 30).await;
    assert_eq!(web.asked("/"), 30);
    let skipped = machine.outcomes().await.get("not_modified").copied().unwrap_or_default();
    assert!(skipped >= 20, "{skipped} of 29 looks at an unchanged page were not read");
    assert_eq!(web.asked("/detail/20"), 0);
    looks(&machine, &web, &every_ten_minutes(), 1).await;
    assert_eq!(web.asked("/detail/20"), 1, "a new row among noise that is known");
    let note = machine.db.note("sim", &note_name(Class::Index)).await.unwrap().unwrap();
    assert!(model(Class::Index, Some(&note)).unwrap().has_learned(), "the model is kept over restarts");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_be_read_is_learned_anew() {
    let answers: Vec<Answer> = (0..12).map(|look| front(look, "", &rows(1..20))).collect();
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &answers));
    let machine = Machine::new();
    machine.db.put_note("sim", &note_name(Class::Index), b"{\"version\":".to_vec()).await.unwrap();
    looks(&machine, &web, &every_ten_minutes(), 12).await;
    let skipped = machine.outcomes().await.get("not_modified").copied().unwrap_or_default();
    assert!(skipped >= 4, "{skipped} of 11");
}

/// Every way in which a page leads on.
fn lead(kind: u64, n: u64) -> (String, String) {
    let head = |text: String| (text, String::new());
    let body = |text: String| (String::new(), text);
    match kind {
        0 => head(format!("<link rel=next href=/list/{n}>")),
        1 => head(format!("<meta http-equiv=refresh content='900; url=/list/{n}'>")),
        2 => body(format!("<div id=foot><p class=online><a href=/list/{n}>{n} members</a></p></div>")),
        3 => body(format!("<iframe src=/list/{n}></iframe>")),
        4 => body(format!("<div id=hot><a href=/list/{n}>the best of today</a></div>")),
        5 => body(format!("<form><textarea>thunder://{}</textarea></form>", thunder(n))),
        6 => body(format!("<p class=load><script>var u='thunder:\\/\\/{}';</script></p>", thunder(n))),
        7 => body(format!("<svg><a href=/list/{n}></a></svg>")),
        _ => body(rows([n].into_iter())),
    }
}

fn thunder(n: u64) -> String {
    data_encoding::BASE64.encode(format!("AAhttp://sim.example/list/{n}ZZ").as_bytes())
}

#[tokio::test(start_paused = true)]
async fn a_page_with_a_new_link_is_never_skipped_whatever_its_noise_and_wherever_the_link() {
    for seed in 1..=6_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let (mut answers, mut expected) = (Vec::new(), Vec::new());
        let (mut head, mut body) = (String::new(), String::new());
        for look in 0..60 {
            if next() % 4 == 0 || look == 0 {
                // One place whose link is another one each time trains the model to take it for noise.
                let kind = if next() % 2 == 0 { 4 } else { next() % 9 };
                let n = 1_000 + look;
                (head, body) = lead(kind, n);
                expected.push((look, if kind == 8 { format!("/detail/{n}") } else { format!("/list/{n}") }, kind));
            }
            answers.push(front(look, &head, &format!("{}{body}", rows(1..8))));
        }
        let web = Web::new(Duration::from_millis(5)).at("/", &answers);
        let web = Arc::new(web.otherwise(|path| path.starts_with("/list/").then(|| page("<p>nothing</p>"))));
        let machine = Machine::new();
        let mut expected = expected.into_iter().peekable();
        for look in 0..60 {
            looks(&machine, &web, &every_ten_minutes(), 1).await;
            while let Some((_, path, kind)) = expected.next_if(|(at, ..)| *at == look) {
                assert!(web.asked(&path) > 0, "seed {seed}, look {look}: {path} (a link of kind {kind}) was skipped");
            }
        }
    }
}
