//! Decides whether a page's scripts are run, and runs them (ALGORITHMS §5, BT §3.2).
//!
//! Each page is read without scripts first. If the rule file says `auto`, the evidence decides: pages that look alike without their
//! scripts are tried a few times, and from then on rendered if that yielded links which the pages themselves had not, or if a page
//! shows nothing and waits for its scripts.

use std::collections::HashSet;
use std::time::Duration;

use encoding_rs::Encoding;

use super::again::{self, addresses};
use super::errands::Trouble;
use super::evidence::StaticContent;
use super::page::{Made, PageVisit, SentPage};
use super::rendered::Nothing;
use super::shared::Scripts;
use super::shortcut::{self, Recording};
use crate::job::PageFindings;
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::secret::{told_url, told_words};
use gleaner_net::fetch::charset;
use gleaner_page::{feed, scripted};
use gleaner_render::children::{ChildError, Children};
use gleaner_render::wire::{Bound, Outcome, Page, Seeks, Unshown, Viewport};
use gleaner_rules::{RenderActs, RenderWhen, SiteRules};
use gleaner_store::crawldb::faults;

/// Pause before another attempt to start a process.
const SPAWN_PAUSE: Duration = Duration::from_secs(1);

/// What a reader does with pages of a site. On a member's page, clicks may change things.
#[must_use]
pub(crate) fn seeks(rules: &SiteRules) -> Seeks {
    match rules.acts() {
        RenderActs::All => Seeks::ALL,
        RenderActs::Auto | RenderActs::Turns => Seeks::TURNS,
        RenderActs::None => Seeks::NOTHING,
    }
}

/// A page that is to be rendered.
struct Wanted {
    shown: StaticContent,
    /// Shape of the page.
    shape: String,
    encoding: &'static Encoding,
}

/// Result of a run of its scripts.
struct Ran {
    outcome: Outcome,
    /// Addresses that its document may lack.
    more: Vec<String>,
    /// Requests for data that were answered with markup.
    unread: Vec<String>,
    refused: Option<String>,
    recorded: Option<shortcut::Recorded>,
}

/// Runs the page's scripts if required. None if it is not, or if the page broke its child: the static content stays.
pub async fn render(of: PageVisit<'_>, sent: SentPage<'_>) -> Option<Made> {
    let PageVisit { scripts, job, errands } = of;
    let children = scripts.renderer.as_ref()?;
    let wanted = wanted(of, sent)?;
    errands.give_back(&job.url, scripts.clock.now());
    let (markup, ..) = wanted.encoding.decode(sent.body);
    let now_ms = scripts.now_ms();
    let ran = ran(of, sent.read, children, (&wanted, &markup, now_ms)).await?;
    let Ran { mut outcome, more, unread, refused, recorded } = ran;
    let html = (std::mem::take(&mut outcome.html), wanted.encoding);
    let (mut made, html) = scripts.read_document(job, sent.headers, html, more).await;
    let gained = gained(of, sent.read, &made);
    // An error page in place of the data says nothing of the page: it is revisited.
    if gained == 0 && shortcut::lacks_data(scripts, job.class, &unread, &outcome.errors) {
        errands.troubled(Trouble::Unanswered);
    }
    account(of, &wanted, gained > 0, refused.is_some());
    let nothing = (gained == 0 && wanted.shown.is_shell()).then(|| nothing(of, &outcome, refused));
    if gained == 0 && wanted.shown.is_bare() {
        errands.tell_closed(scripts, &job.url);
    }
    let shown = StaticContent::of(job, scripted::signs(html.as_bytes()), &made);
    let promised = [sent.read, &made].iter().filter_map(|read| read.stated).any(|stated| !stated.is_empty());
    if wanted.shown.keeps_waiting(shown, promised)
        && let Some(why) = lacks(&outcome)
    {
        errands.not_whole.tell(&format!("it shows nothing of its own, and {why}"));
    }
    // A link that a script removed is kept.
    made.add(sent.read);
    // A run with failed requests, or one that did not finish, says nothing of how the page works.
    let is_whole = errands.is_whole() && outcome.spent.is_none();
    if let Some(recorded) = recorded.filter(|_| is_whole && gained > 0) {
        shortcut::teach(of, (now_ms, &markup), recorded, (sent.read, &made)).await;
    }
    tell_cut(of, &outcome, gained);
    tell_unshown(of, &outcome);
    let states = outcome.states.len();
    let requests = errands.sent.load(std::sync::atomic::Ordering::Relaxed);
    let detail = format!("rendered: {gained} links more, {states} states, {requests} requests");
    Some(Made { read: made, html, detail, gained: gained > 0, nothing })
}

