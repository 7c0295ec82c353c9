//! What a repair must not do: ask for what the operator's file does not allow, run twice at once, put in force what is not known to be right.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gleaner_base::clock::{Clock as _, SystemClock};

use crate::cli::harness::{BINARY, Ran, Service, closed_port, folder, wait_for};
use crate::cli::learn_again::{Plan, Tracker};
use crate::cli::owners::give;
use crate::cli::repair::{BEFORE, PROPOSED, break_promise, crawled, gleaner, rules};

const CHANGED: Plan =
    Plan { stops_at: None, throttles: (0, 0, 0), logs_out_at: None, changes_at: Some(0), is_private: false };

/// Of a data folder that is not root's.
const OWNER: u32 = 4_321;

#[test]
fn a_repair_asks_for_nothing_that_the_operators_file_does_not_allow() {
    let here = folder();
    let here = here.path();
    let (site, file) = crawled(here, "");
    let plain = rules(&site.origin, BEFORE);
    let repair = |text: String| {
        site.take(CHANGED);
        fs::write(&file, text).unwrap();
        gleaner(here, &["rules", "repair", "mine", "--anyway"])
    };
    let on_top = |line: &str| plain.replace("\n[rate]", &format!("{line}\n[rate]"));
    // The site is not asked but by the proxy, which is away.
    repair(on_top(&format!("proxy = 'http://127.0.0.1:{}'\n", closed_port()))).ended(1);
    assert_eq!(site.take(CHANGED).len(), 0);
    let hour: u32 = SystemClock.now().rfc3339()[11..13].parse().unwrap();
    let quiet = format!("requests_per_second = 900.0\nquiet_hours = ['{hour:02}:00-{:02}:00']", (hour + 2) % 24);
    repair(plain.replace("requests_per_second = 900.0", &quiet))
        .ended(1)
        .says(&["mine: no request before ", "quiet_hours of the rule file"]);
    let quota = "requests_per_second = 900.0\nrequests_per_day = 5";
    repair(plain.replace("requests_per_second = 900.0", quota))
        .ended(1)
        .says(&["requests_per_day leaves 5 requests today"]);
    assert_eq!(site.take(CHANGED).len(), 0);

    repair(on_top("deny = ['^/faq', '^/topic/1']\n")).ended(0);
    let asked = site.take(CHANGED);
    assert!(asked.len() > 20 && !asked.iter().any(|path| path == "/faq" || path.starts_with("/topic/1")), "{asked:?}");
    let proposed = fs::read_to_string(here.join("rules/mine.toml.proposed")).unwrap();
    fs::write(here.join("proposed.toml"), &proposed).unwrap();
    gleaner(here, &["rules", "check", "proposed.toml"]).ended(0);
}

#[test]
fn what_nothing_shows_to_be_the_same_site_is_not_put_in_force() {
    let here = folder();
    let here = here.path();
    let (site, file) = crawled(here, "");
    site.take(CHANGED);
    // The torrents in the archive are another site's.
    fs::rename(&file, here.join("rules/other.toml")).unwrap();
    gleaner(here, &["rules", "repair", "other", "--anyway", "--apply"])
        .ended(1)
        .says(&["0 of the ", " are in the archive, and 1 would show that it is the same site"]);
}

