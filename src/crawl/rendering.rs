//! Whether a page's scripts are run, and what that brings (ALGORITHMS §5, BT §3.2).
//!
//! Each page is read without scripts first. Where the rule file says `auto`, the evidence decides: pages that look alike without their
//! scripts are tried a few times, and from then on rendered where that brought links which the pages themselves had not, or where a page
//! shows nothing and waits for its scripts.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::again;
use super::errands::{Answering, Errands, Trouble};
use super::outlinks::{self, PageFindings};
use super::rendered::Nothing;
use super::shortcut::{self, Recording};
use super::site::Site;
use super::visit::Job;
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::secret::{told_url, told_words};
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_page::encoded_links::{self, Decoded};
use gleaner_page::feed;
use gleaner_page::scripted::{self, Signs};
use gleaner_render::children::{ChildError, Children};
use gleaner_render::wire::{Bound, Outcome, Page, Seeks, Viewport};
use gleaner_rules::{Class, RenderActs, RenderWhen, SiteRules};
use gleaner_store::crawldb::faults;

/// Before a process is asked for again where there was none to be had.
const SPAWN_PAUSE: Duration = Duration::from_secs(1);

/// What rendering has brought for one shape of a site's pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Brought {
    /// Pages that were rendered, and those of them where it brought something.
    pub rendered: u32,
    pub gained: u32,
    /// Pages with scripts that were not rendered since the last one that was.
    pub passed_over: u32,
    /// Pages that have ended two render processes each, and none since that one survived.
    #[serde(default)]
    pub died: u32,
}

/// What the static page has shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub class: Class,
    /// The place of the rule that takes the page.
    pub rule: usize,
    pub signs: Signs,
    /// Links that the rules take, by whether they lead to what a list lists.
    pub targets: usize,
    pub links: usize,
}

impl Shown {
    /// What a page without scripts has shown.
    #[must_use]
    pub fn of(job: &Job, signs: Signs, read: &PageFindings) -> Self {
        let targets = read.found.iter().filter(|found| found.class.is_target()).count() + read.magnets.len();
        Self { class: job.class, rule: job.rule, signs, targets, links: read.found.len() }
    }

    /// Whether the page itself has nothing that a reader comes for: a shell, or something that is being loaded.
    fn is_shell(&self) -> bool {
        self.is_bare() && (self.links == 0 || self.signs.empty_root || self.signs.waits)
    }

    /// Links of the sort that pages of its class have.
    fn own_links(&self) -> usize {
        match self.class {
            Class::Index | Class::Board | Class::Detail | Class::Thread => self.targets,
            _ => self.links,
        }
    }

    /// Whether the page lacks what pages of its class have.
    fn is_bare(&self) -> bool {
        self.own_links() == 0
    }

    /// What pages have in common that show as much and wait for the same: a class may hold pages that need their scripts, and others.
    #[must_use]
    pub fn shape(&self) -> String {
        let amount = match self.own_links() {
            0 => "bare",
            1..=limits::RENDER_FEW_LINKS => "few",
            _ => "full",
        };
        let Signs { empty_root, framework, waits, hollow, .. } = self.signs;
        // A page that shows much and has an empty element somewhere is like its likes.
        let hollow = if amount == "full" { 0 } else { hollow };
        let flags: String = [(empty_root, 'r'), (framework, 'f'), (waits, 'w')]
            .iter()
            .filter(|(has, _)| *has)
            .map(|(_, flag)| flag)
            .collect();
        format!("{} {} {amount} {flags} {hollow:x}", self.class.name(), self.rule)
    }
}

