//! Content codings (RFC 9110 §8.4): decodes a body as it arrives. The HTTP client below requests gzip, brotli, zstd
//! and deflate but decodes nothing itself. All variants of real servers are handled here: lists over several headers,
//! `x-gzip`, doubled and mixed codings, `deflate` with and without its zlib wrapper.
//!
//! If servers break the rules, this follows browsers:
//! - an unknown coding (`utf-8`, `none`, `binary`) leaves the whole body as received; `compress` is rejected by its
//!   name,
//! - bytes after a complete stream are ignored, but a further gzip member or zstd frame is part of it,
//! - an empty body is empty in every coding,
//! - the checksum behind deflate data is not compared, and may be cut or missing; so may the last block, if the server
//!   has flushed what came before it. Data that break off within a block are truncated,
//! - a body that claims to be gzip and is not is a protocol error, be it HTML or a torrent: no browser shows it, so no
//!   working site sends it. A torrent that is a gzip file without a content coding stays a gzip file.
//!
//! Memory is bounded by the decoders' windows and one piece. A piece never exceeds
//! [`limits::DECODED_PIECE_BYTES_MAX`], so that a bomb produces no more than that beyond the reader's cap. This
//! module never reads from the network, never waits, and does not cap what the reader wants; [`super::body`] does
//! that.

mod flate;

use bytes::{Buf, Bytes, BytesMut};
use compression_codecs::core::util::{PartialBuffer, WriteBuffer};
use compression_codecs::zstd::params::DParameter;
use compression_codecs::{BrotliDecoder, DecodeV2, ZstdDecoder};

use self::flate::{Deflated, FLUSHED, GZIP_FOOT_BYTES, Wrapper};
use super::{FailureKind, FetchFailure};
use crate::limits;

/// Smallest output buffer for one piece, in bytes.
const PIECE_BYTES: usize = 4 << 10;

/// Output buffer per byte of input. HTML compresses to a fourth or an eighth, so most pages come in one piece.
const EXPANSION: usize = 8;

/// The decoder chain of one body. Call [`Codings::step`] for the next step.
pub struct Codings {
    /// In decoding order, which is the reverse of the server's.
    stages: Vec<Stage>,
    wire: Wire,
    fault: Option<FetchFailure>,
}

/// The next event of a coded body.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The next decoded bytes.
    Piece(Bytes),
    /// The decoders need more of the body: [`Codings::feed`] or [`Codings::end`].
    Hungry,
    /// Enough work for one turn on the loop's thread: yield, then call again.
    Busy,
    /// The content is complete. Further bytes of the body are ignored.
    End,
}

impl Codings {
    /// Parses the values of all `Content-Encoding` headers, in their order. `None` if the body needs no decoding. A
    /// rejected chain fails at its first step, so that the status is known before.
    pub fn of<'v>(values: impl Iterator<Item = &'v [u8]>) -> Option<Self> {
        let mut stages = Vec::new();
        let mut fault = None;
        for name in values.flat_map(|value| value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii) {
            let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
            let coding = if is(&["gzip", "x-gzip"]) {
                Coding::Gzip
            } else if is(&["br"]) {
                Coding::Brotli
            } else if is(&["zstd"]) {
                Coding::Zstd
            } else if is(&["deflate"]) {
                Coding::Deflate
            } else if is(&["", "identity"]) {
                continue;
            } else if is(&["compress", "x-compress"]) {
                fault = Some(broken("content coding `compress` is not supported".to_owned()));
                break;
            } else {
                return None;
            };
            if stages.len() == limits::CONTENT_CODINGS_MAX {
                let most = limits::CONTENT_CODINGS_MAX;
                fault = Some(broken(format!("the body is in more than {most} content codings")));
                break;
            }
            stages.push(Stage::new(coding));
        }
        stages.reverse();
        (fault.is_some() || !stages.is_empty()).then_some(Self { stages, wire: Wire::default(), fault })
    }

    /// Feeds a raw piece of the body. Only allowed after [`Step::Hungry`].
    pub fn feed(&mut self, piece: Bytes) {
        self.wire.piece = piece;
    }

    /// The body has ended.
    pub fn end(&mut self) {
        self.wire.ended = true;
    }

    /// True if the content may be complete: only further members, or the end, can follow.
    #[must_use]
    pub fn may_be_whole(&self) -> bool {
        self.stages.last().is_some_and(|stage| matches!(stage.state, DecoderState::Between(_) | DecoderState::Done))
    }

    /// The next step. After an error or [`Step::End`] there are no more.
    ///
    /// # Errors
    /// [`FailureKind::Truncated`] if the body ends within a coding, [`FailureKind::Protocol`] if its bytes are not in
    /// the coding, or the chain is rejected.
    pub fn step(&mut self) -> Result<Step, FetchFailure> {
        match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => pull(&mut self.stages, &mut self.wire).inspect_err(|fault| self.fault = Some(fault.clone())),
        }
    }
}

