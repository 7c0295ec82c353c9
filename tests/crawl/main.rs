//! The whole crawl in virtual time, against simulated sites.

mod crawl_loop;
mod sim;

/// A number from the environment.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}
