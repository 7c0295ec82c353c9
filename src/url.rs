//! Identity of URLs.
