//! `/metrics`: what Prometheus scrapes. The text format is written by hand: the counters are the crawl's and the database's, and are read when they are
//! asked for.

mod requests;

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use gleaner_base::durations::Durations;

use crate::Outlet;
use crate::problem::Problem;

pub use requests::{Requests, counted};

/// What a family's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Grows, and begins anew with the process or, where it is kept there, with the database.
    Counter,
    Gauge,
    /// Counts in classes, each with those below it.
    Histogram,
    /// A count and a sum: their quotient is the mean.
    Summary,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Summary => "summary",
        }
    }
}

/// The label of a value: few and bounded, never a URL, never an infohash.
pub type Label = (&'static str, String);

/// Values of one name.
#[derive(Clone, Debug)]
pub struct Family {
    name: &'static str,
    help: &'static str,
    kind: Kind,
    samples: Vec<Sample>,
}

/// One value.
#[derive(Clone, Debug)]
struct Sample {
    /// Behind the family's name: `_bucket`, `_sum`, `_count` or nothing.
    part: &'static str,
    labels: Vec<Label>,
    value: f64,
}

impl Family {
    #[must_use]
    pub fn new(name: &'static str, help: &'static str, kind: Kind) -> Self {
        Self { name, help, kind, samples: Vec::new() }
    }

    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its value with this label; with none, its first.
    #[must_use]
    pub fn value(&self, label: &str) -> Option<f64> {
        let has = |sample: &&Sample| label.is_empty() || sample.labels.iter().any(|(_, own)| own == label);
        self.samples.iter().find(has).map(|sample| sample.value)
    }

    /// The mean of a histogram or a summary; None without a value.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let part = |part: &str| self.samples.iter().find(|sample| sample.part == part).map(|sample| sample.value);
        Some(part("_sum")? / part("_count").filter(|count| *count > 0.0)?)
    }

    /// With one value and no label.
    #[must_use]
    pub fn of(name: &'static str, help: &'static str, kind: Kind, value: f64) -> Self {
        let mut family = Self::new(name, help, kind);
        family.add(Vec::new(), value);
        family
    }

    /// Adds the value of a counter or gauge.
    pub fn add(&mut self, labels: Vec<Label>, value: f64) {
        self.samples.push(Sample { part: "", labels, value });
    }

    /// Adds a histogram: the upper end of each class with what is no greater, the count and the sum.
    pub fn histogram(&mut self, labels: &[Label], classes: impl IntoIterator<Item = (f64, u64)>, count: u64, sum: f64) {
        let ends = classes.into_iter().map(|(end, count)| (end.to_string(), count));
        for (end, count) in ends.chain([("+Inf".to_owned(), count)]) {
            let labels = [labels, &[("le", end)]].concat();
            self.samples.push(Sample { part: "_bucket", labels, value: count as f64 });
        }
        self.summary(labels, count, sum);
    }

    /// Adds a histogram of durations.
    pub fn durations(&mut self, labels: &[Label], durations: &Durations) {
        self.histogram(labels, durations.classes(), durations.count(), durations.sum_s());
    }

    /// Adds a count and a sum.
    pub fn summary(&mut self, labels: &[Label], count: u64, sum: f64) {
        self.samples.push(Sample { part: "_sum", labels: labels.to_vec(), value: sum });
        self.samples.push(Sample { part: "_count", labels: labels.to_vec(), value: count as f64 });
    }
}

/// `/metrics`.
pub async fn metrics(State(outlet): State<Arc<Outlet>>) -> Result<Response, Problem> {
    let mut families = (outlet.inside.metrics)().await.map_err(|error| Problem::ours(&error))?;
    let torrents = outlet.db.changes(u64::MAX, 0).await.map_err(|error| Problem::ours(&error))?.torrents;
    let found = (outlet.finder)().map(|search| search.torrents());
    let (documents, lag) = (found.unwrap_or_default(), torrents.saturating_sub(found.unwrap_or_default()));
    families.push(Family::of("gleaner_archive_torrents", "Torrents in the archive.", Kind::Gauge, torrents as f64));
    families.push(Family::of(
        "gleaner_search_documents",
        "Torrents in the search index; 0 while it is made.",
        Kind::Gauge,
        documents as f64,
    ));
    families.push(Family::of(
        "gleaner_search_lag_torrents",
        "Torrents that are stored and not found yet.",
        Kind::Gauge,
        lag as f64,
    ));
    families.extend(outlet.requests.families());
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], written(&families)).into_response())
}

/// Families in Prometheus' text format.
fn written(families: &[Family]) -> String {
    let mut text = String::new();
    for Family { name, help, kind, samples } in families {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {}\n", kind.name());
        for Sample { part, labels, value } in samples {
            text.push_str(name);
            text.push_str(part);
            if !labels.is_empty() {
                let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                let labels: Vec<String> =
                    labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
                let _ = write!(text, "{{{}}}", labels.join(","));
            }
            let _ = writeln!(text, " {value}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_written_with_their_labels_escaped() {
        let mut family = Family::new("a_total", "As.", Kind::Counter);
        family.add(vec![("site", "x\"\\\ny".to_owned()), ("outcome", "page".to_owned())], 3.0);
        family.add(Vec::new(), 0.5);
        let text = "# HELP a_total As.\n# TYPE a_total counter\na_total{site=\"x\\\"\\\\\\ny\",outcome=\"page\"} 3\na_total 0.5\n";
        assert_eq!(written(&[family]), text);
    }

    #[test]
    fn histograms_and_summaries_are_written_in_parts() {
        let site = [("site", "x".to_owned())];
        let mut classes = Family::new("a_seconds", "As.", Kind::Histogram);
        classes.histogram(&site, [(60.0, 1), (3_600.0, 2)], 3, 86_460.5);
        let mut mean = Family::new("b_rows", "Bs.", Kind::Summary);
        mean.summary(&site, 2, 50.0);
        let text = "# HELP a_seconds As.\n# TYPE a_seconds histogram\na_seconds_bucket{site=\"x\",le=\"60\"} 1\na_seconds_bucket{site=\"x\",le=\"3600\"} 2\n\
                    a_seconds_bucket{site=\"x\",le=\"+Inf\"} 3\na_seconds_sum{site=\"x\"} 86460.5\na_seconds_count{site=\"x\"} 3\n\
                    # HELP b_rows Bs.\n# TYPE b_rows summary\nb_rows_sum{site=\"x\"} 50\nb_rows_count{site=\"x\"} 2\n";
        assert_eq!(written(&[classes, mean]), text);
    }
}
