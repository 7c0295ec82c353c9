//! The guarantees of every parser of outside bytes, as functions that panic if one is broken.
//!
//! Each function is one fuzz target: libFuzzer calls it with millions of inputs (`fuzz_targets/`, `scripts/fuzz`), and
//! `tests/fuzz_corpus.rs` replays the stored inputs through the same function on every `cargo test`. A guarantee is more
//! than "no panic": a result is checked against a slower reference, against parsing it again, or against its bounds.
//!
//! Only the library's public interface is used. No function sleeps, opens a socket or depends on the time; only `config`
//! writes a file, because a configuration is read from one.

mod classify;
mod codings;
mod cookies;
mod file_names;
mod links;
mod markup;
mod metainfo;
mod must_fail;
mod politeness;
mod rules;
mod shapes;
mod url;

pub use classify::classify;
pub use codings::codings;
pub use cookies::{cookie_file, cookies};
pub use file_names::file_names;
pub use links::{encoded_links, magnet, pagination};
pub use markup::{feed, html_tree, page, sitemap, sketch};
pub use metainfo::metainfo;
pub use must_fail::must_fail;
pub use politeness::{retry_after, robots};
pub use rules::{config, rules};
pub use shapes::shapes;
pub use url::url;

/// A function that panics if its input breaks a guarantee.
pub type Target = fn(&[u8]);

/// Every target by name, which is also the name of its folder in `corpus/` and `regressions/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("classify", classify),
    ("codings", codings),
    ("config", config),
    ("cookie_file", cookie_file),
    ("cookies", cookies),
    ("encoded_links", encoded_links),
    ("feed", feed),
    ("file_names", file_names),
    ("html_tree", html_tree),
    ("magnet", magnet),
    ("metainfo", metainfo),
    ("page", page),
    ("pagination", pagination),
    ("retry_after", retry_after),
    ("robots", robots),
    ("rules", rules),
    ("shapes", shapes),
    ("sitemap", sitemap),
    ("sketch", sketch),
    ("url", url),
];

/// The target with a planted fault: the proof that the alarm works. It is not in the table because its inputs
/// must fail.
pub const MUST_FAIL: (&str, Target) = ("must_fail", must_fail);

/// Removes the first byte, as a choice; zero if the input is empty.
fn choice(input: &mut &[u8]) -> u8 {
    match input.split_first() {
        Some((&first, rest)) => {
            *input = rest;
            first
        }
        None => 0,
    }
}

/// The input as text; invalid UTF-8 becomes U+FFFD, so that no input is wasted.
fn text(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}

/// One encoding of every kind in the standard: one byte, several bytes, stateful, wide, and the replacement encoding.
fn encoding(choice: u8) -> &'static encoding_rs::Encoding {
    use encoding_rs::*;
    const ALL: [&Encoding; 13] = [
        UTF_8,
        GBK,
        GB18030,
        BIG5,
        SHIFT_JIS,
        EUC_JP,
        EUC_KR,
        ISO_2022_JP,
        WINDOWS_1251,
        WINDOWS_1252,
        UTF_16LE,
        UTF_16BE,
        REPLACEMENT,
    ];
    ALL[usize::from(choice) % ALL.len()]
}
