//! Composition root.
