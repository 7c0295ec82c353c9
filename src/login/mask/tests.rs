//! Unit tests of `mask`.

use super::*;

#[test]
fn a_secret_is_hidden_in_each_of_its_forms_and_nothing_else_is() {
    let mask = Mask::of("anna", &Secret::new("s3c ret&<ü>"));
    for form in [
        "s3c ret&<ü>",
        "S3C RET&<ü>",
        "s3c+ret%26%3C%C3%BC%3E",
        "s3c%20ret%26%3c%c3%bc%3e",
        "s3c ret&amp;&lt;ü&gt;",
        "czNjIHJldCY8w7w+",
        "YW5uYTpzM2MgcmV0JjzDvD4",
    ] {
        let text = format!("Error: x={form}; y");
        assert_eq!(mask.hide(&text), format!("Error: x={MASK}; y"), "{form}");
        assert!(mask.is_in(text.as_bytes()));
    }
    let md5 = hex(&Md5::digest("s3c ret&<ü>".as_bytes()));
    assert_eq!(mask.hide(&md5.to_ascii_uppercase()), MASK);
    assert_eq!(mask.hide("nothing here"), "nothing here");
    assert!(!mask.is_in(b"nothing here"));
}

#[test]
fn a_secret_is_hidden_as_each_language_writes_json() {
    let mask = Mask::of("anna", &Secret::new("ab/Grä9"));
    for form in [r"ab\/Grä9", r"ab/Gr\u00e49", r"ab\/Gr\u00E49", "ab/Grä9"] {
        assert_eq!(mask.hide(&format!("x {form} y")), format!("x {MASK} y"), "{form}");
    }
}

#[test]
fn a_long_text_full_of_the_secret_is_hidden_in_one_pass_and_cut() {
    let hidden = Mask::of("anna", &Secret::new("s3cret")).hide(&"S3cret&".repeat(200_000));
    assert!(hidden.len() <= CONSOLE_LINE_BYTES_MAX && hidden.starts_with(&format!("{MASK}&{MASK}&")));
}

#[test]
fn answers_are_hidden_beside_the_password_and_short_ones_are_not() {
    let mut mask = Mask::of("anna", &Secret::new("rex"));
    ["Rex the dog", "1", "on", ""].into_iter().for_each(|answer| mask.add(answer));
    assert_eq!(mask.hide("1 on rex+the+dog, rex"), format!("1 on {MASK}, {MASK}"));
}

#[test]
fn a_password_that_is_a_word_of_ours_is_hidden_in_addresses_alone() {
    let mask = Mask::of("anna", &Secret::new("wrong"));
    let told = mask.hide_in_addresses("the password is wrong: https://h.example/in?p=wrong answers 401");
    assert_eq!(told, format!("the password is wrong: https://h.example/in?p={MASK} answers 401"));
}

#[test]
fn an_empty_secret_hides_nothing_and_one_of_bullets_ends() {
    let empty = Mask::of("anna", &Secret::new(""));
    assert_eq!((empty.hide("anna:"), empty.is_in(b"")), ("anna:".to_owned(), false));
    assert_eq!(Mask::of("anna", &Secret::new("•")).hide("a•"), "a•");
}
