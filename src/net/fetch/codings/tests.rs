//! Codings against real encoders: every variant, every cut, every piece size, and bombs.

use compression_codecs::brotli::params::EncoderParams as BrotliParams;
use compression_codecs::core::Level;
use compression_codecs::flate::params::FlateEncoderParams;
use compression_codecs::{BrotliEncoder, DeflateEncoder, EncodeV2, GzipEncoder, ZlibEncoder, ZstdEncoder};

use super::*;

/// The decoded body: its bytes, its longest piece, and how it ended.
struct Decoded {
    bytes: Vec<u8>,
    made: usize,
    longest: usize,
    end: Result<(), FetchFailure>,
}

/// Decodes a body in pieces of this size, until more than `cap` bytes were produced.
fn decode(header: &str, body: &[u8], piece_bytes: usize, cap: usize) -> Decoded {
    let mut codings = Codings::of(header.lines().map(str::as_bytes)).expect("a coding");
    let mut pieces = body.chunks(piece_bytes);
    let mut decoded = Decoded { bytes: Vec::new(), made: 0, longest: 0, end: Ok(()) };
    let mut idle_steps = 0;
    loop {
        match codings.step() {
            Ok(Step::Piece(piece)) => {
                assert!(!piece.is_empty());
                decoded.made += piece.len();
                decoded.longest = decoded.longest.max(piece.len());
                if decoded.made > cap {
                    return decoded;
                }
                decoded.bytes.extend_from_slice(&piece);
                idle_steps = 0;
            }
            Ok(Step::Hungry) => match pieces.next() {
                Some(piece) => codings.feed(Bytes::copy_from_slice(piece)),
                None => codings.end(),
            },
            Ok(Step::Busy) => {
                idle_steps += 1;
                assert!(idle_steps < 1_000, "turns without an end");
            }
            Ok(Step::End) => return decoded,
            Err(failure) => {
                assert_eq!(codings.step(), Err(failure.clone()), "a fault stays one");
                decoded.end = Err(failure);
                return decoded;
            }
        }
    }
}

fn whole(header: &str, body: &[u8]) -> Result<Vec<u8>, FetchFailure> {
    let decoded = decode(header, body, usize::MAX, usize::MAX);
    decoded.end.map(|()| decoded.bytes)
}

fn kind(header: &str, body: &[u8]) -> FailureKind {
    whole(header, body).unwrap_err().kind
}

/// A body in one coding; `zlib` and `raw` are both called `deflate` on the wire.
fn encode(coding: &str, data: &[u8]) -> Vec<u8> {
    let flate = || FlateEncoderParams::from(Level::Default);
    let mut encoder: Box<dyn EncodeV2> = match coding {
        "gzip" => Box::new(GzipEncoder::new(flate())),
        "zlib" => Box::new(ZlibEncoder::new(flate())),
        "raw" => Box::new(DeflateEncoder::new(flate())),
        "br" => Box::new(BrotliEncoder::new(BrotliParams::default().quality(Level::Precise(3)))),
        "zstd" => Box::new(ZstdEncoder::new(3)),
        other => panic!("{other}"),
    };
    let mut coded = Vec::new();
    let mut input = PartialBuffer::new(data);
    let mut room = vec![0; 64 << 10];
    loop {
        let mut output = WriteBuffer::new_initialized(&mut room);
        let finished = if input.unwritten().is_empty() {
            encoder.finish(&mut output).unwrap()
        } else {
            encoder.encode(&mut input, &mut output).unwrap();
            false
        };
        coded.extend_from_slice(output.written());
        if finished {
            return coded;
        }
    }
}

/// Bytes of the checksum at the end of a body.
fn checksum_bytes(coding: &str) -> usize {
    match coding {
        "gzip" => 8,
        "zlib" => 4,
        _ => 0,
    }
}

/// A body whose data end with a flush instead of a last block.
fn flushed(coding: &str, data: &[u8]) -> Vec<u8> {
    let mut coded = match coding {
        "gzip" => b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec(),
        "zlib" => b"\x78\x9c".to_vec(),
        _ => Vec::new(),
    };
    let mut deflater = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut deflater, data).unwrap();
    std::io::Write::flush(&mut deflater).unwrap();
    coded.extend_from_slice(deflater.get_ref());
    coded
}

