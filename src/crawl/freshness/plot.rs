//! Delay over time, drawn in characters (after BT Fig. 7): time to the right, delay upwards in equal ratios.

use std::fmt::Write as _;

use super::delay::{Point, Report};

/// Number of lines of the plot area.
const LINES: usize = 12;

/// Columns of the widest plot area.
const COLUMNS_MOST: usize = 200;

/// The plot: `•` medians, `˙` 90th percentiles; `width` is the terminal's, in columns. Without a delay it says so.
#[must_use]
pub fn plot(report: &Report, width: usize) -> String {
    let points = &report.over_time;
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return "no torrent has appeared since the crawl began: there is no delay to show\n".to_owned();
    };
    let columns = width.saturating_sub(12).clamp(10, COLUMNS_MOST);
    let (low, high) = range(points);
    let line = |seconds: f64| place((seconds.max(1.0) / low).ln() / (high / low).ln(), LINES);
    let (from, until) = (first.from.0, last.until.0);
    let mut field = vec![vec![' '; columns]; LINES];
    // Later points of a column overwrite earlier ones; medians are drawn over the others.
    for (mark, of) in [('˙', (|point| point.p90_s) as fn(&Point) -> f64), ('•', |point| point.median_s)] {
        for point in points {
            #[allow(clippy::cast_precision_loss)] // a place on a screen
            let along = point.from.0.saturating_sub(from) as f64 / until.saturating_sub(from).max(1) as f64;
            field[LINES - 1 - line(of(point))][place(along, columns)] = mark;
        }
    }
    let mut text = String::new();
    for (number, row) in field.into_iter().enumerate() {
        #[allow(clippy::cast_precision_loss)] // a place on a screen
        let share = (LINES - 1 - number) as f64 / (LINES - 1) as f64;
        let label =
            if number % 3 == 2 || number == 0 { duration(low * (high / low).powf(share)) } else { String::new() };
        let row: String = row.into_iter().collect();
        let _ = writeln!(text, "{label:>9} │{}", row.trim_end());
    }
    let _ = writeln!(text, "{:>9} └{}", "", "─".repeat(columns));
    let (from, until) = (first.from.rfc3339(), last.until.rfc3339());
    let gap = columns.saturating_sub(from.len() + until.len()).max(1);
    let _ = writeln!(text, "{:>11}{from}{}{until}", "", " ".repeat(gap));
    let _ = writeln!(text, "{:>11}• median  ˙ 90 % of the torrents that appeared then", "");
    text
}

/// The bounds of the scale, in seconds.
fn range(points: &[Point]) -> (f64, f64) {
    let low = points.iter().map(|point| point.median_s).fold(f64::INFINITY, f64::min).max(1.0);
    let high = points.iter().map(|point| point.p90_s.max(point.median_s)).fold(1.0, f64::max);
    (low, high.max(low * 10.0))
}

/// The index of a share between 0 and 1 among this many places.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a place on a screen
fn place(share: f64, places: usize) -> usize {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    ((share * (places - 1) as f64).round() as usize).min(places - 1)
}

/// `40 s`, `12 min`, `3.5 h`, `2.1 d`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 90.0 => (s, "s"),
        s if s < 5_400.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3_600.0, "h"),
        s => (s / 86_400.0, "d"),
    };
    if value < 9.95 && unit != "s" { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

#[cfg(test)]
mod tests;
