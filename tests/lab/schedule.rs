//! The schedule as a whole: the paper's figure reproduced, the crawl's own schedule compared with all others on generated post
//! times, its behaviour per board, and the command. Real post times are in `tests/corpora`.

use std::io::BufReader;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use gleaner_crawl::schedule::adapt::Schedule;
use gleaner_crawl::schedule::{DAY_S, HOUR_S, Kind, Post};
use gleaner_lab::schedule::generate::Forum;
use gleaner_lab::schedule::simulate::Options;
use gleaner_lab::schedule::trace::Trace;

use super::lab;
use super::replay::{options, replay, to_era};

/// 2021-01-01.
const START: u64 = 1_609_459_200;

#[test]
fn the_papers_forum_gives_the_papers_figure_and_ours_is_below_it_for_every_count() {
    let trace = Forum { days: 31, ..Forum::of_the_paper() }.trace().unwrap();
    // Every one of them: GLEANER_SCHEDULE_STEP=1.
    let step = std::env::var("GLEANER_SCHEDULE_STEP").map_or(7, |step| step.parse().unwrap());
    for per_day in (4..=11).step_by(step) {
        let report = replay(&trace, &Options { midnight_looks: true, ..options(START, per_day) });
        let (bra, ours) = (to_era(&report, "BRA"), to_era(&report, "gleaner"));
        assert!(ours < bra && bra < 0.75, "{per_day} a day: BRA {bra:.3}, ours {ours:.3}");
        assert!(per_day != 4 || (bra - 0.58).abs() < 0.02, "the paper has -42 %: {bra:.3}");
    }
}

#[test]
fn without_a_look_at_midnight_that_nobody_counts_bra_is_above_era_and_ours_below_all() {
    for (forum, per_day) in [(Forum::of_the_paper(), 4), (Forum::default(), 11)] {
        let report = replay(&forum.trace().unwrap(), &options(START, per_day));
        let ours = to_era(&report, "gleaner");
        assert!(to_era(&report, "BRA") > 1.0);
        for name in ["ERA", "WRA", "LRA", "BRA"] {
            assert!(ours < 0.9 * to_era(&report, name), "{per_day} a day, {name}: {report:?}");
        }
    }
}

/// Times of commits, generated from a seed without the crawler's own generator: each board is a project of a few people, each of whom
/// works at certain hours on some days of the week, in sessions of several commits, and is away for weeks. Some projects have a robot
/// that commits every night. Commits have no numbers.
fn commits(seed: u64) -> Trace {
    let mut state = seed;
    let mut draw = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let mut rows = Vec::new();
    for board in 0..20_u64 {
        for person in 0..1 + board % 4 {
            let (begins, busy) = (6.0 + 12.0 * draw(), 0.1 + 0.5 * draw());
            let mut away_until = 0;
            for day in 0..31_u64 {
                if draw() < 0.03 {
                    away_until = day + 7 + (7.0 * draw()) as u64;
                }
                // 2021-01-01 was a Friday.
                let is_weekend = matches!(day % 7, 1 | 2);
                if day < away_until || draw() > busy * if is_weekend { 0.3 } else { 1.0 } {
                    continue;
                }
                let mut hour = begins + 4.0 * draw();
                while hour < 23.9 {
                    rows.push((
                        START + day * DAY_S + (hour * HOUR_S as f64) as u64,
                        board,
                        format!("{board}-{person}-{day}-{hour}"),
                    ));
                    if draw() < 0.25 {
                        break;
                    }
                    hour += 0.05 - 0.4 * (1.0 - draw()).ln();
                }
            }
        }
        if board % 5 == 0 {
            let nights =
                (0..31).map(|day| (START + day * DAY_S + 2 * HOUR_S + board, board, format!("{board}-robot-{day}")));
            rows.extend(nights);
        }
    }
    rows.sort();
    let mut text = String::from("board,thread,kind,unix_time\n");
    for (at, board, thread) in rows {
        text.push_str(&format!("b{board},{thread},new,{at}\n"));
    }
    Trace::read(BufReader::new(text.as_bytes())).unwrap()
}

