//! The built program from outside: each test starts it, on loopback, bounded in time.

mod cli;
mod crash;
mod demo_ajax;
mod demo_learned;
mod demo_site;
mod export_process;
mod hostile;
mod login;
mod login_bad_input;
mod login_families;
mod login_scripted;
mod login_secrets;
mod reference;
mod render_child;
mod render_command;
mod render_errors;
mod render_held;
mod render_pool;
mod rendered_crawl;
mod rules;
mod rules_check;
mod servers;
mod service_unit;
mod shortcut_crawl;
mod shortcut_ends;
mod shortcut_pins;
