//! Fills names into sentences about an account: the site in a command, the options that a command must repeat, and
//! the places of the password and the rule file. The sentences themselves are stored without them, so that they are
//! the same everywhere.

/// Adds the site's name to the login command in a sentence.
#[must_use]
pub fn of_site(sentence: &str, site: &str) -> String {
    let named = format!("`gleaner login {site}");
    let sentence = sentence.replace("`gleaner login`", &format!("{named}`"));
    sentence.replace("`gleaner login --", &format!("{named} --"))
}

/// The same, with the options that its command repeats, such as ` --data d`.
#[must_use]
pub fn with_options(sentence: &str, site: &str, options: &str) -> String {
    let named = format!("gleaner login {site}");
    let mut parts = sentence.split(&named);
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Another site's name may start like this one's, and the options may already be there.
        let is_whole = !part.starts_with(|next: char| next.is_ascii_alphanumeric() || "-_".contains(next));
        let is_bare = is_whole && (options.is_empty() || !part.starts_with(options));
        told.extend([&*named, if is_bare { options } else { "" }, part]);
    }
    told
}

/// Adds the place of the password, and of the rule file if there is one.
#[must_use]
pub fn with_places(sentence: &str, password: &str, file: Option<&str>) -> String {
    let told = sentence.replace(CORRECT, &format!("correct the password in {password}, or"));
    let told = told.replace(NEW, &format!("correct the password in {password}, then"));
    let told = told.replace(CHECK, &format!("check the password in {password}, and"));
    let Some(file) = file else { return told };
    TABLE.iter().fold(told, |told, key| {
        let bare = told.replace(&format!("{key} of {file}"), key);
        bare.replace(key, &format!("{key} of {file}"))
    })
}

const CORRECT: &str = "correct the password, or";

const NEW: &str = "correct the password, then";

const CHECK: &str = "check the password, in `secrets` of the data folder or wherever it comes from, and";

/// Phrases that name a key of the rule file.
const TABLE: &[&str] = &["in [login]", "in `login.page`", "in `login.probe`"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;

    #[test]
    fn sentences_name_the_site_the_options_and_the_files() {
        for (verdict, expected) in [
            (
                Verdict::WrongPassword,
                "correct the password in d/secrets/s, or `user` in [login] of r/s.toml, then run `gleaner login s --data d`",
            ),
            (
                Verdict::PasswordExpired,
                "change it with a browser, correct the password in d/secrets/s, then run `gleaner login s --data d`",
            ),
            (
                Verdict::ProbablyRefused,
                "check the password in d/secrets/s, and `user` in [login] of r/s.toml, then run",
            ),
            (Verdict::ProbablyRefused, "or run `gleaner login s --data d --again`"),
            (Verdict::NoForm, "name its page in `login.page` of r/s.toml, or correct what [login] names"),
            (
                Verdict::Unknown,
                "name a members' page in `login.probe` of r/s.toml, then run `gleaner login s --data d`",
            ),
        ] {
            let told = with_places(verdict.sentence(), "d/secrets/s", Some("r/s.toml"));
            let told = with_options(&of_site(&told, "s"), "s", " --data d");
            assert!(told.contains(expected), "{expected}: {told}");
            let again = with_places(&told, "d/secrets/s", Some("r/s.toml"));
            assert_eq!(with_options(&of_site(&again, "s"), "s", " --data d"), told, "told twice");
        }
        let told = with_places(Verdict::WrongPassword.sentence(), "d/secrets/s", None);
        assert!(told.contains("correct the password in d/secrets/s, or `user` in [login], then"), "{told}");
    }
}