/// Whether a page is to be rendered, by its rules and the results for similar pages.
fn wanted(of: PageVisit<'_>, SentPage { headers, body, read }: SentPage<'_>) -> Option<Wanted> {
    let PageVisit { scripts, job, .. } = of;
    let when = scripts.rules.render(job.class);
    // If robots may follow no link, there is nothing to find.
    if when == RenderWhen::Never || read.nofollow {
        return None;
    }
    let signs = scripted::signs(body);
    // A guest's view is no page of the site's; one that waits for its scripts has not shown yet whose it is.
    if read.denied.is_some() && !signs.empty_root {
        return None;
    }
    let own_charset = scripts.rules.charset.map(Encoding::name);
    let encoding = charset::detect(headers.content_type.as_deref(), body, own_charset);
    if feed::is_feed(body, encoding) {
        return None;
    }
    let shown = StaticContent::of(job, signs, read);
    let shape = shown.shape();
    scripts.rendered().wants(when, shown, &shape).then_some(Wanted { shown, shape, encoding })
}

/// Runs the page, and once more if that may show more. None if it did not finish.
async fn ran(
    of: PageVisit<'_>,
    read: &PageFindings,
    children: &Children,
    (wanted, markup, now_ms): (&Wanted, &str, i64),
) -> Option<Ran> {
    let PageVisit { scripts, job, errands } = of;
    let page = Page {
        cookies: scripts.transport.script_cookies(&job.url),
        stored: scripts.storages.given(job.url.origin()),
        seeks: seeks(&scripts.rules),
        viewport: Viewport { height: f64::from(limits::RENDER_VIEW_HEIGHT), ..Viewport::default() },
        ..Page::at(job.url.as_str(), now_ms)
    };
    let page = page.with_markup(markup);
    let (mut ran, mut recording) = run(of, children, (&page, &wanted.shape)).await;
    if let Ok(outcome) = &ran
        && let Some(page) = again::page(of, &page, (outcome, recording.was_refused()), read).await
    {
        (ran, recording) = run(of, children, (&page, &wanted.shape)).await;
        if let Ok(outcome) = &ran {
            again::worked(of, &page, outcome, read);
        }
    }
    let (unread, refused) = (recording.take_markup(), recording.take_refused());
    let downloads = recording.take_downloads();
    let recorded = recording.into_recorded();
    let name = &scripts.rules.name;
    let outcome = match ran {
        Ok(outcome) => outcome,
        Err(error) => {
            // That concerns all pages, and is told once.
            if !matches!(error, ChildError::Unconfined) {
                tracing::warn!(site = %name, url = job.url.as_str(), %error, "the page's scripts did not finish");
            }
            errands.not_whole.tell(&format!("its scripts did not finish: {error}"));
            if errands.trouble() == Trouble::None {
                scripts.rendered().of(job.class, &wanted.shape).rendered(false);
            }
            return None;
        }
    };
    for error in &outcome.errors {
        let (message, source, line) = (&error.message, &error.source, error.line);
        tracing::debug!(site = %name, url = job.url.as_str(), message, source, line, "a script of the page failed");
    }
    let mut more = addresses(&outcome);
    more.extend(downloads);
    // A page that reloads itself leads nowhere.
    more.retain(|url| !again::is_own(url, &job.url));
    // Scripts write addresses in UTF-8, pages of another charset in theirs: addresses in the document are read from it.
    if wanted.encoding != encoding_rs::UTF_8 {
        more.retain(|url| !has_encoded_letters(url));
    }
    Some(Ran { outcome, more, unread, refused, recorded })
}

/// Links that scripts have made.
fn gained(of: PageVisit<'_>, read: &PageFindings, made: &PageFindings) -> usize {
    let known: HashSet<&str> = read.found.iter().map(|found| found.url.as_str()).collect();
    let new = made.found.iter().filter(|found| !known.contains(found.url.as_str()));
    let (site, url) = (&of.scripts.rules.name, of.job.url.as_str());
    let links =
        new.inspect(|found| tracing::trace!(%site, url, link = found.url.as_str(), "a link that scripts have made"));
    links.count() + made.magnets.len().saturating_sub(read.magnets.len())
}

