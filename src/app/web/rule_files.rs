//! The rule files for their pages: text and marks, verdicts, and a new text that is put in force if it passes the check. Names are those that the folder
//! lists: no other path is opened.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_rules::shadows::shadows;
use gleaner_rules::{Fault, Refusal, SiteRules, from_text_at, load_dir, load_file, read_text, site_paths};
use gleaner_serve::acts::Refused;
use gleaner_serve::desk::{Mark, NewText, NotSaved, RuleFile, RuleText, Verdict};
use sha2::{Digest as _, Sha256};
use toml::Table;

use crate::app::versions;

/// The file with this name.
fn path_of(rules_dir: &Path, name: &str) -> Option<PathBuf> {
    let paths = site_paths(rules_dir).ok()?;
    paths.into_iter().find(|path| path.file_stem().is_some_and(|stem| stem.to_str() == Some(name)))
}

/// The rules of a site: of the file with its name, else of the one that says so.
pub(super) fn of_site(rules_dir: &Path, site: &str) -> Option<Arc<SiteRules>> {
    let named = path_of(rules_dir, site).and_then(|path| load_file(&path).site.ok());
    let is_it = |rules: &Arc<SiteRules>| *rules.name == *site;
    named.filter(is_it).or_else(|| load_dir(rules_dir).into_iter().filter_map(|file| file.site.ok()).find(is_it))
}

/// All files of the folder.
pub(super) fn all(rules_dir: &Path) -> Vec<RuleFile> {
    let told = |file: gleaner_rules::LoadedFile| {
        let name = file.path.file_stem()?.to_str()?.to_owned();
        Some(match file.site {
            Ok(site) => RuleFile { name, is_enabled: Some(site.enabled), rules: site.rules().len(), faults: 0 },
            Err(faults) => RuleFile { name, is_enabled: None, rules: 0, faults: faults.len() },
        })
    };
    let files = load_dir(rules_dir).into_iter().filter(|file| file.path != rules_dir);
    files.filter_map(told).collect()
}

/// A file with its text and marks.
pub(super) fn one(rules_dir: &Path, name: &str) -> Option<RuleText> {
    let path = path_of(rules_dir, name)?;
    let text = read_text(&path);
    let sha256 = text.as_deref().map_or_else(|_| String::new(), hash);
    let (text, has_secrets, marks) = match text {
        Err(fault) => (String::new(), true, vec![Mark::from(&*fault)]),
        Ok(text) => match from_text_at(&path, &text) {
            Ok(site) => (text, false, warnings(&site, &path)),
            // The text that the faults share has its secrets blotted out.
            Err(faults) => {
                let shared = faults.first().map_or_else(String::new, |fault| fault.source.to_string());
                let has_secrets = faults.iter().any(|fault| !fault.hidden.is_empty());
                (shared, has_secrets, faults.iter().map(Mark::from).collect())
            }
        },
    };
    let versions = versions::versions(&path).unwrap_or_default().into_iter().rev();
    let versions = versions.map(|of| (of.replaced, of.file.display().to_string())).collect();
    Some(RuleText { path: path.display().to_string(), text, sha256, has_secrets, marks, versions })
}

/// Rules of the file itself that get no URL.
fn warnings(site: &SiteRules, path: &Path) -> Vec<Mark> {
    let warn = |shadow: gleaner_rules::shadows::Shadow| {
        let (rule, by) = (&site.rules()[shadow.rule], &site.rules()[shadow.by]);
        (*rule.file == *path).then(|| Mark {
            line: rule.line,
            column: rule.column,
            message: format!(
                "`{}` seems to get no URL: `{}` ({}) takes what it matches",
                rule.pattern,
                by.pattern,
                by.place()
            ),
            hint: Some(format!("make the one of {} narrower", by.key())),
            is_fault: false,
        })
    };
    shadows(site).into_iter().filter_map(warn).collect()
}

/// What the rules of a site make of URLs, or of paths on its first host.
pub(super) fn verdicts(rules_dir: &Path, name: &str, urls: &[String]) -> Vec<Verdict> {
    let path = path_of(rules_dir, name);
    let rules = path.as_ref().and_then(|path| load_file(path).site.ok()).or_else(|| of_site(rules_dir, name));
    let Some(rules) = rules else {
        let what = "its rule file cannot be used: see its faults".to_owned();
        return urls.iter().map(|_| Verdict { what: what.clone(), ..Verdict::default() }).collect();
    };
    let path = path.unwrap_or_else(|| rules.file.to_path_buf());
    urls.iter().map(|url| verdict(&rules, &path, url)).collect()
}

