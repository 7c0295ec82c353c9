//! Unit tests of `export::zip_file`.

use std::io::Cursor;

use super::*;

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn sample() -> Vec<u8> {
    let mut zip = ZipFile::new(Cursor::new(Vec::new()), Vec::new());
    zip.put_stored("a/ü.torrent", 5, crc(b"12345"), &mut &b"12345"[..]).unwrap();
    zip.put_stored("empty", 0, 0, &mut io::empty()).unwrap();
    zip.put_deflated("manifest.jsonl", &mut &[b'x'; 100_000][..]).unwrap();
    let (out, directory, end) = zip.into_parts();
    let mut bytes = out.into_inner();
    finish(&mut bytes, &mut &directory[..], end).unwrap();
    bytes
}

#[test]
fn another_implementation_reads_what_is_written() {
    let mut archive = zip::ZipArchive::new(Cursor::new(sample())).unwrap();
    assert_eq!(archive.len(), 3);
    for (name, expected) in
        [("a/ü.torrent", b"12345".to_vec()), ("empty", vec![]), ("manifest.jsonl", vec![b'x'; 100_000])]
    {
        let mut entry = archive.by_name(name).unwrap();
        assert_eq!(entry.unix_mode(), Some(UNIX_MODE));
        let mut body = Vec::new();
        // The reader checks the CRC at the end of the body.
        entry.read_to_end(&mut body).unwrap();
        assert!(body == expected, "{name}");
    }
    assert!(archive.by_name("manifest.jsonl").unwrap().compressed_size() < 1_000);
}

#[test]
fn the_same_entries_give_the_same_bytes() {
    assert_eq!(sample(), sample());
}

#[test]
fn a_body_that_changed_is_refused() {
    let mut zip = ZipFile::new(Cursor::new(Vec::new()), Vec::new());
    let sum = crc(b"12345");
    assert!(zip.put_stored("x", 5, sum, &mut &b"1234"[..]).is_err());
    assert!(zip.put_stored("x", 5, sum, &mut &b"12346"[..]).is_err());
}
