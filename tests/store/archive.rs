//! The archive on a real disk: its guarantees when processes die, disks fill up and folders are read-only.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use gleaner_torrent::Infohashes;
use gleaner_torrent::archive::{Archive, ArchiveError, key_of_name, name_of_key, shard_name};

fn v1(number: u64) -> Infohashes {
    let mut key = [0; 20];
    key[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    Infohashes { v1: Some(key), v2: None }
}

/// A body determined by its number, of 1 to 20 kB.
fn body(number: u64) -> Vec<u8> {
    number.to_be_bytes().repeat(125 + (number % 19) as usize * 125)
}

fn store(archive: &Archive, numbers: std::ops::Range<u64>) -> Result<(), ArchiveError> {
    let bodies: Vec<_> = numbers.map(|number| (v1(number), body(number))).collect();
    let batch: Vec<_> = bodies.iter().map(|(name, body)| (*name, &body[..])).collect();
    archive.store_batch(&batch)
}

fn read(archive: &Archive, number: u64) -> Vec<u8> {
    fs::read(archive.path_of(&v1(number))).unwrap()
}

/// The files with their final names.
fn names(archive: &Archive) -> Vec<PathBuf> {
    let shards = (0..=u8::MAX).filter_map(|shard| fs::read_dir(archive.dir().join(shard_name(shard))).ok());
    shards.flatten().map(|entry| entry.unwrap().path()).collect()
}

fn temporary_files(dir: &Path) -> usize {
    fs::read_dir(dir.join(".tmp")).map_or(0, Iterator::count)
}

#[test]
fn what_was_stored_is_read_back_whatever_the_size_of_the_batch() {
    for sync in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path().join("deep/archive"), sync).unwrap();
        for numbers in [0..0, 0..1, 1..2, 2..4, 4..7, 7..300] {
            store(&archive, numbers).unwrap();
        }
        let reopened = Archive::open(archive.dir(), sync).unwrap();
        for number in 0..300 {
            assert_eq!(read(&reopened, number), body(number));
            assert!(reopened.contains(&v1(number)));
        }
        assert!(!reopened.contains(&v1(300)));
        assert_eq!(temporary_files(archive.dir()), 0);
    }
}

#[test]
fn files_are_named_by_v1_where_there_is_one_and_else_by_v2() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), false).unwrap();
    let named = |v1, v2| archive.path_of(&Infohashes { v1, v2 }).strip_prefix(archive.dir()).unwrap().to_owned();
    let short = PathBuf::from(format!("ab/{}.torrent", "ab".repeat(20)));
    assert_eq!(named(Some([0xab; 20]), None), short);
    assert_eq!(named(Some([0xab; 20]), Some([0xcd; 32])), short);
    assert_eq!(named(None, Some([0xcd; 32])), PathBuf::from(format!("cd/{}.torrent", "cd".repeat(32))));
    let nameless = Infohashes { v1: None, v2: None };
    assert!(matches!(archive.store_batch(&[(nameless, b"x")]), Err(ArchiveError::Nameless { .. })));
}

#[test]
fn an_equal_file_is_left_alone_and_a_different_one_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), true).unwrap();
    store(&archive, 0..20).unwrap();
    let inode = |number| fs::metadata(archive.path_of(&v1(number))).unwrap().ino();
    let before: Vec<u64> = (0..20).map(inode).collect();
    // One torn as no crash can tear it, one of the right length with other content.
    fs::write(archive.path_of(&v1(3)), b"").unwrap();
    fs::write(archive.path_of(&v1(4)), vec![0; body(4).len()]).unwrap();
    store(&archive, 0..20).unwrap();
    store(&archive, 5..6).unwrap();
    for number in 0..20 {
        assert_eq!(read(&archive, number), body(number));
        assert_eq!(inode(number) == before[number as usize], !matches!(number, 3 | 4), "{number}");
    }
}

