//! A database in the layout of schema 1, written byte by byte: as on disks before memos, notes and complaints.

use redb::{Database, StorageBackend, TableDefinition};

type Bytes = &'static [u8];

fn u48(value: u64) -> [u8; 6] {
    let [a, b, c, d, e, f, _, _] = value.to_le_bytes();
    [a, b, c, d, e, f]
}

fn u48_key(value: u64) -> [u8; 6] {
    let mut bytes = u48(value);
    bytes.reverse();
    bytes
}

fn counted(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

/// `[flags, outcome, rank, attempts]`, depth 1, first seen at 10, slot, more.
fn url(head: [u8; 4], slot: u64, more: &[u8]) -> Vec<u8> {
    [&head[..], &[1, 0], &u48(10), &u48(slot), more].concat()
}

/// `[flags, rank, attempts]`, depth 1, due, path, via.
fn queued(head: [u8; 3], due: &[u8], path: &str, via: &str) -> Vec<u8> {
    [&head[..], &[1, 0], due, &(path.len() as u16).to_le_bytes(), path.as_bytes(), via.as_bytes()].concat()
}

/// Site `s` with host 0, `http://a`, which is blocked until 5,000: `/done` was visited at 20, `/queued` is due at once,
/// `/later` was throttled at 30 and waits for 100, `/parked` was refused at 40 under token 7.
pub fn write_schema_1(backend: impl StorageBackend) {
    let host = [0; 4];
    let db = Database::builder().create_with_backend(backend).unwrap();
    let txn = db.begin_write().unwrap();
    {
        let mut meta = txn.open_table(TableDefinition::<&str, u64>::new("meta")).unwrap();
        meta.insert("schema", 1).unwrap();
        meta.insert("next_seq", 4).unwrap();
        let row = [&u48(5_000)[..], &counted("s"), &counted("http://a"), &counted("429")].concat();
        let mut hosts = txn.open_table(TableDefinition::<u32, Bytes>::new("hosts")).unwrap();
        hosts.insert(0, row.as_slice()).unwrap();
        let mut counts = txn.open_table(TableDefinition::<Bytes, u64>::new("counts")).unwrap();
        for (counter, count) in [(3, 1), (24, 1), (31, 1), (65, 4), (66, 2)] {
            counts.insert(&[b's', counter][..], count).unwrap();
        }
        let mut urls = txn.open_table(TableDefinition::<Bytes, Bytes>::new("urls")).unwrap();
        for (path, row) in [
            ("/done", url([4, 3, 1, 0], 20, &[])),
            ("/queued", url([1, 0, 2, 0], 1, &[])),
            ("/later", url([15, 24, 1, 1], 2, &[u48(30), u48(100)].concat())),
            ("/parked", url([20, 31, 3, 0], 40, &7_u64.to_le_bytes())),
        ] {
            urls.insert([&host[..], path.as_bytes()].concat().as_slice(), row.as_slice()).unwrap();
        }
        let mut queue = txn.open_table(TableDefinition::<&[u8; 11], Bytes>::new("queue")).unwrap();
        let key = [&host[..], &[2], &u48_key(1)].concat();
        let row = queued([1, 2, 0], &[], "/queued", "http://a/list");
        queue.insert(<&[u8; 11]>::try_from(&key[..]).unwrap(), row.as_slice()).unwrap();
        let mut later = txn.open_table(TableDefinition::<&[u8; 16], Bytes>::new("later")).unwrap();
        let key = [&host[..], &u48_key(100), &u48_key(2)].concat();
        let row = queued([2, 1, 1], &u48(100), "/later", "");
        later.insert(<&[u8; 16]>::try_from(&key[..]).unwrap(), row.as_slice()).unwrap();
        let mut parked = txn.open_table(TableDefinition::<Bytes, Bytes>::new("parked")).unwrap();
        let key = [&host[..], &7_u64.to_be_bytes(), b"/parked"].concat();
        parked.insert(key.as_slice(), queued([0, 3, 0], &[], "", "").as_slice()).unwrap();
        for name in ["torrents", "infohashes", "magnets", "magnet_hashes", "listings"] {
            txn.open_table(TableDefinition::<Bytes, Bytes>::new(name)).unwrap();
        }
        txn.open_table(TableDefinition::<&[u8; 12], u64>::new("bodies")).unwrap();
    }
    txn.commit().unwrap();
}
