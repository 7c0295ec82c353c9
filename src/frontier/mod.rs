//! What is due next.
