//! The wire: what is fetched, how politely, and what came back.

pub mod classify;
pub mod fetch;
pub mod limits;
pub mod politeness;
