//! Rule files with the checker's marks, a field to try a URL, and editing where the configuration allows it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::visit::{Form, Visit, part};
use super::{ACTING, words};
use crate::Outlet;
use crate::access::Caller;
use crate::desk::{Mark, NewText, NotSaved, RuleText, Verdict};
use crate::limits::TRIED_URL_BYTES_MAX;
use crate::problem::Problem;
use crate::tokens::Scope;

/// `/rules`.
pub async fn index(visit: Visit) -> Result<Response, Problem> {
    let files = (visit.outlet.inside.desk.rule_files)().await.map_err(|error| Problem::ours(&error))?;
    let body = html! {
        h1 { "Rules" }
        p.lead { "A file a site says what of it is fetched. The service reads a file again as soon as it changes." }
        section aria-label="rule files" {
            @if files.is_empty() { p.empty { "No rule file yet. " code { (visit.command("rules learn URL")) } " reads a site and writes its file." } } @else {
                table.cards {
                    thead { tr { th { "file" } th { "state" } th.n { "rules" } th.n { "faults" } } }
                    tbody { @for file in &files { tr {
                        td.main { span class={ "dot " (match file.is_enabled { None => "bad", Some(true) => "ok", Some(false) => "paused" }) } {} a.name href=(visit.to(&format!("/rules/{}", part(&file.name)))) { (words::shown(&file.name)) } }
                        td data-l="state" { @match file.is_enabled { None => "cannot be used", Some(true) => "enabled", Some(false) => "not enabled" } }
                        td.n data-l="rules" { (words::count(file.rules as u64)) }
                        td.n data-l="faults" { (words::count(file.faults as u64)) }
                    } } }
                }
            }
        }
    };
    Ok(visit.page("rules", "", &body))
}

async fn rule_file(outlet: &Outlet, name: &str) -> Result<RuleText, Problem> {
    let file = (outlet.inside.desk.rule_file)(name.to_owned()).await.map_err(|error| Problem::ours(&error))?;
    file.ok_or_else(|| Problem::not_found("there is no such rule file", "the page of rules lists them"))
}

/// `/rules/NAME`.
pub async fn page(Path(name): Path<String>, visit: Visit) -> Result<Response, Problem> {
    let file = rule_file(&visit.outlet, &name).await?;
    let mut asked = words::typed(visit.asked("url").trim());
    asked.truncate(asked.floor_char_boundary(TRIED_URL_BYTES_MAX));
    let verdict = match &*asked {
        "" => None,
        url => {
            let found = (visit.outlet.inside.desk.verdicts)(name.clone(), vec![url.to_owned()]).await;
            found.map_err(|error| Problem::ours(&error))?.into_iter().next()
        }
    };
    let is_edited = visit.asked("edit") == "1" && may_edit(&visit, &file);
    let body = html! {
        h1 { (words::shown(&name)) }
        p.lead { (words::shown(&file.path)) }
        div.rules {
            @if is_edited { (editor(&visit, &name, (&file.text, &file.sha256), &file.marks)) } @else { (text(&visit, &name, &file, verdict.as_ref())) }
            div { (trial(&visit, &name, &asked, verdict.as_ref())) (marks(&file.marks)) (versions(&visit, &name, &file)) }
        }
    };
    Ok(visit.page(&format!("{name} · rules"), "", &body))
}

fn may_edit(visit: &Visit, file: &RuleText) -> bool {
    visit.outlet.settings.edit_rules && has_shown_token(&visit.caller) && !file.has_secrets && is_plain(&file.text)
}

/// This machine alone is not enough to edit: everybody who works on it is admitted by that.
fn has_shown_token(caller: &Caller) -> bool {
    caller.links.token.as_ref().is_some_and(|token| token.scope >= Scope::Admin)
}

/// True for a text that a field shows and sends as it is.
fn is_plain(text: &str) -> bool {
    let text = text.replace("\r\n", "\n");
    words::typed(&text) == text
}

