//! Root acts as the owner of a data folder while it reads and writes the files of accounts there: what it makes belongs to the service's
//! user, and a link that this user has laid leads root nowhere that the user could not go itself.

use std::fs;
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// While it lives, this thread asks for files as the owner of a data folder. It stays on its thread.
pub struct ActingOwner {
    /// The user and the group before.
    before: Option<(u32, u32)>,
    of_thread: PhantomData<*const ()>,
}

/// Acts as the owner of a data folder that is there and not root's, where this process is root; else as before. Only the rights over files
/// change, and of this thread alone (setfsuid(2)): the kernel takes the capabilities over files away with them.
#[must_use]
pub fn act(data_dir: &Path) -> ActingOwner {
    let owner = fs::metadata(data_dir).ok().map(|of| (of.uid(), of.gid()));
    let before = owner.filter(|(user, _)| *user != 0 && of_files() == 0).map(|(user, group)| {
        // The group first: a user who is not root may not change it.
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

/// The user as whom this thread asks for files.
#[must_use]
pub fn of_files() -> u32 {
    // No user has this number: nothing changes, and the present one is told.
    set_user(u32::MAX)
}

/// Gives back the user before.
fn set_user(user: u32) -> u32 {
    // SAFETY: a plain system call on numbers.
    unsafe { libc::setfsuid(user) }.cast_unsigned()
}

/// Gives back the group before.
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
            // Who is not root has no rights to lend: it stays who it is.
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

        // What root writes is the service's own, and a link to a folder of root's is not written through.
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