#[test]
fn a_repair_that_cannot_be_put_in_force_is_proposed() {
    let here = folder();
    let here = here.path();
    let (site, file) = crawled(here, "");
    site.take(CHANGED);
    fs::write(here.join("rules/history"), "in the way").unwrap();
    let told = gleaner(here, &["rules", "repair", "mine", "--anyway", "--apply", "--json"]).ended(1).json();
    assert!(
        told["objections"][0].as_str().unwrap().starts_with("it cannot be put in force: rules/mine.toml"),
        "{told}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), rules(&site.origin, BEFORE));
    // That was no objection against its text.
    fs::remove_file(here.join("rules/history")).unwrap();
    site.take(CHANGED);
    gleaner(here, &["rules", "repair", "mine", "--apply"]).ended(0).says(&["is in force"]);
    assert_eq!(site.take(CHANGED).len(), 0);
}

#[test]
fn a_link_stays_a_link_and_the_version_is_a_file_of_its_own() {
    let here = folder();
    let here = here.path();
    let (site, file) = crawled(here, "");
    site.take(CHANGED);
    fs::create_dir(here.join("real")).unwrap();
    let real = here.join("real/mine.toml");
    fs::rename(&file, &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("../real/mine.toml", &file).unwrap();
    let told = gleaner(here, &["rules", "repair", "mine", "--anyway", "--apply", "--json"]).ended(0).json();
    let old = here.join(told["replaced"].as_str().unwrap());
    assert!(file.is_symlink() && !old.is_symlink(), "{told}");
    let of_old = fs::metadata(&old).unwrap();
    assert_eq!((of_old.nlink(), of_old.permissions().mode() & 0o777), (1, 0o640));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(&old).unwrap(), rules(&site.origin, BEFORE));
    assert!(fs::read_to_string(&real).unwrap().contains("^/topic/"));
    // Other numbers in the comments are no version.
    let told = gleaner(here, &["rules", "repair", "mine", "--anyway", "--apply", "--json"]).ended(1).json();
    assert_eq!(told["objections"][0], "the site calls for the rules that the file has", "{told}");
    assert_eq!(fs::read_dir(here.join("rules/history/mine")).unwrap().count(), 1);
}

#[test]
fn a_family_of_the_rules_folder_is_known() {
    let here = folder();
    let here = here.path();
    let (site, file) = crawled(here, "");
    fs::create_dir(here.join("rules/families")).unwrap();
    fs::write(
        here.join("rules/families/mine.toml"),
        "description = 'mine'\ndeny = ['^/faq']\n[login]\npage = '/enter'\n",
    )
    .unwrap();
    let text = rules(&site.origin, BEFORE).replace("\n[rate]", "extends = 'families/mine'\n[rate]");
    fs::write(&file, text).unwrap();
    site.take(CHANGED);
    gleaner(here, &["rules", "repair", "mine", "--anyway", "--apply"]).ended(0).says(&["is in force"]);
    assert!(!site.take(CHANGED).contains(&"/faq".to_owned()), "its family denies it");
}

#[test]
fn a_repair_ends_with_its_service_however_that_ends() {
    let here = folder();
    let here = fs::canonicalize(here.path()).unwrap();
    let (site, _) = crawled(&here, "");
    site.take(Plan { stops_at: Some(10), ..CHANGED });
    break_promise(&here);
    let service = Service::start(&here);
    let repairs = || {
        let all = fs::read_dir("/proc").unwrap().flatten().map(|of| of.path());
        let is_repair = |path: &PathBuf| {
            let words = fs::read(path.join("cmdline")).unwrap_or_default();
            let is_one = words.split(|byte| *byte == 0).any(|word| word == b"--of-service");
            is_one && fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == here)
        };
        all.filter(is_repair).count()
    };
    wait_for("the site is learned again", || (repairs() == 1 && site.count() >= 10).then_some(()));
    service.signal(rustix::process::Signal::KILL);
    wait_for("the repair ends, too", || (repairs() == 0).then_some(()));
}

#[test]
fn a_site_is_learned_by_one_process_while_no_other_crawls_it() {
    let here = folder();
    let here = here.path();
    let (site, _) = crawled(here, "[learn]\nrepair = 'off'\n");
    site.take(CHANGED);
    break_promise(here);
    fs::create_dir(here.join("data/learned")).unwrap();
    fs::set_permissions(here.join("data/learned"), fs::Permissions::from_mode(0o700)).unwrap();
    let held = fs::File::create(here.join("data/learned/mine+repair.answers")).unwrap();
    held.lock().unwrap();
    gleaner(here, &["rules", "repair", "mine"]).ended(1).says(&["another process learns this site"]);
    drop(held);
    assert_eq!(site.take(CHANGED).len(), 0);
    let service = Service::start(here);
    wait_for("the site is crawled", || service.logged("site is being crawled").pop());
    wait_for("the service answers for it", || {
        let sites = gleaner(here, &["status", "--json"]);
        (sites.code == Some(0) && sites.json()["sites"][0]["is_crawled"] == true).then_some(())
    });
    gleaner(here, &["rules", "repair", "mine", "--anyway"]).ended(1).says(&["mine: another process crawls it now"]);
    assert_eq!(service.stop().code(), Some(0));
}

