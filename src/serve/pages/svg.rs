//! Plots as SVG: bars of half hours, lines and steps over time. Each value has a title, and nothing needs a script.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gleaner_base::clock::UnixMillis;
use maud::{Markup, html};

use super::words;
use crate::desk::{HALF_HOUR_MS, HalfHour};

/// Half hours of a bar.
pub const BEATS: u64 = 48;

impl HalfHour {
    /// What it is in a word; the class of its colour.
    #[must_use]
    pub fn beat(&self) -> &'static str {
        let bad = self.refused + self.failed;
        match *self {
            Self { is_paused: true, .. } => "paused",
            _ if bad > self.answered && self.failed >= self.refused => "failed",
            _ if bad > self.answered => "refused",
            _ if self.throttled > 0 => "slow",
            _ if self.answered > 0 => "ok",
            Self { is_crawled: true, .. } => "idle",
            _ => "none",
        }
    }
}

/// What the words of a bar mean.
#[must_use]
pub fn beats_key() -> Markup {
    html! {
        div.key {
            @for (class, name) in [("ok", "answered"), ("idle", "nothing due"), ("slow", "asked to wait"), ("refused", "refused"), ("failed", "failed"), ("paused", "paused"), ("none", "not known")] {
                span { i class={ "k-" (class) } {} (name) }
            }
        }
    }
}

/// The lines between half hours, once a page.
#[must_use]
pub fn gaps() -> Markup {
    let lines: String = (1..BEATS).map(|nth| format!("M{} 0v18", nth * 4)).collect();
    html! { svg.defs width="0" height="0" aria-hidden="true" { symbol id="gaps" viewBox="0 0 192 18" preserveAspectRatio="none" { path.gaps d=(lines) {} } } }
}

/// The last day of a site: a mark each half hour, alike ones told together.
#[must_use]
pub fn bar(known: &[HalfHour], now: UnixMillis) -> Markup {
    let last = now.0 / HALF_HOUR_MS;
    let first = last.saturating_sub(BEATS - 1);
    let at = |number: u64| known.iter().find(|of| of.number == number).copied();
    let mut runs: Vec<(&'static str, u64, u64, HalfHour)> = Vec::new();
    for number in first..=last {
        let of = at(number).unwrap_or_default();
        let beat = of.beat();
        match runs.last_mut() {
            Some((own, _, end, sum)) if *own == beat => {
                *end = number;
                sum.answered += of.answered;
                sum.refused += of.refused + of.failed + of.throttled;
                sum.torrents += of.torrents;
            }
            _ => {
                let sum = HalfHour { refused: of.refused + of.failed + of.throttled, ..of };
                runs.push((beat, number, number, sum));
            }
        }
    }
    let title = |(beat, from, to, sum): &(&str, u64, u64, HalfHour)| {
        let [from, to] = [*from, *to + 1].map(|number| words::day_time(UnixMillis(number * HALF_HOUR_MS)));
        match *beat {
            "none" => format!("{from} to {to}: not known"),
            beat => format!(
                "{from} to {to}: {beat}, {} answered, {} not, {} stored",
                words::count(sum.answered.into()),
                words::count(sum.refused.into()),
                words::many(sum.torrents.into(), "torrent")
            ),
        }
    };
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    runs.iter().for_each(|(beat, from, to, _)| *counts.entry(beat).or_default() += to - from + 1);
    let label: Vec<String> = counts.iter().map(|(beat, count)| format!("{count} {beat}")).collect();
    html! {
        svg.bar viewBox="0 0 192 18" preserveAspectRatio="none" role="img" aria-label={ "half hours of the last day: " (label.join(", ")) } {
            @for run in &runs {
                rect class={ "b-" (run.0) } x=((run.1 - first) * 4) width=((run.2 - run.1 + 1) * 4) height="18" { title { (title(run)) } }
            }
            use href="#gaps" width="192" height="18" {}
        }
    }
}

/// A thin bar of a share.
#[must_use]
pub fn share(ratio: f64) -> Markup {
    let width = format!("{:.1}", ratio.clamp(0.0, 1.0) * 64.0);
    html! { svg.share viewBox="0 0 64 4" aria-hidden="true" { rect.b-none width="64" height="4" rx="2" {} rect.b-ok width=(width) height="4" rx="2" {} } }
}

/// A part of time.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub from: UnixMillis,
    pub until: UnixMillis,
    /// Two of these stand in the place of one.
    pub is_low: bool,
}

