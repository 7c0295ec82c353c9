//! Post times of boards as CSV: lines `board,thread,kind,unix_time`, read and written.
//!
//! Input of `simulate`, output of `generate`. Lines may be in any order. Invalid lines are reported with their numbers, all
//! at once; they never stop the reader, never cause a panic, and the length of a line is limited.

use std::collections::HashMap;
use std::io::{BufRead, Read, Write};

use gleaner_crawl::schedule::{Kind, Post};

use super::ScheduleError;
use crate::limits;

/// The first line of a file.
pub const HEAD: &str = "board,thread,kind,unix_time";

/// The last valid second: the end of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;

/// Posts of boards, each board's sorted by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// By name.
    pub boards: Vec<Board>,
}

/// One board's posts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// The name in the trace.
    pub name: Box<str>,
    /// By time.
    pub posts: Vec<Post>,
}

impl Trace {
    /// Parses CSV. The header may be missing; empty lines are skipped. A new thread with a number as its name gets that number.
    ///
    /// # Errors
    /// Invalid lines, the first [`limits::TRACE_FAULTS_TOLD_MAX`] of them in detail; more posts or boards than
    /// the caps; errors of the reader.
    pub fn read(mut from: impl BufRead) -> Result<Self, ScheduleError> {
        let mut names: HashMap<Box<str>, usize> = HashMap::new();
        let mut boards: Vec<Board> = Vec::new();
        let (mut faults, mut faults_more, mut posts) = (Vec::new(), 0_usize, 0_usize);
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            let max = limits::TRACE_LINE_BYTES_MAX as u64;
            if from.by_ref().take(max).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let parsed = if line.last() != Some(&b'\n') && line.len() as u64 == max {
                from.skip_until(b'\n')?;
                Err(format!("longer than {max} bytes"))
            } else {
                parse(&line, number)
            };
            match parsed {
                Ok(None) => {}
                Ok(Some((name, post))) => {
                    posts += 1;
                    if posts > limits::TRACE_POSTS_MAX {
                        return Err(ScheduleError::TooMany { what: "posts", max: limits::TRACE_POSTS_MAX });
                    }
                    let place = match names.get(name.as_str()) {
                        Some(place) => *place,
                        None if boards.len() == limits::BOARDS_MAX => {
                            return Err(ScheduleError::TooMany { what: "boards", max: limits::BOARDS_MAX });
                        }
                        None => {
                            let name: Box<str> = name.into();
                            boards.push(Board { name: name.clone(), posts: Vec::new() });
                            names.insert(name, boards.len() - 1);
                            boards.len() - 1
                        }
                    };
                    boards[place].posts.push(post);
                }
                Err(_) if faults.len() == limits::TRACE_FAULTS_TOLD_MAX => faults_more += 1,
                Err(what) => faults.push(format!("line {number}: {what}")),
            }
        }
        if !faults.is_empty() {
            if faults_more > 0 {
                faults.push(format!("and {faults_more} more lines that are no posts"));
            }
            faults.push(format!("hint: each line is {HEAD}, with kind new or reply"));
            return Err(ScheduleError::Lines { lines: faults });
        }
        for board in &mut boards {
            board.posts.sort_by_key(|post| post.at);
        }
        boards.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { boards })
    }

    /// Writes CSV with its header, all posts sorted by time. Threads without a number are named by their index.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, mut to: impl Write) -> Result<(), ScheduleError> {
        writeln!(to, "{HEAD}")?;
        let mut posts: Vec<(u64, usize, &Post)> = Vec::new();
        for (place, board) in self.boards.iter().enumerate() {
            posts.extend(board.posts.iter().map(|post| (post.at, place, post)));
        }
        posts.sort_by_key(|(at, place, _)| (*at, *place));
        for (nth, (at, place, post)) in posts.into_iter().enumerate() {
            let kind = match post.kind {
                Kind::New => "new",
                Kind::Reply => "reply",
            };
            let thread = post.number.map_or_else(|| format!("p{nth}"), |number| number.to_string());
            writeln!(to, "{},{thread},{kind},{at}", quoted(&self.boards[place].name))?;
        }
        Ok(())
    }

    /// The second of the earliest post; None if there is none.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.boards.iter().filter_map(|board| board.posts.first()).map(|post| post.at).min()
    }
}

/// RFC 4180 §2.6–2.7: a field with a comma or a quote is quoted, its quotes doubled.
fn quoted(field: &str) -> String {
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

/// Parses one line; None for an empty one and for the header.
fn parse(line: &[u8], number: u64) -> Result<Option<(String, Post)>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "is not UTF-8".to_owned())?;
    let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
    let text = text.trim_end_matches(['\r', '\n']);
    if text.trim().is_empty() || (number == 1 && text == HEAD) {
        return Ok(None);
    }
    let fields = fields(text)?;
    let [board, thread, kind, at] = fields.as_slice() else {
        return Err(format!("has {} fields, not 4", fields.len()));
    };
    if board.is_empty() || thread.is_empty() {
        return Err("board or thread is empty".to_owned());
    }
    let kind = match kind.as_str() {
        "new" => Kind::New,
        "reply" => Kind::Reply,
        other => return Err(format!("kind is {other:?}, neither new nor reply")),
    };
    match at.parse::<u64>() {
        Ok(at) if at <= LAST_SECOND => {
            let number = thread.parse().ok().filter(|_| kind == Kind::New);
            Ok(Some((board.clone(), Post { at, kind, number })))
        }
        _ => Err(format!("unix_time is {at:?}, not seconds from 0 to {LAST_SECOND}")),
    }
}

/// The fields of a line by RFC 4180; a line break inside quotes is not supported.
fn fields(text: &str) -> Result<Vec<String>, String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut rest = text.chars().peekable();
    let (mut in_quotes, mut was_quoted) = (false, false);
    while let Some(character) = rest.next() {
        match character {
            '"' if in_quotes && rest.next_if_eq(&'"').is_some() => field.push('"'),
            '"' if in_quotes => in_quotes = false,
            '"' if field.is_empty() && !was_quoted => (in_quotes, was_quoted) = (true, true),
            ',' if !in_quotes => {
                fields.push(std::mem::take(&mut field));
                was_quoted = false;
            }
            other if was_quoted && !in_quotes => return Err(format!("has {other:?} after a closing quote")),
            other => field.push(other),
        }
    }
    if in_quotes {
        return Err("a quote is not closed".to_owned());
    }
    fields.push(field);
    Ok(fields)
}

#[cfg(test)]
mod tests;
