//! The values that the crawl and its render children exchange. They name neither the engine nor the DOM.
//!
//! ```text
//! Page (markup, acts, bounds) → a child → Request ⇄ Response … → Outcome (states with their links, navigations, errors)
//! ```
//!
//! `protocol` encodes them as frames. Nothing here does I/O or runs anything.

mod filling;
mod link;
mod navigation;
mod outcome;
mod page;
pub mod protocol;
mod request;
mod response;
mod stored;
pub mod trace;

pub use self::filling::{Filling, Submit};
pub use self::link::Link;
pub use self::navigation::{How, Navigation};
pub use self::outcome::{Bound, ConsoleLine, Cut, End, Outcome, PageState, ScriptError, Spent, Unshown};
pub use self::page::{Act, Page, Reach, ScriptHead, ScriptKind, Seeks, Viewport, Wanted};
pub use self::request::{Asker, Request, RequestId, check_request};
pub use self::response::{Answer, Response};
pub use self::stored::Stored;
