//! Reading bodies: pieces, caps, and the memory that concurrent bodies may hold together.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;

const PIECE: usize = 64 << 10;
const SMALL: usize = limits::SMALL_BODY_BYTES_MAX;
const MIB: usize = 1 << 20;

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

async fn read_all(body: Box<dyn Body>, ask: impl FnMut(&[u8], bool) -> Want) -> Read {
    read(body, None, &Allowance::default(), ask).await
}

#[tokio::test]
async fn pieces_are_joined_in_order() {
    let read = read_all(body(&["ab", "cd", "e"]), |_, _| Want::UpTo(10)).await;
    assert!(matches!(read, Read::Whole(bytes) if &bytes[..] == b"abcde"));
}

#[tokio::test]
async fn a_body_over_its_cap_stops_at_the_piece_that_passed_it() {
    let read = read_all(body(&["abc", "def", "never"]), |_, _| Want::UpTo(4)).await;
    assert!(matches!(read, Read::Stopped { bytes, over_cap: true } if &bytes[..] == b"abcdef"));
}

#[tokio::test]
async fn a_reader_that_says_stop_sees_no_further_piece() {
    let mut seen = 0;
    let read = read_all(body(&["abc", "def"]), |_, _| {
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
    let read = read_all(body(&[]), |bytes, complete| {
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
    let read = read_all(Box::new(pieces), |_, _| Want::UpTo(10)).await;
    assert!(matches!(read, Read::Failed { bytes, .. } if &bytes[..] == b"ab"));
}

/// Bytes handed out by bodies and not yet dropped by readers: current and peak.
#[derive(Default)]
struct HeldBytes {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A body of `length` bytes in equal pieces, each ready `pause` after it was requested.
struct Even {
    left: usize,
    piece: usize,
    pause: Duration,
    /// Counts each piece.
    held: Arc<HeldBytes>,
    handed: Arc<AtomicUsize>,
}

impl Even {
    fn new(length: usize) -> Self {
        let pause = Duration::from_millis(10);
        Self { left: length, piece: PIECE, pause, held: Arc::default(), handed: Arc::default() }
    }

    /// A body with this many bytes per second, in four pieces per second.
    fn at_pace(length: usize, bytes_a_second: usize) -> Self {
        Self { piece: bytes_a_second / 4, pause: Duration::from_millis(250), ..Self::new(length) }
    }
}

#[async_trait::async_trait]
impl Body for Even {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        sleep(self.pause).await;
        let length = self.piece.min(self.left);
        self.left -= length;
        self.handed.fetch_add(length, Ordering::Relaxed);
        let now = self.held.now.fetch_add(length, Ordering::Relaxed) + length;
        self.held.most.fetch_max(now, Ordering::Relaxed);
        Ok((length > 0).then(|| Bytes::from(vec![b'x'; length])))
    }
}

/// Reads the body up to a cap. Returns how it ended, after its bytes were kept for a while and dropped.
async fn keep_for(time: Duration, body: Even, cap: usize, allowance: Allowance) -> &'static str {
    let (held, handed) = (Arc::clone(&body.held), Arc::clone(&body.handed));
    let read = read(Box::new(body), None, &allowance, |_, _| Want::UpTo(cap)).await;
    sleep(time).await;
    let end = match read {
        Read::Whole(_) => "whole",
        Read::Stopped { .. } => "stopped",
        Read::Failed { .. } => "failed",
    };
    held.now.fetch_sub(handed.load(Ordering::Relaxed), Ordering::Relaxed);
    end
}

#[tokio::test(start_paused = true)]
async fn endless_bodies_together_stay_within_the_allowance() {
    const BODIES: usize = 64;
    let (allowance, held) = (Allowance::default(), Arc::<HeldBytes>::default());
    let mut reads = JoinSet::new();
    for number in 0..BODIES {
        // Pages, torrents, and caps larger than the whole allowance.
        let cap = [limits::PAGE_BYTES_MAX, limits::TORRENT_BYTES_MAX, limits::SITEMAP_BYTES_MAX, 3 * SMALL][number % 4];
        let body = Even { held: Arc::clone(&held), ..Even::new(usize::MAX) };
        reads.spawn(keep_for(Duration::from_secs(1), body, cap, allowance.clone()));
    }
    let ends = reads.join_all().await;
    assert_eq!(ends, vec!["stopped"; BODIES]);
    // The sitemap's cap exceeds the allowance: it gets all of it, and reads up to its cap.
    let allowed = limits::BODIES_BYTES_MAX.max(limits::SITEMAP_BYTES_MAX) + BODIES * (SMALL + PIECE);
    let most = held.most.load(Ordering::Relaxed);
    assert!(most <= allowed, "{most} of {allowed}");
    assert!(most > limits::BODIES_BYTES_MAX / 2, "{most}: the bodies did not meet");
    assert_eq!(held.now.load(Ordering::Relaxed), 0);
    assert_eq!(allowance.kib.available_permits(), limits::BODIES_BYTES_MAX >> 10, "all is given back");
}

#[tokio::test(start_paused = true)]
async fn small_bodies_never_wait() {
    let allowance = Allowance::new(MIB);
    let all = allowance.share(MIB).await;
    let small = Even { pause: Duration::ZERO, ..Even::new(SMALL) };
    let began = Instant::now();
    assert_eq!(keep_for(Duration::ZERO, small, 8 * MIB, allowance.clone()).await, "whole");
    assert!(began.elapsed() < Duration::from_secs(1));
    // One byte more, and the body waits for the holder of the whole allowance; that wait does not count as slowness.
    let (large, handed) = (Even::new(SMALL + PIECE), Arc::default());
    let large = Even { handed: Arc::clone(&handed), ..large };
    let waiting = tokio::spawn(keep_for(Duration::ZERO, large, 8 * MIB, allowance));
    sleep(Duration::from_secs(3_600)).await;
    assert!(!waiting.is_finished());
    assert_eq!(handed.load(Ordering::Relaxed), SMALL + PIECE, "nothing is read meanwhile");
    drop(all);
    assert_eq!(waiting.await.unwrap(), "whole");
}

#[tokio::test(start_paused = true)]
async fn a_share_lives_as_long_as_its_bytes_and_keeps_what_they_need() {
    let allowance = Allowance::new(16 * MIB);
    let free_mib = || allowance.kib.available_permits() as f64 / 1_024.0;
    let Read::Whole(bytes) = read(Box::new(Even::new(2 * MIB)), None, &allowance, |_, _| Want::UpTo(8 * MIB)).await
    else {
        panic!("a whole body")
    };
    assert!((13.5..=14.0).contains(&free_mib()), "{}", free_mib());
    let part = bytes.slice(10..20);
    drop(bytes);
    assert!(free_mib() <= 14.0, "a part keeps the whole");
    drop(part);
    assert_eq!(free_mib(), 16.0);
}

#[tokio::test(start_paused = true)]
async fn an_announced_body_takes_its_length_only() {
    // Two bodies of 3 MiB fit at the same time, although both may want 8.
    let allowance = Allowance::new(6 * MIB);
    let began = Instant::now();
    let mut reads = JoinSet::new();
    for _ in 0..2 {
        let allowance = allowance.clone();
        reads.spawn(async move {
            let length = Some(3 * MIB as u64);
            let read = read(Box::new(Even::new(3 * MIB)), length, &allowance, |_, _| Want::UpTo(8 * MIB)).await;
            assert!(matches!(&read, Read::Whole(bytes) if bytes.len() == 3 * MIB));
            // Kept beyond the end of the other body.
            sleep(Duration::from_secs(5)).await;
        });
    }
    reads.join_all().await;
    assert!(began.elapsed() < Duration::from_secs(8), "one after the other");
}

#[tokio::test(start_paused = true)]
async fn a_lie_about_the_length_wins_no_memory() {
    for (announced, length, end) in [
        // Longer than announced: allowed within the small size.
        (100, 2 * PIECE, "whole"),
        // Announced length exceeded before there was a share: the cap counts.
        (100, MIB, "whole"),
        // Announced length with a share: the body ends there.
        (MIB, 2 * MIB, "stopped"),
        // Announced length over the cap.
        (usize::MAX, MIB, "whole"),
        (usize::MAX, 4 * MIB, "stopped"),
    ] {
        let allowance = Allowance::new(8 * MIB);
        let body = Even::new(length);
        let handed = Arc::clone(&body.handed);
        let read = read(Box::new(body), Some(announced as u64), &allowance, |_, _| Want::UpTo(3 * MIB)).await;
        let found = match &read {
            Read::Whole(bytes) if bytes.len() == length => "whole",
            Read::Stopped { over_cap: true, .. } => "stopped",
            _ => "another end",
        };
        assert_eq!(found, end, "{announced} {length}");
        assert!(handed.load(Ordering::Relaxed) <= 3 * MIB + PIECE);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_with_a_share_is_put_out_and_frees_it() {
    let allowance = Allowance::new(8 * MIB);
    for (pace, end) in [(limits::BODY_PACE_BYTES_MIN / 2, "failed"), (2 * limits::BODY_PACE_BYTES_MIN, "whole")] {
        // The start comes fast, as a clever attacker's would.
        struct Twofold(Even, Even);
        #[async_trait::async_trait]
        impl Body for Twofold {
            async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
                if self.0.left > 0 { self.0.chunk().await } else { self.1.chunk().await }
            }
        }
        let slow = Twofold(Even::new(SMALL + PIECE), Even::at_pace(MIB / 4, pace));
        let began = Instant::now();
        let slow_read = async {
            match read(Box::new(slow), None, &allowance, |_, _| Want::UpTo(8 * MIB)).await {
                Read::Whole(_) => "whole",
                Read::Failed { failure, .. } if failure.kind == FailureKind::TimedOut => "failed",
                _ => "another end",
            }
        };
        // A second body, which has to wait for all of the allowance.
        let next = keep_for(Duration::ZERO, Even::new(MIB), 8 * MIB, allowance.clone());
        let (slow_end, next_end) = tokio::join!(slow_read, async {
            sleep(Duration::from_millis(500)).await;
            next.await
        });
        assert_eq!((slow_end, next_end), (end, "whole"), "{pace}");
        if end == "failed" {
            assert!(began.elapsed() < 2 * limits::BODY_PACE_TIME, "{:?}", began.elapsed());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn silence_and_drops_of_bytes_are_put_out_alike() {
    for (piece, pause) in [(1, Duration::from_millis(1)), (1, Duration::from_secs(1)), (PIECE, Duration::from_secs(60))]
    {
        let allowance = Allowance::new(8 * MIB);
        let waits = {
            let allowance = allowance.clone();
            async move {
                sleep(Duration::from_millis(1)).await;
                drop(allowance.share(8 * MIB).await);
            }
        };
        tokio::spawn(waits);
        let first = Bytes::from(vec![b'x'; SMALL + 1]);
        struct Then(Option<Bytes>, Even);
        #[async_trait::async_trait]
        impl Body for Then {
            async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
                match self.0.take() {
                    Some(first) => Ok(Some(first)),
                    None => self.1.chunk().await,
                }
            }
        }
        let body = Then(Some(first), Even { piece, pause, ..Even::new(usize::MAX) });
        let began = Instant::now();
        let read = read(Box::new(body), None, &allowance, |_, _| Want::UpTo(8 * MIB)).await;
        assert!(matches!(&read, Read::Failed { failure, .. } if failure.kind == FailureKind::TimedOut), "{pause:?}");
        assert!(began.elapsed() <= limits::BODY_PACE_TIME + Duration::from_secs(1), "{:?}", began.elapsed());
        drop(read);
        sleep(Duration::from_millis(1)).await;
        assert!(!allowance.is_waited_for(), "who waited has had it");
        assert_eq!(allowance.kib.available_permits(), 8 << 10, "all is given back");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_nobody_looks_after_for_a_while_is_not_slow() {
    let mut body = Even::at_pace(10 * MIB, 2 * limits::BODY_PACE_BYTES_MIN);
    let mut pace = Pace::from(Instant::now());
    let allowance = Allowance::new(MIB);
    let all = allowance.share(MIB).await;
    let mut waits = std::pin::pin!(allowance.share(MIB));
    assert!(futures_util::poll!(&mut waits).is_pending() && allowance.is_waited_for());
    // A commit blocks the site's loop for a minute, in the middle of a piece.
    let read = async {
        for _ in 0..40 {
            pace.keep(&mut body, &allowance).await.unwrap().unwrap();
        }
    };
    tokio::pin!(read);
    assert!(tokio::time::timeout(Duration::from_secs(3), &mut read).await.is_err());
    sleep(Duration::from_secs(60)).await;
    read.await;
    drop(all);
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_that_nobody_waits_for_comes_whole() {
    let began = Instant::now();
    let slow = Even::at_pace(MIB, 5_000);
    assert_eq!(keep_for(Duration::ZERO, slow, 8 * MIB, Allowance::new(8 * MIB)).await, "whole");
    assert!(began.elapsed() > 10 * limits::BODY_PACE_TIME, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_keeps_its_pace_keeps_nobody_waiting_for_long() {
    let allowance = Allowance::new(8 * MIB);
    let drips = Even::at_pace(8 * MIB, 2 * limits::BODY_PACE_BYTES_MIN);
    let drips = tokio::spawn(keep_for(Duration::ZERO, drips, 8 * MIB, allowance.clone()));
    // Alone, it has unlimited time.
    sleep(5 * limits::BODY_SHARE_TIME).await;
    assert!(!drips.is_finished());
    // A waiting body that is dropped leaves it alone, too.
    let gone = tokio::time::timeout(limits::BODY_SHARE_TIME / 2, allowance.share(8 * MIB)).await;
    assert!(gone.is_err() && !allowance.is_waited_for());
    sleep(limits::BODY_SHARE_TIME).await;
    assert!(!drips.is_finished());
    let began = Instant::now();
    assert_eq!(keep_for(Duration::ZERO, Even::new(MIB), 8 * MIB, allowance.clone()).await, "whole");
    assert!(began.elapsed() <= limits::BODY_SHARE_TIME + Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(drips.await.unwrap(), "failed");
}

#[test]
fn a_buffer_never_doubles_and_one_with_a_share_is_never_copied() {
    let piece = Bytes::from(vec![b'x'; PIECE]);
    for expected in [None, Some(8 * MIB)] {
        let mut so_far = SoFar::default();
        let mut moves = 0;
        for _ in 0..8 * MIB / PIECE {
            let before = so_far.joined.capacity();
            so_far.push(piece.clone(), expected);
            let (length, capacity) = (so_far.bytes().len(), so_far.joined.capacity());
            moves += usize::from(capacity != before);
            assert!(capacity <= expected.unwrap_or(length + length / 4), "{capacity} for {length} bytes");
        }
        assert_eq!(so_far.bytes().len(), 8 * MIB);
        assert!(moves <= if expected.is_some() { 1 } else { 40 }, "{moves}");
    }
}
