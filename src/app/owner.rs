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
mod tests;
