//! The approximate visible text of a page: without markup, scripts and styles. Used to search for words.

use super::entities::decode_attribute;

/// The visible text of the first `bytes_max` bytes of a decoded page. Tags count as spaces. Linear; never fails.
#[must_use]
pub fn visible(page: &str, bytes_max: usize) -> String {
    let mut end = page.len().min(bytes_max);
    while !page.is_char_boundary(end) {
        end -= 1;
    }
    let mut rest = &page[..end];
    let mut text = String::new();
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        text.push(' ');
        rest = &rest[open..];
        let hidden =
            ["script", "style", "noscript", "textarea", "template"].into_iter().find(|name| is_tag(rest, name));
        let close = match hidden {
            Some(name) => behind_end(rest, name),
            None if rest.starts_with("<!--") => rest.find("-->").map(|at| at + 3),
            None => rest.find('>').map(|at| at + 1),
        };
        let Some(close) = close else { return decode_attribute(&text).into_owned() };
        rest = &rest[close..];
    }
    text.push_str(rest);
    decode_attribute(&text).into_owned()
}

fn is_tag(markup: &str, name: &str) -> bool {
    let begins = markup.get(1..=name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    begins && markup.as_bytes().get(name.len() + 1).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// The end of the element that starts here.
fn behind_end(markup: &str, name: &str) -> Option<usize> {
    let mut from = 1;
    while let Some(at) = markup[from..].find("</") {
        let end = from + at;
        if markup.get(end + 2..end + 2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return markup[end..].find('>').map(|close| end + close + 1);
        }
        from = end + 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(page: &str) -> String {
        visible(page, 1_000).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_are_seen_and_what_no_reader_sees_is_not() {
        let page = "<title>Gone</title><SCRIPT>if(a<b){}</SCRIPT ><style>p{}</style><!-- <p>x</p> --><p>It doesn&#39;t <b>exist</b>";
        assert_eq!(words(page), "Gone It doesn't exist");
        for broken in ["<", "<p", "a<script>b", "<!-- x", "</", "a<script>b</scrip"] {
            assert!(words(broken).len() <= 1, "{broken:?}");
        }
        assert_eq!(visible("日本語", 4), "日");
    }
}
