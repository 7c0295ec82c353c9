//! Every key of gleaner.toml as a variable of the environment: `web.listen` is `GLEANER_WEB_LISTEN`. A variable counts more than the file, and is checked as the
//! file is.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{ConfigFile, check};
use crate::fault::{Fault, Faults, nearest};
use crate::schema;

/// Variables that stand for options or belong to builds of gleaner itself.
const OTHERS: [&str; 5] =
    ["GLEANER_CONFIG", "GLEANER_DATA", "GLEANER_RULES", "GLEANER_RENDER_UNCONFINED", "GLEANER_ROOT"];

/// The file with the values of the environment. Lists are separated by commas; an empty variable counts as none.
///
/// # Errors
/// The faults of all values, each at the name of its variable.
pub(super) fn with_variables(
    file: ConfigFile,
    variables: &BTreeMap<String, String>,
    home: Option<&std::ffi::OsStr>,
) -> Result<ConfigFile, Vec<Fault>> {
    let (Ok(mut merged), Ok(defaults)) = (serde_json::to_value(&file), serde_json::to_value(ConfigFile::default()))
    else {
        return Ok(file);
    };
    let mut found = Vec::new();
    let mut is_changed = false;
    // A list of tables has no place in a variable.
    for path in leaves(&defaults, "").into_iter().filter(|path| path != "/search") {
        let name = variable_of(&path);
        let Some(value) = variables.get(&name).filter(|value| !value.is_empty()) else { continue };
        let text = as_toml(&path, value, defaults.pointer(&path).unwrap_or(&Json::Null));
        let mut faults = Faults::new(format!("${name}"), &text);
        let read = schema::read::<ConfigFile>(&mut faults);
        check(&read.value, &read.spans, home, &mut faults);
        found.extend(faults.into_sorted());
        let one = serde_json::to_value(&read.value).ok().and_then(|one| one.pointer(&path).cloned());
        if let (Some(own), Some(one)) = (merged.pointer_mut(&path), one) {
            *own = one;
            is_changed = true;
        }
    }
    match found.is_empty() {
        true if is_changed => Ok(serde_json::from_value(merged).unwrap_or(file)),
        true => Ok(file),
        false => Err(found),
    }
}

fn variable_of(path: &str) -> String {
    format!("GLEANER_{}", path.replace('/', "_").trim_start_matches('_').to_ascii_uppercase())
}

/// What to say of each variable that begins as ours do and is none: one that is misspelt changes nothing.
#[must_use]
pub fn unknown(variables: &BTreeMap<String, String>) -> Vec<String> {
    let defaults = serde_json::to_value(ConfigFile::default()).unwrap_or_default();
    let mut known: Vec<String> = leaves(&defaults, "").iter().map(|path| variable_of(path)).collect();
    known.extend(OTHERS.map(str::to_owned));
    let is_known = |name: &str| name.starts_with("GLEANER_PASSWORD_") || known.iter().any(|known| known == name);
    let unknown = variables.keys().filter(|name| !is_known(name));
    // All begin alike: that is no likeness.
    let own = |name: &str| name.trim_start_matches("GLEANER_").to_lowercase();
    let lower: Vec<String> = known.iter().map(|name| own(name)).collect();
    let told = |name: &String| match nearest(&own(name), lower.iter().map(String::as_str)) {
        Some(meant) => format!("${name} is no variable of gleaner: did you mean $GLEANER_{}?", meant.to_uppercase()),
        None => format!("${name} is no variable of gleaner: docs/reference/configuration.md lists them"),
    };
    unknown.map(told).collect()
}

/// JSON pointers of all keys.
fn leaves(value: &Json, at: &str) -> Vec<String> {
    match value {
        Json::Object(keys) => keys.iter().flat_map(|(key, value)| leaves(value, &format!("{at}/{key}"))).collect(),
        _ => vec![at.to_owned()],
    }
}

