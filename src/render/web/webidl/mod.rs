//! WebIDL: interfaces of node objects, and objects with computed properties.

pub mod exotic;
pub(crate) mod interfaces;
