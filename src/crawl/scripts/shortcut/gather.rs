//! The data of one page, requested from its endpoint: all pages of data, and a check whether the list ends where they say so.

use std::collections::HashSet;
use std::sync::Arc;

use url::Url;

use super::{cookies, headers_of, text_of};
use crate::limits;
use crate::scripts::errands::Trouble;
use crate::scripts::page::PageVisit;
use crate::version;
use gleaner_base::clock::UnixMillis;
use gleaner_net::fetch::ResponseHeaders;
use gleaner_page::shortcut::call::{self, Slots};
use gleaner_page::shortcut::endpoint::Difference;
use gleaner_page::shortcut::rests::Rest;
use gleaner_page::shortcut::template::Scope;
use gleaner_page::shortcut::{Answer, Endpoint};
use gleaner_render::children::Host;
use gleaner_render::wire::{self as net, Asker};
use gleaner_store::crawldb::faults;

/// Why an endpoint has returned no data.
pub enum Failed {
    Differs(Difference),
    /// Nothing contradicts it, and a render must check: the response has no record, or a flag with a new value.
    Unsure(String),
    /// The data do not exist, nor perhaps the page.
    Gone(u16),
    Trouble(String),
    NotModified,
}

impl From<Difference> for Failed {
    fn from(difference: Difference) -> Self {
        Self::Differs(difference)
    }
}

/// One visit by an endpoint.
pub struct Asking<'a> {
    pub of: PageVisit<'a>,
    pub endpoint: &'a Arc<Endpoint>,
    pub page: &'a Url,
    pub html: &'a str,
    /// A render can clarify what the data leave open.
    pub may_render: bool,
    /// The page itself was not requested: the data received so far count, whatever held the rest of them back.
    pub is_alone: bool,
}

/// The links of all pages of data.
#[derive(Default)]
pub struct Found {
    pub links: Vec<String>,
    /// Their bytes.
    held: usize,
    /// Bytes of the responses.
    pub bytes: u64,
    requests: usize,
    records: usize,
    pub memo: Option<Box<str>>,
    /// It is the last page of its list.
    pub is_end: bool,
    pub began: UnixMillis,
}

/// Progress through the pages of data.
#[derive(Default)]
struct Turns {
    /// The next request, and whether it lies beyond what the previous response marks as the end.
    next: Option<(Slots, bool)>,
    /// Hashes of the links so far.
    known: HashSet<u64>,
    /// The page after the last one of the list.
    behind_end: Option<Url>,
    /// The next request continues where an earlier visit stopped.
    is_resumed: bool,
    /// Requests of the earlier visits that this one continues.
    requests_before: usize,
    /// The request with which another visit is to continue.
    left: Option<Slots>,
    /// Token for the version of the data, if one page contains them all.
    token: Option<u64>,
}

/// Whether a list ends where its page's response says so.
enum End {
    Is,
    /// A render must decide; contains the reason.
    Unsure(&'static str),
    /// There are more data.
    IsNot,
}

impl Found {
    /// For the log line of the visit.
    pub fn detail(&self) -> String {
        format!("by its endpoint: {} records, {} requests", self.records, self.requests)
    }
}

/// The headers of a conditional request by a memo.
fn conditions(memo: &str, token: u64) -> Vec<(String, String)> {
    let Some(validators) = version::read(memo, token) else { return Vec::new() };
    let named = [("if-none-match", validators.etag), ("if-modified-since", validators.last_modified)];
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect()
}

impl Asking<'_> {
    /// Requests the data. `memo` is the server's last statement of their version.
    ///
    /// # Errors
    /// Why no usable data were returned.
    pub async fn gather(&self, memo: Option<&str>) -> Result<Found, Failed> {
        let PageVisit { scripts, job, .. } = self.of;
        let cookies = cookies(scripts, &job.url);
        let mut scope = Scope::of(self.page, self.html, &cookies, scripts.now_ms());
        let mut found = Found { began: scripts.clock.now(), ..Found::default() };
        let before = match &self.endpoint.before {
            Some(call) => {
                let slots = call.fill(&scope).ok_or_else(|| Difference::Missing("of the request before".to_owned()))?;
                self.let_go(&slots);
                Some(self.ask(&slots, &[], &mut found).await?.0)
            }
            None => None,
        };
        if let Some(Answer::Json(json)) = &before {
            scope.before = Some(json);
        }
        let first = self.endpoint.first(&scope)?;
        let mut turns = self.begin(&first, &mut found);
        let mut conditions = turns.token.zip(memo).map(|(token, memo)| conditions(memo, token)).unwrap_or_default();
        self.let_go(&first);
        while let Some((slots, is_behind)) = turns.next.take() {
            match self.ask(&slots, &std::mem::take(&mut conditions), &mut found).await {
                Ok(answered) => self.take_in((&slots, is_behind), answered, &scope, &mut turns, &mut found)?,
                Err(failed) => self.broke_off((slots, is_behind), failed, &mut turns, &found)?,
            }
        }
        if let Some(behind) = turns.behind_end.take() {
            match self.end(&behind, &Scope { page: &behind, ..scope }, (&first, &turns.known), &mut found).await? {
                End::Is => {}
                End::Unsure(why) => return Err(Failed::Unsure(why.to_owned())),
                End::IsNot => {
                    let (site, url) = (&scripts.rules.name, job.url.as_str());
                    tracing::warn!(%site, url, "the data continue after the page that the endpoint takes for the last: its `pages` is \
                                                wrong");
                    found.links.push(behind.into());
                }
            }
        }
        if let Some(asks) = turns.left.take() {
            self.leave(self.rest(asks, &mut turns, &found), None);
        }
        Ok(found)
    }

