//! Headers and first bytes → torrent, page or discard.
