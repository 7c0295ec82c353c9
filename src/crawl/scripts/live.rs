//! Addresses by which a page listens for news (Socket.IO, SignalR, Discourse's message bus). Their server answers once something happens, and
//! there is always one more request; nothing that the page shows comes by them. Words are data: `models/words/name.tsv`.

gleaner_base::topics! {
    name: LIVE_CHANNELS;
}

/// Whether one of the folders of a path and query names a live channel.
#[must_use]
pub fn is_live(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    path.split('/').any(|folder| LIVE_CHANNELS.has(&folder.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_known_by_their_folders() {
        for path in ["/socket.io/?EIO=4&transport=polling", "/forum/SignalR/connect", "/message-bus/0f3a/poll?dlp=t"] {
            assert!(is_live(path), "{path}");
        }
        for path in ["/api/list?via=/socket.io/", "/assets/socket.io.min.js", "/topic/5/socket.io-works", "/"] {
            assert!(!is_live(path), "{path}");
        }
    }
}
