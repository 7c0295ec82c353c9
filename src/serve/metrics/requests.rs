//! What is counted of requests since the start: by endpoint and status, Torznab's by key and function, and how long answers and searches took.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use gleaner_base::durations::Durations;

use super::{Family, Kind};
use crate::Outlet;
use crate::torznab::is_torznab;

/// What a request is counted as.
fn endpoint(path: &str) -> &'static str {
    match path {
        "/metrics" => "metrics",
        "/healthz" | "/readyz" => "health",
        path if is_torznab(path) => "torznab",
        path if path.starts_with("/api/v1/") => "api",
        path if path.starts_with("/feeds/") => "feeds",
        path if path.starts_with("/torrents/") && path.ends_with(".torrent") => "torrents",
        path if path.starts_with("/assets/") => "assets",
        "/" | "/torrents" | "/rules" | "/schedule" | "/alarms" | "/log" | "/connect" | "/exports" | "/login" => "pages",
        path if ["/sites/", "/torrents/", "/rules/", "/alarms/"].iter().any(|of| path.starts_with(of)) => "pages",
        _ => "other",
    }
}

/// The counts.
#[derive(Default)]
pub struct Requests(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    codes: BTreeMap<(&'static str, u16), u64>,
    answers: BTreeMap<&'static str, Durations>,
    /// By the name of the token and the function; as many as there are tokens, which are bounded.
    torznab: BTreeMap<(String, &'static str), u64>,
    searches: Durations,
}

impl Requests {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, endpoint: &'static str, code: u16, took: Duration) {
        let mut counted = self.counted();
        *counted.codes.entry((endpoint, code)).or_default() += 1;
        counted.answers.entry(endpoint).or_default().add(took);
    }

    /// Counts a Torznab query that is allowed; `key` is the token's name, empty for none.
    pub fn torznab(&self, key: &str, function: &'static str) {
        let mut counted = self.counted();
        *counted.torznab.entry((key.to_owned(), function)).or_default() += 1;
    }

    /// Torznab queries of each token, by name; the empty name for those without one.
    pub fn asked_by_key(&self) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for ((key, _), count) in &self.counted().torznab {
            *sums.entry(key.clone()).or_default() += count;
        }
        sums
    }

    /// Counts a search of the index.
    pub fn searched(&self, took: Duration) {
        self.counted().searches.add(took);
    }

    pub(super) fn families(&self) -> Vec<Family> {
        let counted = self.counted();
        let mut requests = Family::new(
            "gleaner_http_requests_total",
            "Requests to the HTTP server by endpoint and status code.",
            Kind::Counter,
        );
        for ((endpoint, code), count) in &counted.codes {
            requests.add(vec![("endpoint", (*endpoint).to_owned()), ("code", code.to_string())], *count as f64);
        }
        let mut answers = Family::new(
            "gleaner_http_request_duration_seconds",
            "Time until an answer was made, by endpoint.",
            Kind::Histogram,
        );
        for (endpoint, durations) in &counted.answers {
            answers.durations(&[("endpoint", (*endpoint).to_owned())], durations);
        }
        let mut torznab = Family::new(
            "gleaner_torznab_queries_total",
            "Torznab queries that were allowed, by name of the token (empty without one) and function.",
            Kind::Counter,
        );
        for ((key, function), count) in &counted.torznab {
            torznab.add(vec![("key", key.clone()), ("function", (*function).to_owned())], *count as f64);
        }
        let mut searches =
            Family::new("gleaner_search_duration_seconds", "Time of a search in the index.", Kind::Histogram);
        searches.durations(&[], &counted.searches);
        vec![requests, answers, torznab, searches]
    }
}

/// Counts a request once it is answered.
pub async fn counted(State(outlet): State<Arc<Outlet>>, request: Request, next: Next) -> Response {
    let endpoint = endpoint(request.uri().path());
    let began = tokio::time::Instant::now();
    let response = next.run(request).await;
    outlet.requests.answered(endpoint, response.status().as_u16(), began.elapsed());
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::written;

    #[test]
    fn requests_are_counted_by_endpoint_status_key_and_function() {
        let requests = Requests::default();
        requests.answered("api", 200, Duration::from_millis(3));
        requests.answered("api", 404, Duration::from_secs(90));
        requests.torznab("sonarr", "tvsearch");
        requests.torznab("sonarr", "tvsearch");
        requests.torznab("", "caps");
        requests.searched(Duration::from_millis(30));
        let text = written(&requests.families());
        for line in [
            "gleaner_http_requests_total{endpoint=\"api\",code=\"404\"} 1",
            "gleaner_http_request_duration_seconds_bucket{endpoint=\"api\",le=\"0.001\"} 0",
            "gleaner_http_request_duration_seconds_bucket{endpoint=\"api\",le=\"0.005\"} 1",
            "gleaner_http_request_duration_seconds_bucket{endpoint=\"api\",le=\"30\"} 1",
            "gleaner_http_request_duration_seconds_bucket{endpoint=\"api\",le=\"+Inf\"} 2",
            "gleaner_http_request_duration_seconds_count{endpoint=\"api\"} 2",
            "gleaner_torznab_queries_total{key=\"sonarr\",function=\"tvsearch\"} 2",
            "gleaner_torznab_queries_total{key=\"\",function=\"caps\"} 1",
            "gleaner_search_duration_seconds_bucket{le=\"0.05\"} 1",
            "gleaner_search_duration_seconds_sum 0.03",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line} is not in {text}");
        }
        assert_eq!(endpoint("/api"), "torznab");
        assert_eq!((endpoint("/api/v1/summary"), endpoint("/x")), ("api", "other"));
    }
}
