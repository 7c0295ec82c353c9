//! Rule files end to end: every shipped file passes, every fixture of a bad file gives its expected report, real
//! listings are crawled, and no text causes a panic.

mod families;

use std::fs;
use std::path::{Path, PathBuf};

use gleaner::cli::rules as commands;
use gleaner::cli::rules::check::Checked;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_rules::families::{BUILT_IN, check_file, check_text};
use gleaner_rules::fault::render;
use gleaner_rules::{Class, Families, Refusal, RenderActs, Robots, Verdict, from_text, load_dir, load_file};
use gleaner_rules::{LaneKey, PrivateAddresses};
use proptest::prelude::*;

fn toml_files(dir: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{dir}: {error}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn text_of(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

/// A site's verdict on a URL: the class, or `!` and the reason.
fn judged(site: &gleaner_rules::SiteRules, url: &str) -> String {
    match site.judge(&CrawlUrl::parse(url, &site.canonical).unwrap()) {
        Verdict::Take { class, .. } => class.name().to_owned(),
        Verdict::Refuse { reason } => format!("!{}", reason.name()),
    }
}

#[test]
fn every_shipped_file_passes_and_is_not_enabled() {
    let loaded = load_dir(Path::new("rules"));
    assert!(loaded.len() >= 6, "{loaded:#?}");
    for file in loaded {
        let site = file.site.unwrap_or_else(|faults| panic!("{}", render(&faults, false)));
        assert!(!site.enabled, "{}", site.name);
        assert!(matches!(site.robots, Robots::Obey), "{}", site.name);
        let text = fs::read_to_string(&file.path).unwrap();
        assert!(text.contains("# Checked:") && text.contains("# Not checked:"), "{}", file.path.display());
        assert!(text.contains("accept = [") && text.contains("refuse = ["), "{}", file.path.display());
    }
    let (mut out, families) = (Vec::new(), toml_files("rules/families"));
    for files in [Vec::new(), families] {
        let checked = Checked::of(&files, Path::new("rules"));
        checked.tell(&mut out, false).unwrap();
        assert!(checked.is_well());
    }
    let out = String::from_utf8(out).unwrap();
    assert!(!out.contains("warning:") && !out.contains("skipped"), "{out}");
}

/// Each `fixtures/rules/<name>.toml` is a bad file; `<name>.expected` is the report. GLEANER_BLESS=1 rewrites it.
#[test]
fn bad_files_give_their_expected_reports() {
    let files = toml_files("fixtures/rules");
    assert!(files.len() >= 10, "{files:?}");
    for path in files {
        let faults = match load_file(&path).site {
            Ok(site) => panic!("{}: {} has no fault", path.display(), site.name),
            Err(faults) => faults,
        };
        let report = render(&faults, false);
        for fault in &faults {
            let line = format!("{}:{}:{}: ", path.display(), fault.line, fault.column);
            assert!(report.contains(&line), "{line} is not told");
        }
        let expected = path.with_extension("expected");
        if std::env::var_os("GLEANER_BLESS").is_some() {
            fs::write(&expected, &report).unwrap();
        }
        assert_eq!(report, fs::read_to_string(&expected).unwrap_or_default(), "{}", path.display());
    }
}

#[test]
fn a_faulty_file_stops_its_own_site_alone() {
    let dir = tempfile::tempdir().unwrap();
    let good = "start = ['https://a.example/']\nclasses.index = ['^/$']\n";
    fs::write(dir.path().join("a.toml"), good).unwrap();
    fs::write(dir.path().join("b.toml"), "start = 7\nclasses.page = ['.']").unwrap();
    fs::write(dir.path().join("c.toml"), format!("name = 'a'\n{good}")).unwrap();
    fs::write(dir.path().join("d.toml"), [0x61, 0xFF, 0x3D]).unwrap();
    fs::write(dir.path().join("e.toml"), vec![b'#'; (1 << 20) + 1]).unwrap();
    fs::write(dir.path().join(".f.toml"), "draft").unwrap();
    fs::write(dir.path().join("g.txt"), "note").unwrap();
    let loaded = load_dir(dir.path());
    let names: Vec<_> = loaded.iter().map(|file| file.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a.toml", "b.toml", "c.toml", "d.toml", "e.toml"]);
    assert!(loaded[0].site.is_ok());
    let fault = |index: usize| loaded[index].site.as_ref().unwrap_err()[0].to_string();
    assert!(fault(1).contains("b.toml:1:9: `start` must be a list of strings"), "{}", fault(1));
    assert!(fault(2).contains("c.toml:1:8: the site name `a` is already used by"), "{}", fault(2));
    assert!(fault(3).contains("d.toml:1:2: the file is not UTF-8"), "{}", fault(3));
    assert!(fault(4).contains("larger than 1048576 bytes"), "{}", fault(4));
    let missing = load_dir(&dir.path().join("none"));
    assert!(missing[0].site.as_ref().unwrap_err()[0].message.starts_with("cannot be read"), "{missing:?}");
}

#[test]
fn denials_come_before_classes_and_classes_win_in_the_order_of_the_file() {
    let site = from_text(
        "order",
        r"
        start = ['https://h.example/']
        hosts = ['h.example', '*.cdn.example', 'h.example:8080']
        deny = ['logout']
        [classes]
        detail = ['^/t/\d+$']
        index = ['^/$', '^/t/', '^/browse\?page=(?P<page>\d+)', '^/p(?<page>\d*)$']
        login = ['^/login$']
        ",
    )
    .unwrap();
    let table = [
        ("https://h.example/t/7", "detail"),
        ("https://h.example/t/x", "index"),
        ("https://h.example/t/7?logout", "!denied"),
        ("https://h.example/login", "login"),
        ("https://h.example/other", "!no_class"),
        ("http://h.example/", "index"),
        ("https://a.b.cdn.example/", "index"),
        ("https://cdn.example/", "!wrong_host"),
        ("https://xcdn.example/", "!wrong_host"),
        ("https://h.example:8080/", "index"),
        ("https://h.example:8081/", "!wrong_host"),
        ("https://h.example.evil.example/", "!wrong_host"),
    ];
    for (url, expected) in table {
        assert_eq!(judged(&site, url), expected, "{url}");
    }
    let capture = |url: &str| {
        let url = CrawlUrl::parse(url, &site.canonical).unwrap();
        match site.judge(&url) {
            Verdict::Take { page_capture, rule, .. } => {
                (page_capture.map(|(start, end)| url.path()[start..end].to_owned()), rule.line)
            }
            Verdict::Refuse { reason } => panic!("{url}: {}", reason.name()),
        }
    };
    assert_eq!(capture("https://h.example/browse?page=12&x=1"), (Some("12".to_owned()), 7));
    assert_eq!(capture("https://h.example/p3"), (Some("3".to_owned()), 7));
    assert_eq!(capture("https://h.example/p"), (None, 7));
    assert_eq!(capture("https://h.example/p99999999999999999999"), (None, 7));
    assert_eq!(capture("https://h.example/t/7"), (None, 6));
    let url = CrawlUrl::parse("https://h.example/logout", &site.canonical).unwrap();
    assert!(matches!(site.judge(&url), Verdict::Refuse { reason: Refusal::Denied(_, rule) } if rule.line == 4));
}

#[test]
fn what_a_file_leaves_out_has_polite_defaults() {
    let site = from_text("d", "start = ['http://127.0.0.1:9/x']\nclasses.page = ['.']").unwrap();
    assert_eq!(site.rate.interval, std::time::Duration::from_secs(1));
    assert_eq!((site.rate.connections, site.lanes.count, site.depth_max), (2, 1, 1_000));
    let lanes = |text: &str| {
        let rules = format!("{text}\nstart = ['http://127.0.0.1:9/x']\nclasses.page = ['.']");
        let lanes = from_text("d", &rules).unwrap().lanes;
        (lanes.count, lanes.increment_min, lanes.key)
    };
    assert_eq!(lanes("rate.connections = 8"), (8, 4, LaneKey::Xxh3), "connections that are allowed are used");
    assert_eq!(lanes("rate.connections = 64"), (16, 8, LaneKey::Xxh3), "other sites have requests in flight, too");
    assert_eq!(lanes("rate.connections = 64\nlanes = 64"), (64, 1, LaneKey::Xxh3));
    assert_eq!(lanes("rate.connections = 16\nlanes = 1"), (1, 1, LaneKey::Host));
    assert_eq!(lanes("rate.connections = 16\nlane_key = 'host'"), (1, 1, LaneKey::Host));
    assert_eq!(lanes("rate.connections = 16\nlane_key = 'elf'"), (16, 8, LaneKey::Elf));
    assert_eq!(lanes("rate.connections = 2"), (1, 1, LaneKey::Host));
    assert_eq!(site.revisit, std::time::Duration::from_secs(3 * 3_600));
    assert!(
        site.enabled
            && site.client.private_addresses == PrivateAddresses::All(true)
            && site.quota.pages_max.is_none()
            && site.client.proxy.is_none()
    );
    assert_eq!((&*site.name, &*site.hosts[0]), ("d", "127.0.0.1:9"));
    let fast = "rate = { requests_per_second = 1000000 }\nstart = ['https://h/']\nclasses.page = ['.']";
    let site = from_text("d", fast).unwrap();
    assert!(site.rate.interval.is_zero() && site.client.private_addresses == PrivateAddresses::All(false));
    let slow = "rate = { delay_ms = 2500, requests_per_second = 5 }\nstart = ['https://h/']\nclasses.page = ['.']";
    assert_eq!(from_text("d", slow).unwrap().rate.interval, std::time::Duration::from_millis(2_500));
}

/// Opening a pipe would wait for its other end.
#[test]
fn a_pipe_in_place_of_a_file_is_a_fault_at_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("families")).unwrap();
    let pipe = |name: &str| {
        let path = dir.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        path
    };
    let site = pipe("s.toml");
    pipe("families/x.toml");
    let faults = load_file(&site).site.unwrap_err();
    assert!(faults[0].message.contains("cannot be read: it is not a regular file"), "{faults:?}");
    let other = dir.path().join("t.toml");
    fs::write(&other, "extends = 'families/x'\nstart = ['http://h/pub/']\n").unwrap();
    let faults = load_file(&other).site.unwrap_err();
    assert!(faults[0].message.contains("it is not a regular file"), "{faults:?}");
    let config = pipe("gleaner.toml");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gleaner"));
    let output = command.args(["status", "--config"]).arg(&config).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
}

#[test]
fn explain_names_the_rule_its_place_and_each_step() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("h.toml");
    let text = "start = ['https://h.example/']\ndeny = ['/private']\n[parameters]\ndrop = ['ref']\n[classes]\n\
                index = ['^/$', '^/l\\?page=(?<page>\\d+)$']\n";
    fs::write(&file, text).unwrap();
    fs::write(dir.path().join("bad.toml"), "x").unwrap();
    let told = |url: &str| {
        let mut is_taken = false;
        let out = text_of(|out| {
            is_taken = commands::explain(url, dir.path(), |_, _| commands::UrlKnowledge::default(), out).unwrap()
        });
        (is_taken, out)
    };
    let (is_taken, out) = told("HTTPS://H.example:443/l?page=2&ref=home#top");
    assert!(is_taken, "{out}");
    for part in [
        "parameter `ref=home` dropped: named in parameters.drop",
        "fragment dropped",
        "identity    https://h.example/l?page=2",
        "taken as    index",
        &format!("{}:6:17: classes.index '^/l\\?page=(?<page>\\d+)$'", file.display()),
        "page        2",
        "bad.toml: skipped",
    ] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    let (is_taken, out) = told("https://h.example/private");
    assert!(!is_taken && out.contains(&format!("{}:2:9: deny '/private'", file.display())), "{out}");
    let (is_taken, out) = told("https://h.example/other");
    assert!(!is_taken && out.contains("none of 3 rules matches it"), "{out}");
    let (is_taken, out) = told("https://elsewhere.example/");
    assert!(!is_taken && out.contains("no site file names the host `elsewhere.example`"), "{out}");
    let (is_taken, out) = told("https://u:p@h.example/");
    assert!(!is_taken && out.contains("the URL contains a user name or password"), "{out}");
}

