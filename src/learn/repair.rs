//! A rule file repaired: the operator's file with the classes that were learned anew. What else stands in it, and its comments, stay. Pure.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

/// What must not guide the learning of a site: its rules, and what is tested on them.
const RULES: [&str; 3] = ["classes", "examples", "shortcut"];

/// The rules by which a site is learned again: the operator's file, whose classes take all that its `deny` and hosts leave. They come before
/// those of its family, which still says how to log in. A guest's have no account.
///
/// # Errors
/// If the text is no TOML: where, and why.
pub fn for_learning(text: &str, is_guest: bool) -> Result<String, String> {
    let mut file = parsed(text)?;
    for key in RULES.into_iter().chain(is_guest.then_some("login")) {
        file.remove(key);
    }
    set(&mut file, "learned", &value(true));
    let mut classes = Table::new();
    classes.insert("page", value(Array::from_iter(["."])));
    file.insert("classes", Item::Table(classes));
    Ok(file.to_string())
}

/// The text of the repaired file. Its `start`, `hosts`, `[login]`, rate and reasons are the operator's, but the first start URL gives way to
/// the learned one where it `has_moved`; what must not be fetched by the old or
/// the new file, is dropped by either, or is refused by the operator's examples, is the union of both; `learned = true` keeps the guard in
/// force until a person has read it. A family that does not fit any more goes, unless an account may need what it says of the login.
///
/// # Errors
/// If one of the texts is no TOML: where, and why; or the learned one has no rules.
pub fn repaired(old: &str, learned: &str, has_moved: bool) -> Result<String, String> {
    let (mut file, learned) = (parsed(old)?, parsed(learned)?);
    if learned.get("classes").is_none() && learned.get("extends").is_none() {
        return Err("the learned file has no classes".to_owned());
    }
    let now = learned.get("start").and_then(Item::as_array).and_then(|starts| starts.get(0)?.as_str());
    if let (true, Some(starts), Some(now)) = (has_moved, array_of(&mut file, "start"), now)
        && !starts.is_empty()
    {
        starts.replace(0, now);
    }
    let refused = file.get("examples").and_then(Item::as_table_like).and_then(|of| of.get("refuse")).cloned();
    for key in ["classes", "examples"] {
        file.remove(key);
        if let Some(value) = learned.get(key) {
            file.insert(key, value.clone());
        }
    }
    if let Some(refused) = refused {
        let examples = file.entry("examples").or_insert_with(toml_edit::table);
        examples.as_table_like_mut().into_iter().for_each(|into| unite(into, "refuse", &refused));
    }
    match learned.get("extends") {
        Some(family) => set(&mut file, "extends", family),
        None if knows_login(&mut file, &learned) => _ = file.remove("extends"),
        None => {}
    }
    set(&mut file, "learned", &value(true));
    if let Some(deny) = learned.get("deny") {
        unite(file.as_table_mut(), "deny", deny);
    }
    if let Some(parameters) = learned.get("parameters").and_then(Item::as_table_like) {
        let into = file.entry("parameters").or_insert_with(toml_edit::table);
        for (key, value) in parameters.iter() {
            into.as_table_like_mut().into_iter().for_each(|into| unite(into, key, value));
        }
    }
    Ok(file.to_string())
}

/// True if an account needs nothing of what a family says of the login: there is none, or its page was seen. What was seen of it is added.
fn knows_login(file: &mut DocumentMut, learned: &DocumentMut) -> bool {
    let Some(own) = file.get_mut("login").and_then(Item::as_table_like_mut) else { return true };
    let Some(seen) = learned.get("login").and_then(Item::as_table_like).filter(|of| of.contains_key("page")) else {
        return false;
    };
    for (key, value) in seen.iter() {
        if !own.contains_key(key) {
            own.insert(key, value.clone());
        }
    }
    true
}

