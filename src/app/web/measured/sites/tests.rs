//! States of a site, and that every family has a series for each.

use super::*;

fn site(doing: SiteProgress) -> Measures {
    Measures {
        name: "site".to_owned(),
        is_enabled: true,
        doing,
        counts: SiteCounts::default(),
        script_requests: 0,
        delays: histogram::Histogram::default(),
        last_success: None,
        last_find: None,
        broken_rules: 0,
        rule_faults: 0,
        hosts_paused: 0,
    }
}

#[test]
fn a_site_is_in_one_state() {
    let missing = SessionState::Missing { until: None, why: "wrong password".to_owned(), next_look: None };
    let ended = |ended| SiteProgress { ended: Some(ended), ..SiteProgress::default() };
    let doing = [
        ("idle", SiteProgress::default()),
        ("crawling", SiteProgress { under_way: 3, ..SiteProgress::default() }),
        ("waiting", SiteProgress { waiting: Some((UnixMillis(5), "hours".to_owned())), ..SiteProgress::default() }),
        ("not_logged_in", SiteProgress { session: Some(missing.clone()), ..SiteProgress::default() }),
        ("unreachable", ended(Ended::Unreachable("no answer".to_owned()))),
        ("refused", ended(Ended::Refused("403".to_owned()))),
        ("stopped", ended(Ended::Stopped)),
    ];
    for (state, doing) in doing {
        assert_eq!(site(doing).state(), state);
        assert!(STATES.contains(&state));
    }
    let paused = Measures { hosts_paused: 1, ..site(SiteProgress { under_way: 1, ..SiteProgress::default() }) };
    assert_eq!(paused.state(), "waiting");
    assert_eq!(Measures { is_enabled: false, ..site(SiteProgress::default()) }.state(), "stopped");
    let session = |session| site(SiteProgress { session, ..SiteProgress::default() }).session_is_valid();
    let good = SessionState::Good { proven: UnixMillis(1) };
    assert_eq!(
        [None, Some(good), Some(SessionState::LoggingIn), Some(missing)].map(session),
        [true, true, false, false]
    );
}

#[test]
fn each_site_has_its_series_before_anything_was_measured() {
    let sites = [site(SiteProgress::default())];
    let shown = format!("{:?}", families(&sites, &Counted::default()));
    for (name, ..) in OF_SITES {
        assert!(shown.contains(name), "{name}");
    }
    assert_eq!(shown.matches("(\"site\", \"site\"), (\"class\", ").count(), 4, "{shown}");
    assert!(shown.contains("(\"le\", \"604800\")"), "{shown}");
}
