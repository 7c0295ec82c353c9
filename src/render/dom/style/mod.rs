//! Style sheets and computed declarations (CSSOM §6, CSS Cascade 5): enough for scripts that check whether something is shown, and in
//! which colour. Values stay text; nothing is drawn and nothing is fetched.
//!
//! `declaration` parses declaration blocks, `sheet` rules, `value` maps a declaration to its properties, `length` computes lengths, and
//! `cascade` decides which rule wins. All of it is pure: `web::styles` collects the page's sheets.

pub mod cascade;
pub mod declaration;
pub mod length;
pub mod sheet;
pub mod value;

#[cfg(test)]
mod tests;

pub use self::declaration::Declaration;
pub use self::sheet::{Rule, RuleKind, Sheet};
