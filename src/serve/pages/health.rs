//! What `gleaner doctor` finds on this machine, each finding with its fix, and the figures that a machine's operator looks for.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use maud::{Markup, html};

use super::status::command;
use super::visit::{Form, Visit};
use super::{ACTING, words};
use crate::Outlet;
use crate::desk::{Check, Examined};
use crate::limits::FINDINGS_SHOWN;
use crate::metrics::Family;
use crate::problem::Problem;

/// `/health`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let examined = (visit.outlet.inside.desk.examined)();
    let families = (visit.outlet.inside.metrics)().await.map_err(|error| Problem::ours(&error))?;
    let body = html! {
        div #state data-live {
            h1.state { span class={ "dot " (mood(&examined)) } {} span { (sentence(&examined)) } }
            p.lead {
                @if let Some(at) = examined.at { "Checked " (words::when(at, visit.now)) ". " }
                @if examined.is_running && examined.at.is_some() { "It is being checked anew. " }
                "Nothing is asked beyond this machine; what sites, names and certificates say: "
                (command(&visit.command("doctor")))
            }
            div.fix.below { (visit.button("/health/examine", "check now", &[])) }
            (tiles(&visit, &families))
            @if examined.is_hanging {
                div.strip { p { b { "The last check still hangs, although it was killed: " } "a disk or a network folder does not answer. Nothing is checked until it does." } }
            }
            @if let Some(why) = &examined.failed { div.strip { p { b { "The check itself has failed: " } (words::told(why)) } } }
            (checks(&examined.checks))
        }
    };
    Ok(visit.page("health", "sites", &body))
}

/// `POST /health/examine`.
pub async fn examine(State(outlet): State<Arc<Outlet>>, request: Request<Body>) -> Result<Response, Problem> {
    let (visit, form) = Form::read(&outlet, request, ACTING).await?;
    let told = match (outlet.inside.desk.examine)() {
        true => "It is being checked: load the page again in a moment.",
        false => "Nothing was begun: the last check has not ended.",
    };
    Ok(visit.back(&form, told.to_owned()))
}

fn findings(examined: &Examined) -> u64 {
    examined.checks.iter().map(|check| check.findings.len() as u64).sum()
}

fn mood(examined: &Examined) -> &'static str {
    match examined {
        Examined { failed: Some(_), .. } => "bad",
        _ if findings(examined) > 0 => "bad",
        Examined { checks, .. } if checks.is_empty() => "paused",
        _ => "ok",
    }
}

fn sentence(examined: &Examined) -> String {
    match (findings(examined), examined.is_running) {
        _ if examined.failed.is_some() => "This machine could not be checked.".to_owned(),
        (0, true) if examined.checks.is_empty() => "This machine is being checked.".to_owned(),
        (0, _) if examined.checks.is_empty() => "This machine was not checked yet.".to_owned(),
        (0, _) => "Nothing is wrong with this machine.".to_owned(),
        (count, _) => format!("{}: below stands what to do.", words::many(count, "finding")),
    }
}

fn tiles(visit: &Visit, families: &[Family]) -> Markup {
    let value = |name: &str, label: &str| {
        families.iter().find(|family| family.name() == name).and_then(|family| family.value(label))
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of bytes")]
    let bytes =
        |name: &str, label: &str| value(name, label).map_or_else(|| "–".to_owned(), |of| words::bytes(of as u64));
    let mean = |name: &str| {
        let family = families.iter().find(|family| family.name() == name)?;
        family.mean().map(|seconds| format!("{:.0} ms", seconds * 1_000.0))
    };
    let behind = (visit.outlet.finder)().map(|search| search.torrents());
    html! {
        div.tiles {
            div { b { (bytes("gleaner_disk_free_bytes", "")) } span { "free of " (bytes("gleaner_disk_size_bytes", "")) } }
            div { b { (bytes("gleaner_store_bytes", "crawldb")) } span { "database" } }
            div { b { (bytes("gleaner_store_bytes", "archive")) } span { "archived files" } }
            div { b { (bytes("gleaner_store_bytes", "search")) } span { "search index" @if behind.is_none() { ", being made" } } }
            div { b { (bytes("process_resident_memory_bytes", "")) } span { "memory" } }
            div { b { (mean("gleaner_store_commit_duration_seconds").unwrap_or_else(|| "–".to_owned())) } span { "a commit, on average" } }
            div { b { (mean("gleaner_loop_lag_seconds").unwrap_or_else(|| "–".to_owned())) } span { "lag of the loop" } }
        }
    }
}

fn checks(checks: &[Check]) -> Markup {
    html! {
        @if !checks.is_empty() {
            section aria-labelledby="checks" {
                header { h2 #checks { "Checks" } }
                table.cards {
                    thead { tr { th { "check" } th { "what is wrong, and what to do" } } }
                    tbody { @for check in checks { tr {
                        td.main.nowrap { span class={ "dot " (match &*check.state { "well" => "ok", "findings" => "bad", _ => "paused" }) } {} (words::shown(&check.name)) }
                        td.main.wide {
                            @for finding in check.findings.iter().take(FINDINGS_SHOWN) {
                                p { b { (words::shown(&finding.subject)) } ": " (words::told(&finding.what)) }
                                p.soft { "fix: " (words::told(&finding.fix)) }
                            }
                            @if check.findings.len() > FINDINGS_SHOWN { p.soft { "and " (check.findings.len() - FINDINGS_SHOWN) " more: the command lists all" } }
                            @if check.findings.is_empty() { span.soft { @if check.state == "skipped" { "not on this page: it asks others" } @else { "well" } } }
                        }
                    } } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Finding;

    #[test]
    fn the_sentence_says_what_is_known() {
        let mut examined = Examined::default();
        assert_eq!(sentence(&examined), "This machine was not checked yet.");
        examined.is_running = true;
        assert_eq!(sentence(&examined), "This machine is being checked.");
        let check = r#"{"check":"disk","state":"well","findings":[]}"#;
        examined.checks = vec![serde_json::from_str(check).unwrap()];
        assert_eq!((sentence(&examined), mood(&examined)), ("Nothing is wrong with this machine.".to_owned(), "ok"));
        let text = |text: &str| text.to_owned();
        examined.checks[0].findings = vec![Finding { subject: text("d"), what: text("full"), fix: text("make room") }];
        assert_eq!((sentence(&examined), mood(&examined)), ("1 finding: below stands what to do.".to_owned(), "bad"));
        examined.failed = Some(text("no program"));
        assert_eq!(mood(&examined), "bad");
    }
}
