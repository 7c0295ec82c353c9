//! Unit tests of `torrents`.

use super::*;

fn blueprint(version: Version, single_file: bool) -> Blueprint {
    Blueprint { seed: 7, name: "Книга & 本.iso".to_owned(), version, single_file }
}

fn first_bytes(first_key: FirstKey) -> Vec<u8> {
    let wrapping = Wrapping { first_key, origin: "http://127.0.0.1:1", listing: 3, created: 1_700_000_000 };
    blueprint(Version::V1, true).metainfo(&wrapping)[..17].to_vec()
}

#[test]
fn files_begin_with_the_key_they_are_told_to() {
    assert!(first_bytes(FirstKey::Announce).starts_with(b"d8:announce"));
    assert!(first_bytes(FirstKey::AnnounceList).starts_with(b"d13:announce-list"));
    assert!(first_bytes(FirstKey::CreatedBy).starts_with(b"d10:created by"));
    assert!(first_bytes(FirstKey::Info).starts_with(b"d4:info"));
}

#[test]
fn the_wrapping_does_not_change_the_infohash_and_the_seed_does() {
    let hashes = blueprint(Version::Hybrid, false).infohashes();
    assert_eq!(hashes, blueprint(Version::Hybrid, false).infohashes());
    assert!(hashes.v1.is_some() && hashes.v2.is_some());
    let other = Blueprint { seed: 8, ..blueprint(Version::Hybrid, false) }.infohashes();
    assert!(hashes.v1 != other.v1 && hashes.v2 != other.v2);
}

#[test]
fn a_tree_of_two_pieces_is_the_hash_of_the_pair() {
    let hashes = [[1_u8; 32], [2_u8; 32]].concat();
    let expected: [u8; 32] = Sha256::digest(&hashes).into();
    assert_eq!(merkle_root(&hashes, 1 << 18), expected);
}

#[test]
fn a_missing_third_and_fourth_piece_are_trees_of_zero_blocks() {
    let hashes = [[1_u8; 32], [2; 32], [3; 32]].concat();
    let zero: [u8; 32] = Sha256::digest([0_u8; 64]).into();
    let left: [u8; 32] = Sha256::digest(&hashes[..64]).into();
    let right: [u8; 32] = Sha256::digest([[3_u8; 32], zero].concat()).into();
    let expected: [u8; 32] = Sha256::digest([left, right].concat()).into();
    assert_eq!(merkle_root(&hashes, 2 * BLOCK_BYTES), expected);
}
