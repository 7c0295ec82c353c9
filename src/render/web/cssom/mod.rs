//! CSSOM: declarations, style sheets and computed styles.

pub(crate) mod sizes;
pub(crate) mod style;
pub(crate) mod style_sheets;
pub(crate) mod style_table;
pub(crate) mod styles;
