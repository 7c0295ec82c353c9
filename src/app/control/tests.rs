//! Unit tests of `control`.

use super::*;
use crate::app::database::Database;
use crate::app::{Options, database_path};
use gleaner_base::clock::SystemClock;
use gleaner_crawl::visit::put_aside;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::{Lease, Outcome, UrlKey, Visit};

/// Both ends of a connection.
fn pair() -> (Remote, UnixStream) {
    let (asks, answers) = UnixStream::pair().unwrap();
    let stream = tokio::sync::Mutex::new(BufReader::new(asks));
    (Remote { path: "control.sock".into(), stream }, answers)
}

fn answering(db: MemoryStore) -> Answering {
    Answering { db: Arc::new(db), progress: None, clock: Arc::new(SystemClock), inside: None, backups: None }
}

#[test]
fn only_the_owner_and_root_may_have_something_done_and_only_by_a_service() {
    let own = rustix::process::geteuid().as_raw();
    for (peer, wanted) in [(own + 1_000, "only the owner"), (own, "no service holds"), (0, "no service holds")] {
        let refused = service_for(peer, None).map(drop).unwrap_err().to_string();
        assert!(refused.starts_with(wanted) && refused.contains("\nhint: "), "{refused}");
    }
}

#[tokio::test]
async fn a_note_crosses_the_socket_as_it_is() {
    let db = MemoryStore::new();
    let note: Vec<u8> = (0..limits::NOTE_BYTES_MAX).map(|at| (at * 7 % 256) as u8).collect();
    db.put_note("s", "shapes", note.clone()).await.unwrap();
    let (remote, answers) = pair();
    let task = tokio::spawn(converse(answers, answering(db)));
    assert!(remote.note("s", "shapes").await.unwrap() == Some(note));
    assert_eq!(remote.note("s", "none").await.unwrap(), None);
    drop(remote);
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn pages_that_were_not_read_whole_are_told_by_whoever_holds_the_folder() {
    let db = MemoryStore::new();
    let key = UrlKey { host: db.host_id("s", "http://a").await.unwrap(), path: "/list".into() };
    let (deadline, via, memo) = (UnixMillis(0), None, None);
    let lease = Lease { key, depth: 0, rank: 0, attempts: 0, via, memo, deadline, found: None, seq: 0 };
    let visit = put_aside(&lease, Outcome::Page, UnixMillis(7)).visit;
    db.record_visits(vec![Visit { not_whole: Some("why".into()), ..visit }].into()).await.unwrap();
    let known = db.not_whole("s").await.unwrap();
    let (remote, answers) = pair();
    let task = tokio::spawn(converse(answers, answering(db)));
    assert_eq!((known.len(), remote.not_whole("s").await.unwrap()), (1, known));
    assert_eq!(remote.site_counts("s").await.unwrap().pages_not_whole, 1);
    assert_eq!(remote.status().await.unwrap().sites[0].pages_not_whole, 1);
    drop(remote);
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_answer_that_is_cut_short_is_an_error() {
    let (remote, mut answers) = pair();
    answers.write_all(br#"{"ok":null}"#).await.unwrap();
    drop(answers.shutdown().await);
    let error = remote.note("s", "n").await.unwrap_err().to_string();
    assert!(error.contains("too long or was cut short"), "{error}");
}

#[tokio::test]
async fn a_process_that_was_killed_is_said_to_have_ended() {
    // It is gone before the request, or with the request unread.
    for reads in [false, true] {
        let (remote, answers) = pair();
        let asked = async { remote.note("s", "n").await.unwrap_err().to_string() };
        let killed = async {
            if reads {
                answers.readable().await.unwrap();
            }
            drop(answers);
        };
        let (_, error) = if reads { tokio::join!(killed, asked) } else { (killed.await, asked.await) };
        assert!(error.contains("has ended; run the command again"), "{error}");
    }
}

#[tokio::test]
async fn a_folder_whose_holder_has_just_ended_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    drop(RedbStore::open(&database_path(folder.path()), OpenOptions::default()).unwrap());
    // What a killed process leaves for a moment, in a child that it was about to start: a socket that takes a connection and never answers.
    let left = UnixListener::bind(socket_path(folder.path())).unwrap();
    let ends = async move { drop(left.accept().await.unwrap()) };
    let options = Options { data_dir: folder.path().to_owned(), ..Options::default() };
    let (_, opened) = tokio::join!(ends, Database::of(&options));
    assert!(matches!(opened.unwrap(), Some(Database::File(_))));
}
