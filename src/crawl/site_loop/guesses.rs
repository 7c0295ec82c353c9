//! `crawl --enumerate`: once nothing else is left to ask for, numbers between the known ones of the densest shape are asked for, by the same gates,
//! rules and budgets as everything else. Never on a site with an account: a URL that nobody has shown may act in its name.

use xxhash_rust::xxh3::xxh3_64;

use super::SiteLoop;
use super::visits::mark;
use crate::frontier::crews::Crew;
use crate::frontier::priority;
use crate::guesses::{GUESSES_PER_CONTROL, Guess, GuessCounts, Shown, answer, is_answered};
use crate::job::{Finished, Job};
use crate::judging::judge;
use crate::site::Site;
use crate::{CrawlError, limits};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::{CrawlUrl, without_keys};
use gleaner_net::politeness::robots::Robots;
use gleaner_rules::SiteRules;
use gleaner_store::coverage::id_shapes;
use gleaner_store::coverage::ids::{Form, IdShape};
use gleaner_store::coverage::sample::{SAMPLES_NOTE, Samples, draw};
use gleaner_store::crawldb::{Lease, Outcome, UrlKey};

/// Depth of a guess: no page links to it.
const DEPTH: u16 = 1;

/// The guesses of a run.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    /// How many the operator allows, until they are drawn.
    asks: Option<u64>,
    form: Option<Form>,
    samples: Samples,
    counts: GuessCounts,
    /// Guesses in a row without an answer.
    unanswered: u32,
    has_changed: bool,
    /// Asked for before the others, one after the other.
    control: Option<Control>,
    /// Host and number of the last of them.
    last_control: Option<(usize, u64)>,
    /// What their answers had.
    shown: Shown,
}

/// A number far behind the last known one, where no torrent can be.
#[derive(Debug)]
struct Control {
    host: usize,
    id: u64,
    key: UrlKey,
    /// The guesses that wait for its answer.
    waiting: Vec<Job>,
}

/// Numbers behind the last known one that may be a control, as multiples of the span of those that are known.
const CONTROL_SPANS: [u64; 3] = [10, 3, 1];

impl Guesses {
    pub(super) fn new(asks: Option<u64>) -> Self {
        Self { asks: asks.filter(|asks| *asks > 0), ..Self::default() }
    }

    /// True if no more of them are to be asked for: the site has refused several in a row.
    pub(super) fn are_over(&self) -> bool {
        self.unanswered >= limits::GUESSES_UNANSWERED_MAX
    }

    /// The samples, if they have changed since the last call.
    pub(super) fn note(&mut self) -> Option<Vec<u8>> {
        std::mem::take(&mut self.has_changed).then(|| self.samples.note())
    }

    fn take(&mut self, key: &UrlKey, guess: Guess, at: UnixMillis) {
        self.counts.count(guess);
        self.unanswered = if guess == Guess::Unanswered { self.unanswered + 1 } else { 0 };
        let form = self.form.as_ref().filter(|_| guess != Guess::Unanswered);
        if let Some((form, id)) = form.and_then(|form| Some((form, id_in(form, &key.path)?))) {
            self.samples.take(form, id, guess == Guess::Torrent, at);
            self.has_changed = true;
        }
    }
}

/// The id in a path of this form.
fn id_in(form: &Form, path: &str) -> Option<u64> {
    path.strip_prefix(&*form.head)?.strip_suffix(&*form.tail)?.parse().ok()
}

/// Why no URL of a site may be guessed.
fn may_not(rules: &SiteRules) -> Option<&'static str> {
    rules
        .login
        .is_some()
        .then_some("the site is crawled with an account, and a URL that no page shows may act in its name")
}

/// True for a torrent, or the target of a redirect, that the database has under another URL.
async fn is_known_elsewhere(site: &Site, finished: &Finished) -> Result<bool, CrawlError> {
    let visit = &finished.visit;
    if let Some(facts) = &visit.torrent {
        let known = site.db.known_torrents(vec![facts.infohashes]).await?;
        return Ok(known.iter().any(Option::is_some));
    }
    match visit.outlinks.first() {
        Some(target) if visit.outcome == Outcome::Redirected => Ok(site.rows.record(&target.key).await?.is_some()),
        _ => Ok(false),
    }
}

impl SiteLoop {
    /// Draws the guesses and queues them, once in a run. True if there are some.
    pub(super) async fn draw_guesses(&mut self) -> Result<bool, CrawlError> {
        let Some(asks) = self.guesses.asks.take() else { return Ok(false) };
        let drawn = match may_not(&self.site.rules) {
            Some(why) => Err(why.to_owned()),
            None => self.draw_of_densest(asks.min(limits::GUESSES_MAX)).await?,
        };
        let counts = &mut self.guesses.counts;
        match drawn {
            Ok(drawn) => {
                counts.drawn = drawn;
                counts.why = (drawn < asks).then(|| format!("no more than {drawn} may be asked for"));
            }
            Err(why) => counts.why = Some(why),
        }
        tracing::info!(site = %self.site.rules.name, told = counts.told(), "numbers between known ones are asked for");
        self.tell_guesses();
        Ok(self.guesses.counts.drawn > 0)
    }

