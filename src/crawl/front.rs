//! Fronts of lists, and two names of one: a pager that links page 1 gives nearly every list a second one, which is no list of its own.
//!
//! The second name is believed by what the two pages list, never by the number: where numbers begin with 0, page 1 is the second page.

use crate::fresh::boards::Boards;
use crate::job::Job;
use crate::rows::Rows;
use crate::{series, turn};
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{SiteRules, Verdict};
use gleaner_store::crawldb::{CrawlDbError, Listing};

/// The number by which a pager calls the first page of a list that has a name without one.
const FIRST_PAGE: u64 = 1;

/// True for a first page by its number, where the list's front has a name without one and listed the same rows when it was read last. A
/// start page is what its operator says.
///
/// # Errors
/// Those of the database.
pub async fn is_another_name(rows: &Rows, job: &Job, listing: Option<&Listing>) -> Result<bool, CrawlDbError> {
    let Some(listing) = listing.filter(|listing| listing.page == FIRST_PAGE && job.lease.depth > 0) else {
        return Ok(false);
    };
    let front = turn::last_listing(rows, job.lease.key.host, &listing.series, 0).await?;
    Ok(front.is_some_and(|front| are_same(&front.targets, &listing.targets)))
}

/// More than half of the longer one is in both: rows may have come between two looks. Both are sorted.
fn are_same(front: &[u64], numbered: &[u64]) -> bool {
    let shared = numbered.iter().filter(|target| front.binary_search(target).is_ok()).count();
    shared * 2 > front.len().max(numbered.len())
}

/// False for a page behind the first of its list. Lists begin with page 0, 1, or none.
#[must_use]
pub fn is_front(rules: &SiteRules, boards: &Boards, url: &CrawlUrl) -> bool {
    series::page_number(rules, url) <= 1 && !is_behind_a_front(rules, boards, url)
}

/// What pages have shown of an address that tells no page; a rule that names the page says all.
#[must_use]
pub fn is_behind_a_front(rules: &SiteRules, boards: &Boards, url: &CrawlUrl) -> bool {
    let names_page = match rules.judge(url) {
        Verdict::Take { rule, .. } => rule.names_page(),
        Verdict::Refuse { .. } => false,
    };
    !names_page && boards.is_behind_a_front(url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_the_same_by_more_than_half_of_their_rows() {
        assert!(are_same(&[1, 2, 3], &[1, 2, 3]) && are_same(&[1, 2, 3], &[2, 3, 4]));
        assert!(!are_same(&[1, 2, 3, 4], &[3, 4, 5, 6]) && !are_same(&[], &[]) && !are_same(&[1, 2, 3, 4], &[1, 2]));
    }
}
