//! A headless renderer for crawlers: a page and its scripts in, links and requests out.
//!
//! An embedded engine runs a page's scripts over a tree of its own, in virtual time and within budgets of instructions, tasks and
//! memory. Nothing is drawn. Every request that the scripts make is handed to the caller, who answers or refuses it; the renderer itself
//! opens no socket and no file and reads no clock.
//!
//! # In this process
//!
//! [`Window`] runs one page and answers questions about it:
//!
//! ```
//! use gleaner_render::wire::Reach;
//! use gleaner_render::{NoNet, Start, Window};
//!
//! let start = Start::at("https://tracker.example/new".parse()?);
//! let mut window = Window::open(&start, Box::new(NoNet::new()))?;
//! window.load(
//!     "<ul id=list></ul><script>list.innerHTML = '<li><a href=/get/1.torrent>One</a>'</script>",
//!     Reach::default(),
//! );
//! assert_eq!(window.links()[0].url, "https://tracker.example/get/1.torrent");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # In a child process
//!
//! Scripts can break what Rust cannot hold: overflow a stack, exhaust memory, or match a regular expression without end. A crawler
//! therefore runs pages in child processes: [`children::Children`] starts and replaces them, hands each a [`wire::Page`], asks a
//! [`children::Host`] for every [`wire::Request`], and returns a [`wire::Outcome`]. The program that the children run calls
//! [`child::main`], which gives up files, sockets and other processes (seccomp) before it reads the first page.
//!
//! # The rooms
//!
//! - `wire`: the plain values that both sides exchange. It names neither the engine nor the document.
//! - `dom`: the tree, its parser, selectors and styles. It runs no scripts.
//! - `engine`: one page's heap, event loop and the natives that need no document.
//! - `web`: the document as scripts see it, grouped by the standards' names.
//! - `reader`: what a person would do to see all of a page: scroll, turn, open, choose.

pub mod child;
pub mod children;
mod confine;
pub mod cost;
mod dom;
mod engine;
pub mod limits;
mod places;
mod reader;
mod web;
pub mod wire;

pub use self::dom::{NodeData, NodeId, Parser, Selectors, Step, Tree};
pub use self::engine::net::{Net, NoNet};
pub use self::engine::{Engine, EngineError, Start};
pub use self::web::html::load::{Setting, Window, text_of};
pub use self::web::interact::links_of_markup;