/// One line of a plot: time and value.
pub struct Line {
    pub name: &'static str,
    /// Its class in the style.
    pub class: &'static str,
    pub points: Vec<(UnixMillis, f64)>,
}

/// Bars over time, each of parts that stand on each other.
pub struct Bar {
    pub from: UnixMillis,
    pub until: UnixMillis,
    /// Name, class and value of each part.
    pub parts: Vec<(&'static str, &'static str, f64)>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 170.0;
const LOW: f64 = 76.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 22.0;

/// Bars, and points of a line, that a plot shows: more are told together, so that a month costs what a day does.
const SHOWN: usize = 160;

/// Where values and times are in a plot.
struct Frame {
    span: Span,
    most: f64,
}

#[expect(clippy::cast_precision_loss, reason = "pixels")]
impl Frame {
    fn height(&self) -> f64 {
        if self.span.is_low { LOW } else { HEIGHT }
    }

    fn x(&self, at: UnixMillis) -> f64 {
        let all = self.span.until.0.saturating_sub(self.span.from.0).max(1) as f64;
        let at = at.0.saturating_sub(self.span.from.0) as f64;
        LEFT + (at / all).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        self.height() - BOTTOM - (value / self.most).clamp(0.0, 1.0) * (self.height() - TOP - BOTTOM)
    }

    fn has(&self, at: UnixMillis) -> bool {
        (self.span.from..=self.span.until).contains(&at)
    }

    fn shows(&self, (at, value): &(UnixMillis, f64)) -> bool {
        self.has(*at) && is_figure(*value)
    }