    /// Queues guesses of the densest shape whose URLs the rules and robots.txt allow; how many, or why none.
    async fn draw_of_densest(&mut self, asks: u64) -> Result<Result<u64, String>, CrawlError> {
        let site = self.site.rules.name.clone();
        self.guesses.samples = Samples::from_bytes(self.site.db.note(&site, SAMPLES_NOTE).await?.as_deref());
        let Some(shapes) = id_shapes(&*self.site.db, &site).await? else {
            return Ok(Err("the site's URLs have more numbers than are held".to_owned()));
        };
        let mut refused = None;
        for shape in shapes {
            if shape.form.path(0).is_none() || shape.unknown() == 0 {
                continue;
            }
            let queued = self.queue_guesses(&shape, asks).await?;
            if queued > 0 {
                return Ok(Ok(queued));
            }
            refused.get_or_insert_with(|| shape.form.told());
        }
        Ok(Err(match refused {
            Some(form) => {
                format!("the rules, robots.txt or what is known already leave none of {}", without_keys(&form))
            }
            None => "no URLs of its torrents differ by a number alone, or none is missing between theirs".to_owned(),
        }))
    }

    async fn queue_guesses(&mut self, shape: &IdShape, asks: u64) -> Result<u64, CrawlError> {
        let form = &shape.form;
        let Some(index) = self.hosts.iter().position(|host| host.id == form.host) else { return Ok(0) };
        // A key in a URL is a member's.
        if matches!(without_keys(&form.told()), std::borrow::Cow::Owned(_)) {
            return Ok(0);
        }
        let now = self.site.clock.now();
        let seed = xxh3_64(form.told().as_bytes()) ^ now.0;
        let Some((id, control)) = self.control(index, shape) else { return Ok(0) };
        let mut waiting = Vec::new();
        for id in draw(shape, self.guesses.samples.of(form), asks, seed) {
            let Some(job) = self.guess(index, form, id) else { continue };
            if self.site.rows.record(&job.lease.key).await?.is_none() && self.leases.take(&job.lease.key) {
                waiting.push(job);
            }
        }
        let queued = waiting.len() as u64;
        if queued > 0 && self.leases.take(&control.lease.key) {
            self.guesses.control = Some(Control { host: index, id, key: control.lease.key.clone(), waiting });
            self.hosts[index].queue(control, &self.site.rules);
            let origin = self.hosts[index].origin();
            self.guesses.counts.shape = Some(format!("{origin}{}", form.told()));
            self.guesses.form = Some(form.clone());
        }
        Ok(queued)
    }

    /// The number of a control, and its job.
    fn control(&self, host: usize, shape: &IdShape) -> Option<(u64, Job)> {
        let (last, span) = (shape.last(), shape.last() - shape.first() + 1);
        let at = |spans: u64| last.checked_add(span.checked_mul(spans)?);
        CONTROL_SPANS.into_iter().find_map(|spans| Some((at(spans)?, self.guess(host, &shape.form, at(spans)?)?)))
    }

    /// A guess as a job, if the rules and robots.txt allow it.
    fn guess(&self, index: usize, form: &Form, id: u64) -> Option<Job> {
        let path = form.path(id)?;
        let (host, rules) = (&self.hosts[index], &self.site.rules);
        let robots = host.face().robots_in_force(self.site.clock.now());
        if robots.is_some_and(|robots| !robots.allows(&path)) || rules.depth_max < DEPTH {
            return None;
        }
        let asked = CrawlUrl::from_parts(host.origin(), &path);
        let found = judge(rules, asked.clone()).ok()?;
        if !found.class.is_target() || found.url != asked || self.site.worth().acts_by_token(rules, &asked, found.class)
        {
            return None;
        }
        let key = UrlKey { host: form.host, path: path.into() };
        let lease = Lease {
            key,
            depth: DEPTH,
            rank: priority::of_class(found.class),
            attempts: 0,
            via: None,
            memo: None,
            // It is in no database, so that nobody else may lease it.
            deadline: UnixMillis(u64::MAX),
            found: None,
            seq: u64::MAX,
        };
        let (class, rule) = (found.class, found.rule);
        let crew = Crew::History;
        Some(Job { lease, url: found.url, class, rule, crew, was_read: false, is_guess: true })
    }