impl Brought {
    /// Whether this page is to be rendered.
    #[must_use]
    pub fn decide(&mut self, when: RenderWhen, shown: Shown) -> bool {
        let wanted = match when {
            RenderWhen::Never => return false,
            RenderWhen::Always => true,
            RenderWhen::Auto if !shown.signs.scripts => return false,
            RenderWhen::Auto => {
                let is_bare = shown.is_bare();
                let share = if is_bare { self.share_of_bare() } else { limits::RENDER_SAMPLED_OF };
                let is_trial = self.rendered < limits::RENDER_TRIALS || self.passed_over + 1 >= share;
                // Half of the pages gained: they live by their scripts. Of pages that show nothing a tenth is enough.
                let pays = self.gained * 2 >= self.rendered && self.gained > 0;
                let pays_bare = self.gained * 10 >= self.rendered && self.gained > 0;
                is_trial || pays || (is_bare && (shown.signs.empty_root || pays_bare))
            }
        };
        self.passed_over = if wanted { 0 } else { self.passed_over.saturating_add(1) };
        wanted
    }

    /// One in how many pages is rendered that have no link of their class: ever fewer, where that brings nothing.
    fn share_of_bare(self) -> u32 {
        let vain = self.rendered.saturating_sub(limits::RENDER_TRIALS).min(4);
        let first = limits::RENDER_BARE_SAMPLED_OF;
        if self.gained > 0 { first } else { (first << vain).min(limits::RENDER_SAMPLED_OF) }
    }

    /// Whether a page that gained nothing is to be tried again, after so many attempts: where pages like it do gain, once, and as any fault
    /// where the site refused what its scripts asked for. Where nothing was ever gained, a few pages are tried a few times.
    #[must_use]
    pub fn deserves_another(self, is_refused: bool, attempts: u8) -> bool {
        if is_refused {
            return self.gained > 0
                || (self.rendered < limits::RENDER_TRIALS && attempts < limits::RENDER_REFUSED_TRIALS);
        }
        self.gained > 0 && self.gained * 2 >= self.rendered && attempts == 0
    }

    /// A page was rendered.
    pub fn rendered(&mut self, gained: bool) {
        self.rendered = self.rendered.saturating_add(1);
        self.gained = self.gained.saturating_add(u32::from(gained));
        // The past fades, so that a site that changes is followed.
        if self.rendered >= 64 {
            (self.rendered, self.gained) = (self.rendered / 2, self.gained / 2);
        }
    }
}

/// What a page's scripts made of it.
pub struct Made {
    /// What the page shows now, in place of what it showed without its scripts.
    pub read: PageFindings,
    pub html: String,
    /// For the log line of the visit.
    pub detail: String,
    /// Scripts have made links that the page had not.
    pub gained: bool,
    /// It is a shell that shows nothing after its scripts, and why, as far as that is known.
    pub nothing: Option<Nothing>,
}

/// What a reader does with pages of a site. A member's clicks may change things there.
#[must_use]
pub(super) fn seeks(rules: &SiteRules) -> Seeks {
    match rules.acts() {
        RenderActs::All => Seeks::ALL,
        RenderActs::Auto | RenderActs::Turns => Seeks::TURNS,
        RenderActs::None => Seeks::NOTHING,
    }
}

/// Whether pages like this one may be rendered at all.
#[must_use]
pub fn may_render(site: &Site, job: &Job) -> bool {
    site.renderer.is_some() && site.rules.render(job.class) != RenderWhen::Never
}

