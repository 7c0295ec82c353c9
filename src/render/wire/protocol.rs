//! The protocol between the crawl and a render child: frames with a JSON head and a raw body, over the child's standard input and output.
//!
//! ```text
//! u32 head bytes · u32 body bytes (both little endian) · head · body
//! crawl → child: Page, then an Answer for each Request          child → crawl: Hello, Requests, then Done
//! a page that is held open: Fill, then Answers                  Requests, then Done
//! ```
//!
//! A child has at most `limits::RENDER_REQUESTS_AT_ONCE_MAX` unanswered requests and holds back the next, which bounds what the crawl
//! buffers for it. A page's scripts may have taken over their child, so each frame is validated here before it is acted on.
//!
//! This module does no I/O itself.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Filling, Outcome, Page, Request, RequestId, Response};
use crate::limits;

/// Bytes before a frame's head.
pub const PREFIX_BYTES: usize = 8;

/// Frames of the crawl.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToChild {
    Page(Page),
    /// The body is the response's.
    Answer {
        id: RequestId,
        answer: Result<Response, String>,
    },
    /// For a page that is held open. The body is the texts to type.
    Fill(Filling),
}

/// Frames of the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToCrawl {
    /// The first frame: whether seccomp confines the child.
    Hello { confined: bool },
    /// The body is the request's.
    Request { id: RequestId, request: Request },
    /// A script set a cookie, in the syntax of `Set-Cookie`.
    Cookie { text: String },
    /// The page's reader is still working, even if it has requested nothing for long.
    Alive,
    /// The page is done; the body is its document.
    Done { outcome: Box<Outcome> },
    /// The finished page is cleared away. After `last` the child ends.
    Cleared { last: bool },
}