fn text(visit: &Visit, name: &str, file: &RuleText, verdict: Option<&Verdict>) -> Markup {
    let decides = verdict.and_then(|verdict| verdict.line);
    let class = |line: usize| match file.marks.iter().filter(|mark| mark.line == line).map(|mark| mark.is_fault).max() {
        Some(true) => "fault",
        Some(false) => "warn",
        None if decides == Some(line) => "hit",
        None => "",
    };
    html! {
        section aria-labelledby="file" {
            header {
                h2 #file { "File" }
                span.fix {
                    @if may_edit(visit, file) { a.button href=(visit.to(&format!("/rules/{}?edit=1", part(name)))) { "edit" } }
                    @else if !visit.outlet.settings.edit_rules { span.soft { "edited in its folder; here with " code { "[web] edit_rules = true" } } }
                    @else if !has_shown_token(&visit.caller) { span.soft { "edited here by who " a href=(visit.to("/login")) { "shows a token" } " of the scope " code { "admin" } } }
                    @else if file.has_secrets { span.soft { "it holds a secret: it is edited in its folder" } }
                    @else if !is_plain(&file.text) { span.soft { "it holds characters that hide or turn text: it is edited in its folder" } }
                }
            }
            ol.file.pad {
                @for (nth, line) in file.text.lines().enumerate() {
                    @let number = nth + 1;
                    li class=(class(number)) id={ "l" (number) } {
                        span.l { (number) }
                        span.t { (words::line(line)) }
                        @for mark in file.marks.iter().filter(|mark| mark.line == number) { span.m.small { (told(mark)) } }
                    }
                }
            }
        }
    }
}

fn told(mark: &Mark) -> Markup {
    html! {
        b { @if mark.is_fault { "fault: " } @else { "warning: " } } (words::shown(&mark.message))
        @if let Some(hint) = &mark.hint { span.soft { " — " (words::shown(hint)) } }
    }
}

