//! Unit tests of `fingerprint`.

use std::collections::BTreeSet;

use super::*;

/// The exact shingle hashes.
fn all(page: &[u8]) -> BTreeSet<u32> {
    let mut words = Vec::new();
    each_word(page, |word| words.push(word));
    words.windows(SHINGLE_WORDS).map(|window| shingle(&[window[0], window[1], window[2], window[3]], 0)).collect()
}

fn text(words: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut page = b"<html><body><p>".to_vec();
    for (at, word) in words.enumerate() {
        page.extend_from_slice(format!("w{}x{} ", word * 7_919 % 10_007, word).as_bytes());
        if at % 12 == 0 {
            page.extend_from_slice(b"<br class=a>\n");
        }
    }
    page
}

#[test]
fn estimates_keep_to_their_standard_error() {
    let (mut squares, mut wanted, mut pairs) = (0.0, 0.0, 0);
    for seed in 0..60_u64 {
        // Two pages of 2,000 words, of which from a tenth to nearly all are the same.
        let shared = 100 + seed * 31;
        let one = text((0..2_000).map(|n| seed * 100_000 + n));
        let other = text((0..2_000).map(|n| seed * 100_000 + if n < shared { n } else { 50_000 + n }));
        let (a, b) = (all(&one), all(&other));
        let both = u32::try_from(a.intersection(&b).count()).expect("few");
        let any = u32::try_from(a.union(&b).count()).expect("few");
        let exact = f64::from(both) / f64::from(any);
        let (a_sketch, b_sketch) = (Sketch::of(&one), Sketch::of(&other));
        let estimate = resemblance(&a_sketch, &b_sketch);
        let error = (exact * (1.0 - exact) / 120.0).sqrt();
        assert!((estimate - exact).abs() <= 4.0 * error + 1e-9, "seed {seed}: {estimate} for {exact}");
        squares += (estimate - exact).powi(2);
        wanted += error.powi(2);
        pairs += 1;
        let contained = f64::from(both) / f64::from(u32::try_from(a.len()).expect("few"));
        assert!((containment(&a_sketch, &b_sketch) - contained).abs() < 0.25, "seed {seed}");
    }
    let ratio: f64 = squares / wanted;
    assert!((0.4..2.0).contains(&ratio), "{pairs} pairs: variance {ratio} times the stated one");
}

#[test]
fn small_pages_are_exact_and_counters_markup_and_scripts_do_not_count() {
    let page = |views: &str, script: &str, class: &str| {
        format!(
            "<html><style>a {{ color: {script} }}</style><SCRIPT>var x = '{script}';</SCRIPT><p class={class}>Debian ISO \
                 images for all friends of free software</p>&nbsp;{views} views <!-- {script} --> at {views}:15</html>"
        )
    };
    let (one, other) = (page("17", "red", "a"), page("99123", "blue thing", "b"));
    assert_eq!(Sketch::of(one.as_bytes()), Sketch::of(other.as_bytes()));
    let third = one.replace("Debian", "Fedora");
    let (a, b) = (all(one.as_bytes()), all(third.as_bytes()));
    let exact = a.intersection(&b).count() as f64 / a.union(&b).count() as f64;
    assert!((resemblance(&Sketch::of(one.as_bytes()), &Sketch::of(third.as_bytes())) - exact).abs() < 1e-12);
}

#[test]
fn pages_of_scripts_without_spaces_are_compared_by_character() {
    let one = "<p>中文论坛的种子列表，欢迎光临本站下载</p>".as_bytes();
    let other = "<p>中文论坛的种子列表，欢迎再来本站下载</p>".as_bytes();
    let near = resemblance(&Sketch::of(one), &Sketch::of(other));
    assert!((0.3..0.9).contains(&near), "{near}");
    let (gbk, _, _) = encoding_rs::GBK.encode("中文论坛的种子列表，欢迎光临本站下载");
    assert_eq!(resemblance(&Sketch::of(&gbk), &Sketch::of(&gbk)), 1.0);
}

#[test]
fn any_bytes_have_a_bounded_sketch() {
    assert!(size_of::<u32>() * SKETCH_HASHES + size_of::<Sketch>() <= 512 + size_of::<Sketch>());
    let broken: Vec<&[u8]> = vec![
        b"",
        b"<",
        b"<!--",
        b"<script>",
        b"<script>a</scrip",
        b"&",
        b"&#",
        b"\xff",
        b"\xe4",
        b"\xe4\xb8",
        b"<style",
        b"a",
    ];
    for page in broken {
        assert!(Sketch::of(page).hashes.len() <= 1, "{page:?}");
    }
    let noise: Vec<u8> = (0..200_000_u32).map(|n| (mixed(u64::from(n)) >> 7) as u8).collect();
    assert!(Sketch::of(&noise).hashes.len() <= SKETCH_HASHES);
    assert!((resemblance(&Sketch::default(), &Sketch::default()) - 1.0).abs() < 1e-12);
    assert!(resemblance(&Sketch::default(), &Sketch::of(b"a b c d e")).abs() < 1e-12);
}
