//! The activity profile of a list, drawn in characters, with the rechecks of a day below it (ALGORITHMS §10.4).

use std::fmt::Write as _;

use super::{DAY_S, HOURS};

/// Lines of the plot area, and columns of an hour.
const LINES: usize = 6;
const HOUR_COLUMNS: usize = 3;

/// The plot: bars are expected posts in each hour of the day (UTC), `▲` rechecks, a digit if several fall into one column.
#[must_use]
pub fn plot(posts_by_hour: &[f64; HOURS], looks: &[u64]) -> String {
    let most = posts_by_hour.iter().copied().filter(|posts| posts.is_finite()).fold(0.0, f64::max);
    let mut text = String::new();
    for line in 0..LINES {
        let above = (LINES - 1 - line) as f64 / LINES as f64;
        let label = if line == 0 { format!("{most:.2}") } else { String::new() };
        let _ = write!(text, "{label:>8} │");
        for posts in posts_by_hour {
            let is_filled = most > 0.0 && posts / most > above;
            text.push_str(if is_filled { "██ " } else { "   " });
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    let _ = writeln!(text, "{:>8} └{}", "0", "─".repeat(HOURS * HOUR_COLUMNS));
    let mut marks = [0_usize; HOURS * HOUR_COLUMNS];
    for look in looks {
        let column = (look % DAY_S) as usize * marks.len() / DAY_S as usize;
        marks[column] += 1;
    }
    let marks: String = marks
        .iter()
        .map(|looks| match looks {
            0 => ' ',
            1 => '▲',
            2..=9 => char::from_digit(*looks as u32, 10).unwrap_or('+'),
            _ => '+',
        })
        .collect();
    let _ = writeln!(text, "{:>10}{}", "looks ", marks.trim_end());
    let hours: String = (0..HOURS).step_by(3).map(|hour| format!("{hour:<9}")).collect();
    let _ = writeln!(text, "{:>10}{} h UTC", "", hours.trim_end());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_hours_and_looks_stand_at_their_times() {
        let mut hours = [0.0; HOURS];
        (hours[0], hours[12]) = (1.0, 4.0);
        let text = plot(&hours, &[12 * 3_600 + 60, DAY_S + 12 * 3_600 + 61, 23 * 3_600]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("    4.00 │") && lines[0].matches('█').count() == 2, "{text}");
        assert_eq!(lines[LINES - 1].matches('█').count(), 4, "{text}");
        let looks: Vec<char> = lines[LINES + 1].chars().collect();
        assert_eq!((looks[10 + 36], looks[10 + 69]), ('2', '▲'), "{text}");
        for hours in [[0.0; HOURS], [f64::NAN; HOURS]] {
            assert!(plot(&hours, &[]).contains("h UTC"));
        }
    }
}
