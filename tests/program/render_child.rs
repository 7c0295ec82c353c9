//! Render children with scripts that try to stay, to grow or to escape: each costs only its page, the next page is served, and the
//! parent sees nothing but an error.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use gleaner_render::children::{Bounds, ChildError, Children, Host};
use gleaner_render::wire::protocol::{self, ToCrawl};
use gleaner_render::wire::{Answer, Asker, Outcome, Page, Request, Response, ScriptKind, Seeks};

mod hostile_scripts;

use hostile_scripts::End;

fn children(bounds: Bounds) -> Children {
    // A release binary, if one is to be tested.
    let program = std::env::var("GLEANER_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_gleaner").to_owned());
    Children::new(program.into(), vec!["__render".into()], bounds)
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
async fn a_page_that_is_read_for_long_and_asks_for_nothing_is_not_taken_for_one_without_end() {
    let rows = |steps: u32| {
        format!("<p id=out></p><ul id=list></ul><script>
            const work = () => {{ let n = 0; for (let i = 0; i < {steps}; i++) n += i % 7; return n }};
            for (let n = 0; n < 200; n++) {{ const row = document.createElement('li'); row.textContent = 'Title number ' + n; row.onclick = () => {{ work(); out.innerHTML = `<a href=/t/${{n}}>x</a>` }}; list.append(row) }}</script>")
    };
    let read = async |steps, silence| {
        let mut page = Page::at("https://example.org/list", 1_700_000_000_000).with_markup(&rows(steps));
        page.seeks = Seeks::ALL;
        let children = children(Bounds { children: 1, silence, ..Bounds::default() });
        let began = tokio::time::Instant::now();
        let outcome = children.run(&page, &no_net).await?;
        let links: usize = outcome.states.iter().map(|state| state.links.len()).sum();
        assert_eq!((links, outcome.cut), (200, None));
        Ok::<_, ChildError>(began.elapsed())
    };
    // How long a page takes is the machine's business: the first reading measures it, and the second may be silent for a quarter of that.
    // A child that says nothing fails however long the page is; one that a busy machine stops for a moment does not fail on a longer page.
    let mut ended = Vec::new();
    for steps in [60_000, 180_000, 540_000] {
        let took = read(steps, Bounds::default().silence).await.unwrap();
        match read(steps, took / 4).await {
            Ok(_) => return,
            Err(error) => ended.push((took, error)),
        }
    }
    panic!("{ended:?}");
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
                // Larger than a pipe, so that writing and reading must alternate.
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
    let bounds = Bounds { children: 1, wall: Duration::from_secs(5), ..Bounds::default() };
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
    // It may have died while clearing its page, and that is known before it gets another.
    let lost = run(&children, "2").await;
    assert!(
        lost.as_ref().map_or_else(|error| matches!(error, ChildError::Died(_)), |outcome| outcome.value == "2"),
        "{lost:?}"
    );
    assert_eq!(run(&children, "40 + 2").await.unwrap().value, "42");
}

#[tokio::test]
async fn a_childs_processor_time_has_an_end_that_nobody_in_it_can_move() {
    let children = children(Bounds { children: 1, ..Bounds::default() });
    run(&children, "1").await.unwrap();
    let of = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", children.idle_ids()[0])).unwrap();
    let limits = of("limits");
    let cpu: Vec<&str> =
        limits.lines().find(|line| line.starts_with("Max cpu time")).unwrap().split_whitespace().skip(3).collect();
    let (soft, hard): (u64, u64) = (cpu[0].parse().unwrap(), cpu[1].parse().unwrap());
    assert!(soft <= gleaner_render::limits::RENDER_CPU_SECONDS_MAX + 5, "{cpu:?}");
    assert_eq!(hard, gleaner_render::limits::RENDER_CHILD_CPU_SECONDS_MAX);
    let status = of("status");
    for set in ["CapEff:", "CapPrm:", "CapInh:"] {
        let line = status.lines().find(|line| line.starts_with(set)).unwrap();
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
}

#[tokio::test]
async fn a_program_that_is_no_child_is_an_error() {
    let children =
        Children::new("/bin/echo".into(), vec!["no frames at all, but enough bytes".into()], Bounds::default());
    assert!(run(&children, "1").await.is_err());
    let missing = Children::new("/nonexistent/gleaner".into(), vec![], Bounds::default());
    assert!(matches!(run(&missing, "1").await, Err(ChildError::Spawn(_))));
}

#[tokio::test]
async fn answers_that_a_child_does_not_take_do_not_pile_up() {
    let children = children(Bounds { children: 1, ..Bounds::default() });
    let mut asked = page("for (let i = 0; i < 450; i++) fetch('/big?' + i); /(a+)+b/.test('a'.repeat(40) + 'c')");
    asked.cpu_seconds = 1;
    let handed = AtomicU64::new(0);
    let count = &handed;
    let ended = children
        .run(&asked, &|request: Request| async move {
            count.fetch_add(1, Ordering::Relaxed);
            let body = vec![b'x'; gleaner_render::limits::RENDER_BODY_BYTES_MAX];
            Ok(Response { url: request.url, status: 200, body, ..Response::default() })
        })
        .await;
    assert!(matches!(ended, Err(ChildError::Died(_))), "{ended:?}");
    let handed = handed.into_inner();
    assert!(
        handed <= gleaner_render::limits::RENDER_REQUESTS_AT_ONCE_MAX as u64,
        "{handed} answers for a child that took none"
    );
}

#[tokio::test]
async fn more_requests_and_answers_than_pipes_hold_all_come_through() {
    let children = children(Bounds { children: 1, ..Bounds::default() });
    let script = "let n = 0, bytes = 0; const long = 'q'.repeat(900), body = 'p'.repeat(100000);
        for (let i = 0; i < 300; i++) {
            document.cookie = 'c' + i % 9 + '=' + i;
            fetch('/data?' + i + long, i % 3 ? {} : { method: 'POST', body }).then(r => r.text())
                .then(t => { bytes += t.length; if (++n == 300) console.log(n, bytes) })
        }";
    let outcome = children
        .run(&page(script), &|request: Request| async move {
            assert!(request.body.is_empty() || request.body.len() == 100_000);
            Ok(Response { url: request.url, status: 200, body: vec![b'x'; 70_000], ..Response::default() })
        })
        .await
        .unwrap();
    assert_eq!(outcome.console.last().map(|line| line.text.as_str()), Some("300 21000000"), "{outcome:?}");
}

#[tokio::test]
async fn requests_that_no_page_needs_are_refused_in_the_child_and_cost_nothing() {
    let children = children(Bounds { children: 1, ..Bounds::default() });
    let script = "const h = {}; for (let i = 0; i < 190; i++) h['x-' + i] = 'v'.repeat(2000);
        let told = [];
        fetch('/long?' + 'q'.repeat(100000)).catch(e => told.push(e.name))
            .then(() => fetch('/headers', { headers: h })).catch(e => told.push(e.name))
            .then(() => fetch('/ok')).then(r => r.text()).then(t => console.log(told.join(), t));
        for (let i = 0; i < 5000; i++) document.cookie = 'a' + i % 3 + '=' + i;";
    let asked = AtomicU64::new(0);
    let count = &asked;
    let outcome = children
        .run(&page(script), &|request: Request| async move {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(Response { url: request.url, status: 200, body: b"ok".to_vec(), ..Response::default() })
        })
        .await
        .unwrap();
    assert_eq!(outcome.console.last().map(|line| line.text.as_str()), Some("TypeError,TypeError ok"), "{outcome:?}");
    assert_eq!((asked.into_inner(), children.started()), (1, 1));
}

/// A compromised child that sends these bytes, whatever it receives, and nothing after them.
async fn taken_over(said: &[u8]) -> (Result<Outcome, ChildError>, u64) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, said).unwrap();
    let script = format!("cat {}; exec sleep 60", file.path().display());
    let children = Children::new("/bin/sh".into(), vec!["-c".into(), script.into()], Bounds::default());
    let asked = AtomicU64::new(0);
    let count = &asked;
    let ended = children
        .run(&page("1"), &|_| async {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::pending::<()>().await;
            Err(String::new())
        })
        .await;
    (ended, asked.into_inner())
}

