//! The gate for requests of a login page's scripts: only the site's own hosts, nothing from https to http, one request at a time at the
//! pace of the login itself, and a single write, after the form was filled in.
//!
//! Here a script may do once what a script of a member's page may never do: send the POST that logs in. It counts as the login's own: it
//! waits as long as a person would, is recorded as an attempt before it is sent, and only reads follow it. It is sent after the act that
//! submits the form and never while its fields are typed: a POST at that time asks whether a name is known, and is no login. Nor are POSTs
//! before it whose values are all known (`login::known`: a counter, a query whether a CAPTCHA is due): a few of these are sent like reads.
//! Anything else that would carry the password (an address, a header, a second write, another host, a script's cookie) is refused and
//! reported.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::reading::Ask;
use super::{Run, ends};
use crate::limits;
use crate::site::Site;
use gleaner_base::url::CrawlUrl;
use gleaner_login::known::KnownValues;
use gleaner_login::mask::Mask;
use gleaner_login::scripts::told_body;
use gleaner_login::secret::told_url;
use gleaner_login::verdict::{Judged, Verdict};
use gleaner_net::fetch::{ByScript, Post};
use gleaner_net::politeness::Answered;
use gleaner_render::children::Host;
use gleaner_render::wire::{self as net, Asker};
use gleaner_rules::Refusal;

/// The POST that a script has sent.
pub(super) struct Sent {
    /// Its response, or how it ended without one.
    pub answer: Result<PostResponse, Judged>,
}

/// The response to it.
pub(super) struct PostResponse {
    pub status: u16,
    pub body: Vec<u8>,
    /// False if the POST itself got this response, true if a page after its redirects did.
    pub was_got: bool,
}

/// The requests of scripts.
#[derive(Default)]
pub(super) struct Heard {
    pub sent: Option<Sent>,
    /// Requests that were refused after the form was filled in, as text, those that carried the password first.
    pub refused: Vec<String>,
    /// A host outside the site that would have received the password.
    pub foreign: Option<String>,
    /// A host outside the site that has a script of the page.
    pub scripts_elsewhere: Option<String>,
    /// Why a request was held back: hours, budgets, pauses, the end of the crawl.
    pub kept_back: Option<Judged>,
    /// The response to one of their reads asked for patience: no more requests are sent to the site for this page.
    pub is_throttled: bool,
    /// Reads by `fetch` and the like that were answered after the form was filled in, and writes that are no login.
    pub asked: u32,
    /// The writes among these.
    pub beside: usize,
}

/// Answers the requests of one page.
pub(super) struct ScriptGate<'r, 'a> {
    inner: Mutex<Inner<'r, 'a>>,
    site: &'a Site,
    page: CrawlUrl,
    /// What no script's cookie may contain, once the page knows the password.
    mask: Option<Arc<Mask>>,
}

struct Inner<'r, 'a> {
    run: &'r mut Run<'a>,
    /// The page knows the password.
    is_filled: bool,
    /// The form is being submitted.
    is_sending: bool,
    heard: Heard,
}

impl<'r, 'a> ScriptGate<'r, 'a> {
    /// The gate of a page that is being loaded, or filled in.
    pub(super) fn new(run: &'r mut Run<'a>, page: &CrawlUrl, is_filled: bool) -> Self {
        let (site, mask) = (run.site, is_filled.then(|| Arc::clone(&run.teller.mask)));
        let inner = Inner { run, is_filled, is_sending: false, heard: Heard::default() };
        Self { inner: Mutex::new(inner), site, page: page.clone(), mask }
    }

    /// From now on the form is submitted, and one POST may be sent. False if a request was held back: then nothing is sent.
    pub(super) async fn begin_sending(&self) -> bool {
        let mut inner = self.inner.lock().await;
        inner.is_sending = inner.heard.kept_back.is_none();
        inner.is_sending
    }

    pub(super) fn into_heard(self) -> Heard {
        self.inner.into_inner().heard
    }
}

impl Host for ScriptGate<'_, '_> {
    fn site(&self) -> &str {
        &self.site.rules.name
    }

    async fn answer(&self, request: net::Request) -> net::Answer {
        // In sequence: a login has one request in flight.
        let mut inner = self.inner.lock().await;
        let answer = inner.ask(&request, &self.page).await;
        if let Err(why) = &answer {
            let (site, url) = (&inner.run.site.rules.name, inner.run.teller.hidden(&told_url(&request.url)));
            tracing::debug!(%site, url, why, "a request of a login page's script is refused");
        }
        answer
    }

    fn cookie(&self, text: &str) {
        if self.mask.as_ref().is_some_and(|mask| mask.is_in(text.as_bytes())) {
            let site = &self.site.rules.name;
            tracing::debug!(%site, "a cookie of a login page's script would hold the password, and is dropped");
            return;
        }
        self.site.transport.set_script_cookie(&self.page, text);
    }
}

