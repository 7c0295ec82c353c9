//! The order of leasing within a host.

use super::weight::Weight;
use gleaner_rules::Class;

/// Rank of a URL by its class: lower is leased first. Downloads first (their links may expire), then lists (they
/// shift while they are read), then the pages they list.
#[must_use]
pub fn rank(class: Class) -> u8 {
    match class {
        Class::Download => 0,
        Class::Index | Class::Board => 1,
        Class::Detail | Class::Thread => 2,
        Class::Page | Class::Login => 3,
        Class::Sitemap => 4,
    }
}

/// Before all classes: due rechecks, and retries of the increment.
pub const URGENT: u8 = 0;

/// Pages of a list farther away than those adjacent to the page that links them: after everything else, and so after the pages
/// between, which come with each page that is read.
pub const FAR_PAGE: u8 = 5 << 4;

/// Pages of lists that are read again: with the other lists.
pub const LIST_AGAIN: u8 = 1 << 4;

/// Rank by class, and within the class in sixteen steps by weight: 1 to 79, after [`URGENT`].
#[must_use]
pub fn fine_rank(class: Class, weight: &Weight) -> u8 {
    (rank(class) << 4 | weight.step()).max(URGENT + 1)
}

/// True for the rank of a sitemap: no other class has it.
#[must_use]
pub fn is_sitemap(of: u8) -> bool {
    of >> 4 == rank(Class::Sitemap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::{Facts, RuleYield};

    #[test]
    fn the_class_goes_before_the_weight_and_the_weight_orders_within_it() {
        let light = Weight::of(&Facts {
            folder_depth: 40,
            rule: RuleYield { fetched: 9_999, torrents: 0 },
            ..Facts::default()
        });
        let heavy =
            Weight::of(&Facts { in_degree: 900, rule: RuleYield { fetched: 9, torrents: 9 }, ..Facts::default() });
        for class in Class::ALL {
            assert!(fine_rank(class, &heavy) < fine_rank(class, &light));
            for other in Class::ALL {
                if rank(class) < rank(other) {
                    assert!(fine_rank(class, &light) < fine_rank(other, &heavy), "{class:?} {other:?}");
                }
            }
        }
    }
}
