//! Interprets the times of a page: which number is the day, which year was left out, and the offset of the site's
//! clock from UTC. Decided once per page from all of its rows and earlier pages, never for a single row.
//!
//! **Order of day and month** is the one with no impossible month, nothing in the future, the list in order and its newest row
//! close to now. If these do not decide, the language and the separator between the numbers count.
//! **The zone** is the set of offsets, in quarters of an hour, that fit the evidence: the rule file or the page's own statement, times
//! shown twice (relative and absolute, an epoch and a date), rows that would otherwise be in the future, and rows that changed between
//! two rechecks. What stays open becomes the error of each time. Pure: `now` is an argument.

use serde::{Deserialize, Serialize};

use super::read::{Day, Reading, TimeOfDay, full_year};
use super::{civil, civil_seconds};

/// Range of existing offsets from UTC, in seconds: Baker Island to Kiritimati.
const OFFSETS_S: (i32, i32) = (-12 * 3_600, 14 * 3_600);

/// Offsets are multiples of this many seconds.
const OFFSET_STEP_S: i64 = 900;

/// Maximum difference of two clocks, in seconds, within the same zone.
const CLOCKS_DIFFER_S: i64 = 300;

/// The precision of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Precision {
    Second,
    Minute,
    Hour,
    Day,
    /// Weeks, months and years, for relative times only.
    Coarse,
}

/// The order of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    DayMonthYear,
    MonthDayYear,
    YearMonthDay,
}

/// The source of an offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneSource {
    /// The site's rule file.
    Rule,
    /// The page states it, or shows one time in two forms.
    Page,
    /// Rows that must be in the past, and rows that changed between two rechecks.
    Bounds,
    /// Nothing is known.
    Unknown,
}

/// How a time was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Seconds or milliseconds since 1970 in an attribute.
    Epoch,
    /// A date with its own offset from UTC.
    Offset,
    /// "3 hours ago".
    Ago,
    /// A date in the site's zone.
    Local(ZoneSource),
}

/// A time with its error: it is in `earliest..=latest`, in seconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Time {
    pub earliest: i64,
    pub latest: i64,
    /// The time as shown by the site, in seconds: on its own clock and calendar, or the instant before it was
    /// corrected by our clock. Two of these can be compared in any zone, even with a wrong clock.
    pub told: Option<i64>,
    pub precision: Precision,
    pub how: How,
}

impl Time {
    /// The best guess: the middle.
    #[must_use]
    pub fn at(&self) -> i64 {
        self.earliest.midpoint(self.latest)
    }

    /// Maximum error of the guess in seconds.
    #[must_use]
    pub fn error_s(&self) -> i64 {
        (self.latest - self.earliest) / 2
    }

    /// Precision of the text in seconds.
    fn told_span(&self) -> i64 {
        match self.precision {
            Precision::Second => 1,
            Precision::Minute => 60,
            Precision::Hour => 3_600,
            Precision::Day | Precision::Coarse => 86_400,
        }
    }

    /// Compares this time with `other`: before, after, or possibly equal. Times in the same form are compared as
    /// shown, so that an unknown zone, or one learnt in between, changes nothing.
    #[must_use]
    pub fn against(&self, other: &Self) -> Against {
        let is_local = |time: &Self| matches!(time.how, How::Local(_));
        let (this, that) = match (self.told, other.told) {
            (Some(this), Some(that)) if is_local(self) == is_local(other) => {
                ((this, this + self.told_span() - 1), (that, that + other.told_span() - 1))
            }
            _ => ((self.earliest, self.latest), (other.earliest, other.latest)),
        };
        if this == that {
            Against::Equal
        } else if this.0 > that.1 {
            Against::Later
        } else if this.1 < that.0 {
            Against::Earlier
        } else {
            Against::Overlaps
        }
    }
}

/// The order of two times with errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    Earlier,
    Equal,
    Later,
    Overlaps,
}

/// The site's offset from UTC: the quarters of an hour that are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// Bit n stands for the offset n quarters of an hour after the first existing one.
    possible: u128,
    pub source: ZoneSource,
}

/// Quarters of an hour from the first offset to the last.
const OFFSETS: u32 = 105;

impl Default for Zone {
    fn default() -> Self {
        Self { possible: (1 << OFFSETS) - 1, source: ZoneSource::Unknown }
    }
}

impl Zone {
    /// A known offset, in seconds.
    #[must_use]
    pub fn fixed(offset_s: i32, source: ZoneSource) -> Self {
        let offset_s = offset_s.clamp(OFFSETS_S.0, OFFSETS_S.1);
        let quarter = (i64::from(offset_s) - i64::from(OFFSETS_S.0)) / OFFSET_STEP_S;
        Self { possible: 1 << quarter, source }
    }

