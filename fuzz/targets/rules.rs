//! Files that people write: every fault has its position, and a valid file stays valid when it is written again.

use std::path::PathBuf;
use std::sync::LazyLock;

use gleaner_rules::config::{Config, ConfigFile, Overrides, Surroundings};
use gleaner_rules::fault::render;
use gleaner_rules::file::SiteFile;
use gleaner_rules::{Fault, SiteRules, Verdict, from_text};

/// Site rule files.
pub fn rules(input: &[u8]) {
    let text = super::text(input);
    let site = match from_text("fuzz", &text) {
        Ok(site) => site,
        Err(faults) => return assert_placed(&faults, &text),
    };
    assert!(!site.start.is_empty() && !site.hosts.is_empty() && !site.name.is_empty());
    for start in &site.start {
        assert!(matches!(site.judge(start), Verdict::Take { .. }), "the start URL {start} is not taken");
    }
    for rule in site.rules().iter().filter(|rule| rule.file.starts_with("<fuzz>")) {
        let line = text.split('\n').nth(rule.line - 1).expect("a rule stands in a line of the file");
        assert!(rule.column >= 1 && rule.column <= line.chars().count(), "{} is beside its line", rule.place());
    }
    assert_eq!(from_text("fuzz", &text).map(|again| again.fingerprint()).ok(), Some(site.fingerprint()));

    let file: SiteFile = toml::from_str(&text).expect("what is valid fits the type");
    let written = toml::to_string(&file).expect("what fits the type can be written");
    let again = from_text("fuzz", &written).unwrap_or_else(|faults| panic!("{faults:#?}\nin\n{written}"));
    assert_same(&site, &again);
}

/// Equal except for the positions of the rules.
fn assert_same(site: &SiteRules, again: &SiteRules) {
    fn rules(site: &SiteRules) -> Vec<(&str, String)> {
        site.rules().iter().map(|rule| (&*rule.pattern, rule.key())).collect()
    }
    assert_eq!(rules(site), rules(again));
    assert_eq!(
        (&site.name, site.enabled, &site.start, &site.hosts),
        (&again.name, again.enabled, &again.start, &again.hosts)
    );
    assert_eq!((&site.below, &site.canonical, site.charset), (&again.below, &again.canonical, again.charset));
    assert_eq!((site.rate, site.lanes, site.depth_max), (again.rate, again.lanes, again.depth_max));
    assert_eq!((site.quota, site.revisit, &site.robots), (again.quota, again.revisit, &again.robots));
    assert_eq!((&site.client.headers, &site.client.proxy), (&again.client.headers, &again.client.proxy));
    assert_eq!(site.client.private_addresses, again.client.private_addresses);
}

/// True for the text with its secrets replaced by stars, one per byte.
fn is_shown(shown: &str, text: &str) -> bool {
    let is_masked = |byte: u8, was: u8| byte == was || byte == b'*';
    shown.len() == text.len() && shown.bytes().zip(text.bytes()).all(|(byte, was)| is_masked(byte, was))
}

fn assert_placed(faults: &[Fault], text: &str) {
    assert!(!faults.is_empty(), "refused without a reason");
    for fault in faults {
        assert!(text.get(fault.span.clone()).is_some(), "{fault} is at {:?} of {} bytes", fault.span, text.len());
        assert!(is_shown(&fault.source, text), "{:?} is shown for {text:?}", fault.source);
        let before = &text[..fault.span.start];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let place = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        assert_eq!((fault.line, fault.column), place, "{fault}");
        assert!(!fault.message.is_empty() && fault.hint.as_deref() != Some(""), "{fault:?}");
    }
    let shown = render(faults, false);
    assert!(shown.contains(&faults[0].line.to_string()));
}

/// gleaner.toml, in a folder of this process: a configuration is read from a file.
pub fn config(input: &[u8]) {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("gleaner-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for temporary files takes one");
        folder
    });
    let path = FOLDER.join("gleaner.toml");
    let load = |text: &[u8]| {
        std::fs::write(&path, text).expect("the folder for temporary files takes a file");
        let surroundings = Surroundings { root: FOLDER.clone(), ..Surroundings::default() };
        Config::load_in(&surroundings, Some(&path), &Overrides::default())
    };
    let config = match load(input) {
        Ok(config) => config,
        Err(faults) => return assert_placed(&faults, &super::text(input)),
    };
    let agent = config.user_agent();
    assert!(agent.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{agent:?} is no header");
    let text = std::str::from_utf8(input).expect("a valid file is UTF-8");
    let file: ConfigFile = toml::from_str(text).expect("what is valid fits the type");
    let written = toml::to_string(&file).expect("what fits the type can be written");
    assert_eq!(load(written.as_bytes()).as_ref(), Ok(&config), "{written}");
}
