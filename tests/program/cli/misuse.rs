//! What people mistype or leave out, and limits of the process: told at once, with what to do, and nothing is left behind.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::cli::harness::{BINARY, Ran, Service, closed_port, folder, gleaner, run, wait_for, write_site};

/// Runs a shell's line in a folder, with `$0` for the program.
fn shell(here: &Path, line: &str) -> Ran {
    Ran::of(&Command::new("bash").args(["-c", line, BINARY]).current_dir(here).output().unwrap())
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
fn a_system_that_starts_no_thread_is_told_with_the_limit_to_raise() {
    let here = folder();
    write_site(here.path(), closed_port());
    // Root is not bound by the limit.
    let user = if is_root() { "setpriv --reuid 65531 --regid 65531 --clear-groups " } else { "" };
    fs::create_dir(here.path().join("data")).unwrap();
    fs::set_permissions(here.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let commands = ["status --data data", "rules explain site", "verify --data data", "demo --data demo"];
    for (words, processes) in commands.into_iter().flat_map(|words| [(words, 1), (words, 3)]) {
        let ran = shell(here.path(), &format!("ulimit -u {processes}; exec {user}\"$0\" {words} --rules rules"));
        assert!(!ran.err.contains("panicked"), "{words}: {}", ran.err);
        ran.ended(1)
            .says(&["no thread could be started (", "hint: raise the limit on processes: `ulimit -u`, or `TasksMax="]);
    }
}

#[test]
fn who_may_not_open_the_socket_of_a_service_is_told_so_with_the_group() {
    let dir = folder();
    let here = dir.path();
    fs::create_dir(here.join("rules")).unwrap();
    let service = Service::start(here);
    wait_for("the service answers", || here.join("data/control.sock").exists().then_some(()));
    let nobody = "no service runs in this folder";
    let asked = |program: &str| {
        for words in ["alarms silence refused-1", "pause demo", "resume demo"] {
            let ran = shell(here, &format!("exec {program}\"$0\" {words} --data data")).ended(1);
            assert!(!ran.err.contains(nobody), "{}", ran.err);
            ran.says(&["this user may not open it: it belongs to ", "the group ", "(mode 0", "usermod -aG "]);
        }
    };
    if is_root() {
        // The folder lets nobody else in; then the socket.
        fs::set_permissions(here, fs::Permissions::from_mode(0o755)).unwrap();
        let stranger = "setpriv --reuid 65531 --regid 65531 --clear-groups ";
        asked(stranger);
        fs::set_permissions(here.join("data"), fs::Permissions::from_mode(0o755)).unwrap();
        asked(stranger);
    } else {
        fs::set_permissions(here.join("data/control.sock"), fs::Permissions::from_mode(0o000)).unwrap();
        asked("");
        fs::set_permissions(here.join("data"), fs::Permissions::from_mode(0o000)).unwrap();
        asked("");
        fs::set_permissions(here.join("data"), fs::Permissions::from_mode(0o700)).unwrap();
    }
    drop(service);
    run(here, &["pause", "demo", "--data", "data"]).ended(1).says(&[nobody]);
}

#[test]
fn a_site_that_is_disabled_is_told_to_be_so() {
    let dir = folder();
    let here = dir.path();
    write_site(here, closed_port());
    run(here, &["crawl", "site", "--data", "data", "--rules", "rules"]);
    let rules = here.join("rules/site.toml");
    let text = fs::read_to_string(&rules).unwrap();
    for (enabled, is_told) in [("true", false), ("false", true)] {
        fs::write(&rules, text.replace("enabled = true", &format!("enabled = {enabled}"))).unwrap();
        for words in [&["status"][..], &["top", "--once"]] {
            let ran = run(here, &[words, &["--data", "data", "--rules", "rules"]].concat()).ended(0);
            assert_eq!(ran.out.contains("disabled"), is_told, "{words:?}: {}", ran.out);
        }
    }
}

#[test]
fn a_configuration_shows_its_backups_and_alarms() {
    let here = folder();
    let text =
        "[backup]\nto = \"/srv/b\"\nevery = \"12h\"\n[alarms]\nafter = { unreachable = 90 }\noff = [\"delay-grew\"]\n";
    fs::write(here.path().join("gleaner.toml"), text).unwrap();
    run(here.path(), &["config", "check"]).ended(0).says(&[
        "backup /srv/b: every 12h, the last 7 stay",
        "alarms.off delay-grew",
        "alarms.after unreachable: 90m",
    ]);
}

#[test]
fn an_empty_variable_is_told_by_its_name() {
    let here = folder();
    for (variable, what) in [("GLEANER_DATA", "a folder"), ("GLEANER_RULES", "a folder"), ("GLEANER_CONFIG", "a file")]
    {
        let ran = Ran::of(&gleaner(here.path(), &["status"]).env(variable, "").output().unwrap()).ended(2);
        assert_eq!(ran.err, format!("error: {variable} is empty\nhint: unset it, or name {what}\n"));
    }
}

#[test]
fn options_of_the_demo_out_of_range_are_wrong_usage_and_leave_nothing_behind() {
    let here = folder();
    let demo = |words: &[&str]| run(here.path(), &[&["demo"], words].concat()).ended(2);
    demo(&["--torrents", "1000000"]).says(&["1000000 is not in 0..=200000"]);
    demo(&["--section", "xhr"]).says(&["--ajax"]);
    demo(&["--section", "xhr", "--torrents", "5"]).says(&["--section", "cannot be used with"]);
    demo(&["--per-page", "5", "--port", "8080"]).says(&["--per-page", "cannot be used with"]);
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
}

#[test]
fn what_is_not_written_whole_is_removed_and_the_hint_is_what_to_raise() {
    let here = folder();
    for words in ["rules new --offline https://example.org/", "man pages"] {
        let ran =
            shell(here.path(), &format!("ulimit -f 0; \"$0\" {words} 2>&1 | cat; exit ${{PIPESTATUS[0]}}")).ended(1);
        ran.says(&["File too large", "hint: raise it: `ulimit -f"]);
    }
    let ran = shell(here.path(), "ulimit -f 0; \"$0\" demo --data d 2>&1 | cat; exit ${PIPESTATUS[0]}").ended(1);
    ran.says(&["d/rules/demo.toml: the limit on the size of files is reached\nhint: raise it"]);
    for folder in ["rules", "pages", "d/rules"] {
        assert_eq!(fs::read_dir(here.path().join(folder)).unwrap().count(), 0, "{folder}");
    }
    fs::write(here.path().join("file"), "").unwrap();
    run(here.path(), &["man", "file"]).ended(1).says(&["file: is a file, not a folder\nhint: name a folder"]);
    run(here.path(), &["rules", "new", "example.org", "--rules", "file"])
        .ended(1)
        .says(&["file: is a file, not a folder\nhint: pass another --rules"]);
    run(here.path(), &["man", "pages"]).ended(0);
    assert!(here.path().join("pages/gleaner-rules-check.1").is_file());
}

#[test]
fn output_that_cannot_be_written_is_a_failure_with_its_cause() {
    let here = folder();
    for words in ["config check", "rules schema", "completions bash", "--help", "--version"] {
        let line = format!("ulimit -f 0; \"$0\" {words} 2>&1 >out | cat; exit ${{PIPESTATUS[0]}}");
        let ran = shell(here.path(), &line).ended(1);
        ran.says(&["error: standard output: File too large", "hint: raise it: `ulimit -f"]);
    }
}

#[test]
fn a_word_is_no_address_of_a_site() {
    let here = folder();
    let new = |url: &str| run(here.path(), &["rules", "new", url]).ended(1);
    new("notaurl").says(&["`notaurl` is a word without a dot or a port", "hint: write the site's address"]);
    new("example..org").says(&["has an empty label", "hint: write the site's address"]);
    assert!(!here.path().join("rules").exists());
}

#[test]
fn a_url_or_a_file_in_the_place_of_a_name_is_told_with_the_command_that_was_meant() {
    let here = folder();
    write_site(here.path(), 8_080);
    let crawl = |given: &str| run(here.path(), &["crawl", given]).ended(1);
    crawl("http://127.0.0.1:8080/x").says(&["this is a URL, not the name of a site\nhint: gleaner crawl site\n"]);
    crawl("http://other.example/x").says(&["not the name of a site\nhint: gleaner rules new http://other.example/x\n"]);
    crawl("rules/site.toml")
        .says(&["rules/site.toml: this is a file, not the name of a site\nhint: gleaner crawl site\n"]);
    fs::write(here.path().join("notes"), "").unwrap();
    crawl("notes").says(&["notes: this is a file, not the name of a site\nhint: gleaner rules check notes\n"]);
    run(here.path(), &["login", "http://127.0.0.1:8080/"]).ended(1).says(&["hint: gleaner login site\n"]);
    run(here.path(), &["rules", "check", "rules"])
        .ended(1)
        .says(&["for all files of this folder: gleaner rules check --rules rules"]);
}

#[test]
fn a_misspelt_site_is_told_the_nearest_by_explain_and_status() {
    let here = folder();
    let explain = |given: &str, rules: &str| run(here.path(), &["rules", "explain", given, "--rules", rules]).ended(1);
    explain("dmeo", "none")
        .says(&["neither a URL nor the name of a site; there is no folder of rule files none", "hint: "]);
    let _site = crate::cli::harness::Site::start(here.path(), 5, 0);
    explain("dmeo", "rules").says(&["dmeo: neither a URL nor the name of a site", "hint: did you mean `demo`?"]);
    explain("htp:/x", "rules").says(&["hint: write an absolute http or https URL"]);
    let reads = |words: &[&str]| run(here.path(), &[words, &["--data", "data", "--rules", "rules"]].concat());
    let before = reads(&["coverage", "demo"]).ended(1).err;
    assert_eq!(reads(&["status", "demo"]).ended(1).err, before);
    assert!(before.contains("data: there is no such folder\nhint: "), "{before}");
    reads(&["crawl"]).ended(0);
    reads(&["status", "dmeo"])
        .ended(1)
        .says(&["hint: did you mean `demo`? gleaner status demo --data data --rules rules"]);
}

#[test]
fn what_only_a_shell_expands_is_told_with_the_path_to_write() {
    let here = folder();
    let status = |words: &[&str]| Ran::of(&gleaner(here.path(), words).env("HOME", "/home/anna").output().unwrap());
    for given in ["~/gl", "$HOME/gl"] {
        status(&["status", "--data", given]).ended(2).says(&["is not expanded\nhint: write /home/anna/gl"]);
    }
    let ran = Ran::of(&gleaner(here.path(), &["status"]).env("GLEANER_RULES", "~bob/r").output().unwrap());
    ran.ended(2).says(&["`~bob` is not expanded\nhint: write the path in full"]);
    fs::write(here.path().join("gleaner.toml"), "data_dir = '~/gl'\n").unwrap();
    status(&["config", "check"]).ended(1).says(&["gleaner.toml:1:12", "`~` is not expanded", "write /home/anna/gl"]);
}

#[test]
fn a_folder_whose_socket_has_too_long_a_path_cannot_be_asked_and_is_told_so() {
    let here = folder();
    write_site(here.path(), closed_port());
    let data = here.path().join("d".repeat(120));
    let data = data.to_str().unwrap();
    let mut crawl = Command::new(BINARY);
    crawl.args(["crawl", "--max-time", "60", "--data", data, "--rules", "rules"]).current_dir(here.path());
    let log = fs::File::create(here.path().join("log")).unwrap();
    let mut crawl = crawl.stdout(std::process::Stdio::null()).stderr(log).spawn().unwrap();
    let logged = || fs::read_to_string(here.path().join("log")).unwrap();
    crate::cli::harness::wait_for("the crawl warns", || logged().contains("no control socket").then_some(()));
    assert!(logged().contains("hint: pass a shorter --data"), "{}", logged());
    for words in [&["status"][..], &["export", "out"]] {
        let ran = run(here.path(), &[words, &["--data", data]].concat()).ended(1);
        assert!(!ran.err.contains("`gleaner status`"), "{}", ran.err);
        ran.says(&["cannot be asked: the path of its control socket is too long\nhint: wait for its end, or stop it"]);
    }
    crawl.kill().unwrap();
    crawl.wait().unwrap();
}

#[test]
fn a_port_that_needs_root_is_told_once_with_one_that_does_not() {
    let here = folder();
    fs::set_permissions(here.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let first = fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap();
    if first.trim().parse::<u16>().unwrap() <= 80 {
        return;
    }
    let mut demo = Command::new(BINARY);
    if is_root() {
        demo.uid(65_531).gid(65_531);
    }
    let ran = Ran::of(&demo.args(["demo", "--port", "80"]).current_dir(here.path()).output().unwrap()).ended(1);
    let said = "error: port 80: this user may not listen on it: ports below 1024 need root\nhint: use --port 8080\n";
    assert_eq!(ran.err, said);
}

#[test]
fn a_limit_of_the_process_that_ends_its_scripts_is_named_and_one_that_suffices_is_kept() {
    let here = folder();
    fs::write(here.path().join("page.html"), "<body><script>document.body.innerHTML = '<a href=/x>x</a>'</script>")
        .unwrap();
    fs::write(here.path().join("busy.html"), "<script>/(a+)+b/.test('a'.repeat(60))</script>").unwrap();
    let render =
        |limit: &str, page: &str| shell(here.path(), &format!("ulimit {limit}; exec \"$0\" render {page} --links"));
    let says = |ran: Ran, option: &str| {
        let said = format!(
            "most likely of a limit that this process was started with (hint: raise `ulimit {option}`, or `Limit"
        );
        assert!(ran.err.contains(&said), "{}{}", ran.out, ran.err);
    };
    says(render("-v 300000", "page.html"), "-v");
    says(render("-t 1", "busy.html"), "-t");
    // Less than a child asks for, and enough for most pages.
    render("-v 2000000", "page.html").ended(0).says(&["https://file.invalid/x"]);
}