fn verdict(rules: &SiteRules, path: &Path, text: &str) -> Verdict {
    let whole = if text.starts_with('/') { format!("{}{text}", rules.primary()) } else { text.to_owned() };
    let url = match CrawlUrl::parse(&whole, &rules.canonical) {
        Ok(url) => url,
        Err(fault) => {
            let plain = CrawlUrl::parse(&whole, &Canonical::default()).is_ok();
            let what = if plain { format!("refused: {fault}") } else { format!("this is no URL: {fault}") };
            return Verdict { what, ..Verdict::default() };
        }
    };
    let line = |rule: &gleaner_rules::Rule| (*rule.file == *path).then_some(rule.line);
    let by = |rule: &gleaner_rules::Rule| Some(format!("{}: {} '{}'", rule.place(), rule.key(), rule.pattern));
    match rules.judge(&url) {
        gleaner_rules::Verdict::Take { class, rule, .. } => {
            Verdict { is_taken: true, what: format!("taken as {}", class.name()), by: by(rule), line: line(rule) }
        }
        gleaner_rules::Verdict::Refuse { reason } => {
            let (what, rule) = match reason {
                Refusal::Denied(_, rule) => ("denied".to_owned(), Some(rule)),
                Refusal::NoClass => (format!("none of its {} rules matches it", rules.rules().len()), None),
                Refusal::NotBelowStart => ("below_start keeps the crawl below its start URLs".to_owned(), None),
                Refusal::EndsSession => ("it would log out the account of [login]".to_owned(), None),
                Refusal::ActsForAccount(sign) => (format!("it would act for the account: {}", sign.sentence()), None),
                Refusal::WrongHost => (format!("its hosts are {}", rules.hosts.join(", ")), None),
            };
            Verdict {
                is_taken: false,
                what: format!("refused: {what}"),
                by: rule.and_then(by),
                line: rule.and_then(line),
            }
        }
    }
}

fn hash(text: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
}

/// Keys that decide nothing about where the password and the session of a site's account go, and what is done in its name.
const FREE_KEYS: [&str; 20] = [
    "boards",
    "budget",
    "categories",
    "category",
    "charset",
    "classes",
    "deny",
    "depth_max",
    "enabled",
    "examples",
    "increment_depth",
    "lane_key",
    "lanes",
    "learn",
    "learned",
    "pages_max",
    "rate",
    "revisit_minutes",
    "robots",
    "sitemaps",
];

/// Why this text may not replace the other one over HTTP: the site has an account, and its password or session might go elsewhere.
fn moves_account(path: &Path, old: &str, new: &str) -> Option<String> {
    let has_login = |text: &str, table: &Option<Table>| match table {
        Some(table) if table.contains_key("login") => true,
        Some(_) => from_text_at(path, text).is_ok_and(|site| site.login.is_some()),
        None => text.contains("login"),
    };
    let (before, after) = (old.parse::<Table>().ok(), new.parse::<Table>().ok());
    if !has_login(old, &before) && !has_login(new, &after) {
        return None;
    }
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let mut keys: Vec<&str> = before.keys().chain(after.keys()).map(String::as_str).collect();
    keys.retain(|key| !FREE_KEYS.contains(key) && before.get(*key) != after.get(*key));
    keys.sort_unstable();
    keys.dedup();
    (!keys.is_empty()).then(|| {
        format!(
            "the site has an account, and `{}` decides where its password and session go: edit {} on the machine itself, as root",
            keys.join("`, `"),
            path.display()
        )
    })
}

/// One at a time: nothing comes between the comparison and the writing.
static SAVING: Mutex<()> = Mutex::new(());

