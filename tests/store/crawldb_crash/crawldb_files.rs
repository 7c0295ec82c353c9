//! Files of other owners, other schemas, other programs, and damaged ones.

use super::*;

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/crawl.redb");
    (folder, path)
}

#[test]
fn a_folder_is_for_its_owner_and_a_file_for_the_group_that_the_folder_admits() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = file();
    drop(RedbStore::open(&path, OPTIONS).unwrap());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o640, 0o700));
}

#[test]
fn a_second_opener_is_refused_until_the_first_is_gone() {
    let (_folder, path) = file();
    let first = RedbStore::open(&path, OPTIONS).unwrap();
    let error = RedbStore::open(&path, OPTIONS).err().unwrap();
    assert!(matches!(&error, CrawlDbError::Held { path: held } if *held == path), "{error}");
    run(crawl(&first)).map_err(|(_, error)| error).unwrap();
    drop(first);
    run(check(&RedbStore::open(&path, OPTIONS).unwrap(), BATCHES));
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let (_folder, path) = file();
    drop(RedbStore::open(&path, OPTIONS).unwrap());
    let set_schema = |schema: u64| {
        let db = redb::Database::open(&path).unwrap();
        let txn = db.begin_write().unwrap();
        let meta = redb::TableDefinition::<&str, u64>::new("meta");
        let before = txn.open_table(meta).unwrap().insert("schema", schema).unwrap().map(|before| before.value());
        txn.commit().unwrap();
        before
    };
    assert_eq!(set_schema(6), Some(5));
    let error = RedbStore::open(&path, OPTIONS).err().unwrap();
    assert!(matches!(error, CrawlDbError::NewerSchema { found: 6, known: 5, .. }), "{error}");
    assert_eq!(set_schema(5), Some(6));
    RedbStore::open(&path, OPTIONS).unwrap();
}

#[test]
fn a_database_of_schema_2_is_taken_over_and_a_reason_is_kept_by_whoever_opens_it_next() {
    let (_folder, path) = file();
    let (first, second) = (visit(0), visit(1));
    let whole = Visit { not_whole: None, ..first.clone() };
    run(async {
        let db = RedbStore::open(&path, OPTIONS).unwrap();
        db.host_id("s", "http://a").await.unwrap();
        db.record_visits(vec![whole].into()).await.unwrap();
    });
    // Only what schema 2 had.
    let db = redb::Database::open(&path).unwrap();
    let txn = db.begin_write().unwrap();
    txn.open_table(redb::TableDefinition::<&str, u64>::new("meta")).unwrap().insert("schema", 2).unwrap();
    assert!(txn.delete_table(redb::TableDefinition::<&[u8], &[u8]>::new("not_whole")).unwrap());
    txn.commit().unwrap();
    drop(db);

    run(async {
        let read = RedbStore::read_only(&path, OPTIONS).unwrap();
        assert!(read.not_whole("s").await.unwrap().is_empty() && read.site_counts("s").await.unwrap().torrents == 1);
        drop(read);
        let db = RedbStore::open(&path, OPTIONS).unwrap();
        assert_eq!(db.site_counts("s").await.unwrap().pages_not_whole, 0);
        db.record_visits(vec![second, Visit { at: UnixMillis(50), ..first }].into()).await.unwrap();
    });
    run(async {
        let db = RedbStore::open(&path, OPTIONS).unwrap();
        let rows = db.not_whole("s").await.unwrap();
        let told: Vec<_> = rows.iter().map(|row| (&*row.url, row.reason.clone(), row.at.0)).collect();
        assert_eq!(told, [("http://a/0", memo(0), 50), ("http://a/1", memo(1), 2)]);
        assert_eq!(db.site_counts("s").await.unwrap().pages_not_whole, 2);
    });
}

