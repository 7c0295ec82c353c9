//! Proof that the checkers can fail: the history of a good crawl, altered as a broken crawler would have left it, is
//! rejected.

use gleaner_base::clock::UnixMillis;
use gleaner_crawl::progress::Ended;
use gleaner_store::crawldb::Next;

use super::plan::Plan;
use super::store::Event;
use super::wire::Served;
use super::world::{self, History};
use super::{check, plan};

/// A world without faults, whose sites have torrents, several pages and almost no rate limit.
fn good() -> History {
    let mut plan = Plan::of(8);
    plan.sites.truncate(1);
    let site = &mut plan.sites[0];
    site.torrents = 20;
    site.web.hosts.truncate(1);
    site.robots.truncate(1);
    let rules = plan::RobotsRules {
        closed: vec!["/about/".to_owned()],
        text: "User-agent: *\nDisallow: /about/\n".to_owned(),
        ..plan::RobotsRules::default()
    };
    site.robots[0].rules = Some(rules);
    let rate = "[rate]\nrequests_per_second = 2\nconnections = 1\nrest_factor = 0.5\n";
    site.rules = format!("start = ['http://{}/']\n{rate}{}", site.web.hosts[0], plan::CLASSES);
    let history = world::run(plan);
    assert_eq!(check(&history), Vec::<String>::new());
    history
}

/// Alters a good history; a fault of this kind must be reported.
fn found_out(kind: &str, doctor: impl FnOnce(&mut History)) {
    let mut history = good();
    doctor(&mut history);
    let faults = check(&history);
    assert!(faults.iter().any(|fault| fault.contains(kind)), "no `{kind}` in {faults:#?}");
}

/// The first request with such a response, after the start page.
fn position(history: &History, is_it: impl Fn(&Served) -> bool) -> usize {
    history.log.iter().skip(3).position(|entry| is_it(&entry.served)).unwrap() + 3
}

#[test]
fn a_request_too_early_is_found_out() {
    found_out("spacing", |history| {
        let earlier = history.log[4].began;
        let entry = &mut history.log[5];
        entry.began_wall = UnixMillis(entry.began_wall.0 - (entry.began - earlier - 10));
        entry.began = earlier + 10;
    });
}

#[test]
fn one_connection_too_many_is_found_out() {
    found_out("connections", |history| {
        let later = history.log[6].began + 100;
        history.log[4].ended = Some((later, UnixMillis(later)));
    });
}

#[test]
fn a_connection_that_does_not_rest_is_found_out() {
    found_out("connections", |history| {
        let next = history.log[5].began;
        let wall = history.log[5].began_wall;
        history.log[4].ended = Some((next - 1, UnixMillis(wall.0 - 1)));
    });
}

#[test]
fn a_request_within_a_pause_is_found_out() {
    found_out("pause", |history| {
        let until = UnixMillis(history.log[4].began_wall.0 + 60_000);
        history.log[4].served = Served::Busy(Some(until));
    });
}

#[test]
fn a_request_within_a_pause_of_an_earlier_life_is_found_out() {
    found_out("kept pause", |history| {
        let mut told = history.told[0].clone();
        let host = history.hosts[0].id;
        (told.at, told.wall) = (history.log[4].began, history.log[4].began_wall);
        told.event = Event::Blocked(host, UnixMillis(told.wall.0 + 60_000));
        history.told.push(told);
    });
}

#[test]
fn a_closed_path_is_found_out() {
    found_out("robots: a closed path", |history| {
        let entry = &mut history.log[5];
        let origin = entry.url.len() - entry.path.len();
        entry.path = "/about/1".to_owned();
        entry.url = format!("{}/about/1", &entry.url[..origin]);
    });
}

#[test]
fn a_request_before_robots_txt_is_found_out() {
    found_out("robots: asked before", |history| {
        history.log.remove(0);
    });
}

#[test]
fn a_transfer_without_end_is_found_out() {
    found_out("length", |history| history.log[5].ended = None);
}

#[test]
fn a_body_without_end_is_found_out() {
    found_out("length", |history| history.log[5].bytes = 1 << 30);
}

#[test]
fn a_url_fetched_twice_is_found_out() {
    found_out("cause", |history| {
        let mut again = history.log[5].clone();
        let last = history.log.last().unwrap();
        let wait = last.ended.unwrap().0 + 5_000 - again.began;
        again.began += wait;
        again.began_wall = UnixMillis(again.began_wall.0 + wait);
        again.ended = Some((again.began + 1, again.began_wall));
        history.log.push(again);
    });
}

#[test]
fn a_retry_before_its_time_is_found_out() {
    found_out("before it is due", |history| {
        let again = history.log[5].clone();
        let at = again.ended.unwrap();
        let key = history.records.keys().find(|key| *key.path == *again.path).unwrap().clone();
        for told in &mut history.told {
            if let Event::Visited { visit, .. } = &mut told.event
                && visit.key == key
            {
                visit.next = Next::RetryAt(UnixMillis(at.1.0 + 3_600_000));
            }
        }
        let mut early = again;
        let last = history.log.last().unwrap().ended.unwrap();
        (early.began, early.began_wall) = (last.0 + 5_000, UnixMillis(last.1.0 + 5_000));
        early.ended = Some((early.began + 1, early.began_wall));
        history.log.push(early);
    });
}

#[test]
fn a_wrong_outcome_is_found_out() {
    found_out("outcome", |history| {
        let at = position(history, |served| matches!(served, Served::Torrent(..)));
        history.log[at].served = Served::Status(404);
    });
}

#[test]
fn an_outcome_of_a_url_that_nobody_asked_for_is_found_out() {
    found_out("outcome", |history| {
        let at = position(history, |served| matches!(served, Served::Page(_)));
        history.log.remove(at);
    });
}

#[test]
fn a_lost_link_is_found_out() {
    found_out("account", |history| {
        let key = history.records.keys().rfind(|key| key.path.starts_with("/t/")).unwrap().clone();
        history.records.insert(key, None);
    });
}

#[test]
fn a_url_left_in_the_queue_is_found_out() {
    found_out("end", |history| {
        let (key, record) = history.records.iter_mut().find(|(key, _)| key.path.starts_with("/t/")).unwrap();
        record.as_mut().unwrap().outcome = None;
        history.queued.insert(key.clone());
    });
}

#[test]
fn a_crawl_that_gives_up_is_found_out() {
    found_out("end", |history| {
        history.lives.last_mut().unwrap().ends[0].1 = Ok(Ended::Unreachable("no reason".to_owned()));
    });
}

#[test]
fn a_torrent_without_a_row_is_found_out() {
    found_out("harvest", |history| {
        history.torrents.pop();
    });
}

#[test]
fn a_torrent_with_two_rows_is_found_out() {
    found_out("harvest", |history| {
        let row = history.torrents[0].clone();
        history.torrents.push(row);
    });
}

#[test]
fn a_row_without_its_file_is_found_out() {
    found_out("harvest", |history| {
        history.files.pop_first();
    });
}

#[test]
fn a_damaged_file_is_found_out() {
    found_out("harvest", |history| history.files.values_mut().next().unwrap().push(b'!'));
}

#[test]
fn a_file_without_a_row_is_found_out() {
    found_out("harvest", |history| {
        history.files.insert("00/0000000000000000000000000000000000000000.torrent".to_owned(), Vec::new());
    });
}

#[test]
fn a_torrent_that_was_never_found_is_found_out() {
    found_out("harvest", |history| {
        let plan = std::sync::Arc::make_mut(&mut history.plan);
        plan.sites[0].torrents += 1;
    });
}