/// Runs the page's scripts where that is wanted. None where it is not, or where the page broke its child: what was read without stays.
pub async fn render(
    site: &Arc<Site>,
    job: &Job,
    headers: &ResponseHeaders,
    body: &[u8],
    read: &PageFindings,
    errands: &Errands,
) -> Option<Made> {
    let children = site.renderer.as_ref()?;
    let when = site.rules.render(job.class);
    // Where robots may follow nothing, nothing is to be found.
    if when == RenderWhen::Never || read.nofollow {
        return None;
    }
    let signs = scripted::signs(body);
    // What a guest sees is no page of the site's; one that waits for its scripts has not shown yet whose it is.
    if read.denied.is_some() && !signs.empty_root {
        return None;
    }
    let encoding =
        charset::detect(headers.content_type.as_deref(), body, site.rules.charset.map(encoding_rs::Encoding::name));
    if feed::is_feed(body, encoding) {
        return None;
    }
    let shown = Shown::of(job, signs, read);
    let shape = shown.shape();
    if !site.rendered().of(job.class, &shape).decide(when, shown) {
        return None;
    }
    let name = &site.rules.name;
    errands.give_back(&job.url, site.clock.now());
    let (markup, ..) = encoding.decode(body);
    let now = i64::try_from(site.clock.now().0).unwrap_or(i64::MAX);
    let page = Page {
        cookies: site.transport.script_cookies(&job.url),
        stored: site.storages.given(job.url.origin()),
        seeks: seeks(&site.rules),
        viewport: Viewport { height: f64::from(limits::RENDER_VIEW_HEIGHT), ..Viewport::default() },
        ..Page::at(job.url.as_str(), now)
    };
    let page = page.with_markup(&markup);
    let (mut ran, mut recording) = run(site, job, children, (&page, &shape), errands).await;
    if let Ok(outcome) = &ran
        && let Some(page) = again::page(site, job, errands, &page, (outcome, recording.was_refused()), read).await
    {
        (ran, recording) = run(site, job, children, (&page, &shape), errands).await;
        if let Ok(outcome) = &ran {
            again::worked(site, job, &page, outcome, read);
        }
    }
    let (unread, refused) = (recording.take_markup(), recording.take_refused());
    let downloads = recording.take_downloads();
    let recorded = recording.into_recorded();
    let outcome = match ran {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::warn!(site = %name, url = job.url.as_str(), %error, "the page's scripts were not run to their end");
            errands.not_whole.tell(&format!("its scripts were not run to their end: {error}"));
            if errands.trouble() == Trouble::None {
                site.rendered().of(job.class, &shape).rendered(false);
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
    // Scripts write addresses in UTF-8, and pages of another charset write theirs in that: what the document holds is read from it.
    if encoding != encoding_rs::UTF_8 {
        more.retain(|url| !has_encoded_letters(url));
    }
    let _turn = site.memory.parse().await;
    let (of_site, of_job, of_headers) = (Arc::clone(site), job.clone(), headers.clone());
    let reading = tokio::task::spawn_blocking(move || {
        let read = outlinks::read_rendered(&of_site, &of_job, &of_headers, (&outcome.html, encoding), &more);
        (read, outcome)
    });
    let (mut made, outcome) = reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    let known: HashSet<&str> = read.found.iter().map(|found| found.url.as_str()).collect();
    for found in made.found.iter().filter(|found| !known.contains(found.url.as_str())) {
        tracing::trace!(site = %name, url = job.url.as_str(), link = found.url.as_str(), "a link that scripts have made");
    }
    let gained = made.found.iter().filter(|found| !known.contains(found.url.as_str())).count()
        + made.magnets.len().saturating_sub(read.magnets.len());
    // An error's page in place of the data says nothing of the page: it is visited again.
    if gained == 0 && shortcut::lacks_data(site, job.class, &unread, &outcome.errors) {
        errands.troubled(Trouble::Unanswered);
    }
    let attempts = faults(job.lease.attempts);
    {
        let mut rendered = site.rendered();
        let brought = rendered.of(job.class, &shape);
        if gained == 0 && shown.is_bare() && brought.deserves_another(refused.is_some(), attempts) {
            errands.troubled(Trouble::Empty);
        }
        // What is tried again has not been seen yet.
        let is_seen = match errands.trouble() {
            Trouble::None => true,
            Trouble::Empty => attempts + 1 >= limits::ATTEMPTS_MAX,
            _ => false,
        };
        if gained > 0 || is_seen {
            brought.rendered(gained > 0);
        }
        if gained > 0 {
            rendered.shows_again(job.url.as_str());
        }
    }
    let nothing = (gained == 0 && shown.is_shell()).then(|| nothing(site, job, &outcome, refused));
    if gained == 0 && shown.is_bare() {
        errands.tell_closed(site, &job.url);
    }
    // A script that took links away has not unsaid them.
    made.add(read);
    // What was not answered, or not run to its end, says nothing of how the page is made.
    let is_whole = errands.is_whole() && outcome.spent.is_none();
    let observed = recorded.filter(|_| is_whole && gained > 0);
    let observed =
        observed.and_then(|recorded| shortcut::observation(site, job, now, &markup, recorded, (read, &made)));
    if let Some(observation) = observed {
        let (of_site, class) = (Arc::clone(site), job.class);
        let learning = tokio::task::spawn_blocking(move || shortcut::observe(&of_site, class, observation));
        learning.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    }
    tell_cut(site, job, &outcome, errands, gained);
    let states = outcome.states.len();
    let requests = errands.sent.load(std::sync::atomic::Ordering::Relaxed);
    let detail = format!("rendered: {gained} links more, {states} states, {requests} requests");
    Some(Made { read: made, html: outcome.html, detail, gained: gained > 0, nothing })
}

/// A page that shows nothing, with the first thing that went wrong on it. Scripts write into their errors what they like: what may be a
/// token is masked.
fn nothing(site: &Site, job: &Job, outcome: &Outcome, refused: Option<String>) -> Nothing {
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
    let page = if site.account.is_some() { told_url(job.url.as_str()) } else { job.url.as_str().to_owned() };
    let why = of_script.or(refused).or_else(spent).map(|why| {
        let end = why.floor_char_boundary(limits::SCRIPT_ERROR_TOLD_BYTES_MAX);
        why[..end].replace(['\n', '\r'], " ")
    });
    Nothing { pages: 1, page, why }
}

/// Runs a page in a child, and in another one where that died: what ends a process is not always its page. Gives what was recorded of its
/// requests, too. A page that ends both is to be visited again, unless such pages do so again and again; one for which no process could be
/// started keeps its place.
async fn run<'a>(
    site: &'a Arc<Site>,
    job: &'a Job,
    children: &Children,
    (page, shape): (&Page, &str),
    errands: &'a Errands,
) -> (Result<Outcome, ChildError>, Recording<'a>) {
    let mut is_again = false;
    loop {
        let recording = Recording::new(Answering { site, errands, page: &job.url }, job.class);
        let ran = children.run(page, &recording).await;
        let error = match &ran {
            // A full table of processes or files is not the page's doing, and may have room in a moment.
            Err(error @ ChildError::Spawn(_)) if !is_again => {
                let (site, url) = (&site.rules.name, job.url.as_str());
                tracing::warn!(%site, url, %error, "no process for the page's scripts: it is tried once more");
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
                    site.rendered().of(job.class, shape).died = 0;
                }
                return (ran, recording);
            }
        };
        let died = site.rendered().of(job.class, shape).died;
        if is_again {
            site.rendered().of(job.class, shape).died = died.saturating_add(1);
        }
        // A process that others ended says nothing of its page.
        let may_be_others = died < limits::RENDER_DEATHS_MAX || error.to_string().contains("signal 9");
        if is_again && may_be_others {
            errands.troubled(Trouble::Died);
        }
        if is_again || !may_be_others {
            return (ran, recording);
        }
        let (site, url) = (&site.rules.name, job.url.as_str());
        tracing::warn!(%site, url, %error, "a page's render process ended: the page is run once more in another");
        is_again = true;
    }
}

