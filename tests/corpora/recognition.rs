//! Compares recognition with libtorrent, on torrents from its later versions.

use crate::corpus;

#[path = "../page/libtorrent/verdicts.rs"]
mod verdicts;

use verdicts::{assert_same_verdicts, bodies};

#[test]
fn torrents_have_libtorrents_verdict() {
    let torrents = bodies(&corpus("torrents/libtorrent"));
    assert!(torrents.len() > 40, "{} torrents", torrents.len());
    assert_same_verdicts(&torrents);
}
