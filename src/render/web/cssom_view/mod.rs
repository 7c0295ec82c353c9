//! CSSOM View: a rough layout, and the measurements that scripts read from it.

pub(crate) mod layout;
pub(crate) mod media;
pub(crate) mod metrics;
pub(crate) mod unshown;
