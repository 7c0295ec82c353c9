//! Saved searches: those of gleaner.toml, and those that a person has saved from a page. These are in `searches.json` of the data folder, written whole.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gleaner_rules::config::searches::SavedSearch;
use gleaner_rules::limits::{SEARCH_NAME_BYTES_MAX, SEARCHES_MAX};
use gleaner_search::Query;

use crate::Outlet;
use crate::problem::Problem;
use crate::tokens;

/// See the module.
pub struct Saved {
    path: PathBuf,
    own: Mutex<Vec<SavedSearch>>,
}

impl Saved {
    /// Of a data folder. A file that cannot be read is left as it is, and nothing is saved over it.
    #[must_use]
    pub fn of(data_dir: &Path) -> Self {
        let path = data_dir.join("searches.json");
        let own = read(&path).unwrap_or_else(|why| {
            tracing::warn!(path = %path.display(), why, "the saved searches cannot be read");
            Vec::new()
        });
        Self { path, own: Mutex::new(own) }
    }

    fn all(&self) -> Vec<SavedSearch> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Names of those that were saved from a page.
    #[cfg(test)]
    pub fn names(&self) -> Vec<String> {
        self.all().into_iter().map(|search| search.name).collect()
    }

    /// Writes what `change` makes of them.
    fn change(&self, change: impl FnOnce(&mut Vec<SavedSearch>) -> Result<(), Problem>) -> Result<(), Problem> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = read(&self.path).map_err(|why| {
            let detail = format!("{}: {why}; move the file away", self.path.display());
            Problem::new(axum::http::StatusCode::CONFLICT, "the saved searches cannot be read", detail)
        })?;
        change(&mut next)?;
        tokens::write(&self.path, &next).map_err(|error| Problem::ours(&error))?;
        *own = next;
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<SavedSearch>, String> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

impl Outlet {
    /// All of them; true for one that a page may delete.
    #[must_use]
    pub fn searches(&self) -> Vec<(SavedSearch, bool)> {
        let of_file = self.settings.searches.iter().map(|search| (search.clone(), false));
        let is_other = |search: &SavedSearch| self.settings.searches.iter().all(|own| own.name != search.name);
        let own = self.saved.all().into_iter().filter(is_other).map(|search| (search, true));
        of_file.chain(own).collect()
    }

    /// The query of a saved search.
    #[must_use]
    pub fn saved(&self, name: &str) -> Option<Query> {
        let (saved, _) = self.searches().into_iter().find(|(saved, _)| saved.name == name)?;
        Some(Query::parse(&saved.query))
    }

    /// Saves one.
    ///
    /// # Errors
    /// A name that cannot be one or is taken, a query that finds everything, too many searches, and errors of the file.
    pub fn save_search(&self, name: &str, query: &str) -> Result<(), Problem> {
        let is_plain = |of: u8| of.is_ascii_alphanumeric() || b"-_.".contains(&of);
        let is_name = (1..=SEARCH_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_plain);
        if !is_name || name.starts_with('.') {
            let hint = "write 1 to 64 letters, digits, - _ . that begin with no dot: the name stands in URLs";
            return Err(Problem::wrong("this cannot be the name of a search", hint));
        }
        let parsed = Query::parse(query);
        if parsed.is_empty() || query.len() > gleaner_search::limits::QUERY_BYTES_MAX {
            return Err(Problem::wrong("this search finds everything", "feeds/all.rss has everything: search first"));
        }
        if let Some(doubt) = parsed.doubts.first() {
            return Err(Problem::wrong(format!("`{doubt}` is no filter"), "in quotes it is looked for as words"));
        }
        if self.searches().iter().any(|(known, _)| known.name == name) {
            return Err(Problem::wrong(format!("a search is called {name} already"), "write another name"));
        }
        self.saved.change(|own| {
            if own.len() >= SEARCHES_MAX {
                return Err(Problem::wrong(format!("{SEARCHES_MAX} searches are saved"), "delete one on /connect"));
            }
            own.push(SavedSearch { name: name.to_owned(), query: query.to_owned() });
            Ok(())
        })
    }

    /// Deletes one that was saved from a page.
    ///
    /// # Errors
    /// An unknown name, and errors of the file.
    pub fn delete_search(&self, name: &str) -> Result<(), Problem> {
        self.saved.change(|own| {
            let before = own.len();
            own.retain(|search| search.name != name);
            let hint = "those of gleaner.toml are deleted there";
            if own.len() < before { Ok(()) } else { Err(Problem::not_found("no such search was saved here", hint)) }
        })
    }
}
