//! A browser's defaults for elements and properties, as far as scripts read them: its own style sheet (`models/html.css`, HTML §15.3) and
//! the initial values (`models/css_properties.tsv`).

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::dom::style::Sheet;

const HTML: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/html.css"));
const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/css_properties.tsv"));

/// The `display` of each element in the style sheet.
static DISPLAYS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let sheet = Sheet::parse(HTML);
    let mut displays = HashMap::new();
    for rule in sheet.rules().borrow().iter() {
        for declaration in rule.declarations().iter().filter(|of| of.name == "display") {
            let names = rule.selector_text();
            displays.extend(names.split(',').map(|name| (name.trim().to_owned(), declaration.value.clone())));
        }
    }
    displays
});

/// The default `display` of an HTML element.
pub fn display_of(local: &str) -> &'static str {
    DISPLAYS.get(local).map_or("inline", String::as_str)
}

/// The known facts about a property.
#[derive(Clone, Copy)]
struct Property {
    inherits: bool,
    initial: &'static str,
}

struct Properties {
    by_name: HashMap<&'static str, Property>,
    /// Prefixes and suffixes of names without a value of their own, and the value.
    by_pattern: Vec<(&'static str, &'static str, &'static str)>,
}

static PROPERTIES: LazyLock<Properties> = LazyLock::new(|| {
    let (mut by_name, mut by_pattern) = (HashMap::new(), Vec::new());
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let [name, inherits, initial] = [(); 3].map(|()| columns.next().unwrap_or_default());
        match name.split_once('*') {
            Some((begin, end)) => by_pattern.push((begin, end, initial)),
            None => {
                by_name.insert(name, Property { inherits: inherits == "inherits", initial });
            }
        }
    }
    Properties { by_name, by_pattern }
});

/// Whether this is a property of style objects; prefixed ones are looked up without their prefix.
pub fn is_property(name: &str) -> bool {
    PROPERTIES.by_name.contains_key(name)
}

/// Whether a property is inherited by default, for those that scripts read.
pub fn inherits(name: &str) -> bool {
    PROPERTIES.by_name.get(name).is_some_and(|property| property.inherits)
}

/// The initial value of a property.
pub fn usual(name: &str) -> &'static str {
    let known = PROPERTIES.by_name.get(name).map_or("", |property| property.initial);
    if !known.is_empty() || name.starts_with("--") {
        return known;
    }
    let mut patterns = PROPERTIES.by_pattern.iter();
    let of_kind = patterns.find(|(begin, end, _)| name.starts_with(begin) && name.ends_with(end));
    of_kind.map_or("", |(_, _, initial)| initial)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    /// The hashes are of the lines in the code table that the files replaced, with what was added since.
    #[test]
    fn the_files_say_what_the_table_said() {
        let mut displays: Vec<String> = DISPLAYS.iter().map(|(name, display)| format!("{name} {display}\n")).collect();
        displays.sort();
        assert_eq!((displays.len(), xxh3_64(displays.concat().as_bytes())), (78, 0x1a5a_a00b_4a89_c8f4));
        let mut values: Vec<String> =
            PROPERTIES.by_name.keys().map(|name| format!("{name} {} {}\n", inherits(name), usual(name))).collect();
        values.sort();
        assert_eq!((values.len(), xxh3_64(values.concat().as_bytes())), (358, 0x0398_7644_1799_7329));
        let unlisted = ["margin-x", "padding-x", "min-x", "x-width", "x-style", "x-color", "x-radius", "x"].map(usual);
        assert_eq!(unlisted, ["0px", "0px", "0px", "0px", "none", "rgb(0, 0, 0)", "0px", ""]);
        assert_eq!([display_of("li"), display_of("span"), display_of("x-row")], ["list-item", "inline", "inline"]);
    }
}
