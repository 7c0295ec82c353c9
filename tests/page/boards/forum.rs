//! A simulated forum: boards with different rhythms, bursts, nights, pinned rows, old threads that wake, threads that are
//! deleted or moved, deleted posts. Generated from a seed; independent of how it is read.

/// Seconds.
pub const HOUR: i64 = 3_600;
pub const DAY: i64 = 24 * HOUR;

/// A thread.
pub struct Thread {
    pub id: usize,
    pub title: String,
    pub author: String,
    /// Times of its posts, sorted, each with the time of its deletion; the first is the thread's own.
    pub posts: Vec<(i64, Option<i64>)>,
    pub pinned: bool,
    /// When it was deleted.
    pub deleted: Option<i64>,
    /// When it moved, and the board that it moved to.
    pub moved: Option<(i64, usize)>,
    pub board: usize,
}

impl Thread {
    /// Times of the posts that exist at `now`.
    pub fn posts_at(&self, now: i64) -> impl Iterator<Item = i64> {
        let there = move |(at, gone): &&(i64, Option<i64>)| *at <= now && gone.is_none_or(|gone| gone > now);
        self.posts.iter().filter(there).map(|(at, _)| *at)
    }

    /// The last post at `now`, if the thread still exists.
    pub fn last_by(&self, now: i64) -> Option<i64> {
        let is_there = self.deleted.is_none_or(|deleted| deleted > now);
        self.posts_at(now).last().filter(|_| is_there)
    }

    /// True if a post exists at `now` that did not exist at the last fetch.
    pub fn has_news(&self, fetched: Option<i64>, now: i64) -> bool {
        self.last_by(now).is_some_and(|last| fetched.is_none_or(|fetched| last > fetched))
    }

    pub fn board_at(&self, now: i64) -> usize {
        self.moved.filter(|(at, _)| *at <= now).map_or(self.board, |(_, board)| board)
    }
}

pub struct Forum {
    pub threads: Vec<Thread>,
    pub boards: usize,
}

/// xorshift64*: the same forum from the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Posts per day on each board.
const RHYTHM: [usize; 4] = [45, 9, 2, 0];

const WORDS: [&str; 24] = [
    "Debian",
    "netinst",
    "Librivox",
    "Audiobook",
    "Fedora",
    "Workstation",
    "公开课",
    "数据结构",
    "Jamendo",
    "Album",
    "Tears",
    "Steel",
    "Cosmos",
    "Laundromat",
    "Arch",
    "Linux",
    "古典音乐",
    "Gutenberg",
    "2026.11.21",
    "S01E02",
    "[1080p]",
    "v2.10",
    "Größe",
    "НТВ",
];
const PEOPLE: [&str; 6] = ["admin", "Karl77", "小明", "Anna-Lena", "root2026", "Ольга"];

impl Forum {
    /// A forum from `start` to `end`, with all events.
    pub fn new(seed: u64, start: i64, end: i64) -> Self {
        let mut random = Random::new(seed);
        let mut forum = Self { threads: Vec::new(), boards: RHYTHM.len() };
        for (board, &per_day) in RHYTHM.iter().enumerate() {
            let mut of_board: Vec<usize> = Vec::new();
            // Pinned threads are old.
            for number in 0..if board == 3 { 0 } else { 3 } {
                of_board.push(forum.open(&mut random, board, start - 30 * DAY + number * DAY, true));
            }
            let mut day = start;
            while day < end {
                let burst = if random.chance(6) { 6 } else { 1 };
                let posts = (per_day * burst * (60 + random.below(80))).div_ceil(100);
                for _ in 0..if per_day == 0 { 0 } else { posts } {
                    // Nights are quiet.
                    let hour = if random.chance(85) { 8 + random.below(16) } else { random.below(8) };
                    let at = day + hour as i64 * HOUR + random.below(3_600) as i64;
                    if of_board.len() < 8 || random.chance(22) {
                        of_board.push(forum.open(&mut random, board, at, false));
                        continue;
                    }
                    // Most replies are to recent threads, some wake an old one.
                    let reach = if random.chance(6) { of_board.len() } else { of_board.len().min(30) };
                    let thread = of_board[of_board.len() - 1 - random.below(reach)];
                    // Some posts are deleted within the day.
                    let gone = random.chance(3).then(|| at + random.below(DAY as usize) as i64);
                    forum.threads[thread].posts.push((at, gone));
                }
                for &thread in &of_board {
                    if random.below(400) == 0 && !forum.threads[thread].pinned {
                        forum.threads[thread].deleted = Some(day + random.below(DAY as usize) as i64);
                    } else if random.below(400) == 0 {
                        let to = (board + 1 + random.below(2)) % RHYTHM.len();
                        forum.threads[thread].moved.get_or_insert((day + random.below(DAY as usize) as i64, to));
                    }
                }
                day += DAY;
            }
        }
        for thread in &mut forum.threads {
            thread.posts.sort_unstable();
            let first = thread.posts[0].0;
            thread.deleted = thread.deleted.filter(|at| *at > first);
        }
        forum
    }

    fn open(&mut self, random: &mut Random, board: usize, at: i64, pinned: bool) -> usize {
        let id = self.threads.len();
        let title = (0..2 + random.below(5)).map(|_| WORDS[random.below(WORDS.len())]).collect::<Vec<_>>().join(" ");
        self.threads.push(Thread {
            id: 1_000 + id,
            title: format!("{title} - {id:04}"),
            author: PEOPLE[random.below(PEOPLE.len())].to_owned(),
            posts: vec![(at, None)],
            pinned,
            deleted: None,
            moved: None,
            board,
        });
        id
    }

    /// The threads of a board at `now` in list order: pinned ones, then the newest activity first. In some themes pinned ones are
    /// on every page; here on the first.
    pub fn list(&self, board: usize, now: i64) -> Vec<&Thread> {
        let mut list: Vec<&Thread> = self
            .threads
            .iter()
            .filter(|thread| thread.board_at(now) == board && thread.last_by(now).is_some())
            .collect();
        list.sort_by_cached_key(|thread| (!thread.pinned, std::cmp::Reverse(thread.last_by(now)), thread.id));
        list
    }
}
