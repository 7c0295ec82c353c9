//! Style sheets and what they give an element (CSSOM §6, CSS Cascade 5): enough for scripts that ask whether something is shown, and in
//! which colour. Values stay texts; nothing is drawn and nothing is fetched.
//!
//! `declaration` reads what stands between braces, `sheet` rules, `value` what a declaration gives to which property, `cascade` which
//! rule wins. All of it is pure: the page's sheets are gathered in `web::styles`.

pub mod cascade;
pub mod declaration;
pub mod sheet;
pub mod value;

#[cfg(test)]
mod tests;

pub use self::declaration::Declaration;
pub use self::sheet::{Rule, RuleKind, Sheet};
