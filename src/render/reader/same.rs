//! Matches controls across a click: a row that has opened has more text, one that closed when another opened has less, and a redrawn list
//! has other elements. Taking them for new ones would close what the click opened.

use std::collections::{HashMap, HashSet, VecDeque};

use xxhash_rust::xxh3::xxh3_64;

use super::controls::Control;
use crate::dom::NodeId;
use crate::limits;

/// Gives controls their former identities: those that are unchanged and, after a click on one of them (`pressed`), those with more or
/// less text. After a click on a tab (`tab`) the tabs keep their identities, whatever their style.
pub(super) fn keep(before: &[Control], (pressed, tab): (Option<&Control>, Option<&Control>), now: &mut [Control]) {
    let had: HashSet<u64> = before.iter().map(|control| control.identity).collect();
    let mut has = HashSet::new();
    let by_node: HashMap<NodeId, &Control> = before.iter().map(|control| (control.id, control)).collect();
    // Among equal labels an element stays the one that it was, whatever precedes it now.
    let mut others = Vec::new();
    for (nth, control) in now.iter_mut().enumerate() {
        match by_node.get(&control.id).filter(|old| old.now == control.now) {
            Some(old) if has.insert(old.identity) => control.identity = old.identity,
            _ => others.push(nth),
        }
    }
    others.retain(|nth| {
        let Some(control) = now.get_mut(*nth).filter(|control| !had.contains(&control.identity)) else { return true };
        let Some(old) = by_node.get(&control.id) else { return true };
        let is_tab = tab.is_some_and(|tab| {
            !old.text.is_empty()
                && old.text == control.text
                && (old.row == control.row || old.row.is_empty() || control.row.is_empty())
                && tab.local() == control.local()
        });
        let is_same = is_tab
            || is_added_to(old, control)
            || pressed.is_some_and(|pressed| is_still(old, control, pressed.id) || differs_in_counts(old, control));
        if is_same && has.insert(old.identity) {
            control.identity = old.identity;
            return false;
        }
        true
    });
    let (mut drawn_anew, mut next) = (Vec::new(), HashMap::<u64, u64>::new());
    for nth in others {
        let Some(control) = now.get_mut(nth) else { continue };
        while !has.insert(control.identity) {
            let next = next.entry(control.now).or_default();
            control.identity = control.now.wrapping_add(*next);
            *next += 1;
        }
        if !by_node.contains_key(&control.id) && !had.contains(&control.identity) {
            drawn_anew.push(nth);
        }
    }
    let Some(pressed) = pressed else { return };
    let mut gone = HashMap::<(u64, u64), VecDeque<&Control>>::new();
    if !drawn_anew.is_empty() {
        for old in before.iter().filter(|old| !has.contains(&old.identity) && says_something(old)) {
            gone.entry(look_of(old)).or_default().push_back(old);
        }
    }
    // If all of its kind disappeared with it, the list did too, and an equal label belongs to another list.
    let crumbs: HashSet<u64> = now.iter().filter(|of| of.crumb.is_some()).map(|of| of.identity).collect();
    let is_other =
        |of: &&Control| of.kind == pressed.kind && of.identity != pressed.identity && !crumbs.contains(&of.identity);
    let mut others = before.iter().filter(is_other).peekable();
    let is_list_gone = others.peek().is_some() && others.all(|of| !has.contains(&of.identity));
    for nth in drawn_anew {
        let Some(control) = now.get_mut(nth).filter(|control| says_something(control)) else { continue };
        // The clicked one may have more text itself: it contains what it opened.
        let was_pressed = !is_list_gone
            && !has.contains(&pressed.identity)
            && pressed.kind == control.kind
            && says_something(pressed)
            && has_grown(&pressed.text, &control.text)
            && has_grown(&pressed.row, &control.row);
        let alike = gone.get_mut(&look_of(control));
        let old = alike.and_then(|alike| {
            let nth = alike
                .iter()
                .take(limits::RENDER_ALIKE_MAX)
                .position(|old| has_grown(&old.row, &control.row) || differs_in_counts(old, control))?;
            alike.remove(nth)
        });
        if let Some(identity) = old.map(|old| old.identity).or(was_pressed.then_some(pressed.identity))
            && has.insert(identity)
        {
            has.remove(&control.identity);
            control.identity = identity;
        }
    }
}

/// Whether an element is still the same control, not one reused by a framework for another.
fn is_still(old: &Control, now: &Control, pressed: NodeId) -> bool {
    let says_so = says_something(old) && has_grown(&old.text, &now.text) && has_grown(&old.row, &now.row);
    // A row's button may now have a label for what it did.
    says_so
        || old.id == pressed
            && old.kind == now.kind
            && (!old.text.is_empty() && has_grown(&old.text, &now.text)
                || now.words.starts_with(&old.words)
                || old.beside.is_some() && old.beside == now.beside)
}

/// Whether an element is the same and only more text was appended to its row: its section has more rows.
fn is_added_to(old: &Control, now: &Control) -> bool {
    let is_cut = old.row.chars().count() >= limits::RENDER_ROW_TEXT_CHARS;
    let begins = if is_cut { old.row.rsplit_once(' ').map(|(begins, _)| begins) } else { Some(&*old.row) };
    let is_longer = begins.and_then(|begins| now.row.strip_prefix(begins)).is_some_and(|more| more.starts_with(' '));
    old.kind == now.kind && !old.text.is_empty() && old.text == now.text && !old.row.is_empty() && is_longer
}

/// Whether the rows of two controls with equal labels differ only in counts and times.
fn differs_in_counts(old: &Control, now: &Control) -> bool {
    old.kind == now.kind && old.text == now.text && old.still.is_some() && old.still == now.still
}

fn says_something(control: &Control) -> bool {
    !control.text.is_empty() || !control.row.is_empty()
}

fn look_of(control: &Control) -> (u64, u64) {
    (xxh3_64(control.kind.as_bytes()), xxh3_64(control.text.as_bytes()))
}

/// Whether one of two texts has all words of the other in order, so that words were only inserted or removed. Signs that change with a
/// state (▶, ▼, +) are not words.
pub(super) fn has_grown(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let is_cut = |text: &str| text.chars().count() >= limits::RENDER_ROW_TEXT_CHARS;
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    let mut wanted: Vec<&str> = short.split_whitespace().filter(is_word).collect();
    if is_cut(short) {
        wanted.pop();
    }
    let mut left = wanted.iter().peekable();
    for word in long.split_whitespace() {
        if left.peek().is_some_and(|next| **next == word) {
            left.next();
        }
    }
    // The end of a truncated text is unknown.
    left.len() == 0 || is_cut(long) && left.len() < wanted.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_have_grown_or_shrunk_are_known_and_others_are_others() {
        for (one, other, same) in [
            ("2022", "2022 Jan Feb Mar", true),
            ("▶ 2022", "▼ 2022 Jan", true),
            ("Matrix 1 GB get", "Matrix 1 GB torrent magnet get", true),
            ("Rec 1 get", "Rec 12 get", false),
            ("Rec 1", "Rec 2", false),
        ] {
            assert_eq!(has_grown(one, other), same, "{one}, {other}");
            assert_eq!(has_grown(other, one), same, "{other}, {one}");
        }
        let long = format!("2022 Jan {} Feb", "file ".repeat(100));
        let cut: String = long.chars().take(limits::RENDER_ROW_TEXT_CHARS).collect();
        assert!(has_grown("2022 Jan Feb Mar", &cut), "what stood behind may have been cut off");
        assert!(!has_grown("2023 Jan", &cut));
    }
}