fn wire_name(coding: &str) -> &str {
    if matches!(coding, "zlib" | "raw") { "deflate" } else { coding }
}

const ALL: [&str; 5] = ["gzip", "zlib", "raw", "br", "zstd"];

/// Text that compresses like a page, followed by noise that does not.
fn page(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut page = Vec::new();
    while page.len() < bytes {
        page.extend_from_slice(format!("<li><a href=\"/t/{}\">torrent</a></li>\n", noise() % 10_000).as_bytes());
        if page.len() % 7 == 0 {
            page.extend((0..40).map(|_| noise().to_le_bytes()[0]));
        }
    }
    page
}

#[test]
fn every_coding_is_decoded_in_pieces_of_every_size() {
    let page = page(300_000);
    for coding in ALL {
        let coded = encode(coding, &page);
        for piece_bytes in [1, 2, 7, 1_000, 65_536, usize::MAX] {
            let decoded = decode(wire_name(coding), &coded, piece_bytes, usize::MAX);
            assert_eq!(decoded.end, Ok(()), "{coding} {piece_bytes}");
            assert!(decoded.bytes == page, "{coding} {piece_bytes}");
            assert!(decoded.longest <= limits::DECODED_PIECE_BYTES_MAX, "{coding} {piece_bytes}");
        }
    }
}

#[test]
fn bodies_of_every_length_around_a_piece_end_where_they_end() {
    // Output that fills a piece to its last byte is where decoders miss the end.
    for coding in ALL {
        for bytes in [0, 1, 4_095, 4_096, 4_097, 65_535, 65_536, 65_537, 131_072] {
            let data = vec![b'x'; bytes];
            let coded = encode(coding, &data);
            for trailing in [&b""[..], b"\0", b"<!-- junk behind the page -->"] {
                let body = [&coded[..], trailing].concat();
                for piece_bytes in [1, coded.len(), usize::MAX] {
                    let decoded = decode(wire_name(coding), &body, piece_bytes, usize::MAX);
                    assert_eq!(decoded.end, Ok(()), "{coding} {bytes} {trailing:?} {piece_bytes}");
                    assert!(decoded.bytes == data, "{coding} {bytes} {trailing:?} {piece_bytes}");
                }
            }
        }
    }
}

#[test]
fn headers_are_read_in_every_spelling() {
    let page = b"<html>page</html>".as_slice();
    let gzip = encode("gzip", page);
    for header in ["gzip", "GZIP", "x-gzip", " X-GZip ", "identity, gzip", ",gzip ,, identity", "\tgzip\t", "\ngzip\n"]
    {
        assert_eq!(whole(header, &gzip).as_deref(), Ok(page), "{header:?}");
    }
    for (header, body) in [
        ("gzip, gzip", encode("gzip", &gzip)),
        ("gzip\ngzip", encode("gzip", &gzip)),
        ("gzip, br", encode("br", &gzip)),
        ("br\ngzip", encode("gzip", &encode("br", page))),
        ("deflate, zstd", encode("zstd", &encode("raw", page))),
        ("gzip, zstd, deflate", encode("zlib", &encode("zstd", &gzip))),
    ] {
        assert_eq!(whole(header, &body).as_deref(), Ok(page), "{header:?}");
    }
}

#[test]
fn what_is_no_coding_leaves_the_body_alone_and_what_nobody_decodes_is_refused_by_name() {
    for header in ["", "identity", "none", "utf-8", "binary", "gzip, utf-8", "text/html", "gzip;q=1", "\u{ff}"] {
        assert!(Codings::of(header.lines().map(str::as_bytes)).is_none(), "{header:?}");
    }
    for header in ["compress", "X-Compress", "gzip, compress"] {
        let failure = whole(header, b"\x1f\x9d").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Protocol);
        assert!(failure.detail.contains("`compress`"), "{failure}");
    }
    let failure = whole("gzip, gzip, br, gzip", b"").unwrap_err();
    assert!(failure.detail.contains("more than 3 content codings"), "{failure}");
}

