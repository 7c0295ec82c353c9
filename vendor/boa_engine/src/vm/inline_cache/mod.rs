use itertools::Itertools;
use std::{cell::Cell, fmt};
use thin_vec::ThinVec;

use boa_gc::GcRefCell;
use boa_macros::{Finalize, Trace};

use crate::{
    JsObject, JsString, JsValue,
    object::{
        internal_methods::is_plain,
        shape::{
            Shape, WeakShape,
            shared_shape::TransitionKey,
            slot::{Slot, SlotAttributes},
        },
    },
    property::PropertyKey,
};

/// The most shapes that a place knows.
pub(crate) const PIC_CAPACITY: usize = 8;

/// gleaner: the most prototypes that are asked for a property at once.
const PROTOTYPES_MAX: usize = 8;

/// gleaner: a prototype as it was found.
#[derive(Clone, Debug, Trace, Finalize)]
pub(crate) struct Link {
    shape: WeakShape,
    /// Where the shape is; no other is there until garbage is collected.
    #[unsafe_ignore_trace]
    address: usize,
    /// A shape that one object alone has takes new keys and stays the same.
    #[unsafe_ignore_trace]
    keys: usize,
}

impl Link {
    fn new(shape: &Shape) -> Self {
        Self {
            shape: shape.into(),
            address: shape.to_addr_usize(),
            keys: shape.own_keys(),
        }
    }

    #[inline(always)]
    fn is(&self, shape: &Shape) -> bool {
        self.address == shape.to_addr_usize() && self.keys == shape.own_keys()
    }
}

/// An inline cache entry.
#[derive(Clone, Debug, Trace, Finalize)]
pub(crate) struct CacheEntry {
    /// A weak reference is kept to the shape to avoid the shape preventing deallocation.
    pub(crate) shape: WeakShape,
    /// gleaner: where the shape is; no other is there until garbage is collected.
    #[unsafe_ignore_trace]
    address: usize,
    /// gleaner: the prototypes that were asked in turn; the last has the property, or there is no other.
    prototypes: ThinVec<Link>,
    /// gleaner: the shape of an object that has been given the property.
    then: Option<Shape>,
    /// gleaner: the keys of a shape that one object alone has, if the property is not among them.
    #[unsafe_ignore_trace]
    keys: Option<usize>,
    /// gleaner: whether it holds for plain objects only. Objects of other kinds have the same shapes.
    #[unsafe_ignore_trace]
    plain: bool,
    /// The [`Slot`] of the property; not found if no object has it.
    #[unsafe_ignore_trace]
    pub(crate) slot: Slot,
}

/// An inline cache entry for a property access.
#[derive(Clone, Debug, Trace, Finalize)]
pub(crate) struct InlineCache {
    /// The property that is accessed.
    pub(crate) name: JsString,

    /// Multiple cached shape/slot entries.
    pub(crate) entries: GcRefCell<ThinVec<CacheEntry>>,

    /// Whether this access site has exceeded the PIC capacity.
    #[unsafe_ignore_trace]
    pub(crate) megamorphic: Cell<bool>,

    /// gleaner: whether it was asked before. Most places run once, and keep nothing.
    #[unsafe_ignore_trace]
    met: Cell<bool>,

    /// gleaner: how often garbage was collected when the entries were looked through for shapes that are gone.
    #[unsafe_ignore_trace]
    collections: Cell<usize>,
}

/// gleaner: what a place knows of an object's property.
pub(crate) struct Cached<'a> {
    pub(crate) slot: Slot,
    /// The object that has it.
    pub(crate) holder: &'a JsObject,
    /// The shape of the object when it has been given the property.
    pub(crate) then: Option<Shape>,
}

/// gleaner: a property that was looked up.
pub(crate) enum Found {
    Data(JsValue),
    Getter(JsValue),
    Absent,
}

