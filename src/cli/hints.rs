//! What errors and reports tell to do: commands that can be copied as they stand, with the folders that this one was
//! given and the name of the site that it is about. A hint stands behind what it is a hint about, on a line of its own.

use std::path::Path;

use super::Global;
use crate::login::verdict;

/// The options that commands in hints repeat.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    options: String,
}

impl Hints {
    /// Those that this command was given, by arguments or by variables.
    #[must_use]
    pub fn of(global: &Global) -> Self {
        let given = [("--data", &global.data), ("--rules", &global.rules), ("--config", &global.config)];
        let given = given.iter().filter_map(|(name, path)| Some((name, path.as_deref()?)));
        Self { options: given.map(|(name, path)| format!(" {name} {}", quoted(path))).collect() }
    }

    /// The same, with the folder of the rule files, for a command that finds its own without being told.
    #[must_use]
    pub fn with_rules(&self, folder: &Path) -> Self {
        match self.options.contains(" --rules ") {
            true => self.clone(),
            false => Self { options: format!("{} --rules {}", self.options, quoted(folder)) },
        }
    }

    /// A command as it is to be typed.
    #[must_use]
    pub fn command(&self, words: &str) -> String {
        format!("gleaner {words}{}", self.options)
    }

    /// A sentence of the crawl's about this site, with its command to log in as it is to be typed.
    #[must_use]
    pub fn of_site(&self, text: &str, site: &str) -> String {
        let named = format!("gleaner login {site}");
        let text = verdict::of_site(text, site);
        let mut parts = text.split(&named);
        let mut told = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // Another site's name may begin like this one's, and the options may stand there already.
            let is_whole = !part.starts_with(|next: char| next.is_ascii_alphanumeric() || "-_".contains(next));
            let is_bare = is_whole && (self.options.is_empty() || !part.starts_with(&self.options));
            told.extend([&*named, if is_bare { &self.options } else { "" }, part]);
        }
        told
    }
}

/// A sentence without the hint at its end, for those who have a better one.
#[must_use]
pub fn without_hint(sentence: &str) -> &str {
    sentence.strip_suffix(')').and_then(|text| text.rsplit_once(" (hint: ")).map_or(sentence, |(said, _)| said)
}

/// An error with its causes in one line, and all their hints behind it.
#[must_use]
pub fn told(error: &anyhow::Error) -> String {
    let (mut what, mut hints) = (Vec::new(), String::new());
    for cause in error.chain().map(ToString::to_string) {
        let (head, hint) = cause.split_once("\nhint: ").map_or((&*cause, None), |(head, hint)| (head, Some(hint)));
        what.push(head.to_owned());
        if let Some(hint) = hint {
            hints.push_str(&format!("\nhint: {hint}"));
        }
    }
    what.join(": ") + &hints
}

/// A path as a shell takes it.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte);
    if !path.is_empty() && path.bytes().all(is_plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn commands_in_hints_name_the_site_and_repeat_the_folders() {
        let hints = Hints { options: " --data 'my data'".to_owned() };
        for (text, expected) in [
            ("then run `gleaner login`)", "then run `gleaner login forum --data 'my data'`)"),
            ("`gleaner login --interactive`", "`gleaner login forum --data 'my data' --interactive`"),
            ("gleaner login forum", "gleaner login forum --data 'my data'"),
            ("gleaner login forum2, gleaner login forum --data 'my data'", ""),
            ("no command", ""),
        ] {
            let expected = if expected.is_empty() { text } else { expected };
            assert_eq!(hints.of_site(text, "forum"), expected);
        }
        assert_eq!(Hints::default().of_site("`gleaner login`.", "forum"), "`gleaner login forum`.");
        assert_eq!(hints.command("status"), "gleaner status --data 'my data'");
        let with_rules = hints.with_rules(Path::new("/my rules"));
        assert_eq!(with_rules.command("crawl"), "gleaner crawl --data 'my data' --rules '/my rules'");
        assert_eq!(with_rules.with_rules(Path::new("b")).command("crawl"), with_rules.command("crawl"));
        assert_eq!(quoted(Path::new("a b'c")), "'a b'\\''c'");
    }

    #[test]
    fn what_is_said_is_told_from_what_to_do() {
        for (text, expected) in [
            ("no form (hint: name it)", "no form"),
            ("no form (in a frame)", "no form (in a frame)"),
            ("no form (hint: name it) at all", "no form (hint: name it) at all"),
        ] {
            assert_eq!(without_hint(text), expected);
        }
    }

    #[test]
    fn hints_stand_behind_all_causes() {
        let error = anyhow::anyhow!("no such file\nhint: make it").context("models/x\nhint: name the folder");
        let error = Err::<(), _>(error).context("train").unwrap_err();
        assert_eq!(told(&error), "train: models/x: no such file\nhint: name the folder\nhint: make it");
    }
}
