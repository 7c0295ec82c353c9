//! The demo site's rule file, with the actual address of the site.

/// The rule file in its source form: valid, for a site on port 1.
pub const RULES_TEMPLATE: &str = include_str!("rules.toml");

/// Placeholder for the site's origin in [`RULES_TEMPLATE`].
const ORIGIN_IN_TEMPLATE: &str = "http://127.0.0.1:1/";

/// The rule file of a site at `origin` (`http://host:port`).
pub(super) fn rules_text(origin: &str) -> String {
    RULES_TEMPLATE.replace(ORIGIN_IN_TEMPLATE, &format!("{origin}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_put_in_everywhere() {
        let text = rules_text("http://127.0.0.1:54321");
        assert!(text.contains(r#"start = ["http://127.0.0.1:54321/"]"#));
        assert!(!text.contains(ORIGIN_IN_TEMPLATE));
    }

    #[test]
    fn the_template_is_toml() {
        let table: toml::Table = toml::from_str(RULES_TEMPLATE).expect("valid TOML");
        assert!(table["classes"].as_table().is_some_and(|classes| classes.contains_key("download")));
    }
}
