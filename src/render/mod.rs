//! Pages that scripts build: an embedded engine runs a page's scripts in a child process, and what they made of the document goes to
//! link extraction as any page does.
//!
//! A page's way: the crawl hands address, body and budgets to a child (`engine::child`), which parses the document, runs its scripts in
//! virtual time (`engine`), asks the crawl for every request they make, and gives back what came out. A child that dies costs its page.
//!
//! This room never opens a socket or a file on behalf of a script, and never reads the time: what a page takes for the clock is
//! virtual and begins where the crawl says.

pub mod engine;