/// Records what a render yielded, for the decisions on similar pages.
fn account(of: PageVisit<'_>, wanted: &Wanted, has_gained: bool, is_refused: bool) {
    let PageVisit { scripts, job, errands } = of;
    let attempts = faults(job.lease.attempts);
    let mut rendered = scripts.rendered();
    let brought = rendered.of(job.class, &wanted.shape);
    if !has_gained && wanted.shown.is_bare() && brought.deserves_another(is_refused, attempts) {
        errands.troubled(Trouble::Empty);
    }
    // A page that is tried again has no result yet.
    let is_seen = match errands.trouble() {
        Trouble::None => true,
        Trouble::Empty => attempts + 1 >= limits::ATTEMPTS_MAX,
        _ => false,
    };
    if has_gained || is_seen {
        brought.rendered(has_gained);
    }
    if has_gained {
        rendered.shows_again(job.url.as_str());
    }
}

/// A page that shows nothing, with the first failure on it. Scripts put arbitrary text into their errors: possible
/// tokens are masked.
fn nothing(PageVisit { scripts, job, .. }: PageVisit<'_>, outcome: &Outcome, refused: Option<String>) -> Nothing {
    let of_script = outcome.errors.first().map(|error| {
        let source = told_url(error.source.split(['?', '#']).next().unwrap_or_default());
        let place = match (source.is_empty(), error.line) {
            (true, _) => String::new(),
            (false, 0) => format!(" at {source}"),
            (false, line) => format!(" at {source}:{line}:{}", error.column),
        };
        told_words(&error.message) + &place
    });
    let spent = || outcome.spent.map(|spent| spent.to_string());
    let page = if scripts.is_members { told_url(job.url.as_str()) } else { job.url.as_str().to_owned() };
    let why = of_script.or(refused).or_else(spent).map(|why| {
        let end = why.floor_char_boundary(limits::SCRIPT_ERROR_TOLD_BYTES_MAX);
        why[..end].replace(['\n', '\r'], " ")
    });
    // The first error may have nothing to do with it.
    let why = why.into_iter().chain(lacks(outcome)).reduce(|why, lacks| format!("{why}; {lacks}"));
    Nothing { pages: 1, page, why }
}

/// What its scripts asked for and gleaner does not have, if anything.
fn lacks(outcome: &Outcome) -> Option<String> {
    let names = outcome.missing.join(", ");
    (!names.is_empty()).then(|| format!("its scripts ask for what gleaner does not have: {names}"))
}

/// Runs a page in a child, and in another one if that died: what ends a process is not always its page. Also returns the recording of its
/// requests. A page that ends both is revisited, unless such pages do so repeatedly; one for which no process could be
/// started keeps its place.
async fn run<'a>(
    of: PageVisit<'a>,
    children: &Children,
    (page, shape): (&Page, &str),
) -> (Result<Outcome, ChildError>, Recording<'a>) {
    let PageVisit { scripts, job, errands } = of;
    let mut is_again = false;
    loop {
        let recording = Recording::new(of.answering(), job.class);
        let ran = children.run(page, &recording).await;
        let error = match &ran {
            // A full table of processes or files is not the page's fault, and may have room in a moment.
            Err(error @ ChildError::Spawn(_)) if !is_again => {
                let (site, url) = (&scripts.rules.name, job.url.as_str());
                tracing::warn!(%site, url, %error, "no process could be started for the page's scripts: retrying");
                tokio::time::sleep(SPAWN_PAUSE).await;
                is_again = true;
                continue;
            }
            Err(ChildError::Spawn(_)) => {
                errands.troubled(Trouble::NoProcess);
                return (ran, recording);
            }
            Err(error @ ChildError::Died { .. }) => error,
            _ => {
                if is_again {
                    scripts.rendered().of(job.class, shape).died = 0;
                }
                return (ran, recording);
            }
        };
        let died = scripts.rendered().of(job.class, shape).died;
        if is_again {
            scripts.rendered().of(job.class, shape).died = died.saturating_add(1);
        }
        // A process that was ended from outside says nothing of its page.
        let may_be_others = died < limits::RENDER_DEATHS_MAX || error.to_string().contains("signal 9");
        if is_again && may_be_others {
            errands.troubled(Trouble::Died);
        }
        if is_again || !may_be_others {
            return (ran, recording);
        }
        let (site, url) = (&scripts.rules.name, job.url.as_str());
        tracing::warn!(%site, url, %error, "a page's render process ended: the page is rendered again in another one");
        is_again = true;
    }
}