    /// Takes note of the answer to a guess. False if it came to nothing: then it is none of the site's URLs, and its visit is not recorded.
    pub(super) async fn mind_guess(&mut self, finished: &Finished) -> Result<bool, CrawlError> {
        let visit = &finished.visit;
        if let Some(control) = self.guesses.control.take_if(|control| control.key == visit.key) {
            self.leases.committed(mark(&visit.key));
            self.mind_control(control, finished);
            self.tell_guesses();
            return Ok(false);
        }
        let id = self.guesses.form.as_ref().and_then(|form| id_in(form, &visit.key.path)).unwrap_or_default();
        let guess = match answer(finished, id, &self.guesses.shown) {
            Guess::Torrent if is_known_elsewhere(&self.site, finished).await? => Guess::Known,
            guess => guess,
        };
        self.guesses.take(&visit.key, guess, visit.at);
        self.mind_refusals();
        let counts = &self.guesses.counts;
        if self.guesses.control.is_none()
            && counts.asked.is_multiple_of(GUESSES_PER_CONTROL)
            && counts.asked < counts.drawn
        {
            // It may be refused: then those before must do.
            let _ = self.next_control(Vec::new());
        }
        let is_something = matches!(guess, Guess::Torrent | Guess::Known);
        if !is_something {
            self.leases.committed(mark(&visit.key));
        }
        self.tell_guesses();
        Ok(is_something)
    }

    fn mind_refusals(&mut self) {
        if self.guesses.are_over() {
            let why = format!("{} in a row had no answer", limits::GUESSES_UNANSWERED_MAX);
            self.guesses.counts.why = Some(why);
        }
    }

    /// Once it is known what the site shows where nothing is, the guesses are queued; till then the next number is asked for.
    fn mind_control(&mut self, control: Control, finished: &Finished) {
        let Control { host, id, waiting, .. } = control;
        if is_answered(finished) {
            self.guesses.shown.add(finished, id);
        } else {
            self.guesses.counts.count(Guess::Unanswered);
            self.guesses.unanswered += 1;
            self.mind_refusals();
        }
        self.guesses.last_control = Some((host, id));
        if waiting.is_empty() {
            return;
        }
        let waiting = match self.guesses.shown.is_enough() {
            true => waiting,
            false => match self.next_control(waiting) {
                Ok(()) => return,
                Err(waiting) => waiting,
            },
        };
        if self.guesses.shown.is_some() {
            waiting.into_iter().for_each(|job| self.hosts[host].queue(job, &self.site.rules));
        } else {
            self.drop_waiting(waiting);
        }
    }

    /// Asks for the number behind the last control; gives back what waits if that may not be asked for.
    fn next_control(&mut self, waiting: Vec<Job>) -> Result<(), Vec<Job>> {
        let last = self.guesses.last_control.filter(|_| !self.guesses.are_over());
        let next = last.and_then(|(host, id)| Some((host, id.checked_add(1)?, self.guesses.form.clone()?)));
        let job = next.and_then(|(host, id, form)| Some((host, id, self.guess(host, &form, id)?)));
        match job {
            Some((host, id, job)) if self.leases.take(&job.lease.key) => {
                self.guesses.control = Some(Control { host, id, key: job.lease.key.clone(), waiting });
                self.hosts[host].queue(job, &self.site.rules);
                Ok(())
            }
            _ => Err(waiting),
        }
    }

    fn drop_waiting(&mut self, waiting: Vec<Job>) {
        for job in waiting {
            self.leases.committed(mark(&job.lease.key));
        }
        let why = "a number where no torrent can be had no answer to compare with";
        self.guesses.counts.why.get_or_insert_with(|| why.to_owned());
    }

    /// True for a guess that is not to be asked for any more.
    pub(super) fn is_closed_to_guess(&self, robots: &Robots, job: &Job) -> bool {
        self.guesses.are_over() || !robots.allows(job.url.path()) || self.walls.stops(job.rule, &job.lease.key)
    }

    /// Drops a guess that is not to be asked for.
    pub(super) fn drop_guess(&mut self, job: &Job) {
        self.leases.committed(mark(&job.lease.key));
        let control = self.guesses.control.take_if(|control| control.key == job.lease.key);
        if let Some(control) = control.filter(|control| !control.waiting.is_empty()) {
            self.drop_waiting(control.waiting);
        }
        self.guesses.counts.why.get_or_insert_with(|| "robots.txt or a wall closes some of them".to_owned());
        self.tell_guesses();
    }

    fn tell_guesses(&self) {
        let counts = self.guesses.counts.clone();
        self.shared.progress.update(&self.site.rules.name, |progress| progress.guesses = Some(counts));
    }

    /// Before the loop ends: a crawl with more to ask for has not come to the guesses.
    pub(super) fn leave_guesses(&mut self) {
        if self.guesses.asks.take().is_some() {
            let why = "the crawl ended before, with more of the site to ask for";
            self.guesses.counts.why = Some(why.to_owned());
            self.tell_guesses();
        }
    }
}