    /// The possible offsets in seconds, ascending.
    pub fn offsets(&self) -> impl Iterator<Item = i64> + use<> {
        let possible = self.possible;
        (0..OFFSETS)
            .filter(move |bit| possible >> bit & 1 == 1)
            .map(|bit| i64::from(OFFSETS_S.0) + i64::from(bit) * OFFSET_STEP_S)
    }

    /// The least possible offset in seconds.
    #[must_use]
    pub fn low_s(&self) -> i64 {
        i64::from(OFFSETS_S.0) + i64::from(self.possible.trailing_zeros()) * OFFSET_STEP_S
    }

    /// The largest possible offset in seconds.
    #[must_use]
    pub fn high_s(&self) -> i64 {
        i64::from(OFFSETS_S.0) + i64::from(127 - self.possible.leading_zeros()) * OFFSET_STEP_S
    }

    /// True if the offset is known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.possible.is_power_of_two()
    }

    /// The offset for calculations: the possible one nearest to UTC.
    fn guess_s(&self) -> i64 {
        self.offsets().min_by_key(|offset| offset.abs()).unwrap_or(0)
    }

    /// Keeps the offsets that fit. Evidence that contradicts all possible ones resets the set: clocks are corrected,
    /// and daylight saving ends. An offset from a rule or the page is never changed by it, and evidence that fits no
    /// offset is ignored.
    fn narrow(&mut self, fits: impl Fn(i64) -> bool) {
        if matches!(self.source, ZoneSource::Rule | ZoneSource::Page) {
            return;
        }
        let mask = |zone: &Self| {
            zone.offsets()
                .filter(|offset| fits(*offset))
                .map(|offset| 1_u128 << ((offset - i64::from(OFFSETS_S.0)) / OFFSET_STEP_S))
                .sum::<u128>()
        };
        let kept = match mask(self) {
            0 => mask(&Self::default()),
            kept => kept,
        };
        if kept != 0 && kept != self.possible {
            *self = Self { possible: kept, source: ZoneSource::Bounds };
        }
    }
}

/// A site's conventions for times. Kept with the site between rechecks; the default knows nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conventions {
    /// The order of day and month, once known.
    pub order: Option<Order>,
    /// Confidence in the order: the distance to the next best order in the units of [`Conventions::weigh`], summed
    /// over pages, capped.
    pub order_weight: f64,
    pub zone: Zone,
    /// Seconds by which the newest times are in the future although the zone is stated: a fast clock, or a wrong
    /// zone.
    pub ahead_s: i64,
}

/// The evidence of a page.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'p> {
    /// `<html lang>`.
    pub language: Option<&'p str>,
    /// The rows' readings by column, each in row order.
    pub columns: Vec<Vec<Reading>>,
    /// Two readings of one time: from the text and from an attribute.
    pub pairs: Vec<(Reading, Reading)>,
    /// The offset stated in the page's own text, in seconds.
    pub offset_told: Option<i32>,
    /// The current time as shown by the page.
    pub server_time: Option<Reading>,
}

/// Minimum difference of two orders for the better one to win.
const ORDER_DECIDED: f64 = 1.0;

/// Maximum weight of earlier pages.
const ORDER_WEIGHT_CEILING: f64 = 40.0;

impl Conventions {
    /// With the offset from UTC of the rule file.
    #[must_use]
    pub fn with_offset(offset_s: Option<i32>) -> Self {
        let zone = offset_s.map_or_else(Zone::default, |offset| Zone::fixed(offset, ZoneSource::Rule));
        Self { zone, ..Self::default() }
    }

    /// Learns from a page. Its times are then interpreted with the result.
    pub fn learn(&mut self, evidence: &Evidence<'_>, now: i64) {
        self.learn_order(evidence, now);
        self.learn_zone(evidence, now);
    }

    fn learn_order(&mut self, evidence: &Evidence<'_>, now: i64) {
        let is_open =
            |reading: &Reading| matches!(reading, Reading::Local { day: Day::Numbers { .. } | Day::Pair { .. }, .. });
        if !evidence.columns.iter().flatten().any(is_open) {
            return;
        }
        let mut weights = [Order::DayMonthYear, Order::MonthDayYear, Order::YearMonthDay]
            .map(|order| (order, self.weigh(order, evidence, now)));
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        let [(best, weight), (_, next), _] = weights;
        let lead = weight - next;
        if lead >= ORDER_DECIDED {
            self.order_weight = if self.order == Some(best) { self.order_weight.max(lead) } else { lead };
            self.order_weight = self.order_weight.min(ORDER_WEIGHT_CEILING);
            self.order = Some(best);
        }
    }

