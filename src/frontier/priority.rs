//! The order of leasing within a host.

use crate::rules::Class;

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

/// True for the rank of a sitemap: no other class has it.
#[must_use]
pub fn is_sitemap(of: u8) -> bool {
    of == rank(Class::Sitemap)
}