/// Writes down that a page shows nothing, and tells of the first one of a site.
pub fn tell_nothing(site: &Site, url: &CrawlUrl, nothing: Nothing) {
    let (page, why) = (nothing.page.clone(), nothing.told_why().to_owned());
    // Where something went wrong, it may be mended by the next crawl.
    if nothing.why.is_some() {
        site.rendered().look_again(url.as_str());
    }
    if site.rendered().shows_nothing(nothing) {
        let has_token = site.rules.login.as_ref().is_some_and(|login| login.json.is_some());
        let hint = if site.account.is_some() && has_token {
            "look into it with `gleaner render`; the token of `[login] json` is not where a browser would keep it for scripts, but goes with the request for the page's data where `[shortcut]` pins that"
        } else if site.account.is_some() {
            "look into it with `gleaner render`; of a member's page nothing is pressed but what turns its list (`acts = \"all\"` in `[render]` presses rows and tabs), nothing is posted, and what a login gives to scripts otherwise than by cookies, they do not find"
        } else {
            "look into it with `gleaner render`"
        };
        let site = &site.rules.name;
        tracing::warn!(%site, page, why, "a page shows nothing after its scripts; others of the site that do so are counted by the summary and `status`: {hint}");
    }
}

/// Says so where a page was left with more to come. Where it is known which request brings its list, that goes on.
fn tell_cut(site: &Site, job: &Job, outcome: &Outcome, errands: &Errands, gained: usize) {
    let is_cut = errands.is_out_of_time() || outcome.cut.is_some();
    // The data of one tab are not those of the others.
    let has_tabs = outcome.cut.as_ref().is_some_and(|cut| cut.tabs);
    if is_cut && !has_tabs && gained > 0 && shortcut::goes_on(site, job) {
        let (site, url) = (&site.rules.name, job.url.as_str());
        tracing::info!(%site, url, links = gained, "the page had more to show than one visit takes: its data are asked for by another");
        return;
    }
    let is_unanswered = outcome.cut.as_ref().is_some_and(|cut| cut.bound == Bound::Unanswered);
    if is_unanswered && gained == 0 {
        // It is visited again, as after any fault.
        return;
    }
    if errands.is_out_of_time() || is_unanswered {
        site.rendered().look_again(job.url.as_str());
    }
    let (site, url) = (&site.rules.name, job.url.as_str());
    let requests = errands.sent.load(std::sync::atomic::Ordering::Relaxed);
    if errands.is_out_of_time() {
        tracing::warn!(
            %site, url, requests, links = gained,
            "the page had more to ask for than its time allows: the rest of it is left out; a higher `requests_per_second` of the rule file gets further"
        );
        errands.not_whole.tell(
            "it had more to ask for than its time allows; a higher `requests_per_second` of the rule file gets further",
        );
    } else if let Some(cut) = &outcome.cut {
        let (acts, why) = (cut.acts, cut.words());
        if cut.bound == Bound::Broken {
            let error = outcome.errors.last().map_or(why.as_str(), |error| error.message.as_str());
            tracing::warn!(%site, url, acts, requests, links = gained, error, "a page's scripts ended early: what they had not shown is left out");
            errands.not_whole.tell(&format!("its scripts ended early: {error}"));
            return;
        }
        tracing::warn!(%site, url, acts, requests, links = gained, why, "the page had more to show: the rest of it is left out");
        errands.not_whole.tell(&format!("it had more to show: {why}"));
    }
}