#[test]
fn on_made_up_commit_times_ours_is_below_every_other_policy() {
    for seed in [5, 6, 7] {
        let trace = commits(seed);
        for per_day in [4, 8] {
            let report = replay(&trace, &options(START, per_day));
            let ours = to_era(&report, "gleaner");
            println!(
                "seed {seed}, {per_day} a day, {} boards: BRA {:.3}, optimum {:.3}, ours {ours:.3}",
                report.boards,
                to_era(&report, "BRA"),
                to_era(&report, "optimum")
            );
            for name in ["ERA", "WRA", "LRA", "BRA", "optimum"] {
                assert!(ours < to_era(&report, name), "seed {seed}, {per_day} a day, {name}: {report:?}");
            }
        }
    }
}

#[test]
fn of_boards_that_post_by_the_clock_ours_is_within_minutes_for_every_count() {
    // Ten boards with a nightly build, ± 90 s, with or without posts of people.
    for people in [false, true] {
        let mut state = 11_u64;
        let mut draw = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let mut text = String::from("board,thread,kind,unix_time\n");
        let mut rows = Vec::new();
        for board in 0..10_u64 {
            for day in 0..30 {
                let away = 90.0 * ((0..12).map(|_| draw()).sum::<f64>() - 6.0);
                let at = (START + day * DAY_S + (board * 2 + 3) * HOUR_S + 600).saturating_add_signed(away as i64);
                rows.push((at, board, format!("{board}-{day}")));
                if people && draw() < 0.9 {
                    let at = START + day * DAY_S + 8 * HOUR_S + (draw() * 12.0 * HOUR_S as f64) as u64;
                    rows.push((at, board, format!("{board}-{day}-p")));
                }
            }
        }
        rows.sort();
        for (at, board, thread) in rows {
            text.push_str(&format!("b{board},{thread},new,{at}\n"));
        }
        let trace = Trace::read(BufReader::new(text.as_bytes())).unwrap();
        for per_day in [1, 2, 4, 8] {
            let report = replay(&trace, &options(START, per_day));
            let ours = to_era(&report, "gleaner");
            println!(
                "{per_day} a day, people {people}: BRA {:.3}, optimum {:.3}, ours {ours:.3}",
                to_era(&report, "BRA"),
                to_era(&report, "optimum")
            );
            assert!(ours < if people { 0.95 } else { 0.07 }, "{per_day} a day: {report:?}");
            assert!(ours < to_era(&report, "BRA") + 0.04, "{per_day} a day: {report:?}");
        }
    }
}

#[test]
fn nothing_is_known_before_the_look_that_found_it() {
    // Later events change no earlier recheck.
    let trace = Forum { boards: 8, ..Forum::default() }.trace().unwrap();
    let cut = START + 26 * DAY_S;
    let mut other = trace.clone();
    for board in &mut other.boards {
        board.posts.retain(|post| post.at < cut);
        board.posts.extend((0..500).map(|number| Post { at: cut + number * 60, kind: Kind::New, number: None }));
    }
    let to_cut = Options { test_days: 6, ..options(START, 6) };
    assert_eq!(replay(&trace, &to_cut), replay(&other, &to_cut));
    assert_ne!(replay(&trace, &options(START, 6)), replay(&other, &options(START, 6)));
}

#[test]
fn numbers_tell_of_boards_that_nobody_looked_at() {
    let forum = Forum { boards: 20, ..Forum::default() }.trace().unwrap();
    for per_day in [4, 11] {
        let report = replay(&forum, &options(START, per_day));
        assert!(to_era(&report, "gleaner") < 0.95 * to_era(&report, "unnumbered"), "{report:?}");
    }
    // Replies have none.
    let replies = Forum { boards: 20, replies: 0.9, posts_per_day: 40.0, ..Forum::default() }.trace().unwrap();
    let report = replay(&replies, &options(START, 6));
    assert!(to_era(&report, "gleaner") < 1.02 * to_era(&report, "unnumbered"), "{report:?}");
    // Numbers that each board counts separately carry no information, and cost nothing.
    let mut own = forum;
    for (nth, board) in (0..).zip(&mut own.boards) {
        (1..).zip(&mut board.posts).for_each(|(number, post)| post.number = NonZeroU64::new(1_000 * nth + number));
    }
    let report = replay(&own, &options(START, 6));
    assert_eq!(report.policies["gleaner"], report.policies["unnumbered"]);
}