#[test]
fn of_one_torrent_twice_in_a_batch_the_first_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), true).unwrap();
    archive.store_batch(&[(v1(1), b"first"), (v1(1), b"second")]).unwrap();
    assert_eq!(read(&archive, 1), b"first");
    assert_eq!((names(&archive).len(), temporary_files(folder.path())), (1, 0));
}

#[test]
fn names_tell_their_keys_and_nothing_else_is_one() {
    for key in [vec![0x77; 20], vec![0x77; 32]] {
        let name = name_of_key(&key);
        let (shard, file) = name.split_once('/').unwrap();
        assert_eq!(shard, shard_name(0x77));
        assert_eq!(key_of_name(file, 0x77), Some(key));
        assert_eq!(key_of_name(file, 0x78), None, "in another folder");
        assert_eq!(key_of_name(&file.to_uppercase(), 0x77), None);
    }
    for stray in ["notes.txt", "7777.torrent", ".torrent", ""] {
        assert_eq!(key_of_name(stray, 0x77), None, "{stray}");
    }
}

#[test]
fn a_folder_taken_away_under_the_archive_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), true).unwrap();
    store(&archive, 0..2).unwrap();
    fs::remove_dir_all(archive.path_of(&v1(1)).parent().unwrap()).unwrap();
    store(&archive, 0..2).unwrap();
    assert_eq!(read(&archive, 1), body(1));
}

#[test]
fn opening_sweeps_what_a_crash_left_but_not_under_a_living_writer() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), true).unwrap();
    store(&archive, 0..1).unwrap();
    let left = folder.path().join(".tmp/1-1");
    fs::write(&left, b"half a torr").unwrap();
    drop(Archive::open(folder.path(), true).unwrap());
    assert!(left.exists(), "a second opener has swept under the first");
    drop(archive);
    // A process that another test of this program starts also holds the lock, from its fork to its exec.
    let opened = (0..100).map(|_| Archive::open(folder.path(), true).unwrap());
    let archive = opened.inspect(|_| thread::sleep(Duration::from_millis(20))).find(|_| !left.exists());
    store(&archive.expect("no opening has swept"), 1..3).unwrap();
}

#[test]
fn nothing_below_the_archive_leads_out_of_it() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (dir, outside) = (folder.path().join("archive"), folder.path().join("outside"));
    fs::create_dir_all(&dir).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("precious"), b"x").unwrap();
    symlink(&outside, dir.join(".tmp")).unwrap();
    let archive = Archive::open(&dir, true).unwrap();
    assert!(outside.join("precious").exists(), "the sweep followed a link");
    assert!(store(&archive, 0..1).unwrap_err().to_string().contains(".tmp"));
    fs::remove_file(dir.join(".tmp")).unwrap();

    let shard = archive.path_of(&v1(0)).parent().unwrap().to_owned();
    symlink(&outside, &shard).unwrap();
    assert!(store(&archive, 0..1).unwrap_err().to_string().contains("rename"));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "a torrent was stored elsewhere");
    fs::remove_file(&shard).unwrap();

    // A link, or a pipe, in place of a file: it is replaced, and not read.
    store(&archive, 0..1).unwrap();
    let file = archive.path_of(&v1(0));
    fs::remove_file(&file).unwrap();
    fs::write(outside.join("same"), body(0)).unwrap();
    symlink(outside.join("same"), &file).unwrap();
    store(&archive, 0..1).unwrap();
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
    fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    store(&archive, 0..1).unwrap();
    assert_eq!(read(&archive, 0), body(0));
}

#[test]
fn a_folder_that_is_a_file_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    fs::write(&path, b"").unwrap();
    let error = Archive::open(&path, true).unwrap_err().to_string();
    assert!(error.contains(path.to_str().unwrap()), "{error}");
}

/// Runs one test of this binary again as a child, marked by a variable.
fn again(program: &str, arguments: &[&str], test: &str, variable: &str, value: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(variable, value);
    command
}

