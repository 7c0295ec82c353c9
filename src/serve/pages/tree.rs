//! The files of a torrent as a tree of folders.

use std::collections::BTreeMap;

use gleaner_torrent::contents::ContainedFile;
use maud::{Markup, html};

use super::words;
use crate::limits::TREE_DEPTH_MAX;

/// A folder, or the torrent itself.
#[derive(Default)]
struct Folder<'f> {
    folders: BTreeMap<&'f str, Folder<'f>>,
    files: Vec<(&'f str, &'f ContainedFile)>,
    bytes: u64,
    count: u64,
}

impl<'f> Folder<'f> {
    fn add(&mut self, rest: &'f str, file: &'f ContainedFile, depth: usize) {
        self.bytes = self.bytes.saturating_add(file.bytes);
        self.count += 1;
        match rest.split_once('/').filter(|_| depth < TREE_DEPTH_MAX) {
            Some((folder, rest)) => self.folders.entry(folder).or_default().add(rest, file, depth + 1),
            None => self.files.push((rest, file)),
        }
    }

    fn shown(&self, is_open: bool) -> Markup {
        html! {
            ul {
                @for (name, folder) in &self.folders {
                    li { details open[is_open && self.folders.len() <= 3 && folder.count <= 50] {
                        summary { span.name { (words::shown(name)) "/" } span.soft.num { (words::many(folder.count, "file")) " · " (words::bytes(folder.bytes)) } }
                        (folder.shown(is_open))
                    } }
                }
                @for (name, file) in &self.files {
                    li data-row=(words::typed(&file.path)) { span { span { (words::shown(name)) } span.soft.num { (words::bytes(file.bytes)) } } }
                }
            }
        }
    }
}

/// The tree of these files; nothing in it nests deeper than [`TREE_DEPTH_MAX`].
#[must_use]
pub fn tree(files: &[ContainedFile]) -> Markup {
    let mut root = Folder::default();
    files.iter().for_each(|file| root.add(&file.path, file, 0));
    html! { div.tree { (root.shown(true)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_folders_and_deep_ones_end() {
        let file = |path: &str| ContainedFile { path: path.to_owned(), bytes: 1 };
        let text = tree(&[file("a/b"), file("a/c"), file("<d>")]).into_string();
        assert!(text.contains("a/") && text.contains("2 files") && text.contains("&lt;d&gt;"), "{text}");
        let deep = tree(&[file(&"x/".repeat(5_000))]).into_string();
        assert_eq!(deep.matches("<details").count(), TREE_DEPTH_MAX);
    }
}
