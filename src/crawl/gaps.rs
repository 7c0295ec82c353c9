//! Ids that are missing among the URLs of a list's rows: `/thread-7-1-1.html` between those of 6 and 8. Pure.

use std::collections::{BTreeMap, BTreeSet};

/// Digits up to which a number is an id; more are a time or a hash.
const ID_DIGITS: usize = 10;

/// URLs of one form before their numbers count as ids.
const ROWS_MIN: usize = 5;

/// The paths of the missing ids between the smallest and the largest one of these paths, if there are at most `gaps_max`; none
/// where they differ in more than one number.
#[must_use]
pub fn between<'a>(paths: impl Iterator<Item = &'a str>, gaps_max: usize) -> Vec<String> {
    let mut forms: BTreeMap<(&str, &str), BTreeSet<u64>> = BTreeMap::new();
    for path in paths {
        for (start, end) in numbers(path) {
            if let Ok(id) = path[start..end].parse() {
                forms.entry((&path[..start], &path[end..])).or_default().insert(id);
            }
        }
    }
    let Some(((head, tail), ids)) = forms.into_iter().max_by_key(|(_, ids)| ids.len()) else { return Vec::new() };
    let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else { return Vec::new() };
    let missing = last.saturating_sub(first).saturating_add(1).saturating_sub(ids.len() as u64);
    if ids.len() < ROWS_MIN || missing > gaps_max as u64 {
        return Vec::new();
    }
    (first..last).filter(|id| !ids.contains(id)).map(|id| format!("{head}{id}{tail}")).collect()
}

/// Bytes of the numbers in a path, without those that begin with a zero.
fn numbers(path: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, byte) in path.bytes().chain([b'/']).enumerate() {
        match (start, byte.is_ascii_digit()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                if at - from <= ID_DIGITS && !path[from..].starts_with('0') {
                    found.push((from, at));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Vec<String> {
        between(paths.iter().copied(), 3)
    }

    #[test]
    fn the_missing_ids_between_those_of_a_list_are_named_in_its_form() {
        let threads = ["/thread-9-1-1.html", "/thread-5-1-1.html", "/thread-6-1-1.html", "/thread-8-1-1.html"];
        assert_eq!(of(&threads), [""; 0], "four of a form are no evidence");
        let threads = [&threads[..], &["/thread-10-1-1.html", "/forum-2-1.html", "/thread-8-1-1.html"]].concat();
        assert_eq!(of(&threads), ["/thread-7-1-1.html"]);
        let topics: Vec<String> = [1, 2, 3, 5, 7].map(|id| format!("/index.php?topic={id}.0&x=1")).into();
        let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        assert_eq!(of(&topics), ["/index.php?topic=4.0&x=1", "/index.php?topic=6.0&x=1"]);
    }

    #[test]
    fn too_many_gaps_names_beside_the_id_and_leading_zeros_name_none() {
        let far: Vec<String> = (0..9).map(|n| format!("/t/{}", 1 + n * 7)).collect();
        assert_eq!(of(&far.iter().map(String::as_str).collect::<Vec<_>>()), [""; 0]);
        let named: Vec<String> = (0..9).map(|n| format!("/t/{}/{}", 1 + n * 2, ["a", "b", "c"][n % 3])).collect();
        assert_eq!(of(&named.iter().map(String::as_str).collect::<Vec<_>>()), [""; 0]);
        assert_eq!(of(&["/a/007", "/a/008", "/a/009", "/a/005", "/a/004"]), [""; 0]);
        assert_eq!(of(&["/ä/1", "/ä/3", "/ä/4", "/ä/5", "/ä/6"]), ["/ä/2"]);
        assert_eq!(of(&[]), [""; 0]);
    }
}