#[test]
fn an_empty_body_is_empty_in_every_coding() {
    for header in ["gzip", "deflate", "br", "zstd", "gzip, br, zstd"] {
        assert_eq!(whole(header, b""), Ok(Vec::new()), "{header}");
    }
}

#[test]
fn members_follow_each_other_and_junk_behind_them_is_ignored() {
    for coding in ["gzip", "zstd"] {
        let members = [encode(coding, b"first "), encode(coding, b""), encode(coding, b"second")].concat();
        assert_eq!(whole(coding, &members).as_deref(), Ok(&b"first second"[..]), "{coding}");
        for junk in [&b"\0\0\0\0\0\0"[..], b"x", b"\r\n", b"<html>", b"\x1f", b"\x28\xb5"] {
            let body = [&members[..], junk].concat();
            for piece_bytes in [1, members.len(), usize::MAX] {
                let decoded = decode(coding, &body, piece_bytes, usize::MAX);
                assert_eq!((decoded.end, &decoded.bytes[..]), (Ok(()), &b"first second"[..]), "{coding} {junk:?}");
            }
        }
        let mut codings = Codings::of([coding.as_bytes()].into_iter()).unwrap();
        codings.feed(members.clone().into());
        while codings.step().unwrap() != Step::Hungry {}
        assert!(codings.may_be_whole(), "{coding}");
    }
    // A skippable frame (RFC 8878 §3.1.2) has no content.
    let skippable = [b"\x5a\x2a\x4d\x18\x03\0\0\0abc", &encode("zstd", b"page")[..]].concat();
    assert_eq!(whole("zstd", &skippable).as_deref(), Ok(&b"page"[..]));
}

#[test]
fn a_gzip_header_with_everything_in_it_is_read() {
    // Extra field, file name, comment, header checksum (RFC 1952 §2.3).
    let plain = encode("gzip", b"page");
    let mut head = b"\x1f\x8b\x08\x1e\0\0\0\0\0\x03\x02\0xxname\0comment\0".to_vec();
    let mut sum = flate2::Crc::new();
    sum.update(&head);
    head.extend_from_slice(&sum.sum().to_le_bytes()[..2]);
    head.extend_from_slice(&plain[10..]);
    for piece_bytes in [1, 3, usize::MAX] {
        let decoded = decode("gzip", &head, piece_bytes, usize::MAX);
        assert_eq!((decoded.end, &decoded.bytes[..]), (Ok(()), &b"page"[..]));
    }
}

#[test]
fn a_body_cut_in_its_data_is_truncated_and_never_whole() {
    let page = page(2_000);
    for coding in ALL {
        let coded = encode(coding, &page);
        for cut in 1..coded.len() - checksum_bytes(coding) {
            for piece_bytes in [1, usize::MAX] {
                let decoded = decode(wire_name(coding), &coded[..cut], piece_bytes, usize::MAX);
                let end = decoded.end.map_err(|failure| failure.kind);
                assert_eq!(end, Err(FailureKind::Truncated), "{coding} cut at {cut}");
                assert!(page.starts_with(&decoded.bytes), "{coding} cut at {cut}");
            }
        }
    }
    for coding in ["gzip", "zlib", "raw"] {
        let flushed = flushed(coding, &page);
        for cut in 1..flushed.len() {
            assert_eq!(kind(wire_name(coding), &flushed[..cut]), FailureKind::Truncated, "{coding} cut at {cut}");
        }
    }
    let twice = encode("br", &encode("gzip", &page));
    assert_eq!(kind("gzip, br", &twice[..twice.len() - 1]), FailureKind::Truncated);
    let inner_cut = encode("br", &encode("gzip", &page)[..200]);
    assert_eq!(kind("gzip, br", &inner_cut), FailureKind::Truncated);
}

