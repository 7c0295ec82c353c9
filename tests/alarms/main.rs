//! The alarms over simulated weeks: what breaks is told within three looks and with its cause, and what is healthy raises nothing.

mod faults;
mod healthy;
mod simulate;