/// True if a rule stands in this file itself: key and expression as `classes.detail ^/t/`.
#[must_use]
pub fn has_rule(text: &str, rule: &str) -> bool {
    let Some((class, expression)) = rule.strip_prefix("classes.").and_then(|rule| rule.split_once(' ')) else {
        return false;
    };
    let Ok(file) = parsed(text) else { return false };
    let classes = file.get("classes").and_then(Item::as_table_like);
    let rules = classes.and_then(|classes| classes.get(class)).and_then(Item::as_array);
    rules.is_some_and(|rules| rules.iter().any(|rule| rule.as_str() == Some(expression)))
}

/// True for a rule file that extends a family.
#[must_use]
pub fn has_family(text: &str) -> bool {
    parsed(text).is_ok_and(|file| file.contains_key("extends"))
}

fn array_of<'f>(file: &'f mut DocumentMut, key: &str) -> Option<&'f mut Array> {
    file.get_mut(key).and_then(Item::as_array_mut)
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

/// Sets a key at the top level, before the first table.
fn set(file: &mut DocumentMut, key: &str, value: &Item) {
    if let Item::Value(value) = value {
        let mut value = value.clone();
        value.decor_mut().clear();
        file[key] = Item::Value(value);
    }
}

/// Adds the elements of an array that the other one has in addition. What the table does not have is taken as it is.
fn unite(into: &mut dyn TableLike, key: &str, more: &Item) {
    let texts =
        |array: &Array| -> Vec<String> { array.iter().filter_map(|of| of.as_str().map(str::to_owned)).collect() };
    match (into.get_mut(key), more.as_array()) {
        (None, _) => _ = into.insert(key, more.clone()),
        (Some(own), Some(more)) => {
            let Some(array) = own.as_array_mut() else { return };
            let known = texts(array);
            texts(more).into_iter().filter(|text| !known.contains(text)).for_each(|text| array.push(text));
        }
        // A setting of the operator.
        (Some(_), None) => {}
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
        let text = repaired(OLD, LEARNED, false).unwrap();
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
    fn a_family_goes_where_what_was_seen_of_the_login_stands_in_for_it() {
        let learned = format!("{LEARNED}[login]\nuser = 'x'\npage = '/login'\nprobe = '/me'\n");
        let text = repaired(OLD, &learned, false).unwrap();
        assert!(!text.contains("extends") && text.contains("user = 'anna' # mine"), "{text}");
        assert!(text.contains("page = '/login'") && text.contains("probe = '/me'"), "{text}");
        assert!(has_rule(OLD, "classes.detail ^/details") && !has_rule(OLD, "classes.detail ^/other"));
        assert!(!has_rule(OLD, "classes.index ^/details") && !has_rule("]", "classes.detail ^/details"));
    }

    #[test]
    fn a_first_start_url_that_has_moved_gives_way_to_the_one_that_it_led_to() {
        let old = "start = ['https://t.example/', 'https://t.example/forum/new'] # mine\n[classes]\nindex = ['^/']\n";
        let learned = "start = ['https://t.example/forum/']\n[classes]\nindex = ['^/forum/']\n";
        let text = repaired(old, learned, true).unwrap();
        assert!(
            text.contains("start = [\"https://t.example/forum/\", 'https://t.example/forum/new'] # mine"),
            "{text}"
        );
        let text = repaired(old, learned, false).unwrap();
        assert!(text.contains("start = ['https://t.example/', 'https://t.example/forum/new'] # mine"), "{text}");
    }

    #[test]
    fn what_the_learned_classes_need_is_taken_and_what_the_operator_has_set_stays() {
        let old = "start = ['https://t.example/']\nextends = 'families/nexusphp'\nparameters = { drop = ['hit'], merge_slashes = true }\n\
                   [classes]\ndetail = ['^/d']\n[examples]\nrefuse = ['https://t.example/mine']\n";
        let learned = format!("{LEARNED}refuse = ['https://t.example/act']\n")
            .replace("[parameters]\n", "[parameters]\nsort = true\nmerge_slashes = false\n");
        let text = repaired(old, &learned, false).unwrap();
        let file: DocumentMut = text.parse().unwrap();
        let parameters = file["parameters"].as_table_like().unwrap();
        let of = |key: &str| parameters.get(key).unwrap().as_bool();
        assert_eq!((of("sort"), of("merge_slashes")), (Some(true), Some(true)), "{text}");
        assert_eq!(parameters.get("drop").unwrap().as_array().unwrap().len(), 2, "{text}");
        assert!(file.get("extends").is_none(), "no family fits any more:\n{text}");
        let refused: Vec<_> =
            file["examples"]["refuse"].as_array().unwrap().iter().filter_map(|of| of.as_str()).collect();
        assert_eq!(refused, ["https://t.example/act", "https://t.example/mine"]);
        gleaner_rules::from_text("t", &text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
    }

    #[test]
    fn a_site_is_learned_by_all_that_its_file_says_but_its_classes() {
        let old = "# Mine.\nstart = ['https://t.example/']\nextends = 'families/nexusphp'\nproxy = 'socks5h://127.0.0.1:9'\ndeny = ['^/forum']\n\
                   private_addresses = true\nheaders = { accept-language = 'de' }\n[classes]\ndetail = ['^/details']\n\
                   [rate]\nrequests_per_second = 0.5\nquiet_hours = ['08:00-20:00']\nrequests_per_day = 500\n\
                   [login]\nuser = 'anna'\npage = 'https://t.example/enter'\n\
                   [examples]\naccept = [{ url = 'https://t.example/details', class = 'detail' }]\n";
        for is_guest in [true, false] {
            let text = for_learning(old, is_guest).unwrap();
            let rules = gleaner_rules::from_text("t", &text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
            assert!(rules.client.proxy.is_some() && rules.client.headers.len() == 1 && rules.is_guarded());
            assert_eq!((rules.rate.interval.as_secs(), rules.quota.requests_per_day), (2, Some(500)));
            assert!(text.contains("quiet_hours") && text.contains("private_addresses = true"), "{text}");
            assert_eq!(rules.login.is_none(), is_guest, "{text}");
            let class = |url: &str| {
                let url = gleaner_base::url::CrawlUrl::parse(url, &rules.canonical).unwrap();
                match rules.judge(&url) {
                    gleaner_rules::Verdict::Take { class, .. } => Some(class),
                    gleaner_rules::Verdict::Refuse { .. } => None,
                }
            };
            assert_eq!(class("https://t.example/torrents.php"), Some(gleaner_rules::Class::Page), "not its family's");
            assert_eq!((class("https://t.example/forum/1"), class("https://www.t.example/")), (None, None));
        }
    }

    #[test]
    fn every_valid_file_can_be_learned_again() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
        let mut texts: Vec<String> = gleaner_rules::site_paths(&folder)
            .unwrap()
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        texts.push(
            "start = ['https://t.example/forum/']\nbelow_start = true\nextends = 'families/phpbb'\nmirrors = ['https://m.example']\ndepth_max = 3\n\
             [classes]\nindex = ['^/forum/x(?<page>\\d+)']\n[render]\nindex = 'always'\n[budget]\n[boards]\n[robots]\nobey = false\nreason = 'mine'\n\
             [allow_actions]\nurls = ['^/vote']\nreason = 'a list'\n[login]\nuser = 'anna'\n"
                .to_owned(),
        );
        assert!(texts.len() > 5);
        for text in texts {
            gleaner_rules::from_text("t", &text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
            for is_guest in [true, false] {
                let own = for_learning(&text, is_guest).unwrap();
                gleaner_rules::from_text("t", &own).unwrap_or_else(|faults| panic!("{faults:?}\n{own}"));
            }
        }
    }

    #[test]
    fn a_file_without_the_tables_gets_them_behind_its_keys() {
        let text =
            repaired("start = ['https://t.example/']\n[rate]\nrequests_per_second = 2.0\n", LEARNED, false).unwrap();
        gleaner_rules::from_text("t", &text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
        assert_eq!(repaired(&text, LEARNED, false).unwrap(), text, "twice is once");
    }

    #[test]
    fn what_is_no_toml_is_told() {
        assert!(repaired("start = [", LEARNED, false).is_err());
        assert!(repaired(OLD, "]", false).is_err());
        assert!(repaired(OLD, "start = ['https://t.example/']", false).is_err(), "no classes");
    }
}
