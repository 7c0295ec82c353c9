//! Pages that scripts build: an embedded engine runs a page's scripts in a child process, and what they made of the document goes to
//! link extraction as any page does.
//!
//! A page's way: the crawl hands it to a child (`children`, in the words of `protocol`), which is confined (`confine`) and runs the
//! page's scripts in virtual time (`child`, `engine`), asks the crawl for every request that they make, and gives back what came of it.
//! A child that dies costs its page. The document under the scripts is a tree of its own (`dom`), which they see through wrappers
//! (`web`).
//!
//! This room never opens a socket or a file on behalf of a script, and never reads the time for one: what a page takes for the clock is
//! virtual and begins where the crawl says.

pub mod limits;

pub mod child;
pub mod children;
mod confine;
pub mod cost;
pub mod dom;
pub mod engine;
mod places;
pub mod protocol;
pub mod reader;
pub mod web;
