//! Unit tests of `sessions`.

use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use super::*;
use gleaner_base::owner::{act, of_files};
use gleaner_login::tries::Ended;
use gleaner_login::verdict::Verdict;

#[test]
fn one_process_logs_in_at_a_time_and_what_it_learned_outlives_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = turn(folder.path(), "s").unwrap();
    assert!(first.is_some() && turn(folder.path(), "s").unwrap().is_none());
    assert!(turn(folder.path(), "other").unwrap().is_some());
    drop(first);
    assert!(turn(folder.path(), "s").unwrap().is_some());

    let mut refused = tries(folder.path(), "s").unwrap();
    let password = Secret::new("wrong");
    let ended = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };
    refused.ended(ended, "anna", &password, UnixMillis(1));
    save_tries(folder.path(), "s", &refused).unwrap();
    assert!(tries(folder.path(), "s").unwrap().refusal("anna", &password).is_some());
    fs::write(tries_folder(folder.path()).join("s.json"), "{").unwrap();
    assert!(tries(folder.path(), "s").unwrap_err().to_string().contains("not locked"));
}

#[test]
fn a_pipe_or_a_folder_in_the_place_of_a_file_is_told_and_waited_for_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let tries_of = tries_folder(folder.path());
    drop(turn(folder.path(), "s").unwrap());
    fs::remove_file(tries_of.join("s.lock")).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    for path in
        [file_of(folder.path(), "s"), tries_of.join("s.json"), tries_of.join("s.lock"), tries_of.join("s.rules")]
    {
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
    }
    for told in [
        load(folder.path(), "s", &Jar::default()).unwrap_err(),
        tries(folder.path(), "s").unwrap_err(),
        turn(folder.path(), "s").unwrap_err(),
    ] {
        assert!(told.to_string().contains("this is not a regular file\nhint: move it away"), "{told}");
    }
    assert!(noted_rules(folder.path()).is_empty() && !is_logging_in(folder.path(), "s"));
    fs::remove_file(tries_of.join("s.lock")).unwrap();
    fs::create_dir(tries_of.join("s.lock")).unwrap();
    let told = turn(folder.path(), "s").unwrap_err().to_string();
    assert!(told.contains("tries/s.lock: this is a folder\nhint: "), "{told}");

    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("sessions"), "mine").unwrap();
    for told in [
        load(other.path(), "s", &Jar::default()).unwrap_err(),
        tries(other.path(), "s").unwrap_err(),
        turn(other.path(), "s").unwrap_err(),
    ] {
        assert!(told.to_string().contains("/sessions: this is a file\nhint: move it away: a folder"), "{told}");
    }
}

#[test]
fn a_login_that_is_to_be_proven_waits_beside_the_tries_for_its_own_password_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (jar, password, other) = (Jar::default(), Secret::new("one"), Secret::new("two"));
    jar.import("h.example\tFALSE\t/\tFALSE\t0\tsid\tabc\n", |_| true).unwrap();
    save_unproven(folder.path(), "s", &jar).unwrap();
    let path = unproven_file(folder.path(), "s");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert!(!is_unproven(folder.path(), "s", "anna", &password), "no login has begun");
    let mut begun = tries(folder.path(), "s").unwrap();
    begun.begin("anna", &password);
    save_tries(folder.path(), "s", &begun).unwrap();
    let taken = Jar::default();
    assert!(!load_unproven(folder.path(), "s", "anna", &other, &taken).unwrap());
    assert!(load_unproven(folder.path(), "s", "anna", &password, &taken).unwrap());
    assert_eq!(taken.to_bytes(), jar.to_bytes());
    save(folder.path(), "s", &jar).unwrap();
    assert!(!path.exists(), "a session that is proven takes its place");
    save_unproven(folder.path(), "s", &jar).unwrap();
    assert!(forget(folder.path(), "s").unwrap() && !path.exists());
}

#[test]
fn a_session_comes_back_from_a_file_that_nobody_else_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let jar = Jar::default();
    jar.import("h.example\tFALSE\t/\tFALSE\t0\tsid\tabc\n", |_| true).unwrap();
    assert_eq!(load(folder.path(), "s", &Jar::default()).unwrap(), 0);
    let path = save(folder.path(), "s", &jar).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.mode() & 0o777, fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777), (0o600, 0o700));
    let again = Jar::default();
    assert_eq!(load(folder.path(), "s", &again).unwrap(), 1);
    assert_eq!(again.to_bytes(), jar.to_bytes());
    fs::write(&path, "{").unwrap();
    assert!(load(folder.path(), "s", &again).unwrap_err().to_string().contains("gleaner login s"));
    assert!(forget(folder.path(), "s").unwrap() && !forget(folder.path(), "s").unwrap());
}

#[test]
fn root_follows_no_link_of_the_service_to_where_the_service_may_not_go() {
    if of_files() != 0 {
        // Without root there is nothing to change: the user stays.
        let (folder, we) = (tempfile::tempdir().unwrap(), of_files());
        let _owner = act(folder.path());
        assert_eq!(of_files(), we);
        return;
    }
    const SERVICE: u32 = 4_321;
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (data, victim) = (place.path().join("data"), place.path().join("victim"));
    fs::create_dir_all(data.join("sessions")).unwrap();
    fs::write(&victim, "root's").unwrap();
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o644)).unwrap();
    for path in [&data, &data.join("sessions")] {
        chown(path, Some(SERVICE), Some(SERVICE)).unwrap();
    }
    let mode = || fs::metadata(&victim).unwrap().mode() & 0o777;
    symlink(&victim, data.join("sessions/s.json")).unwrap();
    {
        let _owner = act(&data);
        assert_eq!(of_files(), SERVICE);
        assert!(folder::keep_private(&data.join("sessions/s.json")).is_err());
        assert_eq!(fs::write(&victim, "x").unwrap_err().kind(), ErrorKind::PermissionDenied);
    }
    assert_eq!((of_files(), mode()), (0, 0o644));

    // Files that root writes belong to the service, and a symlink to a folder of root's is not followed.
    let tries = tries(&data, "s").unwrap();
    save_tries(&data, "s", &tries).unwrap();
    let made = fs::metadata(data.join("sessions/tries/s.json")).unwrap();
    assert_eq!((made.uid(), made.mode() & 0o777), (SERVICE, 0o600));
    fs::remove_dir_all(data.join("sessions/tries")).unwrap();
    let roots = place.path().join("roots");
    fs::create_dir(&roots).unwrap();
    symlink(&roots, data.join("sessions/tries")).unwrap();
    assert!(save_tries(&data, "s", &tries).is_err() && turn(&data, "s").is_err());
    assert!(fs::read_dir(&roots).unwrap().next().is_none());
}
