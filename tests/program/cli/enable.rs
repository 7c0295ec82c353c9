//! `rules enable` and `rules disable`: one key of one file.

use std::fs;

use super::harness::{folder, run};

#[test]
fn a_site_that_comes_with_the_program_is_enabled_and_disabled_by_name() {
    let here = folder();
    let file = here.path().join("rules/debian.toml");
    run(here.path(), &["rules", "enable", "debian", "--rules", "rules"])
        .ended(0)
        .says(&["debian is enabled", "--dry-run"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\nenabled = true\n") && text.contains("# Debian's torrents"), "{text}");
    run(here.path(), &["rules", "check", "--rules", "rules"]).ended(0).says(&["site debian, enabled"]);
    run(here.path(), &["rules", "enable", "debian", "--rules", "rules"]).ended(0).says(&["enabled already"]);

    // What the operator wrote stays as it is.
    let text = text.replace("enabled = true", "enabled  =  true # since May\r");
    fs::write(&file, format!("{text}# mine\n")).unwrap();
    run(here.path(), &["rules", "disable", "debian", "--rules", "rules"]).ended(0).says(&["debian is disabled"]);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        format!("{}# mine\n", text.replace("enabled  =  true", "enabled  =  false"))
    );
}

#[test]
fn a_file_without_the_key_gains_it() {
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    let file = here.path().join("rules/mine.toml");
    fs::write(&file, "start = ['http://127.0.0.1/']\n\n[classes]\nindex = ['.']\n").unwrap();
    run(here.path(), &["rules", "disable", "mine", "--rules", "rules"]).ended(0);
    run(here.path(), &["rules", "check", "--rules", "rules"]).ended(0).says(&["site mine, not enabled"]);
}

#[test]
fn names_and_files_that_cannot_be_switched_are_told() {
    let here = folder();
    run(here.path(), &["rules", "enable", "debain"]).ended(1).says(&["did you mean `debian`?"]);
    run(here.path(), &["rules", "disable", "debian"]).ended(1).says(&["no site has this name"]);
    fs::create_dir(here.path().join("rules")).unwrap();
    fs::write(here.path().join("rules/debian.toml"), "strat = 1\n").unwrap();
    run(here.path(), &["rules", "enable", "debian", "--rules", "rules"])
        .ended(1)
        .says(&["debian.toml:1:1", "rules check"]);
    assert_eq!(fs::read_to_string(here.path().join("rules/debian.toml")).unwrap(), "strat = 1\n");
}
