//! Detects addresses that are separate lists: they look like later pages of another list but are not.

use std::collections::{HashMap, HashSet};

use super::{Looking, boards};
use crate::job::PageFindings;
use crate::judging::judge;
use gleaner_base::url::CrawlUrl;
use gleaner_page::boards::next::numbers_of;
use gleaner_rules::Class;
use gleaner_store::crawldb::{CrawlDbError, Discovered};

/// Finds lists whose addresses look like later pages of another list but are not: those linked by a page that is no list itself,
/// or lists nothing but lists, and those linked with names. Returns the ones that counted as later pages until now.
pub(super) async fn lists_by_themselves(
    of: Looking<'_>,
    read: &PageFindings,
    board: Option<&boards::ParsedBoard>,
) -> Result<Vec<Discovered>, CrawlDbError> {
    let own: HashSet<String> = numbers_of(of.job.url.as_str()).into_iter().map(|(form, _)| form).collect();
    let is_directory = !of.job.class.is_target()
        && of.job.class != Class::Sitemap
        && !(of.job.class.is_listing() && read.found.iter().any(|found| found.class.is_target()));
    let mut forms: HashMap<String, HashSet<u64>> = HashMap::new();
    let lists = || read.found.iter().filter(|found| found.class.is_listing());
    if is_directory {
        for (form, number) in lists().flat_map(|found| numbers_of(found.url.as_str())) {
            if !own.contains(&form) {
                forms.entry(form).or_default().insert(number);
            }
        }
        forms.retain(|_, numbers| numbers.len() > 1);
    }
    let is_list = |url: &CrawlUrl| judge(&of.rows.rules, url.clone()).is_ok_and(|found| found.class.is_listing());
    let named = board.map(|board| board.page.named.as_slice()).unwrap_or_default();
    let named = named.iter().filter(|(_, url)| is_list(url)).map(|(form, _)| form.clone());
    let believed = of.fresh.boards.are_lists(forms.into_keys().chain(named));
    let mut due = Vec::new();
    if believed.is_empty() {
        return Ok(due);
    }
    for found in lists().filter(|found| numbers_of(found.url.as_str()).iter().any(|(form, _)| believed.contains(form)))
    {
        due.extend(of.rows.behind(of.job, found).await?);
    }
    Ok(due)
}
