//! The network: fetching, politeness, and classification of responses.

pub mod classify;
pub mod fetch;
pub mod hook;
pub mod limits;
pub mod politeness;
