//! One pool of render children over many pages, some of which kill their child: the crawl's own process does not grow, children are few,
//! none is left over, and no file stays open. A test with its own process, as it counts the process's resources.

use futures_util::StreamExt as _;
use gleaner_render::children::{Bounds, ChildError, Children};
use gleaner_render::wire::{Answer, Page, Request, Response, ScriptKind};

/// Resident memory of a process in bytes, by its id or `self`.
fn resident(process: &str) -> u64 {
    let pages = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

/// Child processes of this process that were not reaped: ids and states.
fn own_processes() -> Vec<(String, String)> {
    let own = std::process::id().to_string();
    let stat = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).ok();
    let of = |stat: String| {
        let (id, rest) = (stat.split(' ').next()?.to_owned(), stat.rsplit(") ").next()?.to_owned());
        let mut words = rest.split(' ');
        let (state, parent) = (words.next()?.to_owned(), words.next()?);
        (parent == own).then_some((id, state))
    };
    std::fs::read_dir("/proc").unwrap().filter_map(|entry| stat(entry.unwrap())).filter_map(of).collect()
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

async fn web(request: Request) -> Answer {
    Ok(Response { url: request.url, status: 200, body: b"ok".to_vec(), ..Response::default() })
}

/// An ordinary page: a list that a script fills from an API, with a timer and a listener; every fiftieth kills
/// its child.
fn page_number(number: usize) -> Page {
    if number % 50 == 49 {
        let script =
            ["'x'.repeat(2 ** 30)", "let a = []; for (;;) a.push('x'.repeat(1 << 24) + a.length)"][number / 50 % 2];
        let mut page = Page::at("https://example.org/list", 1_700_000_000_000);
        page.add_script(ScriptKind::Classic, "https://example.org/list.js", script);
        page.cpu_seconds = 2;
        return page;
    }
    let markup = format!(
        "<!doctype html><title>Page {number}</title><ul id=list></ul><p>{}</p><script>
        addEventListener('click', () => document.title += '!');
        fetch('/ok').then(r => r.text()).then(text => {{
            for (let i = 0; i < 40; i++) {{
                const a = document.createElement('a'); a.href = '/d/{number}-' + i; a.textContent = text + i;
                document.getElementById('list').appendChild(document.createElement('li')).append(a);
            }}
            setTimeout(() => document.body.click(), 100);
        }});</script>",
        "lorem ipsum ".repeat(50)
    );
    Page::at("https://example.org/list", 1_700_000_000_000).with_markup(&markup)
}

/// `GLEANER_RENDER_PAGES=10000` for the full run, `GLEANER_BIN` for a release binary; docs/benchmarks.md has its figures.
#[tokio::test]
async fn many_pages_over_one_pool_leave_nothing_behind() {
    // It counts what this process has: other tests may not share it, as they do without nextest.
    const ALONE: &str = "GLEANER_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "render_pool::many_pages_over_one_pool_leave_nothing_behind", "--nocapture"]);
        let ended = alone.env(ALONE, "1").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        print!("{out}");
        assert!(ended.status.success() && out.contains("1 passed"), "{out}{err}");
        return;
    }
    let pages: usize = std::env::var("GLEANER_RENDER_PAGES").map_or(100, |count| count.parse().unwrap());
    let bounds = Bounds { children: 2, pages: 100, ..Bounds::default() };
    let program = std::env::var("GLEANER_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_gleaner").to_owned());
    let children = Children::new(program.into(), vec!["__render".into()], bounds);
    let (mut lost, mut most_in_child) = (0, 0);
    let mut marks = Vec::new();
    let tenth = (pages / 10).max(1);
    for from in (0..pages).step_by(tenth) {
        let outcomes: Vec<_> = futures_util::stream::iter(from..(from + tenth).min(pages))
            .map(|number| {
                let (page, children) = (page_number(number), &children);
                async move { (number, children.run(&page, &web).await) }
            })
            .buffer_unordered(4)
            .collect()
            .await;
        for (number, outcome) in outcomes {
            match outcome {
                Ok(outcome) if number % 50 != 49 => {
                    assert_eq!(outcome.states[0].count, 40, "page {number}: {outcome:?}");
                }
                Err(ChildError::Died(_)) if number % 50 == 49 => lost += 1,
                other => panic!("page {number}: {other:?}"),
            }
        }
        let processes = own_processes();
        assert!(processes.len() <= 2, "{processes:?}");
        assert!(processes.iter().all(|(_, state)| state != "Z"), "{processes:?}");
        most_in_child = processes.iter().map(|(id, _)| resident(id)).max().unwrap_or(0).max(most_in_child);
        // Each idle child has two pipes.
        marks.push((from + tenth, resident("self") >> 10, open_files() - 2 * processes.len()));
    }
    let started = children.started();
    println!("pages, KiB of this process, its open files beside the pipes of children: {marks:?}");
    println!("{lost} pages lost, {started} children started, {} KiB in the largest", most_in_child >> 10);
    let (first, last) = (marks[0], marks[marks.len() - 1]);
    assert!(last.1 < first.1 + 4_096, "this process grew by {} KiB", last.1 - first.1);
    assert_eq!(last.2, first.2, "open files");
    assert!(most_in_child < gleaner_render::limits::RENDER_MEMORY_BYTES_MAX, "{most_in_child}");
    // Each child runs a hundred pages, except those that were killed.
    assert!(started <= lost + (pages as u64).div_ceil(100) + 2, "{started} children for {pages} pages");
    drop(children);
    assert!(own_processes().is_empty(), "{:?}", own_processes());
}
