//! Developer tools for gleaner: `login` trains the login form model, `schedule` replays post times against every recheck policy,
//! `render` renders pages where a profile can be written.
//! A separate program, so that the service contains none of it.

/// Writes to standard output; if that fails, returns the error from the calling function.
macro_rules! out {
    ($($text:tt)*) => {
        gleaner_base::console::write_out(format_args!($($text)*))?
    };
}

/// [`out!`] with a line break.
macro_rules! outln {
    ($($text:tt)*) => {
        out!("{}\n", format_args!($($text)*))
    };
}

pub mod cli;
pub mod limits;
pub mod login;
mod render;
pub mod schedule;
mod simulate;
mod train;
