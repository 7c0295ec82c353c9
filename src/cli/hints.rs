//! Commands in the hints of errors and reports: ready to copy, with the folders that this command was given and the name
//! of the site. A hint follows its message, on a line of its own.

use std::path::Path;

use super::Global;
use crate::app::secrets;
use gleaner_login::names;
use gleaner_login::secret::MASK;

/// The options that commands in hints repeat.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    options: String,
    /// The option that names the folder of the rule files.
    rules: String,
}

impl Hints {
    /// The options of this command, from arguments or environment variables.
    #[must_use]
    pub fn of(global: &Global) -> Self {
        let given = [("--data", &global.data), ("--rules", &global.rules), ("--config", &global.config)];
        let [data, rules, config] = given
            .map(|(name, path)| path.as_deref().map_or_else(String::new, |path| format!(" {name} {}", quoted(path))));
        Self { options: format!("{data}{rules}{config}"), rules }
    }

    /// The same with this folder of rule files, replacing one that lacks the site.
    #[must_use]
    pub fn with_rules(&self, folder: &Path) -> Self {
        let rules = format!(" --rules {}", quoted(folder));
        let options = match &*self.rules {
            "" => format!("{}{rules}", self.options),
            named => self.options.replacen(named, &rules, 1),
        };
        Self { options, rules }
    }

    /// A command, ready to type.
    #[must_use]
    pub fn command(&self, words: &str) -> String {
        format!("gleaner {words}{}", self.options)
    }

    /// A message of the crawl about this site, with the complete command to log in.
    #[must_use]
    pub fn of_site(&self, text: &str, site: &str) -> String {
        names::with_options(&names::of_site(text, site), site, &self.options)
    }

    /// The same for an account, with the location of its password, and its rule file if it is available.
    #[must_use]
    pub fn of_account(&self, text: &str, site: &str, data_dir: &Path, file: Option<&Path>) -> String {
        let text = names::with_places(text, &secrets::place_of(data_dir, site), file.map(quoted).as_deref());
        self.of_site(&text, site)
    }

    /// The options that commands repeat.
    #[must_use]
    pub fn options(&self) -> &str {
        &self.options
    }
}

/// A message without the hint at its end, for callers with a better one.
#[must_use]
pub fn without_hint(sentence: &str) -> &str {
    sentence.strip_suffix(')').and_then(|text| text.rsplit_once(" (hint: ")).map_or(sentence, |(said, _)| said)
}

/// An error with its causes on one line, followed by all their hints.
#[must_use]
pub fn told(error: &anyhow::Error) -> String {
    gleaner_base::console::told(&**error)
}

/// An unknown argument in printable form: a password in it, as in `http://anna:hunter2@host/` or `anna:hunter2`, is
/// masked.
#[must_use]
pub fn told_argument(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let scheme = if rest.len() < text.len() { format!("{scheme}://") } else { String::new() };
    if let Some((_, host)) = rest.rsplit_once('@') {
        return format!("{scheme}{MASK}@{host}");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    match rest[..end].split_once(':') {
        Some((host, port)) if !is_port(port) && !host.starts_with('[') => format!("{scheme}{host}:{MASK}"),
        _ => text.to_owned(),
    }
}

/// A path, quoted for a shell.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte);
    if !path.is_empty() && path.bytes().all(is_plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests;