/// Why a frame is invalid.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {0} bytes is longer than any may be")]
    Long(u64),
    #[error("a frame's head is not understood: {0}")]
    Head(#[from] serde_json::Error),
    #[error("a request is none that a page's scripts can make: {0}")]
    Request(&'static str),
}

/// A frame as bytes.
///
/// # Errors
/// When it exceeds the limits of a frame.
pub fn frame(head: &impl Serialize, body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut bytes = frame_before(head, body.len(), body.len())?;
    bytes.extend_from_slice(body);
    Ok(bytes)
}

/// The frame of an outcome, whose head has its own limit.
///
/// # Errors
/// As [`frame`].
pub fn outcome_frame(head: &ToCrawl, body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let bytes = frame(head, body)?;
    let head_bytes = bytes.len() - PREFIX_BYTES - body.len();
    if head_bytes > limits::RENDER_DONE_HEAD_BYTES_MAX { Err(FrameError::Long(head_bytes as u64)) } else { Ok(bytes) }
}

/// A frame as bytes without its body, which is sent separately.
///
/// # Errors
/// As [`frame`].
pub fn frame_head(head: &impl Serialize, body_bytes: usize) -> Result<Vec<u8>, FrameError> {
    frame_before(head, body_bytes, 0)
}

fn frame_before(head: &impl Serialize, body_bytes: usize, room: usize) -> Result<Vec<u8>, FrameError> {
    let head = serde_json::to_vec(head)?;
    check(head.len() as u64, body_bytes as u64)?;
    let mut bytes = Vec::with_capacity(PREFIX_BYTES + head.len() + room);
    for part in [head.len(), body_bytes] {
        // `check` keeps both far below four gigabytes.
        bytes.extend_from_slice(&u32::try_from(part).unwrap_or(u32::MAX).to_le_bytes());
    }
    bytes.extend_from_slice(&head);
    Ok(bytes)
}

/// Head and body of a frame.
pub type Parts = (Vec<u8>, Vec<u8>);

/// Takes the first whole frame, head and body, out of the bytes read from a child. A frame too long for its kind is rejected as soon as
/// that is known; for an incomplete frame, buffer space is reserved.
///
/// # Errors
/// When the frame is too long.
pub fn next_of_child(read: &mut Vec<u8>) -> Result<Option<Parts>, FrameError> {
    /// How the head of an outcome begins: [`ToCrawl::Done`].
    const DONE: &[u8] = br#"{"done":"#;
    let Some((prefix, rest)) = read.split_first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
    let (head_bytes, body_bytes) = lengths(*prefix)?;
    let Some(begin) = rest.get(..DONE.len().min(head_bytes)) else { return Ok(None) };
    let (head_max, body_max) = match begin == DONE {
        true => (limits::RENDER_DONE_HEAD_BYTES_MAX, limits::RENDER_FRAME_BYTES_MAX),
        false => (limits::RENDER_HEAD_BYTES_MAX, limits::RENDER_POSTED_BYTES_MAX),
    };
    if head_bytes > head_max || body_bytes > body_max {
        return Err(FrameError::Long((head_bytes + body_bytes) as u64));
    }
    let whole = PREFIX_BYTES + head_bytes + body_bytes;
    if read.len() < whole {
        // Reserved but unwritten memory costs nothing; growth by doubling copies, and holds twice as much.
        read.reserve_exact(whole - read.len());
        return Ok(None);
    }
    let behind = read.split_off(whole);
    let mut frame = std::mem::replace(read, behind);
    let body = frame.split_off(PREFIX_BYTES + head_bytes);
    frame.drain(..PREFIX_BYTES);
    Ok(Some((frame, body)))
}

/// The lengths of head and body in a prefix.
///
/// # Errors
/// When they exceed the limits of a frame.
pub fn lengths(prefix: [u8; PREFIX_BYTES]) -> Result<(usize, usize), FrameError> {
    let [a, b, c, d, e, f, g, h] = prefix;
    let (head, body) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    check(head.into(), body.into())?;
    Ok((head as usize, body as usize))
}

fn check(head: u64, body: u64) -> Result<usize, FrameError> {
    let all = head.saturating_add(body);
    usize::try_from(all).ok().filter(|all| *all <= limits::RENDER_FRAME_BYTES_MAX).ok_or(FrameError::Long(all))
}

/// Parses a head.
///
/// # Errors
/// When it is not valid.
pub fn head<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    Ok(serde_json::from_slice(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written_and_long_ones_refused() {
        let bytes = frame(&ToCrawl::Hello { confined: true }, b"body").unwrap();
        let (prefix, rest) = bytes.split_at(PREFIX_BYTES);
        let (head_bytes, body_bytes) = lengths(prefix.try_into().unwrap()).unwrap();
        assert!(matches!(head::<ToCrawl>(&rest[..head_bytes]), Ok(ToCrawl::Hello { confined: true })));
        assert_eq!((&rest[head_bytes..], body_bytes), (b"body".as_slice(), 4));
        assert!(lengths([0xff; 8]).is_err());
        assert!(head::<ToCrawl>(b"{").is_err());
    }

    #[test]
    fn a_childs_frames_are_bounded_by_what_they_begin_as() {
        let begin = |head_bytes: u32, body_bytes: u32, head: &[u8]| {
            let mut read = [head_bytes.to_le_bytes(), body_bytes.to_le_bytes()].concat();
            read.extend_from_slice(head);
            next_of_child(&mut read).map(|frame| frame.is_some())
        };
        let head_max = u32::try_from(limits::RENDER_HEAD_BYTES_MAX).unwrap();
        assert!(matches!(begin(head_max, 0, b"{\"request\""), Ok(false)));
        assert!(begin(head_max + 1, 0, b"{\"request\"").is_err());
        assert!(matches!(begin(head_max + 1, 0, b"{\"done\":{"), Ok(false)));
        assert!(matches!(begin(40 << 20, 0, b""), Ok(false)), "nobody knows yet");
        assert!(begin(40 << 20, 0, b"{\"done\":{").is_err());
        assert!(matches!(begin(20, 1 << 20, b"{\"request\""), Ok(false)));
        assert!(begin(20, (1 << 20) + 1, b"{\"request\"").is_err());
        let mut read = frame(&ToCrawl::Cleared { last: true }, b"body").unwrap();
        read.extend_from_slice(&frame(&ToCrawl::Hello { confined: true }, b"").unwrap());
        let (head_bytes, body) = next_of_child(&mut read).unwrap().unwrap();
        assert!(matches!(head::<ToCrawl>(&head_bytes), Ok(ToCrawl::Cleared { last: true })));
        assert_eq!(body, b"body");
        assert!(next_of_child(&mut read).unwrap().is_some() && read.is_empty());
        assert!(next_of_child(&mut read).unwrap().is_none());
    }
}
