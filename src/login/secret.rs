//! A password on its way from the operator's file to the form. It cannot be printed: no `Debug` shows it, no `Display`
//! exists, and its memory is overwritten when it is dropped.

use std::fmt;

/// A password, or what stands for one.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Takes a secret as it was read: one line end at its end is the editor's and goes.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line)).into())
    }

    /// The secret itself, for what is sent and for nothing else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// True where nothing was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// 32 bits of a salted hash: enough to see that the same secret is tried again, too few to tell which one it is.
    #[must_use]
    pub fn mark(&self, salt: &[u8]) -> u32 {
        use sha2::{Digest, Sha256};
        let digest = Sha256::new().chain_update(salt).chain_update(self.0.as_bytes()).finalize();
        u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        // Zero bytes are valid UTF-8; `black_box` keeps the writes from being optimised away.
        let mut bytes = std::mem::take(&mut self.0).into_boxed_bytes();
        bytes.fill(0);
        std::hint::black_box(&bytes);
    }
}

/// A text for people without what may be a session's id or a token: runs of letters and digits, with a digit among them, that
/// are 16 bytes long or longer become `…`. Links to log out, hidden fields and redirects carry such.
#[must_use]
pub fn masked(text: &str) -> String {
    const SHORTEST: usize = 16;
    let mut out = String::with_capacity(text.len());
    for run in text.split_inclusive(|of: char| !of.is_ascii_alphanumeric()) {
        let word = run.trim_end_matches(|of: char| !of.is_ascii_alphanumeric());
        if word.len() >= SHORTEST && word.bytes().any(|byte| byte.is_ascii_digit()) {
            out.push('…');
            out.push_str(&run[word.len()..]);
        } else {
            out.push_str(run);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_line_and_does_not_show() {
        let secret = Secret::new("päss word \r\n");
        assert_eq!(secret.reveal(), "päss word ");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.mark(b"salt"), Secret::new("päss word ").mark(b"salt"));
        assert_ne!(secret.mark(b"salt"), secret.mark(b"other"));
        assert!(Secret::new("\n").is_empty() && Secret::new("\n\n").reveal() == "\n");
    }

    #[test]
    fn what_may_be_a_session_is_masked_and_words_stay() {
        let link = "/ucp.php?mode=logout&sid=4d7e306c050d1baf682b6d178bcfa684";
        assert_eq!(masked(link), "/ucp.php?mode=logout&sid=…");
        assert_eq!(masked("a link: /x?t=1795245157,00ff00ff00ff00ff, and more"), "a link: /x?t=1795245157,…, and more");
        for plain in [
            "",
            "http://127.0.0.1:41731/member.php?mod=logging",
            "donaudampfschifffahrtsgesellschaft",
            "密码错误次数过多，请 15 分钟后",
        ] {
            assert_eq!(masked(plain), plain);
        }
    }
}
