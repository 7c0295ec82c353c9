//! Output to a reader that may stop reading (`| head`): the rest is discarded, and the command's exit code stays.

use std::io::{self, ErrorKind, Write};

/// Standard output of a command whose exit code is its result.
pub struct Pipe<W> {
    out: W,
    is_shut: bool,
}

impl<W: Write> Pipe<W> {
    pub fn new(out: W) -> Self {
        Self { out, is_shut: false }
    }

    /// The result of a write, or `otherwise` if the reader is gone.
    fn unless_shut<T>(&mut self, written: io::Result<T>, otherwise: T) -> io::Result<T> {
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_shut = true;
                Ok(otherwise)
            }
            written => written,
        }
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.is_shut { Ok(bytes.len()) } else { self.out.write(bytes) };
        self.unless_shut(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = if self.is_shut { Ok(()) } else { self.out.flush() };
        self.unless_shut(flushed, ())
    }
}
