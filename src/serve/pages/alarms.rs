//! Alarms: open ones first, with their figures and what mends them; silence and notes by forms.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use gleaner_base::clock::UnixMillis;
use maud::{Markup, html};

use super::visit::{Form, Visit, part};
use super::{ACTING, words};
use crate::Outlet;
use crate::alarms::{Alarm, Answer, Figures, problem};
use crate::limits::SAVED_PAGE_SHOWN;
use crate::problem::Problem;

/// `/alarms`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let open: Vec<&Alarm> = visit.open_alarms().collect();
    let over: Vec<&Alarm> = visit.alarms.iter().filter(|alarm| alarm.over_ms.is_some()).collect();
    let body = html! {
        h1 { @if open.is_empty() { "No alarm is open" } @else { (words::many(open.len() as u64, "open alarm")) } }
        p.lead { "One cause is one alarm. It fires after it has lasted, and says when it is over." }
        div.fix.below { (visit.button("/alarms/test", "send a test", &[])) }
        div #open data-live { @for alarm in &open { (open_one(&visit, alarm)) } }
        section aria-labelledby="history" {
            header { h2 #history { "History" } span.soft { (words::count(over.len() as u64)) " that are over" } }
            @if over.is_empty() { p.empty { "None yet." } } @else {
                table.cards {
                    thead { tr { th { "what" } th { "site" } th.n { "since" } th.n { "lasted" } } }
                    tbody { @for alarm in over { (over_one(&visit, alarm)) } }
                }
            }
        }
    };
    Ok(visit.page("alarms", "alarm,sites", &body))
}

fn at(ms: i64) -> UnixMillis {
    UnixMillis(u64::try_from(ms).unwrap_or_default())
}

fn link(visit: &Visit, alarm: &Alarm) -> String {
    visit.to(&format!("/alarms/{}", part(&alarm.id)))
}

fn over_one(visit: &Visit, alarm: &Alarm) -> Markup {
    let lasted = alarm.over_ms.map(|over| at(over).since(at(alarm.since_ms)).as_secs_f64());
    html! {
        tr {
            td.main.wide { a href=(link(visit, alarm)) { (words::shown(&alarm.title)) } @if let Some(note) = &alarm.note { div.soft.small { (words::told(note)) } } }
            td data-l="site" { @if let Some(site) = &alarm.site { (words::shown(site)) } }
            td.n data-l="since" { (words::when_ms(alarm.since_ms, visit.now)) }
            td.n data-l="lasted" { @if let Some(lasted) = lasted { (words::span(lasted)) } }
        }
    }
}

/// An open alarm in short, for the overview.
pub fn strip(visit: &Visit, alarm: &Alarm) -> Markup {
    let is_silenced = alarm.silenced_until_ms.is_some_and(|until| at(until) > visit.now);
    html! {
        div class={ "strip" (if is_silenced { " waits" } else { "" }) } {
            p {
                @if let Some(site) = &alarm.site { b { (words::shown(site)) ": " } }
                a href=(link(visit, alarm)) { (words::shown(&alarm.title)) }
                span.soft { " · since " (words::when_ms(alarm.since_ms, visit.now)) @if is_silenced { " · silenced" } }
            }
            @if !alarm.todo.is_empty() { p { (with_code(&alarm.todo)) } }
        }
    }
}

/// A text whose keys and commands stand between backticks.
fn with_code(text: &str) -> Markup {
    let told = words::told(text);
    let parts: Vec<&str> = told.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (told) };
    }
    html! { @for (nth, part) in parts.into_iter().enumerate() { @if nth % 2 == 1 { code { (part) } } @else { (part) } } }
}

