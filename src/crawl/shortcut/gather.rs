//! The data of one page, asked for by its endpoint: all their turns, and whether its list ends where they say so.

use std::collections::HashSet;
use std::sync::Arc;

use url::Url;

use super::{cookies, headers_of, text_of};
use crate::errands::{Answering, Errands, Trouble};
use crate::site::Site;
use crate::visit::Job;
use crate::{limits, version};
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

/// Why an endpoint has brought nothing.
pub enum Failed {
    Differs(Difference),
    /// Nothing speaks against it, and a render is to look: the answer has no record, or a switch that was never so.
    Unsure(String),
    /// The data are not there, nor is the page, perhaps.
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
    pub site: &'a Arc<Site>,
    pub job: &'a Job,
    pub errands: &'a Errands,
    pub endpoint: &'a Arc<Endpoint>,
    pub page: &'a Url,
    pub html: &'a str,
    /// A render can say what the data leave open.
    pub may_render: bool,
    /// The page itself was not asked for: what came of its data counts, whatever has kept the rest of them back.
    pub is_alone: bool,
}

/// The links of all pages of data.
#[derive(Default)]
pub struct Found {
    pub links: Vec<String>,
    /// Bytes of them.
    held: usize,
    /// Bytes of the answers.
    pub bytes: u64,
    requests: usize,
    records: usize,
    pub memo: Option<Box<str>>,
    /// It is the last page of its list.
    pub is_end: bool,
    pub began: UnixMillis,
}

/// Whether a list ends where the answer of its page says so.
enum End {
    Is,
    /// A render is to say: why.
    Unsure(&'static str),
    /// The data go on.
    IsNot,
}

impl Found {
    /// For the log line of the visit.
    pub fn detail(&self) -> String {
        format!("by its endpoint: {} records, {} requests", self.records, self.requests)
    }
}

impl Asking<'_> {
    /// Asks for the data. What the server has said of their version before is `memo`.
    ///
    /// # Errors
    /// Why there are none to go by.
    pub async fn gather(&self, memo: Option<&str>) -> Result<Found, Failed> {
        let now_ms = i64::try_from(self.site.clock.now().0).unwrap_or(i64::MAX);
        let cookies = cookies(self.site, &self.job.url);
        let mut scope = Scope::of(self.page, self.html, &cookies, now_ms);
        let mut found = Found { began: self.site.clock.now(), ..Found::default() };
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
        // Versions of one page of data say nothing of the others.
        let is_single = self.endpoint.turning.is_none() && self.endpoint.before.is_none();
        let token = self.site.rules_token ^ xxhash_rust::xxh3::xxh3_64(call::asked(&first).url.as_bytes());
        let validators = memo.filter(|_| is_single).and_then(|memo| version::read(memo, token));
        let mut conditions = Vec::new();
        if let Some(validators) = &validators {
            let header =
                |name: &str, value: &Option<Box<str>>| value.as_ref().map(|value| (name.to_owned(), value.to_string()));
            conditions.extend(header("if-none-match", &validators.etag));
            conditions.extend(header("if-modified-since", &validators.last_modified));
        }
        self.let_go(&first);
        let mut next = Some((first.clone(), false));
        let mut known = HashSet::new();
        let mut behind_end = None;
        let taken = self.site.shortcuts.book(self.job.class, |book| book.take_rest(self.page, self.endpoint)).flatten();
        let mut is_resumed = taken.is_some();
        // Of the visits before this one, which it goes on with.
        let requests_before = taken.as_ref().map_or(0, |rest| rest.requests);
        if let Some(rest) = taken {
            (found.records, known) = (rest.records, rest.known);
            // A token that it was left with may have ended.
            next = Some((self.endpoint.renewed(rest.asks, &first), false));
        }
        let mut left = None;
        while let Some((slots, is_behind)) = next.take() {
            let is_first = found.records == 0;
            let is_resumed = std::mem::take(&mut is_resumed);
            let (answer, headers) = match self.ask(&slots, &std::mem::take(&mut conditions), &mut found).await {
                Ok(answered) => answered,
                Err(Failed::Trouble(why)) => {
                    let requests = requests_before + found.requests;
                    let rest = |known| self.rest(slots, requests, found.records, known);
                    let is_kept_back = self.errands.trouble() == Trouble::KeptBack;
                    if is_resumed {
                        if self.put_back(rest(std::mem::take(&mut known)), is_kept_back) {
                            return Err(Failed::Trouble(why));
                        }
                        break;
                    }
                    // What was not answered behind the end is not asked again.
                    if is_behind && !is_kept_back {
                        break;
                    }
                    // What has come counts, and the next visit goes on behind it; where the list ends on the site's pages is asked at once.
                    let counts = !is_first && !is_behind && behind_end.is_none() && (self.is_alone || !is_kept_back);
                    if counts && self.leave(rest(std::mem::take(&mut known)), Some(&why)) {
                        break;
                    }
                    return Err(Failed::Trouble(why));
                }
                // Behind the end there may be nothing to ask for.
                Err(_) if is_behind => break,
                // What was true of the list then need not be now, and says nothing of the endpoint.
                Err(_) if is_resumed => {
                    return Err(Failed::Unsure("the data do not go on where they were left".to_owned()));
                }
                Err(failed) => return Err(failed),
            };
            let reading = match self.endpoint.read(&slots, &answer, &scope, found.records) {
                Err(_) if is_behind => break,
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
                behind_end = self.endpoint.behind_end(&answer, reading.records, self.page);
                found.is_end = behind_end.is_some();
                found.memo = is_single.then(|| version::memo(&headers, token, None)).flatten();
            }
            found.records += reading.records;
            let known_before = known.len();
            known.extend(reading.links.iter().map(|link| xxhash_rust::xxh3::xxh3_64(link.as_bytes())));
            let reading_bytes: usize = reading.links.iter().map(String::len).sum();
            found.links.extend(reading.links.iter().cloned());
            found.held += reading_bytes;
            let has_memory =
                found.links.len() < limits::LINKS_PER_PAGE_MAX && found.held < limits::OUTLINK_BYTES_PER_PAGE_MAX;
            let goes_on = known.len() > known_before;
            let requests = requests_before + found.requests;
            let has_room = requests < limits::SHORTCUT_TURNS_MAX && has_memory && self.has_time(found.began);
            if goes_on && !has_room {
                left = reading.next.clone();
            }
            // One that was not answered behind the end is not asked again.
            let asks_behind = faults(self.job.lease.attempts) == 0;
            next = reading.follows().filter(|(_, is_behind)| goes_on && has_room && (asks_behind || !is_behind));
        }
        if let Some(behind) = behind_end {
            match self.end(&behind, &Scope { page: &behind, ..scope }, (&first, &known), &mut found).await? {
                End::Is => {}
                End::Unsure(why) => return Err(Failed::Unsure(why.to_owned())),
                End::IsNot => {
                    let (site, url) = (&self.site.rules.name, self.job.url.as_str());
                    tracing::warn!(%site, url, "the data go on behind the page that the endpoint takes for the last: what it says of `pages` is wrong");
                    found.links.push(behind.into());
                }
            }
        }
        if let Some(asks) = left {
            self.leave(self.rest(asks, requests_before + found.requests, found.records, known), None);
        }
        Ok(found)
    }