    /// The first request of this visit, which may continue an earlier one.
    fn begin(&self, first: &Slots, found: &mut Found) -> Turns {
        let PageVisit { scripts, job, .. } = self.of;
        // The version of one page of data says nothing of the others.
        let is_single = self.endpoint.turning.is_none() && self.endpoint.before.is_none();
        let token = scripts.rules_token ^ xxhash_rust::xxh3::xxh3_64(call::asked(first).url.as_bytes());
        let mut turns =
            Turns { next: Some((first.clone(), false)), token: is_single.then_some(token), ..Turns::default() };
        let taken = scripts.shortcuts.book(job.class, |book| book.take_rest(self.page, self.endpoint)).flatten();
        if let Some(rest) = taken {
            found.records = rest.records;
            // A token stored with it may have expired.
            turns.next = Some((self.endpoint.renewed(rest.asks, first), false));
            (turns.known, turns.requests_before, turns.is_resumed) = (rest.known, rest.requests, true);
        }
        turns
    }

    /// Processes one page of data. Nothing follows if it is the last.
    fn take_in(
        &self,
        (slots, is_behind): (&Slots, bool),
        (answer, headers): (Answer, ResponseHeaders),
        scope: &Scope<'_>,
        turns: &mut Turns,
        found: &mut Found,
    ) -> Result<(), Failed> {
        let is_first = found.records == 0;
        turns.is_resumed = false;
        let reading = match self.endpoint.read(slots, &answer, scope, found.records) {
            Err(_) if is_behind => return Ok(()),
            read => read?,
        };
        if self.may_render && !is_behind {
            let expected = self.endpoint.is_as_expected(&answer, reading.records);
            expected.map_err(|why| Failed::Unsure(why.to_string()))?;
        }
        if is_first {
            if reading.records == 0 && self.may_render {
                return Err(Failed::Unsure("there is no record".to_owned()));
            }
            found.links.extend(self.endpoint.around(&answer, reading.records, self.page));
            turns.behind_end = self.endpoint.behind_end(&answer, reading.records, self.page);
            found.is_end = turns.behind_end.is_some();
            found.memo = turns.token.and_then(|token| version::memo(&headers, token, None));
        }
        found.records += reading.records;
        let known_before = turns.known.len();
        turns.known.extend(reading.links.iter().map(|link| xxhash_rust::xxh3::xxh3_64(link.as_bytes())));
        found.held += reading.links.iter().map(String::len).sum::<usize>();
        found.links.extend(reading.links.iter().cloned());
        let has_memory =
            found.links.len() < limits::LINKS_PER_PAGE_MAX && found.held < limits::OUTLINK_BYTES_PER_PAGE_MAX;
        let goes_on = turns.known.len() > known_before;
        let requests = turns.requests_before + found.requests;
        let has_room = requests < limits::SHORTCUT_TURNS_MAX && has_memory && self.has_time(found.began);
        if goes_on && !has_room {
            turns.left.clone_from(&reading.next);
        }
        // A request beyond the end that got no answer is not repeated.
        let asks_behind = faults(self.of.job.lease.attempts) == 0;
        turns.next = reading.follows().filter(|(_, is_behind)| goes_on && has_room && (asks_behind || !is_behind));
        Ok(())
    }