/// Runs a schedule over boards that post at given times; returns the rechecks as (second, board).
fn live(schedule: &mut Schedule, posts: &[Vec<u64>], from: u64, to: u64) -> Vec<(u64, usize)> {
    live_with(schedule, posts, |_| None, from, to)
}

/// The same for posts with numbers, in order of time.
fn live_with(
    schedule: &mut Schedule,
    posts: &[Vec<u64>],
    number: impl Fn(u64) -> Option<NonZeroU64>,
    from: u64,
    to: u64,
) -> Vec<(u64, usize)> {
    let mut seen: Vec<usize> = posts.iter().map(|posts| posts.partition_point(|at| *at <= from)).collect();
    let mut looks = Vec::new();
    while let Some(look) = schedule.next_look().filter(|look| look.at <= to as f64) {
        let (board, now) = (look.board as usize, look.at as u64);
        assert!(looks.last().is_none_or(|(before, _)| *before <= now), "time runs forwards");
        let news: Vec<Post> = posts[board][seen[board]..]
            .iter()
            .take_while(|at| **at <= now)
            .map(|at| Post { at: *at, kind: Kind::New, number: number(*at) })
            .collect();
        seen[board] += news.len();
        schedule.looked(look.board, now, &news);
        looks.push((now, board));
    }
    looks
}

/// Six boards that post in separate bursts, and the numbers of their posts, counted over all boards in order of time.
fn numbered_boards(burst_at: u64) -> (Vec<Vec<u64>>, impl Fn(u64) -> Option<NonZeroU64>) {
    let of = |board: u64| {
        let steady = (0..40 * 24).map(move |hour| START + hour * HOUR_S * (1 + board % 3) + board * 97);
        let burst = (0..60).map(move |post| burst_at + post * 61 + board * 7).filter(move |_| board == 5);
        let mut posts: Vec<u64> = steady.chain(burst).collect();
        posts.sort_unstable();
        posts
    };
    let posts: Vec<Vec<u64>> = (0..6).map(of).collect();
    let mut all: Vec<u64> = posts.iter().flatten().copied().collect();
    all.sort_unstable();
    (posts, move |at| NonZeroU64::new(1_000 + all.partition_point(|of| *of < at) as u64))
}

#[test]
fn numbers_tell_nothing_of_what_is_to_come() {
    let burst_at = START + 15 * DAY_S;
    let looks = |burst_at: u64| {
        let (posts, number) = numbered_boards(burst_at);
        let mut schedule = Schedule::new(30.0, START);
        for _ in &posts {
            schedule.add_board(1.0, START);
        }
        let looks = live_with(&mut schedule, &posts, number, START, START + 16 * DAY_S);
        assert!(schedule.goes_by_numbers());
        looks
    };
    let (with, without) = (looks(burst_at), looks(START + 39 * DAY_S));
    let before = |looks: &[(u64, usize)]| looks.iter().copied().filter(|(at, _)| *at <= burst_at).collect::<Vec<_>>();
    assert_eq!(before(&with), before(&without), "nothing is known of what is to come");
    assert_ne!(with, without, "and something of what has come");
}

#[test]
fn a_board_whose_look_failed_waits_whatever_numbers_tell() {
    let (posts, number) = numbered_boards(START + 15 * DAY_S);
    let mut schedule = Schedule::new(30.0, START);
    for _ in &posts {
        schedule.add_board(1.0, START);
    }
    let now = START + 14 * DAY_S;
    live_with(&mut schedule, &posts, &number, START, now);
    schedule.failed(5, now, 3 * HOUR_S);
    let news = Post { at: now + 50, kind: Kind::New, number: NonZeroU64::new(number(now + 50).unwrap().get() + 500) };
    schedule.looked(0, now + 60, &[news]);
    assert_eq!(schedule.due_at(5), Some(now + 3 * HOUR_S));
}