fn trial(visit: &Visit, name: &str, asked: &str, verdict: Option<&Verdict>) -> Markup {
    html! {
        section aria-labelledby="try" {
            header { h2 #try { "Try a URL" } }
            div.pad {
                form.search method="get" action={ (visit.to(&format!("/rules/{}", part(name)))) "#try" } {
                    input type="search" name="url" value=(asked) placeholder="a URL, or a path of the site" aria-label="URL" data-search;
                    button.main { "try" }
                }
                @if let Some(verdict) = verdict {
                    p { span class={ "dot " (if verdict.is_taken { "ok" } else { "bad" }) } {} (words::shown(&verdict.what)) }
                    @if let Some(by) = &verdict.by { p { "decided by " @if let Some(line) = verdict.line { a href={ "#l" (line) } { (words::shown(by)) } } @else { (words::shown(by)) } } }
                }
                p.soft.small { "More of it: " code { (visit.command("rules explain URL")) } }
            }
        }
    }
}

fn marks(marks: &[Mark]) -> Markup {
    html! {
        section aria-labelledby="marks" {
            header { h2 #marks { "The checker" } span.soft { "as " code { "gleaner rules check" } } }
            @if marks.is_empty() { p.pad { span.dot.ok {} "no faults" } } @else {
                ul.pad { @for mark in marks { li { a href={ "#l" (mark.line) } { "line " (mark.line) ":" (mark.column) } " " (told(mark)) } } }
            }
        }
    }
}

fn versions(visit: &Visit, name: &str, file: &RuleText) -> Markup {
    html! {
        section aria-labelledby="versions" {
            header { h2 #versions { "Earlier versions" } }
            @if file.versions.is_empty() { p.empty { "None is kept." } } @else {
                ul.pad { @for (replaced, path) in file.versions.iter().take(20) { li { "replaced " (words::shown(replaced)) div.soft.small { (words::shown(path)) } } } }
                p.pad.fix { (super::status::command(&visit.command(&format!("rules revert {name}")))) }
            }
        }
    }
}

/// A field with a text; `of` is the SHA-256 of the file that it will replace.
fn editor(visit: &Visit, name: &str, (text, of): (&str, &str), marks: &[Mark]) -> Markup {
    html! {
        section aria-labelledby="edit" {
            header { h2 #edit { "Edit" } a href=(visit.to(&format!("/rules/{}", part(name)))) { "leave it" } }
            div.pad {
                @if !marks.is_empty() { ul { @for mark in marks { li { "line " (mark.line) ":" (mark.column) " " (told(mark)) } } } }
                (visit.form_whole(&format!("/rules/{}/save", part(name)), &html! {
                    input type="hidden" name="of" value=(of);
                    label for="text" class="soft small" { "It is written only if it passes the check; what it replaces is kept." }
                    textarea #text name="text" spellcheck="false" autocapitalize="off" { "\n" (words::typed(text)) }
                    p { button.main { "check and save" } }
                }))
            }
        }
    }
}

async fn without_secrets(outlet: &Outlet, name: &str) -> Result<RuleText, Problem> {
    let file = rule_file(outlet, name).await?;
    if file.has_secrets {
        return Err(Problem::new(StatusCode::CONFLICT, "this file holds a secret", "edit it in its folder"));
    }
    Ok(file)
}

/// The file as it is now, and beside it the text that was not saved.
async fn changed(visit: &Visit, name: &str, text: &str) -> Result<Response, Problem> {
    let file = without_secrets(&visit.outlet, name).await?;
    if !is_plain(&file.text) {
        let hint = "it holds characters that hide or turn text: edit it in its folder";
        return Err(Problem::new(StatusCode::CONFLICT, "the file has changed meanwhile", hint));
    }
    let body = html! {
        h1 { (words::shown(name)) }
        div.strip { p { b { "Not saved: " } "the file has changed since you opened it. Below is what it says now; put into it what you want to change." } }
        (editor(visit, name, (&file.text, &file.sha256), &file.marks))
        section aria-labelledby="yours" {
            header { h2 #yours { "Your text" } span.soft { "it was not saved" } }
            div.pad { textarea readonly aria-labelledby="yours" { "\n" (words::typed(text)) } }
        }
    };
    let mut response = visit.page(&format!("{name} · rules"), "", &body);
    *response.status_mut() = StatusCode::CONFLICT;
    Ok(response)
}

/// `POST /rules/NAME/save`: writes the file if it passes the check.
pub async fn save(
    State(outlet): State<Arc<Outlet>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<Response, Problem> {
    let (visit, form) = Form::read(&outlet, request, ACTING).await?;
    if !outlet.settings.edit_rules {
        let hint = "set `edit_rules = true` in [web] of gleaner.toml, or edit the file in its folder";
        return Err(Problem::new(StatusCode::FORBIDDEN, "rule files are not edited here", hint));
    }
    if !has_shown_token(&visit.caller) {
        let hint = "make one: gleaner token new NAME --scope admin; show it at /login, and edit again";
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "rule files are edited with a token, also on this machine",
            hint,
        ));
    }
    without_secrets(&outlet, &name).await?;
    // Forms send lines as the network does.
    let text = form.get("text").replace("\r\n", "\n");
    if !is_plain(&text) {
        return Err(Problem::wrong("the text has characters that hide or turn text", "edit the file in its folder"));
    }
    let of = form.get("of").to_owned();
    let new = NewText { name: name.clone(), text: text.clone(), of: of.clone(), by: visit.caller.named() };
    match (outlet.inside.desk.save)(new).await? {
        Ok(()) => Ok(visit.back(&form, format!("{name} is saved, and in force as soon as the service has read it."))),
        Err(NotSaved::Changed) => changed(&visit, &name, &text).await,
        Err(NotSaved::Refused(why)) => Err(Problem::new(StatusCode::CONFLICT, "the file was not written", why)),
        Err(NotSaved::Faults(found)) => {
            let body = html! {
                h1 { (words::shown(&name)) }
                div.strip { p { b { "Not saved: " } (words::many(found.len() as u64, "fault")) ". The file is as it was." } }
                (editor(&visit, &name, (&text, &of), &found))
            };
            let mut response = visit.page(&format!("{name} · rules"), "", &body);
            *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(response)
        }
    }
}
