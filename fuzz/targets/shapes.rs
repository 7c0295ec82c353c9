//! The statistics of URL shapes, which are stored as a note.

use gleaner_frontier::budgets::{Shapes, Yield};
use gleaner_frontier::limits::NOTE_BYTES_MAX;
use gleaner_rules::Class;

/// For any note, the parsed statistics are usable: they answer, count, can be listed, and are written as a note that
/// parses to the same. A zero byte separates the note from the queried paths.
pub fn shapes(input: &[u8]) {
    let (note, paths) = input.split_at(input.iter().position(|&byte| byte == 0).unwrap_or(input.len()));
    let (mut shapes, _) = Shapes::from_bytes(note, 50);
    for path in paths.split(|&byte| byte == 0).skip(1) {
        let path = format!("/{}", String::from_utf8_lossy(path));
        let class = Class::ALL[path.len() % Class::ALL.len()];
        shapes.ask(&path, class);
        let torrents = u32::from(path.ends_with('t'));
        shapes.fetched(&path, class, &Yield { torrents, ..Yield::default() }, Some(("/list?page=1", Class::Index)));
    }
    assert!(shapes.cuts().iter().all(|cut| !cut.shape.is_empty()));
    let written = shapes.to_bytes();
    assert!(written.len() <= NOTE_BYTES_MAX, "a note of {} bytes", written.len());
    let (mut again, fault) = Shapes::from_bytes(&written, 50);
    assert_eq!(fault, None, "{}", String::from_utf8_lossy(&written));
    assert_eq!(again.to_bytes(), written);
}
