//! What a browser's own style sheet says of elements (HTML §15.3), as far as scripts ask for it.

/// The `display` of an HTML element that no style sheet of a page speaks of.
pub fn display_of(local: &str) -> &'static str {
    const TABLE: &[(&str, &[&str])] = &[
        (
            "none",
            &[
                "area", "base", "basefont", "datalist", "head", "link", "meta", "noembed", "noframes", "noscript", "param",
                "rp", "script", "style", "template", "title",
            ],
        ),
        (
            "block",
            &[
                "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div",
                "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
                "header", "hgroup", "hr", "html", "legend", "listing", "main", "menu", "nav", "ol", "optgroup", "option",
                "p", "plaintext", "pre", "search", "section", "summary", "ul", "xmp",
            ],
        ),
        ("list-item", &["li"]),
        ("table", &["table"]),
        ("table-row", &["tr"]),
        ("table-cell", &["td", "th"]),
        ("table-row-group", &["tbody"]),
        ("table-header-group", &["thead"]),
        ("table-footer-group", &["tfoot"]),
        ("table-column", &["col"]),
        ("table-column-group", &["colgroup"]),
        ("table-caption", &["caption"]),
        ("inline-block", &["button", "input", "select", "textarea", "meter", "progress", "marquee"]),
    ];
    TABLE.iter().find(|(_, names)| names.contains(&local)).map_or("inline", |(display, _)| display)
}
