//! One file per infohash.
