//! Absolute links to what is served. A download link of a token's holder carries a code for this torrent and this token alone: whoever gets hold of it
//! has one torrent, until the token is revoked.

use gleaner_base::url::without_keys;
use gleaner_store::crawldb::TorrentRow;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::tokens::Token;

/// Where links begin, and who they are for.
#[derive(Clone, Debug)]
pub struct Links {
    /// Scheme, host and base path, without a final slash.
    pub base: String,
    pub token: Option<Token>,
}

impl Links {
    /// The download of a torrent. Stable: clients know torrents by it.
    #[must_use]
    pub fn download(&self, infohash: &str) -> String {
        let code = self.token.as_ref().map(|token| format!("?t={}", mac(token, infohash))).unwrap_or_default();
        format!("{}/torrents/{infohash}.torrent{code}", self.base)
    }
}

/// The code of a token for a torrent, in hex.
#[must_use]
pub fn mac(token: &Token, infohash: &str) -> String {
    const BYTES: usize = 20;
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(token.sha256.as_bytes()) else { return String::new() };
    mac.update(infohash.as_bytes());
    data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes()[..BYTES])
}

/// The page that a torrent was found on, without keys: where a person reads about it.
#[must_use]
pub fn page(row: &TorrentRow) -> Option<String> {
    let source = row.sources.iter().find(|source| source.via.is_some()).or_else(|| row.sources.first())?;
    Some(without_keys(source.via.as_deref().unwrap_or(&source.url)).into())
}
