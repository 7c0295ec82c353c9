//! gleaner: the slots of names in shapes that were looked up lately. A place that meets many shapes asks for the same name again and again,
//! and each time it would be hashed and compared.

use std::cell::RefCell;

use boa_string::JsString;

use super::slot::Slot;
use crate::property::PropertyKey;

/// Slots that are kept, a power of two: 32 KB a thread.
const SEEN: usize = 1024;

/// What a name is in a shape. Both are told by where they are: the name is held, and shapes go only when garbage is collected.
struct Entry {
    shape: usize,
    name: Option<JsString>,
    slot: Option<Slot>,
}

struct Seen {
    /// How often garbage was collected before.
    collections: usize,
    entries: Vec<Entry>,
}

thread_local!(static ENTRIES: RefCell<Seen> = const { RefCell::new(Seen { collections: 0, entries: Vec::new() }) });

/// Where a string is.
#[inline(always)]
fn place_of(name: &JsString) -> usize {
    const { assert!(size_of::<JsString>() == size_of::<usize>()) };
    // SAFETY: a string is a pointer, of which the address alone is taken.
    unsafe { std::mem::transmute_copy::<JsString, usize>(name) }
}

/// The slot of a key in a shape, whose keys stay what they are; `look_up` looks for it.
#[inline]
pub(super) fn lookup(shape: usize, key: &PropertyKey, look_up: impl FnOnce() -> Option<Slot>) -> Option<Slot> {
    let PropertyKey::String(name) = key else { return look_up() };
    let place = place_of(name);
    let at = ((shape >> 4) ^ (place >> 3)).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize) >> (usize::BITS - SEEN.trailing_zeros());
    ENTRIES.with(|seen| {
        let seen = &mut *seen.borrow_mut();
        if seen.collections != boa_gc::collections() || seen.entries.is_empty() {
            seen.collections = boa_gc::collections();
            seen.entries.clear();
            seen.entries.resize_with(SEEN, || Entry {
                shape: 0,
                name: None,
                slot: None,
            });
        }
        let entry = &mut seen.entries[at];
        if entry.shape == shape && entry.name.as_ref().is_some_and(|name| place_of(name) == place) {
            return entry.slot;
        }
        let slot = look_up();
        *entry = Entry {
            shape,
            name: Some(name.clone()),
            slot,
        };
        slot
    })
}
