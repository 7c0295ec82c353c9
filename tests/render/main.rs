//! The renderer without its child process: pages, frames, markup, and the web platform tests.

mod engine_wpt;
mod frames;
mod markup;
mod pages;
mod trees;
mod web;
mod wpt {
    pub mod archive;
    pub mod node;
}
