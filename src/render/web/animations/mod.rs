//! Web Animations, CSS Animations and CSS Transitions: nothing moves, but what waits for an end is told.

pub(crate) mod css_animations;
pub(crate) mod web_animations;
