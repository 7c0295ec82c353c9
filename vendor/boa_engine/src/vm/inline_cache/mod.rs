use arrayvec::ArrayVec;
use itertools::Itertools;
use std::{cell::Cell, fmt};

use boa_gc::GcRefCell;
use boa_macros::{Finalize, Trace};

use crate::{
    JsString,
    object::shape::{
        Shape, WeakShape,
        slot::{Slot, SlotAttributes},
    },
};

pub(crate) const PIC_CAPACITY: usize = 4;

/// A cached shape-to-slot mapping for a polymorphic inline cache.
#[derive(Clone, Debug, Trace, Finalize)]
pub(crate) struct CacheEntry {
    /// A weak reference is kept to the shape to avoid the shape preventing deallocation.
    pub(crate) shape: WeakShape,
    /// gleaner: of a slot of the prototype, the shape that has it there: another one has it elsewhere, or not at all.
    pub(crate) prototype: Option<WeakShape>,
    #[unsafe_ignore_trace]
    pub(crate) slot: Slot,
}

/// An inline cache entry for a property access.
#[derive(Clone, Debug, Trace, Finalize)]
pub(crate) struct InlineCache {
    /// The property that is accessed.
    pub(crate) name: JsString,

    /// Multiple cached shape-to-slot entries.
    pub(crate) entries: GcRefCell<ArrayVec<CacheEntry, PIC_CAPACITY>>,

    /// Whether this access site has seen too many shapes and should no longer be cached.
    #[unsafe_ignore_trace]
    pub(crate) megamorphic: Cell<bool>,
}

impl fmt::Display for InlineCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(name:{} entries:", self.name.display_escaped())?;

        if self.megamorphic.get() {
            return write!(f, "(megamorphic))");
        }

        let entries = self.entries.borrow();
        let entries = entries.iter().map(|e| e.shape.to_addr_usize()).format(", ");

        write!(f, "({entries:#x}))")
    }
}

impl InlineCache {
    pub(crate) fn new(name: JsString) -> Self {
        Self {
            name,
            entries: GcRefCell::new(ArrayVec::new()),
            megamorphic: Cell::new(false),
        }
    }

    pub(crate) fn set(&self, shape: &Shape, slot: Slot) {
        if self.megamorphic.get() {
            return;
        }

        // gleaner: an object of a shape of its own may get such a property itself, and keep its shape.
        let is_of_prototype = slot.attributes.contains(SlotAttributes::PROTOTYPE);
        if is_of_prototype && shape.is_unique() {
            return;
        }
        let prototype = shape.prototype().filter(|_| is_of_prototype);
        let prototype = prototype.map(|prototype| prototype.borrow().shape().into());

        let mut entries = self.entries.borrow_mut();

        // Add a new entry if there's space.
        if entries
            .try_push(CacheEntry {
                shape: shape.into(),
                prototype,
                slot,
            })
            .is_err()
        {
            // Polymorphic cache is full, transition to megamorphic.
            self.megamorphic.set(true);
            entries.clear();
        }
    }

    /// Returns the cached `Slot` if a matching shape exists in the inline cache.
    ///
    /// Opportunistically cleans up stale weak shape references where there is none.
    ///
    /// gleaner: no reference to the shape is made, which the caller has.
    pub(crate) fn get(&self, shape: &Shape) -> Option<Slot> {
        if self.megamorphic.get() {
            return None;
        }

        let address = shape.to_addr_usize();
        let slot = self
            .entries
            .borrow()
            .iter()
            .find(|entry| entry.shape.to_addr_usize() == address)
            .filter(|entry| {
                entry.prototype.as_ref().is_none_or(|known| {
                    let now = shape.prototype().map(|prototype| prototype.borrow().shape().to_addr_usize());
                    now == Some(known.to_addr_usize())
                })
            })
            .map(|entry| entry.slot);
        if slot.is_none() {
            self.entries
                .borrow_mut()
                .retain(|entry| entry.shape.to_addr_usize() != 0 && entry.shape.to_addr_usize() != address);
        }
        slot
    }
}