    fn axes(&self, unit: impl Fn(f64) -> String) -> Markup {
        let hours = self.span.until.0.saturating_sub(self.span.from.0) / 3_600_000;
        let step = [1, 2, 4, 6, 12, 24, 48, 120, 240, 720, 2_160, 8_760].into_iter().find(|step| hours / step <= 7);
        let step = step.unwrap_or(17_520).max(1) * 3_600_000;
        let first = self.span.from.0.div_ceil(step) * step;
        let ticks = (0..12).map(|nth| UnixMillis(first + nth * step)).filter(|at| self.has(*at));
        let label = |at| if step < 24 * 3_600_000 { words::day_time(at) } else { words::day(at) };
        html! {
            @for nth in 0..=2 {
                @let value = self.most * f64::from(nth) / 2.0;
                @let y = px(self.y(value));
                line.axis x1=(px(LEFT)) x2=(px(WIDTH - RIGHT)) y1=(y) y2=(y) {}
                text x=(px(LEFT - 6.0)) y=(px(self.y(value) + 4.0)) text-anchor="end" { (unit(value)) }
            }
            @for at in ticks {
                @let x = self.x(at);
                @if x < WIDTH - 30.0 {
                    line.axis x1=(px(x)) x2=(px(x)) y1=(px(self.height() - BOTTOM)) y2=(px(self.height() - BOTTOM + 4.0)) {}
                    text.x x=(px(x)) y=(px(self.height() - 5.0)) text-anchor="middle" { (label(at)) }
                }
            }
        }
    }
}

/// What can be drawn and written.
fn is_figure(value: f64) -> bool {
    const MOST: f64 = 1e15;
    (0.0..MOST).contains(&value)
}

fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The next round number.
fn round(most: f64) -> f64 {
    if most <= 0.0 || !most.is_finite() {
        return 1.0;
    }
    let ten = 10_f64.powf(most.log10().floor());
    [1.0, 2.0, 4.0, 5.0, 10.0].into_iter().map(|of| of * ten).find(|of| *of >= most).unwrap_or(most)
}

fn framed(title: &str, frame: &Frame, unit: impl Fn(f64) -> String, inner: &Markup) -> Markup {
    html! {
        svg.plot viewBox={ "0 0 " (WIDTH) " " (frame.height()) } role="img" aria-label=(title) {
            title { (title) }
            (frame.axes(unit))
            (inner)
        }
    }
}

/// A plot of which nothing is known keeps its place.
fn unknown(title: &str, span: Span) -> Markup {
    let frame = Frame { span, most: 1.0 };
    let (x, y) = (px((LEFT + WIDTH - RIGHT) / 2.0), px((TOP + frame.height() - BOTTOM) / 2.0));
    let none = |_: f64| String::new();
    framed(title, &frame, none, &html! { text x=(x) y=(y) text-anchor="middle" { "Nothing is known of this time." } })
}

/// Lines over time.
#[must_use]
pub fn lines(
    title: &str,
    span: Span,
    most: Option<f64>,
    lines: &[Line],
    unit: impl Fn(f64) -> String + Copy,
) -> Markup {
    let most_points = lines.iter().map(|line| line.points.iter().filter(|(at, _)| *at >= span.from).count()).max();
    let each = most_points.unwrap_or_default().div_ceil(SHOWN).max(1);
    // The last of each run of points.
    let thin = |line: &Line| Line {
        name: line.name,
        class: line.class,
        points: line.points.iter().rev().step_by(each).rev().copied().collect(),
    };
    let lines: &[Line] = &lines.iter().map(thin).collect::<Vec<_>>();
    let values =
        lines.iter().flat_map(|line| line.points.iter()).filter(|(at, value)| *at >= span.from && is_figure(*value));
    let largest = values.map(|(_, value)| *value).fold(0.0, f64::max);
    let frame = Frame { span, most: most.unwrap_or_else(|| round(largest)) };
    let path = |line: &Line| {
        let mut text = String::new();
        for (at, value) in line.points.iter().filter(|point| frame.shows(point)) {
            let sign = if text.is_empty() { 'M' } else { 'L' };
            let _ = write!(text, "{sign}{} {}", px(frame.x(*at)), px(frame.y(*value)));
        }
        text
    };
    // A point without a neighbour is no line.
    let dot = |line: &Line| {
        let mut points = line.points.iter().filter(|point| frame.shows(point));
        points.next().filter(|_| points.next().is_none()).copied()
    };
    let mut at_times: BTreeMap<UnixMillis, Vec<String>> = BTreeMap::new();
    for line in lines {
        for (at, value) in line.points.iter().filter(|point| frame.shows(point)) {
            at_times.entry(*at).or_default().push(format!("{} {}", line.name, unit(*value)));
        }
    }
    if at_times.is_empty() {
        return unknown(title, span);
    }
    let width = ((WIDTH - LEFT - RIGHT) / at_times.len().max(24) as f64).max(3.0);
    framed(
        title,
        &frame,
        unit,
        &html! {
            @for line in lines {
                @match dot(line) {
                    Some((at, value)) => { circle class=(line.class) cx=(px(frame.x(at))) cy=(px(frame.y(value))) r="3" {} }
                    None => { path class=(line.class) d=(path(line)) {} }
                }
            }
            @for (at, told) in &at_times {
                rect.hit x=(px(frame.x(*at) - width / 2.0)) y=(px(TOP)) width=(px(width)) height=(px(frame.height() - TOP - BOTTOM)) {
                    title { (words::short(*at)) ": " (told.join(", ")) }
                }
            }
        },
    )
}

/// Bars over time.
#[must_use]
pub fn bars(title: &str, span: Span, bars: &[Bar], unit: impl Fn(f64) -> String + Copy) -> Markup {
    let shown: Vec<&Bar> = bars.iter().filter(|bar| bar.until > span.from && bar.from < span.until).collect();
    if shown.is_empty() {
        return unknown(title, span);
    }
    let shown: Vec<Bar> = shown.chunks(shown.len().div_ceil(SHOWN)).filter_map(together).collect();
    let sum = |bar: &Bar| bar.parts.iter().map(|(.., value)| *value).sum::<f64>();
    let frame = Frame { span, most: round(shown.iter().map(sum).fold(0.0, f64::max)) };
    let told = |bar: &Bar| {
        let parts: Vec<String> = bar
            .parts
            .iter()
            .filter(|(.., value)| *value > 0.0)
            .map(|(name, _, value)| format!("{name} {}", unit(*value)))
            .collect();
        format!(
            "{} to {}: {}",
            words::short(bar.from),
            words::short(bar.until),
            if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
        )
    };
    let parts = |bar: &Bar| {
        let mut below = 0.0;
        let mut rects = Vec::new();
        for (_, class, value) in bar.parts.iter().filter(|(.., value)| *value > 0.0) {
            let (top, bottom) = (frame.y(below + value), frame.y(below));
            below += value;
            rects.push((*class, px(top), px((bottom - top).max(1.0))));
        }
        rects
    };
    framed(
        title,
        &frame,
        unit,
        &html! {
            @for bar in &shown {
                @let x = frame.x(bar.from);
                @let width = (frame.x(bar.until) - x - 0.8).max(0.8);
                @for (class, y, height) in parts(bar) { rect class=(class) x=(px(x)) y=(y) width=(px(width)) height=(height) {} }
                rect.hit x=(px(x)) y=(px(TOP)) width=(px(width)) height=(px(frame.height() - TOP - BOTTOM)) { title { (told(bar)) } }
            }
        },
    )
}

/// Bars as one, of their means.
#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn together(bars: &[&Bar]) -> Option<Bar> {
    let (first, last) = (bars.first()?, bars.last()?);
    let mut parts = first.parts.clone();
    for (nth, (.., value)) in parts.iter_mut().enumerate() {
        let all = bars.iter().filter_map(|bar| bar.parts.get(nth)).map(|(.., value)| *value);
        *value = all.sum::<f64>() / bars.len() as f64;
    }
    Some(Bar { from: first.from, until: last.until, parts })
}