#[test]
fn a_starter_file_is_never_written_over_another() {
    let dir = tempfile::tempdir().unwrap();
    let rules = dir.path().join("new/rules");
    let path = commands::new_file("https://example.org/", &rules, &mut Vec::new()).unwrap();
    assert_eq!(path, rules.join("example.org.toml"));
    fs::write(&path, "mine").unwrap();
    let error = commands::new_file("https://example.org/other", &rules, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("exists already\n  hint: "), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert!(commands::new_file("ftp://example.org/", &rules, &mut Vec::new()).is_err());
}

#[test]
fn the_schema_names_every_key_with_its_meaning() {
    let text = text_of(|out| commands::schema(out).unwrap());
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["start"]));
    assert_eq!(schema["additionalProperties"], false);
    let keys = schema["properties"].as_object().unwrap();
    let docs = fs::read_to_string("docs/reference/rules.md").unwrap();
    for (key, property) in keys {
        assert!(property["description"].is_string(), "{key} is not described");
        assert!(docs.contains(&format!("`{key}`")), "docs/reference/rules.md does not tell `{key}`");
    }
    let classes = schema["$defs"]["ClassTable"]["properties"].as_object().unwrap();
    let names: Vec<&str> = classes.keys().map(String::as_str).collect();
    let mut known: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
    known.sort_unstable();
    assert_eq!(names, known);
}