#[test]
fn a_schedule_from_the_first_hour_keeps_its_looks_and_notices_what_wakes_and_what_sleeps() {
    let end = START + 40 * DAY_S;
    let every = |seconds: u64, from: u64, to: u64| (from..to).step_by(seconds as usize).collect::<Vec<u64>>();
    // Busy, slow, one that falls silent, one that wakes, one without posts.
    let posts = vec![
        every(HOUR_S, START, end),
        every(DAY_S, START, end),
        every(HOUR_S, START, START + 20 * DAY_S),
        every(HOUR_S, START + 20 * DAY_S, end),
        Vec::new(),
    ];
    let mut schedule = Schedule::new(20.0, START);
    for _ in &posts {
        schedule.add_board(1.0, START);
    }
    let looks = live(&mut schedule, &posts, START, end);
    for days in 1..=40 {
        let until = START + days * DAY_S;
        let so_far = looks.iter().filter(|(at, _)| *at <= until).count() as u64;
        // 0.3 of a day's rechecks may be borrowed; at most a day's are left over.
        assert!(so_far <= 20 * days + 6 && (days < 5 || so_far + 20 >= 20 * days), "{so_far} looks in {days} days");
    }
    let count = |board: usize, from: u64, to: u64| {
        let within = |at: u64| (START + from * DAY_S..START + to * DAY_S).contains(&at);
        looks.iter().filter(|(at, of)| *of == board && within(*at)).count()
    };
    assert!(count(0, 5, 20) > 2 * count(1, 5, 20), "the busy board and the slow one");
    assert!(count(3, 25, 40) > 2 * count(2, 25, 40), "the board that fell asleep, beside the one that woke");
    assert!(count(3, 25, 40) > 2 * count(3, 5, 20), "the board that woke");
    assert!(count(4, 0, 20) > 0 && count(4, 20, 40) > 0, "the board that never had anything");
}

#[test]
fn a_schedule_that_was_stored_goes_on_as_it_was_and_tells_why() {
    let posts: Vec<Vec<u64>> = (1..6).map(|pace| (START..START + 30 * DAY_S).step_by(pace * 5_000).collect()).collect();
    let mut schedule = Schedule::new(30.0, START);
    for _ in &posts {
        schedule.add_board(1.0, START);
    }
    live(&mut schedule, &posts, START, START + 15 * DAY_S);
    let stored = serde_json::to_string(&schedule).unwrap();
    let mut loaded: Schedule = serde_json::from_str(&stored).unwrap();
    // Only the site's profile is newer after loading: it is learnt every six hours.
    let now = START + 15 * DAY_S;
    schedule.settle(now);
    loaded.settle(now);
    let until = START + 20 * DAY_S;
    assert_eq!(live(&mut schedule, &posts, now, until), live(&mut loaded, &posts, now, until));

    let reason = schedule.explain(0, until, 1.0).unwrap();
    assert!(reason.looks.len() > 2 && reason.looks.len() <= 100 && reason.looks[0] >= until, "{reason:?}");
    let posts_per_day: f64 = reason.posts_by_hour.iter().sum();
    assert!((12.0..24.0).contains(&posts_per_day), "17 a day: {reason:?}");
    assert_eq!(schedule.explain(99, until, 1.0), None);
}

#[test]
fn what_was_borrowed_from_many_looks_a_day_is_not_owed_by_few() {
    let mut schedule = Schedule::new(1_000.0, START);
    for _ in 0..4 {
        schedule.add_board(1.0, START);
    }
    for board in 0..400 {
        schedule.looked(board % 4, START, &[]);
    }
    let owing = schedule.next_look().unwrap().at;
    assert!(owing > (START + DAY_S / 11) as f64, "a hundred looks too many are a tenth of a day: {owing}");
    schedule.set_looks_per_day(2.0, START);
    let few = schedule.next_look().unwrap().at;
    assert!(few <= (START + DAY_S / 2) as f64, "the next of two looks a day comes within half a day: {few}");
}

