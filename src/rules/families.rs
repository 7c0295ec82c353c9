//! Families of sites: rules that `extends` refers to, from the rules folder or built in.
//!
//! A family in the rules folder overrides a built-in one of the same name, so operators can fix one without a new
//! release.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use encoding_rs::Encoding;

use super::categories::CategoryRules;
use super::fault::{Fault, Faults, nearest};
use super::file::{FamilyFile, LoginFile, ParametersFile, Renders};
use super::patterns::RuleList;
use super::schema;
use super::{account, check};
use crate::class::Class;
use crate::limits::FAMILY_GENERATIONS_MAX;
use gleaner_page::shortcut::Endpoint;

/// Built-in families: name and text.
pub const BUILT_IN: [(&str, &str); 20] = [
    ("apache", include_str!("../../rules/families/apache.toml")),
    ("autoindex", include_str!("../../rules/families/autoindex.toml")),
    ("discuz", include_str!("../../rules/families/discuz.toml")),
    ("gazelle", include_str!("../../rules/families/gazelle.toml")),
    ("h5ai", include_str!("../../rules/families/h5ai.toml")),
    ("lighttpd", include_str!("../../rules/families/lighttpd.toml")),
    ("mybb", include_str!("../../rules/families/mybb.toml")),
    ("nexusphp", include_str!("../../rules/families/nexusphp.toml")),
    ("nginx", include_str!("../../rules/families/nginx.toml")),
    ("nodebb", include_str!("../../rules/families/nodebb.toml")),
    ("nyaa", include_str!("../../rules/families/nyaa.toml")),
    ("phpbb", include_str!("../../rules/families/phpbb.toml")),
    ("python-http", include_str!("../../rules/families/python-http.toml")),
    ("smf", include_str!("../../rules/families/smf.toml")),
    ("torrentpier", include_str!("../../rules/families/torrentpier.toml")),
    ("torrust", include_str!("../../rules/families/torrust.toml")),
    ("unit3d", include_str!("../../rules/families/unit3d.toml")),
    ("vbulletin", include_str!("../../rules/families/vbulletin.toml")),
    ("xbtit", include_str!("../../rules/families/xbtit.toml")),
    ("xenforo", include_str!("../../rules/families/xenforo.toml")),
];

/// What a site inherits: the rules of its family, followed by those of the family's ancestors.
#[derive(Debug, Default)]
pub struct Inherited {
    pub(super) rules: RuleList,
    pub(super) parameters: ParametersFile,
    pub(super) charset: Option<&'static Encoding>,
    pub(super) categories: CategoryRules,
    pub(super) below_start: Option<bool>,
    pub(super) render: Renders,
    /// Endpoints by class, of the page's own host.
    pub(super) shortcuts: Vec<(Class, Endpoint)>,
    /// Without a user; the nearest family wins.
    pub(super) login: LoginFile,
}

/// Why a family cannot be loaded, with a hint.
#[derive(Debug)]
pub struct NoFamily {
    pub message: String,
    pub hint: Option<String>,
}

/// Where families are searched.
#[derive(Clone, Debug)]
pub struct Families {
    folder: Option<PathBuf>,
}

impl Families {
    /// The built-in families, overridden by those in the folder `families` beside the site files of `rules_dir`.
    #[must_use]
    pub fn new(rules_dir: Option<&Path>) -> Self {
        Self { folder: rules_dir.map(|dir| dir.join("families")) }
    }

