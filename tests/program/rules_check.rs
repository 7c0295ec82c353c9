//! `gleaner rules check`: faults, warnings and skipped files, and the starter file after its first edits.

use std::fs;
use std::path::{Path, PathBuf};

use gleaner::cli::rules as commands;
use gleaner::cli::rules::check::Checked;

fn text_of(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

/// The check of files, or of a folder, as text.
fn check(files: &[PathBuf], dir: &Path, out: &mut Vec<u8>) -> bool {
    let checked = Checked::of(files, dir);
    checked.tell(out, false).unwrap();
    checked.is_well()
}

#[test]
fn check_tells_all_files_and_their_faults() {
    let dir = tempfile::tempdir().unwrap();
    let out = text_of(|out| {
        commands::new_file("https://example.org/browse", dir.path(), out).unwrap();
        assert!(check(&[], dir.path(), out));
    });
    assert!(out.contains("ok ") && out.contains("no faults; site files: 1, families: 0"), "{out}");
    let bad = dir.path().join("bad.toml");
    fs::write(&bad, "start = ['https://h/']\nclases = {}\n").unwrap();
    let out = text_of(|out| assert!(!check(&[], dir.path(), out)));
    assert!(out.contains("bad.toml:2:1: error: unknown key `clases`"), "{out}");
    assert!(out.contains("hint: did you mean `classes`?"), "{out}");
    let out = text_of(|out| Checked::of(&[bad], dir.path()).tell(out, true).unwrap());
    assert!(out.contains("\u{1b}["), "{out}");
}

#[test]
fn check_warns_of_rules_that_get_no_url_and_names_what_it_skips() {
    let dir = tempfile::tempdir().unwrap();
    let rules = "start = ['https://h.example/']\n[classes]\nindex = ['^/']\ndetail = ['^/torrent/\\d+$']\n";
    fs::write(dir.path().join("s.toml"), rules).unwrap();
    for skipped in ["s.toml.dpkg-new", "other.tml", ".s.toml.swp"] {
        fs::write(dir.path().join(skipped), rules).unwrap();
    }
    fs::create_dir_all(dir.path().join("old")).unwrap();
    fs::create_dir_all(dir.path().join("families")).unwrap();
    let out = text_of(|out| assert!(check(&[], dir.path(), out), "warnings are no faults"));
    assert!(
        out.contains(
            "s.toml:4:11: warning: `^/torrent/\\d+$` (classes.detail) seems to get no URL: `^/` (classes.index, line 3)"
        ),
        "{out}"
    );
    assert!(out.contains("hint: make the one of classes.index narrower"), "{out}");
    assert_eq!(out.matches("skipped ").count(), 4, "{out}");
    assert!(
        out.contains("s.toml.dpkg-new: a site file is a file called NAME.toml") && !out.contains("families:  skipped"),
        "{out}"
    );

    fs::write(dir.path().join("t.toml"), "strat = []\n[login]\nuser = 'a'\npassword = 'hunter2'\n").unwrap();
    let json = serde_json::to_value(Checked::of(&[], dir.path())).unwrap();
    assert!(!json.to_string().contains("hunter2"), "{json}");
    assert_eq!((&json["files"][0]["site"], &json["files"][0]["rules"]), (&"s".into(), &2.into()));
    assert_eq!(
        (&json["files"][0]["warnings"][0]["line"], &json["files"][1]["site"]),
        (&4.into(), &serde_json::Value::Null)
    );
    let faults = json["files"][1]["faults"].as_array().unwrap();
    let fault = faults.iter().find(|fault| fault["hint"] == "did you mean `start`?").unwrap();
    assert_eq!((&fault["line"], &fault["column"]), (&1.into(), &1.into()));
    assert_eq!(json["skipped"].as_array().unwrap().len(), 4);
}

#[test]
fn a_link_to_nowhere_is_a_fault_and_not_skipped() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("s.toml")).unwrap();
    fs::create_dir(dir.path().join("t.toml")).unwrap();
    let out = text_of(|out| assert!(!check(&[], dir.path(), out)));
    assert!(
        out.contains("s.toml:1:1: error: cannot be read") && out.contains("t.toml:1:1: error: cannot be read"),
        "{out}"
    );
    assert!(!out.contains("skipped"), "{out}");
}

#[test]
fn a_key_in_the_wrong_table_is_told_where_it_belongs() {
    let dir = tempfile::tempdir().unwrap();
    let start = "start = ['https://h.example/']\n";
    for (text, expected) in [
        (
            "[classes]\nindex = ['^/']\ndeny = ['x']\n",
            "`deny` belongs above the first [table] of the file: what stands below [classes] is part of it",
        ),
        (
            "[classes]\nindex = ['^/']\n[rate]\nextends = 'families/phpbb'\n",
            "`extends` belongs above the first [table]",
        ),
        ("requests_per_second = 2\n[classes]\nindex = ['^/']\n", "`requests_per_second` belongs into [rate]"),
        ("[classes]\nindex = ['^/']\nconnections = 2\n", "`connections` belongs into [rate]"),
        ("[classes]\nindx = ['^/']\n", "did you mean `index`?"),
    ] {
        fs::write(dir.path().join("s.toml"), format!("{start}{text}")).unwrap();
        let out = text_of(|out| assert!(!check(&[], dir.path(), out)));
        assert!(out.contains(expected), "{out}");
    }
}

#[test]
fn a_starter_file_passes_after_the_first_edits() {
    let dir = tempfile::tempdir().unwrap();
    let path = commands::new_file("https://example.org/torrents/", dir.path(), &mut Vec::new()).unwrap();
    let written = fs::read_to_string(&path).unwrap();
    let edits = [
        // Its own expressions.
        written.replace(r"(?i)\.torrent(?:\?|$)", r"^/download/\d+$"),
        written.replace("# detail =", "detail =").replace("# page = ['^/news/']", "page = ['^/news/']"),
        written.replace("    # '^/browse", "    '^/browse"),
        // A family above the classes, and for a directory.
        written.replace("start = [", "extends = 'families/nexusphp'\nstart = ["),
        "start = ['https://example.org/torrents/']\nextends = 'families/autoindex'\n".to_owned(),
        // An account, parameters, no examples.
        written.replace("# [login]\n# user = \"anna\"", "[login]\nuser = \"anna\""),
        written.replace("# [parameters]\n# drop", "[parameters]\ndrop"),
        written.rsplit_once("\n[examples]").unwrap().0.to_owned(),
        written.replace("    # {{ url", "    {{ url").replace("    # \"", "    \""),
    ];
    // A family in place of the classes.
    let forum = commands::new_file("https://forum.example/viewforum.php?f=3", dir.path(), &mut Vec::new()).unwrap();
    let text = fs::read_to_string(&forum).unwrap().replacen("start = [", "extends = 'families/phpbb'\nstart = [", 1);
    let (classes, rate) = (text.find("\n[classes]").unwrap(), text.find("\n[rate]").unwrap());
    fs::write(&forum, format!("{}{}", &text[..classes], &text[rate..])).unwrap();
    for edit in edits {
        fs::write(&path, &edit).unwrap();
        let out = text_of(|out| _ = check(&[], dir.path(), out));
        assert!(out.contains("no faults") && !out.contains("warning"), "{edit}\n{out}");
    }
}
