//! A page with its blocks classified, for people: `gleaner noise SITE`.

use std::fmt;

use serde::Serialize;

use super::walk::{self, Atom, What};
use super::{Fingerprint, Judge, Matters, Model, Noise, Page, bytes, is_of_record, shape_key, slot_key, words};
use crate::limits::{NOISE_BLOCKS_TOLD_MAX, PAGE_BYTES_MAX};

/// The role of a block in the fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// All pages of the class share it.
    Template,
    /// It changes between visits and has no meaning.
    Volatile,
    /// Part of the fingerprint.
    Content,
}

/// Neighbouring pieces of a page of one kind, in the same element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The elements above it, as a selector would name them.
    pub path: String,
    pub kind: BlockKind,
    pub why: String,
    /// Its text, shortened.
    pub text: String,
}

/// A page as a model sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    pub fingerprint: Fingerprint,
    /// Pages that the model has seen, and repeated visits of URLs.
    pub pages: u32,
    pub looks: u32,
    /// How often the site had a new template.
    pub relearned: u32,
    /// Number of pieces of each kind.
    pub template: u32,
    pub volatile: u32,
    pub content: u32,
    /// In document order, at most [`NOISE_BLOCKS_TOLD_MAX`].
    pub blocks: Vec<Block>,
    /// Number of further blocks.
    pub untold: u32,
}

/// Characters shown of a block.
const TEXT_CHARS: usize = 160;

impl Model {
    /// Every block of a page with its kind and the reason.
    #[must_use]
    pub fn explain(&self, page: &Page<'_>, matters: Matters<'_>) -> Explained {
        let mut explained = Explained {
            fingerprint: self.fingerprint(page, matters),
            pages: self.pages,
            looks: self.looks,
            relearned: self.relearned,
            template: 0,
            volatile: 0,
            content: 0,
            blocks: Vec::new(),
            untold: 0,
        };
        if page.body.len() > PAGE_BYTES_MAX {
            return explained;
        }
        let (body, encoding) = bytes(page);
        let mut judge = Judge::new(self, encoding, matters);
        let mut slot = None;
        walk::walk(&body, |atom, stack| {
            let (kind, why) = match judge.judge(atom) {
                Ok(_) if atom.what == What::Link && is_of_record(atom.bytes, encoding, matters) => {
                    (BlockKind::Content, "link of a record".to_owned())
                }
                Ok(_) => (BlockKind::Content, self.why_content(atom).to_owned()),
                Err(Noise::Template) => {
                    (BlockKind::Template, format!("all {} pages compared have it", self.template.urls.len()))
                }
                Err(Noise::Age) => (BlockKind::Volatile, "a relative time".to_owned()),
                Err(Noise::Slot) => (BlockKind::Volatile, self.why(slot_key(atom), "what stands here")),
                Err(Noise::Shape) => {
                    let masked = words::shape(atom.bytes).masked;
                    (BlockKind::Volatile, self.why(shape_key(atom.slot, masked), "its numbers"))
                }
                // Neither has an effect; separate blocks would only lengthen the list.
                Err(Noise::Again | Noise::Blank) => return,
            };
            *match kind {
                BlockKind::Template => &mut explained.template,
                BlockKind::Volatile => &mut explained.volatile,
                BlockKind::Content => &mut explained.content,
            } += 1;
            let is_same = slot.replace(atom.slot) == Some(atom.slot);
            // A long text is shortened anyway.
            let bytes = &atom.bytes[..atom.bytes.len().min(8 * TEXT_CHARS)];
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            explained.add(is_same, || stack.path(), kind, why, &text);
        });
        explained
    }

    fn why_content(&self, atom: &Atom<'_>) -> &'static str {
        let records = self.records.get(&atom.slot).copied().unwrap_or_default();
        match atom.what {
            What::Text if words::has_infohash(atom.bytes) => "an infohash",
            What::Text if records.titles => "title of a record",
            _ if records.rows => "of a record's row",
            _ => "not known as noise",
        }
    }

    fn why(&self, key: u64, what: &str) -> String {
        match self.evidence.get(&key) {
            Some(evidence) => format!(
                "{what} changed at {} of {} looks, {} of {} times",
                evidence.changes,
                self.looks.saturating_sub(evidence.born).saturating_add(1),
                evidence.changed,
                evidence.compared
            ),
            None => format!("{what} changed from look to look"),
        }
    }
}

impl Explained {
    /// Adds another piece; `is_same` if it is in the same element as the previous one.
    fn add(&mut self, is_same: bool, path: impl Fn() -> String, kind: BlockKind, why: String, text: &str) {
        let is_full = self.blocks.len() == NOISE_BLOCKS_TOLD_MAX;
        match self.blocks.last_mut() {
            Some(last) if self.untold == 0 && is_same && last.kind == kind && last.why == why => {
                if !last.text.ends_with('…') {
                    last.text.push_str(" · ");
                    shorten(&mut last.text, text);
                }
            }
            _ if is_full => self.untold = self.untold.saturating_add(1),
            _ => {
                let mut shown = String::new();
                shorten(&mut shown, text);
                self.blocks.push(Block { path: path(), kind, why, text: shown });
            }
        }
    }
}

/// Appends a text with single spaces, up to the length shown of a block. Control characters of a hostile page never
/// reach the terminal.
fn shorten(shown: &mut String, text: &str) {
    let room = TEXT_CHARS.saturating_sub(shown.chars().count());
    let mut words = text.split_whitespace().flat_map(|word| word.chars().chain([' '])).filter(|c| !c.is_control());
    shown.extend(words.by_ref().take(room));
    let is_cut = words.next().is_some();
    shown.truncate(shown.trim_end().len());
    if is_cut && !shown.ends_with('…') {
        shown.push('…');
    }
}

impl fmt::Display for Explained {
    /// One line per block: a mark (`=` template, `~` volatile, none for content), the text, the path and the reason.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "fingerprint {:016x} over {:?}; {} content, {} volatile, {} template; {} pages and {} repeated looks seen",
            self.fingerprint.hash,
            self.fingerprint.basis,
            self.content,
            self.volatile,
            self.template,
            self.pages,
            self.looks
        )?;
        for block in &self.blocks {
            let mark = match block.kind {
                BlockKind::Template => '=',
                BlockKind::Volatile => '~',
                BlockKind::Content => ' ',
            };
            writeln!(out, "{mark} {}\n      {} ({})", block.text, block.path, block.why)?;
        }
        if self.untold > 0 {
            writeln!(out, "… {} more blocks", self.untold)?;
        }
        Ok(())
    }
}
