//! Unit tests of `secrets`.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn what_is_no_file_is_told_at_once_and_no_pipe_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = file_of(folder.path(), "s");
    let told = || password(folder.path(), "s").unwrap_err().to_string();
    fs::write(file.parent().unwrap(), "").unwrap();
    assert!(told().contains("/secrets: this is a file\nhint: move it away: a folder"), "{}", told());
    fs::remove_file(file.parent().unwrap()).unwrap();
    fs::create_dir(file.parent().unwrap()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    assert!(told().contains("/secrets/s: this is not a regular file\nhint: "), "{}", told());
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("nowhere", &file).unwrap();
    assert!(told().contains("/secrets/s: this is a dangling symbolic link\nhint: remove it"), "{}", told());
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(told().contains("/secrets/s: this is a folder\nhint: "), "{}", told());
}

#[test]
fn a_password_is_read_from_a_file_that_nobody_else_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = file_of(folder.path(), "a.site");
    assert!(matches!(password(folder.path(), "a.site"), Err(SecretError::Absent { .. })));
    fs::create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, "geheim ü\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(password(folder.path(), "a.site"), Err(SecretError::Readable { .. })));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(password(folder.path(), "a.site").unwrap().reveal(), "geheim ü");
    for (bytes, is_empty) in [(&b"\n"[..], true), (b"\xff", false), (&[b'x'; SECRET_BYTES_MAX + 1][..], false)] {
        fs::write(&file, bytes).unwrap();
        let error = password(folder.path(), "a.site").unwrap_err();
        assert_eq!(matches!(error, SecretError::Empty { .. }), is_empty, "{error}");
        assert!(!error.to_string().contains("xxx"), "{error}");
    }
    for (bytes, expected) in [
        (&b"one"[..], Some("one")),
        (b"one\r\n", Some("one")),
        (b"one\r", Some("one\r")),
        (b" one \n", Some(" one ")),
        (b"one\n\n \r\n", Some("one")),
        (b"\xef\xbb\xbfone\n", Some("one")),
        (b"one\ntwo\n", None),
        (b"\none\n", None),
    ] {
        fs::write(&file, bytes).unwrap();
        match (password(folder.path(), "a.site"), expected) {
            (Ok(secret), Some(expected)) => assert_eq!(secret.reveal(), expected),
            (Err(error @ SecretError::Lines { .. }), None) => {
                let told = error.to_string();
                assert!(told.contains("secrets/a.site") && !told.contains("two"), "{told}");
            }
            (got, expected) => panic!("{bytes:?}: {got:?} for {expected:?}"),
        }
    }
    fs::write(&file, b"o\0n\0e\0").unwrap();
    assert!(matches!(password(folder.path(), "a.site"), Err(SecretError::Control { .. })));
    let picture = folder.path().join("sessions/a.captcha.png");
    for bytes in [&b"one"[..], b"2"] {
        write_private(&picture, bytes).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&picture), mode(picture.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read(&picture).unwrap(), bytes);
    }
    assert_eq!(variable_of("a.site-1"), "GLEANER_PASSWORD_A_SITE_1");
}
