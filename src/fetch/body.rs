//! Reading a body as it arrives: the reader is asked at every piece whether it wants more, and no body grows
//! beyond its cap. The cap counts decoded bytes, so that a compressed bomb ends like any other large body.

use bytes::{Bytes, BytesMut};

use super::{Body, FetchFailure};

/// What the reader says after each piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Go on, up to this many bytes in all.
    UpTo(usize),
    /// Stop here.
    Stop,
}

/// How reading ended. The bytes are those that came until then.
#[derive(Debug)]
pub enum Read {
    Whole(Bytes),
    /// The reader said stop, or the body had passed its cap (`over_cap`).
    Stopped {
        bytes: Bytes,
        over_cap: bool,
    },
    Failed {
        bytes: Bytes,
        failure: FetchFailure,
    },
}

/// Reads a body. `ask` sees all bytes so far and whether they are all; it is asked at least once.
pub async fn read(mut body: Box<dyn Body>, mut ask: impl FnMut(&[u8], bool) -> Want) -> Read {
    let mut first = Bytes::new();
    let mut joined: Option<BytesMut> = None;
    loop {
        let piece = match body.chunk().await {
            Ok(Some(piece)) => piece,
            Ok(None) => {
                let bytes = whole(first, joined);
                return match ask(&bytes, true) {
                    Want::UpTo(_) => Read::Whole(bytes),
                    Want::Stop => Read::Stopped { bytes, over_cap: false },
                };
            }
            Err(failure) => {
                return Read::Failed { bytes: whole(first, joined), failure };
            }
        };
        // Most bodies come in one piece: that one is kept as it is, without a copy.
        if joined.is_none() && first.is_empty() {
            first = piece;
        } else {
            joined.get_or_insert_with(|| BytesMut::from(std::mem::take(&mut first))).extend_from_slice(&piece);
        }
        let so_far: &[u8] = joined.as_deref().unwrap_or(&first);
        match ask(so_far, false) {
            Want::UpTo(cap) if so_far.len() <= cap => {}
            want => {
                let over_cap = want != Want::Stop;
                return Read::Stopped { bytes: whole(first, joined), over_cap };
            }
        }
    }
}

fn whole(first: Bytes, joined: Option<BytesMut>) -> Bytes {
    joined.map_or(first, BytesMut::freeze)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::FailureKind;
    use std::collections::VecDeque;

    struct Pieces(VecDeque<Result<Bytes, FetchFailure>>);

    #[async_trait::async_trait]
    impl Body for Pieces {
        async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
            self.0.pop_front().transpose()
        }
    }

    fn body(pieces: &[&'static str]) -> Box<dyn Body> {
        Box::new(Pieces(pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes()))).collect()))
    }

    #[tokio::test]
    async fn pieces_are_joined_in_order() {
        let read = read(body(&["ab", "cd", "e"]), |_, _| Want::UpTo(10)).await;
        assert!(matches!(read, Read::Whole(bytes) if &bytes[..] == b"abcde"));
    }

    #[tokio::test]
    async fn a_body_over_its_cap_stops_at_the_piece_that_passed_it() {
        let read = read(body(&["abc", "def", "never"]), |_, _| Want::UpTo(4)).await;
        assert!(matches!(read, Read::Stopped { bytes, over_cap: true } if &bytes[..] == b"abcdef"));
    }

    #[tokio::test]
    async fn a_reader_that_says_stop_sees_no_further_piece() {
        let mut seen = 0;
        let read = read(body(&["abc", "def"]), |_, _| {
            seen += 1;
            Want::Stop
        })
        .await;
        assert!(matches!(read, Read::Stopped { over_cap: false, .. }));
        assert_eq!(seen, 1);
    }

    #[tokio::test]
    async fn an_empty_body_is_asked_about_once() {
        let mut seen = Vec::new();
        let read = read(body(&[]), |bytes, complete| {
            seen.push((bytes.len(), complete));
            Want::UpTo(1)
        })
        .await;
        assert!(matches!(read, Read::Whole(bytes) if bytes.is_empty()));
        assert_eq!(seen, [(0, true)]);
    }

    #[tokio::test]
    async fn a_failure_keeps_what_came_before_it() {
        let failure = FetchFailure { kind: FailureKind::Truncated, detail: String::new() };
        let pieces = Pieces([Ok(Bytes::from_static(b"ab")), Err(failure)].into());
        let read = read(Box::new(pieces), |_, _| Want::UpTo(10)).await;
        assert!(matches!(read, Read::Failed { bytes, .. } if &bytes[..] == b"ab"));
    }
}
