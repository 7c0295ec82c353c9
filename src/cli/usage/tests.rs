//! Unit tests of `usage`.

use super::*;

#[test]
fn a_number_below_zero_is_refused_as_a_value_and_not_taken_for_a_flag() {
    for option in ["--lists", "--plots"] {
        let parsed = parse(["gleaner", "schedule", "site", option, "-3"].map(OsString::from));
        let told = parsed.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains(&format!("invalid value '-3' for '{option} ")) && !told.contains("tip"), "{told}");
    }
    assert!(parse(["gleaner", "schedule", "site", "--lists", "3"].map(OsString::from)).is_ok());
}

#[test]
fn commands_of_the_laboratory_are_told_with_its_name() {
    for command in LAB {
        let parsed = parse(["gleaner", command, "--json"].map(OsString::from));
        let told = parsed.err().and_then(|error| of_lab(&error)).unwrap_or_default();
        assert!(told.contains(&format!("\nhint: gleaner-lab {command}")), "{told}");
    }
    let other = parse(["gleaner", "trian"].map(OsString::from)).err().and_then(|error| of_lab(&error));
    assert_eq!(other, None);
}

/// The long flags of a command and all its subcommands.
fn flags_of(command: &clap::Command, flags: &mut Vec<String>) {
    flags.extend(command.get_arguments().filter_map(|argument| Some(format!("--{}", argument.get_long()?))));
    command.get_subcommands().for_each(|command| flags_of(command, flags));
}

#[test]
fn flags_that_were_to_take_a_password_are_told_from_mistyped_ones() {
    for flag in [
        "--password",
        "--pasword",
        "--pass",
        "--passwrd",
        "--pwd",
        "--secret",
        "--PASSWORD",
        "--pasphrase",
        "--secrt",
        "--pw",
        "--user-password",
        "--login_pass",
    ] {
        assert!(means_secret(flag, None), "{flag}");
    }
    for flag in [
        "--interactve",
        "--user",
        "--usr",
        "--cookie",
        "--logut",
        "--pages",
        "--perday",
        "--perDay",
        "--seeds",
        "--bord",
        "--width",
        "--pause",
        "--screenshot",
        "--screen",
        "--screenshots",
        "--screnshot",
        "-x",
        "--",
        "--p",
    ] {
        assert!(!means_secret(flag, None), "{flag}");
    }
    assert!(!means_secret("--pase", Some("--pace")) && means_secret("--pase", None));
}

#[test]
fn no_flag_of_any_command_is_taken_for_a_password_however_it_is_mistyped() {
    let mut flags = Vec::new();
    flags_of(&super::super::Cli::command(), &mut flags);
    assert!(flags.len() > 40, "{flags:?}");
    for flag in &flags {
        let letters: Vec<char> = flag.chars().collect();
        let left_out = (2..letters.len()).map(|at| [&letters[..at], &letters[at + 1..]].concat());
        let swapped = (2..letters.len() - 1).map(|at| {
            let mut letters = letters.clone();
            letters.swap(at, at + 1);
            letters
        });
        let doubled = (2..letters.len()).map(|at| [&letters[..=at], &letters[at..]].concat());
        for typed in left_out.chain(swapped).chain(doubled) {
            let typed: String = typed.into_iter().collect();
            assert!(!means_secret(&typed, Some(flag)), "{typed} for {flag}");
        }
    }
}
