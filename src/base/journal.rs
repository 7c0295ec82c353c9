//! Lines for systemd's journal: over its socket, with fields to search by; or, where that cannot be reached, on standard error with a
//! priority before each. No time stamp (the journal has its own), and one line an event.
//!
//! The fields: `GLEANER_SITE`, `GLEANER_OUTCOME`, `GLEANER_INFOHASH`, and a `MESSAGE_ID` for each kind of event, which is its
//! constant sentence.

use std::cell::RefCell;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use serde_json::Value;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::console::escaped;
use crate::recent::Taken;
use crate::url::without_keys_in;

/// Where the journal takes datagrams (systemd's JOURNAL_NATIVE_PROTOCOL).
const SOCKET: &str = "/run/systemd/journal/socket";

/// Fields of events, and what the journal calls them.
const FIELDS: [(&str, &str); 3] =
    [("site", "GLEANER_SITE"), ("outcome", "GLEANER_OUTCOME"), ("infohash", "GLEANER_INFOHASH")];

thread_local! {
    /// The event whose line this thread writes next.
    static EVENT: RefCell<Taken> = RefCell::default();
}

/// True if standard error goes to the journal: systemd names the device and inode that it connected (systemd.exec(5)).
#[must_use]
pub fn reads_stderr() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    let is_it = |of: std::fs::Metadata| stream == format!("{}:{}", of.dev(), of.ino());
    std::fs::metadata("/proc/self/fd/2").is_ok_and(is_it)
}

fn priority(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    }
}

/// A text as one line.
fn in_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

/// A text as one line with its priority (sd-daemon(3)).
#[must_use]
pub fn line(level: Level, text: &str) -> String {
    format!("<{}>{}", priority(level), in_one_line(text))
}

/// Keeps each event until its line is written. Stands before the layer that writes lines.
pub struct Noting;

impl<S: Subscriber> Layer<S> for Noting {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let taken = Taken::of(event);
        EVENT.with_borrow_mut(|last| *last = taken);
    }
}

/// The journal's socket.
#[derive(Debug)]
pub struct Journal(UnixDatagram);

impl Journal {
    /// Connects; None where there is no such socket.
    #[must_use]
    pub fn connect() -> Option<Self> {
        Self::at(Path::new(SOCKET)).ok()
    }

    fn at(path: &Path) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(path)?;
        // A journal that is stopped holds nobody: the line goes to standard error, which it reads later.
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    /// Sends the line of the event that was noted last.
    ///
    /// # Errors
    /// If the journal does not take it, as one that is longer than a datagram.
    pub fn send(&self, level: Level, text: &str) -> io::Result<()> {
        let taken = EVENT.take();
        let message = escaped(&without_keys_in(&in_one_line(text))).into_owned();
        let mut datagram = format!(
            "MESSAGE={message}\nPRIORITY={}\nSYSLOG_IDENTIFIER=gleaner\nMESSAGE_ID={:032x}\n",
            priority(level),
            kind(&taken.message)
        );
        for (name, called) in FIELDS {
            if let Some(Value::String(value)) = taken.fields.get(name) {
                // A line break would end the field.
                datagram.push_str(&format!("{called}={}\n", value.replace('\n', " ")));
            }
        }
        self.0.send(datagram.as_bytes()).map(|_| ())
    }
}

/// A number for each sentence: FNV-1a of 128 bits (RFC 9923).
fn kind(sentence: &str) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    sentence.bytes().fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tracing_subscriber::layer::SubscriberExt as _;

    /// A journal, and the end at which its datagrams are read.
    pub(crate) fn pair() -> (Journal, UnixDatagram) {
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        (Journal(ours), theirs)
    }

    #[test]
    fn an_event_is_one_line_with_its_priority() {
        assert_eq!(line(Level::ERROR, "error: no room\nhint: make some\n"), "<3>error: no room; hint: make some");
        assert_eq!(line(Level::WARN, "x"), "<4>x");
        assert_eq!(line(Level::INFO, " x\n\n y"), "<6>x; y");
        assert_eq!([line(Level::DEBUG, ""), line(Level::TRACE, "")], ["<7>", "<7>"]);
    }

    #[test]
    fn the_journal_gets_fields_masked_and_escaped_and_one_id_a_kind() {
        let (journal, read) = pair();
        let got = || {
            let mut bytes = vec![0; 64 << 10];
            let length = read.recv(&mut bytes).unwrap();
            String::from_utf8(bytes[..length].to_vec()).unwrap()
        };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(Noting), || {
            let url = "https://a.example/x?passkey=0123456789abcdef0123456789abcdef";
            tracing::warn!(site = "de\nmo=x", outcome = %"gone", infohash = "ab\u{1b}[2J", url, "a visit failed");
            journal.send(Level::WARN, &format!("a visit failed url={url} \u{1b}[31m\nhint: x\n")).unwrap();
            tracing::info!("service is up");
            journal.send(Level::INFO, "service is up").unwrap();
            tracing::warn!(attempt = 2, "a visit failed");
            journal.send(Level::WARN, "a visit failed attempt=2").unwrap();
        });
        let (first, second, third) = (got(), got(), got());
        let field = |text: &str, name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}=")).map(str::to_owned));
            line.unwrap_or_default()
        };
        assert_eq!(first.lines().count(), 7, "{first}");
        assert!(!first.contains("0123456789abcdef") && !first.contains('\u{1b}'), "{first}");
        assert!(field(&first, "MESSAGE").ends_with("\\u001b[31m; hint: x"), "{first}");
        assert_eq!(["GLEANER_SITE", "GLEANER_OUTCOME"].map(|name| field(&first, name)), ["de mo=x", "gone"]);
        assert_eq!(field(&first, "GLEANER_INFOHASH"), "ab\\u001b[2J");
        assert_eq!([&first, &second].map(|of| field(of, "PRIORITY")), ["4", "6"]);
        assert_eq!(
            (field(&second, "MESSAGE"), field(&second, "GLEANER_SITE")),
            ("service is up".into(), String::new())
        );
        let ids = [&first, &second, &third].map(|of| field(of, "MESSAGE_ID"));
        assert!(ids[0] == ids[2] && ids[0] != ids[1] && ids[0].len() == 32, "{ids:?}");
    }

    #[test]
    fn a_number_of_a_sentence_is_that_of_the_standard() {
        // draft-eastlake-fnv, test vectors: "" and "a".
        assert_eq!(kind(""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(kind("a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
