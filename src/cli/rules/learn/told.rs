//! What a learning run ends with, for people and for programs.

use std::path::Path;

use serde_json::{Value, json};

use super::next;
use crate::cli::hints::{Hints, quoted};
use gleaner_base::url::CrawlUrl;
use gleaner_learn::{Estimate, Learned, Outcome};
use gleaner_rules::Class;

pub(super) struct Told<'a> {
    pub outcome: &'a Outcome,
    pub start: &'a CrawlUrl,
    pub file: Option<&'a Path>,
    /// Of the requests, those that an earlier run had sent.
    pub reused: u32,
}

impl Told<'_> {
    pub(super) fn json(&self) -> Value {
        let common = json!({
            "start": self.start.as_str(),
            "requests": self.outcome.requests,
            "reused": self.reused,
            "torrents_read": self.outcome.torrents.len(),
            "wants_login": self.outcome.wants_login,
        });
        let Value::Object(mut out) = common else { return Value::Null };
        let more = match &self.outcome.learned {
            Ok(learned) => self.of_rules(learned),
            Err(nothing) => json!({ "learned": false, "why": nothing.to_string(), "hint": nothing.hint() }),
        };
        out.extend(more.as_object().cloned().unwrap_or_default());
        Value::Object(out)
    }

    fn of_rules(&self, learned: &Learned) -> Value {
        let rules: Vec<Value> = learned
            .rules
            .iter()
            .map(|rule| {
                json!({
                    "class": rule.class.name(), "pattern": rule.pattern, "urls": rule.urls, "read": rule.read, "good": rule.good,
                    "trials": rule.promise.trials, "kept": rule.promise.kept, "confidence": rule.promise.confidence(),
                })
            })
            .collect();
        let (count, is_estimate) = match learned.estimate {
            Estimate::About(count) => (count, true),
            Estimate::AtLeast(count) => (count, false),
        };
        json!({
            "learned": true,
            "site": learned.name,
            "file": self.file.map(|file| file.display().to_string()),
            "rules": rules,
            "family": learned.family.as_ref().map(|family| &family.name),
            "family_lacks": learned.family.iter().flat_map(|family| &family.lacks).map(|class| class.name()).collect::<Vec<_>>(),
            "torrents": { "count": count, "at_least": !is_estimate },
            "lists": learned.lists.iter().map(|list| json!({
                "form": list.form, "series": list.series, "pages": list.pages, "read": list.read,
                "rows_per_page_max": list.per_page, "rows": list.rows, "torrents": list.torrents,
            })).collect::<Vec<_>>(),
            "lean": learned.lean,
            "dropped": learned.dropped,
            "notes": learned.notes,
            "questions": learned.questions,
        })
    }

    pub(super) fn show(&self, hints: &Hints) -> anyhow::Result<()> {
        let learned = match &self.outcome.learned {
            Ok(learned) => learned,
            Err(nothing) => {
                errln!("error: {}: {nothing}, after {} requests", self.start, self.outcome.requests);
                errln!("hint: {}", next(nothing, self.start, hints));
                return Ok(());
            }
        };
        for rule in &learned.rules {
            let promise = rule.promise;
            let tried = if promise.trials > 0 {
                format!(", {} of {} fresh ones too", promise.kept, promise.trials)
            } else {
                String::new()
            };
            let kept = match rule.class {
                // Its pages lead to lists: that is why it was chosen.
                Class::Page => format!("{} read", rule.read),
                _ => format!("{} of {} read kept it", rule.good, rule.read),
            };
            outln!("{:<9} {}\n          {} URLs, {kept}{tried}", rule.class.name(), rule.pattern, rule.urls);
        }
        if let Some(family) = &learned.family {
            outln!("these are the rules of {}, which the file extends", family.name);
            for class in &family.lacks {
                outln!("but for its {} rules, which do not fit this site: please report it", class.name());
            }
        }
        match learned.estimate {
            Estimate::About(count) => outln!("the site has about {count} torrents, by its lists"),
            Estimate::AtLeast(count) => {
                outln!("the site has at least {count} torrents: its lists do not say how many pages they have")
            }
        }
        if let Some(lean) = &learned.lean {
            outln!("details need not be fetched: {lean} (--lean leaves them out)");
        }
        for line in learned.notes.iter().chain(&learned.questions) {
            outln!("- {line}");
        }
        if let Some(file) = self.file {
            let reused = match self.reused {
                0 => String::new(),
                count => format!(", {count} of them of an earlier run"),
            };
            outln!("wrote {} with {} requests{reused}", file.display(), self.outcome.requests);
            outln!("next: read it, then run: {}", hints.command(&format!("rules check {}", quoted(file))));
        }
        Ok(())
    }
}
