//! Logging in (ALGORITHMS §4): which form of a page is the login form, which field is which, what is sent, and whether it
//! worked.
//!
//! `form` reads a page's forms as a browser sees them, and everything else reads those records: `model` says which is the
//! login form, `fields` which control is which, `fill` writes what a browser would send (`hashing` does what two known
//! scripts do to the password first), `scripts` tells forms that their page's scripts send, `verdict` reads what came back. Pure: nothing here fetches, waits,
//! or knows a site; `crawl` sends what this room has filled in and hands back what came.

pub mod limits;

pub mod features;
pub mod fields;
pub mod fill;
pub mod form;
mod form_tree;
pub mod hashing;
pub mod known;
pub mod mask;
mod message;
pub mod model;
pub mod names;
mod phrases;
pub mod scripts;
pub mod secret;
pub mod tree;
pub mod tries;
pub mod verdict;
pub mod view;
pub mod words;