fn said(frames: &[(ToCrawl, &[u8])]) -> Vec<u8> {
    let frames = frames.iter().map(|(head, body)| protocol::frame(head, body).unwrap());
    frames.collect::<Vec<_>>().concat()
}

fn request(id: u32, headers: usize) -> ToCrawl {
    let headers = (0..headers).map(|number| (format!("x-{number}"), String::new())).collect();
    let (method, url) = ("GET".to_owned(), "https://example.org/x".to_owned());
    ToCrawl::Request {
        id,
        request: Request { asker: Asker::Fetch, method, url, headers, credentials: true, body: Vec::new() },
    }
}

#[tokio::test]
async fn a_child_that_says_more_than_a_page_can_is_ended() {
    let hello = || (ToCrawl::Hello { confined: true }, b"".as_slice());
    let cookie = || (ToCrawl::Cookie { text: "a=b".to_owned() }, b"".as_slice());
    let window = gleaner_render::limits::RENDER_REQUESTS_AT_ONCE_MAX as u64;
    let many: Vec<_> = std::iter::once(hello()).chain((0..40).map(|id| (request(id, 1), b"".as_slice()))).collect();
    let cookies: Vec<_> = std::iter::once(hello()).chain((0..20_000).map(|_| cookie())).collect();
    let is_turn = |ended: &Result<Outcome, ChildError>| matches!(ended, Err(ChildError::Turn));
    let is_frame = |ended: &Result<Outcome, ChildError>| matches!(ended, Err(ChildError::Frame(_)));
    for (what, said, by_turn, asked_max) in [
        ("a request before it has said how it is confined", said(&[(request(1, 1), b"")]), true, 0),
        ("that again", said(&[hello(), hello()]), true, 0),
        ("forty requests at a time", said(&many), true, window),
        ("cookies without end", said(&cookies), true, 0),
        (
            "a page that is cleared away and was never done",
            said(&[hello(), (ToCrawl::Cleared { last: false }, b"")]),
            true,
            0,
        ),
        ("40,000 headers", said(&[hello(), (request(1, 40_000), b"")]), false, 0),
        ("a body beyond any", said(&[hello(), (request(1, 1), &vec![0; (8 << 20) + 1])]), false, 0),
        (
            "a head of 48 MB, of which it sends the begin",
            {
                let head = [47_000_000_u32.to_le_bytes(), 0_u32.to_le_bytes()].concat();
                [said(&[hello()]), head, b"{\"request\":{\"id\":1".to_vec()].concat()
            },
            false,
            0,
        ),
    ] {
        let (ended, asked) = taken_over(&said).await;
        assert!(if by_turn { is_turn(&ended) } else { is_frame(&ended) }, "{what}: {ended:?}");
        assert!(asked <= asked_max, "{what}: {asked} requests were asked");
    }
}

