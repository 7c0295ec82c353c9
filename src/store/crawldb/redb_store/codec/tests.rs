//! Unit tests of `crawldb::redb_store::codec`.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn any_bytes_are_a_row_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = UrlRow::decode(&bytes);
        let _ = QueueRow::decode(&bytes);
        let _ = TorrentKept::decode(&bytes);
        let _ = MagnetKept::decode(&bytes);
        let _ = looks_from(&bytes);
        let _ = listing_position(&bytes);
        let _ = parked_position(&bytes);
        let _ = host_from(HostId(1), &bytes);
        let _ = super::super::not_whole::from_value(&bytes);
    }

    #[test]
    fn url_rows_come_back(
        seq in 0..U48_LAST, due in 0..U48_LAST, (later, queued) in any::<(bool, bool)>(),
        (memo, not_whole) in any::<(bool, bool)>(), token: Option<u64>,
        outcome in proptest::option::of(proptest::sample::select(&Outcome::ALL[..])),
        (rank, attempts, depth) in any::<(u8, u8, u16)>(), first in 0..U48_LAST, visited in 1..U48_LAST,
    ) {
        let row = UrlRow {
            place: queued.then_some(QueuePosition { seq, due: UnixMillis(due), later }),
            parked: token.filter(|_| !queued),
            outcome, rank, attempts, depth, memo, not_whole,
            first_seen: UnixMillis(first),
            visited: UnixMillis(if outcome.is_some() { visited } else { 0 }),
        };
        prop_assert_eq!(UrlRow::decode(row.encode().as_slice()), Some(row));
    }

    #[test]
    fn listing_keys_sort_as_their_triples(
        a in ("[\\x00/a?]{0,6}", any::<u64>()), b in ("[\\x00/a?]{0,6}", any::<u64>()),
    ) {
        let key = |(series, page): &(String, u64)| listing_key(HostId(7), series, *page);
        prop_assert_eq!(key(&a).cmp(&key(&b)), a.cmp(&b));
        prop_assert_eq!(listing_position(&key(&a)), Some((a.0.as_str().into(), a.1)));
    }
}

#[test]
fn a_first_visit_keeps_the_length_of_the_value() {
    let mut row = UrlRow {
        place: Some(QueuePosition { seq: 5, due: UnixMillis(0), later: false }),
        parked: None,
        outcome: None,
        rank: 1,
        attempts: 0,
        depth: 2,
        first_seen: UnixMillis(3),
        visited: UnixMillis(0),
        memo: false,
        not_whole: false,
    };
    let before = row.encode().as_slice().len();
    row = UrlRow { place: None, outcome: Some(Outcome::Page), visited: UnixMillis(9), ..row };
    assert_eq!(row.encode().as_slice().len(), before);
    assert!(before <= 24);
}
