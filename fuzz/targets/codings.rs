//! Content codings: for any bytes, the decoded output is bounded by the reader's cap and one piece, decoding ends, and it
//! does not depend on how the body was split into packets.

use std::io::Write as _;

use bytes::Bytes;
use gleaner_net::fetch::FailureKind;
use gleaner_net::fetch::codings::{Codings, Step};
use gleaner_net::limits::{CODING_WASTE_BYTES_MAX, CONTENT_CODINGS_MAX, DECODED_PIECE_BYTES_MAX};

/// Bytes after which the reader of this file stops, like a page's reader.
const CAP_BYTES: usize = 1 << 20;

const HEADERS: [&[&str]; 16] = [
    &["gzip"],
    &["br"],
    &["zstd"],
    &["deflate"],
    &["x-gzip"],
    &["gzip, gzip"],
    &["deflate", "gzip"],
    &["gzip", "br"],
    &["zstd, gzip"],
    &["br, zstd, deflate"],
    &["identity, GZIP"],
    &["gzip, gzip, gzip, gzip"],
    &["compress"],
    &["deflate, deflate"],
    &["zstd", "zstd"],
    &["none"],
];

/// How a body ended, and what it decoded to.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    bytes: Vec<u8>,
    end: Result<bool, FailureKind>,
}

/// Two bytes for the headers and the packets, then the body.
pub fn codings(input: &[u8]) {
    let mut body = input;
    let (headers, packet) = (super::choice(&mut body), usize::from(super::choice(&mut body)) + 1);
    let names = HEADERS[usize::from(headers) % HEADERS.len()];
    let at_once = decode(names, body, body.len().max(1));
    let in_packets = decode(names, body, packet);
    if let (Some(at_once), Some(in_packets)) = (&at_once, &in_packets) {
        // If the reader stopped, or the coding broke, the progress depends on the packets.
        let common = at_once.bytes.len().min(in_packets.bytes.len());
        assert_eq!(at_once.bytes[..common], in_packets.bytes[..common]);
        if at_once.end == Ok(true) {
            assert_eq!(at_once, in_packets, "in packets of {packet}");
        }
    }
    assert_eq!(at_once.is_some(), in_packets.is_some());

    // The output of an encoder decodes to its input.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(body).and_then(|()| zlib.write_all(body)).expect("a vector takes it");
    let (gzip, zlib) = (gzip.finish().expect("a vector takes it"), zlib.finish().expect("a vector takes it"));
    for (names, encoded) in [(["gzip"], &gzip), (["deflate"], &zlib)] {
        let back = decode(&names, encoded, packet).expect("a known coding");
        assert_eq!((back.bytes.as_slice(), back.end), (body, Ok(true)), "{names:?}");
    }
}

/// Decodes a body that arrives in packets of this length, up to the cap.
fn decode(names: &[&str], body: &[u8], packet: usize) -> Option<Outcome> {
    let mut codings = Codings::of(names.iter().map(|name| name.as_bytes()))?;
    let mut packets = body.chunks(packet);
    let mut bytes = Vec::new();
    // A step yields a piece, consumes a packet, or changes a stage's state; without a limit on their number a hang would be
    // a hang here too.
    let steps_max = 64 + 8 * (body.len() + CAP_BYTES + CONTENT_CODINGS_MAX * CODING_WASTE_BYTES_MAX as usize);
    for _ in 0..steps_max {
        match codings.step() {
            Ok(Step::Piece(piece)) => {
                assert!(!piece.is_empty() && piece.len() <= DECODED_PIECE_BYTES_MAX, "a piece of {}", piece.len());
                bytes.extend_from_slice(&piece);
                if bytes.len() > CAP_BYTES {
                    assert!(bytes.len() <= CAP_BYTES + DECODED_PIECE_BYTES_MAX);
                    return Some(Outcome { bytes, end: Ok(false) });
                }
            }
            Ok(Step::Hungry) => match packets.next() {
                Some(packet) => codings.feed(Bytes::copy_from_slice(packet)),
                None => codings.end(),
            },
            Ok(Step::Busy) => {}
            Ok(Step::End) => return Some(Outcome { bytes, end: Ok(true) }),
            Err(failure) => {
                assert!(matches!(failure.kind, FailureKind::Truncated | FailureKind::Protocol), "{failure}");
                return Some(Outcome { bytes, end: Err(failure.kind) });
            }
        }
    }
    panic!("no end after {steps_max} steps");
}
