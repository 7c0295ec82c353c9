//! The words of boards (`models/words/board.tsv`): names of columns, marks of pinned rows, elements beside the list,
//! and words in links to users, threads and pages. Lower case; words of scripts without spaces match anywhere in a
//! text.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::when::is_unspaced;
use gleaner_base::words::{Topic, phrases};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Title,
    Author,
    /// When the last reply came.
    Last,
    /// When the thread or torrent was created.
    Created,
    Replies,
    Views,
    Seeders,
    Leechers,
    Completed,
    Size,
    /// Threads or topics of a sub-board.
    Threads,
}

/// The names of the roles in the table. A word of two roles counts as the first.
const ROLES: [(&str, Role); 11] = [
    ("role title", Role::Title),
    ("role author", Role::Author),
    ("role last", Role::Last),
    ("role created", Role::Created),
    ("role replies", Role::Replies),
    ("role views", Role::Views),
    ("role seeders", Role::Seeders),
    ("role leechers", Role::Leechers),
    ("role completed", Role::Completed),
    ("role size", Role::Size),
    ("role threads", Role::Threads),
];

gleaner_base::topics! {
    board: PINNED, BESIDE, PEOPLE, ASIDE, BOARDS, THREADS;
    control: LINK_NEXT, LINK_PAGER;
}

/// A searchable list of words.
struct Words {
    spaced: HashSet<&'static str>,
    /// Words of scripts without spaces, which match anywhere in a run.
    unspaced: Vec<&'static str>,
}

impl Words {
    fn of(topic: Topic) -> Self {
        let (unspaced, spaced) = topic.iter().copied().partition::<Vec<&str>, _>(|word| word.chars().any(is_unspaced));
        Self { spaced: spaced.into_iter().collect(), unspaced }
    }

    fn has(&self, word: &str) -> bool {
        self.spaced.contains(word)
            || word.chars().any(is_unspaced) && self.unspaced.iter().any(|known| word.contains(known))
    }

    fn are_said_in(&self, text: &str) -> bool {
        split(text).iter().any(|word| self.has(word))
    }
}

macro_rules! asked {
    ($($(#[$doc:meta])* $name:ident: $list:ident;)*) => {$(
        $(#[$doc])*
        pub(super) fn $name(text: &str) -> bool {
            static WORDS: LazyLock<Words> = LazyLock::new(|| Words::of($list));
            WORDS.are_said_in(text)
        }
    )*};
}

asked! {
    /// A word that marks a pinned row.
    says_pinned: PINNED;
    /// A class of something beside the list.
    says_beside: BESIDE;
    /// An address of a person.
    says_people: PEOPLE;
    /// An address beside a thread.
    says_aside: ASIDE;
    /// An address of a board.
    says_board: BOARDS;
    /// An address of a thread.
    says_thread: THREADS;
}

/// The words of the roles, in the order of [`ROLES`].
fn words_of_roles() -> impl DoubleEndedIterator<Item = (&'static str, Role)> {
    ROLES.into_iter().flat_map(|(name, role)| phrases("board", name).into_iter().map(move |word| (word, role)))
}

static SPACED_ROLES: LazyLock<HashMap<&'static str, Role>> =
    LazyLock::new(|| words_of_roles().rev().filter(|(word, _)| !word.chars().any(is_unspaced)).collect());

static UNSPACED_ROLES: LazyLock<Vec<(&'static str, Role)>> =
    LazyLock::new(|| words_of_roles().filter(|(word, _)| word.chars().any(is_unspaced)).collect());

/// The words of a text or of a class attribute: runs of letters, in lower case. `camelCase` and `kebab-case` are
/// split.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for character in text.chars() {
        let parts = !character.is_alphabetic() || character.is_uppercase() && was_lower;
        if parts && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphabetic() {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The roles named by a header, a label or a class, in order, each once.
pub(super) fn roles(text: &str) -> Vec<Role> {
    let mut found: Vec<Role> = Vec::new();
    for word in split(text) {
        let role = if word.chars().any(is_unspaced) {
            unspaced_roles(&word, &mut found);
            None
        } else {
            SPACED_ROLES.get(word.as_str()).copied()
        };
        if let Some(role) = role
            && !found.contains(&role)
        {
            found.push(role);
        }
    }
    // "Last post", "Last reply": the second word does not name a count.
    if found.first() == Some(&Role::Last) {
        found.truncate(1);
    }
    found
}

/// Roles in a run without spaces: at each position the longest word.
fn unspaced_roles(run: &str, found: &mut Vec<Role>) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let longest =
            UNSPACED_ROLES.iter().filter(|(word, _)| rest.starts_with(word)).max_by_key(|(word, _)| word.len());
        match longest {
            Some((word, role)) => {
                if !found.contains(role) {
                    found.push(*role);
                }
                rest = &rest[word.len()..];
            }
            None => rest = &rest[first.len_utf8()..],
        }
    }
}

/// True for the text of a link to the next page; only short texts match.
pub(super) fn says_next(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    lower.chars().count() <= 20
        && lower.split_whitespace().any(|word| LINK_NEXT.has(word))
        && !lower
            .split_whitespace()
            .any(|word| matches!(word, "last" | "letzte" | "dernière" | "thread" | "topic" | "post" | "unread"))
}

/// The name in a link's text: its letters; empty if they only mean "page".
pub(super) fn name(text: &str) -> String {
    let words = split(text);
    let is_pager = words.iter().all(|word| LINK_PAGER.has(word) || LINK_NEXT.has(word));
    if is_pager { String::new() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_in_many_languages() {
        for (name, _) in ROLES {
            assert!(!phrases("board", name).is_empty(), "models/words/board.tsv: no words of {name}");
        }
        for (text, expected) in [
            ("Replies", &[Role::Replies][..]),
            ("Thread / Author", &[Role::Title, Role::Author]),
            ("回复/查看", &[Role::Replies, Role::Views]),
            ("最后发表", &[Role::Last]),
            ("Last Post [asc]", &[Role::Last]),
            ("Letzter Beitrag", &[Role::Last]),
            ("AddDate", &[Role::Created]),
            ("S", &[Role::Seeders]),
            ("structItem-cell--latest", &[Role::Last]),
            ("Antworten", &[Role::Replies]),
            ("", &[]),
            ("12", &[]),
        ] {
            assert_eq!(roles(text), expected, "{text}");
        }
        assert!(says_pinned("row bg1 sticky") && says_pinned("[置顶]") && says_pinned("stickthread_12"));
        assert!(!says_pinned("topic stop pinterest"));
        for pager in ["2", "»", "Page 2 of 9", "Last »", "第2页", "上一页", "Next page"] {
            assert_eq!(name(pager), "", "{pager}");
        }
        assert_eq!([name("Films 2"), name("Next generation"), name("电影")], ["films", "next generation", "电影"]);
        assert!(says_next("Next »") && says_next("下一页") && !says_next("Last »") && !says_next("Nextcloud is out"));
    }
}
