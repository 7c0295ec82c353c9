//! Root acts as the owner of a data folder while it reads and writes account files there: new files belong to the service's user,
//! and a symlink made by this user cannot lead root anywhere that the user has no access to.

use std::fs;
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// While it lives, this thread accesses files as the owner of a data folder. Not `Send`.
pub struct ActingOwner {
    /// The previous user and group.
    before: Option<(u32, u32)>,
    of_thread: PhantomData<*const ()>,
}

/// If this process is root, acts as the owner of an existing data folder that is not root's; otherwise changes nothing. Only file
/// access is affected, and only on this thread (setfsuid(2)): the kernel drops the file capabilities with it.
#[must_use]
pub fn act(data_dir: &Path) -> ActingOwner {
    let owner = fs::metadata(data_dir).ok().map(|of| (of.uid(), of.gid()));
    let before = owner.filter(|(user, _)| *user != 0 && of_files() == 0).map(|(user, group)| {
        // The group first: a user other than root cannot change it.
        let group = set_group(group);
        (set_user(user), group)
    });
    ActingOwner { before, of_thread: PhantomData }
}

impl Drop for ActingOwner {
    fn drop(&mut self) {
        if let Some((user, group)) = self.before {
            set_user(user);
            set_group(group);
        }
    }
}

/// The user for file access on this thread.
#[must_use]
pub fn of_files() -> u32 {
    // This user id is invalid: nothing changes, and the current one is returned.
    set_user(u32::MAX)
}

/// Returns the previous user.
fn set_user(user: u32) -> u32 {
    // SAFETY: a plain system call on numbers.
    unsafe { libc::setfsuid(user) }.cast_unsigned()
}

/// Returns the previous group.
fn set_group(group: u32) -> u32 {
    // SAFETY: a plain system call on numbers.
    unsafe { libc::setfsgid(group) }.cast_unsigned()
}

#[cfg(test)]
mod tests {
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
}
