//! Tests of when the service learns a site again, and of what becomes of it meanwhile.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use gleaner_crawl::promises::{Breach, KnownUrl, PROMISES_NOTE, Promises, Seen, Verdict as Kept};
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{HostId, UrlKey};

const NOW: UnixMillis = UnixMillis(1_700_000_100_000);

fn site(detail: &str, more: &str) -> Arc<SiteRules> {
    let text = format!("start = ['https://t.example/']\n{more}[classes]\npage = ['^/$']\ndetail = ['{detail}']\n");
    gleaner_rules::from_text_at(Path::new("/nonexistent/mine.toml"), &text).unwrap()
}

/// A database with an alarm of the expression `^/d`.
async fn alarmed() -> MemoryStore {
    let mut promises = Promises::default();
    for id in 0..90_u64 {
        let url = KnownUrl { key: UrlKey { host: HostId(1), path: format!("/d/{id}").into() }, depth: 1 };
        let verdict = if id < 40 { Kept::Kept } else { Kept::Broken(Breach::Gone) };
        let seen = Seen {
            rule: "classes.detail ^/d",
            is_behind: false,
            url,
            verdict,
            parent: None,
            detail: None,
            at: UnixMillis(NOW.0 - 1),
        };
        promises.mind(seen, BTreeMap::new);
    }
    for id in 37..40_u64 {
        let url = KnownUrl { key: UrlKey { host: HostId(1), path: format!("/d/{id}").into() }, depth: 1 };
        let (verdict, at) = (Kept::Broken(Breach::Gone), UnixMillis(NOW.0 - 1));
        promises.mind(
            Seen { rule: "classes.detail ^/d", is_behind: false, url, verdict, parent: None, detail: None, at },
            BTreeMap::new,
        );
    }
    let db = MemoryStore::new();
    db.put_note("mine", PROMISES_NOTE, promises.note().unwrap()).await.unwrap();
    db
}

#[tokio::test]
async fn a_site_is_learned_again_once_a_day_while_it_may_be_asked_and_has_the_broken_rule() {
    let here = tempfile::tempdir().unwrap();
    let db = alarmed().await;
    let mut repairs = Repairs::new(Vec::new());
    let mut wants = async |rules: &Arc<SiteRules>, now| repairs.wants(&db, rules, here.path(), now).await.unwrap();
    let usual = site("^/d", "");
    assert!(wants(&usual, NOW).await);
    assert!(wants(&usual, NOW).await, "until it has ended");
    assert!(!wants(&site("^/other", ""), NOW).await, "its rule is gone");
    assert!(!wants(&site("^/d", "[learn]\nrepair = 'off'\n"), NOW).await);
    let quiet = "[rate]\nquiet_hours = ['22:00-23:00']\n";
    assert!(!wants(&site("^/d", quiet), NOW).await);
    let host = db.host_id("mine", "https://t.example").await.unwrap();
    db.block_host_until(host, NOW.plus(Duration::from_secs(60)), "Retry-After", 1).await.unwrap();
    assert!(!wants(&usual, NOW).await, "its host wants a pause");
    let later = NOW.plus(Duration::from_secs(61));
    assert!(wants(&usual, later).await);
    note_ended(&db, "mine", later).await.unwrap();
    assert!(!wants(&usual, later.plus(REPAIR_AGAIN_AFTER / 2)).await, "after a restart too");
    assert!(wants(&usual, later.plus(REPAIR_AGAIN_AFTER)).await);
}

#[tokio::test]
async fn a_fault_in_the_rule_file_keeps_the_site_and_one_that_is_not_wanted_is_left_alone() {
    let here = tempfile::tempdir().unwrap();
    let program = here.path().join("program");
    let ended = here.path().join("ended");
    std::fs::write(&program, format!("#!/bin/sh\nread line <>/dev/null\nsleep 1\ntouch {}\n", ended.display()))
        .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let db = alarmed().await;
    let mut repairs = Repairs::new(vec![program.into_os_string()]);
    let rules = site("^/d", "");
    assert!(!repairs.begin("mine", &rules), "none is due");
    for is_bad in [true, false] {
        assert!(repairs.wants(&db, &rules, here.path(), NOW).await.unwrap());
        assert!(repairs.begin("mine", &rules) && repairs.are_running());
        repairs.retain(|_| false, |_| is_bad);
        assert_eq!(repairs.next("mine").is_some(), is_bad, "no crawl begins beside it");
        let next = repairs.ended().await;
        assert_eq!(next.map(|(name, _)| name), is_bad.then(|| "mine".to_owned()));
        assert_eq!(ended.exists(), is_bad);
        let _ = std::fs::remove_file(&ended);
    }
    assert!(repairs.wants(&db, &rules, here.path(), NOW).await.unwrap());
    assert!(!repairs.begin("mine", &site("^/d", "[learn]\nrepair = 'off'\n")), "as the file says by now");
}

#[test]
fn a_slow_site_gets_the_time_that_its_rate_takes() {
    let time = |rate: &str| time_of(&site("^/d", &format!("[rate]\nrequests_per_second = {rate}\n"))).as_secs();
    assert_eq!([time("1.0"), time("0.05"), time("0.001")], [3_900, 9_600, 86_400]);
    assert_eq!(why_of("12 of 150 requests\nerror: no\nhint: yes\n"), "error: no\nhint: yes");
}
