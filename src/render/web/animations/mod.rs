//! Web Animations, CSS Animations and CSS Transitions: nothing moves, but the events fire.

pub(crate) mod css_animations;
pub(crate) mod web_animations;
