//! The roles of columns: what the lines of a list's records contain, by their headers, classes and labels, or else by
//! their form and by how they compare from row to row.

use std::collections::HashMap;

use super::flat::{Page, hash};
use super::lines::{Content, Line, count, size};
use super::records::Record;
use super::when::{Reading, read};
use super::words::{Role, roles};

/// A number of a row: what it counts, if known, and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub role: Option<Role>,
    pub place: u64,
    pub value: u64,
}

/// A time of a row: what it is the time of, if known, and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub role: Option<Role>,
    pub place: u64,
    pub block: usize,
    pub reading: Reading,
    /// The same time in another form, from another part of the line.
    pub twin: Option<Reading>,
}

/// The content of a row beside its links.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub numbers: Vec<Number>,
    pub moments: Vec<Moment>,
    pub size: Option<u64>,
}

/// Roles of the columns of a table, from its header: the column at which a cell begins, and the cell's roles.
pub(super) type Header = Vec<(usize, Vec<Role>)>;

/// Maximum elements between a header and its list.
const HEADER_REACH: usize = 400;

/// The header of the table that contains row `first`: the nearest row before it that names two columns.
pub(super) fn header(page: &Page<'_>, first: usize) -> Header {
    if !matches!(page.elements[first].tag(), "tr" | "tbody") {
        return Header::new();
    }
    let from = first.saturating_sub(HEADER_REACH);
    (from..first)
        .rev()
        .filter(|&at| page.elements[at].tag() == "tr" && page.elements[at].end <= first)
        .map(|at| cells_of(page, at))
        .find(|cells| cells.iter().filter(|(_, roles)| !roles.is_empty()).count() >= 2)
        .unwrap_or_default()
}

fn cells_of(page: &Page<'_>, row: usize) -> Header {
    let mut column = 0;
    page.children(row)
        .take(100)
        .map(|cell| {
            let flat = &page.elements[cell];
            let mut said = super::lines::text_of(page, flat.texts.clone());
            for at in cell..flat.end {
                for name in ["title", "alt"] {
                    if let Some(value) = page.elements[at].attr(name).filter(|_| said.len() < 3) {
                        said.push(' ');
                        said.push_str(value);
                    }
                }
            }
            let here = column;
            column += flat.attr("colspan").and_then(|span| span.trim().parse().ok()).unwrap_or(1_usize).clamp(1, 100);
            (here, roles(&said))
        })
        .collect()
}

impl Cells {
    /// Reads a row. `title` is the element of its title, whose text does not describe columns.
    pub fn of(page: &Page<'_>, record: &Record, content: &Content<'_>, header: &Header, title: Option<usize>) -> Self {
        let mut cells = Self::default();
        let mut lines = content.lines.iter().peekable();
        while let Some(line) = lines.next() {
            let above = class_roles(page, record, line);
            let named = line
                .column
                .and_then(|column| header.iter().rev().find(|(at, _)| *at <= column))
                .map_or(&[][..], |(_, roles)| roles);
            let text = line.text(page, title);
            // `8.52<br>GB`.
            let unit = lines.peek().filter(|next| next.block == line.block && !text.is_empty() && text.len() < 12);
            if let Some(bytes) = unit
                .and_then(|next| size(&format!("{text} {}", next.text(page, title))))
                .filter(|_| size(&text).is_none())
            {
                cells.size.get_or_insert(bytes);
                lines.next();
                continue;
            }
            cells.take_moment(line, &text, &above, named);
            cells.take_numbers(page, line, title, &above, named);
        }
        cells
    }

    fn take_moment(&mut self, line: &Line<'_>, text: &str, above: &[Role], named: &[Role]) {
        let in_text = read(text);
        let told = line.told.iter().map(|told| told.reading).max_by_key(exactness);
        // An unmarked duration may be a running time. If the header calls it a time, it is one, unless the same cell
        // already has a time.
        let is_again = self.moments.last().is_some_and(|last| last.block == line.block);
        let in_text = in_text.map(|found| found.reading).filter(|reading| {
            let is_sure = !matches!(reading, Reading::Ago { marked: false, .. });
            is_sure
                || told.is_some()
                || !is_again && named.iter().chain(above).any(|role| matches!(role, Role::Last | Role::Created))
        });
        let Some(reading) = [told, in_text].into_iter().flatten().max_by_key(exactness) else {
            return;
        };
        let twin = match (told, in_text) {
            (Some(told), Some(text)) if told != text => Some(if reading == told { text } else { told }),
            _ => None,
        };
        let is_time = |role: &&Role| matches!(role, Role::Last | Role::Created);
        let label = roles(text);
        let role = above
            .iter()
            .find(is_time)
            .or_else(|| label.iter().find(is_time))
            .or_else(|| named.iter().find(is_time))
            .copied();
        self.moments.push(Moment { role, place: line.slot, block: line.block, reading, twin });
    }

