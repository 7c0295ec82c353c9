//! Metainfo files.