/// The TOML blocks of docs/reference/rules.md that are complete site files pass.
#[test]
fn examples_of_the_documentation_are_valid() {
    let docs = fs::read_to_string("docs/reference/rules.md").unwrap();
    let blocks: Vec<&str> = docs
        .split("```toml\n")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .filter(|block| block.contains("start = ["))
        .collect();
    assert!(blocks.len() >= 3, "{blocks:#?}");
    for block in blocks {
        from_text("docs", block).unwrap_or_else(|faults| panic!("{}", render(&faults, false)));
    }
}

#[test]
fn deep_nesting_and_huge_files_end_in_faults() {
    let deep = format!("start = {}", "[".repeat(100_000));
    assert!(from_text("deep", &deep).is_err());
    let tables = format!("x{} = 1", ".a".repeat(100_000));
    assert!(from_text("tables", &tables).is_err());
    let many: String = (0..20_000).map(|index| format!("key{index} = {index}\n")).collect();
    let faults = from_text("many", &many).unwrap_err();
    // Including the missing start and the missing classes.
    assert_eq!(faults.len(), 20_002);
    assert!(render(&faults, false).ends_with("… and 19802 more\n"));
    let patterns: String = (0..600).map(|index| format!("'^/{index}',")).collect();
    let text = format!("start = ['https://h/0']\nclasses.page = [{patterns}]");
    let faults = from_text("patterns", &text).unwrap_err();
    assert!(faults[0].message.contains("`classes.page` has 600 entries, at most 512"), "{faults:?}");
    let halves = patterns.replacen("'^/300'", "], index = [ '^/300'", 1);
    let text = format!("start = ['https://h/0']\nclasses = {{ page = [{halves}] }}");
    let faults = from_text("halves", &text).unwrap_err();
    assert!(faults[0].message.contains("600 regular expressions are more than 512"), "{faults:?}");
    let huge = r"start = ['https://h/']\nclasses.page = ['(\w{500}){500}']".replace("\\n", "\n");
    let faults = from_text("huge", &huge).unwrap_err();
    assert!(faults.iter().any(|fault| fault.message.contains("larger than")), "{faults:?}");
}

