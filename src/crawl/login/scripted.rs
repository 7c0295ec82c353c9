//! Login pages that need their scripts: those whose form is built by them, and those whose form is sent by them. Such a page is loaded in
//! a separate render child and stays open there, so that the chosen fields are filled in where they were found.
//!
//! A page is read without its scripts first, and a form that a browser would send unchanged is sent that way: `login::scripts` has the
//! signs of the others. No secret goes to the child before a login form was chosen.

use super::find::Met;
use super::script_gate::ScriptGate;
use super::{Page, Run, Step, ends};
use crate::denial::is_topic;
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::fill::FillError;
use gleaner_login::form::Form;
use gleaner_login::scripts;
use gleaner_login::secret::told_url;
use gleaner_login::verdict::{Verdict, asks_to_log_in};
use gleaner_login::view::{View, speaks_of_login};
use gleaner_net::politeness::Answered;
use gleaner_render::children::HeldPage;
use gleaner_render::wire::{Outcome, Page as Document};
use gleaner_rules::RenderWhen;

/// A page whose scripts have run.
pub(super) struct Opened {
    pub page: Page,
    pub held: HeldPage,
    /// Targets of its scripts' navigations.
    leads_to: Vec<CrawlUrl>,
}

/// State of the scripts of a login's pages.
#[derive(Default)]
pub(super) struct Scripts {
    /// The page whose form is to be sent, open in its child; None if it needs no scripts.
    pub(super) live: Option<HeldPage>,
    /// The same page as the server sent it.
    pub(super) unrendered: Option<Page>,
    /// Number of pages that were rendered.
    rendered: u32,
    /// What the site has sent to the scripts before the password was typed, at most `limits::LOGIN_SENT_BYTES_MAX` bytes.
    sent_before: Vec<Box<str>>,
    /// Number of script errors while the last page was loaded: these are normal for it.
    pub(super) faults: usize,
}

impl Scripts {
    /// Records what the site has sent before the password is typed.
    pub(super) fn takes_in(&mut self, text: &str) {
        let held: usize = self.sent_before.iter().map(|text| text.len()).sum();
        if held + text.len() <= limits::LOGIN_SENT_BYTES_MAX {
            self.sent_before.push(text.into());
        }
    }

    /// What the site has sent before the password was typed.
    pub(super) fn sent_before(&self) -> impl Iterator<Item = &str> {
        self.sent_before.iter().map(|text| &**text)
    }
}

impl<'a> Run<'a> {
    /// True if pages of this login may be rendered at all.
    pub(super) fn may_render(&self) -> bool {
        self.site.scripts.renderer.is_some() && self.site.rules.render_login() != RenderWhen::Never
    }

    /// Runs a page's scripts; returns the reason if that fails.
    ///
    /// # Errors
    /// A held-back request ends the login: a page without its scripts would be mistaken for another.
    pub(super) async fn open(&mut self, page: &Page) -> Step<Result<Opened, String>> {
        let (Some(children), Some(markup)) = (self.site.scripts.renderer.as_deref(), page.markup.as_deref()) else {
            return Ok(Err("it has no scripts, or running them is disabled".to_owned()));
        };
        if self.scripts.rendered >= limits::LOGIN_RENDERED_MAX {
            return Ok(Err(format!("{} pages of this login have been rendered already", self.scripts.rendered)));
        }
        self.scripts.rendered += 1;
        // Between two requests a login holds no slot.
        self.patience.rest();
        let now = i64::try_from(self.site.clock.now().0).unwrap_or(i64::MAX);
        let cookies = self.site.transport.script_cookies(&page.url);
        self.scripts.takes_in(markup);
        let sent = cookies.join("\n");
        self.scripts.takes_in(&percent_encoding::percent_decode_str(&sent).decode_utf8_lossy());
        self.scripts.takes_in(&sent);
        let document = Document { cookies, ..Document::at(page.url.as_str(), now) }.with_markup(markup);
        let gate = ScriptGate::new(self, &page.url, false);
        let held = children.hold(&document, &gate).await;
        let heard = gate.into_heard();
        if let Some(kept_back) = heard.kept_back {
            return Err(kept_back);
        }
        if let Some(host) = heard.scripts_elsewhere {
            self.say(format!("scripts of {host} are not run: it is not one of the rule file's `hosts`"));
        }
        let (outcome, held) = match held {
            Ok(held) => held,
            Err(error) => return Ok(Err(error.to_string())),
        };
        self.tell_faults(&outcome, 0);
        self.scripts.faults = outcome.errors.len();
        let leads_to = outcome.navigations.iter().filter(|one| one.method == "GET");
        let leads_to = leads_to.filter_map(|one| CrawlUrl::exact(&url::Url::parse(&one.url).ok()?)).collect();
        Ok(self.read_document(page, outcome.html).await.map(|page| Opened { page, held, leads_to }))
    }

