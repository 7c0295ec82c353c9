//! The whole crawl in virtual time, against simulated sites.

mod crawl_loop;
mod sim;
