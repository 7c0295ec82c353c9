//! A rule file repaired: the operator's file with the classes that were learned anew. What else stands in it, and its comments, stay. Pure.

use toml_edit::{Array, DocumentMut, Item, Table};

/// Keys of which the learned file's value takes the place of the old one.
const REPLACED: [&str; 2] = ["classes", "examples"];

/// The text of the repaired file. Its `start`, `hosts`, `[login]`, rate and reasons are the operator's; what must not be fetched by the old or
/// the new file, or is dropped by either, is the union of both; `learned = true` keeps the guard in force until a person has read it.
///
/// # Errors
/// If one of the texts is no TOML: where, and why.
pub fn repaired(old: &str, learned: &str) -> Result<String, String> {
    let parse = |text: &str| text.parse::<DocumentMut>().map_err(|error| error.to_string());
    let (mut file, learned) = (parse(old)?, parse(learned)?);
    for key in REPLACED {
        let taken = file.remove(key).is_some();
        if let Some(value) = learned.get(key) {
            file.insert(key, value.clone());
        } else if taken && key == "classes" && learned.get("extends").is_none() {
            return Err("the learned file has no classes".to_owned());
        }
    }
    if let Some(family) = learned.get("extends") {
        set(&mut file, "extends", family);
    }
    set(&mut file, "learned", &toml_edit::value(true));
    unite(file.as_table_mut(), learned.as_table(), "deny");
    if let Some(parameters) = learned.get("parameters").and_then(Item::as_table_like) {
        let keys: Vec<String> = parameters.iter().map(|(key, _)| key.to_owned()).collect();
        let from: Table = parameters.iter().map(|(key, value)| (key, value.clone())).collect();
        let into = file.entry("parameters").or_insert_with(toml_edit::table);
        // An inline table, written by hand, is left as it is.
        if let Item::Table(into) = into {
            keys.iter().for_each(|key| unite(into, &from, key));
        }
    }
    Ok(file.to_string())
}

/// Sets a key at the top level, before the first table.
fn set(file: &mut DocumentMut, key: &str, value: &Item) {
    if let Item::Value(value) = value {
        let mut value = value.clone();
        value.decor_mut().clear();
        file[key] = Item::Value(value);
    }
}

/// Adds the elements of an array that the other table has in addition.
fn unite(into: &mut Table, from: &Table, key: &str) {
    let Some(more) = from.get(key).and_then(Item::as_array) else { return };
    let texts =
        |array: &Array| -> Vec<String> { array.iter().filter_map(|of| of.as_str().map(str::to_owned)).collect() };
    match into.get_mut(key).and_then(Item::as_array_mut) {
        Some(array) => {
            let known = texts(array);
            texts(more).into_iter().filter(|text| !known.contains(text)).for_each(|text| array.push(text));
        }
        None => {
            into.insert(key, Item::Value(more.clone().into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "# My tracker.\nstart = ['https://t.example/']\nextends = 'families/nexusphp'\ndeny = ['^/forum']\n\n[classes]\ndetail = ['^/details']\n\n\
                       [login]\nuser = 'anna' # mine\n\n[rate]\nrequests_per_second = 0.5\n\n[parameters]\ndrop = ['hit']\n";

    const LEARNED: &str = "# Learned.\nstart = ['https://t.example/']\nlearned = true\ndeny = ['^/act', '^/forum']\n\n[parameters]\ndrop = ['sid', 'hit']\n\n[classes]\n\
                           # 12 URLs, 12 of 12 read kept it\ndetail = [\n    # seen\n    '^/torrent/\\d+$',\n]\npage = ['^/$']\n\n[examples]\naccept = [{ url = 'https://t.example/torrent/7', class = 'detail' }]\n";

    #[test]
    fn the_classes_are_the_new_ones_and_the_rest_is_the_operators() {
        let text = repaired(OLD, LEARNED).unwrap();
        for kept in
            ["# My tracker.", "extends = 'families/nexusphp'", "user = 'anna' # mine", "requests_per_second = 0.5"]
        {
            assert!(text.contains(kept), "{kept} is missing in\n{text}");
        }
        for new in ["'^/torrent/\\d+$'", "# seen", "learned = true", "/torrent/7"] {
            assert!(text.contains(new), "{new} is missing in\n{text}");
        }
        assert!(!text.contains("^/details"), "{text}");
        let rules = gleaner_rules::from_text("t", &text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
        assert!(rules.is_guarded());
        let read: toml_edit::DocumentMut = text.parse().unwrap();
        let strings =
            |item: &Item| item.as_array().unwrap().iter().map(|of| of.as_str().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(strings(&read["deny"]), ["^/forum", "^/act"]);
        assert_eq!(strings(&read["parameters"]["drop"]), ["hit", "sid"]);
    }

    #[test]
    fn a_file_without_the_tables_gets_them_behind_its_keys() {
        let text = repaired("start = ['https://t.example/']\n[rate]\nrequests_per_second = 2.0\n", LEARNED).unwrap();
        gleaner_rules::from_text("t", &text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
        assert_eq!(repaired(&text, LEARNED).unwrap(), text, "twice is once");
    }

    #[test]
    fn what_is_no_toml_is_told() {
        assert!(repaired("start = [", LEARNED).is_err());
        assert!(repaired(OLD, "]").is_err());
        assert!(repaired(OLD, "start = ['https://t.example/']").is_err(), "no classes");
    }
}