    /// A page after its scripts have run.
    pub(super) async fn read_document(&self, page: &Page, html: String) -> Result<Page, String> {
        let turn = self.site.memory.parse().await;
        let reading = tokio::task::spawn_blocking(move || View::of(&html));
        let view = reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        drop(turn);
        let view =
            view.map_err(|error| error.to_string())?.without_topics(|link| is_topic(&self.site.rules, &page.url, link));
        Ok(Page { view, markup: None, waits: false, ..page.clone() })
    }

    /// Logs errors of scripts, without the secrets that they may know.
    pub(super) fn tell_faults(&self, outcome: &Outcome, from: usize) {
        let site = &self.site.rules.name;
        for error in outcome.errors.iter().skip(from) {
            let (message, source, line) =
                (self.teller.hidden(&error.message), self.teller.hidden(&told_url(&error.source)), error.line);
            tracing::debug!(%site, message, source, line, "a script of the login page failed");
        }
    }

    /// The page with its scripts run, if they send its form; unchanged if not, or if they cannot be run.
    pub(super) async fn with_scripts(&mut self, page: Page) -> Step<Page> {
        let Some(why) = self.needs_scripts(&page) else { return Ok(page) };
        let opened = match self.open(&page).await? {
            Ok(opened) if self.chosen_form(&opened.page).is_some() => opened,
            Ok(_) => {
                self.may_stand(&page, "is gone once they have run")?;
                self.say(format!("its form needs scripts ({why}), and is gone once they have run"));
                return Ok(page);
            }
            Err(error) => {
                self.may_stand(&page, &format!("cannot be sent without them: {error}"))?;
                self.say(format!("its form needs scripts ({why}), which did not finish: {error}"));
                return Ok(page);
            }
        };
        self.say(format!("its form needs scripts ({why}): rendered, {}", forms(&opened.page)));
        self.scripts.live = Some(opened.held);
        self.scripts.unrendered = Some(Page { markup: None, ..page });
        Ok(opened.page)
    }

    /// Whether a page's form may be sent without its scripts: never if its handler does work that nothing can replace.
    fn may_stand(&self, page: &Page, why: &str) -> Step<()> {
        match self.chosen_form(page) {
            Some(form) if !scripts::may_go_without(form) => {
                Err(self.never_sent(format!("its form, which needs its handler, {why}")))
            }
            _ => Ok(()),
        }
    }

