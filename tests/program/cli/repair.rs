//! A site that was rewritten: the broken promise in `status` and in the exit code of `crawl`, `rules repair`, `rules history`, `rules revert`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use gleaner_base::clock::UnixMillis;
use gleaner_crawl::promises::{Breach, KnownUrl, PROMISES_NOTE, Promises, Seen, Verdict};
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::{CrawlDb as _, HostId, UrlKey};

use crate::cli::harness::{Ran, Service, archived, folder, run, wait_for};
use crate::cli::learn_again::{Plan, Tracker};

pub const PROPOSED: &str = "a repaired rule file is proposed (hint: read it, then `gleaner rules repair SITE --apply`)";

pub const BEFORE: &str = "detail = ['^/details/\\d+$']";

pub fn rules(origin: &str, detail: &str) -> String {
    format!(
        "# Mine.\nstart = ['{origin}/']\n\n[rate]\nrequests_per_second = 900.0\nrest_factor = 0.0\n\n[classes]\n\
         index = ['^/(?:\\?page=(?<page>\\d+))?$']\n{detail}\ndownload = ['^/dl/\\d+\\.torrent$']\n"
    )
}

pub fn gleaner(here: &Path, words: &[&str]) -> Ran {
    run(here, &[words, &["--data", "data", "--rules", "rules"]].concat())
}

/// What the loop leaves when the site's details are gone.
fn note(rule: &str) -> Vec<u8> {
    let mut promises = Promises::default();
    let mut visit = |id: u64, verdict: Verdict| {
        let url = KnownUrl { key: UrlKey { host: HostId(1), path: format!("/details/{id}").into() }, depth: 1 };
        promises.mind(
            Seen {
                rule,
                is_behind: false,
                url,
                verdict,
                parent: None,
                detail: None,
                at: UnixMillis(1_700_000_000_000 + id),
            },
            BTreeMap::new,
        );
    };
    (0..40).for_each(|id| visit(id, Verdict::Kept));
    (40..60).for_each(|id| visit(id, Verdict::Broken(Breach::Gone)));
    (37..40).for_each(|id| visit(id, Verdict::Broken(Breach::Gone)));
    assert_eq!(promises.alarms().count(), 1);
    promises.note().unwrap()
}

pub fn break_promise(here: &Path) {
    let path = here.join("data/crawl.redb");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = RedbStore::open(&path, OpenOptions::default()).unwrap();
        store.put_note("mine", PROMISES_NOTE, note("classes.detail ^/details/\\d+$")).await.unwrap();
    });
}

/// A site that was crawled by these rules and more of them, before it changes; its rule file.
pub fn crawled(here: &Path, more: &str) -> (Tracker, PathBuf) {
    let site = Tracker::start(Plan::default());
    fs::create_dir_all(here.join("rules")).unwrap();
    let file = here.join("rules/mine.toml");
    fs::write(&file, rules(&site.origin, BEFORE) + more).unwrap();
    gleaner(here, &["crawl"]).ended(0);
    (site, file)
}