#[test]
fn a_body_that_says_a_coding_and_is_none_is_a_fault_as_in_browsers() {
    for (header, body) in [
        ("gzip", &b"<!DOCTYPE html><html></html>"[..]),
        ("gzip", b"d8:announce3:urle"),
        ("gzip", b"x"),
        ("zstd", b"<!DOCTYPE html>"),
        ("deflate", b"<!DOCTYPE html><html></html>"),
        ("br", b"<!DOCTYPE html><html></html>"),
    ] {
        assert_eq!(kind(header, body), FailureKind::Protocol, "{header} {}", body.escape_ascii());
    }
    let failure = whole("gzip", b"d8:announce3:urle").unwrap_err();
    assert!(failure.detail.contains("`gzip`, but the body begins with `d8:announce3:url`"), "{failure}");
    // A torrent of gzip bytes is still a gzip file after decoding.
    let file = encode("gzip", b"d4:infodee");
    assert_eq!(whole("gzip", &encode("gzip", &file)).as_deref(), Ok(&file[..]));
}

#[test]
fn data_without_their_checksum_or_with_a_wrong_one_are_whole() {
    let page = page(1_000);
    for coding in ["gzip", "zlib"] {
        let coded = encode(coding, &page);
        for left in 0..=checksum_bytes(coding) {
            let cut = &coded[..coded.len() - checksum_bytes(coding) + left];
            let mut wrong = cut.to_vec();
            wrong[coded.len() - checksum_bytes(coding)..].fill(0x1f);
            for (body, piece_bytes) in [(cut, 1), (cut, usize::MAX), (&wrong, 1), (&wrong, usize::MAX)] {
                let decoded = decode(wire_name(coding), body, piece_bytes, usize::MAX);
                assert_eq!((decoded.end, &decoded.bytes), (Ok(()), &page), "{coding} {left}");
            }
        }
    }
    // A wrong checksum hides no further member.
    let mut first = encode("gzip", b"first ");
    let length = first.len();
    first[length - 8..].fill(7);
    let members = [first, encode("gzip", b"second")].concat();
    for piece_bytes in [1, usize::MAX] {
        let decoded = decode("gzip", &members, piece_bytes, usize::MAX);
        assert_eq!((decoded.end, &decoded.bytes[..]), (Ok(()), &b"first second"[..]));
    }
}

#[test]
fn data_without_a_last_block_are_whole_if_they_were_flushed() {
    for bytes in [0, 1, 3_000, 300_000] {
        let page = page(bytes);
        for coding in ["gzip", "zlib", "raw"] {
            for piece_bytes in [1, 7, usize::MAX] {
                let decoded = decode(wire_name(coding), &flushed(coding, &page), piece_bytes, usize::MAX);
                assert_eq!((decoded.end, &decoded.bytes), (Ok(()), &page), "{coding} {bytes}");
            }
        }
    }
    let page = page(3_000);
    assert_eq!(whole("gzip, deflate", &flushed("zlib", &flushed("gzip", &page))), Ok(page));
}

#[test]
fn a_head_of_gzip_or_zlib_that_nobody_can_read_is_a_fault() {
    let mut coded = encode("gzip", b"page");
    coded[2] = 7;
    assert_eq!(kind("gzip", &coded), FailureKind::Protocol);
    // A preset dictionary (RFC 1950 §2.2), with its check bits.
    assert_eq!(kind("deflate", b"\x78\xbb\0\0\0\0\x03\0"), FailureKind::Protocol);
    // A name that never ends.
    let endless = [&b"\x1f\x8b\x08\x08\0\0\0\0\0\x03"[..], &vec![b'a'; 1 << 20]].concat();
    assert_eq!(kind("gzip", &endless), FailureKind::Protocol);
}

#[test]
fn bytes_turned_at_random_end_somehow_and_soon() {
    let page = page(4_000);
    let mut seed = 1_u32;
    for coding in ALL {
        let coded = encode(coding, &page);
        for _ in 0..1_000 {
            let mut turned = coded.clone();
            for _ in 0..3 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = seed as usize / 7 % turned.len();
                turned[at] ^= 1 << (seed >> 29);
            }
            let decoded = decode(wire_name(coding), &turned, 512, 1 << 20);
            assert!(decoded.made <= (1 << 20) + limits::DECODED_PIECE_BYTES_MAX, "{coding}");
        }
    }
}

