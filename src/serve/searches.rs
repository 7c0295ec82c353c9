//! Saved searches: those of gleaner.toml, and those that a person has saved from a page. These are in `searches.json` of the data folder, written whole.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use gleaner_rules::config::searches::SavedSearch;
use gleaner_rules::limits::{SEARCH_NAME_BYTES_MAX, SEARCHES_MAX};
use gleaner_search::Query;

use crate::Outlet;
use crate::problem::Problem;
use crate::tokens;

/// See the module.
pub struct Saved {
    path: PathBuf,
    /// Replaced once they are written: who reads them waits for no disk.
    own: RwLock<Arc<Vec<SavedSearch>>>,
    /// Held while they are written.
    writing: Mutex<()>,
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
        Self { path, own: RwLock::new(Arc::new(own)), writing: Mutex::default() }
    }

    fn all(&self) -> Arc<Vec<SavedSearch>> {
        Arc::clone(&self.own.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Names of those that were saved from a page.
    #[cfg(test)]
    pub fn names(&self) -> Vec<String> {
        self.all().iter().map(|search| search.name.clone()).collect()
    }

    /// Writes what `change` makes of them. It blocks.
    fn change(&self, change: impl FnOnce(&mut Vec<SavedSearch>) -> Result<(), Problem>) -> Result<(), Problem> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = read(&self.path).map_err(|why| {
            let detail = format!("{}: {why}; move the file away", self.path.display());
            Problem::new(axum::http::StatusCode::CONFLICT, "the saved searches cannot be read", detail)
        })?;
        change(&mut next)?;
        tokens::write(&self.path, &next).map_err(|error| Problem::ours(&error))?;
        *self.own.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
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
        let own = self.saved.all();
        let own = own.iter().filter(|search| is_other(search)).map(|search| (search.clone(), true));
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
    pub async fn save_search(self: &Arc<Self>, name: &str, query: &str) -> Result<(), Problem> {
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
        let search = SavedSearch { name: name.to_owned(), query: query.to_owned() };
        let outlet = Arc::clone(self);
        self.change_searches(move |own| {
            if outlet.settings.searches.iter().chain(own.iter()).any(|known| known.name == search.name) {
                let title = format!("a search is called {} already", search.name);
                return Err(Problem::wrong(title, "write another name"));
            }
            if own.len() >= SEARCHES_MAX {
                return Err(Problem::wrong(format!("{SEARCHES_MAX} searches are saved"), "delete one on /connect"));
            }
            own.push(search);
            Ok(())
        })
        .await
    }

    /// Deletes one that was saved from a page.
    ///
    /// # Errors
    /// An unknown name, and errors of the file.
    pub async fn delete_search(self: &Arc<Self>, name: &str) -> Result<(), Problem> {
        let name = name.to_owned();
        self.change_searches(move |own| {
            let before = own.len();
            own.retain(|search| search.name != name);
            let hint = "those of gleaner.toml are deleted there";
            if own.len() < before { Ok(()) } else { Err(Problem::not_found("no such search was saved here", hint)) }
        })
        .await
    }

    async fn change_searches(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Vec<SavedSearch>) -> Result<(), Problem> + Send + 'static,
    ) -> Result<(), Problem> {
        let outlet = Arc::clone(self);
        let changed = tokio::task::spawn_blocking(move || outlet.saved.change(change)).await;
        changed.map_err(|error| Problem::ours(&error))?
    }
}
