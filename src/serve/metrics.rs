//! `/metrics`: what Prometheus scrapes. The text format is written by hand: the counters are the database's, and are read when they are asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::Outlet;
use crate::problem::Problem;
use crate::torznab::is_torznab;

/// What a family's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Grows, and begins anew with the database.
    Counter,
    Gauge,
}

/// Values of one name.
#[derive(Clone, Debug)]
pub struct Family {
    pub name: &'static str,
    pub help: &'static str,
    pub kind: Kind,
    pub samples: Vec<Sample>,
}

/// One value; labels are few and bounded: never a URL, never an infohash.
#[derive(Clone, Debug)]
pub struct Sample {
    pub labels: Vec<(&'static str, String)>,
    pub value: f64,
}

impl Family {
    #[must_use]
    pub fn new(name: &'static str, help: &'static str, kind: Kind) -> Self {
        Self { name, help, kind, samples: Vec::new() }
    }

    /// With one value and no label.
    #[must_use]
    pub fn of(name: &'static str, help: &'static str, kind: Kind, value: f64) -> Self {
        let mut family = Self::new(name, help, kind);
        family.add(Vec::new(), value);
        family
    }

    pub fn add(&mut self, labels: Vec<(&'static str, String)>, value: f64) {
        self.samples.push(Sample { labels, value });
    }
}

/// What a request is counted as.
fn endpoint(path: &str) -> &'static str {
    match path {
        "/metrics" => "metrics",
        "/healthz" | "/readyz" => "health",
        path if is_torznab(path) => "torznab",
        path if path.starts_with("/api/v1/") => "api",
        path if path.starts_with("/feeds/") => "feeds",
        path if path.starts_with("/torrents/") => "torrents",
        _ => "other",
    }
}

/// Upper ends of the classes of durations, in seconds.
const BUCKETS: [f64; 8] = [0.001, 0.005, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0];

#[derive(Clone, Copy, Debug, Default)]
struct Durations {
    classes: [u64; BUCKETS.len()],
    sum: f64,
    count: u64,
}

/// Requests since the start, by endpoint and status.
#[derive(Default)]
pub struct Requests(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    codes: BTreeMap<(&'static str, u16), u64>,
    durations: BTreeMap<&'static str, Durations>,
}

impl Requests {
    fn count(&self, endpoint: &'static str, code: u16, took: Duration) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.codes.entry((endpoint, code)).or_default() += 1;
        let durations = counted.durations.entry(endpoint).or_default();
        let seconds = took.as_secs_f64();
        for (class, end) in durations.classes.iter_mut().zip(BUCKETS) {
            *class += u64::from(seconds <= end);
        }
        durations.sum += seconds;
        durations.count += 1;
    }

    fn text(&self) -> String {
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut requests = Family::new(
            "gleaner_http_requests_total",
            "Requests to the HTTP server by endpoint and status code.",
            Kind::Counter,
        );
        for ((endpoint, code), count) in &counted.codes {
            requests.add(vec![("endpoint", (*endpoint).to_owned()), ("code", code.to_string())], *count as f64);
        }
        let mut text = written(&[requests]);
        let name = "gleaner_http_request_duration_seconds";
        let _ = write!(text, "# HELP {name} Time until an answer was made, by endpoint.\n# TYPE {name} histogram\n");
        for (endpoint, durations) in &counted.durations {
            for (class, end) in durations.classes.iter().zip(BUCKETS) {
                let _ = writeln!(text, "{name}_bucket{{endpoint=\"{endpoint}\",le=\"{end}\"}} {class}");
            }
            let Durations { sum, count, .. } = durations;
            let _ = writeln!(text, "{name}_bucket{{endpoint=\"{endpoint}\",le=\"+Inf\"}} {count}");
            let _ = write!(
                text,
                "{name}_sum{{endpoint=\"{endpoint}\"}} {sum}\n{name}_count{{endpoint=\"{endpoint}\"}} {count}\n"
            );
        }
        text
    }
}

/// Counts a request once it is answered.
pub async fn counted(State(outlet): State<Arc<Outlet>>, request: Request, next: Next) -> Response {
    let endpoint = endpoint(request.uri().path());
    let began = tokio::time::Instant::now();
    let response = next.run(request).await;
    outlet.requests.count(endpoint, response.status().as_u16(), began.elapsed());
    response
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
    let text = written(&families) + &outlet.requests.text();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// Families in Prometheus' text format.
fn written(families: &[Family]) -> String {
    let mut text = String::new();
    for Family { name, help, kind, samples } in families {
        let kind = if *kind == Kind::Counter { "counter" } else { "gauge" };
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for Sample { labels, value } in samples {
            text.push_str(name);
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
    fn durations_are_counted_in_classes_that_include_those_below() {
        let requests = Requests::default();
        requests.count("api", 200, Duration::from_millis(3));
        requests.count("api", 404, Duration::from_secs(9));
        let text = requests.text();
        for line in [
            "gleaner_http_requests_total{endpoint=\"api\",code=\"404\"} 1",
            "gleaner_http_request_duration_seconds_bucket{endpoint=\"api\",le=\"0.001\"} 0",
            "gleaner_http_request_duration_seconds_bucket{endpoint=\"api\",le=\"0.005\"} 1",
            "gleaner_http_request_duration_seconds_bucket{endpoint=\"api\",le=\"5\"} 1",
            "gleaner_http_request_duration_seconds_bucket{endpoint=\"api\",le=\"+Inf\"} 2",
            "gleaner_http_request_duration_seconds_count{endpoint=\"api\"} 2",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line} is not in {text}");
        }
        assert_eq!(endpoint("/api"), "torznab");
        assert_eq!((endpoint("/api/v1/summary"), endpoint("/x")), ("api", "other"));
    }
}
