//! Cycles of modules under `src/crawl`: modules that can only be read, tested and changed together.
//!
//! A module is a file with the folder of its name: `x.rs` and the files of `x/` are one. A folder with a `mod.rs` is a group, whose files
//! are separate modules. An edge is a path in shipped code (`crate::…`, `super::…`, or one that begins with an import), and leads to
//! the module that defines the item: a `pub use` counts for the defining module. A parent's `mod x;` is no edge.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, assert_none, is_word, sources};

/// Size of the largest cycle under `src/crawl`; it may only shrink. A single module is no cycle.
const LARGEST_CIRCLE: usize = 1;

/// Names, starting at the root of the crate.
type Path = Vec<String>;

#[derive(Default)]
struct Names {
    /// A file other than a `mod.rs` or the root: everything below it belongs to it.
    is_whole: bool,
    /// The items that it defines.
    items: BTreeSet<String>,
    /// Its imports, by their local names.
    imports: Vec<(String, Path)>,
    /// Other paths in its code.
    paths: Vec<Path>,
}

fn owned<'n>(names: impl IntoIterator<Item = &'n str>) -> Path {
    names.into_iter().map(str::to_owned).collect()
}

/// The imports of a tree such as `a::{b, c as d}`, after the prefix in front of it.
fn expand(tree: &str, prefix: &[String], imports: &mut Vec<(String, Path)>) {
    let tree = tree.trim();
    let (path, group) = tree.split_once('{').map_or((tree, None), |(path, rest)| (path, rest.rsplit_once('}')));
    let (path, alias) = path.split_once(" as ").map_or((path, None), |(path, alias)| (path, Some(alias.trim())));
    let mut whole = prefix.to_vec();
    whole.extend(path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
    let Some((group, _)) = group else {
        if whole.len() > prefix.len().max(1) && whole.last().is_some_and(|name| name == "self") {
            whole.pop();
        }
        let name = alias.map(str::to_owned).or_else(|| whole.last().cloned()).unwrap_or_default();
        return imports.push((name, whole));
    };
    let (mut depth, mut begin) = (0, 0);
    for (at, letter) in group.char_indices().chain([(group.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !group[begin..at].trim().is_empty() {
                    expand(&group[begin..at], &whole, imports);
                }
                begin = at + 1;
            }
            _ => {}
        }
    }
}

/// The paths of two or more names in a text.
fn paths(code: &str) -> Vec<Path> {
    let is_part = |letter: char| letter == ':' || letter.is_ascii() && is_word(letter as u8);
    let runs = code.split(|letter: char| !is_part(letter)).filter(|run| run.contains("::") && !run.starts_with(':'));
    runs.map(|run| owned(run.split("::").filter(|name| !name.is_empty()))).filter(|path| path.len() > 1).collect()
}

impl Names {
    fn of(source: &Source) -> Self {
        let is_whole = !source.path.ends_with("/mod.rs") && !source.path.ends_with("/lib.rs");
        let (mut names, mut code) = (Self { is_whole, ..Self::default() }, String::new());
        let mut import: Option<String> = None;
        for line in source.shipped.lines() {
            let words: Vec<&str> = line.split(|of: char| !of.is_ascii() || !is_word(of as u8)).collect();
            let defines = ["struct", "enum", "trait", "fn", "const", "static", "type"];
            if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
                let defined = words.windows(2).filter(|two| defines.contains(&two[0]));
                names.items.extend(defined.map(|two| two[1].to_owned()));
            }
            let visible = line.trim().split_once("use ").filter(|(front, _)| {
                front.is_empty() || front.trim() == "pub" || (front.starts_with("pub(") && front.ends_with(") "))
            });
            match (&mut import, visible) {
                (Some(import), _) => import.push_str(line),
                (None, Some((_, tree))) => import = Some(tree.to_owned()),
                // The visibility of an item is no use of the module that it names.
                (None, None) => code.push_str(
                    line.split_once("pub(in ")
                        .map_or(line, |(_, rest)| rest.split_once(')').map_or("", |(_, rest)| rest)),
                ),
            }
            code.push('\n');
            if let Some(whole) = import.take_if(|import| import.contains(';')) {
                expand(whole.trim_end_matches(';'), &[], &mut names.imports);
            }
        }
        names.paths = paths(&code);
        names
    }
}

/// The files of a crate.
struct Files(BTreeMap<Path, Names>);

impl Files {
    fn of(sources: &[Source], root: &str) -> Self {
        // A folder with its own `lib.rs` is another crate.
        let libs = sources.iter().filter_map(|source| source.path.strip_suffix("lib.rs"));
        let other: Vec<&str> = libs.filter(|lib| lib.starts_with(root) && *lib != root).collect();
        let is_of_crate = |source: &&Source| {
            let is_other = other.iter().any(|lib| source.path.starts_with(lib));
            source.path.starts_with(root) && !is_other && !source.path.ends_with("/tests.rs")
        };
        let named = sources.iter().filter(is_of_crate);
        let path = |source: &Source| {
            let path = source.path[root.len()..].trim_end_matches(".rs");
            let path = path.strip_suffix("mod").or(path.strip_suffix("lib")).unwrap_or(path);
            owned(path.split('/').filter(|name| !name.is_empty()))
        };
        Self(named.map(|source| (path(source), Names::of(source))).collect())
    }

