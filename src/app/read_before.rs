//! What `rules learn` has read of a site ([`super::answers`]), for its first crawl.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::answers::{Head, Place, file_of, records};
use super::folder;
use crate::limits::LEARNED_FRESH_TIME;
use gleaner_base::clock::UnixMillis;
use gleaner_base::owner;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::read_before::ReadBefore;
use gleaner_net::fetch::{Body, FailureKind, FetchFailure, Response, ResponseHeaders};
use gleaner_rules::SiteRules;
use gleaner_rules::starter::site_name;

/// The answers of one site that its crawl may take for its own.
pub struct LearnedPages {
    file: Arc<File>,
    path: PathBuf,
    data_dir: PathBuf,
    /// By URL: when it was read, and the record; or where it leads.
    answers: HashMap<Box<str>, (UnixMillis, Found)>,
}

#[derive(Clone)]
enum Found {
    At(Place),
    MovedTo(Box<str>),
}

impl LearnedPages {
    /// The answers of a site's host; None if there are none. Of an account's site only those that its own account was given count. A file
    /// that is too old is removed.
    #[must_use]
    pub fn open(data_dir: &Path, rules: &SiteRules, now: UnixMillis) -> Option<Self> {
        let _owner = owner::act(data_dir);
        let path = file_of(data_dir, &site_name(rules.start.first()?.authority()));
        let file = folder::open(&path, OpenOptions::new().read(true)).ok()?;
        if folder::keep_private(&path).is_err() || file.try_lock_shared().is_err() {
            return None;
        }
        let user = rules.login.as_ref().map(|login| &*login.user);
        let is_fresh = |head: &Head| now.since(head.at) <= LEARNED_FRESH_TIME;
        let records = records(&file).ok()?;
        if !records.iter().any(|(_, head)| is_fresh(head)) {
            let _ = fs::remove_file(&path);
            return None;
        }
        let mut answers = HashMap::new();
        for (place, head) in records.into_iter().filter(|(_, head)| head.status == 200 && is_fresh(head)) {
            if head.user.as_deref() != user {
                continue;
            }
            if head.asked != head.url {
                answers.insert(head.asked.as_str().into(), (head.at, Found::MovedTo(head.url.as_str().into())));
            }
            answers.insert(head.url.into(), (head.at, Found::At(place)));
        }
        let _ = file.unlock();
        (!answers.is_empty()).then(|| Self { file: Arc::new(file), path, data_dir: data_dir.to_path_buf(), answers })
    }
}

/// A body that is at hand.
struct Whole(Option<Bytes>);

#[async_trait]
impl Body for Whole {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        Ok(self.0.take())
    }
}

fn response(status: u16, headers: ResponseHeaders, body: Vec<u8>) -> Response {
    Response { status, headers, body: Box::new(Whole(Some(body.into()))) }
}

/// An answer as the site gave it.
fn as_sent(head: &Head, body: Vec<u8>) -> Response {
    let of = |name: &str| head.header(name).map(str::to_owned);
    let headers = ResponseHeaders {
        content_type: of("content-type"),
        content_disposition: of("content-disposition"),
        refresh: of("refresh"),
        etag: of("etag"),
        last_modified: of("last-modified"),
        robots_tags: head
            .headers
            .iter()
            .filter(|(name, _)| name == "x-robots-tag")
            .map(|(_, value)| value.clone())
            .collect(),
        ..ResponseHeaders::default()
    };
    response(head.status, headers, body)
}

impl ReadBefore for LearnedPages {
    fn has(&self, url: &CrawlUrl, now: UnixMillis) -> bool {
        self.answers.get(url.as_str()).is_some_and(|(at, _)| now.since(*at) <= LEARNED_FRESH_TIME)
    }

    fn answer<'a>(&'a self, url: &'a CrawlUrl) -> BoxFuture<'a, Result<Response, FetchFailure>> {
        async move {
            let gone = |detail: String| FetchFailure { kind: FailureKind::Truncated, detail };
            match self.answers.get(url.as_str()).map(|(_, found)| found.clone()) {
                Some(Found::MovedTo(to)) => {
                    let headers = ResponseHeaders { location: Some(to.into()), ..ResponseHeaders::default() };
                    Ok(response(302, headers, Vec::new()))
                }
                Some(Found::At(place)) => {
                    let file = Arc::clone(&self.file);
                    let read = tokio::task::spawn_blocking(move || place.read(&file)).await;
                    let (head, body) = read
                        .map_err(|error| gone(error.to_string()))?
                        .map_err(|error| gone(format!("what `rules learn` has read: {error}")))?;
                    Ok(as_sent(&head, body))
                }
                None => Err(gone("nothing was read".to_owned())),
            }
        }
        .boxed()
    }

    fn end(&self) {
        let _owner = owner::act(&self.data_dir);
        let _ = fs::remove_file(&self.path);
    }
}