    /// Handles a page of data that was not available. Nothing follows; earlier data count, or the error gives the reason.
    fn broke_off(
        &self,
        (slots, is_behind): (Slots, bool),
        failed: Failed,
        turns: &mut Turns,
        found: &Found,
    ) -> Result<(), Failed> {
        let is_resumed = std::mem::take(&mut turns.is_resumed);
        let why = match failed {
            Failed::Trouble(why) => why,
            // Beyond the end there may be nothing to request.
            _ if is_behind => return Ok(()),
            // The list may have changed since then, which says nothing of the endpoint.
            _ if is_resumed => {
                return Err(Failed::Unsure("the data do not continue where the last visit stopped".to_owned()));
            }
            failed => return Err(failed),
        };
        let is_kept_back = self.of.errands.trouble() == Trouble::KeptBack;
        if is_resumed {
            let is_put_back = self.put_back(self.rest(slots, turns, found), is_kept_back);
            return if is_put_back { Err(Failed::Trouble(why)) } else { Ok(()) };
        }
        // A request beyond the end that got no answer is not repeated.
        if is_behind && !is_kept_back {
            return Ok(());
        }
        // The data so far count, and the next visit continues after them; if the end of a list is checked on the site's pages, it is
        // checked at once.
        let has_come = found.records > 0 && !is_behind && turns.behind_end.is_none();
        let counts = has_come && (self.is_alone || !is_kept_back);
        if counts && self.leave(self.rest(slots, turns, found), Some(&why)) {
            Ok(())
        } else {
            Err(Failed::Trouble(why))
        }
    }

    /// The rest that is left for another visit.
    fn rest(&self, asks: Slots, turns: &mut Turns, found: &Found) -> Rest {
        let (requests, known) = (turns.requests_before + found.requests, std::mem::take(&mut turns.known));
        Rest { by: Arc::clone(self.endpoint), asks, requests, records: found.records, known }
    }

    /// Stores the rest of one visit for the next one, within the limit for one page's data; `why` if requests were not answered.
    /// False if no visit will continue.
    fn leave(&self, rest: Rest, why: Option<&str>) -> bool {
        let (site, url, requests) = (&self.of.scripts.rules.name, self.of.job.url.as_str(), rest.requests);
        let is_over = requests >= limits::SHORTCUT_TURNS_MAX;
        if !is_over
            && self.of.scripts.shortcuts.book(self.of.job.class, |book| book.leave(self.page, rest)) == Some(true)
        {
            match why {
                Some(why) => {
                    tracing::info!(%site, url, requests, why, "the data of the page are incomplete: another visit continues");
                }
                None => {
                    tracing::info!(%site, url, requests, "the page has more data than one visit loads: another one continues");
                }
            }
            return true;
        }
        if is_over || why.is_none() {
            tracing::warn!(%site, url, requests, "the page has more data than the limit: the rest is skipped");
            self.of.errands.not_whole.tell("it has more data than the limit for one page");
        }
        is_over
    }

    /// Handles a continuing visit without results: the page is retried, and continues there. False if it has used up its requests.
    fn put_back(&self, rest: Rest, is_kept_back: bool) -> bool {
        let has_attempts = is_kept_back || faults(self.of.job.lease.attempts) + 1 < limits::ATTEMPTS_MAX;
        let has_room = rest.requests < limits::SHORTCUT_TURNS_MAX;
        if has_attempts && has_room {
            self.of.scripts.shortcuts.book(self.of.job.class, |book| book.put_back(self.page, rest));
        } else {
            let (site, url, requests) = (&self.of.scripts.rules.name, self.of.job.url.as_str(), rest.requests);
            tracing::warn!(%site, url, requests, "the page has more data, but requests for them fail: the rest is skipped");
            self.of.errands.not_whole.tell("it has more data, but requests for them fail");
        }
        has_room
    }

