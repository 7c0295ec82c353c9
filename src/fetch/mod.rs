//! Requests and their outcomes.

pub mod charset;
