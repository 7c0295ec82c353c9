//! Lines for people, folded at the width of a terminal. What is copied stays whole: commands, what stands in backticks, and URLs.

use crate::limits::LINE_COLUMNS_MAX;

/// Folds each line; further lines of it are indented by this many spaces.
#[must_use]
pub fn fold(text: &str, indent: usize) -> String {
    let mut folded = String::with_capacity(text.len() + text.len() / 20);
    for line in text.lines() {
        let mut column = 0;
        let indent = indent.max(line.len() - line.trim_start().len());
        for unit in units(line) {
            let mut unit = unit;
            // Nothing is gained by a new line for what begins one.
            if column > indent && column + unit.trim_end().chars().count() > usize::from(LINE_COLUMNS_MAX) {
                folded.truncate(folded.trim_end_matches(' ').len());
                folded.push('\n');
                folded.extend(std::iter::repeat_n(' ', indent));
                (column, unit) = (indent, unit.trim_start());
            }
            folded.push_str(unit);
            column += unit.chars().count();
        }
        folded.truncate(folded.trim_end_matches(' ').len());
        folded.push('\n');
    }
    folded
}

/// The pieces of a line that are not broken, each with the spaces in front of it and one behind it. A command goes on to the end of its line.
fn units(line: &str) -> Vec<&str> {
    let mut units = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    for (at, letter) in line.char_indices() {
        let word = &line[start..at];
        match letter {
            '`' => is_quoted = !is_quoted,
            ' ' if !is_quoted && !word.trim().is_empty() && !is_command(word) => {
                units.push(&line[start..=at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    units.push(&line[start..]);
    units
}

fn is_command(unit: &str) -> bool {
    let rest = unit.trim_start_matches(['(', ' ']).strip_prefix("gleaner");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_at_words_and_what_is_copied_stays_whole() {
        let long = format!("demo          {}", "word ".repeat(30).trim_end());
        let folded = fold(&long, 14);
        assert!(folded.lines().all(|line| line.chars().count() <= usize::from(LINE_COLUMNS_MAX)), "{folded}");
        assert!(folded.lines().skip(1).all(|line| line.starts_with("              word")), "{folded}");
        assert_eq!(folded.split_whitespace().collect::<Vec<_>>(), long.split_whitespace().collect::<Vec<_>>());
        let quoted = format!("{} `{}` z", "word ".repeat(12).trim_end(), "in backticks ".repeat(3).trim_end());
        let folded = quoted.replacen(" `", "\n  `", 1) + "\n";
        assert_eq!(fold(&quoted, 2), folded);
        let command = "demo: 9 pages were not read whole: torrents may be missing (hint: gleaner coverage demo --data gleaner-demo)";
        assert_eq!(
            fold(command, 2),
            "demo: 9 pages were not read whole: torrents may be missing (hint:\n  gleaner coverage demo --data gleaner-demo)\n"
        );
        let address = format!("a b http://h.example/{}", "x".repeat(90));
        assert_eq!(fold(&address, 2), address.replacen(" http", "\n  http", 1) + "\n");
        assert_eq!(fold("short\n\n  as it is\n", 2), "short\n\n  as it is\n");
    }
}
