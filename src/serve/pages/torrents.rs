//! The search: what a query finds, with counts to narrow it by. The address is the state: a search is a link, a feed and a Torznab URL.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use gleaner_base::clock::UnixMillis;
use gleaner_search::category::full_name;
use gleaner_search::find::Facets;
use gleaner_search::follow::contents_of;
use gleaner_search::marks::{fits, marks};
use gleaner_search::{Order, Query};
use gleaner_store::crawldb::MagnetRow;
use maud::{Markup, html};

use super::visit::{Form, Visit, part};
use super::{ACTING, words};
use crate::Outlet;
use crate::limits::{COUNTS_KEPT, FACET_SHOWN, SNIPPET_BYTES_MAX, TORRENTS_SHOWN};
use crate::problem::Problem;
use crate::rows::{Item, Magnet, Page, RowsError};

/// Where a page begins: behind the torrents that were stored later, and this many of the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cursor {
    at: UnixMillis,
    skip: usize,
}

impl Cursor {
    fn parse(text: &str) -> Option<Self> {
        let (at, skip) = text.split_once('-')?;
        let number = |text: &str| text.bytes().all(|of| of.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        Some(Self {
            at: UnixMillis(number(at).filter(|_| at.len() <= 16)?),
            skip: usize::try_from(number(skip)?).ok()?,
        })
    }

    /// Of the page behind what came at these moments.
    fn behind(moments: &[UnixMillis], before: Option<Self>) -> Option<Self> {
        let at = *moments.last()?;
        let alike = moments.iter().rev().take_while(|moment| **moment == at).count();
        let earlier = before.filter(|before| before.at == at && alike == moments.len()).map_or(0, |before| before.skip);
        Some(Self { at, skip: alike + earlier })
    }

    fn text(self) -> String {
        format!("{}-{}", self.at.0, self.skip)
    }
}

/// `/torrents`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let text = words::typed(visit.asked("q").trim());
    let query = Query::parse(&text);
    let cursor = match visit.asked("after") {
        "" => None,
        text => Some(Cursor::parse(text).ok_or_else(|| {
            Problem::wrong("this page was never linked", "begin without `after`, and follow the links")
        })?),
    };
    let found = found(&visit, &query, cursor).await;
    let body = match found {
        Ok((page, facets)) => {
            let snippets = snippets(&visit, &query, &page.items).await;
            let items = page.items.iter().map(|item| item.row.stored);
            let moments: Vec<_> = items.chain(page.magnets.iter().map(|magnet| magnet.row.first_seen)).collect();
            let next = (moments.len() == TORRENTS_SHOWN).then(|| Cursor::behind(&moments, cursor)).flatten();
            let what = if query.wants_magnets() { "magnet link" } else { "torrent" };
            html! {
                (field(&text))
                (doubts(&query))
                (saving(&visit, &text))
                div.side {
                    (facets_shown(&visit, &text, &query, &facets))
                    section aria-label="torrents" {
                        header { h2 { (words::many(page.total, what)) @if cursor.is_some() { span.soft { " · older ones" } } } (links(&visit, &text, &query)) }
                        @if query.wants_magnets() { (magnets(&visit, &page.magnets, &query)) }
                        @else if text.is_empty() && cursor.is_none() { div #found data-live { (marked(&visit, &page.items, &query, &snippets)) } }
                        @else { (marked(&visit, &page.items, &query, &snippets)) }
                        (pages(&visit, &text, cursor, next))
                    }
                }
            }
        }
        Err(RowsError::NoIndex) => html! {
            (field(&text))
            div.strip.waits { p { (RowsError::NoIndex) } }
        },
        Err(error) => return Err(error.into()),
    };
    let title = if text.is_empty() { "torrents".to_owned() } else { format!("{text} · torrents") };
    Ok(visit.page(&title, "torrent", &body))
}

/// All that fit, and how many of each kind.
pub type Counted = (u64, Facets);

/// The counts of a search. Those of everything are kept for a moment.
async fn counted(visit: &Visit, query: &Query) -> Result<Counted, RowsError> {
    let mut kept = if query.is_empty() { Some(visit.outlet.pages.counts.lock().await) } else { None };
    if let Some((at, counted)) = kept.as_deref().and_then(Option::as_ref)
        && visit.now >= *at
        && visit.now.since(*at) < COUNTS_KEPT
    {
        return Ok(counted.clone());
    }
    let made = visit.outlet.count(query).await?;
    if let Some(kept) = &mut kept {
        **kept = Some((visit.now, made.clone()));
    }
    Ok(made)
}

async fn found(visit: &Visit, query: &Query, cursor: Option<Cursor>) -> Result<(Page, Facets), RowsError> {
    let outlet = &visit.outlet;
    let mut narrowed = query.clone();
    let skip = cursor.map_or(0, |cursor| cursor.skip);
    if let Some(cursor) = cursor {
        let most = &mut narrowed.filters.stored.most;
        *most = Some(most.map_or(cursor.at.0, |own| own.min(cursor.at.0)));
    }
    let mut page = outlet.find(&narrowed, Order::Newest, skip, TORRENTS_SHOWN).await?;
    let (total, facets) = match counted(visit, query).await {
        Err(RowsError::NoIndex) => return Ok((page, Facets::new())),
        counted => counted?,
    };
    if cursor.is_some() {
        page.total = total;
    }
    Ok((page, facets))
}

fn field(text: &str) -> Markup {
    html! {
        h1 { "Torrents" }
        form.search role="search" method="get" {
            input type="search" name="q" value=(text) placeholder="words, \"a phrase\", -without, site:…" aria-label="search" data-search;
            button.main { "search" }
        }
        details.soft.small {
            summary { "what can be written" }
            p { code { "words" } " " code { "\"a phrase\"" } " " code { "-without" } " " code { "beginn*" } " "
                code { "site:debian" } " " code { "cat:2000" } " " code { "ext:iso" } " " code { "size:>1G" } " " code { "after:2026-11-01" } " "
                code { "year:2026" } " " code { "private:no" } " " code { "v2:yes" } " " code { "has:magnet" } " or an infohash or a magnet link. Press " code { "/" } " to come here." }
        }
        p {}
    }
}

fn doubts(query: &Query) -> Markup {
    html! {
        @if !query.doubts.is_empty() {
            div.strip.waits { p { "No filter, so looked for as words: " @for doubt in &query.doubts { code { (words::shown(doubt)) } " " } } }
        }
    }
}

/// The link of a search.
fn search_link(visit: &Visit, text: &str) -> String {
    visit.to(&if text.is_empty() { "/torrents".to_owned() } else { format!("/torrents?q={}", part(text)) })
}

fn links(visit: &Visit, text: &str, asked: &Query) -> Markup {
    let query = if text.is_empty() { String::new() } else { format!("q={}", part(text)) };
    let feed = if text.is_empty() { "/feeds/all.rss".to_owned() } else { format!("/feeds/search.rss?{query}") };
    let torznab = format!("{}/api?t=search{}{query}", visit.caller.links.base, if query.is_empty() { "" } else { "&" });
    html! {
        span.fix {
            // Feeds have torrents, and no magnet links.
            @if !asked.wants_magnets() { a.button href=(visit.to(&feed)) { "feed of this search" } }
            a.button href=(visit.to(&format!("/api?t=search&{query}"))) { "Torznab of this search" }
            button type="button" data-copy=(torznab) { "copy Torznab URL" }
        }
    }
}

/// `POST /searches`: saves one.
pub async fn save(State(outlet): State<Arc<Outlet>>, request: Request<Body>) -> Result<Response, Problem> {
    let (visit, form) = Form::read(&outlet, request, ACTING).await?;
    let name = form.get("name").trim().to_owned();
    outlet.save_search(&name, form.get("query").trim()).await?;
    Ok(visit.back(&form, format!("{name} is saved: its feed and its Torznab URL are on the page Connect.")))
}

/// `POST /searches/NAME/delete`.
pub async fn delete(
    State(outlet): State<Arc<Outlet>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<Response, Problem> {
    let (visit, form) = Form::read(&outlet, request, ACTING).await?;
    outlet.delete_search(&name).await?;
    Ok(visit.back(&form, format!("{} is deleted.", words::shown(&name))))
}

/// The field that saves this search, and those that are saved.
fn saving(visit: &Visit, text: &str) -> Markup {
    let saved = visit.outlet.searches();
    html! {
        @if !saved.is_empty() {
            nav.chips.below aria-label="saved searches" {
                span.soft { "saved:" }
                @for (search, _) in &saved {
                    @if search.query == text { b aria-current="true" { (words::shown(&search.name)) } }
                    @else { a href=(search_link(visit, &search.query)) { (words::shown(&search.name)) } }
                }
            }
        }
        @if !text.is_empty() && saved.iter().all(|(search, _)| search.query != text) {
            div.below {
                (visit.form("/searches", &html! {
                    input type="hidden" name="query" value=(text);
                    input name="name" required maxlength="64" pattern="[A-Za-z0-9_\\-][A-Za-z0-9._\\-]*" placeholder="a name, such as linux" aria-label="name of this search";
                    button { "save this search" }
                }))
            }
        }
    }
}

fn facets_shown(visit: &Visit, text: &str, query: &Query, facets: &Facets) -> Markup {
    let values = |name: &str| facets.get(name).cloned().unwrap_or_default();
    let site = values("site").into_iter().map(|(site, count)| {
        let is_on = query.filters.sites.contains(&site);
        (site.clone(), named("site", &site), count, is_on)
    });
    let category = values("category").into_iter().filter_map(|(number, count)| {
        let of: u32 = number.parse().ok()?;
        Some((full_name(of)?, format!("cat:{number}"), count, query.filters.categories.contains(&of)))
    });
    let year = values("year").into_iter().map(|(year, count)| {
        let is_on = query.filters.year.least.is_some_and(|least| least.to_string() == year);
        (year.clone(), format!("year:{year}"), count, is_on)
    });
    let private = values("private").into_iter().map(|(value, count)| {
        let (name, word) = if value == "1" { ("private", "yes") } else { ("public", "no") };
        (name.to_owned(), format!("private:{word}"), count, query.filters.is_private == Some(value == "1"))
    });
    let has = |filter: &str| text.split_whitespace().any(|own| own == filter);
    let size = values("size").into_iter().map(|(size, count)| {
        let filter = format!("size:{size}");
        let is_on = has(&filter);
        (size.replace("..", " – "), filter, count, is_on)
    });
    let version = values("version").into_iter().map(|(version, count)| {
        let (name, filter) = match &*version {
            "v1" => ("BitTorrent v1", "v2:no"),
            "v2" => ("BitTorrent v2", "v1:no"),
            _ => ("hybrid: v1 and v2", "v1:yes v2:yes"),
        };
        (name.to_owned(), filter.to_owned(), count, filter.split(' ').all(has))
    });
    html! {
        section.facets.pad aria-label="narrow the search" {
            (facet(visit, text, "site", site.collect()))
            (facet(visit, text, "category", category.collect()))
            (facet(visit, text, "year", year.collect()))
            (facet(visit, text, "size", size.collect()))
            (facet(visit, text, "version", version.collect()))
            (facet(visit, text, "access", private.collect()))
            @if facets.is_empty() { p.soft { "The index is being made." } }
        }
    }
}

fn named(key: &str, value: &str) -> String {
    let is_plain = value.chars().all(|of| of.is_alphanumeric() || matches!(of, '-' | '_' | '.'));
    if is_plain { format!("{key}:{value}") } else { format!("{key}:\"{}\"", value.replace('"', "")) }
}

/// Name, filter, count, and whether it is on.
type FacetValue = (String, String, u64, bool);

fn facet(visit: &Visit, text: &str, title: &str, values: Vec<FacetValue>) -> Markup {
    let link = |filter: &str, is_on: bool| {
        let others: Vec<&str> = text.split_whitespace().filter(|own| !filter.split(' ').any(|of| of == *own)).collect();
        let rest = if is_on { others.join(" ") } else { format!("{text} {filter}") };
        search_link(visit, rest.trim())
    };
    html! {
        @if !values.is_empty() {
            div {
                h3 { (title) }
                ul {
                    @for (name, filter, count, is_on) in values.iter().take(FACET_SHOWN) {
                        li data-on=[is_on.then_some("")] {
                            a href=(link(filter, *is_on)) rel="nofollow" { @if *is_on { "✕ " } (words::shown(name)) }
                            span.soft.num { (words::count(*count)) }
                        }
                    }
                }
            }
        }
    }
}

fn pages(visit: &Visit, text: &str, cursor: Option<Cursor>, next: Option<Cursor>) -> Markup {
    let first = search_link(visit, text);
    let sign = if text.is_empty() { '?' } else { '&' };
    html! {
        @if cursor.is_some() || next.is_some() {
            nav.pages aria-label="pages of the search" {
                @if cursor.is_some() { a href=(first) { "← newest" } } @else { span {} }
                @if let Some(next) = next { a rel="next" href={ (first) (sign) "after=" (next.text()) } { "older →" } }
            }
        }
    }
}

/// For each torrent whose name does not show why it was found, the file that does.
async fn snippets(visit: &Visit, query: &Query, items: &[Item]) -> Vec<Option<String>> {
    if query.clauses.iter().all(|clause| clause.is_excluded) {
        return Vec::new();
    }
    let (archive, query) = (Arc::clone(&visit.outlet.archive), query.clone());
    let rows: Vec<_> = items.iter().map(|item| item.row.clone()).collect();
    let read = tokio::task::spawn_blocking(move || {
        let mut left = SNIPPET_BYTES_MAX;
        let mut snippet = |row: &gleaner_store::crawldb::TorrentRow| {
            let bytes = u64::from(row.facts.metainfo_bytes);
            if fits(&query, &row.facts.name) || bytes > left {
                return None;
            }
            left -= bytes;
            let files = contents_of(row, &archive).ok().flatten()?.files;
            // The one that has all that is asked, else one that has some of it.
            let whole = files.iter().find(|file| fits(&query, &file.path));
            whole
                .or_else(|| files.iter().find(|file| !marks(&query, &file.path).is_empty()))
                .map(|file| file.path.clone())
        };
        rows.iter().map(&mut snippet).collect()
    });
    read.await.unwrap_or_default()
}

/// A text of others with what a query found in it.
fn with_marks(query: &Query, text: &str) -> Markup {
    let mut at = 0;
    let mut parts = Vec::new();
    for range in marks(query, text) {
        parts.push((&text[at..range.start], false));
        parts.push((&text[range.clone()], true));
        at = range.end;
    }
    parts.push((&text[at..], false));
    html! { @for (part, is_hit) in parts { @if is_hit { mark { (words::shown(part)) } } @else { (words::shown(part)) } } }
}

fn marked(visit: &Visit, items: &[Item], query: &Query, snippets: &[Option<String>]) -> Markup {
    shown(visit, items, Some(query), snippets)
}

/// Rows of torrents.
pub fn table(visit: &Visit, items: &[Item], snippets: &[Option<String>]) -> Markup {
    shown(visit, items, None, snippets)
}

fn shown(visit: &Visit, items: &[Item], query: Option<&Query>, snippets: &[Option<String>]) -> Markup {
    html! {
        @if items.is_empty() { p.empty { "No torrent." } } @else {
            table.cards {
                thead { tr { th { "name" } th { "category" } th { "site" } th.n { "size" } th.n { "files" } th.n { "stored" } th { "" } } }
                tbody {
                    @for (nth, item) in items.iter().enumerate() {
                        (row(visit, item, query, snippets.get(nth).and_then(Option::as_deref)))
                    }
                }
            }
        }
    }
}

fn row(visit: &Visit, item: &Item, query: Option<&Query>, snippet: Option<&str>) -> Markup {
    let facts = &item.row.facts;
    let hash = facts.infohashes.key_hex();
    let none = Query::default();
    let query = query.unwrap_or(&none);
    html! {
        tr {
            td.main.wide {
                a.title href=(visit.to(&format!("/torrents/{hash}"))) title=(words::shown(&facts.name)) { (with_marks(query, &facts.name)) }
                @if facts.private { span.soft.small title="private: BEP 27" { "private" } }
                @if let Some(snippet) = snippet { div.soft.small { (with_marks(query, snippet)) } }
            }
            td data-l="category" { (full_name(item.category).unwrap_or_default()) }
            td data-l="site" { a href=(visit.to(&format!("/sites/{}", part(&item.row.site)))) { (words::shown(&item.row.site)) } }
            td.n data-l="size" { (words::bytes(facts.payload_bytes)) }
            td.n data-l="files" { (words::count(facts.file_count.into())) }
            td.n data-l="stored" { (words::when(item.row.stored, visit.now)) }
            td data-l="" { a href=(visit.to(&format!("/torrents/{hash}.torrent"))) aria-label={ "download " (words::shown(&facts.name)) } { "download" } }
        }
    }
}

/// Rows of what is known by a magnet link alone. Its link is made here of infohash and name: the one that was found may hold anything.
fn magnets(visit: &Visit, magnets: &[Magnet], query: &Query) -> Markup {
    html! {
        @if magnets.is_empty() { p.empty { "No magnet link." } } @else {
            table.cards {
                thead { tr { th { "name" } th { "category" } th { "site" } th.n { "seen first" } th { "" } } }
                tbody { @for Magnet { row, category } in magnets {
                    @let name = row.facts.name.as_deref().map_or_else(|| row.facts.infohashes.key_hex(), str::to_owned);
                    @let link = link_of(row);
                    tr {
                        td.main.wide { (with_marks(query, &name)) div.soft.small { (words::url(&row.page)) } }
                        td data-l="category" { (full_name(*category).unwrap_or_default()) }
                        td data-l="site" { a href=(visit.to(&format!("/sites/{}", part(&row.site)))) { (words::shown(&row.site)) } }
                        td.n data-l="seen first" { (words::when(row.first_seen, visit.now)) }
                        td data-l="" { a href=(link) { "magnet" } " " button type="button" data-copy=(link) { "copy" } }
                    }
                } }
            }
        }
    }
}

/// BEP 9, BEP 52.
fn link_of(row: &MagnetRow) -> String {
    let hex = |hash: &[u8]| data_encoding::HEXLOWER.encode(hash);
    let v1 = row.facts.infohashes.v1.map(|v1| format!("xt=urn:btih:{}", hex(&v1)));
    let v2 = row.facts.infohashes.v2.map(|v2| format!("xt=urn:btmh:1220{}", hex(&v2)));
    let name = row.facts.name.as_deref().map(|name| format!("dn={}", part(name)));
    format!("magnet:?{}", v1.into_iter().chain(v2).chain(name).collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_store::crawldb::MagnetFacts;

    #[test]
    fn cursors_go_on_within_one_moment() {
        assert_eq!(Cursor::parse("17-3"), Some(Cursor { at: UnixMillis(17), skip: 3 }));
        for wrong in ["", "17", "-3", "17-", "a-b", "+1-2", "99999999999999999-1"] {
            assert_eq!(Cursor::parse(wrong), None, "{wrong}");
        }
        assert_eq!(
            Cursor::parse(&Cursor { at: UnixMillis(5), skip: 0 }.text()),
            Some(Cursor { at: UnixMillis(5), skip: 0 })
        );
    }

    #[test]
    fn a_page_of_magnets_leads_on_and_their_links_hold_nothing_of_others() {
        let moments = [9, 5, 5].map(UnixMillis);
        assert_eq!(Cursor::behind(&moments, None), Some(Cursor { at: UnixMillis(5), skip: 2 }));
        assert_eq!(Cursor::behind(&[], None), None);
        let infohashes = gleaner_torrent::Infohashes { v1: Some([7; 20]), v2: None };
        let (name, link) = (Some("a \"b&tr=x".into()), "magnet:?passkey=secret".into());
        let facts = MagnetFacts { infohashes, name, link };
        let (site, page) = ("s".into(), "http://h/".into());
        let row = MagnetRow { facts, site, page, first_seen: UnixMillis(5), label: None, stored: false };
        assert_eq!(link_of(&row), format!("magnet:?xt=urn:btih:{}&dn=a%20%22b%26tr%3Dx", "07".repeat(20)));
    }

    #[test]
    fn what_was_found_is_marked_and_escaped() {
        let text = with_marks(&Query::parse("evil"), "<b>evil\u{202e}</b>").into_string();
        assert_eq!(text, "&lt;b&gt;<mark>evil</mark>\\u202e&lt;/b&gt;");
        assert_eq!((named("site", "a.b"), named("site", "a \"b")), ("site:a.b".to_owned(), "site:\"a b\"".to_owned()));
    }
}
