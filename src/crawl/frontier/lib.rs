//! What is due next: lanes spread one host's work, priority orders it, weight orders within a class; shapes, the forms
//! of traps and budgets tell what is not worth a fetch, parameters what a site could do without, and
//! unclassed links what its rules may have forgotten; crews share the lanes between history and increment, whose rounds
//! `increment` bounds.
//!
//! The crawl database holds the frontier; what is leased from it waits here for its lane. No I/O, no clock.

pub mod budgets;
pub mod crews;
pub mod degrees;
pub mod increment;
pub mod lanes;
pub mod limits;
pub mod parameters;
pub mod priority;
pub mod shape;
pub mod traps;
pub mod unclassed;
pub mod weight;
