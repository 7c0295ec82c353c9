pub mod app;
pub mod cli;
pub mod limits;