/// Whether an address holds letters beyond ASCII, percent-encoded.
fn has_encoded_letters(url: &str) -> bool {
    url.as_bytes().windows(2).any(|two| two[0] == b'%' && matches!(two[1], b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F'))
}

/// Addresses that the document's markup does not hold: links of earlier states and of shadow trees, and where a click would have led.
pub(super) fn addresses(outcome: &Outcome) -> Vec<String> {
    let links = outcome.states.iter().flat_map(|state| state.links.iter().map(|link| link.url.clone()));
    let found =
        outcome.states.iter().flat_map(|state| &state.found).filter_map(|link| match encoded_links::decode(link) {
            Ok(Decoded::Url(url)) => Some(url),
            Ok(Decoded::Magnet(link)) => Some(link),
            Ok(Decoded::Other(_)) | Err(_) => None,
        });
    let gone = outcome.navigations.iter().filter(|one| one.method == "GET").map(|one| one.url.clone());
    links.chain(found).chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(scripts: bool, empty_root: bool, targets: usize) -> Shown {
        let signs = Signs { scripts, empty_root, ..Signs::default() };
        Shown { class: Class::Index, rule: 0, signs, targets, links: targets }
    }

    #[test]
    fn pages_without_scripts_are_never_rendered_unless_the_rules_say_so() {
        let mut brought = Brought::default();
        assert!(!brought.decide(RenderWhen::Auto, shown(false, true, 0)));
        assert!(!brought.decide(RenderWhen::Never, shown(true, true, 0)));
        assert!(brought.decide(RenderWhen::Always, shown(false, false, 9)));
    }

    #[test]
    fn a_class_that_gains_nothing_is_tried_a_few_times_and_then_seldom() {
        let mut brought = Brought::default();
        let rendered = (0..1_000)
            .filter(|_| {
                let wanted = brought.decide(RenderWhen::Auto, shown(true, false, 20));
                if wanted {
                    brought.rendered(false);
                }
                wanted
            })
            .count();
        assert!((3..=14).contains(&rendered), "{rendered} of 1000 pages with all their links were rendered");
    }

    #[test]
    fn pages_that_show_nothing_are_tried_more_often_and_ever_more_seldom_in_vain() {
        let mut brought = Brought::default();
        let rendered: Vec<u32> = (0..1_000)
            .filter(|_| {
                let wanted = brought.decide(RenderWhen::Auto, shown(true, false, 0));
                if wanted {
                    brought.rendered(false);
                }
                wanted
            })
            .collect();
        assert!(rendered[3] < 20 && rendered.len() < 20, "{rendered:?}");
        let mut brought = Brought { rendered: 20, gained: 2, ..Brought::default() };
        assert!(brought.decide(RenderWhen::Auto, shown(true, false, 0)), "some such pages had links");
    }

    #[test]
    fn pages_of_a_class_that_wait_for_their_scripts_are_told_from_those_that_do_not() {
        let full = shown(true, false, 9);
        let bare = shown(true, false, 0);
        let waiting = Shown { signs: Signs { waits: true, ..bare.signs }, ..bare };
        let hollow = Shown { signs: Signs { hollow: 7, ..bare.signs }, ..bare };
        let shapes = [full, bare, waiting, hollow, Shown { rule: 1, ..bare }].map(|shown| shown.shape());
        assert_eq!(shapes.iter().collect::<HashSet<_>>().len(), 5, "{shapes:?}");
        assert_eq!(shown(true, false, 30).shape(), full.shape());
    }

    #[test]
    fn a_page_that_shows_nothing_is_tried_again_as_its_likes_and_its_answers_say() {
        let gains = Brought { rendered: 4, gained: 4, ..Brought::default() };
        assert!(
            gains.deserves_another(false, 0) && !gains.deserves_another(false, 1),
            "an empty list may be just that"
        );
        assert!(gains.deserves_another(true, 2), "as any fault, which has its own bound");
        let barren = Brought { rendered: 1, ..Brought::default() };
        assert!(!barren.deserves_another(false, 0));
        assert!(barren.deserves_another(true, 1) && !barren.deserves_another(true, limits::RENDER_REFUSED_TRIALS));
        let tried = Brought { rendered: limits::RENDER_TRIALS, ..Brought::default() };
        assert!(!tried.deserves_another(true, 0), "the site refuses that to everybody");
    }

    #[test]
    fn a_class_that_gains_is_rendered_page_by_page() {
        let mut brought = Brought::default();
        for _ in 0..500 {
            assert!(brought.decide(RenderWhen::Auto, shown(true, false, 0)));
            brought.rendered(true);
        }
    }

    #[test]
    fn an_empty_root_is_rendered_even_where_nothing_was_gained_so_far() {
        let mut brought = Brought { rendered: 10, ..Brought::default() };
        assert!(brought.decide(RenderWhen::Auto, shown(true, true, 0)));
        assert!(!brought.decide(RenderWhen::Auto, shown(true, true, 5)), "it shows what it has");
        assert!(!brought.decide(RenderWhen::Auto, shown(true, false, 0)), "an empty list may be just that");
    }
}
