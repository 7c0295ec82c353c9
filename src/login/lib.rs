//! Logging in (ALGORITHMS §4): which form of a page is the login form, which field is which, what is sent, and
//! whether it worked.
//!
//! `form` reads a page's forms as a browser sees them; everything else works on those records. `model` finds the login form, `fields` the
//! role of each control, `fill` writes the request that a browser would send (`hashing` first hashes the password as two known scripts
//! do), `scripts` detects forms that their page's scripts send, and `verdict` judges the response. Pure: nothing here fetches, waits,
//! or knows a site. `crawl` sends the requests and returns the responses.

pub mod limits;

pub mod challenge;
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