/// The raw body.
#[derive(Default)]
struct Wire {
    piece: Bytes,
    ended: bool,
    /// Bytes read and produced by all stages since the last [`Step::Busy`].
    work_bytes: usize,
}

/// The next piece from the last of these stages.
fn pull(stages: &mut [Stage], wire: &mut Wire) -> Result<Step, FetchFailure> {
    let Some((stage, before)) = stages.split_last_mut() else {
        return Ok(match (wire.piece.is_empty(), wire.ended) {
            (false, _) => Step::Piece(std::mem::take(&mut wire.piece)),
            (true, true) => Step::End,
            (true, false) => Step::Hungry,
        });
    };
    loop {
        let (had, step) = (stage.input.len(), stage.run()?);
        wire.work_bytes += had - stage.input.len();
        match step {
            Step::Piece(piece) => {
                wire.work_bytes += piece.len();
                return Ok(Step::Piece(piece));
            }
            Step::End => return Ok(Step::End),
            Step::Busy | Step::Hungry if wire.work_bytes >= limits::DECODE_TURN_BYTES_MAX => {
                wire.work_bytes = 0;
                return Ok(Step::Busy);
            }
            Step::Busy => {}
            Step::Hungry => match pull(before, wire)? {
                Step::Piece(piece) => stage.take(piece),
                Step::End => stage.ended = true,
                waits => return Ok(waits),
            },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// Length of the coding's magic number in bytes.
    fn mark_bytes(self) -> usize {
        match self {
            Self::Gzip | Self::Deflate => 2,
            Self::Brotli => 0,
            Self::Zstd => 4,
        }
    }

    /// True if a stream of the coding may start like this. A truncated magic number is compared as far as it goes.
    fn begins(self, head: &[u8]) -> bool {
        let mark = &head[..head.len().min(self.mark_bytes())];
        match self {
            Self::Gzip => [0x1f, 0x8b].starts_with(mark),
            Self::Deflate | Self::Brotli => true,
            // A frame, or a skippable frame (RFC 8878 §3.1).
            Self::Zstd => {
                let skippable = |first: u8, rest: &[u8]| first & 0xf0 == 0x50 && [0x2a, 0x4d, 0x18].starts_with(rest);
                [0x28, 0xb5, 0x2f, 0xfd].starts_with(mark)
                    || matches!(mark, [first, rest @ ..] if skippable(*first, rest))
            }
        }
    }

    /// True if another stream may follow a complete one (RFC 1952 §2.2, RFC 8878 §3).
    fn has_members(self) -> bool {
        matches!(self, Self::Gzip | Self::Zstd)
    }

    /// A decoder for a stream with this head.
    fn decoder(self, head: &[u8]) -> Box<dyn DecodeV2 + Send> {
        match self {
            Self::Gzip | Self::Deflate => Box::new(Deflated::new(self.wrapper(head))),
            Self::Brotli => Box::new(BrotliDecoder::new()),
            Self::Zstd => {
                Box::new(ZstdDecoder::new_with_params(&[DParameter::window_log_max(limits::ZSTD_WINDOW_LOG_MAX)]))
            }
        }
    }
}

impl Coding {
    /// What the deflate data of a stream with this head are wrapped in.
    fn wrapper(self, head: &[u8]) -> Wrapper {
        match self {
            Self::Gzip => Wrapper::Gzip,
            Self::Deflate if is_zlib(head) => Wrapper::Zlib,
            _ => Wrapper::None,
        }
    }

    fn is_deflated(self) -> bool {
        matches!(self, Self::Gzip | Self::Deflate)
    }
}

/// True for the two bytes of a zlib header (RFC 1950 §2.2). As raw deflate they would be a stored block with stray
/// bits in its padding, which no encoder writes.
fn is_zlib(head: &[u8]) -> bool {
    matches!(head, [method, flags, ..] if method & 0x0f == 8
        && method >> 4 <= 7
        && u16::from_be_bytes([*method, *flags]).is_multiple_of(31))
}

/// The decoder of one coding.
struct Stage {
    coding: Coding,
    input: Bytes,
    /// Nothing comes after `input`.
    ended: bool,
    read_bytes: u64,
    made_bytes: u64,
    /// The last bytes that were decoded, of deflate data.
    last: [u8; FLUSHED.len()],
    /// Bytes behind a stream that are not decoded, and are still to come: its checksum.
    foot_bytes: usize,
    state: DecoderState,
}

enum DecoderState {
    /// Before the first stream.
    Fresh,
    Within {
        decoder: Box<dyn DecodeV2 + Send>,
        /// The last output piece was full: the decoder may hold more without further input.
        full: bool,
    },
    /// After a complete stream.
    Between(Box<dyn DecodeV2 + Send>),
    Done,
}

impl Stage {
    fn new(coding: Coding) -> Self {
        let (input, last, state) = (Bytes::new(), [0; FLUSHED.len()], DecoderState::Fresh);
        Self { coding, input, ended: false, read_bytes: 0, made_bytes: 0, last, foot_bytes: 0, state }
    }

    /// Takes more input. The rest of the previous input is shorter than a magic number.
    fn take(&mut self, piece: Bytes) {
        if self.input.is_empty() {
            self.input = piece;
        } else {
            let mut joined = BytesMut::from(std::mem::take(&mut self.input));
            joined.extend_from_slice(&piece);
            self.input = joined.freeze();
        }
    }

    /// Advances by one piece, or by one state.
    fn run(&mut self) -> Result<Step, FetchFailure> {
        if matches!(self.state, DecoderState::Between(_)) {
            self.skip_foot();
        }
        let lacks_mark = self.input.len() < self.coding.mark_bytes().max(1);
        match std::mem::replace(&mut self.state, DecoderState::Done) {
            DecoderState::Done => Ok(Step::End),
            state @ (DecoderState::Fresh | DecoderState::Between(_)) if lacks_mark && !self.ended => {
                self.state = state;
                Ok(Step::Hungry)
            }
            DecoderState::Fresh if self.input.is_empty() => Ok(Step::End),
            DecoderState::Fresh => self.open(),
            DecoderState::Between(mut decoder) => {
                if lacks_mark || !self.coding.begins(&self.input) {
                    return Ok(Step::End);
                }
                decoder.reinit().map_err(|error| self.broken(&error))?;
                self.state = DecoderState::Within { decoder, full: false };
                Ok(Step::Busy)
            }
            DecoderState::Within { decoder, full } if self.input.is_empty() && !full && !self.ended => {
                self.state = DecoderState::Within { decoder, full };
                Ok(Step::Hungry)
            }
            DecoderState::Within { decoder, full } => self.decode(decoder, full),
        }
    }

    fn skip_foot(&mut self) {
        let skipped = self.foot_bytes.min(self.input.len());
        self.input.advance(skipped);
        self.foot_bytes -= skipped;
    }

    /// Opens the first stream.
    fn open(&mut self) -> Result<Step, FetchFailure> {
        let (name, head) = (self.coding.name(), &self.input[..self.input.len().min(16)]);
        if self.coding.begins(head) {
            if head.len() < self.coding.mark_bytes() {
                return Err(self.truncated());
            }
            let decoder = self.coding.decoder(head);
            self.state = DecoderState::Within { decoder, full: false };
            return Ok(Step::Busy);
        }
        let head = head.escape_ascii();
        Err(broken(format!("the headers say content coding `{name}`, but the body begins with `{head}`")))
    }

    /// Decodes one piece of the stream. The state is [`DecoderState::Done`] until it is known to continue.
    fn decode(&mut self, mut decoder: Box<dyn DecodeV2 + Send>, full: bool) -> Result<Step, FetchFailure> {
        let room = if full { limits::DECODED_PIECE_BYTES_MAX } else { self.input.len().saturating_mul(EXPANSION) };
        let mut piece = vec![0; room.clamp(PIECE_BYTES, limits::DECODED_PIECE_BYTES_MAX)];
        let mut output = WriteBuffer::new_initialized(&mut piece);
        let mut input = PartialBuffer::new(&self.input[..]);
        let decoded = match (self.input.is_empty(), self.coding) {
            (false, _) => decoder.decode(&mut input, &mut output),
            (true, _) if self.ended && !full => decoder.finish(&mut output),
            // Only these two need this call without input to detect the end of their stream; the others do not allow
            // it.
            (true, Coding::Brotli | Coding::Zstd) => decoder.decode(&mut input, &mut output),
            (true, Coding::Gzip | Coding::Deflate) => decoder.flush(&mut output).map(|_| false),
        };
        let (read, made, full_now) = (input.written_len(), output.written_len(), output.has_no_spare_space());
        let asked_for_the_end = self.input.is_empty() && self.ended && !full;
        let is_flushed = asked_for_the_end && self.coding.is_deflated() && self.last == FLUSHED;
        let complete = match decoded {
            Ok(complete) => complete || is_flushed,
            Err(_) if is_flushed => true,
            Err(_) if asked_for_the_end => return Err(self.truncated()),
            Err(error) => return Err(self.broken(&error)),
        };
        if asked_for_the_end && !complete && made == 0 {
            return Err(self.truncated());
        }
        if read == 0 && made == 0 && !complete && !self.input.is_empty() {
            return Err(self.broken(&std::io::Error::other("no progress")));
        }
        self.note_last(read);
        self.input.advance(read);
        self.read_bytes += read as u64;
        self.made_bytes += made as u64;
        // No encoder makes its input much longer. This is a bomb of empty blocks or members, which cost time and
        // produce nothing that the reader's cap could count.
        if self.read_bytes > 2 * self.made_bytes + limits::CODING_WASTE_BYTES_MAX {
            return Err(self.broken(&std::io::Error::other("it decodes to almost nothing")));
        }
        if complete {
            // Of `deflate`, all that follows is ignored.
            self.foot_bytes = if self.coding == Coding::Gzip { GZIP_FOOT_BYTES } else { 0 };
        }
        self.state = match complete {
            true if self.coding.has_members() => DecoderState::Between(decoder),
            true => DecoderState::Done,
            false => DecoderState::Within { decoder, full: full_now },
        };
        if made == 0 {
            return Ok(Step::Busy);
        }
        piece.truncate(made);
        Ok(Step::Piece(piece.into()))
    }

    /// Keeps the last of the bytes that the decoder has read of the input.
    fn note_last(&mut self, read: usize) {
        let new = &self.input[..read];
        let fresh = &new[new.len().saturating_sub(FLUSHED.len())..];
        self.last.rotate_left(fresh.len());
        self.last[FLUSHED.len() - fresh.len()..].copy_from_slice(fresh);
    }

    fn truncated(&self) -> FetchFailure {
        let detail = format!("the body ends within its content coding `{}`", self.coding.name());
        FetchFailure { kind: FailureKind::Truncated, detail }
    }

    fn broken(&self, error: &std::io::Error) -> FetchFailure {
        broken(format!("the body is broken in its content coding `{}`: {error}", self.coding.name()))
    }
}

fn broken(detail: String) -> FetchFailure {
    FetchFailure { kind: FailureKind::Protocol, detail }
}

#[cfg(test)]
mod tests;