    /// The form of a page that would be filled in.
    fn chosen_form<'p>(&self, page: &'p Page) -> Option<&'p Form> {
        let at = match self.means.rules.form {
            _ if self.first_step.is_some() => page.password_form(),
            Some(at) => Some(at),
            None => page.login_form(),
        };
        page.view.forms.get(at?)
    }

    /// Why a page's form is to be sent by its scripts; None if it is sent unchanged.
    fn needs_scripts(&self, page: &Page) -> Option<String> {
        let markup = page.markup.as_deref()?;
        let Some(form) = self.chosen_form(page) else {
            let pinned = self.means.rules.form.filter(|_| self.first_step.is_none())?;
            return Some(format!("form {} does not exist without them", pinned + 1));
        };
        if self.site.rules.render_login() == RenderWhen::Always {
            return Some("the rule file says so".to_owned());
        }
        match self.submission(page, form, &[]) {
            Err(Ok(error)) if error.is_scripts() || error == FillError::SecretInUrl => Some(error.to_string()),
            Err(_) => None,
            Ok(_) => scripts::hashes(form, markup).map(ToOwned::to_owned),
        }
    }

    /// The first page with a login form among those that were read without one and have scripts: those whose address names a login
    /// first, then those that their scripts lead to.
    pub(super) async fn in_scripts(&mut self, met: &mut Met) -> Step<Option<Page>> {
        let mut pages = std::mem::take(&mut met.scripted);
        pages.sort_by_key(|page| !speaks_of_login(page.url.path()));
        let mut rest = std::collections::VecDeque::from(pages);
        while let Some(page) = rest.pop_front() {
            // Two are reserved: for its form, if scripts send it, and for its proof.
            if self.scripts.rendered + 2 >= limits::LOGIN_RENDERED_MAX {
                break;
            }
            let address = told_url(page.url.as_str());
            let opened = match self.open(&page).await? {
                Ok(opened) => opened,
                Err(error) => {
                    self.say(format!("{address} has no form without its scripts, which did not finish: {error}"));
                    continue;
                }
            };
            self.say(format!("{address} has no form without its scripts: rendered, {}", forms(&opened.page)));
            if self.has_form(&opened.page, met) {
                self.scripts.live = Some(opened.held);
                self.say_chosen(format!("page of the form: {address}, built by its scripts"));
                return Ok(Some(opened.page));
            }
            drop(opened.held);
            let links = self.addresses(&opened.page, &opened.page.view.log_in_links);
            for url in opened.leads_to.into_iter().chain(links).take(limits::LOGIN_LINKS_MAX) {
                let Some(linked) = self.look(url, &opened.page, met).await? else { continue };
                if self.has_form(&linked, met) {
                    self.say_chosen(format!(
                        "page of the form: {}, which scripts lead to",
                        told_url(linked.url.as_str())
                    ));
                    return Ok(Some(linked));
                }
            }
            // Pages found just now come next: they are nearer.
            std::mem::take(&mut met.scripted).into_iter().rev().for_each(|page| rest.push_front(page));
        }
        Ok(None)
    }

    /// The page as a reader sees it: with its scripts run if it shows nothing without them, or a login form.
    ///
    /// # Errors
    /// If they did not run to their end: such a page proves nothing either way, and `trouble` is set.
    pub(super) async fn shown(&mut self, page: Page) -> Step<Page> {
        // What it shows without them is enough, even if it shows that nobody is logged in.
        let says = page.view.log_out().is_some()
            || !page.view.log_in_links.is_empty()
            || !(200..300).contains(&page.status)
            || super::proof::names(&page.view.text, &self.means.rules.user.to_lowercase());
        // A form in the head of each page may be there until scripts remove it for members.
        let has_form = page.login_form().is_some();
        let may_change = if has_form { asks_to_log_in(&page.view).is_none() } else { page.waits };
        if !may_change || page.markup.is_none() || says {
            return Ok(page);
        }
        Ok(match self.open(&page).await? {
            Ok(opened) => {
                let shows = if has_form { "a login form" } else { "nothing" };
                self.say(format!("{} shows {shows} without its scripts: rendered", told_url(page.url.as_str())));
                opened.page
            }
            Err(error) if has_form => {
                self.say(format!("its scripts did not finish: {error}"));
                page
            }
            Err(error) => {
                self.report.trouble = Some(Answered::Reached);
                let why = format!("{}: its scripts did not finish: {error}", told_url(page.url.as_str()));
                self.say(why.clone());
                return Err(ends(Verdict::Unknown, why));
            }
        })
    }

    /// Why a login that scripts were to send ended before it was sent.
    pub(super) fn never_sent(&self, why: impl Into<String>) -> super::Judged {
        ends(Verdict::Script, why)
    }
}

fn forms(page: &Page) -> String {
    match page.view.forms.len() {
        1 => "1 form".to_owned(),
        count => format!("{count} forms"),
    }
}