#[test]
fn the_default_identity_keeps_a_site_without_parameters_as_it_is() {
    let site = from_text("p", "start = ['https://h/']\nclasses.page = ['.']").unwrap();
    assert_eq!(site.canonical, Canonical::default());
}

fn toml_like() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(vec![
        "start",
        "hosts",
        "classes",
        "index",
        "deny",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        ".",
        ",",
        "\n",
        "'",
        "\"",
        "\"\"\"",
        "'''",
        "#",
        "\\",
        "\\u",
        " ",
        "true",
        "false",
        "1",
        "-0",
        "0x",
        "1e9",
        "inf",
        "1979-05-27",
        "'https://h/'",
        "'^/$'",
        "'('",
        "'(?<page>'",
        "é",
        "中",
        "\u{0}",
        "\r",
        "parameters",
        "rate",
        "robots",
        "obey",
        "examples",
        "accept",
        "url",
        "class",
        "headers",
        "proxy",
        "name",
        "extends",
        "'families/nginx'",
        "lanes",
        "lane_key",
        "start = ['https://h/']\n",
        "classes.index = ['^/$']\n",
        "[classes]\n",
        "[examples]\n",
        "[login]\n",
        "password",
        "json",
    ]);
    proptest::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

#[test]
fn hints_for_values_of_another_kind_name_a_form_that_is_taken() {
    for (text, wanted) in [
        ("[boards]\nutc_offset = 8", "write it in quotes, as \"+08:00\""),
        ("revisit_minutes = '1m'", "write a number, without quotes and without a unit"),
        ("revisit_minutes = '60'", "write it without quotes"),
        ("revisit_minutes = 0.5", "write a whole number, as 1"),
    ] {
        let text = format!("start = ['http://a.example/']\n{text}\n[classes]\ndownload = ['^/dl/']\n");
        let faults = gleaner_rules::from_text("a", &text).unwrap_err();
        assert!(faults.iter().any(|fault| fault.hint.as_deref() == Some(wanted)), "{faults:?}");
        assert!(!faults.iter().any(|fault| fault.message.contains("number, not a number")), "{faults:?}");
    }
}

#[test]
fn a_thread_of_discuz_has_one_address_whatever_page_of_its_board_led_there() {
    let site = from_text("d", "extends = 'families/discuz'\nstart = ['https://d.example/']").unwrap();
    let url = |path: &str| CrawlUrl::parse(&format!("https://d.example{path}"), &site.canonical).unwrap();
    let plain = url("/forum.php?mod=viewthread&tid=10");
    assert_eq!(url("/forum.php?mod=viewthread&tid=10&extra=page%3D1"), plain);
    assert_eq!(url("/forum.php?mod=viewthread&tid=10&extra=page%3D2%26filter%3Dx"), plain);
    assert_eq!(
        judged(&site, plain.as_str()),
        judged(&site, "https://d.example/forum.php?mod=viewthread&tid=10&page=2")
    );
    assert_ne!(url("/forum.php?mod=viewthread&tid=10&page=2"), plain);
}
