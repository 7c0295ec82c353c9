//! Host state + now → go, wait until, never.