    /// All names that `extends` may use, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| format!("families/{name}")).collect();
        let files = self.folder.as_ref().and_then(|folder| std::fs::read_dir(folder).ok());
        for path in files.into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == "toml") {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                names.push(format!("families/{stem}"));
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// The rules of a family, `name` as `extends` writes it.
    pub fn inherit(&self, name: &str) -> Result<Inherited, NoFamily> {
        let mut line = Vec::new();
        let mut all = Inherited::default();
        let mut next = Some(name.to_owned());
        while let Some(name) = next {
            if line.contains(&name) || line.len() == FAMILY_GENERATIONS_MAX {
                let message = format!("the family `{name}` extends itself, or too many others");
                return Err(NoFamily { message, hint: Some("remove one `extends` of the cycle".to_owned()) });
            }
            let (path, text) = self.text(&name)?;
            line.push(name);
            let mut faults = Faults::new(&path, &text);
            let read = schema::read::<FamilyFile>(&mut faults);
            let own = check::family_parts(&mut faults, &read);
            next = read.value.extends;
            let faults = faults.into_sorted();
            if let Some(first) = faults.first() {
                let message = format!("its family has faults ({}); first {first}", faults.len());
                return Err(NoFamily { message, hint: Some(format!("run: gleaner rules check {}", path.display())) });
            }
            all.append(own);
        }
        Ok(all)
    }

    fn text(&self, extends: &str) -> Result<(PathBuf, String), NoFamily> {
        let name = extends.strip_prefix("families/").unwrap_or_default();
        let is_plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if is_plain && let Some(folder) = &self.folder {
            let path = folder.join(format!("{name}.toml"));
            if path.exists() {
                return match super::read_text(&path) {
                    Ok(text) => Ok((path, text)),
                    Err(fault) => Err(NoFamily { message: fault.message, hint: fault.hint }),
                };
            }
        }
        match BUILT_IN.iter().find(|(known, _)| is_plain && *known == name) {
            Some((name, text)) => Ok((PathBuf::from(format!("<built in>/families/{name}.toml")), (*text).to_owned())),
            None => {
                let names = self.names();
                let hint = match nearest(extends, names.iter().map(String::as_str)) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("write one of {}", names.join(", ")),
                };
                Err(NoFamily { message: format!("there is no family `{extends}`"), hint: Some(hint) })
            }
        }
    }
}

impl Inherited {
    /// Appends an ancestor; values that are already set stay.
    fn append(&mut self, elder: Self) {
        self.rules.append(elder.rules);
        self.parameters = merged(&self.parameters, &elder.parameters);
        self.charset = self.charset.or(elder.charset);
        self.categories.inherit(elder.categories);
        self.below_start = self.below_start.or(elder.below_start);
        self.render.shortcut = self.render.shortcut.or(elder.render.shortcut);
        self.render.acts = self.render.acts.or(elder.render.acts);
        for (class, when) in elder.render.classes {
            self.render.classes.entry(class).or_insert(when);
        }
        let own: Vec<Class> = self.shortcuts.iter().map(|(class, _)| *class).collect();
        self.shortcuts.extend(elder.shortcuts.into_iter().filter(|(class, _)| !own.contains(class)));
        self.login = account::merged(&self.login, &elder.login);
    }
}

/// Merges both; `own` wins over `elder`.
pub(super) fn merged(own: &ParametersFile, elder: &ParametersFile) -> ParametersFile {
    ParametersFile {
        drop: [own.drop.as_slice(), &elder.drop].concat(),
        keep: if own.keep.is_empty() { elder.keep.clone() } else { own.keep.clone() },
        sort: own.sort.or(elder.sort),
        session: [own.session.as_slice(), &elder.session].concat(),
        default_documents: [own.default_documents.as_slice(), &elder.default_documents].concat(),
        path_sessions: own.path_sessions.or(elder.path_sessions),
        merge_slashes: own.merge_slashes.or(elder.merge_slashes),
        form_values: own.form_values.or(elder.form_values),
    }
}

/// Checks a family file by itself, its examples included. The path determines where its own families are.
pub fn check_file(path: &Path) -> Result<usize, Vec<Fault>> {
    let text = super::read_text(path).map_err(|fault| vec![*fault])?;
    let rules_dir = path.parent().and_then(Path::parent);
    check_text(path, &text, &Families::new(rules_dir))
}

/// Checks the text of a family file; returns its number of rules, inherited ones included.
pub fn check_text(path: &Path, text: &str, families: &Families) -> Result<usize, Vec<Fault>> {
    let mut faults = Faults::new(path, text);
    let read = schema::read::<FamilyFile>(&mut faults);
    let rules = check::family(&mut faults, &read, families);
    if !read.is_toml {
        check::keep_certain(&mut faults, read.syntax_faults);
    }
    let path: Arc<Path> = path.into();
    match rules {
        Some(rules) if faults.is_empty() => Ok(rules.rules().len()),
        _ if faults.is_empty() => {
            faults.add(0..0, "", format!("{} cannot be compiled", path.display()), None);
            Err(faults.into_sorted())
        }
        _ => Err(faults.into_sorted()),
    }
}
