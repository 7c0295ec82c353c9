//! Queue keys (ALGORITHMS §9, ELF): one host's URLs are distributed over lanes by a hash of the URL, so that one site
//! keeps many workers busy. A lane does one visit at a time; the host's politeness binds all of them together.

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

use gleaner_rules::LaneKey;

/// The lane of a URL among `lanes` (at least 1).
#[must_use]
pub fn lane_of(key: LaneKey, host: &str, url: &str, lanes: u32) -> u32 {
    let lanes = lanes.max(1);
    match key {
        LaneKey::Host => u32::try_from(xxh3_64(host.as_bytes()) % u64::from(lanes)).unwrap_or(0),
        LaneKey::Elf => elf_hash(url.as_bytes()) % lanes,
        LaneKey::Xxh3 => u32::try_from(xxh3_64(url.as_bytes()) % u64::from(lanes)).unwrap_or(0),
    }
}

/// ELFHash: shift by 4, fold the top nibble back in (System V ABI, "Hash Table").
#[must_use]
pub fn elf_hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0_u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(*byte));
        let top = hash & 0xF000_0000;
        (hash ^ (top >> 24)) & !top
    })
}

/// Queues of one host, each with one worker.
#[derive(Debug)]
pub struct Lanes<T> {
    queues: Vec<VecDeque<T>>,
    busy: Vec<bool>,
    /// Idle lanes with work, in the order in which they became ready.
    ready: VecDeque<usize>,
    len: usize,
    /// Lanes that are busy.
    running: u32,
}

impl<T> Lanes<T> {
    /// `lanes` empty queues (at least 1).
    #[must_use]
    pub fn new(lanes: u32) -> Self {
        let lanes = lanes.max(1) as usize;
        Self {
            queues: std::iter::repeat_with(VecDeque::new).take(lanes).collect(),
            busy: vec![false; lanes],
            ready: VecDeque::new(),
            len: 0,
            running: 0,
        }
    }

    /// Queues an item in its lane.
    pub fn push(&mut self, lane: u32, item: T) {
        let lane = lane as usize % self.queues.len();
        if self.queues[lane].is_empty() && !self.busy[lane] {
            self.ready.push_back(lane);
        }
        self.queues[lane].push_back(item);
        self.len += 1;
    }

    /// The next item of an idle lane; the lane is busy until [`Self::done`].
    pub fn pop(&mut self) -> Option<(usize, T)> {
        let lane = self.ready.pop_front()?;
        let item = self.queues[lane].pop_front()?;
        self.busy[lane] = true;
        self.running += 1;
        self.len -= 1;
        Some((lane, item))
    }

    /// Takes back an item that [`Self::pop`] returned: it is the lane's next one again, and the lane is idle.
    pub fn put_back(&mut self, lane: usize, item: T) {
        self.queues[lane].push_front(item);
        self.busy[lane] = false;
        self.running -= 1;
        self.ready.push_front(lane);
        self.len += 1;
    }

    /// The lane's visit has ended.
    pub fn done(&mut self, lane: usize) {
        self.running -= u32::from(std::mem::take(&mut self.busy[lane]));
        if !self.queues[lane].is_empty() {
            self.ready.push_back(lane);
        }
    }

    /// Removes the first item for which `is_it` holds from its lane, whatever is queued before it.
    pub fn take(&mut self, is_it: impl Fn(&T) -> bool) -> Option<T> {
        let place = |queue: &VecDeque<T>| queue.iter().position(&is_it);
        let (lane, at) = self.queues.iter().enumerate().find_map(|(lane, queue)| Some((lane, place(queue)?)))?;
        let item = self.queues[lane].remove(at)?;
        self.len -= 1;
        if self.queues[lane].is_empty() {
            self.ready.retain(|ready| *ready != lane);
        }
        Some(item)
    }

    /// True when some lane could start a visit.
    #[must_use]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Lanes that are busy.
    #[must_use]
    pub fn running(&self) -> u32 {
        self.running
    }

    /// Items queued in all lanes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when nothing is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of lanes.
    #[must_use]
    pub fn count(&self) -> usize {
        self.queues.len()
    }

    /// Removes all queued items from the lanes.
    pub fn drain(&mut self) -> Vec<T> {
        self.ready.clear();
        self.len = 0;
        self.queues.iter_mut().flat_map(std::mem::take).collect()
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(lanes.pop(), Some((0, 'a')));
        assert_eq!(lanes.pop(), Some((1, 'c')));
        assert_eq!(lanes.pop(), None);
        assert_eq!(lanes.len(), 1);
        lanes.done(0);
        assert_eq!(lanes.pop(), Some((0, 'b')));
    }

    #[test]
    fn an_item_put_back_is_the_next_one_again() {
        let mut lanes = Lanes::new(1);
        lanes.push(0, 'a');
        lanes.push(0, 'b');
        let (lane, item) = lanes.pop().expect("an item");
        lanes.put_back(lane, item);
        assert_eq!((lanes.len(), lanes.pop()), (2, Some((0, 'a'))));
    }

    #[test]
    fn an_item_is_taken_from_behind_others_and_a_lane_without_any_is_not_ready() {
        let mut lanes = Lanes::new(2);
        [(0, 'a'), (0, 'b'), (1, 'c')].into_iter().for_each(|(lane, item)| lanes.push(lane, item));
        assert_eq!([lanes.take(|item| *item == 'b'), lanes.take(|item| *item == 'x')], [Some('b'), None]);
        assert_eq!((lanes.take(|item| *item == 'a'), lanes.len()), (Some('a'), 1));
        assert_eq!([lanes.pop(), lanes.pop()], [Some((1, 'c')), None]);
        // From a busy lane, too: it is ready again with the next item.
        lanes.push(1, 'd');
        assert_eq!(lanes.take(|item| *item == 'd'), Some('d'));
        lanes.done(1);
        assert!(lanes.is_empty() && !lanes.has_ready() && lanes.running() == 0);
        lanes.push(1, 'e');
        assert_eq!(lanes.pop(), Some((1, 'e')));
    }

    #[test]
    fn lanes_take_turns() {
        let mut lanes = Lanes::new(2);
        for item in 0..4 {
            lanes.push(item % 2, item);
        }
        let mut order = Vec::new();
        while let Some((lane, item)) = lanes.pop() {
            order.push(item);
            lanes.done(lane);
        }
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn one_host_has_one_lane_by_host_and_many_by_url() {
        let urls: Vec<_> = (0..5_000).map(|n| format!("http://a.example/torrent/{n}")).collect();
        for (key, lanes_used) in [(LaneKey::Host, 1), (LaneKey::Elf, 50), (LaneKey::Xxh3, 50)] {
            let lanes: std::collections::BTreeSet<_> =
                urls.iter().map(|url| lane_of(key, "a.example", url, 50)).collect();
            assert_eq!(lanes.len(), lanes_used, "{key:?}");
        }
    }
}