    fn take_numbers(&mut self, page: &Page<'_>, line: &Line<'_>, title: Option<usize>, above: &[Role], named: &[Role]) {
        let is_title =
            |element: usize| title.is_some_and(|title| title <= element && element < page.elements[title].end);
        let counts = |role: &&Role| !matches!(role, Role::Title | Role::Author | Role::Last | Role::Created);
        let mut nth = 0_usize;
        let runs: Vec<&(usize, &str)> = line.runs.iter().filter(|(element, _)| !is_title(*element)).collect();
        for (at, (element, run)) in runs.iter().enumerate() {
            if let Some(bytes) = size(run) {
                self.size.get_or_insert(bytes);
                continue;
            }
            let neighbour = |at: Option<usize>| {
                at.and_then(|at| runs.get(at))
                    .filter(|(_, text)| count(text).is_none())
                    .and_then(|(_, text)| roles(text).into_iter().find(|role| counts(&role)))
            };
            let (value, label) = match count(run) {
                Some(value) => {
                    let before = neighbour(at.checked_sub(1));
                    let own = own_roles(page, *element, line.block).into_iter().find(|role| counts(&role));
                    (value, before.or(own).or_else(|| neighbour(Some(at + 1))))
                }
                None => match labelled(run)
                    .or_else(|| run.split([';', '|', '·', '•']).flat_map(|part| part.split(", ")).find_map(labelled))
                {
                    Some((role, value)) => (value, Some(role)),
                    None => continue,
                },
            };
            let by_header = if runs.len() == 1 || nth > 0 || named.len() > 1 {
                named.iter().filter(counts).nth(nth).copied()
            } else {
                named.iter().find(counts).copied()
            };
            let role = label.or_else(|| above.iter().find(counts).copied()).or(by_header);
            // `Size` in bytes, as in directory listings.
            if role == Some(Role::Size) {
                self.size.get_or_insert(value);
            } else {
                self.numbers.push(Number { role, place: hash(&(line.slot, nth)), value });
            }
            nth += 1;
        }
    }

    /// The number with this role.
    pub fn number(&self, role: Role) -> Option<u64> {
        self.numbers.iter().find(|number| number.role == Some(role)).map(|number| number.value)
    }
}

/// Precision of a reading, to choose between two readings of one time.
fn exactness(reading: &Reading) -> u8 {
    match reading {
        Reading::Absolute { .. } => 5,
        Reading::Local { clock: Some(clock), .. } if clock.has_seconds => 4,
        Reading::Local { clock: Some(_), .. } => 3,
        Reading::Ago { unit, .. } if *unit <= 60 => 2,
        Reading::Local { .. } => 1,
        Reading::Ago { .. } => 0,
    }
}

/// `Replies: 12`, `12 replies`, `回复 12`: one number and one word for a count.
fn labelled(run: &str) -> Option<(Role, u64)> {
    if run.len() > 60 {
        return None;
    }
    let role =
        roles(run).into_iter().find(|role| !matches!(role, Role::Title | Role::Author | Role::Last | Role::Created))?;
    let start = run.find(|character: char| character.is_ascii_digit())?;
    let tail = &run[start..];
    let end = tail
        .find(|character: char| !character.is_ascii_digit() && !matches!(character, ',' | '.'))
        .unwrap_or(tail.len());
    let rest = &tail[end..];
    let is_only = !rest.contains(|character: char| character.is_ascii_digit());
    is_only.then(|| count(tail[..end].trim_end_matches([',', '.']))).flatten().map(|value| (role, value))
}

/// Roles from the classes between a run and its block, without the block's.
fn own_roles(page: &Page<'_>, element: usize, block: usize) -> Vec<Role> {
    let mut found = Vec::new();
    let mut at = element;
    while at > block {
        found.extend(page.roles(at));
        at = page.elements[at].parent;
    }
    found
}

/// Roles from the classes of a line's block and of the elements around it within the record, the innermost first, and
/// from those of the elements in the line.
fn class_roles(page: &Page<'_>, record: &Record, line: &Line<'_>) -> Vec<Role> {
    let mut found = Vec::new();
    let mut at = line.block;
    for (element, _) in line.runs.iter().take(8) {
        if *element != line.block {
            found.extend(
                own_roles(page, *element, line.block)
                    .into_iter()
                    .filter(|role| matches!(role, Role::Last | Role::Created)),
            );
        }
    }
    while at > record.first() {
        found.extend(page.roles(at));
        at = page.elements[at].parent;
    }
    found
}

/// Assigns roles to unnamed numbers by their form. Beside a size they are seeders, leechers and completed downloads;
/// otherwise, if the first of two is never the larger, replies and views.
pub(super) fn name_unnamed(rows: &mut [Cells]) {
    let has = |role: Role| rows.iter().any(|row| row.numbers.iter().any(|number| number.role == Some(role)));
    if has(Role::Replies) || has(Role::Seeders) || has(Role::Views) || has(Role::Threads) {
        return;
    }
    let mut places: Vec<(u64, usize)> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    for number in rows.iter().flat_map(|row| &row.numbers).filter(|number| number.role.is_none()) {
        let at = *known.entry(number.place).or_insert_with(|| {
            places.push((number.place, 0));
            places.len() - 1
        });
        places[at].1 += 1;
    }
    places.retain(|(_, seen)| seen * 10 >= rows.len() * 6);
    let with_size = rows.iter().filter(|row| row.size.is_some()).count() * 10 >= rows.len() * 6;
    let names: &[Role] = match places.len() {
        2 | 3 if with_size => &[Role::Seeders, Role::Leechers, Role::Completed],
        2 if is_never_larger(rows, places[0].0, places[1].0) => &[Role::Replies, Role::Views],
        _ => return,
    };
    for row in rows {
        for number in &mut row.numbers {
            if let Some(at) = places.iter().position(|(place, _)| *place == number.place) {
                number.role = number.role.or_else(|| names.get(at).copied());
            }
        }
    }
}

fn is_never_larger(rows: &[Cells], first: u64, second: u64) -> bool {
    let value = |row: &Cells, place| row.numbers.iter().find(|number| number.place == place).map(|number| number.value);
    let pairs: Vec<(u64, u64)> =
        rows.iter().filter_map(|row| Some((value(row, first)?, value(row, second)?))).collect();
    let kept = pairs.iter().filter(|(first, second)| first <= second).count();
    let apart = pairs.iter().any(|(first, second)| first != second);
    apart && kept * 100 >= pairs.len() * 95
}
