//! Unit tests of `owner`.

use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use super::*;
use crate::app::{folder, sessions};

#[test]
fn root_follows_no_link_of_the_service_to_where_the_service_may_not_go() {
    if of_files() != 0 {
        // Without root there is nothing to change: the user stays.
        let folder = tempfile::tempdir().unwrap();
        assert!(act(folder.path()).before.is_none());
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
    let tries = sessions::tries(&data, "s").unwrap();
    sessions::save_tries(&data, "s", &tries).unwrap();
    let made = fs::metadata(data.join("sessions/tries/s.json")).unwrap();
    assert_eq!((made.uid(), made.mode() & 0o777), (SERVICE, 0o600));
    fs::remove_dir_all(data.join("sessions/tries")).unwrap();
    let roots = place.path().join("roots");
    fs::create_dir(&roots).unwrap();
    symlink(&roots, data.join("sessions/tries")).unwrap();
    assert!(sessions::save_tries(&data, "s", &tries).is_err() && sessions::turn(&data, "s").is_err());
    assert!(fs::read_dir(&roots).unwrap().next().is_none());
}
