//! This module implements the `ForInIterator` object.
//!
//! More information:
//!  - [ECMAScript reference][spec]
//!
//! [spec]: https://tc39.es/ecma262/#sec-for-in-iterator-objects

use crate::{
    Context, JsData, JsResult, JsString, JsValue,
    error::JsNativeError,
    object::{
        JsObject,
        internal_methods::{InternalMethodPropertyContext, first_with_names, own_is_enumerable},
    },
    property::PropertyKey,
};
use boa_gc::{Finalize, Trace};
use rustc_hash::FxHashSet;

/// The `ForInIterator` object represents an iteration over some specific object.
///
/// gleaner: it never reaches a script, so it has neither prototype nor `next`.
///
/// More information:
///  - [ECMAScript reference][spec]
///
/// [spec]: https://tc39.es/ecma262/#sec-for-in-iterator-objects
#[derive(Debug, Clone, Finalize, Trace, JsData)]
pub(crate) struct ForInIterator {
    /// The object whose keys are visited; `None` at the end.
    object: Option<JsObject>,
    /// Its names, once they are listed; `None` for those that were deleted before they were visited.
    #[unsafe_ignore_trace]
    names: Option<Vec<Option<JsString>>>,
    /// How many of them were visited.
    at: usize,
    /// The next of its prototypes that has names, once it was looked for.
    next_named: Option<JsObject>,
    /// The names that the objects before it in the chain of prototypes had when they were visited.
    #[unsafe_ignore_trace]
    visited: FxHashSet<JsString>,
}

impl ForInIterator {
    /// `CreateForInIterator( object )`
    ///
    /// Creates a new iterator over the given object.
    ///
    /// More information:
    ///  - [ECMA reference][spec]
    ///
    /// [spec]: https://tc39.es/ecma262/#sec-createforiniterator
    pub(crate) fn create_for_in_iterator(object: JsObject, context: &Context) -> JsObject {
        let data = Self { object: Some(object), names: None, at: 0, next_named: None, visited: FxHashSet::default() };
        JsObject::from_proto_and_data_with_shared_shape(context.root_shape(), None, data).upcast()
    }

    /// The next name; `None` at the end.
    ///
    /// More information:
    ///  - [ECMA reference][spec]
    ///
    /// [spec]: https://tc39.es/ecma262/#sec-%foriniteratorprototype%.next
    pub(crate) fn advance(iterator: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
        let data = || {
            iterator
                .downcast_mut::<Self>()
                .ok_or_else(|| JsNativeError::typ().with_message("not a ForInIterator"))
        };
        loop {
            let Some(object) = data()?.object.clone() else {
                return Ok(None);
            };
            if data()?.names.is_none() {
                let keys = object
                    .__own_property_keys__(&mut InternalMethodPropertyContext::new(context))?;
                let names = keys.into_iter().filter_map(|key| match key {
                    PropertyKey::String(name) => Some(name),
                    PropertyKey::Index(index) => Some(index.get().into()),
                    PropertyKey::Symbol(_) => None,
                });
                let mut data = data()?;
                data.names = Some(names.map(Some).collect());
                data.at = 0;
            }
            loop {
                let name = {
                    let mut data = data()?;
                    let at = data.at;
                    data.at += 1;
                    let Some(name) = data.names.as_ref().and_then(|names| names.get(at)) else {
                        break;
                    };
                    match name {
                        Some(name) if !data.visited.contains(name) => name.clone(),
                        _ => continue,
                    }
                };
                let is_enumerable = own_is_enumerable(
                    &object,
                    &PropertyKey::from(name.clone()),
                    &mut InternalMethodPropertyContext::new(context),
                )?;
                match is_enumerable {
                    Some(true) => return Ok(Some(name.into())),
                    Some(false) => {}
                    // It was deleted: it hides no property of a prototype.
                    None => {
                        let mut data = data()?;
                        let at = data.at - 1;
                        if let Some(name) = data.names.as_mut().and_then(|names| names.get_mut(at)) {
                            *name = None;
                        }
                    }
                }
            }
            // Most prototypes show nothing, and then nothing needs to be known of what was visited.
            let mut proto = object.prototype();
            let mut data = data()?;
            if data.next_named.as_ref().is_none_or(|named| *named == object) {
                data.next_named = proto.clone().and_then(first_with_names);
                proto = proto.filter(|_| data.next_named.is_some());
            }
            let names = data.names.take().unwrap_or_default();
            if proto.is_some() {
                data.visited.extend(names.into_iter().flatten());
            }
            data.object = proto;
        }
    }
}