/// A gigabyte of zeros, in members of a megabyte if the coding has members.
fn bomb(coding: &str) -> Vec<u8> {
    if matches!(coding, "gzip" | "zstd") {
        encode(coding, &vec![0; 1 << 20]).repeat(1_024)
    } else {
        encode(coding, &vec![0; 48 << 20])
    }
}

#[test]
fn a_bomb_makes_one_piece_beyond_the_cap_in_every_coding_and_nested() {
    const CAP: usize = limits::PAGE_BYTES_MAX;
    let held = |header: &str, body: &[u8]| {
        let decoded = decode(header, body, usize::MAX, CAP);
        assert_eq!(decoded.end, Ok(()), "{header}");
        assert!(
            decoded.made > CAP && decoded.made <= CAP + limits::DECODED_PIECE_BYTES_MAX,
            "{header}: {}",
            decoded.made
        );
        assert!(decoded.longest <= limits::DECODED_PIECE_BYTES_MAX, "{header}: {}", decoded.longest);
    };
    for coding in ALL {
        let bomb = bomb(coding);
        assert!(bomb.len() < 2 << 20, "{coding} bomb of {} bytes", bomb.len());
        held(wire_name(coding), &bomb);
        for outer in ALL {
            let nested = encode(outer, &bomb);
            held(&format!("{}, {}", wire_name(coding), wire_name(outer)), &nested);
        }
    }
    let thrice = encode("br", &encode("zstd", &bomb("gzip")));
    held("gzip, zstd, br", &thrice);
}

#[test]
fn a_bomb_that_decodes_to_nothing_is_cut_off() {
    // Empty gzip members, empty blocks of deflate (RFC 1951 §3.2.4, stored and with the fixed code), skippable frames.
    let members = encode("gzip", b"").repeat(50_000);
    let stored = b"\0\0\0\xff\xff".repeat(200_000);
    let fixed = b"\x02\x08\x20\x80\0".repeat(200_000);
    let skippable = b"\x50\x2a\x4d\x18\0\0\0\0".repeat(125_000);
    for (header, body) in [
        ("gzip", &members),
        ("gzip, gzip", &encode("gzip", &members)),
        ("deflate", &stored),
        ("deflate, br", &encode("br", &stored)),
        ("deflate", &fixed),
        ("deflate, zstd, gzip", &encode("gzip", &encode("zstd", &fixed))),
        ("zstd", &skippable),
        ("zstd, br", &encode("br", &skippable)),
    ] {
        let decoded = decode(header, body, 16 << 10, usize::MAX);
        let failure = decoded.end.unwrap_err();
        assert_eq!((failure.kind, decoded.made), (FailureKind::Protocol, 0), "{header}");
        assert!(failure.detail.contains("it decodes to almost nothing"), "{header}: {failure}");
    }
}

#[test]
fn a_window_larger_than_the_web_allows_is_refused() {
    use compression_codecs::zstd::params::CParameter;
    let window = |log| {
        let mut encoder = ZstdEncoder::new_with_params(3, &[CParameter::window_log(log)]);
        let mut room = vec![0; 1 << 20];
        let data = page(100_000);
        let mut output = WriteBuffer::new_initialized(&mut room);
        EncodeV2::encode(&mut encoder, &mut PartialBuffer::new(&data[..]), &mut output).unwrap();
        assert!(EncodeV2::finish(&mut encoder, &mut output).unwrap());
        whole("zstd", output.written()).map(|bytes| assert!(bytes == data))
    };
    assert_eq!(window(23), Ok(()));
    assert_eq!(window(24).unwrap_err().kind, FailureKind::Protocol);
}

#[test]
fn decoders_give_others_a_turn() {
    let body = bomb("gzip");
    let mut codings = Codings::of([&b"gzip"[..]].into_iter()).unwrap();
    codings.feed(body.into());
    let (mut turns, mut made) = (0, 0);
    while made < 16 << 20 {
        match codings.step().unwrap() {
            Step::Piece(piece) => made += piece.len(),
            Step::Busy => turns += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(turns >= 15, "{turns}");
}
