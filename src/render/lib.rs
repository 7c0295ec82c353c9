//! A headless renderer for crawlers: a page and its scripts in, links and requests out.
//!
//! An embedded engine runs a page's scripts on the renderer's own DOM, in virtual time and within budgets of instructions, tasks and
//! memory. Nothing is drawn. Every request of the scripts is passed to the caller, who answers or refuses it; the renderer itself opens
//! no socket and no file and reads no clock.
//!
//! # In this process
//!
//! [`Window`] runs one page and can be queried:
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
//! Scripts can break what Rust cannot contain: overflow a stack, exhaust memory, or match a regular expression without end. A crawler
//! therefore runs pages in child processes: [`children::Children`] starts and replaces them, sends each a [`wire::Page`], passes every
//! [`wire::Request`] to a [`children::Host`], and returns a [`wire::Outcome`]. The program that the children run calls [`child::main`],
//! which gives up files, sockets and other processes (seccomp) before it reads the first page.
//!
//! # Modules
//!
//! - `wire`: the plain values that both sides exchange. It names neither the engine nor the DOM.
//! - `dom`: the DOM, its parser, selectors and styles. It runs no scripts.
//! - `engine`: one page's heap, its event loop, and the natives that need no document.
//! - `web`: the document as scripts see it, grouped by the names of the standards.
//! - `reader`: acts as a person who wants to see all of a page: scrolls, turns pages, opens rows, chooses options.

pub mod child;
pub mod children;
mod confine;
pub mod cost;
mod dom;
mod ends;
mod engine;
mod epitaph;
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