#[test]
fn bad_input_neither_stops_a_schedule_nor_wakes_it_without_end() {
    assert_eq!(Schedule::new(10.0, START).next_look(), None);
    let mut none = Schedule::new(0.0, START);
    none.add_board(1.0, START);
    assert_eq!(none.next_look(), None);
    let mut schedule = Schedule::new(f64::NAN, START);
    schedule.add_board(1.0, START);
    assert_eq!(schedule.next_look(), None);

    let mut schedule = Schedule::new(50.0, START);
    let board = schedule.add_board(f64::NAN, START);
    let mut now = START;
    for round in 0..500 {
        let look = schedule.next_look().unwrap();
        assert!(look.at >= now as f64 && look.at < now as f64 + 31.0 * DAY_S as f64, "{look:?} at {now}");
        now = look.at as u64;
        // A clock that is years ahead, one at 1970, a thousand posts in one second, and none.
        let news: Vec<Post> = match round % 4 {
            0 => vec![
                Post { at: u64::MAX, kind: Kind::New, number: None },
                Post { at: now + DAY_S * 999, kind: Kind::Reply, number: None },
            ],
            1 => vec![Post { at: 0, kind: Kind::New, number: None }],
            2 => vec![Post { at: now, kind: Kind::Reply, number: None }; 1_000],
            _ => Vec::new(),
        };
        schedule.looked(board, now, &news);
        schedule.looked(77, now, &news);
    }
}

fn run_in(folder: &Path, arguments: &[&str]) -> std::process::Output {
    lab(folder, &[&["simulate"][..], arguments].concat())
}

fn simulate_in(folder: &Path, arguments: &[&str]) -> (bool, String, String) {
    let output = run_in(folder, arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_makes_up_replays_and_tells_broken_lines_by_number() {
    let here = tempfile::tempdir().unwrap();
    let at = here.path();
    let made = ["--generate", "forum.csv", "--boards", "6", "--days", "31", "--posts-per-day", "6", "--seed", "7"];
    let (well, told, _) = simulate_in(at, &made);
    assert!(well && told.contains("6 boards over 31 days"), "{told}");
    assert!(!simulate_in(at, &made).0, "a file that is there is not written over");

    let (well, json, error) = simulate_in(at, &["forum.csv", "--json", "--per-day", "4", "--start", "2021-01-01"]);
    assert!(well, "{error}");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    for name in ["ERA", "WRA", "LRA", "BRA", "optimum", "unnumbered", "gleaner"] {
        assert!(report["policies"][name]["delay_s"].as_f64().is_some_and(|delay| delay > 0.0), "{name}: {json}");
        assert!(report["policies"][name]["fetches"].as_u64().unwrap() <= report["fetches_max"].as_u64().unwrap());
    }
    let (well, table, _) = simulate_in(at, &["forum.csv"]);
    assert!(well && table.lines().count() == 9 && table.contains("unnumbered") && table.contains("gleaner"), "{table}");

    let write = |name: &str, text: &str| -> PathBuf {
        std::fs::write(at.join(name), text).unwrap();
        at.join(name)
    };
    for (name, text, wanted) in [
        ("empty.csv", "", "no posts in it"),
        ("broken.csv", "board,thread,kind,unix_time\na,1,new,7\na,1,new,soon\n", "line 3: unix_time is \"soon\""),
        ("few.csv", "a,1,new,1609459300\n", "no board has 20 posts"),
        ("late.csv", "a,1,new,253402300799\n", "no board has 20 posts"),
    ] {
        write(name, text);
        let (well, _, error) = simulate_in(at, &[name]);
        assert!(!well && error.contains(wanted), "{name}: {error}");
    }
    let (_, _, error) = simulate_in(at, &["forum.csv", "--posts-min", "1000000"]);
    assert!(error.contains("hint: choose another --start, or fewer --posts-min"), "{error}");
    for arguments in [
        &["forum.csv", "--start", "soon"][..],
        &["forum.csv", "--per-day", "0"],
        &["forum.csv", "--per-day", "1.5"],
        &["forum.csv", "--learn-days", "0"],
        &["--generate", "none.csv", "--boards", "0"],
        &["--generate", "none.csv", "--posts-per-day", "0"],
        &["--generate", "none.csv", "--posts-per-day", "nan"],
    ] {
        assert_eq!(run_in(at, arguments).status.code(), Some(2), "{arguments:?}: wrong usage");
    }
    assert!(!at.join("none.csv").exists());
}
