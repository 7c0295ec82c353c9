//! What breaks is told within three looks, once, with its kind; and is over when it is mended.

use std::time::Duration;

use gleaner_alarms::behind::Index;
use gleaner_alarms::book::What;
use gleaner_alarms::kinds::Kind;
use gleaner_base::clock::UnixMillis;

use crate::simulate::{BEGIN, DAY, Fault, HOUR, Habit, LOOK, MINUTE, Rows, STEP, Service, Simulated};

/// When it breaks: a Tuesday of the third week, at eleven.
const BREAKS: u64 = 15 * DAY + 11 * HOUR;

/// The service after two weeks of a site.
fn lived(habit: Habit, seed: u64) -> (Service, Simulated) {
    let (mut service, mut site) = (Service::default(), Simulated::new(habit, seed));
    for at in (0..BREAKS).step_by(STEP as usize) {
        let seen = vec![site.seen(at, Fault::None)];
        let events = service.step(at, seen);
        assert!(events.is_empty(), "before anything breaks: {events:?}");
    }
    (service, site)
}

/// Breaks a site for a day; what was told: the kind, minutes after the break, and what it said.
fn broken(habit: &Habit, seed: u64, fault: Fault) -> Vec<(What, Kind, u64, gleaner_alarms::Alarm)> {
    let (mut service, mut site) = lived(habit.clone(), seed);
    let mut told = Vec::new();
    let mended = BREAKS + DAY;
    for at in (BREAKS..mended + DAY).step_by(STEP as usize) {
        let fault = if at < mended { fault } else { Fault::None };
        service.machine.rule_faults.clear();
        if fault == Fault::RuleFile {
            service.rule_fault("site");
        }
        let seen = vec![site.seen(at, fault)];
        for event in service.step(at, seen) {
            let kind = Kind::named(&event.alarm.kind).unwrap();
            told.push((event.what, kind, (at - BREAKS) / MINUTE, event.alarm));
        }
    }
    told
}

#[test]
fn each_fault_is_told_within_three_looks_once_and_is_over() {
    let three_looks = 3 * LOOK / MINUTE;
    let habits = [
        Habit::default(),
        Habit { nights: 0.0, bursts: 3, weekends: 0.2, lists: 1, ..Habit::default() },
        Habit { rows: Rows::Boards, lists: 12, refused: 0.1, ..Habit::default() },
    ];
    for (fault, kind) in [
        (Fault::RenamedClass, Kind::ListsEmpty),
        (Fault::MovedList, Kind::ListsEmpty),
        (Fault::LoginWall, Kind::LoggedOut),
        (Fault::GuestWall, Kind::Refused),
        (Fault::EmptyPages, Kind::ListsEmpty),
        (Fault::Cap, Kind::Refused),
        (Fault::Throttle, Kind::Refused),
        (Fault::Scripts, Kind::ListsEmpty),
        (Fault::HostDown, Kind::Unreachable),
        (Fault::Certificate, Kind::Certificate),
        (Fault::DownloadsGone, Kind::PromiseBroken),
        (Fault::RuleFile, Kind::RuleFile),
        (Fault::HalfTheRows, Kind::RowsFell),
    ] {
        for (number, habit) in habits.iter().enumerate() {
            // How many rows a board shows varies: half of them are not known to be few.
            if fault == Fault::HalfTheRows && habit.rows == Rows::Boards {
                continue;
            }
            for seed in 1..=3 {
                let told = broken(habit, seed, fault);
                let what = format!("{fault:?} of site {number}, seed {seed}: {told:#?}");
                let [(What::Fired, fired, after, alarm), (What::Over, over, ended, _)] = &told[..] else {
                    panic!("{what}")
                };
                assert_eq!((*fired, *over), (kind, kind), "{what}");
                assert!(*after <= three_looks, "{what}");
                assert!((1_440..=1_440 + 4 * three_looks).contains(ended), "{what}");
                let has_rule = matches!(kind, Kind::PromiseBroken | Kind::RuleFile);
                assert!(!has_rule || alarm.rule.as_deref().is_some_and(|rule| rule.contains(".toml:")), "{what}");
                assert!(!alarm.title.is_empty() && !alarm.todo.contains('{'), "{what}");
            }
        }
    }
}

