//! What controls say about themselves, in the languages that sites of torrents speak (`models/words/control.tsv`), and what their authors call
//! them (`models/words/name.tsv`). The tables say what each topic is.
//!
//! Words of alphabets stand at the beginning of a word of the label, or are a whole word of it: "download" says no "load", and a row that
//! names an edition does not offer to "edit".

use gleaner_base::words::Topic;

gleaner_base::topics! {
    pub(super) control: MORE, BACK, ENDS, CLOSE, CANCEL, RETRY, GET, COPY, NEVER_ALONE, NEVER, DELETE, HIDES, KEEPS,
        CONFIRM, AGE, LEAVE, ENTER, TURN_WORDS, TURN_WORDS_OF_MORE, ABOUT_TURNS, TURN_PHRASES, UPS, TURNS, PAGE,
        APPLY, APPLY_ALONE, TORRENT_FILE, JUMP_PAGES;
    pub(super) name: LOOKS, SETTINGS, NEVER_NAMES, ACTIONS, COUNT_UNITS, OPENERS, STATES, OVERLAYS, ICON_HARM,
        ICON_KNOWN, ICON_UPWARD, ICON_ON, ICON_BACK, TURNING, TURNING_BACK, NUMBERING, TABS, JUMPING, PAGERS;
}

/// All that a control may say to turn on, and what stands beside it then: in a tree the same signs open a branch.
pub(super) const TURN_SIGNS: &[(&str, &str)] =
    &[(">", "<"), ("＞", "＜"), ("▶", "◀"), ("►", "◄"), ("⏵", "⏴"), ("❯", "❮"), (">>", "<<")];

/// How many of a text's words, in lower case, are among the words; of scripts without blanks, how many of the words are in it.
pub(super) fn count(words: Topic, text: &str) -> usize {
    text.split_whitespace().filter(|word| says(words, word, true)).count()
}

/// [`Topic::are_said_in`].
pub(super) fn says(words: Topic, label: &str, whole: bool) -> bool {
    words.are_said_in(label, whole)
}
