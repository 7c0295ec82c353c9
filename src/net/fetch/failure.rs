//! Readable reasons for failed requests: the client's errors hold the cause several layers down, and only their text
//! and types distinguish a name that does not exist from a host that is down or a certificate that has expired.
//!
//! Classifies and words errors; decides nothing.

use std::error::Error as _;
use std::io;

use rustls::CertificateError as Certificate;

use super::dns::DnsError;
use super::resolve::AddressRefused;
use super::{FailureKind, FetchFailure};
use crate::limits;

/// Readable texts for the client's messages, where needed.
const WORDS: &[(&str, FailureKind, &str)] = &[
    (
        "connection closed before message completed",
        FailureKind::Truncated,
        "the server closed the connection without a whole answer",
    ),
    (
        "end of file before message length reached",
        FailureKind::Truncated,
        "the body is shorter than the announced length",
    ),
    ("unexpected EOF during chunk", FailureKind::Truncated, "the body ended in the middle of its chunks"),
    ("invalid HTTP version parsed", FailureKind::Protocol, "the answer is not HTTP/1.0, 1.1 or 2"),
    ("invalid HTTP header parsed", FailureKind::Protocol, "a header of the answer cannot be read"),
    ("invalid HTTP status-code parsed", FailureKind::Protocol, "the answer's status cannot be read"),
    (
        "invalid content-length parsed",
        FailureKind::Protocol,
        "the announced length is not a number, or there are several",
    ),
    ("message head is too large", FailureKind::Protocol, LONG_HEAD),
    ("chunk trailers count overflow", FailureKind::Protocol, LONG_TRAILERS),
];

/// A response has more header lines, or bytes of them, than its client reads.
pub(super) const LONG_HEAD: &str = "the answer's headers never end";

/// More header lines follow a body than its client reads.
pub(super) const LONG_TRAILERS: &str = "the headers behind the answer's body never end";

const WRONG_HOST: &str = "the server's certificate is for another host";

const UNKNOWN_ISSUER: &str = "the server's certificate is self-signed, or its issuer is unknown\nhint: if the certificate authority \
    is your own, add it to this machine's certificates";

/// Classifies one of the client's errors.
pub fn failure(error: &reqwest::Error) -> FetchFailure {
    let mut chain = Vec::new();
    let mut source = error.source();
    let mut broke_off = false;
    while let Some(cause) = source {
        if let Some(refused) = cause.downcast_ref::<AddressRefused>() {
            return refused.clone().into();
        }
        if let Some(error) = cause.downcast_ref::<DnsError>() {
            return error.clone().into();
        }
        if let Some(fault) = cause.downcast_ref::<rustls::Error>().or_else(|| within_io(cause)) {
            return FetchFailure { kind: FailureKind::Tls, detail: tls_words(fault) };
        }
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            broke_off |= matches!(io.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
        }
        chain.push(cause.to_string());
        source = cause.source();
    }
    let detail = if chain.is_empty() { error.to_string() } else { chain.join(": ") };
    let (kind, detail) = if error.is_connect() && error.is_timeout() {
        // A host that does not accept a connection is down, like one that refuses it.
        (FailureKind::Connect, "the server did not accept the connection in time".to_owned())
    } else if error.is_timeout() {
        (FailureKind::TimedOut, detail)
    } else if error.is_connect() {
        let in_handshake = detail.contains("tls handshake");
        (if in_handshake { FailureKind::Tls } else { FailureKind::Connect }, detail)
    } else if let Some((_, kind, meaning)) = WORDS.iter().find(|(said, ..)| detail.contains(said)) {
        (*kind, (*meaning).to_owned())
    } else {
        (if broke_off { FailureKind::Truncated } else { FailureKind::Protocol }, detail)
    };
    FetchFailure { kind, detail }
}

/// I/O errors hide their inner error from `source`, even if they are nested.
fn within_io<'e>(cause: &'e (dyn std::error::Error + 'static)) -> Option<&'e rustls::Error> {
    let inner = cause.downcast_ref::<io::Error>()?.get_ref()?;
    inner.downcast_ref().or_else(|| within_io(inner))
}

/// What is wrong with the server's TLS, and the fix.
fn tls_words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(fault) => certificate_words(fault),
        rustls::Error::AlertReceived(alert) => format!("the server refused TLS with the alert {alert:?}"),
        rustls::Error::InvalidMessage(_) => {
            "the server does not speak TLS on this port\nhint: try the site as `http://`".to_owned()
        }
        rustls::Error::PeerIncompatible(reason) => format!("the server supports no secure version of TLS: {reason:?}"),
        other => format!("TLS failed: {other}"),
    }
}

fn certificate_words(fault: &Certificate) -> String {
    match fault {
        Certificate::Expired | Certificate::ExpiredContext { .. } => {
            "the server's certificate has expired\nhint: the site must renew it; check this machine's clock, too"
                .to_owned()
        }
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet\nhint: check this machine's clock".to_owned()
        }
        Certificate::NotValidForNameContext { presented, .. } if !presented.is_empty() => {
            let names: Vec<&str> = presented.iter().take(limits::TLS_NAMES_TOLD_MAX).map(String::as_str).collect();
            format!("{WRONG_HOST}: {}", names.join(", "))
        }
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => WRONG_HOST.to_owned(),
        Certificate::UnknownIssuer => UNKNOWN_ISSUER.to_owned(),
        Certificate::Revoked => "the server's certificate was revoked by its issuer".to_owned(),
        // A CA certificate used as a server certificate: what tools write as a self-signed one.
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => UNKNOWN_ISSUER.to_owned(),
        other => format!("the server's certificate is refused: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_for_another_host_says_for_which() {
        let words = |fault| tls_words(&rustls::Error::InvalidCertificate(fault));
        assert_eq!(words(Certificate::NotValidForName), WRONG_HOST);
        let context = |presented: Vec<String>| Certificate::NotValidForNameContext {
            expected: rustls::pki_types::ServerName::try_from("a.example").unwrap(),
            presented,
        };
        let told = words(context(vec!["DnsName(\"b.example\")".to_owned()]));
        assert!(told.contains("another host") && told.contains("b.example"), "{told}");
        let told = words(context(vec!["x".to_owned(); 1_000]));
        assert!(told.len() < 200, "{told}");
        assert!(words(Certificate::Revoked).contains("revoked"));
        assert!(words(Certificate::BadSignature).contains("refused"));
    }
}
