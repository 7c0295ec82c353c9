//! Render children against scripts that want to stay, to grow or to get out: each costs its page, the next page is served, and the
//! parent never notices more than an error.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use gleaner::render::children::{Bounds, ChildError, Children};
use gleaner::render::engine::net::{Answer, Request, Response};
use gleaner::render::protocol::{Outcome, Page, ScriptKind};

mod hostile_scripts;

fn children(bounds: Bounds) -> Children {
    Children::new(env!("CARGO_BIN_EXE_gleaner").into(), vec!["__render".into()], bounds)
}

fn page(script: &str) -> Page {
    let mut page = Page::at("https://example.org/list", 1_700_000_000_000);
    page.add_script(ScriptKind::Classic, "https://example.org/list.js", script);
    page
}

async fn no_net(_: Request) -> Answer {
    Err("refused".to_owned())
}

async fn run(children: &Children, script: &str) -> Result<Outcome, ChildError> {
    children.run(&page(script), &no_net).await
}

#[tokio::test]
async fn a_child_is_kept_over_pages_and_each_page_begins_anew() {
    let children = children(Bounds { children: 1, ..Bounds::default() });
    for _ in 0..5 {
        let outcome =
            run(&children, "var kept = (window.kept || 0) + 1; console.log('said', kept); String(kept)").await.unwrap();
        assert_eq!((outcome.value.as_str(), outcome.errors.len()), ("1", 0), "{outcome:?}");
        assert_eq!(outcome.console[0].text, "said 1");
    }
    assert_eq!(children.started(), 1);
}

#[tokio::test]
async fn a_childs_life_is_bounded_in_pages() {
    let children = children(Bounds { children: 1, pages: 2, ..Bounds::default() });
    for _ in 0..5 {
        assert_eq!(run(&children, "1 + 1").await.unwrap().value, "2");
    }
    assert_eq!(children.started(), 3);
}

#[tokio::test]
async fn errors_come_back_with_their_places() {
    let children = children(Bounds::default());
    let outcome = run(&children, "var a = 1;\nsetTimeout(function late() {\n  a.b.c }, 5)").await.unwrap();
    let error = &outcome.errors[0];
    assert_eq!((error.source.as_str(), error.line), ("https://example.org/list.js", 3), "{error:?}");
}

#[tokio::test]
async fn requests_of_scripts_are_answered_by_the_parent() {
    let children = children(Bounds::default());
    let asked = AtomicU64::new(0);
    let count = &asked;
    let outcome = children
        .run(
            &page("var got = ''; fetch('/data?x=1').then(r => r.text()).then(t => { got = t; console.log(t.length) }); fetch('https://closed.example/').catch(e => console.log(e.name))"),
            &|request: Request| async move {
                count.fetch_add(1, Ordering::Relaxed);
                if request.url != "https://example.org/data?x=1" {
                    return Err("refused".to_owned());
                }
                // Larger than a pipe, so that writing and reading must go on side by side.
                Ok(Response { url: request.url, status: 200, body: vec![b'x'; 1 << 20], ..Response::default() })
            },
        )
        .await
        .unwrap();
    let mut lines: Vec<_> = outcome.console.iter().map(|line| line.text.as_str()).collect();
    lines.sort_unstable();
    assert_eq!((lines, asked.into_inner()), (vec!["1048576", "TypeError"], 2));
}

#[tokio::test]
async fn a_page_that_is_never_answered_ends_by_the_wall_clock_and_costs_itself_alone() {
    let bounds = Bounds { children: 1, wall: Duration::from_millis(1_500), ..Bounds::default() };
    let children = children(bounds);
    let waited = children
        .run(&page("fetch('/never')"), &|_| async {
            std::future::pending::<()>().await;
            Err(String::new())
        })
        .await;
    assert!(matches!(waited, Err(ChildError::TimedOut(_))), "{waited:?}");
    assert_eq!(run(&children, "40 + 2").await.unwrap().value, "42");
    assert_eq!(children.started(), 2);
}

#[tokio::test]
async fn a_child_that_is_killed_from_outside_costs_one_page_at_most() {
    let children = children(Bounds { children: 1, ..Bounds::default() });
    run(&children, "1").await.unwrap();
    let id = i32::try_from(children.idle_ids()[0]).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), rustix::process::Signal::KILL).unwrap();
    let lost = run(&children, "2").await;
    assert!(matches!(lost, Err(ChildError::Died(_))), "{lost:?}");
    assert_eq!(run(&children, "40 + 2").await.unwrap().value, "42");
}

#[tokio::test]
async fn a_program_that_is_no_child_is_an_error() {
    let children =
        Children::new("/bin/echo".into(), vec!["no frames at all, but enough bytes".into()], Bounds::default());
    assert!(run(&children, "1").await.is_err());
    let missing = Children::new("/nonexistent/gleaner".into(), vec![], Bounds::default());
    assert!(matches!(run(&missing, "1").await, Err(ChildError::Spawn(_))));
}

/// Bytes that this process holds in memory.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

#[tokio::test]
async fn hostile_scripts_cost_their_page_and_nothing_else() {
    assert!(hostile_scripts::SCRIPTS.len() >= 60);
    let bounds =
        Bounds { children: 2, wall: Duration::from_secs(40), silence: Duration::from_secs(8), ..Bounds::default() };
    let children = children(bounds);
    assert_eq!(run(&children, "40 + 2").await.unwrap().value, "42");
    let before = resident();
    let ends: Vec<_> = futures_util::stream::iter(hostile_scripts::SCRIPTS)
        .map(|script| {
            let children = &children;
            async move {
                let mut hostile = page(script);
                hostile.instructions = 20_000_000;
                let end = children.run(&hostile, &no_net).await;
                let next = run(children, "40 + 2").await;
                (script, end, next)
            }
        })
        .buffer_unordered(2)
        .collect()
        .await;
    let mut lost = 0;
    for (script, end, next) in &ends {
        match end {
            Ok(_) => {}
            Err(ChildError::Died(_) | ChildError::Silent(_) | ChildError::TimedOut(_)) => lost += 1,
            Err(other) => panic!("{script}\n    {other}"),
        }
        let next = next.as_ref().map(|outcome| outcome.value.as_str());
        assert!(matches!(next, Ok("42")), "after {script}\n    {next:?}");
        println!(
            "{} {script}",
            match end {
                Ok(outcome) => format!("{:?} {:?}", outcome.end, outcome.spent),
                Err(error) => error.to_string(),
            }
        );
    }
    println!("{lost} of {} pages lost, {} children started", ends.len(), children.started());
    assert!(children.started() <= 2 + lost + 2, "only pages that are lost take their child along");
    assert!(resident() < before + (32 << 20), "the parent grew from {before} to {}", resident());
}
