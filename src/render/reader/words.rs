//! The labels of controls in the languages of torrent sites (`models/words/control.tsv`), and the names that authors give them
//! (`models/words/name.tsv`). The tables describe each topic.
//!
//! Words of alphabets match at the beginning of a word of the label, or as a whole word: "download" does not contain "load", and a row
//! that names an edition does not offer to "edit".

use gleaner_base::words::Topic;

gleaner_base::topics! {
    pub(super) control: MORE, BACK, ENDS, CLOSE, CANCEL, RETRY, GET, COPY, NEVER_ALONE, NEVER, DELETE, HIDES, KEEPS,
        CONFIRM, AGE, LEAVE, ENTER, TURN_WORDS, TURN_WORDS_OF_MORE, ABOUT_TURNS, TURN_PHRASES, UPS, TURNS, PAGE,
        APPLY, APPLY_ALONE, TORRENT_FILE, JUMP_PAGES;
    pub(super) name: LOOKS, SETTINGS, NEVER_NAMES, ACTIONS, COUNT_UNITS, OPENERS, STATES, OVERLAYS, ICON_HARM,
        ICON_KNOWN, ICON_UPWARD, ICON_ON, ICON_BACK, TURNING, TURNING_BACK, NUMBERING, TABS, JUMPING, PAGERS;
}

/// Signs that are the whole label of a turn, each with its counterpart beside it: in a tree the same signs open a branch.
pub(super) const TURN_SIGNS: &[(&str, &str)] =
    &[(">", "<"), ("＞", "＜"), ("▶", "◀"), ("►", "◄"), ("⏵", "⏴"), ("❯", "❮"), (">>", "<<")];

/// How many of a text's words, in lower case, are in the topic; for scripts without spaces, how many of the topic's words are in the
/// text.
pub(super) fn count(words: Topic, text: &str) -> usize {
    text.split_whitespace().filter(|word| says(words, word, true)).count()
}

/// [`Topic::are_said_in`].
pub(super) fn says(words: Topic, label: &str, whole: bool) -> bool {
    words.are_said_in(label, whole)
}