#[test]
fn a_database_of_schema_4_takes_labels_and_gives_them_to_what_it_had() {
    let (_folder, path) = file();
    run(async {
        let db = RedbStore::open(&path, OPTIONS).unwrap();
        db.host_id("s", "http://a").await.unwrap();
        db.record_visits(vec![visit(0)].into()).await.unwrap();
    });
    // Only what schema 4 had.
    let db = redb::Database::open(&path).unwrap();
    let txn = db.begin_write().unwrap();
    txn.open_table(redb::TableDefinition::<&str, u64>::new("meta")).unwrap().insert("schema", 4).unwrap();
    assert!(txn.delete_table(redb::TableDefinition::<u32, (&str, &str)>::new("labels")).unwrap());
    assert!(txn.delete_table(redb::TableDefinition::<&[u8; 12], u32>::new("url_labels")).unwrap());
    txn.commit().unwrap();
    drop(db);
    run(async {
        let db = RedbStore::open(&path, OPTIONS).unwrap();
        assert_eq!(db.torrents(None, 9).await.unwrap()[0].sources[0].label, None);
        let labels = vec![UrlLabel { key: key("/0".into()), text: "1_2".into(), is_own: false }];
        let list = Visit { labels, torrent: None, ..visit(7) };
        db.record_visits(vec![list].into()).await.unwrap();
    });
    run(async {
        let db = RedbStore::open(&path, OPTIONS).unwrap();
        let rows = db.torrents(None, 9).await.unwrap();
        assert_eq!(rows[0].sources[0].label.as_ref().map(|label| &*label.text), Some("1_2"));
        let labels = db.labels().await.unwrap();
        assert_eq!((labels.rows.len(), labels.relabelled), (1, 1), "it was visited before");
    });
}

#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    let (_folder, path) = file();
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    let text = b"dear diary, ".repeat(1_000);
    std::fs::write(&path, &text).unwrap();
    let error = RedbStore::open(&path, OPTIONS).err().unwrap();
    assert!(matches!(error, CrawlDbError::Corrupt { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), text);
    std::fs::remove_file(&path).unwrap();
    let other = redb::Database::create(&path).unwrap();
    let txn = other.begin_write().unwrap();
    txn.open_table(redb::TableDefinition::<u64, u64>::new("other")).unwrap();
    txn.commit().unwrap();
    drop(other);
    let error = RedbStore::open(&path, OPTIONS).err().unwrap();
    assert!(matches!(error, CrawlDbError::Corrupt { .. }), "{error}");
}

/// Opens a damaged file and reads everything: a result or an error, but no panic.
fn use_damaged(path: &Path) -> Result<(), CrawlDbError> {
    let db = RedbStore::open(path, OPTIONS)?;
    run(async {
        for batch in 0..BATCHES {
            db.url_record(&key(format!("/{batch}"))).await?;
        }
        db.torrents(None, 100).await?;
        db.queued(HostId(0), 1_000).await?;
        crawl(&db).await.map_err(|(_, error)| error)?;
        Ok(())
    })
}

#[test]
fn a_truncated_file_is_an_error() {
    let (_folder, path) = file();
    run(crawl(&RedbStore::open(&path, OPTIONS).unwrap())).map_err(|(_, error)| error).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for length in [1, 64, 320, 4_096, whole.len() / 2, whole.len() - 4_096] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = use_damaged(&path).err().unwrap_or_else(|| panic!("{length} of {} bytes pass", whole.len()));
        assert!(matches!(error, CrawlDbError::Corrupt { .. } | CrawlDbError::Storage { .. }), "{error}");
    }
    std::fs::write(&path, &whole).unwrap();
    use_damaged(&path).unwrap();
}

#[test]
fn random_damage_never_panics() {
    let (_folder, path) = file();
    run(crawl(&RedbStore::open(&path, OPTIONS).unwrap())).map_err(|(_, error)| error).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut told = 0;
    for _ in 0..60 {
        let mut damaged = whole.clone();
        for _ in 0..64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let at = random as usize % damaged.len();
            let end = damaged.len().min(at + 64);
            damaged[at..end].fill((random >> 40) as u8);
        }
        std::fs::write(&path, &damaged).unwrap();
        told += u32::from(use_damaged(&path).is_err());
    }
    assert!(told > 0, "damage is noticed at least where it is met");
}