    /// How well an order explains the page; higher is better, one unit is a small hint.
    fn weigh(&self, order: Order, evidence: &Evidence<'_>, now: i64) -> f64 {
        let mut weight = if self.order == Some(order) { self.order_weight.min(ORDER_WEIGHT_CEILING) } else { 0.0 };
        weight += prior(order, evidence.language);
        for column in &evidence.columns {
            let locals: Vec<Option<i64>> =
                column.iter().map(|reading| self.local_by(Some(order), reading, now, self.zone.guess_s())).collect();
            let (mut impossible, mut future) = (0_u32, 0_u32);
            for (reading, local) in column.iter().zip(&locals) {
                match (reading, local) {
                    (Reading::Local { day: Day::Numbers { .. } | Day::Pair { .. }, .. }, None) => impossible += 1,
                    (
                        Reading::Local { day: Day::Numbers { mark, .. } | Day::Pair { mark, .. }, half_day, .. },
                        Some(local),
                    ) => {
                        weight += mark_hint(order, *mark, *half_day)
                            / f64::from(u32::try_from(column.len()).unwrap_or(u32::MAX));
                        future += u32::from(*local > now + i64::from(OFFSETS_S.1) + CLOCKS_DIFFER_S);
                    }
                    _ => {}
                }
            }
            weight -= f64::from(impossible.min(10)) * 10.0 + f64::from(future.min(10)) * 5.0;
            let known: Vec<i64> = locals.into_iter().flatten().collect();
            weight -= f64::from(inversions(&known).min(20)) * 1.5;
            if let Some(newest) = known.iter().max() {
                let age_days = u32::try_from((now - newest).max(0) / 86_400).unwrap_or(u32::MAX);
                weight -= f64::from(age_days).ln_1p() * 0.7;
            }
        }
        weight
    }

    fn learn_zone(&mut self, evidence: &Evidence<'_>, now: i64) {
        if self.zone.source == ZoneSource::Rule {
            self.measure_ahead(evidence, now);
            return;
        }
        let told = evidence.offset_told.or_else(|| {
            let local = self.local_by(self.order, evidence.server_time.as_ref()?, now, self.zone.guess_s())?;
            rounded_offset(local - now)
        });
        if let Some(offset) = told.or_else(|| self.offset_of_pairs(evidence, now)) {
            self.zone = Zone::fixed(offset, ZoneSource::Page);
            self.measure_ahead(evidence, now);
            return;
        }
        // Written times are in the past. A date a day ahead in every zone means a wrong order, not a zone.
        let soon = now + i64::from(OFFSETS_S.1) + CLOCKS_DIFFER_S;
        let newest = evidence
            .columns
            .iter()
            .flatten()
            .filter_map(|reading| self.day_told(reading, now))
            .filter(|local| *local <= soon)
            .max();
        let todays: Vec<&Reading> = evidence
            .columns
            .iter()
            .flatten()
            .filter(|reading| matches!(reading, Reading::Local { day: Day::Back(0), clock: Some(_), .. }))
            .collect();
        // The latest time of today is enough for the check.
        let today = todays.into_iter().max_by_key(|reading| self.local_by(self.order, reading, now, 0));
        if newest.is_some() || today.is_some() {
            let conventions = self.clone();
            let in_past =
                |local: Option<i64>, offset: i64| local.is_none_or(|local| local - offset <= now + CLOCKS_DIFFER_S);
            self.zone.narrow(|offset| {
                in_past(newest, offset)
                    && in_past(
                        today.and_then(|reading| conventions.local_by(conventions.order, reading, now, offset)),
                        offset,
                    )
            });
        }
        self.measure_ahead(evidence, now);
    }

    /// The local time of a reading with a day and a time of day.
    fn day_told(&self, reading: &Reading, now: i64) -> Option<i64> {
        match reading {
            Reading::Local { day: Day::Back(_) | Day::Weekday(_) | Day::Unsaid, .. }
            | Reading::Local { clock: None, .. } => None,
            _ => self.local_by(self.order, reading, now, self.zone.guess_s()),
        }
    }