/// Records that a page shows nothing, and logs the first one of a site.
pub fn tell_nothing(scripts: &Scripts, url: &CrawlUrl, nothing: Nothing) {
    let (page, why) = (nothing.page.clone(), nothing.told_why().to_owned());
    // A failure may be fixed by the next crawl.
    if nothing.why.is_some() {
        scripts.rendered().look_again(url.as_str());
    }
    if scripts.rendered().shows_nothing(nothing) {
        let has_token = scripts.rules.login.as_ref().is_some_and(|login| login.json.is_some());
        let hint = if scripts.is_members && has_token {
            "inspect it with `gleaner render`; scripts do not get the token of `[login] json`, but data requests that `[shortcut]` \
             pins send it"
        } else if scripts.is_members {
            "inspect it with `gleaner render`; on members' pages only pagination controls are pressed (`acts = \"all\"` in `[render]` \
             also presses rows and tabs), nothing is posted, and scripts only get the cookies of a login"
        } else {
            "inspect it with `gleaner render`"
        };
        let site = &scripts.rules.name;
        tracing::warn!(%site, page, why, "a page shows nothing after its scripts; the summary and `status` count further ones: {hint}");
    }
}

/// Reports a page that was left with more to come. If the request that returns its list is known, that continues.
fn tell_cut(of: PageVisit<'_>, outcome: &Outcome, gained: usize) {
    let PageVisit { scripts, job, errands } = of;
    let is_cut = errands.is_out_of_time() || outcome.cut.is_some();
    // The data of one tab are not those of the others.
    let has_tabs = outcome.cut.as_ref().is_some_and(|cut| cut.tabs);
    if is_cut && !has_tabs && gained > 0 && shortcut::goes_on(scripts, job) {
        let (site, url) = (&scripts.rules.name, job.url.as_str());
        tracing::info!(%site, url, links = gained, "the page had more to show than one visit loads: another visit requests the rest");
        return;
    }
    let is_unanswered = outcome.cut.as_ref().is_some_and(|cut| cut.bound == Bound::Unanswered);
    if is_unanswered && gained == 0 {
        // It is revisited, as after any failure.
        return;
    }
    if errands.is_out_of_time() || is_unanswered {
        scripts.rendered().look_again(job.url.as_str());
    }
    let (site, url) = (&scripts.rules.name, job.url.as_str());
    let requests = errands.sent.load(std::sync::atomic::Ordering::Relaxed);
    if errands.is_out_of_time() {
        tracing::warn!(
            %site, url, requests, links = gained,
            "the page had more requests than its time allows: the rest is skipped; a higher `requests_per_second` in the rule file \
             loads more"
        );
        errands.not_whole.tell(
            "it had more requests than its time allows; a higher `requests_per_second` in the rule file loads more",
        );
    } else if let Some(cut) = &outcome.cut {
        let (acts, why) = (cut.acts, cut.words());
        if cut.bound == Bound::Broken {
            let error = outcome.errors.last().map_or(why.as_str(), |error| error.message.as_str());
            tracing::warn!(%site, url, acts, requests, links = gained, error, "a page's scripts ended early: what they had not shown \
                yet is skipped");
            errands.not_whole.tell(&format!("its scripts ended early: {error}"));
            return;
        }
        tracing::warn!(%site, url, acts, requests, links = gained, why, "the page had more to show: the rest is skipped");
        errands.not_whole.tell(&format!("it had more to show: {why}"));
    }
}

/// Reports lists that show less than they have. That a box scrolls on says nothing of its list.
fn tell_unshown(PageVisit { scripts, job, errands }: PageVisit<'_>, outcome: &Outcome) {
    for why in (Unshown { below: 0, ..outcome.unshown }).words() {
        let (site, url) = (&scripts.rules.name, job.url.as_str());
        tracing::warn!(%site, url, why, "a list of the page may have more rows than it shows");
        errands.not_whole.tell(&format!("a list may have more to show: {why}"));
    }
}

/// Whether an address contains percent-encoded letters beyond ASCII.
fn has_encoded_letters(url: &str) -> bool {
    url.as_bytes().windows(2).any(|two| two[0] == b'%' && matches!(two[1], b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F'))
}
