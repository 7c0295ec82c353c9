//! The site files that come with gleaner, all disabled: public sources that anybody may read.

/// Name and text of each.
pub const SHIPPED: [(&str, &str); 7] = [
    ("archlinux", include_str!("../../rules/archlinux.toml")),
    ("debian", include_str!("../../rules/debian.toml")),
    ("fedora", include_str!("../../rules/fedora.toml")),
    ("kali", include_str!("../../rules/kali.toml")),
    ("linuxmint", include_str!("../../rules/linuxmint.toml")),
    ("netbsd", include_str!("../../rules/netbsd.toml")),
    ("ubuntu", include_str!("../../rules/ubuntu.toml")),
];

#[cfg(test)]
mod tests {
    use super::SHIPPED;

    #[test]
    fn all_site_files_of_the_repository_are_shipped() {
        let dir = concat!(env!("GLEANER_ROOT"), "/rules");
        let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, SHIPPED.map(|(name, _)| name));
    }
}
