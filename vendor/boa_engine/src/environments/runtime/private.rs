use std::cell::Cell;

use boa_gc::{Finalize, Trace, empty_trace};

use crate::JsString;

/// Private runtime environment.
#[derive(Clone, Debug, Finalize)]
pub(crate) struct PrivateEnvironment {
    /// The unique identifier of the private names.
    id: usize,

    /// The `[[Description]]` internal slot of the private names.
    descriptions: Vec<JsString>,
}

// Safety: PrivateEnvironment does not contain any objects that need to be traced.
unsafe impl Trace for PrivateEnvironment {
    empty_trace!();
}

impl PrivateEnvironment {
    /// Creates a new `PrivateEnvironment`.
    ///
    /// gleaner: its names are no others': an address of a class may be another's once it is freed.
    pub(crate) fn new(descriptions: Vec<JsString>) -> Self {
        thread_local!(static NEXT: Cell<usize> = const { Cell::new(1) });
        let id = NEXT.with(|next| next.replace(next.get() + 1));
        Self { id, descriptions }
    }

    /// Gets the id of this private environment.
    pub(crate) const fn id(&self) -> usize {
        self.id
    }

    /// Gets the descriptions of this private environment.
    pub(crate) fn descriptions(&self) -> &[JsString] {
        &self.descriptions
    }
}
