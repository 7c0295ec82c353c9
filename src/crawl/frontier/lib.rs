//! What is due next: lanes distribute one host's work, priority orders it, weight orders within a class; shapes, trap
//! forms and budgets detect what is not worth a fetch, `shares` decide which rule and shape gets history's next request (`prior` what
//! their words promise), `parameters` those that a site could do without,
//! `unclassed` the links that its rules may have missed, `offsite` the hosts that its pages link to; crews share the lanes between history
//! and increment, whose rounds
//! `increment` bounds.
//!
//! The crawl database holds the frontier; what is leased from it waits here for its lane. No I/O, no clock.

pub mod budgets;
pub mod crews;
pub mod degrees;
pub mod increment;
pub mod lanes;
pub mod lean;
pub mod limits;
pub mod offsite;
pub mod parameters;
pub mod parts;
pub mod prior;
pub mod priority;
pub mod shape;
pub mod shares;
pub mod tokens;
pub mod traps;
pub mod unclassed;
pub mod weight;