/// What the colours of a plot mean.
#[must_use]
pub fn key(names: &[(&str, &str)]) -> Markup {
    html! { div.key { @for (name, class) in names { span { i class={ "k-" (class) } {} (name) } } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_hours_are_told_by_the_worst_that_matters() {
        let of = |answered, throttled, refused, failed| HalfHour {
            answered,
            throttled,
            refused,
            failed,
            is_crawled: true,
            ..HalfHour::default()
        };
        assert_eq!(
            [of(0, 0, 0, 0), of(9, 0, 1, 1), of(9, 1, 0, 0), of(1, 0, 5, 1), of(1, 0, 1, 5)].map(|of| of.beat()),
            ["idle", "ok", "slow", "refused", "failed"]
        );
        assert_eq!(HalfHour { is_paused: true, answered: 3, ..HalfHour::default() }.beat(), "paused");
        assert_eq!(HalfHour::default().beat(), "none");
    }

    #[test]
    fn a_bar_has_a_day_and_tells_alike_half_hours_together() {
        let now = UnixMillis(1_796_083_200_000);
        let last = now.0 / HALF_HOUR_MS;
        let known: Vec<HalfHour> = (0..3)
            .map(|nth| HalfHour { number: last - nth, answered: 2, is_crawled: true, ..HalfHour::default() })
            .collect();
        let text = bar(&known, now).into_string();
        assert_eq!(text.matches("<rect").count(), 2, "{text}");
        assert!(text.contains("45 none, 3 ok") && text.contains("6 answered"), "{text}");
    }

    #[test]
    fn a_month_costs_what_a_day_does() {
        let at = |nth: u64| UnixMillis(nth * HALF_HOUR_MS);
        let span = Span { from: at(0), until: at(1_440), is_low: false };
        let bar = |nth| Bar { from: at(nth), until: at(nth + 1), parts: vec![("answered", "b-ok", 7.0)] };
        let text = bars("x", span, &(0..1_440).map(bar).collect::<Vec<_>>(), |of| format!("{of}")).into_string();
        assert!(text.matches("<rect class=\"b-ok\"").count() <= SHOWN && text.contains("answered 7"), "{}", text.len());
        let points = (0..1_440).map(|nth| (at(nth), nth as f64)).collect();
        let line = Line { name: "a", class: "s0", points };
        let text = lines("x", span, None, &[line], |of| format!("{of}")).into_string();
        assert!(text.matches("<rect").count() <= SHOWN && text.contains("a 1439"), "{}", text.len());
    }

    #[test]
    fn plots_without_values_say_so_and_no_value_leaves_the_frame() {
        let span = Span { from: UnixMillis(0), until: UnixMillis(86_400_000), is_low: false };
        let unit = |value: f64| format!("{value:.0}");
        assert!(lines("x", span, None, &[], unit).into_string().contains("Nothing is known"));
        let line = Line {
            name: "a",
            class: "s0",
            points: vec![(UnixMillis(1), f64::MAX), (UnixMillis(2), 7.0), (UnixMillis(86_400_000), f64::NAN)],
        };
        let text = lines("x", span, None, &[line], unit).into_string();
        assert!(!text.contains("inf") && !text.contains("NaN") && text.contains("a 7"), "{text}");
        assert!(text.contains("<circle"), "one point is a dot: {text}");
        assert_eq!([0.0, 3.0, 41.0, 1_000.0].map(round), [1.0, 4.0, 50.0, 1_000.0]);
    }
}
