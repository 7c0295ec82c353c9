//! The model that knows login forms: `training` makes it from a table of numbers by trees that `grow` grows, measures it against the
//! features of the `paper`, and `text` writes it.

pub mod grow;
pub mod paper;
pub mod text;
pub mod training;