    /// The file to which a path in another file leads; None outside the crate.
    fn resolve(&self, here: &[String], path: &[String], steps: usize) -> Option<Path> {
        let (first, mut at) = (path.first()?.as_str(), here.to_vec());
        let below = |at: &[String], name: &str| [at, &[name.to_owned()]].concat();
        let mut rest = path;
        match first {
            "crate" => (at, rest) = (Vec::new(), &path[1..]),
            "super" | "self" => {
                while let Some(("super" | "self", more)) = rest.split_first().map(|(name, more)| (name.as_str(), more))
                {
                    if rest[0] == "super" {
                        at.pop();
                    }
                    rest = more;
                }
            }
            name if self.0.contains_key(&below(&at, name)) => {}
            name => return self.imported(here, name, &path[1..], steps),
        }
        while let Some(name) = rest.first() {
            let file = self.0.get(&at)?;
            if file.items.contains(name) {
                break;
            }
            if !self.0.contains_key(&below(&at, name)) {
                // A re-exported item may be another crate's.
                let is_imported = file.imports.iter().any(|(known, _)| known == name);
                return if is_imported { self.imported(&at, name, &rest[1..], steps) } else { Some(at) };
            }
            (at, rest) = (below(&at, name), &rest[1..]);
        }
        Some(at)
    }

    fn imported(&self, here: &[String], name: &str, rest: &[String], steps: usize) -> Option<Path> {
        let imports = self.0.get(here)?.imports.iter().filter(|(known, _)| known == name && steps > 0);
        imports.filter_map(|(_, path)| self.resolve(here, &[path, rest].concat(), steps - 1)).next()
    }

    /// The module of a file.
    fn module(&self, file: &[String]) -> Path {
        let whole = (1..file.len()).find(|&names| self.0.get(&file[..names]).is_some_and(|names| names.is_whole));
        file[..whole.unwrap_or(file.len())].to_vec()
    }

    /// For each module, the others that it names.
    fn edges(&self) -> BTreeMap<Path, BTreeSet<Path>> {
        let mut edges: BTreeMap<Path, BTreeSet<Path>> = BTreeMap::new();
        for (file, names) in &self.0 {
            let of_module = edges.entry(self.module(file)).or_default();
            let paths = names.imports.iter().map(|(_, path)| path).chain(&names.paths);
            of_module.extend(paths.filter_map(|path| self.resolve(file, path, 4)).map(|to| self.module(&to)));
        }
        edges
    }
}

/// The largest set of modules that all reach each other.
fn largest_circle(edges: &BTreeMap<Path, BTreeSet<Path>>) -> BTreeSet<Path> {
    let reach = |from: &Path| {
        let (mut met, mut rest) = (BTreeSet::new(), vec![from]);
        while let Some(next) = rest.pop().and_then(|module| edges.get(module)) {
            rest.extend(next.iter().filter(|module| met.insert((*module).clone())));
        }
        met
    };
    let reached: BTreeMap<&Path, BTreeSet<Path>> = edges.keys().map(|module| (module, reach(module))).collect();
    let circle = |module: &Path| {
        let others = reached[module].iter().filter(|other| reached.get(other).is_some_and(|of| of.contains(module)));
        others.cloned().chain([module.clone()]).collect::<BTreeSet<Path>>()
    };
    edges.keys().map(circle).max_by_key(BTreeSet::len).unwrap_or_default()
}

#[test]
fn the_largest_circle_of_modules_of_the_crawl_only_shrinks() {
    let circle = largest_circle(&Files::of(&sources("src"), "src/crawl/").edges());
    let names = circle.iter().map(|module| module.join("::")).collect::<Vec<_>>().join(", ");
    let fault = match circle.len() {
        LARGEST_CIRCLE => return,
        more if more > LARGEST_CIRCLE => {
            format!("{more} modules name each other ({names}); {LARGEST_CIRCLE} may: cut the circle")
        }
        less => format!("the largest circle has {less} modules: lower LARGEST_CIRCLE to it"),
    };
    assert_none(&[format!("src/crawl: {fault}")]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        largest_circle(&Files::of(&sources, "src/a/").edges()).iter().map(|module| module.join("::")).collect()
    }

    #[test]
    fn modules_that_lead_to_each_other_are_one_circle_and_what_is_handed_on_is_its_owners() {
        let lib = ("src/a/lib.rs", "//! A.\nmod b;\nmod c;\nmod d;\n");
        let b = ("src/a/b.rs", "//! B.\npub struct B;\nfn f() { crate::c::g(); }\n");
        let c = ("src/a/c.rs", "//! C.\nuse crate::d::{self, B as Other};\npub fn g(_: Other) { d::h() }\n");
        let d = ("src/a/d.rs", "//! D.\npub use super::b::B;\npub fn h() {}\n");
        assert_eq!(circle(&[lib, b, c, d]), ["b", "c", "d"]);
        let apart = ("src/a/d.rs", "//! D.\npub fn h() {}\n#[cfg(test)]\nmod tests { use crate::b::B; }\n");
        let c = ("src/a/c.rs", "//! C.\nuse crate::d;\npub fn g() { d::h() }\n");
        assert_eq!(circle(&[lib, b, c, apart]).len(), 1, "declarations and tests are no edges");
    }

    #[test]
    fn a_file_and_its_folder_are_one_module_and_a_group_is_its_files() {
        let whole =
            [("src/a/b.rs", "//! B.\nmod c;\nuse c::C;\n"), ("src/a/b/c.rs", "//! C.\nuse super::f;\npub struct C;\n")];
        assert_eq!(circle(&whole).len(), 1);
        let group = [
            ("src/a/lib.rs", "//! A.\nmod b;\n"),
            ("src/a/b/mod.rs", "//! B.\npub mod c;\npub mod d;\npub use d::D;\n"),
            ("src/a/b/c.rs", "//! C.\nuse super::D;\npub struct C;\n"),
            ("src/a/b/d.rs", "//! D.\nuse crate::b::c::C;\npub struct D;\n"),
        ];
        assert_eq!(circle(&group), ["b::c", "b::d"]);
    }
}
