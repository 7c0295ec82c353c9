//! The command line.

pub mod rules;
