//! Unit tests of `tokens`.

use super::*;

fn comment_ends(page: &str) -> Option<usize> {
    markup_declaration(page.as_bytes(), 2, false)
}

#[test]
fn comments_close_in_each_way_the_standard_knows() {
    for (page, rest) in [
        ("<!-->x", "x"),
        ("<!--->x", "x"),
        ("<!---->x", "x"),
        ("<!-- a -->x", "x"),
        ("<!-- a --!>x", "x"),
        ("<!--!>-->x", "x"),
        ("<!---!>-->x", "x"),
        ("<!----!>x", "x"),
        ("<!-- > -- > --->x", "x"),
        ("<!-- <!-->x", "x"),
        ("<!doctype \"a>x", "x"),
        ("<![CDATA[>x", "x"),
    ] {
        assert_eq!(comment_ends(page).map(|at| &page[at..]), Some(rest), "{page}");
    }
    assert_eq!(comment_ends("<!-- never closed ->"), None);
}

#[test]
fn script_text_ends_where_the_standard_says() {
    for (text, rest) in [
        ("a</script>x", "x"),
        ("a</SCRIPT a='>'>x", "x"),
        ("</scripty></script/>x", "x"),
        ("<!-- </script>x", "x"),
        ("<!-- <script> </script> --></script>x", "x"),
        ("<!-- <script> </script> </script>x", "x"),
        ("<!--><script></script>x", "x"),
        ("<!-- <script --></script>x", "x"),
        ("<!-- <scripts> </script>x", "x"),
    ] {
        assert_eq!(script(text.as_bytes(), 0).map(|at| &text[at..]), Some(rest), "{text}");
    }
    assert_eq!(script(b"<!-- <script> </script>", 0), None);
}

#[test]
fn attributes_are_read_as_the_standard_reads_them() {
    let read = |tag: &str| {
        let mut seen = Vec::new();
        let end = attributes(tag.as_bytes(), 0, |name, value| {
            seen.push(format!("{}={}", String::from_utf8_lossy(name), &tag[value]));
        });
        end.map(|end| (seen.join("|"), end.self_closing, tag[end.after..].to_owned()))
    };
    let expect = |tag: &str, seen: &str, closing: bool| {
        assert_eq!(read(tag), Some((seen.to_owned(), closing, "~".to_owned())), "{tag}");
    };
    expect(" a=1 b='2' c=\"3\">~", "a=1|b=2|c=3", false);
    expect(" a = 1 b>~", "a=1|b=", false);
    expect("/a/b=/c/>~", "a=|b=/c/", false);
    expect(" a='1'b=\"2\"/>~", "a=1|b=2", true);
    expect(" =x y=>~", "=x=|y=", false);
    expect(" t=it's h=x>~", "t=it's|h=x", false);
    expect(" \"q\"=1>~", "\"q\"=1", false);
    expect(" a==b>~", "a==b", false);
    assert_eq!(read(" a='>"), None);
}
