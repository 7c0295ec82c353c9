//! The categories that Newznab and Torznab clients know by number.

/// A category: its number is its parent's, or between it and the next parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    pub number: u32,
    pub name: &'static str,
}

/// Numbers of a site's own categories begin here.
pub const OF_SITES: u32 = 100_000;

/// What is nothing else.
pub const MISC: u32 = 8010;

/// Parents first, each followed by its children, whose names lack the parent's.
pub const CATEGORIES: &[Category] = &[
    of(1000, "Console"),
    of(2000, "Movies"),
    of(2010, "Foreign"),
    of(2020, "Other"),
    of(2030, "SD"),
    of(2040, "HD"),
    of(2045, "UHD"),
    of(2050, "BluRay"),
    of(2060, "3D"),
    of(2070, "DVD"),
    of(2080, "WEB-DL"),
    of(2090, "x265"),
    of(3000, "Audio"),
    of(3010, "MP3"),
    of(3020, "Video"),
    of(3030, "Audiobook"),
    of(3040, "Lossless"),
    of(3050, "Other"),
    of(3060, "Foreign"),
    of(4000, "PC"),
    of(4010, "0day"),
    of(4020, "ISO"),
    of(4030, "Mac"),
    of(4040, "Mobile-Other"),
    of(4050, "Games"),
    of(4060, "Mobile-iOS"),
    of(4070, "Mobile-Android"),
    of(5000, "TV"),
    of(5010, "WEB-DL"),
    of(5020, "Foreign"),
    of(5030, "SD"),
    of(5040, "HD"),
    of(5045, "UHD"),
    of(5050, "Other"),
    of(5060, "Sport"),
    of(5070, "Anime"),
    of(5080, "Documentary"),
    of(5090, "x265"),
    of(6000, "XXX"),
    of(7000, "Books"),
    of(7010, "Mags"),
    of(7020, "EBook"),
    of(7030, "Comics"),
    of(7040, "Technical"),
    of(7050, "Other"),
    of(7060, "Foreign"),
    of(8000, "Other"),
    of(8010, "Misc"),
    of(8020, "Hashed"),
];

const fn of(number: u32, name: &'static str) -> Category {
    Category { number, name }
}

/// The number of the parent; itself of a parent, and of a site's own category.
#[must_use]
pub fn parent(number: u32) -> u32 {
    if number >= OF_SITES { number } else { number - number % 1_000 }
}

/// The name with its parent's, as `PC/ISO`.
#[must_use]
pub fn full_name(number: u32) -> Option<String> {
    let name = |number: u32| CATEGORIES.iter().find(|category| category.number == number).map(|category| category.name);
    let own = name(number)?;
    if parent(number) == number { Some(own.to_owned()) } else { Some(format!("{}/{own}", name(parent(number))?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_its_parent_and_a_name() {
        assert!(CATEGORIES.is_sorted_by_key(|category| category.number));
        for category in CATEGORIES {
            assert!(CATEGORIES.iter().any(|of| of.number == parent(category.number)), "{category:?}");
        }
        assert_eq!(full_name(4020).as_deref(), Some("PC/ISO"));
        assert_eq!((full_name(4000).as_deref(), full_name(4021), parent(100_001)), (Some("PC"), None, 100_001));
    }
}
