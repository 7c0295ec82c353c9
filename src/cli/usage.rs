//! Wrong usage: what clap says of it, but where a password may stand among the arguments, of which nothing is shown again.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::rules::fault::nearest;

/// Flags that people expect to take a password.
const SECRETS: [&str; 6] = ["--password", "--passwd", "--passphrase", "--pass", "--pwd", "--secret"];

/// Flags that have letters in common with those, and take no password: ours, and what people look for.
const OTHERS: [&str; 17] = [
    "--page",
    "--pages-max",
    "--max-pages",
    "--interactive",
    "--cookies",
    "--logout",
    "--again",
    "--json",
    "--data",
    "--rules",
    "--config",
    "--verbose",
    "--user",
    "--username",
    "--screenshot",
    "--screenshot-text",
    "--scripts",
];

/// True for a flag that was to take a password, be it mistyped.
fn means_secret(flag: &str) -> bool {
    let meant = nearest(flag, SECRETS.into_iter().chain(OTHERS));
    flag.starts_with("--") && meant.is_some_and(|meant| SECRETS.contains(&meant))
}

/// Tells what is wrong with the arguments, or what was asked for (help, version).
pub fn refused(error: &clap::Error) -> ExitCode {
    match of_secret(error) {
        Some(told) => eprintln!("{told}"),
        // Nobody reads where it cannot be written.
        None => drop(error.print()),
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// What is said in place of clap's words, where these would be no help with a secret, or might show one.
fn of_secret(error: &clap::Error) -> Option<String> {
    let is_of_login = std::env::args_os().skip(1).any(|argument| argument == "login");
    if is_of_login && error.kind() == ErrorKind::TooManyValues {
        let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
        return Some(format!(
            "error: '{flag}' takes no value: what stands behind it is not shown, as it may be a secret\nhint: gleaner login SITE \
             {flag}; what a page asks for is asked for on the terminal"
        ));
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    let flag = argument.split('=').next().unwrap_or_default();
    if is_of_login && matches!(flag, "--user" | "--username") {
        return Some(format!(
            "error: unexpected argument '{flag}': the name of the account stands in the site's rule file\nhint: write it as `user` \
             into its table [login], then run: gleaner login SITE"
        ));
    }
    if means_secret(flag) {
        return Some(format!(
            "error: unexpected argument '{flag}': a password is never an argument, which other users of the machine can read\nhint: \
             write it into the file `secrets/SITE` of the data folder (chmod 600), then run: gleaner login SITE\nhint: where it was \
             typed here, it may stand in the shell's history: change it"
        ));
    }
    // What stands alone may be a secret that was to follow a flag.
    (is_of_login && !argument.starts_with('-')).then(|| {
        "error: unexpected argument behind the name of the site: it is not shown, as it may be a secret\nhint: gleaner login SITE; \
         its password belongs into the file `secrets/SITE` of the data folder (chmod 600)"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_were_to_take_a_password_are_told_from_mistyped_ones() {
        for flag in ["--password", "--pasword", "--pass", "--passwrd", "--pwd", "--secret", "--PASSWORD"] {
            assert!(means_secret(flag), "{flag}");
        }
        for flag in
            ["--interactve", "--interactiv", "--user", "--usr", "--cookie", "--logut", "--pages", "--rule", "-x"]
                .into_iter()
                .chain(["--screenshot", "--screen", "--screenshots", "--screnshot"])
        {
            assert!(!means_secret(flag), "{flag}");
        }
    }
}
