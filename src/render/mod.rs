//! Pages that scripts build: the document, the engine that runs its scripts, and the process that holds both.
//!
//! A page that shows its links only after its scripts have run is rendered here (ALGORITHMS §5): the markup becomes
//! an own tree (`dom`), scripts run against it in virtual time, and the finished tree goes to link extraction like
//! any static page. Static pages never come here.
//!
//! This room never fetches: what a script asks for goes back through the crawl's gate. It reads no clock, and only
//! the child process does I/O, over its two pipes.

pub mod dom;
