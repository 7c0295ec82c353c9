//! Unit tests of `export`.

use super::*;
use gleaner_store::export::{LeftOut, LeftOutTorrent};

#[test]
fn since_takes_days_and_moments() {
    assert_eq!(since("1970-01-02").unwrap(), UnixMillis(86_400_000));
    assert_eq!(since("1970-01-01T01:00:00+01:00").unwrap(), UnixMillis(0));
    for wrong in ["yesterday", "2026-13-01", "2026-11-21 08:30", "1969-12-31", ""] {
        assert!(since(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn torrents_left_out_are_named_with_what_to_do() {
    let torrent = LeftOutTorrent {
        infohash: "ab".repeat(20),
        name: "evil\u{1b}[31m".to_owned(),
        file: "x".into(),
        reason: "its file is lost".to_owned(),
    };
    let mut summary = ExportSummary {
        dest: "out.zip".into(),
        format: ExportFormat::Zip,
        layout: Layout::Flat,
        torrents: 2,
        torrent_bytes: 10,
        magnets: 1,
        dest_bytes: Some(99),
        unchanged: 0,
        removed: 0,
        private_left_out: 0,
        keys: Vec::new(),
        magnet_keys: Vec::new(),
        left_out: LeftOut { count: 3, listed: vec![torrent] },
    };
    let text = |summary: &ExportSummary| {
        let mut out = Vec::new();
        tell(summary, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let told = text(&summary);
    assert!(told.starts_with("out.zip: 2 torrents (10 bytes), 1 magnets; 99 bytes in all\nleft out: 3\n"), "{told}");
    assert!(
        told.contains("… and 2 more") && told.contains("hint: gleaner verify --repair") && !told.contains('\u{1b}')
    );
    summary.left_out = LeftOut::default();
    assert_eq!(text(&summary).lines().count(), 1);
}