impl Inner<'_, '_> {
    async fn ask(&mut self, request: &net::Request, page: &CrawlUrl) -> net::Answer {
        let is_script = matches!(request.asker, Asker::Script | Asker::Module) && request.method == "GET";
        let site = self.run.site;
        if is_script && let Some((kept, body)) = site.scripts.shelf.script(&request.url, site.clock.now()) {
            self.take_in(&body);
            return Ok(net::Response { body: body.into(), ..kept });
        }
        if request.asker == Asker::Events {
            return Err("a login listens to no stream of events".to_owned());
        }
        if self.heard.is_throttled {
            return Err("the site asked to wait: no more requests are sent".to_owned());
        }
        let url = url::Url::parse(&request.url).ok().as_ref().and_then(CrawlUrl::exact);
        let url = url.ok_or_else(|| "its URL is invalid or too long".to_owned())?;
        let carries = self.is_filled && self.carries(request);
        if let Err(why) = self.may_ask(&url, page) {
            if is_script && !site.rules.owns_host(url.authority()) {
                self.heard.scripts_elsewhere.get_or_insert_with(|| url.authority().to_owned());
            }
            return Err(self.refuse(&url, carries, why));
        }
        let is_write = match request.method.as_str() {
            "GET" | "HEAD" if carries => {
                let why = "it carries the password outside of the form, where servers may log it".to_owned();
                return Err(self.refuse(&url, true, why));
            }
            "GET" | "HEAD" => false,
            "POST" if !self.is_filled => return Err("nothing is posted before the form".to_owned()),
            "POST" if !self.is_sending => {
                return Err(self.refuse(&url, carries, "nothing is posted before the form is sent".to_owned()));
            }
            "POST" if self.run.teller.mask.is_in(request.url.as_bytes()) => {
                let why = "its URL carries the password, and servers log URLs".to_owned();
                return Err(self.refuse(&url, true, why));
            }
            "POST" if self.heard.sent.is_some() => {
                return Err(self.refuse(&url, carries, "a login sends one POST only".to_owned()));
            }
            "POST" if !carries && self.is_beside(request, page) => {
                if self.heard.beside >= limits::LOGIN_POSTS_BESIDE_MAX {
                    return Err(self.refuse(
                        &url,
                        false,
                        "it is not the login, and too many of these were sent".to_owned(),
                    ));
                }
                self.heard.beside += 1;
                self.run.say(format!(
                    "scripts post to {}, without the password: that is not the login",
                    self.run.teller.hidden(&told_url(url.as_str()))
                ));
                false
            }
            "POST" => true,
            other => return Err(self.refuse(&url, carries, format!("{other} requests are not sent"))),
        };
        let answer = if is_write { self.post(url, request, page).await } else { self.get(url, request, page).await }?;
        if is_script && answer.status == 200 {
            site.scripts.shelf.keep(request, &answer, &answer.body, site.clock.now());
        }
        self.take_in(&answer.body);
        Ok(answer)
    }

    /// Records what the site sends before the password is typed: it cannot contain the password, whoever sends it back.
    fn take_in(&mut self, body: &[u8]) {
        if !self.is_filled {
            self.run.scripts.takes_in(&String::from_utf8_lossy(body));
        }
    }

    /// Applies the site's rules as for any script's request, except that robots.txt does not apply to a login.
    fn may_ask(&self, url: &CrawlUrl, page: &CrawlUrl) -> Result<(), String> {
        match self.run.site.rules.forbids_in_login(url) {
            None => {}
            Some(Refusal::WrongHost) => return Err(format!("{} is not a host of this site", url.authority())),
            Some(reason) => return Err(format!("the rules refuse it: {}", reason.name())),
        }
        if page.as_str().starts_with("https:") && !url.as_str().starts_with("https:") {
            return Err("it would downgrade https to http".to_owned());
        }
        Ok(())
    }

    fn carries(&self, request: &net::Request) -> bool {
        let mask = &self.run.teller.mask;
        let headers = || request.headers.iter().any(|(_, value)| mask.is_in(value.as_bytes()));
        mask.is_in(request.url.as_bytes()) || mask.is_in(&request.body) || headers()
    }

    /// True if a POST is not part of the login: all its values are known not to be the password.
    fn is_beside(&self, request: &net::Request, page: &CrawlUrl) -> bool {
        let sent = self.run.scripts.sent_before();
        let known = KnownValues {
            user: &self.run.means.rules.user,
            password: self.run.means.password,
            texts: sent.chain([page.as_str()]).collect(),
            now: self.run.site.clock.now(),
        };
        known.knows(content_type(request), &request.body, &request.url, &request.headers)
    }