#[test]
fn a_rewritten_site_is_told_repaired_and_taken_back() {
    let here = folder();
    let here = here.path();
    let (site, file) = crawled(here, "");
    let before = archived(&here.join("data"));
    assert_eq!(before.len(), 50);
    gleaner(here, &["rules", "repair", "mine"]).ended(0).says(&["its rules keep their promises"]);
    gleaner(here, &["rules", "history", "mine"]).ended(0).says(&["no earlier version is kept"]);
    gleaner(here, &["rules", "revert", "mine"])
        .ended(1)
        .says(&["no earlier version is kept\nhint: gleaner rules history mine"]);

    site.take(Plan { changes_at: Some(0), ..Plan::default() });
    break_promise(here);
    let told = "classes.detail `^/details/\\d+$` keeps its promise no more";
    gleaner(here, &["status"]).ended(0).says(&[told, "hint: gleaner rules repair mine"]);
    let status = gleaner(here, &["status", "--json"]).ended(0).json();
    let broken = &status["sites"][0]["broken_promises"][0];
    assert_eq!((broken["breach"].as_str(), broken["is_behind"].as_bool()), (Some("gone"), Some(false)), "{broken}");
    gleaner(here, &["crawl"]).ended(1).says(&[told, "rules repair mine"]);
    let too_high = ["`classes.detail ^/details/\\d+$` keeps its promise no more", "CR is too high"];
    gleaner(here, &["coverage"]).ended(0).says(&too_high);
    gleaner(here, &["coverage", "mine"]).ended(0).says(&too_high);

    let proposed = here.join("rules/mine.toml.proposed");
    gleaner(here, &["rules", "repair", "mine"]).ended(0).says(&[
        told,
        "-detail = ['^/details/\\d+$']",
        "^/topic/\\d+$",
        "mine.toml.proposed",
        "next: read it, then: gleaner rules repair mine --apply",
    ]);
    let text = fs::read_to_string(&proposed).unwrap();
    assert!(text.contains("# Mine.") && text.contains("requests_per_second = 900.0"), "{text}");
    assert_eq!(fs::read_to_string(&file).unwrap(), rules(&site.origin, BEFORE), "nothing is applied unasked");

    // What is applied is what was read and edited, and the site is asked for nothing.
    site.take(Plan { changes_at: Some(0), ..Plan::default() });
    fs::write(&proposed, text.clone() + "start = [\n").unwrap();
    gleaner(here, &["rules", "repair", "mine", "--apply"])
        .ended(1)
        .says(&["the proposal has faults: ", "or remove it"]);
    fs::write(&proposed, text.replace("900.0", "800.0")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let applied = gleaner(here, &["rules", "repair", "mine", "--apply", "--json"]).ended(0).json();
    assert_eq!(
        (applied["is_applied"].as_bool(), applied["objections"].as_array().map(Vec::len)),
        (Some(true), Some(0))
    );
    assert_eq!(site.take(Plan { changes_at: Some(0), ..Plan::default() }).len(), 0, "{applied}");
    assert!(!proposed.exists());
    let repaired = fs::read_to_string(&file).unwrap();
    assert!(repaired.contains("^/topic/\\d+$") && !repaired.contains("^/details/"), "{repaired}");
    assert!(repaired.starts_with("# Mine.") && repaired.contains("800.0"), "{repaired}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    // Another expression has another promise, and the site's torrents are reached by it.
    gleaner(here, &["crawl"]).ended(0);
    assert_eq!(
        gleaner(here, &["status", "--json"]).ended(0).json()["sites"][0]["broken_promises"].as_array().unwrap().len(),
        0
    );

    let history = gleaner(here, &["rules", "history", "mine", "--json"]).ended(0).json();
    assert_eq!(history["versions"].as_array().unwrap().len(), 1, "{history}");
    gleaner(here, &["rules", "revert", "mine", "2001"]).ended(1).says(&["mine has no such version"]);
    gleaner(here, &["rules", "revert", "mine"]).ended(0).says(&["rules/mine.toml is the version of "]);
    assert_eq!(fs::read_to_string(&file).unwrap(), rules(&site.origin, BEFORE));
    gleaner(here, &["rules", "history", "mine"]).ended(0).says(&["puts the last one in force again"]);
    gleaner(here, &["rules", "revert", "mine"]).ended(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), repaired, "back and forth");
}

#[test]
fn a_repair_that_is_not_sure_is_not_applied_and_says_why() {
    let here = folder();
    let here = here.path();
    let (site, file) = crawled(here, "");
    // The archive is lost: nothing shows that the site is the same.
    fs::remove_dir_all(here.join("data/torrents")).unwrap();
    fs::create_dir(here.join("data/torrents")).unwrap();
    site.take(Plan { changes_at: Some(0), ..Plan::default() });
    let ran = gleaner(here, &["rules", "repair", "mine", "--anyway", "--apply"]).ended(1);
    let ran = ran.says(&[
        "are in the archive, and 5 would show that it is the same site",
        "if it is right, remove the lines at its top that begin with `# - `, then: gleaner rules repair mine --apply",
    ]);
    assert!(!ran.out.contains("is in force"), "{}", ran.out);
    assert_eq!(fs::read_to_string(&file).unwrap(), rules(&site.origin, BEFORE));
    let proposed = here.join("rules/mine.toml.proposed");
    let text = fs::read_to_string(&proposed).unwrap();
    assert!(text.contains("^/topic/\\d+$"), "{text}");
    // It is put in force by who has read what speaks against it, and the old file is kept.
    let apply = ["rules", "repair", "mine", "--apply"];
    gleaner(here, &apply).ended(1).says(&["would show that it is the same site", "remove the lines at its top"]);
    let read: String = text.split_inclusive('\n').filter(|line| !line.starts_with("# - ")).collect();
    fs::write(&proposed, read).unwrap();
    gleaner(here, &apply).ended(0).says(&["is in force", "rules revert mine"]);
    gleaner(here, &["rules", "repair", "nosite"])
        .ended(1)
        .says(&["nosite: no site of this name has a valid rule file\nhint: gleaner rules check"]);
}

#[test]
fn the_service_learns_a_rewritten_site_again_and_applies_the_repair_if_the_rule_file_says_so() {
    for (repair, is_applied) in
        [("", false), ("[learn]\nrepair = 'apply'\n", true), ("[learn]\nrepair = 'off'\n", false)]
    {
        let here = folder();
        let here = here.path();
        let (site, file) = crawled(here, repair);
        let old = fs::read_to_string(&file).unwrap();
        site.take(Plan { changes_at: Some(0), ..Plan::default() });
        break_promise(here);
        let service = Service::start(here);
        let proposed = here.join("rules/mine.toml.proposed");
        if repair.contains("off") {
            wait_for("the site is crawled", || service.logged("site is being crawled").pop());
        } else if is_applied {
            wait_for("the repair is in force", || {
                service
                    .logged(
                        "a repaired rule file is in force (hint: `gleaner rules history SITE`, `gleaner rules revert SITE`)",
                    )
                    .pop()
            });
            wait_for("the crawl goes on by it", || service.logged("site is being crawled").get(1).cloned());
            assert!(fs::read_to_string(&file).unwrap().contains("^/topic/"));
            gleaner(here, &["rules", "history", "mine"]).ended(0).says(&["puts the last one in force again"]);
        } else {
            wait_for("the repair is proposed", || service.logged(PROPOSED).pop());
            wait_for("the crawl goes on", || service.logged("site is being crawled").get(1).cloned());
            gleaner(here, &["status"]).ended(0).says(&["a repaired rule file is proposed: rules/mine.toml.proposed"]);
            assert!(fs::read_to_string(&proposed).unwrap().contains("^/topic/"));
        }
        assert_eq!(proposed.exists(), !is_applied && repair.is_empty(), "{repair}");
        assert_eq!(fs::read_to_string(&file).unwrap() != old, is_applied, "{repair}");
        assert_eq!(service.stop().code(), Some(0));
    }
}
