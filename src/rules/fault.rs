//! Faults in files that people write, as data: where, what, and how to fix it.
//!
//! Shared by rule files and the configuration. A fault prints as `path:line:column: message`; [`render`] marks the
//! offending text in its line.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::Serialize;

use super::secrets::MASK;
use crate::limits::FAULTS_SHOWN_MAX;
use gleaner_base::console::lossy;

/// One fault of one file. In JSON without the text of the file, which may hold secrets.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Starts at 1.
    pub line: usize,
    /// In characters, starts at 1.
    pub column: usize,
    /// Byte range of the offending text in the file.
    #[serde(skip)]
    pub span: Range<usize>,
    /// The key that it belongs to, such as `classes.index[1]`; empty for the whole file.
    pub key: String,
    /// What is wrong, without a full stop.
    pub message: String,
    /// How to fix it, in the imperative.
    pub hint: Option<String>,
    /// The whole text of the file, shared by its faults, with secrets blotted out; empty if it could not be read.
    #[serde(skip)]
    pub source: Arc<str>,
    /// Byte ranges of the text that were blotted out, in order.
    #[serde(skip)]
    pub hidden: Arc<[Range<usize>]>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.path.display(), self.line, self.column)?;
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

// The source is left out: it would be printed with every fault.
impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({self})")
    }
}

impl std::error::Error for Fault {}

/// Collects the faults of one file and maps offsets to lines.
#[derive(Debug)]
pub struct Faults {
    path: PathBuf,
    source: Arc<str>,
    line_starts: Vec<usize>,
    list: Vec<Fault>,
    hidden: Vec<Range<usize>>,
}

