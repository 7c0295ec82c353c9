//! Usage errors: clap's message, unless the arguments may contain a password; then no argument is repeated.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;

/// Parses the arguments. A negative number is a value, which its option rejects with its own message: clap takes it for a flag
/// and would suggest the file after it.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let matches = with_numbers_below_zero(Cli::command()).try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

fn with_numbers_below_zero(command: Command) -> Command {
    let option = |argument: Arg| match !argument.is_positional() && argument.get_action().takes_values() {
        true => argument.allow_negative_numbers(true),
        false => argument,
    };
    command.mut_args(option).mut_subcommands(with_numbers_below_zero)
}

/// Names of flags that would take a password.
const SECRETS: [&str; 7] = ["password", "passphrase", "passwd", "secret", "pass", "pwd", "pw"];

/// Names of at least this many letters may have two typos; shorter ones of at least four letters, one.
const LONG: usize = 8;

/// True for a flag that was meant to take a password, even if misspelt. `known` is the most similar flag of the command, if
/// any: a name that is at least as similar to that one is no secret. The name must contain a secret word, or be close to one.
fn means_secret(flag: &str, known: Option<&str>) -> bool {
    let Some(name) = flag.strip_prefix("--").map(str::to_lowercase) else { return false };
    let wrong = |other: &str| strsim::osa_distance(&name, other);
    let to_known = known.map(|known| wrong(known.trim_start_matches('-')));
    let is_it = |secret: &str| {
        let room = if secret.len() >= LONG { 2 } else { usize::from(secret.len() >= 4) };
        let is_word = name.split(['-', '_']).any(|word| word == secret);
        // `--with-secret` is one letter from a flag that takes none.
        (is_word && to_known != Some(1))
            || (wrong(secret) <= room && to_known.is_none_or(|to_known| wrong(secret) < to_known))
    };
    SECRETS.iter().any(|secret| is_it(secret))
}

/// Prints the usage error, or the requested text (help, version).
pub fn refused(error: &clap::Error) -> ExitCode {
    match of_secret(error).or_else(|| of_lab(error)).or_else(|| of_empty_variable(error)) {
        Some(told) => errln!("{told}"),
        None if error.use_stderr() => errln!("{}", error.render().to_string().trim_end()),
        None => {
            if let Err(error) = error.print().and_then(|()| std::io::stdout().flush()) {
                return super::not_written(&error);
            }
        }
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Options that environment variables set, and what each names.
const VARIABLES: [(&str, &str, &str); 3] = [
    ("--data", "GLEANER_DATA", "a folder"),
    ("--rules", "GLEANER_RULES", "a folder"),
    ("--config", "GLEANER_CONFIG", "a file"),
];

/// The message for an option without a value that an empty environment variable has set.
fn of_empty_variable(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_it = |(flag, ..): &&(&str, &str, &str)| option.split(' ').next() == Some(flag);
    let (_, variable, what) = VARIABLES.iter().find(is_it)?;
    let is_empty = std::env::var_os(variable).is_some_and(|value| value.is_empty());
    is_empty.then(|| format!("error: {variable} is empty\nhint: unset it, or name {what}"))
}

/// Commands of the other program.
const LAB: [&str; 2] = ["simulate", "train"];

/// The message for a command that `gleaner-lab` has.
fn of_lab(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let is_of_lab = LAB.contains(&&**command);
    is_of_lab.then(|| format!("error: '{command}' is a command of gleaner-lab\nhint: gleaner-lab {command} --help"))
}

/// The message that replaces clap's if that would not help with a secret, or might show it.
fn of_secret(error: &clap::Error) -> Option<String> {
    let is_of_login = std::env::args_os().skip(1).any(|argument| argument == "login");
    if is_of_login && error.kind() == ErrorKind::TooManyValues {
        let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
        return Some(format!(
            "error: '{flag}' takes no value: the one given is not shown, as it may be a secret\nhint: gleaner login SITE {flag}; what \
             a page asks for is prompted for on the terminal"
        ));
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    let flag = argument.split('=').next().unwrap_or_default();
    if is_of_login && matches!(flag, "--user" | "--username") {
        return Some(format!(
            "error: unexpected argument '{flag}': the name of the account belongs into the site's rule file\nhint: write it as `user` \
             into its table [login], then run: gleaner login SITE"
        ));
    }
    let known = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(known)) => Some(known.as_str()),
        _ => None,
    };
    if means_secret(flag, known) {
        return Some(format!(
            "error: unexpected argument '{flag}': a password is never an argument, which other users of the machine can read\nhint: \
             write it into the file `secrets/SITE` of the data folder (chmod 600), then run: gleaner login SITE\nhint: if you typed \
             the password here, change it: the shell's history may have it"
        ));
    }
    // A lone argument may be a secret that was meant for a flag.
    (is_of_login && !argument.starts_with('-')).then(|| {
        "error: unexpected argument after the name of the site: it is not shown, as it may be a secret\nhint: gleaner login SITE; its \
         password belongs into the file `secrets/SITE` of the data folder (chmod 600)"
            .to_owned()
    })
}

#[cfg(test)]
mod tests;
