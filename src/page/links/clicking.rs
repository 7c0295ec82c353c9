//! The scanner's part of [`super::super::clicks`]: forms, handlers and data attributes, as their tags come.

use std::borrow::Cow;
use std::ops::Range;

use super::{BR, BUTTON, FORM, INPUT, Link, SELECT, Scanner, TEXTAREA, click_kind, strip_url};
use crate::clicks::{self, Acts, Attributes, Control, Form, FormTag};
use crate::limits::LINKS_PER_PAGE_MAX;
use crate::tokens::{self, Name};

impl<'a> Scanner<'a> {
    /// A form and what it sends; `input`'s type also matters to the frameset state.
    pub(super) fn form_tag(&mut self, name: Name<'a>, at: usize) -> Option<usize> {
        let mut tag = FormTag::default();
        let mut acts = Acts::default();
        let is_form = name.key == FORM;
        let end = tokens::attributes(self.page, at, |name, value| {
            if Acts::wants(name) {
                acts.see(name, value);
            } else {
                tag.see(is_form, name, value);
            }
        })?;
        let type_ = tag.type_.take().map(|value| self.text(value));
        let control = Control::of(name.key == BUTTON, type_.as_deref());
        if name.key == INPUT && control != Control::Hidden {
            self.frames.start_tag(BR);
        }
        if is_form && self.form.is_none() {
            self.form = Some((Form::new(&self.form_attributes(tag)), self.found.links.len()));
        } else if !is_form && tag.owner.is_none() && self.form.is_some() {
            let attributes = self.form_attributes(tag);
            if let Some((form, _)) = &mut self.form {
                form.add(control, &attributes, self.encoding);
            }
        }
        self.acts(acts, false)?;
        Some(end.after)
    }

    fn form_attributes(&self, tag: FormTag) -> Attributes<'a> {
        let text = |value: Option<Range<usize>>| value.map(|value| self.text(value));
        Attributes {
            name: text(tag.name),
            value: text(tag.value),
            action: tag.action.map(|action| self.url(action)),
            method: text(tag.method),
            disabled: tag.disabled.is_some(),
        }
    }

    /// A tag that may be a field which a reader fills.
    #[inline]
    pub(super) fn asks_reader(&mut self, tag: u64) {
        if let Some((form, _)) = self.form.as_mut().filter(|_| matches!(tag, SELECT | TEXTAREA)) {
            form.ask();
        }
    }

    /// Puts the links of the open form where it began.
    pub(super) fn close_form(&mut self) {
        let Some((form, at)) = self.form.take() else { return };
        let links = form.links();
        if links.len() > LINKS_PER_PAGE_MAX - self.found.links.len() {
            self.found.truncated = true;
            return;
        }
        let links = links.into_iter().map(|href| Link { kind: click_kind(&href), href: Cow::Owned(href) });
        self.found.links.splice(at..at, links);
    }

    /// The links of a tag's handlers and of its data; `is_link` if the tag is one itself.
    pub(super) fn acts(&mut self, mut acts: Acts<'a>, is_link: bool) -> Option<()> {
        if !is_link && let Some(href) = acts.data().map(|data| self.url(data)).find(|href| !href.is_empty()) {
            let kind = click_kind(&href);
            self.push(href, kind)?;
        }
        for handler in acts.handlers() {
            let code = self.text(handler);
            self.targets(&code)?;
        }
        Some(())
    }

    /// The addresses that a script goes to.
    pub(super) fn targets(&mut self, code: &str) -> Option<()> {
        for target in clicks::targets(code) {
            let href = strip_url(&target).into_owned();
            let kind = click_kind(&href);
            self.push(Cow::Owned(href), kind)?;
        }
        Some(())
    }
}
