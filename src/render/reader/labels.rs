//! The labels of a control: its label, title, value and text, each by itself, and the names that its author gave it.

use html5ever::local_name;

use super::prices;
use super::shown::text_of;
use super::words::{JUMP_PAGES, JUMPING, NEVER, PAGE, TORRENT_FILE, TURNS, says};
use crate::dom::{Element, NodeId, Tree};
use crate::limits;
use gleaner_base::words::Topic;

/// Maximum length of a label. Longer text is content: a row is not "next" because its title contains the word.
const LABEL_CHARACTERS: usize = 40;

/// Roles of controls that are clicked themselves.
const CONTROLS: &[&str] = &["button", "link", "switch", "checkbox", "menuitem", "tab"];

/// Whether an element is clicked itself, whatever it is inside.
pub(super) fn is_pressed(element: &Element) -> bool {
    let role = element.attribute(&"role".into()).unwrap_or_default();
    matches!(&*element.name().local, "a" | "button" | "input" | "select" | "textarea" | "summary")
        || CONTROLS.contains(&role)
}

#[derive(Clone, Default)]
pub(super) struct Labels {
    /// In lower case, with spaces for hyphens: "log-out" is two words.
    parts: Vec<String>,
    /// Classes, id, rel and name, in lower case, with spaces between their words.
    names: String,
    /// All of it, as a description for people.
    pub words: String,
    pub text: String,
}

impl Labels {
    pub fn of(tree: &Tree, id: NodeId, element: &Element) -> Self {
        let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
        let text = text_of(tree, id, limits::RENDER_ROW_TEXT_CHARS);
        let given = [attribute("aria-label"), attribute("title"), attribute("value"), &text];
        let parts = given.iter().filter(|part| !part.trim().is_empty()).map(|part| plain(part.trim())).collect();
        let mut words = given.iter().flat_map(|part| part.split_whitespace()).fold(String::new(), |mut words, word| {
            if words.len() < 200 {
                words.extend([if words.is_empty() { "" } else { " " }, word]);
            }
            words
        });
        words = words.chars().take(200).collect();
        Self { parts, names: Self::names_of(element).names, words, text }
    }

    /// The same without the controls inside, for an element that has other text: a card is not one of its buttons.
    pub fn own(&self, tree: &Tree, id: NodeId, element: &Element) -> Self {
        if is_pressed(element) {
            return self.clone();
        }
        let is_within = |of: NodeId| {
            let mut around = tree.ancestors(of).take_while(|above| *above != id);
            around.any(|above| tree.element(above).is_some_and(is_pressed))
        };
        let inside = tree.descendants(id).take(limits::RENDER_ROW_TEXT_CHARS);
        let (mut own, mut is_all) = (String::new(), true);
        for (of, text) in inside.filter(|of| tree.is_text(*of)).filter_map(|of| Some((of, tree.character_data(of)?))) {
            match is_within(of) {
                true => is_all = false,
                false => own.extend(text.split_whitespace().flat_map(|word| [" ", word])),
            }
        }
        // A count beside a button belongs to it.
        if is_all || !own.contains(char::is_alphabetic) {
            return self.clone();
        }
        let (own, text) = (plain(own.trim()), plain(&self.text));
        let parts = self.parts.iter().map(|part| if *part == text { own.clone() } else { part.clone() });
        Self { parts: parts.collect(), ..self.clone() }
    }

    /// Only the author's names of an element.
    pub fn names_of(element: &Element) -> Self {
        let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
        let class = element.attribute(&local_name!("class")).unwrap_or_default();
        let names = format!("{class} {} {} {}", attribute("id"), attribute("rel"), attribute("name"));
        Self { names: plain(&names), ..Self::default() }
    }

    /// Whether a short part has one of the words ([`says`]).
    pub fn say(&self, words: Topic, whole: bool) -> bool {
        self.parts.iter().any(|part| part.chars().count() <= LABEL_CHARACTERS && says(words, part, whole))
    }

    /// Whether a part is exactly one of these labels.
    pub fn are(&self, labels: Topic) -> bool {
        // An emoji with a variation selector is the same sign.
        self.parts.iter().any(|part| labels.has(part.trim_end_matches('\u{fe0f}').trim()))
    }

    /// Whether it skips several pages at once: "Next 5 pages".
    pub fn jump(&self) -> bool {
        let is_jump = |part: &String| {
            part.contains(|c: char| c.is_ascii_digit()) && says(JUMP_PAGES, part, true) && says(TURNS, part, false)
        };
        self.parts.iter().any(is_jump) || self.are_named(JUMPING, true)
    }

    /// Whether one short part has words of both topics, the first as whole words.
    pub fn say_both(&self, words: Topic, others: Topic) -> bool {
        let say = |part: &&String| says(words, part, true) && says(others, part, false);
        self.parts.iter().filter(|part| part.chars().count() <= LABEL_CHARACTERS).any(|part| say(&part))
    }

    /// Whether its only harmful word is "save", and it saves a torrent file.
    pub fn are_of_file(&self) -> bool {
        let is_file = |part: &String| part.contains(".torrent") || says(TORRENT_FILE, part, true);
        self.parts.iter().any(is_file) && !self.parts.iter().any(|part| says(NEVER, &part.replace("save", ""), true))
    }

    /// Whether a short part names a price.
    pub fn name_price(&self) -> bool {
        self.parts.iter().any(|part| part.chars().count() <= LABEL_CHARACTERS && prices::names_one(part))
    }

    /// Whether a part has one of the words, however long it is.
    pub fn tell_of(&self, words: Topic) -> bool {
        self.parts.iter().any(|part| says(words, part, true))
    }

    /// Whether its text begins with one of the words, as a whole word.
    pub fn begin_with(&self, words: Topic) -> bool {
        let first = self.text.split_whitespace().next().unwrap_or_default().to_lowercase();
        says(words, &first, true)
    }

    /// Whether its author gave it such a name.
    pub fn are_named(&self, words: Topic, whole: bool) -> bool {
        says(words, &self.names, whole)
    }

    /// Whether its text is longer than a label.
    pub fn are_content(&self) -> bool {
        self.parts.iter().all(|part| part.chars().count() > LABEL_CHARACTERS) && !self.parts.is_empty()
    }

    /// Number of words in its text.
    pub fn text_words(&self) -> usize {
        self.text.split_whitespace().count()
    }

    /// The number of at most four digits that is its whole label.
    pub fn number(&self) -> Option<u16> {
        let text = if self.text.is_empty() { self.words.as_str() } else { self.text.as_str() };
        // A title may repeat it.
        let says_it =
            |part: &String| part == text || part.split(' ').any(|word| word == text) && says(PAGE, part, true);
        let is_number = !text.is_empty() && text.len() <= 4 && text.bytes().all(|c| c.is_ascii_digit());
        (is_number && self.parts.iter().all(says_it)).then(|| text.parse().ok())?
    }
}

fn plain(part: &str) -> String {
    part.to_lowercase().replace(['-', '_'], " ")
}
