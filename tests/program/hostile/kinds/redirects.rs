//! Redirects to nowhere, in circles, and to forbidden targets.

use super::{kept, lost};
use crate::hostile::server::{After, Kind, Talk};

const BAD: &[&str] = &["bad_redirect"];
const REFUSED: &[&str] = &["redirect_refused"];

pub fn kinds() -> Vec<Kind> {
    vec![
        lost("redirect-without-target", BAD, |talk| talk.answer("302 Found", "", "")),
        lost("redirect-to-nonsense", BAD, |talk| to(talk, "http://[::::")),
        lost("redirect-to-bytes", &["bad_redirect", "redirect_refused"], |talk| {
            talk.raw(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: \xff\xfe\x80\r\n\r\n")?;
            Ok(After::Keep)
        }),
        lost("redirect-of-100-kb", &["bad_redirect"], |talk| to(talk, &format!("/{}", "l".repeat(100_000)))),
        lost("redirect-of-10-mb", &["protocol_error"], |talk| to(talk, &format!("/{}", "l".repeat(10 << 20)))),
        lost("redirect-to-file", &["bad_redirect"], |talk| to(talk, "file:///etc/passwd")),
        lost("redirect-to-script", &["bad_redirect"], |talk| to(talk, "javascript:alert(1)")),
        lost("redirect-to-data", &["bad_redirect"], |talk| to(talk, "data:text/html,<a href=/>")),
        lost("redirect-to-private-address", REFUSED, |talk| to(talk, "http://10.0.0.1/hostile/x/good.torrent")),
        lost("redirect-to-metadata-address", REFUSED, |talk| to(talk, "http://169.254.169.254/hostile/x/good.torrent")),
        lost("redirect-with-credentials", &["bad_redirect", "redirect_refused"], |talk| {
            let target = format!("http://user:secret@{}/hostile/redirect-with-credentials/x/", talk.address);
            to(talk, &target)
        }),
        lost("redirect-to-itself", &["redirected", "redirect_loop"], |talk| {
            let path = talk.path.clone();
            to(talk, &path)
        }),
        lost("redirect-in-a-circle", &["redirected"], |talk| {
            let is_first = talk.path.ends_with("/x/");
            to(talk, if is_first { "../" } else { "x/" })
        }),
        Kind {
            connections_max: 200,
            ..kept("redirect-chain-of-100", &["redirected", "page"], |talk| {
                let hop: usize = talk.path.rsplit('=').next().and_then(|hop| hop.parse().ok()).unwrap_or(0);
                if hop >= 100 {
                    return talk.good_page();
                }
                to(talk, &format!("/hostile/redirect-chain-of-100/?hop={}", hop + 1))
            })
        },
        lost("redirect-choice-of-nothing", BAD, |talk| talk.answer("300 Multiple Choices", "", "")),
        lost("redirect-to-the-login", &["redirected", "redirect_refused"], |talk| to(talk, "/login?next=/")),
        kept("redirect-with-a-body-for-ever", &["redirected", "page"], |talk| {
            if talk.path.ends_with("/x/") {
                return talk.good_page();
            }
            talk.raw("HTTP/1.1 302 Found\r\nLocation: x/\r\n\r\n")?;
            talk.flood(&[b'x'; 16 << 10])
        }),
    ]
}

fn to(talk: &mut Talk<'_>, target: &str) -> std::io::Result<After> {
    talk.answer("302 Found", &format!("Location: {target}\r\n"), "")
}
