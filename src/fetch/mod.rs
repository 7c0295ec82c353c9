//! Requests and their outcomes.
