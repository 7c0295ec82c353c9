//! Full or read-only disks.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cli::harness::{Service, Site, archived, run, truth, wait_for, with_own_mounts};

#[test]
fn a_full_or_read_only_disk_ends_the_crawl_with_its_path_and_damages_nothing() {
    const INSIDE: &str = "GLEANER_TEST_SMALL_DISK";
    if let Some(here) = std::env::var_os(INSIDE) {
        return on_small_disks(Path::new(&here));
    }
    with_own_mounts("cli::disks::a_full_or_read_only_disk_ends_the_crawl_with_its_path_and_damages_nothing", INSIDE);
}

fn mount(options: &str, data: &Path) {
    let status = Command::new("mount").args(["-t", "tmpfs", "-o", options, "gleaner"]).arg(data).status();
    assert!(status.expect("apt-get install mount").success(), "mount -o {options} {}", data.display());
}

/// The service logs it once, shows it in its status while it lasts, and resumes by itself.
fn the_service_on_a_small_disk(here: &Path) {
    let data = here.join("data");
    fs::create_dir(&data).unwrap();
    mount("size=1000k,mode=755", &data);
    let mut service = Service::start(here);
    let told = wait_for("the status tells that the disk is full", || {
        service.site()?;
        let told = run(here, &["status", "--data", "data", "--rules", "rules"]).ended(0).out;
        told.contains("nothing can be stored: ").then_some(told)
    });
    assert!(told.contains("waiting: nothing can be stored") && !told.contains("run the command again"), "{told}");
    std::thread::sleep(std::time::Duration::from_secs(4));
    let lines = service.logged("nothing can be stored: retrying until it works");
    assert_eq!(lines.len(), 1, "{lines:?}");
    mount("remount,size=64m", &data);
    wait_for("the crawl resumes by itself", || service.logged("storing works again").pop());
    wait_for("history is told to be done", || service.logged("history is done: every known URL was requested").pop());
    assert_eq!(archived(&data), truth(here));
    let told = run(here, &["status", "--data", "data", "--rules", "rules"]).ended(0).out;
    assert!(!told.contains("nothing can be stored"), "{told}");
    assert_eq!(service.stop().code(), Some(0));
}

fn on_small_disks(here: &Path) {
    let _site = Site::start(here, 300, 0);
    the_service_on_a_small_disk(here);
    let truth = truth(here);
    // Full at the first byte of the database, while it grows, and below the archive; the whole crawl takes 2.5 MB.
    // Every one of them: GLEANER_DISK_STEP=1.
    let step = std::env::var("GLEANER_DISK_STEP").map_or(3, |step| step.parse().unwrap());
    for size in ["16k", "100k", "400k", "600k", "1000k", "1700k"].into_iter().step_by(step) {
        let data = here.join(format!("data-{size}"));
        fs::create_dir(&data).unwrap();
        mount(&format!("size={size},mode=755"), &data);
        let crawl = ["crawl", "--json", "--rules", "rules", "--data", data.to_str().unwrap()];
        let ran = run(here, &crawl).ended(1).says(&["error: ", data.to_str().unwrap()]);
        assert!(ran.err.contains("disk is full") || ran.err.contains("No space left"), "{size}: {}", ran.err);
        assert_eq!(ran.out, "", "{size}");

        // Earlier data are intact, and files without a row are no loss.
        mount("remount,size=64m", &data);
        if data.join("crawl.redb").exists() {
            let told = run(here, &["verify", "--data", data.to_str().unwrap()]).ended(0).out;
            assert!(
                told.lines().count() <= 3 && (told.contains("agree") || told.contains("nothing is lost")),
                "{told}"
            );
        }
        run(here, &crawl).ended(0);
        assert_eq!(archived(&data), truth, "{size}");
        run(here, &["verify", "--data", data.to_str().unwrap()]).ended(0).says(&["archive and database agree"]);

        mount("remount,ro", &data);
        let ran = run(here, &crawl).ended(1).says(&["error: ", data.to_str().unwrap()]);
        assert!(ran.err.to_lowercase().contains("read-only"), "{size}: {}", ran.err);
        ran.says(&["hint: mount it writable (`findmnt -T "]);
        // Read-only commands report it nevertheless, and change nothing.
        let before = fs::read(data.join("crawl.redb")).unwrap();
        let told = run(here, &["status", "--rules", "rules", "--data", data.to_str().unwrap()]).ended(0);
        assert!(told.out.contains("torrents") && told.out.contains(&truth.len().to_string()), "{size}: {}", told.out);
        assert_eq!(fs::read(data.join("crawl.redb")).unwrap(), before, "{size}");
        mount("remount,rw", &data);
        run(here, &crawl).ended(0);
        assert_eq!(archived(&data), truth, "{size}");
    }
}
