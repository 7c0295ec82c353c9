//! For those who work on gleaner: `login` makes the model that knows login forms, `schedule` replays post times against every policy of
//! when to visit. A program of its own, so that the service carries neither.

/// Writes to standard output; a failed write returns from the caller with the error.
macro_rules! out {
    ($($text:tt)*) => {
        gleaner_base::console::write_out(format_args!($($text)*))?
    };
}

/// [`out!`] with an end of line.
macro_rules! outln {
    ($($text:tt)*) => {
        out!("{}\n", format_args!($($text)*))
    };
}

pub mod cli;
pub mod limits;
pub mod login;
pub mod schedule;
mod simulate;
mod train;
