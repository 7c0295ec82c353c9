//! The classifier: a decision is final, and no way of delivering a body loses a torrent.

use gleaner_net::classify::{Classifier, Decision, HeaderFacts};
use gleaner_net::limits::SNIFF_BYTES;
use gleaner_torrent::limits::TORRENT_JUNK_BYTES_MAX;
use gleaner_torrent::metainfo;

const TYPES: [Option<&str>; 12] = [
    None,
    Some(""),
    Some("application/x-bittorrent"),
    Some("Application/X-BitTorrent; name=\"x.torrent\""),
    Some("text/plain"),
    Some("text/plain; charset=utf-8"),
    Some("application/octet-stream"),
    Some("application/force-download"),
    Some("text/html; charset=utf-8; Cache-control:private"),
    Some("image/png"),
    Some("application/xml"),
    Some("garbage"),
];

const DISPOSITIONS: [Option<&str>; 4] =
    [None, Some("attachment; filename=\"x.torrent\""), Some("inline; filename=index.html"), Some("attachment")];

/// Two bytes for the headers and the pieces, then the body.
pub fn classify(input: &[u8]) {
    let mut body = input;
    let (headers, pieces) = (super::choice(&mut body), super::choice(&mut body));
    let facts = HeaderFacts {
        content_type: TYPES[usize::from(headers & 15) % TYPES.len()],
        disposition: DISPOSITIONS[usize::from(headers >> 4) % DISPOSITIONS.len()],
        content_length: (headers & 64 != 0).then_some(body.len() as u64),
        accepts_pages: headers & 128 == 0,
    };
    let at_once = Classifier::new(facts).feed(body, true);
    assert_ne!(at_once, Decision::NeedMore, "a whole body is decided");

    let step = usize::from(pieces) + 1;
    let mut classifier = Classifier::new(facts);
    let (mut length, mut decision) = (0, Decision::NeedMore);
    while decision == Decision::NeedMore {
        length = (length + step).min(body.len());
        decision = classifier.feed(&body[..length], length == body.len());
        assert!(
            decision != Decision::NeedMore || length < TORRENT_JUNK_BYTES_MAX + SNIFF_BYTES,
            "undecided at {length}"
        );
    }
    assert_eq!(classifier.feed(body, true), decision, "a decision stays");

    // The reason of a discard may only appear later; what happens with the body does not depend on how it arrives.
    let done = |decision| if let Decision::Discard(_) = decision { None } else { Some(decision) };
    assert_eq!(done(decision), done(at_once), "at once {at_once:?}, in pieces of {step} {decision:?}");

    if at_once != Decision::Torrent
        && let Ok(found) = metainfo::parse(body)
    {
        assert!(found.dict.start > 0, "a torrent is lost as {at_once:?}");
    }
}
