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

    /// Queues an item in its lane, behind the last one that does not come after it.
    pub fn insert(&mut self, lane: u32, item: T, comes_after: impl Fn(&T) -> bool) {
        let lane = lane as usize % self.queues.len();
        if self.queues[lane].is_empty() && !self.busy[lane] {
            self.ready.push_back(lane);
        }
        let at = self.queues[lane].iter().rposition(|queued| !comes_after(queued)).map_or(0, |last| last + 1);
        self.queues[lane].insert(at, item);
        self.len += 1;
    }

    /// The items that are queued.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.queues.iter().flatten()
    }

    /// Orders the items of each lane; those of equal places stay as they are.
    pub fn sort_by_key(&mut self, place: impl Fn(&T) -> u8) {
        self.queues.iter_mut().for_each(|queue| queue.make_contiguous().sort_by_key(&place));
    }

    /// The item with the least place among the first ones of the idle lanes, of equal ones that of the lane that has been idle longest;
    /// the lane is busy until [`Self::done`].
    pub fn pop(&mut self, place: impl Fn(&T) -> u8) -> Option<(usize, T)> {
        let first = |lane: &usize| self.queues[*lane].front().map(&place);
        let at = (0..self.ready.len()).min_by_key(|at| first(&self.ready[*at]))?;
        let lane = self.ready.remove(at)?;
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
mod tests;
