//! Pagination and other pages of a list, in written form.

use super::{WrittenPages, WrittenTurn};
use crate::shortcut::pages::{Last, NEAR, Pager};
use crate::shortcut::place::JsonPath;
use crate::shortcut::template::{Source, Template};
use crate::shortcut::turns::{Turn, Turning};

impl WrittenTurn {
    pub(super) fn turning(&self, fault: &mut impl FnMut(&str, String, &str)) -> Option<Turning> {
        let mut place = |key: &str, text: &Option<String>| {
            let read = JsonPath::parse(text.as_deref()?);
            read.map_err(|why| fault(&format!("page.{key}"), why, "write it as data.next")).ok()
        };
        let (more, total) = (place("more", &self.more), place("total", &self.total));
        let (cursor, next) = (place("cursor", &self.cursor), place("next", &self.next));
        let slot = self.parameter.as_deref().map(|name| match name.split('.').next() {
            Some("form" | "json" | "bare" | "query" | "header") if name.contains('.') => name.to_owned(),
            _ => format!("query.{name}"),
        });
        let turn = match (slot, self.step, cursor, next) {
            (None, None, None, Some(next)) => Turn::Next(next),
            (Some(slot), None, Some(at), None) => Turn::Cursor { slot, at },
            (Some(slot), step, None, None) if self.cursor.is_none() && self.next.is_none() => {
                Turn::Step { slot, step: step.unwrap_or(1), first: self.first.unwrap_or(1) }
            }
            // The misspelt value was already reported.
            _ if self.cursor.is_some() && place("cursor", &self.cursor).is_none() => return None,
            _ => {
                let hint = "write { parameter = \"page\", step = 1 }, { parameter = \"after\", cursor = \"data.next\" } or { next = \"links.next\" }";
                fault("page", "it does not say how the list is turned".to_owned(), hint);
                return None;
            }
        };
        Some(Turning { turn, more, total })
    }

    pub(super) fn of(turning: &Turning) -> Self {
        let name = |slot: &String| {
            Some(slot.strip_prefix("query.").filter(|name| !name.contains('.')).unwrap_or(slot).to_owned())
        };
        let ends = Self {
            more: turning.more.as_ref().map(JsonPath::to_string),
            total: turning.total.as_ref().map(JsonPath::to_string),
            ..Self::default()
        };
        match &turning.turn {
            Turn::Step { slot, step, first } => {
                Self { parameter: name(slot), step: Some(*step), first: Some(*first), ..ends }
            }
            Turn::Cursor { slot, at } => Self { parameter: name(slot), cursor: Some(at.to_string()), ..ends },
            Turn::Next(at) => Self { next: Some(at.to_string()), ..ends },
        }
    }
}

impl WrittenPages {
    pub(super) fn pager(&self, fault: &mut impl FnMut(&str, String, &str)) -> Option<Pager> {
        let template = Template::parse(&format!("{{{}}}", self.number)).ok();
        let at = template.as_ref().and_then(|template| template.sources().next().cloned());
        let at = at.filter(|at| matches!(at, Source::Query(_) | Source::Number(..)));
        if at.is_none() {
            fault(
                "pages.number",
                format!("`{}` is not a number in a page's address", self.number),
                "write it as @query.page or @path.1#0",
            );
        }
        let mut place = |key: &str, text: &Option<String>| {
            let read = JsonPath::parse(text.as_deref()?);
            read.map_err(|why| fault(&format!("pages.{key}"), why, "write it as data.total")).ok()
        };
        let (last, total, more) = (place("last", &self.last), place("total", &self.total), place("more", &self.more));
        let last = match (last, total, more, self.size) {
            (Some(last), None, None, None) => Last::Number(last),
            (None, Some(total), None, Some(size)) => Last::Total(total, size),
            (None, None, Some(more), None) => Last::More(more),
            (None, None, None, Some(size)) => Last::Full(size),
            _ => {
                fault(
                    "pages",
                    "it does not say how many pages there are".to_owned(),
                    "give one of last, total with size, more, and size alone",
                );
                return None;
            }
        };
        // The schema rejects values below 1 in a rule file; a note may come from anyone.
        let (first, step) = (self.first.unwrap_or(1), self.step.unwrap_or(1).max(1));
        let (near, ends) = (self.near.unwrap_or(NEAR).clamp(1, NEAR), self.ends.unwrap_or(true));
        Some(Pager { at: at?, first, step, near, ends, last })
    }

    pub(super) fn of(pager: &Pager) -> Self {
        let bare = Self { number: pager.at.to_string(), first: Some(pager.first), ..Self::default() };
        let bare = Self {
            step: (pager.step > 1).then_some(pager.step),
            near: (pager.near < NEAR).then_some(pager.near),
            ends: (!pager.ends).then_some(false),
            ..bare
        };
        match &pager.last {
            Last::Number(place) => Self { last: Some(place.to_string()), ..bare },
            Last::Total(place, size) => Self { total: Some(place.to_string()), size: Some(*size), ..bare },
            Last::More(place) => Self { more: Some(place.to_string()), ..bare },
            Last::Full(size) => Self { size: Some(*size), ..bare },
        }
    }
}
