//! The rule files for their pages: text and marks, verdicts, and a new text that is put in force if it passes the check. Names are those that the folder
//! lists: no other path is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_rules::shadows::shadows;
use gleaner_rules::{Fault, Refusal, SiteRules, from_text_at, load_dir, load_file, read_text, site_paths};
use gleaner_serve::acts::Refused;
use gleaner_serve::desk::{Mark, NotSaved, RuleFile, RuleText, Verdict};

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
    Some(RuleText { path: path.display().to_string(), text, has_secrets, marks, versions })
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

/// Puts a text in the place of a file if it passes the check; what it replaces is kept.
pub(super) async fn save(
    rules_dir: PathBuf,
    name: String,
    text: String,
    by: String,
) -> Result<Result<(), NotSaved>, Refused> {
    let written = tokio::task::spawn_blocking(move || {
        let path = path_of(&rules_dir, &name).ok_or(Refused::Unknown(name))?;
        if let Err(faults) = from_text_at(&path, &text) {
            return Ok(Err(NotSaved::Faults(faults.iter().map(|fault: &Fault| Mark::from(fault)).collect())));
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
        let put = |text: &str| save(folder.path().to_owned(), "a".to_owned(), text.to_owned(), "x".to_owned());
        let Ok(Err(NotSaved::Faults(faults))) = put(TEXT).await else { panic!("deny is no class") };
        assert!(!faults.is_empty() && fs::read_to_string(&path).unwrap() == before);
        let better = format!("# better\n{before}");
        assert_eq!(put(&better).await, Ok(Ok(())));
        assert_eq!(fs::read_to_string(&path).unwrap(), better);
        let kept = one(folder.path(), "a").unwrap().versions;
        assert!(kept.len() == 1 && fs::read_to_string(&kept[0].1).unwrap() == before, "{kept:?}");
        let unknown = save(folder.path().to_owned(), "b".to_owned(), better, "x".to_owned()).await;
        assert_eq!(unknown, Err(Refused::Unknown("b".to_owned())));
    }
}
