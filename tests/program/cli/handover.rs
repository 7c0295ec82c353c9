//! `gleaner handover`: torrents that fit a search reach a watch folder once, by the command and by the service, whatever ends it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::cli::harness::{Ran, Service, Site, archived, folder, run, wait_for};

fn handover(here: &Path, more: &[&str]) -> Ran {
    run(here, &[&["handover", "--data", "data", "--rules", "rules"], more].concat())
}

/// Infohashes that the files of a watch folder are named by, each with its number of files.
fn handed(watch: &Path) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(watch).into_iter().flatten() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some((_, tag)) = name.strip_suffix("].torrent").and_then(|name| name.rsplit_once(" [")) {
            *found.entry(tag.to_owned()).or_default() += 1;
        }
    }
    found
}

fn keys(found: &BTreeMap<String, usize>) -> BTreeSet<String> {
    found.keys().cloned().collect()
}

#[test]
fn the_command_hands_over_what_fits_and_lists_what_it_did() {
    let here = folder();
    let here = here.path();
    handover(here, &[]).ended(0).says(&["no handovers", "hint: in gleaner.toml, add [[handover]]"]);
    handover(here, &["box"]).ended(1).says(&["box: gleaner.toml has no [[handover]]"]);
    let config = "[[handover]]\nname = 'box'\nfolder = 'watch'\nsearch = 'v1:yes foo:bar'\nsince = 'all'\n[[handover]]\nname = 'news'\nfolder = 'news'\n";
    fs::write(here.join("gleaner.toml"), config.replace(" foo:bar", "")).unwrap();
    handover(here, &["box"]).ended(1).says(&["hint: "]);
    let site = Site::start(here, 60, 0);
    run(here, &["crawl", "--data", "data", "--rules", "rules", "--json"]).ended(0);
    drop(site);
    let v1: BTreeSet<String> = archived(&here.join("data")).into_iter().filter(|hash| hash.len() == 40).collect();

    handover(here, &["boks"]).ended(1).says(&["no [[handover]] has this name", "hint: known names: box, news"]);
    handover(here, &["box"]).ended(1).says(&["watch: there is no such folder", "hint: create it"]);
    handover(here, &["--dry-run"]).ended(2);
    fs::create_dir(here.join("watch")).unwrap();
    let dry = handover(here, &["box", "--dry-run", "--json"]).ended(0).json();
    assert_eq!((dry["waiting"].as_u64(), dry["handed"].as_u64()), (Some(v1.len() as u64), Some(0)), "{dry}");
    assert_eq!(dry["torrents"].as_array().unwrap().len(), v1.len());
    assert!(handed(&here.join("watch")).is_empty());
    handover(here, &["box", "--dry-run"]).ended(0).says(&["watch: ", "torrents would be handed over"]);

    let done = handover(here, &["box", "--json"]).ended(0).json();
    assert_eq!(done["handed"].as_u64(), Some(v1.len() as u64), "{done}");
    assert_eq!(keys(&handed(&here.join("watch"))), v1);
    for hash in &v1 {
        let file = fs::read_dir(here.join("watch")).unwrap().map(|entry| entry.unwrap().path());
        let file = file.into_iter().find(|path| path.to_string_lossy().contains(hash)).unwrap();
        assert!(
            fs::read(file).unwrap()
                == fs::read(here.join(format!("data/torrents/{}/{hash}.torrent", &hash[..2]))).unwrap()
        );
    }
    // A client takes them, and none comes again.
    fs::remove_dir_all(here.join("watch")).unwrap();
    fs::create_dir(here.join("watch")).unwrap();
    handover(here, &["box"]).ended(0).says(&["0 torrents were handed over"]);
    let list = handover(here, &["--json"]).ended(0).json();
    let [first, news] = &list["handovers"].as_array().unwrap()[..] else { panic!("{list}") };
    assert_eq!((first["handed"].as_u64(), first["waiting"].as_u64()), (Some(v1.len() as u64), Some(0)), "{list}");
    assert!(first["last"].is_string() && first["fault"].is_null() && news["last"].is_null(), "{list}");
    assert_eq!((news["waiting"].as_u64(), news["since"].as_str()), (Some(0), Some("new")), "{list}");
    handover(here, &[]).ended(0).says(&["handed over", "box", "never", "news: ", "there is no such folder"]);
    run(here, &["config", "check"]).ended(0).says(&["handover box: watch (all)"]);

    // Who may not write there is told what the unit needs. (Root may write anywhere.)
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(here.join("watch"), fs::Permissions::from_mode(0o500)).unwrap();
        fs::write(here.join("gleaner.toml"), config.replace("'box'", "'third'").replace(" foo:bar", "")).unwrap();
        handover(here, &["third"]).ended(1).says(&["cannot be written", "ReadWritePaths="]);
    }
    // A broken entry, and a doubtful search.
    fs::write(here.join("gleaner.toml"), "[[handover]]\nname = 'x'\n").unwrap();
    handover(here, &["x"]).ended(1).says(&["gleaner.toml:1:1", "the key `folder` is missing"]);
    fs::write(here.join("gleaner.toml"), config).unwrap();
    handover(here, &["box"]).ended(0).says(&["`foo:bar` is no filter"]);
    run(here, &["config", "check"]).ended(0).says(&["warning: handover box: `foo:bar` is no filter"]);
}

