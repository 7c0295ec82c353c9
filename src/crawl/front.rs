//! First pages of lists, and two URLs of one: a pager that links page 1 gives nearly every list a second URL, which is not a separate list.
//!
//! The second URL is recognised by the rows of both pages, never by its number: if numbers begin with 0, page 1 is the second page.

use crate::fresh::boards::Boards;
use crate::job::Job;
use crate::rows::Rows;
use crate::{series, turn};
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{SiteRules, Verdict};
use gleaner_store::crawldb::{CrawlDbError, Listing};

/// The number that pagers use for the first page of a list that also has a URL without a number.
const FIRST_PAGE: u64 = 1;

/// True for a first page by its number, if the list has a first page without a number that listed the same rows at its last reading. A
/// start page is what its operator declares.
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

/// True if both contain more than half of the longer one: rows may have been added between two visits. Both are sorted.
fn are_same(front: &[u64], numbered: &[u64]) -> bool {
    let shared = numbered.iter().filter(|target| front.binary_search(target).is_ok()).count();
    shared * 2 > front.len().max(numbered.len())
}

/// False for a later page of a list. Lists begin with page 0, 1, or none.
#[must_use]
pub fn is_front(rules: &SiteRules, boards: &Boards, url: &CrawlUrl) -> bool {
    series::page_number(rules, url) <= 1 && !is_behind_a_front(rules, boards, url)
}

/// What pages have shown about a URL without a page number; a rule that captures the number decides alone.
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