    /// Records a refusal; returns the reason.
    fn refuse(&mut self, url: &CrawlUrl, carries: bool, why: String) -> String {
        if self.is_filled {
            let told = self.run.teller.hidden(&told_url(url.as_str()));
            if carries {
                self.heard.refused.insert(0, format!("a script would have sent the password to {told}: {why}"));
                let is_foreign = !self.run.site.rules.owns_host(url.authority());
                self.heard.foreign = self.heard.foreign.take().or(is_foreign.then(|| url.authority().to_owned()));
            } else if self.heard.refused.len() < limits::LOGIN_ADDRESSES_MAX {
                self.heard.refused.push(format!("a script's request to {told} was refused: {why}"));
            }
        }
        why
    }

    /// A request that is no login: a read, or another write.
    async fn get(&mut self, url: CrawlUrl, request: &net::Request, page: &CrawlUrl) -> net::Answer {
        self.learn_token(&url, request);
        // A failed script or picture says nothing of the login; a request that is held back does.
        let before = self.run.report.trouble.take();
        let by_script = ByScript { headers: &request.headers, credentials: request.credentials };
        let content_type = content_type(request);
        let post = Post { content_type, body: &request.body, referer: page };
        let post = (request.method == "POST").then_some(post);
        let bytes_max = limits::RENDER_BODY_BYTES_MAX;
        let ask = Ask { post, by_script: Some(by_script), ..Ask::get(bytes_max) };
        let read = self.run.read_as(url, ask).await;
        let is_kept_back = self.run.report.trouble == Some(Answered::Reached);
        if !is_kept_back {
            self.run.report.trouble = before;
        }
        let answer = match read {
            Ok(answer) => answer,
            Err(judged) => {
                let why = judged.evidence.join("; ");
                if is_kept_back {
                    self.heard.kept_back.get_or_insert(judged);
                }
                return Err(why);
            }
        };
        if self.is_filled && matches!(request.asker, Asker::Fetch | Asker::Xhr) {
            self.heard.asked += 1;
        }
        if let Some(judged) = self.run.asked_for_patience(&answer) {
            // No form is sent after it, and the wait is recorded as for any page of the login itself.
            self.heard.is_throttled = true;
            self.heard.kept_back.get_or_insert(judged);
        }
        if !answer.is_whole {
            return Err("the answer is too long".to_owned());
        }
        Ok(answer.for_script())
    }

    /// The single write of the login.
    async fn post(&mut self, url: CrawlUrl, request: &net::Request, page: &CrawlUrl) -> net::Answer {
        let content_type = content_type(request);
        let told = told_body(content_type, &request.body, &self.run.teller.told_mask);
        let told = format!("scripts send it: POST {} ({told})", self.run.teller.hidden(&told_url(url.as_str())));
        self.run.attempt.is_try = true;
        let by_script = ByScript { headers: &request.headers, credentials: request.credentials };
        let post = Post { content_type, body: &request.body, referer: page };
        let bytes_max = limits::RENDER_BODY_BYTES_MAX;
        let by_script = Some(by_script);
        let ask = Ask { post: Some(post), by_script, told: Some(&told), is_form: true, ..Ask::get(bytes_max) };
        // If the child is lost in the middle, this call is dropped: the value left here records that the one POST may have been sent.
        let lost = ends(Verdict::NoAnswer, "the page's scripts ended while their POST was under way");
        self.heard.sent = Some(Sent { answer: Err(lost) });
        let read = self.run.read_as(url, ask).await;
        if !self.run.report.was_sent {
            // It was held back, not sent.
            self.heard.sent = None;
            let judged = read.err().unwrap_or_else(|| ends(Verdict::Unknown, "nothing was sent"));
            let why = judged.evidence.join("; ");
            self.heard.kept_back.get_or_insert(judged);
            return Err(why);
        }
        match read {
            Ok(answer) => {
                self.run.report.trouble = self.run.patience.trouble_of(answer.status).or(self.run.report.trouble);
                let said = PostResponse { status: answer.status, body: answer.bytes.to_vec(), was_got: answer.was_got };
                self.heard.sent = Some(Sent { answer: Ok(said) });
                Ok(answer.for_script())
            }
            Err(judged) => {
                let why = judged.evidence.join("; ");
                self.heard.sent = Some(Sent { answer: Err(judged) });
                Err(why)
            }
        }
    }

    /// A page that keeps its token to itself reveals it with its next request: it is stored as the site's own.
    fn learn_token(&self, url: &CrawlUrl, request: &net::Request) {
        let let_in = matches!(&self.heard.sent, Some(Sent { answer: Ok(said) }) if (200..300).contains(&said.status));
        let header = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let token = header.and_then(|(_, value)| {
            value.get(..7).filter(|word| word.eq_ignore_ascii_case("bearer ")).map(|_| value[7..].trim())
        });
        if let (true, Some(token), Ok(own)) = (let_in, token, url.to_url()) {
            // The header that contained it was valid, so the token is, too.
            let _ = self.run.means.jar.set_bearer(&own, token);
        }
    }
}

fn content_type(request: &net::Request) -> &str {
    let kind = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    kind.map_or("text/plain;charset=UTF-8", |(_, value)| value)
}
