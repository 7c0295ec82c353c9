//! Finds the page with the login form: the one that the rule file names, or the first with a form among the start page, its
//! login links, and the frames of each; if none has one, a page whose scripts build it (`scripted`).

use super::steps::FirstStep;
use super::{Page, Pin, Run, Step, ends};
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::fields::{asks_for_user_alone, roles};
use gleaner_login::secret::{quoted, told_url, told_words};
use gleaner_login::verdict::{Judged, Verdict};
use gleaner_login::view::speaks_of_login;

/// Results of the search other than a usable form, reported if nothing better is found.
#[derive(Default)]
pub(super) struct Met {
    /// An address off the site's hosts at which users log in.
    elsewhere: Option<CrawlUrl>,
    /// A page whose login form asks for no password.
    without_password: Option<Page>,
    /// A page whose form asks only for the user's name.
    first_step: Option<(Page, FirstStep)>,
    tried: Vec<CrawlUrl>,
    /// True once a page was seen that differs from the first and is no refusal; and once one equals it.
    has_pages: bool,
    repeats: bool,
    /// A redirect loop in place of a linked page, as a verdict.
    redirect_loop: Option<Judged>,
    /// Pages without a login form whose scripts may build one, at most `limits::LOGIN_RENDERED_MAX`.
    pub(super) scripted: Vec<Page>,
}