#[tokio::test]
async fn no_page_is_run_in_a_child_that_the_kernel_does_not_confine() {
    let unconfined = said(&[(ToCrawl::Hello { confined: false }, b"".as_slice()), (request(1, 1), b"")]);
    let (ended, asked) = taken_over(&unconfined).await;
    assert!(matches!(ended, Err(ChildError::Unconfined)) && asked == 0, "{ended:?}");
    // A kernel without seccomp, made by strace: the calls that set the filter fail.
    let page = b"<title>before</title><script>document.title = 'after'</script>";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("page.html"), page).unwrap();
    let title = |config: &str| {
        std::fs::write(folder.path().join("gleaner.toml"), config).unwrap();
        let inject = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=prctl", "-e", "inject=prctl:error=EINVAL"];
        let mut strace = std::process::Command::new("strace");
        strace.args(inject).arg(env!("CARGO_BIN_EXE_gleaner"));
        let ran = strace.args(["render", "page.html", "--html"]).current_dir(folder.path()).output();
        let ran = ran.expect("strace runs (Debian package strace; scripts/test installs it)");
        format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
    };
    let refused = title("");
    assert!(refused.contains("the kernel cannot confine the process of scripts"), "{refused}");
    let run = title("[render]\nrequire_confinement = false\n");
    assert!(run.contains("<title>after</title>"), "{run}");
}