/// A file with this key alone.
fn as_toml(path: &str, value: &str, default: &Json) -> String {
    let text = |value: &str| toml::Value::String(value.to_owned()).to_string();
    let written = match default {
        // A list of tables, as TOML has it.
        Json::Array(_) if value.starts_with('[') => value.to_owned(),
        Json::Array(_) => format!("[{}]", value.split(',').map(|one| text(one.trim())).collect::<Vec<_>>().join(", ")),
        Json::Number(_) if value.parse::<i64>().is_ok() => value.to_owned(),
        Json::Bool(_) if value.parse::<bool>().is_ok() => value.to_owned(),
        // Folders of the environment are below the working directory.
        Json::Null if path.ends_with("_dir") => {
            let whole = std::path::absolute(value).ok().filter(|_| !value.starts_with(['~', '$']));
            text(&whole.map_or_else(|| value.to_owned(), |path| path.to_string_lossy().into_owned()))
        }
        _ => text(value),
    };
    match path.trim_start_matches('/').split_once('/') {
        Some((table, key)) => format!("{table}.{key} = {written}\n"),
        None => format!("{} = {written}\n", path.trim_start_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(variables: &[(&str, &str)]) -> Result<ConfigFile, Vec<String>> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        with_variables(ConfigFile::default(), &variables, None)
            .map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_variable_that_is_misspelt_is_told() {
        let of = |names: &[&str]| unknown(&names.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect());
        let known = ["GLEANER_WEB_LISTEN", "GLEANER_PASSWORD_A", "GLEANER_DATA", "GLEANER_HANDOVER", "GLEANER_ROOT"];
        assert_eq!(of(&known), Vec::<String>::new());
        assert_eq!(
            of(&["GLEANER_WEB_LISTN"]),
            ["$GLEANER_WEB_LISTN is no variable of gleaner: did you mean $GLEANER_WEB_LISTEN?"]
        );
        assert!(of(&["GLEANER_ZZZZZZZ"])[0].contains("configuration.md"));
    }

    #[test]
    fn each_key_has_a_variable_that_is_checked_as_the_file_is() {
        let file = merged(&[
            ("GLEANER_CACHE_MB", "64"),
            ("GLEANER_WEB_LISTEN", "[::1]:80"),
            ("GLEANER_WEB_HOSTS", "a.lan, b.lan"),
            ("GLEANER_RENDER_REQUIRE_CONFINEMENT", "false"),
            ("GLEANER_LOG_FORMAT", "json"),
            ("GLEANER_DATA_DIR", "/data"),
            ("GLEANER_CONTACT", ""),
            ("GLEANER_HANDOVER", "[{name = 'x', folder = '/w', search = 'cat:4020'}]"),
            ("GLEANER_PASSWORD_SITE", "secret"),
        ]);
        let file = file.unwrap();
        assert_eq!((file.cache_mb, &*file.web.listen, file.render.require_confinement), (64, "[::1]:80", false));
        assert_eq!(
            (file.web.hosts, file.data_dir.as_deref(), file.contact),
            (vec!["a.lan".into(), "b.lan".into()], Some("/data"), None)
        );
        assert_eq!((&*file.handover[0].folder, file.handover.len()), ("/w", 1));
        for (name, value, told) in [
            ("GLEANER_HANDOVER", "/w", "must be a table"),
            ("GLEANER_HANDOVER", "[{name = 'x'}]", "the key `folder` is missing"),
            ("GLEANER_CACHE_MB", "many", "$GLEANER_CACHE_MB:1:"),
            ("GLEANER_CACHE_MB", "0", "$GLEANER_CACHE_MB:1:"),
            ("GLEANER_WEB_LISTEN", "8717", "nothing can listen there"),
            ("GLEANER_WEB_AUTH", "none", "$GLEANER_WEB_AUTH:1:"),
            ("GLEANER_WEB_PUBLIC_URL", "https://a/b", "this is not the beginning of a URL"),
            ("GLEANER_WEB_BASE_PATH", "x", "this is not a path"),
            ("GLEANER_CONTACT", "nobody", "neither an e-mail address nor a URL"),
        ] {
            let faults = merged(&[(name, value)]).unwrap_err();
            assert!(faults.len() == 1 && faults[0].contains(told), "{faults:?}");
        }
    }
}
