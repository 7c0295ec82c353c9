//! What other programs are given: addresses ready to copy, and who used which token when. No secret is here.

use axum::response::Response;
use maud::{Markup, html};

use super::status::command;
use super::visit::{Visit, part};
use super::words;
use crate::problem::Problem;

/// What stands for the secret of a token.
const KEY: &str = "YOUR_TOKEN";

/// `/connect`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let is_open = visit.outlet.needs_no_token();
    let body = html! {
        h1 { "Connect" }
        p.lead { "Addresses for other programs." @if is_open { " From this machine no token is needed; a program that insists on a key takes any." } @else { " Each asks for a token." } }
        (clients(&visit))
        div.two { (searches(&visit)) (tokens(&visit)) }
    };
    Ok(visit.page("connect", "", &body))
}

fn address(text: &str) -> Markup {
    command(&words::shown(text))
}

/// A program, where its settings are, and what to enter there.
type Client = (&'static str, &'static str, Vec<(&'static str, String)>);

fn programs(visit: &Visit) -> [Client; 9] {
    let base = &visit.caller.links.base;
    [
        (
            "Prowlarr",
            "Indexers → Add → Generic Torznab",
            vec![("URL", base.clone()), ("API path", "/api".to_owned()), ("API key", KEY.to_owned())],
        ),
        (
            "Sonarr",
            "Settings → Indexers → Add → Torznab",
            vec![("URL", base.clone()), ("API path", "/api".to_owned()), ("API key", KEY.to_owned())],
        ),
        (
            "Radarr",
            "Settings → Indexers → Add → Torznab",
            vec![("URL", base.clone()), ("API path", "/api".to_owned()), ("API key", KEY.to_owned())],
        ),
        ("qBittorrent", "RSS → New subscription", vec![("feed", format!("{base}/feeds/all.rss?apikey={KEY}"))]),
        (
            "autobrr",
            "Indexers → Add → Generic Torznab, or Feeds",
            vec![("Torznab", format!("{base}/api")), ("API key", KEY.to_owned())],
        ),
        ("FlexGet", "in config.yml", vec![("rss", format!("{base}/feeds/all.rss?apikey={KEY}"))]),
        (
            "feed readers",
            "RSS or Atom",
            vec![("RSS", format!("{base}/feeds/all.rss")), ("Atom", format!("{base}/feeds/all.atom"))],
        ),
        (
            "Prometheus",
            "scrape_configs",
            vec![
                ("metrics_path", format!("{}/metrics", visit.outlet.settings.base_path)),
                (
                    "target",
                    base.split("://").nth(1).unwrap_or_default().split('/').next().unwrap_or_default().to_owned(),
                ),
            ],
        ),
        (
            "scripts",
            "JSON",
            vec![("API", format!("{base}/api/v1/summary")), ("its description", format!("{base}/api/v1/openapi.json"))],
        ),
    ]
}

fn clients(visit: &Visit) -> Markup {
    html! {
        section aria-labelledby="clients" {
            header { h2 #clients { "Programs" } span.soft { "put a token in the place of " code { (KEY) } } }
            table.cards {
                thead { tr { th { "program" } th { "where" } th { "what to enter" } } }
                tbody { @for (name, place, values) in &programs(visit) { tr {
                    td.main { span.name { (name) } }
                    td data-l="where" { (place) }
                    td.main { @for (label, value) in values { div.fix { span.soft { (label) } (address(value)) } } }
                } } }
            }
            p.pad.soft.small { "An archive that is still empty answers a test search with nothing: Sonarr and Radarr then refuse to save the indexer. Crawl first, or save it with the test switched off." }
        }
    }
}

fn searches(visit: &Visit) -> Markup {
    let base = &visit.caller.links.base;
    let saved = visit.outlet.searches();
    html! {
        section aria-labelledby="searches" {
            header { h2 #searches { "Saved searches" } span.soft { "of gleaner.toml, and saved from the search" } }
            @if saved.is_empty() { p.empty { "None." } } @else {
                table.cards { tbody { @for (search, is_own) in &saved { tr {
                    td.main { span.name { (words::shown(&search.name)) } div.soft.small { (words::shown(&search.query)) } }
                    td.main { div.fix { (address(&format!("{base}/feeds/saved/{}.rss", search.name))) } div.fix { (address(&format!("{base}/torznab/search:{}", search.name))) @if *is_own { (visit.button(&format!("/searches/{}/delete", part(&search.name)), "delete", &[])) } } }
                } } } }
            }
        }
    }
}

fn tokens(visit: &Visit) -> Markup {
    let tokens = visit.outlet.tokens.all();
    let asked = visit.outlet.requests.asked_by_key();
    html! {
        section aria-labelledby="tokens" {
            header { h2 #tokens { "Tokens" } span.soft { "their secrets were shown once, when they were made" } }
            @if tokens.is_empty() { p.empty { "None." } } @else {
                table.cards {
                    thead { tr { th { "name" } th { "admits to" } th.n { "made" } th.n { "last used" } th.n { "Torznab queries" } } }
                    tbody { @for (token, used) in &tokens { tr {
                        td data-l="name" { span.name { (words::shown(&token.name)) } }
                        td data-l="admits to" { (token.scope.name()) }
                        td.n data-l="made" { (words::when(token.created, visit.now)) }
                        td.n data-l="last used" { @if let Some(at) = used { (words::when(*at, visit.now)) } @else { "never" } }
                        td.n data-l="Torznab queries" { (words::count(asked.get(&token.name).copied().unwrap_or_default())) }
                    } } }
                }
            }
            p.pad.fix { (command(&visit.command("token new NAME --scope torznab"))) }
            @if let Some(without) = asked.get("").filter(|count| **count > 0) { p.pad.soft.small { (words::count(*without)) " Torznab queries came without a token, since the service started." } }
        }
    }
}
