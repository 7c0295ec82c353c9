//! Unit tests of `fetch::charset`.

use super::*;
use encoding_rs::{BIG5, EUC_KR, GBK, SHIFT_JIS};

#[test]
fn the_order_is_mark_override_header_meta_content() {
    let gbk_meta = b"<meta charset=gbk>".as_slice();
    let marked = [b"\xEF\xBB\xBF", gbk_meta].concat();
    let header = Some("text/html; charset=big5");
    assert_eq!(detect(header, &marked, Some("euc-kr")), UTF_8);
    assert_eq!(detect(header, gbk_meta, Some("euc-kr")), EUC_KR);
    assert_eq!(detect(header, gbk_meta, None), BIG5);
    assert_eq!(detect(Some("text/html"), gbk_meta, None), GBK);
    assert_eq!(detect(None, b"plain", None), UTF_8);
    assert_eq!(detect(Some("text/html; charset=nonsense"), gbk_meta, Some("nonsense")), GBK);
}

#[test]
fn headers_of_real_servers_are_read() {
    for (header, encoding) in [
        ("text/html; charset=utf-8; Cache-control:private", Some("utf-8")),
        ("text/html;CHARSET=\"GBK\"", Some("GBK")),
        ("text/html; charset = 'big5' ", Some("big5")),
        ("text/html; charset=", None),
        ("text/html", None),
        ("charset=utf-8", None),
        ("", None),
    ] {
        assert_eq!(charset_parameter(header), encoding, "{header}");
    }
}

#[test]
fn meta_is_found_as_the_prescan_finds_it() {
    for (page, encoding) in [
        ("<html><head><meta charset='Shift_JIS'>", Some(SHIFT_JIS)),
        ("<meta http-equiv=Content-Type content='text/html; charset=GB2312'>", Some(GBK)),
        ("<META CONTENT='text/html; charset=\"gbk\"' HTTP-EQUIV='content-type'/>", Some(GBK)),
        ("<meta content='text/html; charset=gbk'>", None),
        ("<!-- <meta charset=gbk> --><meta charset=big5>", Some(BIG5)),
        ("<!--><meta charset=gbk>", Some(GBK)),
        ("<p title='<meta charset=gbk>'><meta charset=big5>", Some(BIG5)),
        ("<meta charset=utf-16le>", Some(UTF_8)),
        ("<meta charset=x-user-defined>", Some(WINDOWS_1252)),
        ("<meta charset=none><meta charset=gbk>", Some(GBK)),
        ("<metacharset=gbk>", None),
        ("<meta charset=gbk", None),
        ("<?php <meta charset=gbk>", None),
    ] {
        assert_eq!(prescan(page.as_bytes()), encoding, "{page}");
    }
    let late = [vec![b' '; PRESCAN_BYTES], b"<meta charset=gbk>".to_vec()].concat();
    assert_eq!(detect(None, &late, None), UTF_8);
}

#[test]
fn content_decides_when_nothing_else_does() {
    let chinese = "最新种子下载列表，欢迎来到我们的论坛，请先登录后再下载附件。".repeat(4);
    assert_eq!(detect(None, chinese.as_bytes(), None), UTF_8);
    assert_eq!(detect(None, &GBK.encode(&chinese).0, None), GBK);
    let japanese = "これは日本語のページです。ダウンロードはこちらから。".repeat(4);
    assert_eq!(detect(None, &SHIFT_JIS.encode(&japanese).0, None), SHIFT_JIS);
    let long = format!("{}é", "a".repeat(GUESS_BYTES - 1));
    assert_eq!(detect(None, long.as_bytes(), None), UTF_8);
}

proptest::proptest! {
    #[test]
    fn any_bytes_have_an_encoding(
        header in ".{0,40}",
        body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..2_000),
    ) {
        let meta = [b"<meta content='charset", body.as_slice()].concat();
        let _ = detect(Some(&header), &body, Some(&header));
        let _ = detect(None, &meta, None);
    }
}
