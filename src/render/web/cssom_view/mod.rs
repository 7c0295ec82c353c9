//! CSSOM View: a rough layout, and what scripts measure by it.

pub(crate) mod layout;
pub(crate) mod media;
pub(crate) mod metrics;