#[test]
fn a_repair_that_was_cut_off_is_gone_on_with() {
    let here = folder();
    let here = here.path();
    let (site, _) = crawled(here, "");
    site.take(Plan { throttles: (12, usize::MAX, 86_400), ..CHANGED });
    let cut = gleaner(here, &["rules", "repair", "mine", "--anyway"]).ended(1);
    cut.says(&["the site wants no more requests for now", "it goes on with what was read"]);
    assert!(!here.join("rules/mine.toml.proposed").exists());
    let first = site.take(Plan { stops_at: Some(5), ..CHANGED });
    let mut child = Command::new(BINARY)
        .current_dir(here)
        .args(["rules", "repair", "mine", "--anyway", "--data", "data", "--rules", "rules"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("it waits for an answer", || (site.count() >= 5).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = [&first[..11], &site.take(CHANGED)[..4]].concat();
    gleaner(here, &["rules", "repair", "mine", "--anyway"]).ended(0);
    let after = site.take(CHANGED);
    // Some pages are read twice to see what changes in them.
    let again = before.iter().filter(|path| after.contains(path)).count();
    assert!(again <= 2 && after.len() < 14, "{before:?} {after:?}");
    // One that has ended is not.
    gleaner(here, &["rules", "repair", "mine", "--anyway"]).ended(0);
    assert!(site.take(CHANGED).len() > after.len() + 10);
    assert!(here.join("rules/mine.toml.proposed.before").exists(), "an earlier proposal stays");
}

/// A site for members that was crawled by these rules before it changes, and the file of its password.
fn crawled_by_member(here: &Path) -> (Tracker, PathBuf) {
    let site = Tracker::start(Plan { is_private: true, ..Plan::default() });
    fs::create_dir(here.join("rules")).unwrap();
    let text = rules(&site.origin, BEFORE) + "[login]\nuser = 'anna'\n";
    fs::write(here.join("rules/mine.toml"), text).unwrap();
    let secret = here.join("data/secrets/mine");
    fs::create_dir_all(here.join("data/secrets")).unwrap();
    fs::write(&secret, "s3cretPass\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    gleaner(here, &["crawl"]).ended(0);
    site.take(Plan { is_private: true, ..CHANGED });
    (site, secret)
}

#[test]
fn root_puts_a_repair_in_force_and_leaves_the_session_to_the_owner_of_the_data_folder() {
    let here = folder();
    let here = here.path();
    let (site, _) = crawled_by_member(here);
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root {
        fs::set_permissions(here, fs::Permissions::from_mode(0o755)).unwrap();
        give(&here.join("data"), OWNER);
        // As the unit has it: the service may not write to the rules folder.
        let words = ["rules", "repair", "mine", "--anyway", "--apply", "--json", "--data", "data", "--rules", "rules"];
        let ran = Command::new(BINARY).current_dir(here).args(words).uid(OWNER).gid(OWNER).output().unwrap();
        let told = Ran::of(&ran).ended(1).json();
        assert_eq!(told["file"], "data/proposed/mine.toml.proposed", "{told}");
        assert!(told["objections"][0].as_str().unwrap().contains("it cannot be put in force"), "{told}");
        site.take(Plan { is_private: true, ..CHANGED });
        gleaner(here, &["rules", "repair", "mine", "--apply"]).ended(0).says(&["is in force"]);
        assert_eq!(site.count(), 0);
        gleaner(here, &["rules", "revert", "mine"]).ended(0);
    }
    gleaner(here, &["rules", "repair", "mine", "--anyway", "--apply"]).ended(0).says(&["is in force"]);
    let owner = |path: &str| fs::metadata(here.join(path)).unwrap().uid();
    if is_root {
        assert_eq!((owner("rules/mine.toml"), owner("rules/history/mine")), (0, 0));
        for path in
            fs::read_dir(here.join("data/sessions")).unwrap().chain(fs::read_dir(here.join("data/learned")).unwrap())
        {
            assert_eq!(path.unwrap().metadata().unwrap().uid(), OWNER);
        }
    }
}

#[test]
fn the_service_repairs_a_members_site_with_a_password_of_its_environment() {
    let here = folder();
    let here = here.path();
    let (_site, secret) = crawled_by_member(here);
    fs::remove_file(secret).unwrap();
    break_promise(here);
    let service = Service::with(here, &[("GLEANER_PASSWORD_MINE", "s3cretPass")]);
    let told = wait_for("the repair is proposed", || service.logged(PROPOSED).pop());
    assert_eq!(told["objections"], "", "{told}");
    let proposed = fs::read_to_string(here.join("rules/mine.toml.proposed")).unwrap();
    assert!(proposed.contains("^/topic/") && proposed.contains("user = 'anna'"), "{proposed}");
    assert_eq!(service.stop().code(), Some(0));
    assert!(!fs::read_to_string(here.join("log")).unwrap().contains("s3cretPass"));
}