impl Faults {
    /// An empty list for the file `path` with the text `source`.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, source: &str) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(memchr::memchr_iter(b'\n', source.as_bytes()).map(|at| at + 1));
        Self { path: path.into(), source: source.into(), line_starts, list: Vec::new(), hidden: Vec::new() }
    }

    /// Adds a fault. A span beyond the text, or inside a character, is adjusted to fit.
    pub fn add(&mut self, span: Range<usize>, key: &str, message: impl Into<String>, hint: Option<String>) {
        let start = floor_boundary(&self.source, span.start);
        let end = floor_boundary(&self.source, span.end.max(start));
        let (line, column) = self.place(start);
        self.list.push(Fault {
            path: self.path.clone(),
            line,
            column,
            span: start..end,
            key: key.to_owned(),
            message: message.into(),
            hint,
            source: self.source.clone(),
            hidden: Arc::default(),
        });
    }

    /// Hides this part of the text, a secret, from all excerpts.
    pub fn hide(&mut self, span: Range<usize>) {
        let start = floor_boundary(&self.source, span.start);
        self.hidden.push(start..floor_boundary(&self.source, span.end.max(start)));
    }

    /// Replaces the message and hint of the faults inside a part of the text by their common cause.
    pub fn retell(&mut self, span: &Range<usize>, message: &str, hint: &str) {
        for fault in self.list.iter_mut().filter(|fault| span.contains(&fault.span.start)) {
            (fault.message, fault.hint) = (message.to_owned(), Some(hint.to_owned()));
        }
    }

    /// Replaces a general hint by a better one.
    pub fn replace_hint(&mut self, general: &str, hint: &str) {
        for fault in self.list.iter_mut().filter(|fault| fault.hint.as_deref() == Some(general)) {
            fault.hint = Some(hint.to_owned());
        }
    }

    /// Line and column of a byte offset, both starting at 1.
    #[must_use]
    pub fn place(&self, at: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= at);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = self.source.get(start..at).unwrap_or_default();
        (line.max(1), before.chars().count() + 1)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text of the file.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if this key or anything below it has a fault.
    #[must_use]
    pub fn concern(&self, key: &str) -> bool {
        self.list.iter().any(|fault| {
            let rest = fault.key.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    /// Keeps the first `count` faults, and those of the later ones that `keep` accepts.
    pub fn retain_from(&mut self, count: usize, keep: impl Fn(&Fault) -> bool) {
        let mut index = 0;
        self.list.retain(|fault| {
            index += 1;
            index <= count || keep(fault)
        });
    }

    /// The faults so far.
    #[must_use]
    pub fn list(&self) -> &[Fault] {
        &self.list
    }

    /// The faults in text order.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Fault> {
        self.list.sort_by(|a, b| (a.span.start, a.span.end, &a.message).cmp(&(b.span.start, b.span.end, &b.message)));
        self.list.dedup();
        if !self.hidden.is_empty() {
            self.blot_out();
        }
        self.list
    }

    /// Blots out hidden parts of the text; lengths and lines stay, so positions remain valid.
    fn blot_out(&mut self) {
        self.hidden.sort_by_key(|span| (span.start, span.end));
        let mut hidden: Vec<Range<usize>> = Vec::new();
        for span in self.hidden.drain(..) {
            match hidden.last_mut().filter(|last| span.start <= last.end) {
                Some(last) => last.end = last.end.max(span.end),
                None => hidden.push(span),
            }
        }
        let mut text = String::with_capacity(self.source.len());
        for span in &hidden {
            text.push_str(&self.source[text.len()..span.start]);
            text.extend(self.source[span.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { '*' }));
        }
        text.push_str(&self.source[text.len()..]);
        let (source, hidden): (Arc<str>, Arc<[Range<usize>]>) = (text.into(), hidden.into());
        for fault in &mut self.list {
            (fault.source, fault.hidden) = (source.clone(), hidden.clone());
        }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Renders the faults with their lines, the offending text marked. `colour` is for terminals; the caller honours
/// `NO_COLOR` (see [`colour_wanted`]).
#[must_use]
pub fn render(faults: &[Fault], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.decor_style(DecorStyle::Ascii);
    let mut out = String::new();
    for fault in faults.iter().take(FAULTS_SHOWN_MAX) {
        // Print `path:line:column: message` on one line first, for editors and grep.
        out.push_str(&format!("{}:{}:{}: ", fault.path.display(), fault.line, fault.column));
        out.push_str(&marked(&renderer, fault));
        if let Some(hint) = &fault.hint {
            out.push_str(&format!("  hint: {hint}\n"));
        }
        out.push('\n');
    }
    if faults.len() > FAULTS_SHOWN_MAX {
        out.push_str(&format!("… and {} more\n", faults.len() - FAULTS_SHOWN_MAX));
    }
    out
}

/// The message with the marked line below it.
fn marked(renderer: &Renderer, fault: &Fault) -> String {
    let title = Level::ERROR.primary_title(fault.message.as_str());
    if fault.source.is_empty() {
        return format!("{}\n", renderer.render(&[annotate_snippets::Group::with_title(title)]));
    }
    let (shown, span) = excerpt(&fault.source, &fault.span, &fault.hidden);
    let snippet = Snippet::source(shown).line_start(fault.line).annotation(AnnotationKind::Primary.span(span));
    format!("{}\n", renderer.render(&[title.element(snippet)]))
}

/// Bytes of a line shown before the marked text, and of the marked text with what follows.
const EXCERPT_BYTES: usize = 160;

/// The line of the span, shortened if it is very long, and the span within it; hidden parts are masked. A span of
/// several lines is marked in its first line.
fn excerpt(source: &str, span: &Range<usize>, hidden: &[Range<usize>]) -> (String, Range<usize>) {
    let line_start = source[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = source[span.start..].find('\n').map_or(source.len(), |at| span.start + at);
    let start = floor_boundary(source, line_start.max(span.start.saturating_sub(EXCERPT_BYTES)));
    let end = floor_boundary(source, line_end.min(span.start + 2 * EXCERPT_BYTES));
    let parts: Vec<Range<usize>> = hidden
        .iter()
        .map(|part| part.start.max(start)..part.end.min(end))
        .filter(|part| part.start < part.end)
        .collect();
    let (mut shown, mut at) = (String::new(), start);
    for part in &parts {
        shown.extend([&source[at..part.start], MASK]);
        at = part.end;
    }
    shown.push_str(&source[at..end]);
    // Maps a byte of the file to the excerpt; one inside a mask maps to the mask's start, or its end.
    let place = |of: usize, is_end: bool| {
        parts.iter().filter(|part| part.start < of).fold(of - start, |place, part| {
            let mask = if is_end || part.end <= of { MASK.len() } else { 0 };
            place + mask - (part.end.min(of) - part.start)
        })
    };
    let marked = place(span.start, false)..place(span.end.min(end).max(span.start), true);
    (shown, marked)
}

/// True if colours are wanted: on a terminal, with neither `NO_COLOR` (<https://no-color.org>) nor `TERM=dumb`.
#[must_use]
pub fn colour_wanted(is_terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    is_terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The most similar of the known names, if one is similar enough.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The comparison is quadratic in the length; no known name is half as long.
    if name.len() > 64 {
        return None;
    }
    let name = name.to_lowercase();
    let words = sorted_words(&name);
    let likeness = |known: &str| {
        // `max_depth` for `depth_max`: the same words in another order.
        if sorted_words(known) == words { 1.0 } else { strsim::jaro_winkler(&name, known) }
    };
    known
        .into_iter()
        .map(|known| (likeness(known), known))
        .filter(|(likeness, _)| *likeness > 0.77)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

fn sorted_words(name: &str) -> Vec<&str> {
    let mut words: Vec<&str> = name.split(['_', '-', ' ']).collect();
    words.sort_unstable();
    words
}

#[cfg(test)]
mod tests;
