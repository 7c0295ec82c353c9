//! The order of leasing within a host.

use gleaner_rules::Class;

/// Rank of a URL by its class: lower is leased first, of kinds that lead to about as many torrents per request. Downloads first (their
/// links may expire), then lists (they shift while they are read), then the pages they list.
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

/// Rank of a class's URLs that have none of their own ([`super::shares`]): the last of its sixteen.
#[must_use]
pub fn of_class(class: Class) -> u8 {
    rank(class) << 4 | 15
}

/// True for the rank of a sitemap: no other class has it.
#[must_use]
pub fn is_sitemap(of: u8) -> bool {
    of >> 4 == rank(Class::Sitemap)
}