/// The page owner; requests get no response, and those for `/never` never complete.
struct Of(&'static str);

impl Host for Of {
    fn site(&self) -> &str {
        self.0
    }

    async fn answer(&self, request: Request) -> Answer {
        if request.url.ends_with("/never") {
            std::future::pending::<()>().await;
        }
        Err("refused".to_owned())
    }
}

#[tokio::test]
async fn no_child_runs_pages_of_two_sites() {
    let children = children(Bounds { children: 2, per_site: 2, ..Bounds::default() });
    let mut ran_by = Vec::new();
    for site in ["a", "b", "a", "c", "a", "b"] {
        children.run(&page("1"), &Of(site)).await.unwrap();
        // The child that has just run it is last in the queue.
        let ids = children.idle_ids();
        assert!(ids.len() <= 2, "{ids:?}");
        ran_by.push((site, *ids.last().unwrap()));
    }
    for (site, id) in &ran_by {
        assert!(ran_by.iter().all(|(other, by)| by != id || other == site), "{ran_by:?}");
    }
    assert_eq!(children.started(), 4, "{ran_by:?}: of a site that comes back soon it is the same");
}

#[tokio::test]
async fn pages_of_a_slow_site_leave_room_for_those_of_others() {
    let children = children(Bounds::default());
    let slow = page("fetch('/never')");
    let slow_pages: Vec<_> = (0..4).map(|_| children.run(&slow, &Of("slow"))).collect();
    let quick = async {
        for site in ["b", "c", "b"] {
            assert_eq!(children.run(&page("40 + 2"), &Of(site)).await.unwrap().value, "42");
        }
    };
    tokio::select! {
        ended = futures_util::future::select_all(slow_pages.into_iter().map(Box::pin)) => panic!("{:?}", ended.0),
        () = quick => {}
    }
}

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

/// A network of odd responses for requesting pages.
async fn odd_web(request: Request) -> Answer {
    let (path, query) =
        request.url.trim_start_matches("https://example.org").split_once('?').unwrap_or((&request.url, ""));
    let path = path.trim_start_matches("https://example.org");
    let body = match path {
        "/ok" => "ok".to_owned(),
        "/ok.js" => "1".to_owned(),
        "/many.js" => "export default 1".to_owned(),
        "/cycle-a.js" => "import { b } from './cycle-b.js'; export let a = 1; b".to_owned(),
        "/cycle-b.js" => "import { a } from './cycle-a.js'; export let b = 2; setTimeout(() => a)".to_owned(),
        "/chain.js" => format!("import './chain.js?{}'", query.parse::<u64>().unwrap_or(0) + 1),
        "/huge" => "x".repeat(gleaner_render::limits::RENDER_BODY_BYTES_MAX),
        "/slow" => {
            tokio::time::sleep(Duration::from_millis(300)).await;
            "document.title = 'late'".to_owned()
        }
        "/redirects" => return Err("too many redirects".to_owned()),
        _ => return Err("refused".to_owned()),
    };
    let kind = if path.ends_with(".js") { "text/javascript" } else { "text/plain" };
    let headers = vec![("content-type".to_owned(), kind.to_owned())];
    Ok(Response { url: request.url, status: 200, headers, body: body.into_bytes(), ..Response::default() })
}

/// Small limits for a hostile page, so that all of them end soon.
fn hostile_page(hostile: &hostile_scripts::Hostile) -> Page {
    let mut asked = match hostile.is_markup() {
        true => Page::at("https://example.org/list", 1_700_000_000_000).with_markup(&hostile.text),
        false => page(&hostile.text),
    };
    (asked.instructions, asked.cpu_seconds, asked.seeks.tries) = (3_000_000, 1, 4);
    asked
}

#[tokio::test]
async fn hostile_pages_end_as_declared_and_cost_themselves_and_nothing_else() {
    let all = hostile_scripts::all();
    assert!(all.len() >= 200, "{} hostile pages", all.len());
    // Under load wall-clock time means little: the kernel counts CPU time.
    let bounds =
        Bounds { children: 2, wall: Duration::from_secs(90), silence: Duration::from_secs(60), ..Bounds::default() };
    let children = children(bounds);
    assert_eq!(run(&children, "40 + 2").await.unwrap().value, "42");
    let before = resident();
    let wanted = std::env::var("GLEANER_HOSTILE").unwrap_or_default();
    // Every one of them: GLEANER_HOSTILE_STEP=1.
    let step = std::env::var("GLEANER_HOSTILE_STEP").map_or(16, |step| step.parse().unwrap());
    let (mut wrong, mut by_speed, mut by_itself, mut lost) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let chosen: Vec<_> = all.iter().step_by(step).filter(|hostile| hostile.text.contains(&wanted)).collect();
    let mut ends = futures_util::stream::iter(&chosen)
        .map(|hostile| {
            let children = &children;
            async move {
                let began = tokio::time::Instant::now();
                let end = children.run(&hostile_page(hostile), &odd_web).await;
                let took = began.elapsed();
                (hostile, end, took, run(children, "40 + 2").await)
            }
        })
        .buffer_unordered(2);
    while let Some((hostile, end, took, next)) = ends.next().await {
        match &end {
            Ok(_) | Err(ChildError::Died(_) | ChildError::Silent(_) | ChildError::TimedOut(_)) => {}
            Err(other) => panic!("{}\n    {other}", hostile.text),
        }
        let next = next.as_ref().map(|outcome| outcome.value.as_str());
        assert!(matches!(next, Ok("42")), "after {}\n    {next:?}", hostile.text);
        let ended = End::of(end.as_ref().ok());
        lost += u64::from(ended == End::Lost);
        let told = end.as_ref().map_or_else(ToString::to_string, |outcome| format!("{:?}", outcome.spent));
        println!("{ended:?} {:.1} s {told} {}", took.as_secs_f64(), hostile.text);
        if !hostile.ends.contains(&ended) {
            // The second of CPU time was too short on a slow machine, or long enough on a fast one: that a page ends by itself, or by
            // another budget, instead of being lost is no fault.
            let list = match hostile.ends == [End::Lost] {
                true => &mut by_itself,
                false if told.contains("signal 24") => &mut by_speed,
                false => &mut wrong,
            };
            list.push(format!("{ended:?} ({told}), not {:?}: {}", hostile.ends, hostile.text));
        }
    }
    println!("{lost} of {} pages lost, {} children started", chosen.len(), children.started());
    println!("ended by themselves on this machine: {}\n{}", by_itself.len(), by_itself.join("\n"));
    assert!(wrong.is_empty(), "ended otherwise than declared:\n{}", wrong.join("\n"));
    // A budget that is no longer enforced shows in a hundred pages, a machine's speed in a few.
    assert!(by_speed.len() <= 3 + chosen.len() / 20, "too many end by the clock:\n{}", by_speed.join("\n"));
    // A child without memory after a page is replaced as well.
    let replaced = chosen.len() as u64 / 20;
    assert!(children.started() <= 2 + lost + 2 + replaced, "only pages that are lost take their child along");
    // Freed memory that the allocator keeps for the next body is no growth.
    // SAFETY: it takes a number, and touches free memory alone.
    unsafe { libc::malloc_trim(0) };
    let after = resident();
    println!("the parent held {before} bytes before and {after} after");
    assert!(after < before + (64 << 20), "the parent grew from {before} to {after}");
}
