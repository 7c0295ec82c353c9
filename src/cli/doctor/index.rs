//! The search index: whether it can be read, and how far behind it is.

use super::{Finding, Patient};
use crate::app::database::Database;
use gleaner_base::owner;
use gleaner_search::{Search, SearchError};

pub(super) async fn check(of: &Patient) -> Vec<Finding> {
    let Some(database) = of.database().await else { return Vec::new() };
    // A service keeps it up; a crawl that holds the folder does not.
    let is_served = match database {
        Database::Held(remote) => matches!(remote.alarms().await, Ok(Some(_))),
        Database::File(_) => false,
    };
    let torrents = match database.reader().changes(u64::MAX, 0).await {
        Ok(changes) => changes.last,
        Err(_) => return Vec::new(),
    };
    let path = gleaner_search::find::index_path(&of.config.data_dir);
    let shown = path.display();
    let search = of.command("search");
    let opened = {
        let _owner = owner::act(&of.config.data_dir);
        Search::open(&of.config.data_dir)
    };
    match opened {
        // It is made by the first search.
        Err(SearchError::Missing) if torrents == 0 || (!is_served && !path.exists()) => Vec::new(),
        Err(SearchError::Missing) => {
            let what = "it is being made, or is of another version: nothing is found before";
            vec![Finding::new("index_missing", shown, what, format!("wait, if a service makes it; otherwise {search}"))]
        }
        Err(error) => {
            let fix = format!("remove the folder, then {search}: it is made again from the database");
            vec![Finding::new("index_damaged", shown, error.to_string().replace('\n', "; "), fix)]
        }
        // A command brings it up before it searches; a service has to.
        Ok(index) if is_served && !index.has_change(torrents).unwrap_or(true) => {
            let fix = "look at the log (`journalctl -u gleaner -p warning`): a full disk holds it up";
            let behind = database.reader().changes(u64::MAX, 0).await.map_or(0, |of| of.last);
            // What came since is no delay.
            match behind == torrents {
                true => vec![Finding::new("index_behind", shown, "it lacks what was stored last", fix)],
                false => Vec::new(),
            }
        }
        Ok(_) => Vec::new(),
    }
}
