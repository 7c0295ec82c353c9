//! Keys of members within addresses: who has one downloads as that member.

use std::borrow::Cow;

/// What stands for a secret where something is told.
pub const MASK: &str = "••••••";

/// Parameters by which trackers know whose a download is.
const KEYS_OF_MEMBERS: &[&str] = &[
    "passkey",
    "torrent_pass",
    "authkey",
    "auth_key",
    "rsskey",
    "rss_key",
    "apikey",
    "api_key",
    "access_token",
    "download_token",
    "downhash",
];

/// A URL, or a reference, with the keys masked by which a site knows its member: where it is told to whoever looks for what it leads to, and
/// numbers and names have to stand.
#[must_use]
pub fn without_keys(url: &str) -> Cow<'_, str> {
    let Some((address, query)) = url.split_once('?') else { return Cow::Borrowed(url) };
    let is_key = |pair: &str| {
        let name = pair.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| KEYS_OF_MEMBERS.iter().any(|key| name.eq_ignore_ascii_case(key)))
    };
    if !query.split('&').any(is_key) {
        return Cow::Borrowed(url);
    }
    let told = |pair: &str| match pair.split_once('=').filter(|_| is_key(pair)) {
        Some((name, _)) => format!("{name}={MASK}"),
        None => pair.to_owned(),
    };
    Cow::Owned(format!("{address}?{}", query.split('&').map(told).collect::<Vec<_>>().join("&")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_members_are_masked_and_the_rest_stands() {
        let url = "http://a/torrents.php?action=download&id=123456&authkey=0f0f&torrent_pass=S3CRET";
        let told = format!("http://a/torrents.php?action=download&id=123456&authkey={MASK}&torrent_pass={MASK}");
        assert_eq!(without_keys(url), told);
        for same in
            ["http://a/0123456789abcdef0123456789abcdef01234567.torrent", "/t?id=7&sid=x&passkeys=1", "/t?passkey"]
        {
            assert_eq!(without_keys(same), same);
        }
    }
}
