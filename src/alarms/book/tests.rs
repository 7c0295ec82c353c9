//! Tests of alarms: they last before they fire, they do not flap, one a cause, told once.

use super::*;

const MINUTE: u64 = 60_000;

struct Told {
    book: Book,
    settings: Settings,
    minute: u64,
}

fn cause(kind: Kind, site: Option<&str>) -> Cause {
    Cause {
        kind,
        site: site.map(ToOwned::to_owned),
        about: String::new(),
        title: format!("title of {}", kind.name()),
        since: None,
        after: None,
        figures: None,
        rule: None,
        page: None,
        todo: kind.todo(site),
    }
}

impl Told {
    fn new() -> Self {
        Self { book: Book::default(), settings: Settings::default(), minute: 1_000_000 }
    }

    /// Looks once a minute so long; what has become of alarms, as `fired rows-fell s`.
    fn stand(&mut self, minutes: u64, kinds: &[(Kind, Option<&str>)], rests: &[&str]) -> Vec<String> {
        let mut told = Vec::new();
        for _ in 0..minutes {
            self.minute += 1;
            let causes: Vec<Cause> = kinds.iter().map(|(kind, site)| cause(*kind, *site)).collect();
            let rests = rests.iter().copied().collect();
            for event in self.book.look(&causes, &rests, &self.settings, UnixMillis(self.minute * MINUTE)) {
                let (what, site) = (format!("{:?}", event.what).to_lowercase(), event.alarm.site.unwrap_or_default());
                let silent = if event.calls { "" } else { " (silent)" };
                told.push(format!("{what} {} {site}{silent}", event.alarm.kind).trim_end().to_owned());
            }
        }
        told
    }
}

const AWAY: (Kind, Option<&str>) = (Kind::Unreachable, Some("s"));

#[test]
fn a_cause_that_lasts_fires_once_and_is_over_once() {
    let mut told = Told::new();
    assert!(told.stand(29, &[AWAY], &[]).is_empty());
    assert!(told.stand(1, &[], &[]).is_empty() && told.stand(30, &[AWAY], &[]).is_empty(), "it has to last anew");
    assert_eq!(told.stand(600, &[AWAY], &[]), ["fired unreachable s"]);
    // It comes back before it was away for long.
    for _ in 0..20 {
        assert!(told.stand(9, &[], &[]).is_empty() && told.stand(1, &[AWAY], &[]).is_empty());
    }
    assert_eq!(told.stand(60, &[], &[]), ["over unreachable s"]);
    let [alarm] = &told.book.list()[..] else { panic!() };
    let lasted = (alarm.over_ms.unwrap() - alarm.since_ms) / 60_000;
    assert_eq!(lasted, 30 + 599 + 200 + 1, "from its beginning until it was away");
}

#[test]
fn a_site_that_is_away_is_one_message() {
    let mut told = Told::new();
    let of = |kind| (kind, Some("s"));
    let all = [
        AWAY,
        of(Kind::ListsEmpty),
        of(Kind::RowsFell),
        of(Kind::FindsStopped),
        of(Kind::LoggedOut),
        of(Kind::PromiseBroken),
    ];
    assert_eq!(told.stand(600, &all, &[]), ["fired unreachable s"]);
    // What was told before stays as it was, and nothing is known of it.
    let mut told = Told::new();
    assert_eq!(told.stand(60, &[of(Kind::RowsFell)], &[]), ["fired rows-fell s"]);
    assert_eq!(told.stand(600, &[AWAY], &[]), ["fired unreachable s"]);
    assert_eq!(told.book.open().len(), 2);
    assert_eq!(told.stand(60, &[], &[]), ["over rows-fell s", "over unreachable s"]);
    // A full disk is that of all sites.
    let mut told = Told::new();
    let all = [(Kind::DiskFull, None), (Kind::CommitsFail, None), (Kind::IndexBehind, None), of(Kind::FindsStopped)];
    assert_eq!(told.stand(600, &all, &[]), ["fired disk-full"]);
    let other = [AWAY, (Kind::RowsFell, Some("t"))];
    assert_eq!(Told::new().stand(600, &other, &[]), ["fired rows-fell t", "fired unreachable s"], "of another site");
}

#[test]
fn of_two_that_explain_each_other_the_first_is_told() {
    let (empty, broken) = ((Kind::ListsEmpty, Some("s")), (Kind::PromiseBroken, Some("s")));
    let mut told = Told::new();
    assert_eq!(told.stand(60, &[empty, broken], &[]), ["fired lists-empty s"]);
    let mut told = Told::new();
    assert_eq!(told.stand(60, &[broken], &[]), ["fired promise-broken s"]);
    assert!(told.stand(60, &[broken, empty], &[]).is_empty());
}

#[test]
fn a_site_that_rests_raises_nothing_and_ends_nothing() {
    let mut told = Told::new();
    told.stand(20, &[AWAY], &[]);
    assert!(told.stand(60, &[], &["s"]).is_empty());
    assert!(told.stand(29, &[AWAY], &[]).is_empty(), "it has to last anew");
    assert_eq!(told.stand(10, &[AWAY], &[]), ["fired unreachable s"]);
    assert!(told.stand(600, &[], &["s"]).is_empty() && told.book.open().len() == 1);
    assert_eq!(told.stand(20, &[], &[]), ["over unreachable s"]);
}

