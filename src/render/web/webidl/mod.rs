//! WebIDL: which interface a node's object has, and objects whose properties are computed.

pub mod exotic;
pub(crate) mod interfaces;