    /// Whether the list ends with this page, as its response says: the data of the following page are requested, once.
    async fn end(
        &self,
        behind: &Url,
        scope: &Scope<'_>,
        (own, known): (&Slots, &HashSet<u64>),
        found: &mut Found,
    ) -> Result<End, Failed> {
        let unless_rendered = |why| if self.may_render { End::Unsure(why) } else { End::Is };
        if self.of.scripts.shortcuts.book(self.of.job.class, |book| book.knows_ends(self.page)) == Some(true)
            && self.endpoint.needs_page()
        {
            return Ok(End::Is);
        }
        let slots = self.endpoint.first(scope).ok().filter(|slots| {
            // A token of this page is invalid for that one.
            let is_another = !call::are_same(slots, own, &self.endpoint.call.fleeting());
            is_another && !self.endpoint.needs_page() && self.endpoint.covers(behind)
        });
        // An unanswered request is not repeated.
        let Some(slots) = slots.filter(|_| faults(self.of.job.lease.attempts) == 0) else {
            return Ok(unless_rendered("the list ends here, but its data cannot confirm it"));
        };
        match self.ask(&slots, &[], found).await {
            Ok((answer, _)) => Ok(match self.endpoint.read(&slots, &answer, scope, 0) {
                Ok(reading) => {
                    let mut links = reading.links.iter().map(|link| xxhash_rust::xxh3::xxh3_64(link.as_bytes()));
                    // Some sites return the last page for all later ones.
                    match links.all(|link| known.contains(&link)) {
                        true => End::Is,
                        false if self.may_render => End::Unsure("the list ends here, but its data continue"),
                        false => End::IsNot,
                    }
                }
                Err(_) => unless_rendered("the list ends here, but the answer after its end is not data"),
            }),
            Err(Failed::Gone(_) | Failed::Differs(Difference::Status(400..=499))) => Ok(End::Is),
            Err(Failed::Trouble(why)) => Err(Failed::Trouble(why)),
            Err(_) => Ok(unless_rendered("the list ends here, but data after its end may not be requested")),
        }
    }

    /// Releases the page's own connection before a request to another origin: both may share one connection, and two visits would wait for
    /// each other.
    fn let_go(&self, slots: &Slots) {
        if call::slot(slots, "origin").is_some_and(|origin| *origin != *self.of.job.url.origin()) {
            self.of.errands.give_back(&self.of.job.url, self.of.scripts.clock.now());
        }
    }

    /// The gate closes for a page after a while, and what is waiting then would be lost, so nothing more is started in the second half of
    /// that time.
    fn has_time(&self, began: UnixMillis) -> bool {
        self.of.scripts.clock.now().since(began) < limits::RENDER_ASKING_TIME / 2
    }

    /// Requests data through the gate.
    async fn ask(
        &self,
        slots: &Slots,
        conditions: &[(String, String)],
        found: &mut Found,
    ) -> Result<(Answer, ResponseHeaders), Failed> {
        let asked = call::asked(slots);
        let headers = asked.headers.into_iter().chain(conditions.iter().cloned()).collect();
        let request = net::Request {
            asker: Asker::Fetch,
            method: asked.method,
            url: asked.url,
            headers,
            credentials: true,
            body: asked.body.into_bytes(),
        };
        found.requests += 1;
        let response = match self.of.answering().answer(request).await {
            Ok(response) => response,
            // Its time was over, which says nothing of the data.
            Err(why) if self.of.errands.is_out_of_time() => {
                self.of.errands.troubled(Trouble::Unanswered);
                return Err(Failed::Trouble(why));
            }
            Err(why) if self.of.errands.trouble() == Trouble::None => return Err(Difference::Refused(why).into()),
            Err(why) => return Err(Failed::Trouble(why)),
        };
        found.bytes += response.body.len() as u64;
        match response.status {
            200 => {}
            304 if !conditions.is_empty() => return Err(Failed::NotModified),
            // An expired session becomes visible on the page.
            401 | 403 if self.of.scripts.is_members => {
                return Err(Failed::Unsure(format!("the data request was answered {}", response.status)));
            }
            404 | 410 => return Err(Failed::Gone(response.status)),
            status if self.of.errands.trouble() == Trouble::None => return Err(Difference::Status(status).into()),
            status => return Err(Failed::Trouble(format!("the data's server answers {status}"))),
        }
        let (text, headers) = (text_of(&response, &response.body), headers_of(&response));
        let answer = if text.len() <= limits::INLINE_PAGE_BYTES_MAX {
            Answer::of(&text)
        } else {
            let _turn = self.of.scripts.memory.parse().await;
            let reading = tokio::task::spawn_blocking(move || Answer::of(&text));
            reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
        };
        Ok((answer, headers))
    }
}