    /// The offset on which times shown twice agree: the median over pairs with a plausible difference.
    fn offset_of_pairs(&self, evidence: &Evidence<'_>, now: i64) -> Option<i32> {
        let mut offsets: Vec<i32> = evidence
            .pairs
            .iter()
            .flat_map(|&(a, b)| [(a, b), (b, a)])
            .filter_map(|(local, instant)| {
                let local = self.day_told(&local, now)?;
                let at = match instant {
                    Reading::Absolute { at, .. } => at,
                    Reading::Ago { least, most, unit, .. } if unit <= 60 => now - least.midpoint(most),
                    _ => return None,
                };
                rounded_offset(local - at)
            })
            .collect();
        offsets.sort_unstable();
        offsets.get(offsets.len() / 2).copied()
    }

    fn measure_ahead(&mut self, evidence: &Evidence<'_>, now: i64) {
        if self.zone.is_known() {
            let offset = self.zone.low_s();
            let newest = evidence.columns.iter().flatten().filter_map(|reading| self.day_told(reading, now)).max();
            self.ahead_s = newest.map_or(0, |newest| (newest - offset - now).max(0));
        }
    }

    /// A row changed between two rechecks: its time, on the site's clock, is between them, which bounds the zone.
    /// `since` and `now` are the times of the two, in seconds since 1970-01-01 UTC.
    pub fn changed_between(&mut self, time: &Time, since: i64, now: i64) {
        if let (Some(local), How::Local(_), true) = (time.told, time.how, time.precision <= Precision::Minute) {
            self.zone.narrow(|offset| {
                let at = local - offset;
                at <= now + CLOCKS_DIFFER_S && at + time.told_span() >= since - CLOCKS_DIFFER_S
            });
        }
    }

    /// The time meant by a reading, seen at `now` (seconds since 1970-01-01 UTC). `None` for invalid days.
    #[must_use]
    pub fn time(&self, reading: &Reading, now: i64) -> Option<Time> {
        match *reading {
            Reading::Absolute { at, span, own_offset } => Some(Time {
                earliest: at.min(now),
                latest: (at + span - 1).min(now).max(at.min(now)),
                told: Some(at),
                precision: if span > 1 { Precision::Minute } else { Precision::Second },
                how: if own_offset { How::Offset } else { How::Epoch },
            }),
            Reading::Ago { least, most, unit, .. } => Some(Time {
                earliest: now - most,
                latest: now - least,
                told: None,
                precision: match unit {
                    1 => Precision::Second,
                    60 => Precision::Minute,
                    3_600 => Precision::Hour,
                    86_400 => Precision::Day,
                    _ => Precision::Coarse,
                },
                how: How::Ago,
            }),
            Reading::Local { day, clock, .. } => {
                let precision = match clock {
                    Some(TimeOfDay { has_seconds: true, .. }) => Precision::Second,
                    Some(_) => Precision::Minute,
                    None => Precision::Day,
                };
                let span = match precision {
                    Precision::Second => 1,
                    Precision::Minute => 60,
                    _ => 86_400,
                };
                // A relative day is a different day in another zone.
                let is_by_day = matches!(day, Day::Back(_) | Day::Weekday(_) | Day::Unsaid);
                let local = self.local_by(self.order, reading, now, self.zone.guess_s())?;
                let (mut earliest, mut latest, mut is_one) =
                    (local - self.zone.high_s(), local - self.zone.low_s(), true);
                if is_by_day && !self.zone.is_known() {
                    for offset in self.zone.offsets() {
                        let there = self.local_by(self.order, reading, now, offset)?;
                        is_one &= there == local;
                        earliest = earliest.min(there - offset);
                        latest = latest.max(there - offset);
                    }
                }
                let mut time = Time {
                    earliest: earliest.min(now),
                    latest: (latest + span - 1).min(now).max(earliest.min(now)),
                    told: is_one.then_some(local),
                    precision,
                    how: How::Local(self.zone.source),
                };
                self.widen_undecided(&mut time, reading, now);
                Some(time)
            }
        }
    }

    /// If the order is unknown, both of the usual ones are possible.
    fn widen_undecided(&self, time: &mut Time, reading: &Reading, now: i64) {
        if self.order.is_some()
            || !matches!(reading, Reading::Local { day: Day::Numbers { .. } | Day::Pair { .. }, .. })
        {
            return;
        }
        for order in [Order::DayMonthYear, Order::MonthDayYear] {
            if let Some(local) = self.local_by(Some(order), reading, now, self.zone.guess_s()) {
                time.earliest = time.earliest.min((local - self.zone.high_s()).min(now));
                time.latest = time.latest.max((local + 86_399 - self.zone.low_s()).min(now));
            }
        }
    }