#[test]
fn who_silences_it_is_not_called_for_a_time_or_until_it_is_over() {
    let mut told = Told::new();
    told.stand(40, &[AWAY], &[]);
    let id = told.book.list()[0].id.clone();
    assert_eq!(id, "unreachable-1");
    assert!(!told.book.silence("unreachable-2", None, UnixMillis(0)) && !told.book.note("x", "y"));
    let now = UnixMillis(told.minute * MINUTE);
    assert!(told.book.silence(&id, Some(120), now) && told.book.note(&id, " I know\u{202e} \u{7}"));
    assert_eq!(told.book.list()[0].note.as_deref(), Some("I know"));
    assert_eq!(told.stand(30, &[], &[]), ["over unreachable s (silent)"]);
    assert_eq!(told.stand(40, &[AWAY], &[]), ["fired unreachable s (silent)"]);
    assert_eq!(told.stand(60, &[AWAY], &[]), ["fired unreachable s"], "its time is over, and the cause stands");
    assert_eq!(told.stand(30, &[], &[]), ["over unreachable s"]);
    told.stand(40, &[AWAY], &[]);
    let id = told.book.list()[0].id.clone();
    assert!(told.book.silence(&id, None, UnixMillis(told.minute * MINUTE)));
    assert_eq!(told.stand(60, &[], &[]), ["over unreachable s (silent)"]);
    assert_eq!(told.stand(40, &[AWAY], &[]), ["fired unreachable s"], "the next one");
    assert!(told.book.note(&id, ""), "of one that is over, too");
}

#[test]
fn a_silence_is_ended_by_hand_and_by_time() {
    let mut told = Told::new();
    told.stand(40, &[AWAY], &[]);
    let id = told.book.list()[0].id.clone();
    let now = UnixMillis(told.minute * MINUTE);
    assert!(told.book.silence(&id, None, now) && told.book.unsilence(&id) && !told.book.unsilence("x-1"));
    assert_eq!(told.book.list()[0].silenced_until_ms, None);
    assert_eq!(told.stand(60, &[], &[]), ["over unreachable s"], "somebody is called");
    assert_eq!(told.stand(40, &[AWAY], &[]), ["fired unreachable s"], "and about the next one");
    let id = told.book.list()[0].id.clone();
    assert!(told.book.silence(&id, Some(5), UnixMillis(told.minute * MINUTE)));
    told.stand(6, &[AWAY], &[]);
    assert_eq!(told.book.list()[0].silenced_until_ms, None, "its time is over");
}

#[test]
fn an_alarm_that_fired_while_silenced_is_told_once_when_its_silence_is_ended() {
    let mut told = Told::new();
    told.stand(40, &[AWAY], &[]);
    let id = told.book.list()[0].id.clone();
    assert!(told.book.silence(&id, Some(600), UnixMillis(told.minute * MINUTE)));
    assert_eq!(told.stand(30, &[], &[]), ["over unreachable s (silent)"]);
    assert_eq!(told.stand(60, &[AWAY], &[]), ["fired unreachable s (silent)"]);
    let id = told.book.list()[0].id.clone();
    assert!(told.book.unsilence(&id));
    assert_eq!(told.stand(60, &[AWAY], &[]), ["fired unreachable s"]);
    assert_eq!(told.stand(30, &[], &[]), ["over unreachable s"]);
}

#[test]
fn a_cause_that_is_away_is_shown_as_such_until_the_alarm_is_over() {
    let mut told = Told::new();
    told.stand(40, &[AWAY], &[]);
    assert_eq!(told.book.list()[0].away_since_ms, None);
    told.stand(5, &[], &[]);
    let since = (told.minute - 4) * MINUTE;
    assert_eq!(told.book.list()[0].away_since_ms, Some(ms(UnixMillis(since))));
    told.stand(1, &[AWAY], &[]);
    assert_eq!(told.book.list()[0].away_since_ms, None);
    told.stand(60, &[], &[]);
    let over = &told.book.list()[0];
    assert_eq!((over.away_since_ms, over.over_ms.is_some()), (None, true));
}

#[test]
fn what_was_told_is_not_told_again_after_a_restart() {
    let mut told = Told::new();
    assert_eq!(told.stand(40, &[AWAY, (Kind::DiskFull, None)], &[]), ["fired disk-full", "fired unreachable s"]);
    let kept = serde_json::to_string(&told.book).unwrap();
    told.book = serde_json::from_str(&kept).unwrap();
    told.minute += 600;
    assert!(told.stand(100, &[AWAY, (Kind::DiskFull, None)], &[]).is_empty());
    // A cause has to last anew, if nobody looked for hours.
    told.stand(20, &[AWAY, (Kind::RowsFell, Some("t"))], &[]);
    told.minute += 600;
    assert_eq!(told.stand(20, &[AWAY, (Kind::RowsFell, Some("t"))], &[]), [""; 0]);
}

#[test]
fn kinds_are_off_and_last_as_the_operator_wants() {
    let mut told = Told::new();
    told.settings.off.insert(Kind::Unreachable);
    told.settings.after.insert(Kind::RowsFell, Duration::from_secs(120 * 60));
    assert!(told.stand(120, &[AWAY], &[]).is_empty());
    assert!(told.stand(120, &[(Kind::RowsFell, Some("s"))], &[]).is_empty());
    assert_eq!(told.stand(1, &[(Kind::RowsFell, Some("s"))], &[]), ["fired rows-fell s"]);
}

#[test]
fn history_is_bounded_and_the_newest_is_first() {
    let mut told = Told::new();
    for _ in 0..HISTORY_MAX + 20 {
        told.stand(3, &[(Kind::ClockJumped, None)], &[]);
        told.stand(12, &[], &[]);
    }
    let list = told.book.list();
    assert_eq!((list.len(), list[0].id.as_str()), (HISTORY_MAX, "clock-jumped-520"));
    assert_eq!(told.book.fired()[&Kind::ClockJumped], 520);
}