impl Cached<'_> {
    /// What a get finds.
    #[inline(always)]
    pub(crate) fn read(&self) -> Found {
        if !self.slot.attributes.contains(SlotAttributes::FOUND) {
            return Found::Absent;
        }
        let value = self.holder.borrow().properties().storage[self.slot.index as usize].clone();
        if self.slot.attributes.has_get() && value.is_object() {
            Found::Getter(value)
        } else {
            Found::Data(value)
        }
    }
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
            entries: GcRefCell::new(ThinVec::new()),
            megamorphic: Cell::new(false),
            met: Cell::new(false),
            collections: Cell::new(boa_gc::collections()),
        }
    }

    /// gleaner: whether to keep what is found.
    fn keeps(&self) -> bool {
        !self.megamorphic.get() && self.met.replace(true)
    }

    /// Keeps what `[[Get]]` or `[[Set]]` told of an object of the shape.
    pub(crate) fn set(&self, shape: &Shape, slot: Slot) {
        if !self.keeps() {
            return;
        }

        // gleaner: an object of a shape of its own may get such a property itself, and keep its shape.
        let is_of_prototype = slot.attributes.contains(SlotAttributes::PROTOTYPE);
        if is_of_prototype && shape.is_unique() {
            return;
        }
        let mut prototypes = ThinVec::new();
        if is_of_prototype && let Some(prototype) = shape.prototype_ref() {
            prototypes.push(Link::new(prototype.shape_now()));
        }
        self.keep(CacheEntry {
            shape: shape.into(),
            address: shape.to_addr_usize(),
            prototypes,
            then: None,
            keys: None,
            plain: false,
            slot,
        });
    }

    /// gleaner: takes an entry, in place of the one of the same shape.
    fn keep(&self, entry: CacheEntry) {
        if self.collections.get() != boa_gc::collections() {
            self.forget_gone();
        }
        let mut entries = self.entries.borrow_mut();
        let old = entries.iter().position(|old| old.address == entry.address);
        if let Some(old) = old {
            entries[old] = entry;
        } else if entries.len() < PIC_CAPACITY {
            entries.push(entry);
        } else {
            // Polymorphic cache is full, transition to megamorphic.
            self.megamorphic.set(true);
            entries.clear();
        }
    }

    /// gleaner: drops the entries with a shape that is gone: another one may be where it was.
    #[inline(never)]
    fn forget_gone(&self) {
        self.collections.set(boa_gc::collections());
        self.entries.borrow_mut().retain(|entry| {
            entry.shape.to_addr_usize() != 0 && entry.prototypes.iter().all(|link| link.shape.to_addr_usize() != 0)
        });
    }

    /// Returns what is known of the object's property.
    #[inline]
    pub(crate) fn find<'a, const SET: bool>(&self, object: &'a JsObject) -> Option<Cached<'a>> {
        if self.collections.get() != boa_gc::collections() {
            self.forget_gone();
        }
        let shape = object.shape_now();
        let address = shape.to_addr_usize();
        let entries = self.entries.borrow();
        let entry = entries.iter().find(|entry| entry.address == address)?;
        if entry.keys.is_none() && entry.prototypes.is_empty() {
            return Some(Cached {
                slot: entry.slot,
                holder: object,
                then: None,
            });
        }
        if entry.plain && !is_plain::<SET>(object) {
            return None;
        }
        let mut holder = object;
        let mut at = shape;
        let mut holds = entry.keys.is_none_or(|keys| keys == shape.own_keys());
        for link in &entry.prototypes {
            let Some(prototype) = at.prototype_ref() else {
                holds = false;
                break;
            };
            let shape = prototype.shape_now();
            if !link.is(shape) {
                holds = false;
                break;
            }
            (holder, at) = (prototype, shape);
        }
        if holds {
            return Some(Cached {
                slot: entry.slot,
                holder,
                then: entry.then.clone(),
            });
        }
        drop(entries);
        self.entries.borrow_mut().retain(|entry| entry.address != address);
        None
    }

    /// gleaner: looks the property up in plain objects, and keeps where it was; nothing if one on the way is not plain.
    pub(crate) fn look_up(&self, object: &JsObject) -> Option<Found> {
        let key = PropertyKey::from(self.name.clone());
        let (slot, holder) = self.walk::<false>(object, &key)?;
        let cached = Cached {
            slot,
            holder,
            then: None,
        };
        let found = cached.read();
        if self.keeps() {
            self.keep_walked(object, holder, slot, None);
        }
        Some(found)
    }

    /// The slot of the property, and the object that has it: the last of the prototypes if none has.
    fn walk<'a, const SET: bool>(&self, object: &'a JsObject, key: &PropertyKey) -> Option<(Slot, &'a JsObject)> {
        if matches!(key, PropertyKey::Index(_)) {
            return None;
        }
        let mut holder = object;
        for _ in 0..PROTOTYPES_MAX {
            if !is_plain::<SET>(holder) {
                return None;
            }
            let shape = holder.shape_now();
            if let Some(slot) = shape.lookup(key) {
                let attributes = slot.attributes | SlotAttributes::FOUND;
                return Some((Slot { attributes, ..slot }, holder));
            }
            match shape.prototype_ref() {
                Some(prototype) => holder = prototype,
                None => return Some((Slot::new(), holder)),
            }
        }
        None
    }

    /// Keeps what a walk found; `then` is the shape of an object that has been given the property.
    fn keep_walked(&self, object: &JsObject, holder: &JsObject, slot: Slot, then: Option<Shape>) {
        let shape = object.shape_now();
        let is_own = JsObject::equals(object, holder) && slot.attributes.contains(SlotAttributes::FOUND);
        let mut prototypes = ThinVec::new();
        let (mut asked, mut at) = (object, shape);
        while !JsObject::equals(asked, holder) {
            let Some(prototype) = at.prototype_ref() else { return };
            (asked, at) = (prototype, prototype.shape_now());
            prototypes.push(Link::new(at));
        }
        self.keep(CacheEntry {
            shape: shape.into(),
            address: shape.to_addr_usize(),
            prototypes,
            then,
            keys: (!is_own).then(|| shape.own_keys()),
            plain: !is_own,
            slot,
        });
    }

    /// gleaner: sets the property of a plain object: its own, or one that it is given. A setter is not called but told, and nothing is done
    /// where anything is not as usual.
    pub(crate) fn put(&self, object: &JsObject, value: &JsValue) -> Option<Option<JsValue>> {
        let key = PropertyKey::from(self.name.clone());
        let (slot, holder) = self.walk::<true>(object, &key)?;
        let found = slot.attributes.contains(SlotAttributes::FOUND);
        let shape = object.shape_now();
        if found && slot.attributes.is_accessor_descriptor() {
            if !slot.attributes.has_set() {
                return None;
            }
            let setter = holder.borrow().properties().storage[slot.index as usize + 1].clone();
            if !setter.is_object() {
                return None;
            }
            if self.keeps() {
                self.keep_walked(object, holder, slot, None);
            }
            return Some(Some(setter));
        }
        // Attributes of a shape that one object alone has change, and the shape stays the same.
        let is_shared = shape.is_shared() && holder.shape_now().is_shared();
        if found && (!slot.attributes.contains(SlotAttributes::WRITABLE) || !is_shared) {
            return None;
        }
        if found && JsObject::equals(object, holder) {
            if self.keeps() {
                self.keep_walked(object, holder, slot, None);
            }
            let before = {
                let mut object = object.borrow_mut();
                std::mem::replace(&mut object.properties_mut().storage[slot.index as usize], value.clone())
            };
            drop(before);
            return Some(None);
        }
        if !shape.is_shared() || !object.borrow().extensible {
            return None;
        }
        let then = shape.insert_property_transition(TransitionKey {
            property_key: key,
            attributes: SlotAttributes::WRITABLE | SlotAttributes::ENUMERABLE | SlotAttributes::CONFIGURABLE,
        });
        if then.is_shared() && self.keeps() {
            // What is found at a prototype is not what is written.
            let slot = Slot {
                attributes: slot.attributes - SlotAttributes::FOUND,
                ..slot
            };
            self.keep_walked(object, holder, slot, Some(then.clone()));
        }
        object.give(then, value.clone());
        Some(None)
    }

    /// gleaner: gives an object a property that it does not have, as an object literal does; false if anything is not as usual.
    pub(crate) fn define(&self, object: &JsObject, value: &JsValue) -> bool {
        if let Some(Cached { then: Some(then), .. }) = self.find::<true>(object) {
            if !object.borrow().extensible {
                return false;
            }
            object.give(then, value.clone());
            return true;
        }
        let key = PropertyKey::from(self.name.clone());
        let shape = object.shape_now();
        if matches!(key, PropertyKey::Index(_))
            || !is_plain::<true>(object)
            || !shape.is_shared()
            || !object.borrow().extensible
            || shape.lookup(&key).is_some()
        {
            return false;
        }
        let then = shape.insert_property_transition(TransitionKey {
            property_key: key,
            attributes: SlotAttributes::WRITABLE | SlotAttributes::ENUMERABLE | SlotAttributes::CONFIGURABLE,
        });
        if then.is_shared() && self.keeps() {
            self.keep_walked(object, object, Slot::new(), Some(then.clone()));
        }
        object.give(then, value.clone());
        true
    }
}
