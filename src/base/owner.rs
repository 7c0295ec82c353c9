//! Root acts as the owner of a data folder, for as long as it reads one ([`act`]) or for the rest of the process ([`become_owner`]): new
//! files belong to the service's user, and no link or file that this user made leads root where the user has no access.

use std::ffi::CString;
use std::fs;
use std::io;
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

/// If this process is root, becomes the owner of an existing data folder that is not root's, for good: user, group, and the groups that
/// the system gives that user. Otherwise changes nothing. Returns the owner's name or number if it changed.
///
/// # Errors
/// If the system refuses it, as in a container without that user.
///
/// # Safety
/// No other thread may be running: names of users are read by the C library.
pub unsafe fn become_owner(data_dir: &Path) -> io::Result<Option<String>> {
    let owner = fs::metadata(data_dir).ok().map(|of| (of.uid(), of.gid()));
    let Some((user, group)) = owner.filter(|(user, _)| *user != 0 && of_files() == 0) else { return Ok(None) };
    let name = name_of(user);
    let done = |result: i32| if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    match name.as_deref().and_then(|name| CString::new(name).ok()) {
        // SAFETY: a string that ends in NUL, and no other thread, as the caller promises.
        Some(name) => done(unsafe { libc::initgroups(name.as_ptr(), group) })?,
        // SAFETY: an array of one number.
        None => done(unsafe { libc::setgroups(1, &raw const group) })?,
    }
    // SAFETY: plain system calls on numbers; the group first, since only root may change it.
    unsafe {
        done(libc::setresgid(group, group, group))?;
        done(libc::setresuid(user, user, user))?;
    }
    Ok(Some(name.unwrap_or_else(|| format!("user {user}"))))
}

/// The name of a user in /etc/passwd.
#[must_use]
pub fn name_of(user: u32) -> Option<String> {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(user)).then(|| name.to_owned())
    })
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