#[test]
fn a_full_disk_damages_nothing_and_a_read_only_one_can_be_read() {
    const INSIDE: &str = "GLEANER_TEST_SMALL_DISK";
    if let Some(dir) = std::env::var_os(INSIDE) {
        return on_a_small_disk(Path::new(&dir));
    }
    // A private file system, in a mount namespace.
    let folder = tempfile::tempdir().unwrap();
    let script = format!("mount -t tmpfs -o size=512k,mode=755 gleaner \"${INSIDE}\" && exec \"$@\"");
    let arguments = ["--mount", "--user", "--map-root-user", "sh", "-c", &script, "sh"];
    let test = "archive::a_full_disk_damages_nothing_and_a_read_only_one_can_be_read";
    let output = again("unshare", &arguments, test, INSIDE, folder.path()).output().expect("util-linux's unshare");
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"),
        "{}{}\nhint: this test mounts a tmpfs in a user namespace; allow it with \
         `sysctl kernel.unprivileged_userns_clone=1`, or run as root",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn on_a_small_disk(dir: &Path) {
    let archive = Archive::open(dir.join("archive"), true).unwrap();
    store(&archive, 0..10).unwrap();
    let filler = dir.join("filler");
    let mut hog = fs::File::create(&filler).unwrap();
    while hog.write_all(&[1; 4_096]).is_ok() {}

    for numbers in [10..11, 10..40] {
        let error = store(&archive, numbers.clone()).unwrap_err();
        assert!(error.is_full(), "{error}");
        assert!(error.to_string().contains("the disk is full\nhint: make room on the disk"), "{error}");
        assert_eq!(temporary_files(archive.dir()), 0, "temporary files keep the disk full");
    }
    for number in 0..10 {
        assert_eq!(read(&archive, number), body(number));
    }
    drop(hog);
    fs::remove_file(&filler).unwrap();
    store(&archive, 10..40).unwrap();
    drop(archive);

    let status = Command::new("mount").args(["-o", "remount,ro"]).arg(dir).status().unwrap();
    assert!(status.success());
    let archive = Archive::open(dir.join("archive"), true).unwrap();
    assert_eq!(names(&archive).len(), 40);
    assert_eq!(read(&archive, 39), body(39));
    let error = store(&archive, 40..41).unwrap_err();
    assert!(matches!(error, ArchiveError::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("make the folder writable"), "{error}");
    assert!(matches!(Archive::open(dir.join("another"), true), Err(ArchiveError::ReadOnly { .. })));
}

#[test]
fn after_a_kill_every_file_is_whole_and_everything_reported_is_there() {
    const INSIDE: &str = "GLEANER_TEST_KILLED_WRITER";
    if let Some(dir) = std::env::var_os(INSIDE) {
        return store_for_ever(Path::new(&dir));
    }
    let folder = tempfile::tempdir().unwrap();
    let test = "archive::after_a_kill_every_file_is_whole_and_everything_reported_is_there";
    let mut reported = 0;
    for round in 0..12_u64 {
        let mut child = again("env", &[], test, INSIDE, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let enough = round % 4 + 1;
        let mut batches = 0;
        for line in lines.map_while(Result::ok) {
            let Some(number) = line.strip_prefix("stored ") else {
                continue;
            };
            reported = reported.max(number.parse().unwrap());
            batches += 1;
            if batches == enough {
                // During the next batch, at a different point each time.
                std::thread::sleep(std::time::Duration::from_micros(round * 1_700));
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(batches >= enough, "the writer died by itself");

        let archive = Archive::open(folder.path(), true).unwrap();
        assert_eq!(temporary_files(folder.path()), 0);
        for number in 0..reported {
            assert_eq!(read(&archive, number), body(number), "round {round}");
        }
        for path in names(&archive) {
            let there = fs::read(path).unwrap();
            let number = u64::from_be_bytes(there[..8].try_into().unwrap());
            assert_eq!(there, body(number), "round {round}: a file with a name is not whole");
        }
    }
    assert!(reported > 0);
}

/// Stores batches of 1 to 64 files from the first absent number on, and reports each.
fn store_for_ever(dir: &Path) {
    let archive = Archive::open(dir, true).unwrap();
    let mut number = (0..).find(|number| !archive.contains(&v1(*number))).unwrap();
    for size in [1, 64, 3, 17].into_iter().cycle() {
        store(&archive, number..number + size).unwrap();
        number += size;
        println!("\nstored {number}");
    }
}

#[test]
fn folders_made_at_the_opening_are_synced_into_those_above() {
    const INSIDE: &str = "GLEANER_TEST_TRACED_OPENER";
    if let Some(dir) = std::env::var_os(INSIDE) {
        drop(Archive::open(Path::new(&dir), true).unwrap());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let arguments = ["-f", "-y", "-e", "trace=fsync", "-o", trace.to_str().unwrap()];
    let test = "archive::folders_made_at_the_opening_are_synced_into_those_above";
    let archive = folder.path().join("new/archive");
    let output = again("strace", &arguments, test, INSIDE, &archive).output().expect("apt-get install strace");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = fs::read_to_string(trace).unwrap();
    for above in [folder.path().to_owned(), folder.path().join("new")] {
        assert!(trace.contains(&format!("<{}>)", above.display())), "{} is not synced:\n{trace}", above.display());
    }
}

#[test]
fn contents_are_synced_before_their_names_and_names_before_the_return() {
    const INSIDE: &str = "GLEANER_TEST_TRACED_WRITER";
    if let Some(dir) = std::env::var_os(INSIDE) {
        let archive = Archive::open(Path::new(&dir), true).unwrap();
        // One file, a batch, and files that already exist, as a process that died may have left them.
        for numbers in [30..31, 0..1, 1..30, 0..1, 1..30] {
            store(&archive, numbers).unwrap();
            println!("\nstored");
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let calls = "trace=write,fsync,syncfs,mkdirat,renameat,renameat2";
    let arguments = ["-f", "-y", "-s", "64", "-e", calls, "-o", trace.to_str().unwrap()];
    let test = "archive::contents_are_synced_before_their_names_and_names_before_the_return";
    // A file whose folder no fsync has made durable: left by a process that was killed after the rename.
    let archive = folder.path().join("new/archive");
    store(&Archive::open(&archive, false).unwrap(), 30..31).unwrap();
    let output = again("strace", &arguments, test, INSIDE, &archive).output().expect("apt-get install strace");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let (mut unsynced, mut unsynced_names, mut renames, mut returns) = (HashSet::new(), HashSet::new(), 0, 0);
    unsynced_names.insert("archive".to_owned());
    for line in fs::read_to_string(trace).unwrap().lines() {
        // `123 write(5</path/.tmp/9-1>, …) = 8000`: -y prints the file of each descriptor.
        let path = line.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or("", |(path, _)| path);
        if line.contains("\\nstored") {
            assert!(unsynced_names.is_empty(), "returned before {unsynced_names:?} was synced");
            returns += 1;
        } else if line.contains(" write(") && path.contains("/.tmp/") {
            unsynced.insert(path.rsplit('/').next().unwrap().to_owned());
        } else if line.contains(" syncfs(") {
            unsynced.clear();
            unsynced_names.clear();
        } else if line.contains(" fsync(") {
            unsynced.remove(path.rsplit('/').next().unwrap());
            unsynced_names.remove(path.rsplit('/').next().unwrap());
        } else if line.contains(" mkdirat(") && line.ends_with("= 0") && !line.contains(".tmp") {
            unsynced_names.insert(path.rsplit('/').next().unwrap().to_owned());
        } else if line.contains(" renameat") {
            let from = line.split('"').nth(1).unwrap();
            assert!(!unsynced.contains(from), "{from} was given its name before it was synced");
            // `renameat(5</path/.tmp>, "9-1", 7</path/ab>, "ab….torrent") = 0`
            let to = line.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or("", |(path, _)| path);
            unsynced_names.insert(to.rsplit('/').next().unwrap().to_owned());
            renames += 1;
        }
    }
    assert_eq!((renames, returns), (30, 5));
}
