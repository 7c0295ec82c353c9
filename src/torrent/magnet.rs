//! Magnet links.
