//! The rule files: faults, and whether any site is crawled.

use super::{Finding, Patient};

pub(super) fn check(of: &Patient) -> Vec<Finding> {
    let dir = of.config.rules_dir.display();
    if !of.config.rules_dir.is_dir() {
        let fix = format!("pass the right --rules, or start one: {}", of.command("rules new URL"));
        return vec![Finding::new("rules_missing", dir, "there is no such folder of rule files", fix)];
    }
    let mut found = Vec::new();
    for fault in of.files.iter().filter_map(|file| file.site.as_ref().err()).flatten() {
        let place = format!("{}:{}:{}", fault.path.display(), fault.line, fault.column);
        let hint = fault.hint.clone().unwrap_or_else(|| "correct it".to_owned());
        let fix = format!("{hint}; then {}", of.command("rules check"));
        found.push(Finding::new("rules_faulty", place, fault.message.clone(), fix));
    }
    let is_enabled = |file: &gleaner_rules::LoadedFile| file.site.as_ref().is_ok_and(|site| site.enabled);
    if found.is_empty() && !of.files.iter().any(is_enabled) {
        let fix = format!("set enabled = true in a file, or {}", of.command("rules new URL"));
        found.push(Finding::new("no_site_enabled", dir, "no site is enabled: nothing is crawled", fix));
    }
    found
}