    fn rest(&self, asks: Slots, requests: usize, records: usize, known: HashSet<u64>) -> Rest {
        Rest { by: Arc::clone(self.endpoint), asks, requests, records, known }
    }

    /// What one visit does not take the next one goes on with, as far as the data of one page may go; `why` where they were not answered.
    /// False where no visit will.
    fn leave(&self, rest: Rest, why: Option<&str>) -> bool {
        let (site, url, requests) = (&self.site.rules.name, self.job.url.as_str(), rest.requests);
        let is_over = requests >= limits::SHORTCUT_TURNS_MAX;
        if !is_over && self.site.shortcuts.book(self.job.class, |book| book.leave(self.page, rest)) == Some(true) {
            match why {
                Some(why) => {
                    tracing::info!(%site, url, requests, why, "the data of the page break off: another visit goes on");
                }
                None => {
                    tracing::info!(%site, url, requests, "the page has more data than one visit takes: another one goes on");
                }
            }
            return true;
        }
        if is_over || why.is_none() {
            tracing::warn!(%site, url, requests, "the page has more data than is asked for: the rest is left out");
            self.errands.not_whole.tell("it has more data than are asked for of one page");
        }
        is_over
    }

    /// A visit that was to go on has got nothing: the page is tried again, and goes on there. False where it has asked for as much as it may.
    fn put_back(&self, rest: Rest, is_kept_back: bool) -> bool {
        let has_attempts = is_kept_back || faults(self.job.lease.attempts) + 1 < limits::ATTEMPTS_MAX;
        let has_room = rest.requests < limits::SHORTCUT_TURNS_MAX;
        if has_attempts && has_room {
            self.site.shortcuts.book(self.job.class, |book| book.put_back(self.page, rest));
        } else {
            let (site, url, requests) = (&self.site.rules.name, self.job.url.as_str(), rest.requests);
            tracing::warn!(%site, url, requests, "the page has more data, and they are not answered: the rest is left out");
            self.errands.not_whole.tell("it has more data, and they are not answered");
        }
        has_room
    }

