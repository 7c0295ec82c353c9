//! The login form model: `training` learns it from a table of features with trees that `grow` builds, compares it with the
//! features of the `paper`, and `text` writes it.

pub mod grow;
pub mod paper;
pub mod text;
pub mod training;
