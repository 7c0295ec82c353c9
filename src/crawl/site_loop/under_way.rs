//! Work in progress of a site's loop: visits, robots.txt requests, logins and host lookups, each a future that returns its result.

use std::collections::HashMap;
use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::asking::SessionOutcome;
use crate::CrawlError;
use crate::hosts::Slot;
use crate::job::Finished;
use crate::login::pace::Pace;
use crate::robots_txt::{RobotsAnswer, RobotsFault};
use gleaner_net::fetch::{FetchFailure, Resolution};
use gleaner_store::crawldb::UrlKey;

/// A task in progress.
pub(super) type Running = Pin<Box<dyn Future<Output = Result<Ran, CrawlError>> + Send>>;

/// A finished task, with the index of its host among the site's, and of the origin or mirror that was used.
pub(super) enum Ran {
    Visit { host: usize, face: usize, lane: usize, slot: Option<Slot>, finished: Box<Finished> },
    Robots { host: usize, face: usize, slot: Slot, result: Result<RobotsAnswer, RobotsFault> },
    Session { host: usize, pace: Box<Pace>, asked: SessionOutcome },
    Located { host: usize, face: usize, result: Result<Resolution, FetchFailure> },
}

#[derive(Default)]
pub(super) struct UnderWay {
    running: FuturesUnordered<Running>,
    /// By host and lane, the leases of running visits, to be released if they are aborted.
    visits: HashMap<(usize, usize), UrlKey>,
}

impl UnderWay {
    pub(super) fn push(&mut self, running: Running) {
        self.running.push(running);
    }

    pub(super) fn push_visit(&mut self, host: usize, lane: usize, key: UrlKey, running: Running) {
        self.visits.insert((host, lane), key);
        self.running.push(running);
    }

    /// The next task that ends; None if none is in progress.
    pub(super) async fn next(&mut self) -> Option<Result<Ran, CrawlError>> {
        self.running.next().await
    }

    /// A visit has ended.
    pub(super) fn visited(&mut self, host: usize, lane: usize) {
        self.visits.remove(&(host, lane));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    /// Number of visits in flight.
    pub(super) fn visits(&self) -> usize {
        self.visits.len()
    }

    pub(super) fn is_visited(&self, key: &UrlKey) -> bool {
        self.visits.values().any(|visited| visited == key)
    }

    /// Aborts everything; returns the leases of the visits.
    pub(super) fn break_off(&mut self) -> Vec<UrlKey> {
        self.running.clear();
        self.visits.drain().map(|(_, key)| key).collect()
    }
}