    /// A local reading on the site's calendar, in seconds; its start if it is a day.
    fn local_by(&self, order: Option<Order>, reading: &Reading, now: i64, offset_s: i64) -> Option<i64> {
        let Reading::Local { day, clock, .. } = *reading else {
            return None;
        };
        let second = clock.map_or(0, |clock| clock.second);
        let local_now = now + offset_s;
        let today = local_now.div_euclid(86_400) * 86_400;
        // Clocks run fast, and the zone may be unknown: a date one day ahead does not mean another year.
        let soon = local_now + 86_400;
        let (year_now, _, weekday_now) = civil(local_now)?;
        let recent = |month: u8, day: u8| {
            let at = |year: i32| civil_seconds(year, month, day).map(|midnight| midnight + second);
            at(year_now + 1)
                .filter(|at| *at <= soon)
                .or_else(|| at(year_now).filter(|at| *at <= soon))
                .or_else(|| (1..=8).find_map(|back| at(year_now - back)))
        };
        let order = order.unwrap_or(Order::DayMonthYear);
        let midnight = match day {
            Day::Full { year, month, day } => civil_seconds(year, month, day)?,
            Day::NoYear { month, day } => return recent(month, day),
            Day::Pair { first, second, .. } => {
                let (month, day) = if order == Order::DayMonthYear { (second, first) } else { (first, second) };
                return recent(month, day);
            }
            Day::Numbers { first, second, third, last_digits, .. } => {
                let year = |digits: u8, value: i32| if digits == 2 { full_year(value) } else { value };
                match order {
                    Order::DayMonthYear => civil_seconds(year(last_digits, i32::from(third)), second, first)?,
                    Order::MonthDayYear => civil_seconds(year(last_digits, i32::from(third)), first, second)?,
                    Order::YearMonthDay if last_digits == 2 => {
                        civil_seconds(full_year(i32::from(first)), second, u8::try_from(third).ok()?)?
                    }
                    Order::YearMonthDay => return None,
                }
            }
            Day::Back(back) => today - i64::from(back) * 86_400,
            Day::Weekday(number) => {
                let back = (weekday_now - i64::from(number)).rem_euclid(7);
                let midnight = today - back * 86_400;
                if midnight + second > local_now + CLOCKS_DIFFER_S { midnight - 7 * 86_400 } else { midnight }
            }
            Day::Unsaid if today + second > local_now + CLOCKS_DIFFER_S => today - 86_400,
            Day::Unsaid => today,
        };
        Some(midnight + second)
    }
}

/// The difference of two clocks as an offset, if plausible: at most [`CLOCKS_DIFFER_S`] from a multiple of a quarter
/// of an hour.
fn rounded_offset(difference: i64) -> Option<i32> {
    let rounded = (difference + OFFSET_STEP_S / 2).div_euclid(OFFSET_STEP_S) * OFFSET_STEP_S;
    let offset = i32::try_from(rounded).ok()?;
    let fits = (rounded - difference).abs() <= CLOCKS_DIFFER_S && (OFFSETS_S.0..=OFFSETS_S.1).contains(&offset);
    fits.then_some(offset)
}

/// The prior of an order by language. Only some countries write the month first.
fn prior(order: Order, language: Option<&str>) -> f64 {
    let language = language.unwrap_or_default().to_ascii_lowercase();
    let expected = match language.get(..2).unwrap_or_default() {
        "en" if matches!(language.as_str(), "en-us" | "en_us") => (Order::MonthDayYear, 1.5),
        "en" if language.len() > 2 => (Order::DayMonthYear, 1.5),
        "zh" | "ja" | "ko" | "hu" | "lt" => (Order::YearMonthDay, 2.0),
        "" | "en" => (Order::DayMonthYear, 0.3),
        _ => (Order::DayMonthYear, 2.0),
    };
    match order {
        _ if order == expected.0 => expected.1,
        Order::YearMonthDay => -1.0,
        // `11-21` in a region that writes the year first has the month first.
        Order::MonthDayYear if expected.0 == Order::YearMonthDay => expected.1 / 2.0,
        _ => 0.0,
    }
}

/// The hint of the separator and a 12-hour clock about an order.
fn mark_hint(order: Order, mark: char, half_day: bool) -> f64 {
    match order {
        Order::DayMonthYear if mark == '.' => 3.0,
        Order::MonthDayYear if half_day && mark != '.' => 1.2,
        _ => 0.0,
    }
}

/// Number of neighbours against the majority direction.
fn inversions(times: &[i64]) -> u32 {
    let count = |up: bool| {
        let broken = times.windows(2).filter(|pair| if up { pair[0] > pair[1] } else { pair[0] < pair[1] });
        u32::try_from(broken.count()).unwrap_or(u32::MAX)
    };
    count(true).min(count(false))
}