impl Run<'_> {
    pub(super) async fn find_form_page(&mut self) -> Step<Page> {
        let mut met = Met::default();
        if let Some(url) = &self.means.rules.page {
            let page = self.page(url.clone(), false).await?;
            self.say_chosen(format!(
                "page of the form: {} (status {}), named in the rule file",
                told(&page),
                page.status
            ));
            if page.asks_by_header().is_some() {
                return Ok(page);
            }
            // The index of a pinned form refers to the page itself.
            if let Some(place) = self.means.rules.form {
                let form = page.view.forms.get(place);
                let user = form.and_then(|form| asks_for_user_alone(form, true));
                self.first_step = user.map(|user| FirstStep { form: place, user });
                return Ok(page);
            }
            if self.has_form(&page, &mut met) {
                return Ok(page);
            }
            return match self.in_frames(&page, &mut met).await? {
                Some(framed) => Ok(framed),
                None => self.not_found(met, page).await,
            };
        }
        let Some(start) = self.site.rules.start.first().cloned() else {
            return Err(ends(Verdict::NoForm, "the site has no start page"));
        };
        let page = self.page(start, false).await?;
        if self.has_form(&page, &mut met) {
            self.say_chosen(format!("page of the form: {}, the start page", told(&page)));
            return Ok(page);
        }
        if page.asks_by_header().is_some() {
            return Ok(page);
        }
        if let Some(framed) = self.in_frames(&page, &mut met).await? {
            return Ok(framed);
        }
        let mut tried = 0;
        for url in self.addresses(&page, &page.view.log_in_links) {
            if tried >= limits::LOGIN_LINKS_MAX {
                break;
            }
            let Some(linked) = self.look(url, &page, &mut met).await? else { continue };
            tried += 1;
            let repeats = linked.view.forms.is_empty() && linked.view.said == page.view.said;
            (met.has_pages, met.repeats) = (met.has_pages || linked.status < 400 && !repeats, met.repeats || repeats);
            if self.has_form(&linked, &mut met) {
                self.say_chosen(format!("page of the form: {}, linked from the start page", told(&linked)));
                return Ok(linked);
            }
            if let Some(framed) = self.in_frames(&linked, &mut met).await? {
                return Ok(framed);
            }
            if linked.asks_by_header().is_some() {
                return Ok(linked);
            }
            self.say(format!("no login form at {}", told(&linked)));
        }
        self.not_found(met, page).await
    }

    /// The first frame of a page with a login form.
    async fn in_frames(&mut self, page: &Page, met: &mut Met) -> Step<Option<Page>> {
        let mut tried = 0;
        for url in self.addresses(page, &page.view.frames) {
            if tried >= limits::LOGIN_FRAMES_MAX {
                break;
            }
            // Frames of other sites are advertisements, unless their address names accounts.
            if !self.site.rules.owns_host(url.authority()) && !is_about_accounts(&url) {
                continue;
            }
            let Some(framed) = self.look(url, page, met).await? else { continue };
            tried += 1;
            if self.has_form(&framed, met) {
                self.say_chosen(format!("page of the form: {}, a frame of {}", told(&framed), told(page)));
                return Ok(Some(framed));
            }
        }
        Ok(None)
    }

    /// Requests a linked page; None if it is not the site's, was requested before, or is not available.
    pub(super) async fn look(&mut self, url: CrawlUrl, from: &Page, met: &mut Met) -> Step<Option<Page>> {
        if !self.site.rules.owns_host(url.authority()) {
            met.elsewhere.get_or_insert(url);
            return Ok(None);
        }
        if met.tried.contains(&url) || url == from.url {
            return Ok(None);
        }
        met.tried.push(url.clone());
        match self.page(url.clone(), from.is_over_tls()).await {
            Ok(page) => Ok(Some(page)),
            // One of several links may lead to another site's accounts, or nowhere: the next may be the right one.
            Err(judged) => {
                self.say(format!("{}: {}", told_url(url.as_str()), judged.evidence.join("; ")));
                match judged.verdict {
                    Verdict::OtherSite => drop(met.elsewhere.get_or_insert(self.last_refused.take().unwrap_or(url))),
                    Verdict::RedirectLoop => drop(met.redirect_loop.get_or_insert(judged)),
                    _ => {}
                }
                Ok(None)
            }
        }
    }

    /// True if the page has a login form that asks for a password.
    pub(super) fn has_form(&self, page: &Page, met: &mut Met) -> bool {
        if let Some(step) = page.first_step() {
            met.first_step.get_or_insert_with(|| (page.clone(), step));
        }
        let may_build = |met: &Met| page.markup.is_some() && met.scripted.len() < limits::LOGIN_RENDERED_MAX as usize;
        let Some(at) = page.login_form() else {
            if may_build(met) {
                met.scripted.push(page.clone());
            }
            return false;
        };
        let has_password = roles(&page.view.forms[at]).password.is_some();
        // A name pinned in the rule file may belong to a field that the classifier does not recognise as a password's.
        let pinned = self.means.rules.password_field.as_ref();
        let is_pinned_here = |name: &str| page.view.forms[at].controls.iter().any(|control| &*control.name == name);
        if !has_password && !pinned.is_some_and(|name| is_pinned_here(name)) {
            met.without_password.get_or_insert_with(|| page.clone());
            if may_build(met) {
                met.scripted.push(page.clone());
            }
            return false;
        }
        true
    }

    /// Addresses that a page names, each once, in order.
    pub(super) fn addresses(&self, page: &Page, references: &[Box<str>]) -> Vec<CrawlUrl> {
        let Some(base) = page.url.to_url().ok().map(|own| page.view.base(&own)) else { return Vec::new() };
        let mut found: Vec<CrawlUrl> = Vec::new();
        for url in references.iter().filter_map(|reference| CrawlUrl::exact(&base.join(reference).ok()?)) {
            if found.len() < limits::LOGIN_ADDRESSES_MAX && !found.contains(&url) {
                found.push(url);
            }
        }
        found
    }

    /// True if a form is sent to the site's own hosts.
    fn is_sent_to_us(&self, page: &Page, form: usize) -> bool {
        let form = &page.view.forms[form];
        let submit = form.submit().and_then(|at| form.controls[at].formaction.as_deref());
        let target =
            page.url.to_url().ok().and_then(|own| page.view.base(&own).join(submit.unwrap_or(&form.action)).ok());
        target.as_ref().and_then(CrawlUrl::exact).is_some_and(|url| self.site.rules.owns_host(url.authority()))
    }

    /// Explains why no page has a form, by the best of what was found.
    /// A form that asks only for the user's name is used if there is no better one.
    async fn not_found(&mut self, mut met: Met, start: Page) -> Step<Page> {
        if let Some((page, step)) = met.first_step.take().filter(|(page, step)| self.is_sent_to_us(page, step.form)) {
            self.say_chosen(format!("page of the form: {}, which asks for no password yet", told(&page)));
            self.first_step = Some(step);
            return Ok(page);
        }
        if let Some(page) = self.in_scripts(&mut met).await? {
            return Ok(page);
        }
        if let Some(probe) = self.means.rules.probe.clone()
            && let Some(page) = self.look(probe, &start, &mut met).await?.filter(|page| page.asks_by_header().is_some())
        {
            return Ok(page);
        }
        self.report.pinned = self.means.rules.page.as_ref().map(|_| Pin::Page);
        if let Some(url) = met.elsewhere {
            return Err(ends(
                Verdict::OtherSite,
                format!("the login leads to {}{}", self.named(&url), self.hosts_line(&url)),
            ));
        }
        if let Some(page) = met.without_password {
            let at = page.login_form().unwrap_or_default();
            let action = page.view.forms.get(at).map_or("", |form| &*form.action);
            let host = page.url.to_url().ok().and_then(|own| page.view.base(&own).join(action).ok());
            let host =
                host.as_ref().and_then(CrawlUrl::exact).filter(|url| !self.site.rules.owns_host(url.authority()));
            return Err(match host {
                Some(url) => {
                    ends(Verdict::OtherSite, format!("the form of {} is sent to {}", told(&page), self.named(&url)))
                }
                None => ends(
                    Verdict::NoForm,
                    format!(
                        "the form of {} asks neither for a password nor for the user's name alone: it needs another kind of login",
                        told(&page)
                    ),
                ),
            });
        }
        if let Some(judged) = met.redirect_loop {
            return Err(judged);
        }
        let others = met.tried.len();
        let is_empty = {
            let view = &start.view;
            view.forms.is_empty() && view.said.trim().is_empty() && view.frames.is_empty() && start.markup.is_none()
        };
        let is_one = met.repeats && start.view.forms.is_empty();
        // A page named in the rule file that does not exist has moved to another address.
        let is_refused =
            start.status >= 400 && (self.means.rules.page.is_none() || matches!(start.status, 401..=403 | 451));
        if !met.has_pages && (is_refused || is_empty || is_one) {
            self.report.pinned = Some(Pin::Site);
            let says = start
                .view
                .first_message()
                .map(|says| format!(" and says {}", quoted(&told_words(&self.teller.hidden(says)))));
            let says = says.unwrap_or_default();
            let more = if others > 0 { ", and so do the pages that it links to" } else { "" };
            return Err(ends(Verdict::NoForm, format!("{} answers {}{says}{more}", told(&start), start.status)));
        }
        Err(ends(
            Verdict::NoForm,
            format!("neither {} nor {others} pages that it links to have a login form", told(&start)),
        ))
    }
}

fn told(page: &Page) -> String {
    told_url(page.url.as_str())
}

/// True for an address of another site that names accounts.
fn is_about_accounts(url: &CrawlUrl) -> bool {
    let address = url.as_str().to_ascii_lowercase();
    speaks_of_login(&address) || ["auth", "sso", "account", "openid"].iter().any(|word| address.contains(word))
}