#[test]
fn what_shows_in_figures_alone_is_told_later() {
    let habit = Habit { a_day: 200.0, ..Habit::default() };
    for (fault, kind, hours) in [(Fault::Slow, Kind::DelayGrew, 10), (Fault::Coverage, Kind::CoverageFell, 4)] {
        let told = broken(&habit, 7, fault);
        let (what, fired, after, alarm) = told.first().unwrap_or_else(|| panic!("{fault:?}"));
        assert_eq!((*what, *fired), (What::Fired, kind), "{told:#?}");
        assert!(*after <= hours * 60, "{told:#?}");
        let figures = alarm.figures.as_ref().unwrap();
        assert!(figures.now != figures.before);
    }
}

#[test]
fn a_site_that_gives_nothing_new_is_told_after_its_own_longest_gap() {
    let (mut service, mut site) = lived(Habit { a_day: 60.0, ..Habit::default() }, 3);
    let mut last = None;
    for at in (BREAKS..BREAKS + 3 * DAY).step_by(STEP as usize) {
        let mut seen = site.seen(at, Fault::None);
        seen.finds = Some(*last.get_or_insert(seen.finds.unwrap()));
        let events = service.step(at, vec![seen]);
        if let Some(event) = events.first() {
            assert_eq!(event.alarm.kind, "finds-stopped");
            assert!((36 * HOUR..38 * HOUR).contains(&(at - BREAKS)), "{} h", (at - BREAKS) / HOUR);
            return;
        }
    }
    panic!("no alarm");
}

#[test]
fn a_site_that_is_paused_raises_nothing() {
    let (mut service, mut site) = lived(Habit::default(), 5);
    for at in (BREAKS..BREAKS + 10 * DAY).step_by(STEP as usize) {
        // Nothing is seen of it, and its counts are none.
        let name = site.seen(at, Fault::HostDown).name;
        let seen = gleaner_alarms::watch::Site { name, rests: true, ..Default::default() };
        let events = service.step(at, vec![seen]);
        assert!(events.is_empty(), "{events:?}");
    }
}

#[test]
fn a_list_that_shows_less_for_a_week_is_usual_then() {
    let (mut service, mut site) = lived(Habit::default(), 6);
    let mut told = Vec::new();
    for at in (BREAKS..BREAKS + 20 * DAY).step_by(STEP as usize) {
        let seen = vec![site.seen(at, Fault::HalfTheRows)];
        told.extend(service.step(at, seen).into_iter().map(|event| (event.what, (at - BREAKS) / DAY)));
    }
    assert_eq!(told, [(What::Fired, 0), (What::Over, 7)]);
}

#[test]
fn lists_that_fell_are_forgotten_with_the_rules_that_they_were_of() {
    let mut ends = Vec::new();
    for other in [7, 8] {
        let (mut service, mut site) = lived(Habit::default(), 8);
        let mut told = Vec::new();
        for at in (BREAKS..BREAKS + 4 * HOUR).step_by(STEP as usize) {
            let is_changed = at >= BREAKS + 2 * HOUR;
            let mut seen = site.seen(at, Fault::HalfTheRows);
            seen.rules = Some(if is_changed { other } else { 7 });
            if is_changed {
                seen.looks.clear();
            }
            told.extend(service.step(at, vec![seen]).into_iter().map(|event| (event.what, (at - BREAKS) / HOUR)));
        }
        ends.push(told);
    }
    assert_eq!(ends, [vec![(What::Fired, 0)], vec![(What::Fired, 0), (What::Over, 2)]]);
}