fn figure(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn figures(of: &Figures) -> Markup {
    let most = of.before.abs().max(of.now.abs());
    let width = |value: f64| if most > 0.0 { format!("{:.1}", value.abs() / most * 64.0) } else { "0".to_owned() };
    html! {
        dt { (words::shown(&of.of)) }
        dd.num {
            "before " (figure(of.before)) ", now " b { (figure(of.now)) }
            svg.share viewBox="0 0 64 4" aria-hidden="true" { rect.b-none width=(width(of.before)) height="4" {} rect.b-failed width=(width(of.now)) height="4" {} }
        }
    }
}

fn facts(visit: &Visit, alarm: &Alarm) -> Markup {
    let rule = alarm.site.as_ref().map(|site| visit.to(&format!("/rules/{}", part(site))));
    html! {
        dl {
            dt { "since" } dd { (words::when_ms(alarm.since_ms, visit.now)) span.soft { " (" (at(alarm.since_ms).rfc3339()) ")" } }
            @if let Some(over) = alarm.over_ms { dt { "over" } dd { (words::when_ms(over, visit.now)) } }
            @if let Some(site) = &alarm.site { dt { "site" } dd { a href=(visit.to(&format!("/sites/{}", part(site)))) { (words::shown(site)) } } }
            @if let Some(of) = &alarm.figures { (figures(of)) }
            @if let Some(place) = &alarm.rule { dt { "rule" } dd { @if let Some(rule) = &rule { a href=(rule) { (words::shown(place)) } } @else { (words::shown(place)) } } }
            dt { "what to do" } dd { (with_code(&alarm.todo)) }
            @if let Some(until) = alarm.silenced_until_ms { dt { "silenced until" } dd { (words::when_ms(until, visit.now)) } }
            @if let Some(note) = &alarm.note { dt { "note" } dd { (words::told(note)) } }
            @if alarm.page.is_some() { dt { "its page" } dd { a href={ (link(visit, alarm)) "#page" } { "as it was saved" } } }
        }
    }
}

fn answers(visit: &Visit, alarm: &Alarm) -> Markup {
    let to = format!("/alarms/{}/answer", part(&alarm.id));
    let silence = |label: &str, minutes: &str| visit.button(&to, label, &[("do", "silence"), ("minutes", minutes)]);
    html! {
        div.fix {
            (silence("silence 1 h", "60")) (silence("1 day", "1440")) (silence("until it is over", ""))
            (visit.form(&to, &html! {
                input type="hidden" name="do" value="note";
                input type="text" name="text" maxlength="500" aria-label="note" placeholder="note" value=(words::typed(alarm.note.as_deref().unwrap_or_default()));
                button { "keep the note" }
            }))
        }
    }
}

fn open_one(visit: &Visit, alarm: &Alarm) -> Markup {
    html! {
        section {
            header { h2 { span.dot.bad {} @if let Some(site) = &alarm.site { (words::shown(site)) ": " } a href=(link(visit, alarm)) { (words::shown(&alarm.title)) } } span.soft { (words::shown(&alarm.kind)) } }
            div.pad { (facts(visit, alarm)) (answers(visit, alarm)) }
        }
    }
}

/// `/alarms/ID`: one, with the page of the site as it was saved: as text, never as HTML.
pub async fn one(Path(id): Path<String>, visit: Visit) -> Result<Response, Problem> {
    let alarm = visit.alarms.iter().find(|alarm| alarm.id == id);
    let alarm = alarm.ok_or_else(|| Problem::not_found("there is no such alarm", "the page of alarms lists them"))?;
    let saved = match &alarm.page {
        Some(page) => (visit.outlet.inside.alarms.page)(page.clone()).await.map_err(|error| Problem::ours(&error))?,
        None => None,
    };
    let body = html! {
        h1.state { span class={ "dot " (if alarm.over_ms.is_none() { "bad" } else { "ok" }) } {} span { (words::shown(&alarm.title)) } }
        p.lead { (words::shown(&alarm.kind)) @if alarm.over_ms.is_some() { " · over" } @else { " · open" } }
        section { div.pad { (facts(&visit, alarm)) @if alarm.over_ms.is_none() { (answers(&visit, alarm)) } } }
        @if let Some(name) = &alarm.page {
            section aria-labelledby="page" {
                header { h2 #page { "The page as it was saved" } span.soft { (words::shown(name)) ", its source" } }
                div.pad { @match &saved {
                    Some(text) => { pre { (words::told(&text[..text.floor_char_boundary(SAVED_PAGE_SHOWN)])) } @if text.len() > SAVED_PAGE_SHOWN { p.soft { "The rest is left out." } } }
                    None => { p.soft { "It is not kept any more." } }
                } }
            }
        }
        p { a href=(visit.to("/alarms")) { "all alarms" } }
    };
    Ok(visit.page(&alarm.title, "", &body))
}

/// `POST /alarms/ID/answer`: silences it, or keeps a note.
pub async fn answer(
    State(outlet): State<Arc<Outlet>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Result<Response, Problem> {
    let (visit, form) = Form::read(&outlet, request, ACTING).await?;
    let (answer, done) = match form.get("do") {
        "silence" => (Answer::Silence { minutes: form.minutes("minutes")? }, "The alarm is silenced."),
        "note" => (Answer::Note { text: form.get("text").trim().to_owned() }, "The note is kept."),
        _ => return Err(Problem::wrong("nothing is wanted", "press one of the buttons of the page")),
    };
    (outlet.inside.alarms.answer)(id, answer).await.map_err(problem)?;
    Ok(visit.back(&form, done.to_owned()))
}

/// `POST /alarms/test`: a message that says it is a test.
pub async fn test(State(outlet): State<Arc<Outlet>>, request: Request<Body>) -> Result<Response, Problem> {
    let (visit, form) = Form::read(&outlet, request, ACTING).await?;
    (outlet.inside.alarms.answer)(String::new(), Answer::Test).await?;
    Ok(visit.back(&form, "A test was sent to all channels: the log says whether each took it.".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code() {
        let of = |text: &str| with_code(text).into_string();
        assert_eq!(of("correct `start` of <it>"), "correct <code>start</code> of &lt;it&gt;");
        assert_eq!(of("one ` alone"), "one ` alone");
    }
}
