//! Behaviour of the timetable, stated as facts.

use super::*;
use crate::schedule::Kind;

fn rules(boards: &str) -> std::sync::Arc<SiteRules> {
    let text = format!("start = ['http://a.example/']\nrevisit_minutes = 60\n{boards}\n[classes]\nindex = ['^/']\n");
    gleaner_rules::from_text("a", &text).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn at(seconds: u64) -> UnixMillis {
    UnixMillis((1_790_000_000 + seconds) * 1_000)
}

#[test]
fn busy_lists_are_looked_at_more_often_and_the_number_a_day_is_held() {
    let table = Timetable::new(&rules(""));
    let mut looks = [0_u64; 2];
    for url in ["busy", "quiet"] {
        table.looked(url, at(0), &[]);
    }
    let mut busy_since = 0;
    for second in (0..20 * DAY_S).step_by(30) {
        let Some(url) = table.due(at(second)) else { continue };
        let day = second / DAY_S;
        if day >= 10 {
            looks[usize::from(url == "quiet")] += 1;
        }
        // The busy one has a post every 20 minutes, the quiet one none.
        let posts: Vec<Post> = (busy_since / 1_200 + 1..=second / 1_200)
            .map(|n| Post { at: 1_790_000_000 + n * 1_200, kind: Kind::New, number: None })
            .collect();
        let posts = if url == "busy" { posts } else { Vec::new() };
        busy_since = if url == "busy" { second } else { busy_since };
        table.looked(&url, at(second), &posts);
    }
    let [busy, quiet] = looks;
    assert!((440..=490).contains(&(busy + quiet)), "48 a day are {} in ten days", busy + quiet);
    assert!(busy > 3 * quiet && quiet > 5, "{busy} and {quiet}");
    // Another process continues with it, and can explain it.
    let (_, note) = table.note().unwrap();
    let state = StoredTimetable::from_bytes(&note).unwrap();
    let told = state.explain(1_790_000_000 + 20 * DAY_S);
    let busy = told.iter().find(|told| told.url == "busy").unwrap();
    assert!((60.0..80.0).contains(&busy.weight) && busy.next.len() > 20 && busy.why.contains("wait"), "{busy:?}");
    let again = Timetable::new(&rules(""));
    again.take_up("a", Some(&note), at(20 * DAY_S));
    assert!((0..DAY_S).step_by(60).any(|second| again.due(at(20 * DAY_S + second)).is_some()));
    Timetable::new(&rules("")).take_up("a", Some(b"{}"), at(0));
}

#[test]
fn other_rules_change_the_looks_of_a_day_at_once() {
    let table = Timetable::new(&rules(""));
    (0..10).for_each(|list| table.looked(&format!("{list}"), at(0), &[]));
    let note = table.note().unwrap().1;
    assert!((StoredTimetable::from_bytes(&note).unwrap().per_day - 240.0).abs() < 1e-6);
    let fewer = Timetable::new(&rules("[boards]\nlooks_per_day = 6"));
    fewer.take_up("a", Some(&note), at(60));
    let mut looks = 0;
    for second in (60..5 * DAY_S).step_by(30) {
        if let Some(url) = fewer.due(at(second)) {
            looks += 1;
            fewer.looked(&url, at(second), &[]);
        }
    }
    assert!((20..=40).contains(&looks), "{looks} looks in five days of 6");
    let state = StoredTimetable::from_bytes(&fewer.note().unwrap().1).unwrap();
    assert!((state.per_day - 6.0).abs() < 1e-6, "{}", state.per_day);
}

#[test]
fn without_an_interval_in_the_rules_looks_follow_the_rate_of_the_list_from_its_first_page_on() {
    let per_day = |interval: &str, every_s: u64| {
        let text = format!("start = ['http://a.example/']\n{interval}[classes]\nindex = ['^/']\n");
        let table = Timetable::new(&gleaner_rules::from_text("a", &text).unwrap());
        // Twenty rows with their times.
        let now = 1_790_000_000;
        let posts: Vec<Post> =
            (1..=20).map(|row| Post { at: now - row * every_s, kind: Kind::New, number: None }).collect();
        table.looked("list", at(0), &posts);
        StoredTimetable::from_bytes(&table.note().unwrap().1).unwrap().per_day.round()
    };
    assert_eq!([300, 1_800, 86_400].map(|every_s| per_day("", every_s)), [144.0, 48.0, 8.0]);
    assert_eq!([300, 86_400].map(|every_s| per_day("revisit_minutes = 180\n", every_s)), [8.0, 8.0]);
}

#[test]
fn looks_by_the_interval_take_at_most_half_of_what_the_site_takes() {
    let per_day = |boards: &str| {
        let table = Timetable::new(&rules(boards));
        (0..50).for_each(|list| table.looked(&format!("{list}"), at(0), &[]));
        // One request per three minutes.
        table.allows(240.0, 0.0, at(1));
        table.looked("another", at(2), &[]);
        StoredTimetable::from_bytes(&table.note().unwrap().1).unwrap().per_day
    };
    assert!((per_day("") - 240.0).abs() < 1e-6 && (per_day("[boards]\nlooks_per_day = 300") - 300.0).abs() < 1e-6);
}

#[test]
fn of_the_looks_at_lists_in_another_order_half_are_at_the_pages_behind_their_fronts() {
    let table = Timetable::new(&rules(""));
    (0..50).for_each(|list| table.looked(&format!("{list}"), at(0), &[]));
    let planned = |in_another_order: f64| {
        table.allows(240.0, in_another_order, at(1));
        (table.looks_a_day().round(), table.room_beside_looks().spare.round())
    };
    assert_eq!([0.0, 0.5, 1.0].map(planned), [(240.0, 0.0), (180.0, 60.0), (120.0, 120.0)]);
}

#[test]
fn a_list_that_is_refused_holds_no_other_up_and_uses_no_look_up() {
    let table = Timetable::new(&rules("[boards]\nlooks_per_day = 48"));
    ["a", "b", "refused", "too"].into_iter().for_each(|url| table.looked(url, at(0), &[]));
    let (mut looks, mut refused) = (0, 0);
    for second in (0..10 * DAY_S).step_by(30) {
        while let Some(url) = table.due(at(second)) {
            if url.len() > 1 {
                refused += 1;
                table.refused(&url, at(second));
            } else {
                looks += 1;
                table.looked(&url, at(second), &[]);
            }
        }
    }
    assert_eq!(refused, 2, "each once in ten days");
    assert!(StoredTimetable::from_bytes(&table.note().unwrap().1).is_some(), "a note can be read at any time");
    assert!((440..=510).contains(&looks), "{looks} looks in ten days of 48");
}

#[test]
fn a_round_looks_at_lists_with_news_that_had_no_look_since_the_one_before() {
    let posts: Vec<Post> =
        (0..90).map(|n| Post { at: 1_790_000_000 - n * 600, kind: Kind::New, number: None }).collect();
    for (boards, of_round) in
        [("", vec!["busy"]), ("[boards]\nlooks_per_day = 8", Vec::new()), ("[boards]\nschedule = 'era'", Vec::new())]
    {
        let table = Timetable::new(&rules(boards));
        assert!(table.overdue(at(1), at(0)).is_empty());
        table.looked("busy", at(0), &posts);
        table.looked("quiet", at(0), &posts[89..]);
        assert_eq!(table.overdue(at(3_000), at(3_600)), of_round, "{boards}");
        table.looked("busy", at(3_300), &[]);
        assert!(table.overdue(at(3_000), at(3_600)).is_empty(), "{boards}");
    }
}

#[test]
fn the_papers_plans_say_the_times_of_a_day() {
    for (policy, looks) in [("era", [4, 4]), ("lra", [4, 4]), ("wra", [7, 1]), ("bra", [7, 1])] {
        let table = Timetable::new(&rules(&format!("[boards]\nschedule = '{policy}'\nlooks_per_day = 8")));
        let posts: Vec<Post> =
            (0..90).map(|n| Post { at: 1_790_000_000 - n * 3_600, kind: Kind::New, number: None }).collect();
        table.looked("busy", at(0), &posts);
        table.looked("quiet", at(0), &posts[89..]);
        assert_eq!(table.due(at(DAY_S)), None, "times are in the queue");
        let state = StoredTimetable::from_bytes(&table.note().unwrap().1).unwrap();
        let told = state.explain(1_790_000_000);
        let of = |url: &str| told.iter().find(|told| told.url == url).unwrap().next.len();
        assert_eq!([of("busy"), of("quiet")], looks, "{policy}");
        let next = table.again("busy", at(0)).unwrap();
        assert!(next > at(0) && next <= at(DAY_S), "{policy}");
    }
}

#[test]
fn the_papers_plans_hold_the_number_of_looks_a_day_also_where_it_is_smaller_than_that_of_the_lists() {
    for (policy, per_day, lists) in
        [("era", 10, 61), ("bra", 10, 61), ("era", 90, 60), ("wra", 90, 60), ("lra", 60, 60)]
    {
        let table = Timetable::new(&rules(&format!("[boards]\nschedule = '{policy}'\nlooks_per_day = {per_day}")));
        let urls: Vec<String> = (0..lists).map(|list| format!("{list}")).collect();
        urls.iter().for_each(|url| table.looked(url, at(0), &[]));
        let of_list = |url: &String| {
            let (mut looks, mut seen) = (0, at(0));
            while let Some(next) = table.again(url, seen).filter(|next| *next <= at(61 * DAY_S)) {
                (looks, seen) = (looks + 1, next);
                assert!(looks < 200, "{policy}: {url}");
            }
            looks
        };
        let looks: Vec<u32> = urls.iter().map(of_list).collect();
        let all: u32 = looks.iter().sum();
        let wanted = 61 * per_day;
        assert!(all.abs_diff(wanted) <= wanted / 20, "{policy}: {all} looks in 61 days of {per_day}");
        assert!(looks.iter().all(|looks| *looks > 8), "{policy}: {looks:?}");
        let told = StoredTimetable::from_bytes(&table.note().unwrap().1).unwrap().explain(1_790_000_000);
        assert!(told.iter().all(|told| !told.next.is_empty() && told.why.contains(policy)), "{policy}");
    }
}

#[test]
fn of_a_hundred_thousand_lists_the_first_are_scheduled_and_the_others_keep_their_interval() {
    let table = Timetable::new(&rules(""));
    let lists = 100_000_u64;
    for number in 0..lists {
        table.looked(&format!("http://a.example/{number}"), at(number / 10), &[]);
    }
    let after = lists / 10;
    let beyond = format!("http://a.example/{}", lists - 1);
    assert_eq!(table.again(&beyond, at(after)), None, "its interval decides");
    assert!(table.again("http://a.example/0", at(after)).is_some());
    let (_, note) = table.note().unwrap();
    assert!(note.len() < crate::limits::NOTE_BYTES_MAX, "{} bytes", note.len());
    let state = StoredTimetable::from_bytes(&note).unwrap();
    assert!(state.is_full() && state.lists.len() == SCHEDULE_LISTS_MAX);
    // The rechecks of a day are those of the scheduled lists, and none waits for a list outside the schedule.
    assert!((state.per_day - SCHEDULE_LISTS_MAX as f64 * 24.0).abs() < 1e-6);
    let due = |from: u64| (from..from + 60).find_map(|day| Some((day, table.due(at(after + day * DAY_S))?)));
    let (day, first) = due(0).unwrap();
    assert!(state.lists.iter().any(|list| list.url == first));
    let soon = at(after + day * DAY_S + 1);
    assert_eq!(table.due(soon), None, "one at a time");
    table.came(&first, soon, false);
    assert_ne!(due(day + 1).unwrap().1, first, "one that shows nothing holds no other up");
}

#[test]
fn a_look_that_never_comes_holds_no_other_up_and_a_clock_set_back_no_list() {
    let table = Timetable::new(&rules(""));
    table.looked("a", at(0), &[]);
    table.looked("b", at(0), &[]);
    let first = (0..3 * DAY_S).step_by(60).find_map(|second| Some((second, table.due(at(second))?))).unwrap();
    let others = (first.0..first.0 + DAY_S).step_by(60).filter_map(|second| table.due(at(second)));
    assert!(others.count() > 5);
    assert_eq!(table.again("unknown", at(0)), None);
    let before = UnixMillis(at(0).0 - 90 * DAY_S * 1_000);
    table.looked("a", before, &[]);
    let soon = table.again("a", before).unwrap();
    assert!(soon.since(before) < Duration::from_secs(70 * DAY_S), "{soon:?}");
    assert!((0..DAY_S).step_by(60).any(|second| table.due(UnixMillis(before.0 + second * 1_000)).is_some()));
}

#[test]
fn looks_that_come_late_are_used_up_once() {
    let looks = |late_s: u64| {
        let table = Timetable::new(&rules("[boards]\nlooks_per_day = 96"));
        table.looked("a", at(0), &[]);
        let (mut looks, mut under_way) = (0, Vec::new());
        for second in (0..6 * DAY_S).step_by(20) {
            if let Some(url) = table.due(at(second)) {
                under_way.push((second + late_s, url));
            }
            for (_, url) in under_way.extract_if(.., |(comes, _)| *comes <= second) {
                looks += 1;
                // Replies that are there at each recheck, so that it is planned by its cost.
                let posts = [Post { at: 1_790_000_000 + second - 10, kind: Kind::Reply, number: None }];
                table.looked(&url, at(second), &posts);
            }
        }
        looks
    };
    let (prompt, late) = (looks(20), looks(SCHEDULE_PATIENCE.as_secs() + 60));
    assert!(prompt > 400 && late * 4 > prompt * 3, "{late} looks that come late, {prompt} that do not");
}

#[test]
fn looks_that_come_to_nothing_teach_no_silence_and_are_used_up() {
    let table = Timetable::new(&rules("[boards]\nlooks_per_day = 48"));
    let posts: Vec<Post> =
        (0..500).map(|n| Post { at: 1_790_000_000 - n * 1_800, kind: Kind::New, number: None }).collect();
    ["sick", "well"].into_iter().for_each(|url| table.looked(url, at(0), &posts));
    let waiting = |table: &Timetable, second: u64| {
        let kept = table.kept();
        let posts = |number| kept.state.as_ref().unwrap().schedule.posts_waiting(number, 1_790_000_000 + second);
        (posts(0), posts(1))
    };
    // For a day one fails, and the other shows its posts.
    let mut looks = [0, 0];
    let mut seen = 0;
    for second in (0..DAY_S).step_by(30) {
        let Some(url) = table.due(at(second)) else { continue };
        looks[usize::from(url == "well")] += 1;
        if url == "sick" {
            table.came(&url, at(second), false);
        } else {
            let posts: Vec<Post> = (seen / 1_800 + 1..=second / 1_800)
                .map(|n| Post { at: 1_790_000_000 + n * 1_800, kind: Kind::New, number: None })
                .collect();
            seen = second;
            table.looked(&url, at(second), &posts);
        }
    }
    assert!(looks[0] >= 8 && looks[1] >= 8 && looks[0] + looks[1] <= 64, "{looks:?}");
    let (sick, well) = waiting(&table, DAY_S);
    assert!(sick > 20.0 && well < 10.0, "nothing of the day was seen: {sick}, {well}");
}

#[test]
fn a_list_that_is_away_is_asked_for_ever_more_seldom_and_leaves_its_place_to_others() {
    let table = Timetable::new(&rules(""));
    ["a", "b", "moved"].into_iter().for_each(|url| table.looked(url, at(0), &[]));
    let mut asked = Vec::new();
    for second in (0..10 * DAY_S).step_by(30) {
        let Some(url) = table.due(at(second)) else { continue };
        if url == "moved" {
            asked.push(second);
            table.came(&url, at(second), true);
        } else {
            table.looked(&url, at(second), &[]);
        }
    }
    let gaps: Vec<u64> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(asked.len() == AWAY_LOOKS as usize && gaps.is_sorted(), "{asked:?}");
    let state = StoredTimetable::from_bytes(&table.note().unwrap().1).unwrap();
    let lists: Vec<&str> = state.lists.iter().map(|list| list.url.as_str()).collect();
    assert!(lists.len() == 2 && !lists.contains(&"moved") && (state.per_day - 48.0).abs() < 1e-6, "{lists:?}");
    // It is back.
    table.looked("moved", at(11 * DAY_S), &[]);
    assert!(table.again("moved", at(11 * DAY_S)).is_some());
}

#[test]
fn where_all_places_are_taken_a_list_that_nobody_looks_at_any_more_makes_room() {
    let table = Timetable::new(&rules(""));
    let lists = SCHEDULE_LISTS_MAX as u64;
    (0..lists).for_each(|list| table.looked(&format!("{list}"), at(list), &[]));
    table.looked("new", at(lists), &[]);
    assert!(table.again("new", at(lists)).is_none(), "all are looked at");
    let later = LIST_FORGOTTEN_TIME.as_secs() + 2;
    table.looked("new", at(later), &[]);
    assert!(table.again("new", at(later)).is_some());
    assert!(table.again("0", at(later)).is_none() && table.again("2", at(later)).is_some());
    // Numbers belong to the lists that have them now.
    table.looked("1", at(later), &[]);
    let state = StoredTimetable::from_bytes(&table.note().unwrap().1).unwrap();
    let looked = |url: &str| state.lists.iter().find(|list| list.url == url).unwrap().looked;
    assert_eq!(
        (looked("new"), looked("1"), looked("2")),
        (1_790_000_000 + later, 1_790_000_000 + later, 1_790_000_002)
    );
}

#[test]
fn the_weight_of_a_list_is_that_of_its_last_weeks() {
    let table = Timetable::new(&rules(""));
    // Rows of three years, and one post per hour since yesterday.
    let mut posts: Vec<Post> =
        (0..60).map(|n| Post { at: 1_790_000_000 - n * 18 * DAY_S, kind: Kind::New, number: None }).collect();
    posts.extend((0..24).map(|n| Post { at: 1_790_000_000 - n * HOUR_S, kind: Kind::New, number: None }));
    table.looked("list", at(0), &posts);
    let weight = |second: u64| {
        let state = StoredTimetable::from_bytes(&table.note().unwrap().1).unwrap();
        state.explain(1_790_000_000 + second)[0].weight
    };
    assert!((1.0..2.0).contains(&weight(0)), "25 posts in 20 days");
    for day in 1..=40 {
        let posts: Vec<Post> = (0..24)
            .map(|n| Post { at: 1_790_000_000 + day * DAY_S - n * HOUR_S, kind: Kind::New, number: None })
            .collect();
        table.looked("list", at(day * DAY_S), &posts);
    }
    assert!((19.0..25.0).contains(&weight(40 * DAY_S)), "{} posts a day", weight(40 * DAY_S));
    for day in 41..=160 {
        table.looked("list", at(day * DAY_S), &[]);
    }
    let weight = weight(160 * DAY_S);
    assert!(weight < 1.0, "{weight} posts a day after four months of silence");
}

#[test]
fn looks_go_on_where_a_clock_is_set_back() {
    for back_s in [120, 3_590, 20 * 3_600] {
        let table = Timetable::new(&rules("[boards]\nlooks_per_day = 960"));
        ["a", "b", "c"].into_iter().for_each(|url| table.looked(url, at(0), &[]));
        let looks = |from: u64, until: u64| {
            let mut looks = 0;
            for second in (from..until).step_by(15) {
                let Some(url) = table.due(at(second)) else { continue };
                looks += 1;
                table.looked(&url, at(second), &[]);
            }
            looks
        };
        let step_at = 2 * DAY_S;
        let before = looks(step_at - DAY_S, step_at);
        table.set_back(Duration::from_secs(back_s), at(step_at - back_s));
        let after = looks(step_at - back_s, step_at - back_s + 1_800);
        assert!(before >= 900 && after >= 12, "{before} looks in a day, {after} in half an hour, {back_s} s back");
        let state = StoredTimetable::from_bytes(&table.note().unwrap().1).unwrap();
        let now = at(step_at - back_s + 1_800).0 / 1_000;
        assert!(state.lists.iter().all(|list| list.looked <= now && list.looks > 2), "{:?}", state.lists);
    }
}

#[test]
fn where_answers_are_slow_as_many_looks_are_under_way_as_the_site_takes_at_once() {
    // 40 lists, each once per five minutes.
    const PLANNED: u64 = 40 * DAY_S / 300;
    let looks = |rules_more: &str| {
        let table = Timetable::new(&rules(&format!(
            "{rules_more}\n[boards]\nlooks_per_day = {PLANNED}\n[rate]\nconnections = 8"
        )));
        let urls: Vec<String> = (0..40).map(|list| format!("{list}")).collect();
        urls.iter().for_each(|url| table.looked(url, at(0), &[]));
        // A response takes fifteen seconds, and some lists fail now and then.
        let (mut looks, mut under_way, mut most) = (0_u64, Vec::<(u64, String)>::new(), 0);
        for second in 0..2 * DAY_S {
            for (_, url) in under_way.extract_if(.., |(since, _)| second >= *since + 15) {
                looks += u64::from(second >= DAY_S);
                match looks % 50 {
                    49 => table.came(&url, at(second), false),
                    _ => table.looked(&url, at(second), &[]),
                }
            }
            while let Some(url) = table.due(at(second)) {
                assert!(under_way.iter().all(|(_, other)| *other != url), "{url} is under way");
                under_way.push((second, url));
            }
            most = most.max(under_way.len());
        }
        (looks, most)
    };
    let (one, of_one) = looks("lanes = 1");
    let (all, of_eight) = looks("lanes = 8\nlane_key = 'xxh3'");
    let told = format!("{one} looks with {of_one} at once, {all} with {of_eight}, of {PLANNED}");
    assert!(of_one == 1 && one <= PLANNED / 2, "{told}");
    assert!((2..=8).contains(&of_eight) && (PLANNED * 9 / 10..=PLANNED * 11 / 10).contains(&all), "{told}");
    // If the requests of a day are limited, results of one recheck are fetched before the next one.
    let counted = "lanes = 8\nlane_key = 'xxh3'\n[rate]\nconnections = 8\nrequests_per_day = 9000";
    let counted = Timetable::new(&rules(counted));
    ["a", "b", "c"].into_iter().for_each(|url| counted.looked(url, at(0), &[]));
    assert!(counted.due(at(60 * DAY_S)).is_some() && counted.due(at(60 * DAY_S)).is_none());
}