#[test]
fn the_machine_is_watched() {
    let mut service = Service::default();
    let mut at = 0;
    let mut stand = |service: &mut Service, minutes: u64| {
        let mut told = Vec::new();
        for _ in 0..minutes {
            at += MINUTE;
            told.extend(
                service.step(at, vec![]).into_iter().map(|event| format!("{:?} {}", event.what, event.alarm.kind)),
            );
        }
        told
    };
    service.machine.disk = Some((5e8, 5e11));
    service.machine.store_fault = Some("No space left on device".to_owned());
    assert_eq!(stand(&mut service, 60), ["Fired disk-full"]);
    service.machine.store_fault = None;
    // Between the bound and what is well again, nothing changes.
    service.machine.disk = Some((1.7e10, 5e11));
    assert!(stand(&mut service, 60).is_empty());
    service.machine.disk = Some((3e10, 5e11));
    assert_eq!(stand(&mut service, 60), ["Over disk-full"]);
    service.machine.store_fault = Some("Read-only file system".to_owned());
    assert_eq!(stand(&mut service, 5), ["Fired commits-fail"]);
    service.machine.store_fault = None;
    assert_eq!(stand(&mut service, 15), ["Over commits-fail"]);
    service.machine.clock_set_by_ms = -3_600_000;
    assert_eq!(stand(&mut service, 1), ["Fired clock-jumped"]);
    service.machine.clock_set_by_ms = 0;
    assert_eq!(stand(&mut service, 90), ["Over clock-jumped"]);
    service.machine.index = Some(Index { lag: 40, change: 7, stored: 60 });
    assert_eq!(stand(&mut service, 30), ["Fired index-behind"]);
    service.machine.index = Some(Index { lag: 0, change: 60, stored: 60 });
    assert_eq!(stand(&mut service, 30), ["Over index-behind"]);
    let backup = UnixMillis(BEGIN + 6 * HOUR);
    service.machine.backup = Some(backup);
    assert_eq!(stand(&mut service, 9 * 24 * 60), ["Fired backup-old"]);
    service.machine.backup = Some(UnixMillis(BEGIN + 10 * DAY));
    assert_eq!(stand(&mut service, 60), ["Over backup-old"]);
}

/// What is told of the backups of ninety days: the day of each; `made` says at which hours one is made.
fn backups_told(every: Option<Duration>, made: impl Fn(u64) -> bool, is_up: impl Fn(u64) -> bool) -> Vec<(What, u64)> {
    let (mut service, mut told) = (Service::default(), Vec::new());
    service.machine.backup_every = every;
    for at in (0..90 * DAY).step_by(30 * MINUTE as usize) {
        if at.is_multiple_of(HOUR) && made(at / HOUR) {
            service.machine.backup = Some(UnixMillis(BEGIN + at));
        }
        if !is_up(at / HOUR) {
            service.machine.up = Duration::ZERO;
            continue;
        }
        told.extend(service.step(at, vec![]).into_iter().map(|event| (event.what, at / HOUR)));
        service.machine.up += Duration::from_secs(1_800);
    }
    told
}

#[test]
fn a_backup_is_old_by_how_often_it_is_wanted() {
    let (hour, day) = (Duration::from_secs(3_600), Duration::from_secs(86_400));
    let always = |_| true;
    // Those of each month, of each day, and of an hour.
    assert_eq!(backups_told(Some(30 * day), |at| at.is_multiple_of(720), always), []);
    assert_eq!(backups_told(Some(day), |at| at.is_multiple_of(24), always), []);
    assert_eq!(backups_told(Some(hour), always, always), []);
    // Without `[backup]` there need not be any.
    assert_eq!(backups_told(None, |_| false, always), []);
    assert_eq!(backups_told(None, |at| at == 0, always), [(What::Fired, 192)]);
    // They stop, and come again.
    let stops = |at: u64| !(48..200).contains(&at);
    assert_eq!(backups_told(Some(hour), stops, always), [(What::Fired, 49), (What::Over, 200)]);
    assert_eq!(backups_told(Some(day), |at| at == 0 || at == 200, always)[..2], [(What::Fired, 48), (What::Over, 200)]);
    // Those of each month: a day late, and not a month.
    assert_eq!(
        backups_told(Some(30 * day), |at| at == 0 || at == 900, always)[..2],
        [(What::Fired, 744), (What::Over, 900)]
    );
    // There never was one.
    assert_eq!(backups_told(Some(30 * day), |_| false, always), [(What::Fired, 24)]);
    assert_eq!(backups_told(Some(hour), |_| false, always), [(What::Fired, 2)]);
    // The service did not run for a month, and makes one then; or restarts each day, and makes none.
    let month = |at: u64| !(100..820).contains(&at);
    assert_eq!(backups_told(Some(day), |at| !(100..821).contains(&at), month), []);
    assert_eq!(backups_told(Some(day), |_| false, |at| !at.is_multiple_of(24)), [(What::Fired, 31)]);
}
