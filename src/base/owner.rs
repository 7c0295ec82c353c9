//! Root acts as the owner of a data folder, for as long as it reads one ([`act`]) or for the rest of the process ([`become_owner`]): new
//! files belong to the service's user, and no link or file that this user made leads root where the user has no access.

use std::ffi::CString;
use std::fs;
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::console;

/// While it lives, this thread accesses files as the owner of a data folder. Not `Send`.
pub struct ActingOwner {
    before: Option<Before>,
    of_thread: PhantomData<*const ()>,
}

/// What a thread of root had before.
struct Before {
    user: u32,
    group: u32,
    groups: Vec<u32>,
}

/// If this process is root, acts as the owner of an existing data folder that is not root's; otherwise changes nothing. Only file
/// access is affected, and only on this thread (setfsuid(2)): the kernel drops the file capabilities with it. Ends the process if the
/// system refuses that, as without CAP_SETUID: root must not go on as root.
#[must_use]
pub fn act(data_dir: &Path) -> ActingOwner {
    let owner = fs::metadata(data_dir).ok().map(|of| (of.uid(), of.gid()));
    let before = owner.filter(|(user, _)| *user != 0 && of_files() == 0).map(|(user, group)| {
        let groups = groups();
        // Groups first: a user other than root cannot change them.
        let is_alone = set_groups(&[group]);
        let before = Before { group: set_group(group), groups, user: set_user(user) };
        if !is_alone || of_files() != user {
            let data_dir = data_dir.display();
            console::write_error(&format!(
                "error: {data_dir}: root cannot act as the owner of this folder\nhint: run the command as that user"
            ));
            std::process::exit(1);
        }
        before
    });
    ActingOwner { before, of_thread: PhantomData }
}

/// If this process is root, becomes the owner of an existing data folder that is not root's, for good: user, group, and the groups that
/// the system gives that user. Otherwise changes nothing.
///
/// # Errors
/// If the system refuses it, as in a container without that user.
///
/// # Safety
/// No other thread may be running: names of users are read by the C library.
pub unsafe fn become_owner(data_dir: &Path) -> io::Result<()> {
    let owner = fs::metadata(data_dir).ok().map(|of| (of.uid(), of.gid()));
    let Some((user, group)) = owner.filter(|(user, _)| *user != 0 && of_files() == 0) else { return Ok(()) };
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
    BECAME.store(true, Ordering::Relaxed);
    Ok(())
}

/// True if this process is root, and the folder another user's: what root creates there, that user cannot replace.
#[must_use]
pub fn is_foreign(data_dir: &Path) -> bool {
    of_files() == 0 && fs::metadata(data_dir).is_ok_and(|of| of.uid() != 0)
}

static BECAME: AtomicBool = AtomicBool::new(false);

/// True if this process was root's, and has become the owner of a data folder.
#[must_use]
pub fn was_root() -> bool {
    BECAME.load(Ordering::Relaxed)
}

/// The name of a user in /etc/passwd.
#[must_use]
pub fn name_of(user: u32) -> Option<String> {
    named("/etc/passwd", user)
}

/// The name of a group in /etc/group.
#[must_use]
pub fn group_name_of(group: u32) -> Option<String> {
    named("/etc/group", group)
}

/// Both files begin with the name, and have the number in the third field.
fn named(file: &str, number: u32) -> Option<String> {
    let rows = fs::read_to_string(file).unwrap_or_default();
    rows.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(number)).then(|| name.to_owned())
    })
}

impl Drop for ActingOwner {
    fn drop(&mut self) {
        if let Some(Before { user, group, groups }) = &self.before {
            set_user(*user);
            set_group(*group);
            set_groups(groups);
        }
    }
}

/// The user for file access on this thread.
#[must_use]
pub fn of_files() -> u32 {
    // This user id is invalid: nothing changes, and the current one is returned.
    set_user(u32::MAX)
}

/// The supplementary groups of this thread.
fn groups() -> Vec<u32> {
    // SAFETY: with no room asked for, it only returns their number.
    let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let mut groups = vec![0; usize::try_from(count).unwrap_or_default()];
    // SAFETY: the array has room for that many.
    let count = unsafe { libc::getgroups(count, groups.as_mut_ptr()) };
    groups.truncate(usize::try_from(count).unwrap_or_default());
    groups
}

/// Of this thread alone: the C library's function changes all threads. False if the system refuses it.
fn set_groups(groups: &[u32]) -> bool {
    // SAFETY: an array and its length.
    unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) == 0 }
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