/// SIGKILLs while the service stores and hands over: `GLEANER_KILLS` of them.
#[test]
fn the_service_hands_over_each_torrent_once_whatever_kills_it() {
    let kills = std::env::var("GLEANER_KILLS").map_or(5, |kills| kills.parse().unwrap());
    let here = folder();
    let here = here.path();
    let watch = here.join("watch");
    let config = "[[handover]]\nname = 'box'\nfolder = 'watch'\nsince = 'all'\n";
    fs::write(here.join("gleaner.toml"), config).unwrap();
    let _site = Site::start(here, 120, 1);
    let service = Service::start(here);
    // A folder that is not there is told once, and costs nothing.
    let told = "nothing can be handed over: it is tried again every 30 s, and nothing is lost";
    wait_for("the missing folder is told", || (service.logged(told).len() == 1).then_some(()));
    assert!(service.logged(told)[0]["error"].as_str().unwrap().contains("there is no such folder"));
    drop(service);
    fs::create_dir(&watch).unwrap();
    let (mut random, mut taken) = (0x2545_f491_4f6c_dd1d_u64, BTreeMap::<String, usize>::new());
    for _ in 0..kills {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let service = Service::start(here);
        wait_for("the service is up", || (!service.logged("service is up").is_empty()).then_some(()));
        std::thread::sleep(Duration::from_millis(random % 2_500));
        // Dropped, it is killed.
        drop(service);
        // The client takes what is there.
        for (hash, count) in handed(&watch) {
            *taken.entry(hash).or_default() += count;
        }
        fs::remove_dir_all(&watch).unwrap();
        fs::create_dir(&watch).unwrap();
    }
    let service = Service::start(here);
    let all =
        |taken: &BTreeMap<String, usize>| keys(taken).into_iter().chain(keys(&handed(&watch))).collect::<BTreeSet<_>>();
    wait_for("the service is up", || (!service.logged("service is up").is_empty()).then_some(()));
    wait_for("everything is handed over", || (all(&taken).len() == 120).then_some(()));
    // The command beside the service finds nothing left.
    handover(here, &["box"]).ended(0).says(&[" 0 torrents were handed over"]);
    let list = handover(here, &["--json"]).ended(0).json();
    assert_eq!(list["handovers"][0]["handed"], 120, "{list}");
    assert!(service.stop().success());
    assert_eq!(all(&taken), archived(&here.join("data")));
    for (hash, count) in handed(&watch) {
        *taken.entry(hash).or_default() += count;
    }
    let again: usize = taken.values().map(|count| count - 1).sum();
    assert!(again <= kills, "{again} torrents were handed over again by {kills} kills");
}