    /// Whether the list ends with this page, as its answer says: the data of the page behind it are asked for, once.
    async fn end(
        &self,
        behind: &Url,
        scope: &Scope<'_>,
        (own, known): (&Slots, &HashSet<u64>),
        found: &mut Found,
    ) -> Result<End, Failed> {
        let unless_rendered = |why| if self.may_render { End::Unsure(why) } else { End::Is };
        if self.site.shortcuts.book(self.job.class, |book| book.knows_ends(self.page)) == Some(true)
            && self.endpoint.needs_page()
        {
            return Ok(End::Is);
        }
        let slots = self.endpoint.first(scope).ok().filter(|slots| {
            // A token of this page is none of that one's.
            let is_another = !call::are_same(slots, own, &self.endpoint.call.fleeting());
            is_another && !self.endpoint.needs_page() && self.endpoint.covers(behind)
        });
        // What was not answered is not asked again.
        let Some(slots) = slots.filter(|_| faults(self.job.lease.attempts) == 0) else {
            return Ok(unless_rendered("the list ends here, and its data cannot be asked whether it does"));
        };
        match self.ask(&slots, &[], found).await {
            Ok((answer, _)) => Ok(match self.endpoint.read(&slots, &answer, scope, 0) {
                Ok(reading) => {
                    let mut links = reading.links.iter().map(|link| xxhash_rust::xxh3::xxh3_64(link.as_bytes()));
                    // Some sites answer with the last page for all behind it.
                    match links.all(|link| known.contains(&link)) {
                        true => End::Is,
                        false if self.may_render => End::Unsure("the list ends here, and its data go on"),
                        false => End::IsNot,
                    }
                }
                Err(_) => unless_rendered("the list ends here, and what is answered behind its end is no data"),
            }),
            Err(Failed::Gone(_) | Failed::Differs(Difference::Status(400..=499))) => Ok(End::Is),
            Err(Failed::Trouble(why)) => Err(Failed::Trouble(why)),
            Err(_) => Ok(unless_rendered("the list ends here, and what lies behind its end may not be asked for")),
        }
    }

    /// What asks another origin holds no connection of the page's own: both may have one between them, or two visits wait for each other.
    fn let_go(&self, slots: &Slots) {
        if call::slot(slots, "origin").is_some_and(|origin| *origin != *self.job.url.origin()) {
            self.errands.give_back(&self.job.url, self.site.clock.now());
        }
    }

    /// The gate closes for one page after a while; what is waiting then would be lost, so no more is begun in the second half of it.
    fn has_time(&self, began: UnixMillis) -> bool {
        self.site.clock.now().since(began) < limits::RENDER_ASKING_TIME / 2
    }

    /// Asks for data through the gate.
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
        let answering = Answering { site: self.site, errands: self.errands, page: &self.job.url };
        found.requests += 1;
        let response = match answering.answer(request).await {
            Ok(response) => response,
            // Its time was over, which says nothing of the data.
            Err(why) if self.errands.is_out_of_time() => {
                self.errands.troubled(Trouble::Unanswered);
                return Err(Failed::Trouble(why));
            }
            Err(why) if self.errands.trouble() == Trouble::None => return Err(Difference::Refused(why).into()),
            Err(why) => return Err(Failed::Trouble(why)),
        };
        found.bytes += response.body.len() as u64;
        match response.status {
            200 => {}
            304 if !conditions.is_empty() => return Err(Failed::NotModified),
            // A session that has ended shows on the page.
            401 | 403 if self.site.account.is_some() => {
                return Err(Failed::Unsure(format!("the data are answered {}", response.status)));
            }
            404 | 410 => return Err(Failed::Gone(response.status)),
            status if self.errands.trouble() == Trouble::None => return Err(Difference::Status(status).into()),
            status => return Err(Failed::Trouble(format!("the data's server answers {status}"))),
        }
        let (text, headers) = (text_of(&response, &response.body), headers_of(&response));
        let answer = if text.len() <= limits::INLINE_PAGE_BYTES_MAX {
            Answer::of(&text)
        } else {
            let _turn = self.site.memory.parse().await;
            let reading = tokio::task::spawn_blocking(move || Answer::of(&text));
            reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
        };
        Ok((answer, headers))
    }
}