/// Puts a text in the place of the file that its form was made of, if it passes the check; what it replaces is kept.
pub(super) async fn save(rules_dir: PathBuf, new: NewText) -> Result<Result<(), NotSaved>, Refused> {
    let NewText { name, text, of, by } = new;
    let written = tokio::task::spawn_blocking(move || {
        let path = path_of(&rules_dir, &name).ok_or(Refused::Unknown(name))?;
        if let Err(faults) = from_text_at(&path, &text) {
            return Ok(Err(NotSaved::Faults(faults.iter().map(|fault: &Fault| Mark::from(fault)).collect())));
        }
        let _saving = SAVING.lock().unwrap_or_else(PoisonError::into_inner);
        let old = match read_text(&path) {
            Ok(old) if hash(&old) == of => old,
            _ => return Ok(Err(NotSaved::Changed)),
        };
        if let Some(why) = moves_account(&path, &old, &text) {
            return Ok(Err(NotSaved::Refused(why)));
        }
        Ok(match versions::replace(&path, &text) {
            Ok(kept) => {
                tracing::warn!(path = %path.display(), kept = %kept.display(), by, "a rule file was edited");
                Ok(())
            }
            Err(error) => Err(NotSaved::Refused(format!(
                "{error:#}; the service writes its rules folder only where it may: see docs/guide/dashboard.md"
            ))),
        })
    });
    written.await.map_err(|error| Refused::Failed(error.to_string()))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const TEXT: &str = "start = ['http://h.example/']\n[classes]\ndetail = ['^/t/\\d+']\ndeny = ['^/t/9']\n";

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("a.toml"),
            "start = ['http://h.example/']\ndeny = ['^/t/9']\n[classes]\ndetail = ['^/t/\\d+']\nindex = ['^/$']\n",
        )
        .unwrap();
        folder
    }

    #[test]
    fn the_line_that_decides_is_named() {
        let folder = folder();
        let urls = ["/t/1", "http://h.example/t/9", "/x", "http://other.example/", "::"].map(str::to_owned);
        let found = verdicts(folder.path(), "a", &urls);
        let told: Vec<_> = found.iter().map(|of| (of.is_taken, of.line)).collect();
        assert_eq!(told, [(true, Some(4)), (false, Some(2)), (false, None), (false, None), (false, None)]);
        assert!(found[0].what == "taken as detail" && found[2].what.contains("none of its 3 rules"), "{found:?}");
    }

    #[test]
    fn names_lead_to_no_other_file() {
        let folder = folder();
        fs::write(folder.path().join("secret.txt"), "x").unwrap();
        for name in ["../a", "secret.txt", "secret", "a.toml", "", "."] {
            assert_eq!(one(folder.path(), name), None, "{name}");
        }
        assert!(one(folder.path(), "a").is_some_and(|file| file.marks.is_empty() && file.text.contains("detail")));
    }

    #[tokio::test]
    async fn what_does_not_pass_is_not_written_and_what_is_replaced_is_kept() {
        let folder = folder();
        let path = folder.path().join("a.toml");
        let before = fs::read_to_string(&path).unwrap();
        let Ok(Err(NotSaved::Faults(faults))) = put(folder.path(), "a", TEXT, &before).await else {
            panic!("deny is no class")
        };
        assert!(!faults.is_empty() && fs::read_to_string(&path).unwrap() == before);
        let better = format!("# better\n{before}");
        assert_eq!(put(folder.path(), "a", &better, &before).await, Ok(Ok(())));
        assert_eq!(fs::read_to_string(&path).unwrap(), better);
        let kept = one(folder.path(), "a").unwrap().versions;
        assert!(kept.len() == 1 && fs::read_to_string(&kept[0].1).unwrap() == before, "{kept:?}");
        let unknown = put(folder.path(), "b", &better, &before).await;
        assert_eq!(unknown, Err(Refused::Unknown("b".to_owned())));
        let late = put(folder.path(), "a", "# late", &before).await;
        assert!(matches!(late, Ok(Err(NotSaved::Faults(_)))), "{late:?}");
        let late = put(folder.path(), "a", &format!("# late\n{before}"), &before).await;
        assert_eq!(late, Ok(Err(NotSaved::Changed)), "another one has saved meanwhile");
        assert_eq!(fs::read_to_string(&path).unwrap(), better);
    }

    async fn put(folder: &Path, name: &str, text: &str, of: &str) -> Result<Result<(), NotSaved>, Refused> {
        let new = NewText { name: name.to_owned(), text: text.to_owned(), of: hash(of), by: "x".to_owned() };
        save(folder.to_owned(), new).await
    }

    #[test]
    fn the_password_of_an_account_goes_nowhere_else() {
        let path = Path::new("rules/a.toml");
        let open = "start = ['http://h.example/']\n[classes]\nindex = ['^/$']\n";
        let member = format!("{open}[login]\nuser = 'u'\n");
        let told = |old: &str, new: &str| moves_account(path, old, new);
        assert_eq!(told(open, &open.replace("h.example", "evil.example")), None, "no account, nothing to take");
        for harmless in ["# a comment\n", "deny = ['^/x']\n", "revisit_minutes = 90\n", "lanes = 2\n"] {
            assert_eq!(told(&member, &format!("{harmless}{member}")), None, "{harmless}");
        }
        let moved = member.replace("h.example", "evil.example");
        for (old, new, key) in [
            (&*member, &*moved, "start"),
            (&member, &format!("hosts = ['evil.example']\n{member}"), "hosts"),
            (&member, &format!("mirrors = ['http://evil.example']\n{member}"), "mirrors"),
            (&member, &format!("proxy = 'http://evil.example'\n{member}"), "proxy"),
            (&member, &format!("extends = 'phpbb'\n{member}"), "extends"),
            (&member, &format!("name = 'other'\n{member}"), "name"),
            (&member, &format!("{member}page = 'http://evil.example/'\n"), "login"),
            (&member, open, "login"),
            (open, &member, "login"),
            // Step by step leads to nothing either: what cannot be read may have had one.
            ("[login", &moved, "login"),
        ] {
            assert!(told(old, new).is_some_and(|why| why.contains(&format!("`{key}`"))), "{key}: {:?}", told(old, new));
        }
    }
}
