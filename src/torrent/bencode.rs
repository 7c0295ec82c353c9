//! Spans of bencoded values.
