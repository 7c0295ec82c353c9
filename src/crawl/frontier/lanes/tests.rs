//! Unit tests of `frontier::lanes`.

use super::*;

#[test]
fn elf_hash_equals_the_published_values() {
    // Results of the System V ABI's own function.
    assert_eq!(elf_hash(b""), 0);
    assert_eq!(elf_hash(b"printf"), 0x0779_05a6);
    assert_eq!(elf_hash(b"exit"), 0x0006_cf04);
    assert_eq!(elf_hash(b"syscall"), 0x0b09_985c);
}

#[test]
fn a_lane_does_one_item_at_a_time() {
    let mut lanes = Lanes::new(2);
    lanes.push(0, 'a');
    lanes.push(0, 'b');
    lanes.push(1, 'c');
    assert_eq!(lanes.pop(|_| 0), Some((0, 'a')));
    assert_eq!(lanes.pop(|_| 0), Some((1, 'c')));
    assert_eq!(lanes.pop(|_| 0), None);
    assert_eq!(lanes.len(), 1);
    lanes.done(0);
    assert_eq!(lanes.pop(|_| 0), Some((0, 'b')));
}

#[test]
fn an_item_put_back_is_the_next_one_again() {
    let mut lanes = Lanes::new(1);
    lanes.push(0, 'a');
    lanes.push(0, 'b');
    let (lane, item) = lanes.pop(|_| 0).expect("an item");
    lanes.put_back(lane, item);
    assert_eq!((lanes.len(), lanes.pop(|_| 0)), (2, Some((0, 'a'))));
}

#[test]
fn an_item_is_taken_from_behind_others_and_a_lane_without_any_is_not_ready() {
    let mut lanes = Lanes::new(2);
    [(0, 'a'), (0, 'b'), (1, 'c')].into_iter().for_each(|(lane, item)| lanes.push(lane, item));
    assert_eq!([lanes.take(|item| *item == 'b'), lanes.take(|item| *item == 'x')], [Some('b'), None]);
    assert_eq!((lanes.take(|item| *item == 'a'), lanes.len()), (Some('a'), 1));
    assert_eq!([lanes.pop(|_| 0), lanes.pop(|_| 0)], [Some((1, 'c')), None]);
    // From a busy lane, too: it is ready again with the next item.
    lanes.push(1, 'd');
    assert_eq!(lanes.take(|item| *item == 'd'), Some('d'));
    lanes.done(1);
    assert!(lanes.is_empty() && !lanes.has_ready() && lanes.running() == 0);
    lanes.push(1, 'e');
    assert_eq!(lanes.pop(|_| 0), Some((1, 'e')));
}

#[test]
fn lanes_take_turns() {
    let mut lanes = Lanes::new(2);
    for item in 0..4 {
        lanes.push(item % 2, item);
    }
    let mut order = Vec::new();
    while let Some((lane, item)) = lanes.pop(|_| 0) {
        order.push(item);
        lanes.done(lane);
    }
    assert_eq!(order, [0, 1, 2, 3]);
}

#[test]
fn one_host_has_one_lane_by_host_and_many_by_url() {
    let urls: Vec<_> = (0..5_000).map(|n| format!("http://a.example/torrent/{n}")).collect();
    for (key, lanes_used) in [(LaneKey::Host, 1), (LaneKey::Elf, 50), (LaneKey::Xxh3, 50)] {
        let lanes: std::collections::BTreeSet<_> = urls.iter().map(|url| lane_of(key, "a.example", url, 50)).collect();
        assert_eq!(lanes.len(), lanes_used, "{key:?}");
    }
}

#[test]
fn an_item_goes_before_those_that_come_after_it() {
    let mut lanes = Lanes::new(2);
    lanes.push(0, 5);
    for item in [3, 7, 5, 1, 3] {
        lanes.insert(0, item, |queued| *queued > item);
    }
    lanes.insert(1, 2, |_| true);
    assert_eq!(lanes.iter().copied().collect::<Vec<_>>(), [1, 3, 3, 5, 5, 7, 2]);
    lanes.sort_by_key(|item| if *item == 7 { 0 } else { 9 - *item });
    assert_eq!(lanes.iter().copied().collect::<Vec<_>>(), [7, 5, 5, 3, 3, 1, 2]);
}

#[test]
fn the_lane_with_the_best_first_item_is_next() {
    let mut lanes = Lanes::new(3);
    [(0, 5), (1, 2), (1, 0), (2, 2)].into_iter().for_each(|(lane, item)| lanes.push(lane, item));
    let mut pop = || lanes.pop(|item| *item);
    assert_eq!([pop(), pop(), pop(), pop()], [Some((1, 2)), Some((2, 2)), Some((0, 5)), None]);
    lanes.done(1);
    assert_eq!(lanes.pop(|item| *item), Some((1, 0)));
}
