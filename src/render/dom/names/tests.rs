//! Unit tests of `dom::names`.

use super::*;

#[test]
fn names_are_taken_apart_or_refused_as_the_standard_says() {
    let xmlns = Some("http://www.w3.org/2000/xmlns/");
    let svg = Some("http://www.w3.org/2000/svg");
    for (namespace, name, expected) in [
        (None, "a", Ok((None, "a"))),
        (Some(""), "a", Ok((None, "a"))),
        (svg, "svg:a", Ok((Some("svg"), "a"))),
        (None, "p:a", Err(Error::Namespace)),
        (svg, ":a", Err(Error::InvalidCharacter)),
        (svg, "a:", Err(Error::InvalidCharacter)),
        (svg, "0", Err(Error::InvalidCharacter)),
        (svg, "xml:a", Err(Error::Namespace)),
        (svg, "xmlns", Err(Error::Namespace)),
        (xmlns, "a", Err(Error::Namespace)),
        (xmlns, "xmlns:a", Ok((Some("xmlns"), "a"))),
        (xmlns, "xmlns", Ok((None, "xmlns"))),
        (None, "a b", Err(Error::InvalidCharacter)),
        (None, "", Err(Error::InvalidCharacter)),
    ] {
        let got = validate_and_extract(namespace, name, false);
        let got = got.map(|name| (name.prefix.map(|prefix| prefix.to_string()), name.local.to_string()));
        let expected = expected.map(|(prefix, local)| (prefix.map(str::to_owned), local.to_owned()));
        assert_eq!(got, expected, "{namespace:?} {name:?}");
    }
    assert!(validate_and_extract(None, "a=b", true).is_err());
    assert!(validate_and_extract(None, "@click", true).is_ok());
}

#[test]
fn custom_element_names_have_a_hyphen_and_no_capitals() {
    for (name, expected) in [
        ("x-a", true),
        ("x-", true),
        ("x", false),
        ("X-a", false),
        ("x-A", false),
        ("-x", false),
        ("x-日本", true),
        ("font-face", false),
        ("x-a b", false),
        ("", false),
    ] {
        assert_eq!(is_custom_element_name(name), expected, "{name}");
    }
}
