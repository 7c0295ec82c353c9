//! Unit tests of `encoded_links`.

use super::*;
use base64::prelude::BASE64_STANDARD;
use encoding_rs::{GBK, UTF_8, UTF_16LE};

fn thunder(url: &[u8]) -> String {
    format!("thunder://{}", BASE64_STANDARD.encode([b"AA", url, b"ZZ"].concat()))
}

fn flashget(url: &str) -> String {
    format!("flashget://{}", BASE64_STANDARD.encode(format!("[FLASHGET]{url}[FLASHGET]")))
}

fn url(text: &str) -> Result<Decoded, EncodedLinkError> {
    Ok(Decoded::Url(text.to_owned()))
}

const TARGET: &str = "http://example.org/a?b=1&c=2.torrent";

#[test]
fn each_scheme_opens_to_the_url_inside() {
    assert_eq!(decode("thunder://QUFodHRwOi8vZXhhbXBsZS5vcmcvYS50b3JyZW50Wlo="), url("http://example.org/a.torrent"));
    assert_eq!(decode(&thunder(TARGET.as_bytes())), url(TARGET));
    assert_eq!(decode(&flashget(TARGET)), url(TARGET));
    assert_eq!(decode(&format!("{}&sitetag", flashget(TARGET))), url(TARGET));
    assert_eq!(decode(&format!("qqdl://{}", BASE64_STANDARD.encode(TARGET))), url(TARGET));
    let magnet = "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a";
    assert_eq!(decode(magnet), Ok(Decoded::Magnet(magnet.to_owned())));
}

#[test]
fn base64_in_every_dress_opens() {
    let link = thunder(b"http://example.org/??>>~~.torrent");
    let expected = decode(&link);
    assert!(matches!(expected, Ok(Decoded::Url(_))));
    for dressed in [
        link.replace('=', ""),
        link.replace('=', "%3D"),
        link.replacen("thunder", "Thunder", 1),
        format!("{}/", link),
        format!(" {link}\n"),
    ] {
        assert_eq!(decode(&dressed), expected, "{dressed}");
    }
    let (scheme, payload) = link.split_at(10);
    assert_eq!(decode(&format!("{scheme}{}", payload.replace('+', "-").replace('/', "_"))), expected);
}

#[test]
fn gbk_inside_opens() {
    let (gbk, _, _) = GBK.encode("http://example.org/种子.torrent");
    assert_eq!(decode(&thunder(&gbk)), url("http://example.org/种子.torrent"));
}

#[test]
fn links_within_links_open_up_to_a_depth() {
    let magnet = "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a";
    assert_eq!(decode(&thunder(magnet.as_bytes())), Ok(Decoded::Magnet(magnet.to_owned())));
    let ed2k = "ed2k://|file|name|1|hash|/";
    assert_eq!(decode(&flashget(ed2k)), Ok(Decoded::Other(ed2k.to_owned())));
    let mut link = TARGET.to_owned();
    for depth in 1..=5 {
        link = thunder(link.as_bytes());
        let opened = decode(&link);
        assert_eq!(
            opened,
            if depth <= ENCODED_LINK_NESTING_MAX + 1 { url(TARGET) } else { Err(EncodedLinkError::Nesting) }
        );
    }
}

#[test]
fn what_is_wrong_has_a_name() {
    for (link, error) in [
        ("http://example.org/", EncodedLinkError::Scheme),
        ("", EncodedLinkError::Scheme),
        ("thunder://", EncodedLinkError::Base64),
        ("thunder://*", EncodedLinkError::Base64),
        ("thunder://QUE=", EncodedLinkError::Marks),
        ("qqdl://bm90IGEgbGluaw==", EncodedLinkError::NotALink),
        ("qqdl://////", EncodedLinkError::Charset),
    ] {
        assert_eq!(decode(link), Err(error), "{link}");
    }
    assert_eq!(decode(&thunder(&[b'a'; URL_BYTES_MAX])), Err(EncodedLinkError::TooLong));
}

#[test]
fn links_are_found_wherever_they_stand() {
    let page = r#"<a href="magnet:?xt=urn:btih:aa&amp;dn=Two words">m</a> text MAGNET:?xt=urn:btih:bb, and
            <p onclick="go('thunder://QUFa')">x</p><b onclick="go(&quot;qqdl://YWI=&quot;)">
            <script>x={"u":"flashget:\/\/W0Y\u003d","m":"magnet:?xt=c\u0026dn=d"}</script>
            notmagnet:?xt=no magnet:? <i>magnet:?xt=urn:btih:aa&dn=Two words</i>"#;
    let found: Vec<String> = find(page.as_bytes(), UTF_8).into_iter().map(|found| found.link).collect();
    assert_eq!(
        found,
        [
            "magnet:?xt=urn:btih:aa&dn=Two words",
            "MAGNET:?xt=urn:btih:bb",
            "thunder://QUFa",
            "qqdl://YWI=",
            "flashget://W0Y=",
            "magnet:?xt=c&dn=d",
            "magnet:?xt=urn:btih:aa&dn=Two",
        ]
    );
}

#[test]
fn links_are_found_in_any_charset() {
    let page = "<a href='magnet:?xt=urn:btih:aa&dn=种子'>";
    let (gbk, _, _) = GBK.encode(page);
    let utf_16: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for found in [find(&gbk, GBK), find(&utf_16, UTF_16LE)] {
        assert_eq!(found[0].link, "magnet:?xt=urn:btih:aa&dn=种子");
    }
}

proptest::proptest! {
    #[test]
    fn any_url_survives_its_wrapping(path in "[ -~]{0,200}") {
        let target = format!("http://h/{}", path.trim());
        proptest::prop_assert_eq!(decode(&thunder(target.as_bytes())), url(&target));
    }

    #[test]
    fn any_bytes_are_searched_and_opened_without_panic(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
        scheme in 0..4_usize,
    ) {
        let link = format!("{}{}", Scheme::ALL[scheme].1, String::from_utf8_lossy(&bytes));
        let _ = decode(&link);
        for found in find(link.as_bytes(), GBK) {
            let _ = decode(&found.link);
        }
    }
}
