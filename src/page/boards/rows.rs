//! The rows of a board's page: selects the right one of the lists found by `records`, and reads each of its rows.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use scraper::Html;
use serde::{Deserialize, Serialize};

use super::columns::{self, Cells};
use super::flat::Page;
use super::identity::{self, Leads, page_of_thread};
use super::lines::{Content, text_of};
use super::lists::{Layout, List, ListReader, Target};
use super::order::{choose_times, mark_pinned};
use super::records::Record;
use super::when::{Conventions, Evidence, Reading, Time, offset_told, server_time_told};
use super::words::{self, Role};
use super::{RowSelectors, next, select};
use gleaner_base::url::{Canonical, CrawlUrl};

/// Why a row is above the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pinned {
    /// By a class, an icon or a word.
    Said,
    /// It is older than the rows below it, at the head of an otherwise ordered list.
    ByOrder,
}

/// One row of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The thread's identity: see [`identity::thread_id`].
    pub id: String,
    /// The address of its first page.
    pub url: CrawlUrl,
    pub title: String,
    /// Its last activity, if the list shows it.
    pub last: Option<Time>,
    /// Its creation time, if the list shows it.
    pub created: Option<Time>,
    pub replies: Option<u64>,
    pub views: Option<u64>,
    pub seeders: Option<u64>,
    pub leechers: Option<u64>,
    pub completed: Option<u64>,
    pub size_bytes: Option<u64>,
    pub author: Option<String>,
    pub pinned: Option<Pinned>,
    /// The address of its last page, if the row links to it.
    pub last_page: Option<CrawlUrl>,
}

/// The order of a page's rows, except pinned ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sorted {
    /// Newest first, for nearly all neighbours.
    NewestFirst,
    /// Another order.
    Otherwise,
    /// Too few times.
    Unknown,
}

/// The meaning of a list's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Times {
    /// Of the last reply.
    Last,
    /// Creation of the thread or torrent, which no reply changes.
    Created,
    /// Unknown.
    Unsaid,
    /// There are none.
    None,
}

/// The content of a page of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardPage {
    /// Threads or torrents in page order, each once.
    pub rows: Vec<Row>,
    /// Boards below this one.
    pub sub_boards: Vec<Row>,
    pub sorted: Sorted,
    pub times: Times,
    /// True if the page names replies as such; false if they were guessed from their form.
    pub replies_named: bool,
    /// The next page, if any.
    pub next: Option<CrawlUrl>,
    /// Address forms whose numbers the page links by names, so that each is a separate list; each with one of the
    /// links.
    pub named: Vec<(String, CrawlUrl)>,
    /// The list's layout: passed back as [`Ask::layout`], it finds lists of a row or two.
    pub layout: Option<Layout>,
    /// Number of other lists on the same page (menus and sidebars included).
    pub other_lists: usize,
}

impl Row {
    /// A row of which only the link is known.
    #[must_use]
    pub fn of_link(url: &CrawlUrl) -> Self {
        Self {
            id: id_of(url),
            url: url.clone(),
            title: String::new(),
            last: None,
            created: None,
            replies: None,
            views: None,
            seeders: None,
            leechers: None,
            completed: None,
            size_bytes: None,
            author: None,
            pinned: None,
            last_page: None,
        }
    }
}

impl BoardPage {
    /// The page by its links alone, in order, without times: for pages that could not be mined.
    #[must_use]
    pub fn with_links<'u>(self, urls: impl Iterator<Item = &'u CrawlUrl>) -> Self {
        let mut seen = HashSet::new();
        let rows = urls.map(Row::of_link).filter(|row| seen.insert(row.id.clone())).collect();
        Self { rows, sorted: Sorted::Unknown, times: Times::None, replies_named: false, layout: None, ..self }
    }
}

/// Options for reading a page.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The page's own address, after redirects.
    pub url: &'a CrawlUrl,
    pub canonical: &'a Canonical,
    /// The operator's selectors, which override the miner.
    pub selectors: Option<&'a RowSelectors>,
    /// The list's layout on other pages of the board.
    pub layout: Option<&'a Layout>,
    /// Seconds since 1970-01-01 UTC.
    pub now: i64,
}

/// Reads a page of a board. `conventions` is what is known about the site's times; the page adds to it.
///
/// A page without a list gives no rows. Linear in the page.
#[must_use]
pub fn read_page(html: &Html, ask: &Ask<'_>, conventions: &mut Conventions) -> BoardPage {
    let page = Page::of(html);
    let reader = ListReader::new(&page, ask);
    let mut lists = match ask.selectors {
        Some(selectors) => reader.selected(selectors),
        None => reader.mined(),
    };
    let main = lists.iter().position(|list| !list.is_boards).map(|at| lists.remove(at));
    let boards = lists.iter().position(|list| list.is_boards && list.score > 0.0).map(|at| lists.remove(at));
    let others = lists.len();
    let mut rows = main.as_ref().map(|list| reader.rows(list)).unwrap_or_default();
    let mut sub_boards = boards.as_ref().map(|list| reader.rows(list)).unwrap_or_default();
    reader.learn(&[&rows, &sub_boards], conventions);
    let times = choose_times(&mut rows, conventions, ask.now);
    choose_times(&mut sub_boards, conventions, ask.now);
    let replies_named = rows.drafts.iter().any(|draft| draft.replies_named);
    columns::name_unnamed(&mut rows.cells);
    let mut finished = reader.finish(rows);
    let is_folder = |row: &Row| row.url.path().ends_with('/');
    let is_mixed = finished.iter().any(is_folder) && !finished.iter().all(is_folder);
    let (folders, mut finished): (Vec<Row>, Vec<Row>) =
        if is_mixed && main.as_ref().is_some_and(|list| list.has_folders) {
            finished.drain(..).partition(is_folder)
        } else {
            (Vec::new(), finished)
        };
    let sorted = mark_pinned(&mut finished);
    let mut boards_below = reader.finish(sub_boards);
    boards_below.extend(folders);
    BoardPage {
        rows: finished,
        sub_boards: boards_below,
        sorted,
        times,
        replies_named,
        next: next::page(html, &page, &reader.base, ask),
        named: next::named(&page, &reader.base, ask),
        layout: main.map(|list| Layout { shape: list.shape, path: list.path }),
        other_lists: others,
    }
}

/// Rows before the page's times are settled.
#[derive(Default)]
pub(super) struct Rows {
    pub drafts: Vec<Draft>,
    pub cells: Vec<Cells>,
    /// The texts of each, by their places on the page.
    texts: Vec<Range<usize>>,
}

pub(super) struct Draft {
    url: CrawlUrl,
    id: String,
    title: String,
    author: Option<String>,
    pinned: bool,
    last_page: Option<CrawlUrl>,
    replies_named: bool,
    pub last: Option<Time>,
    pub created: Option<Time>,
}

impl<'p> ListReader<'_, 'p> {
    /// The element whose text is the title: the link, or the element with the first words if the link is the whole
    /// row.
    pub(super) fn title_extent(&self, record: &Record, link: usize) -> usize {
        let texts = &self.page.elements[link].texts;
        let is_whole = texts.len() > 1 && texts.start == record.texts.start && texts.end == record.texts.end;
        let first = self.page.texts[texts.clone()].iter().find(|text| text.text.contains(char::is_alphabetic));
        first.filter(|_| is_whole).map_or(link, |text| text.parent)
    }

    fn rows(&self, list: &List) -> Rows {
        let mut rows = Rows::default();
        let Some(first) = list.records.first() else {
            return rows;
        };
        let mut header = columns::header(self.page, first.first());
        let mut seen = HashSet::new();
        let mut table = self.page.elements[first.first()].parent;
        for record in &list.records {
            let parent = self.page.elements[record.first()].parent;
            if parent != table {
                table = parent;
                let own = columns::header(self.page, record.first());
                if !own.is_empty() {
                    header = own;
                }
            }
            let content = Content::of(self.page, record);
            let chosen = self.ask.selectors.and_then(|selectors| select::link(self.page, record, selectors));
            let title = match chosen {
                Some(element) => self.links.get(&element).map(|target| (element, target)),
                None => self.title_link(&content, &list.shape, list.coarse),
            };
            let Some((element, target)) = title else { continue };
            let url = &target.url;
            // The page itself and its parents are not rows: sort links, parent folders.
            let is_above = url.as_str() == self.ask.url.as_str()
                || self.ask.url.as_str().strip_prefix(url.as_str()).is_some() && url.path().ends_with('/');
            if is_above || !seen.insert(target.id.as_str()) {
                continue;
            }
            let mut cells = Cells::of(self.page, record, &content, &header, Some(self.title_extent(record, element)));
            if let Some(moment) = self.ask.selectors.and_then(|selectors| select::moment(self.page, record, selectors))
            {
                cells.moments = vec![moment];
            }
            rows.drafts.push(self.draft(record, &content, element, target, &cells));
            rows.cells.push(cells);
            rows.texts.push(record.texts.clone());
        }
        rows
    }

    fn draft(&self, record: &Record, content: &Content<'p>, element: usize, target: &Target, cells: &Cells) -> Draft {
        let flat = &self.page.elements[self.title_extent(record, element)];
        let text = text_of(self.page, flat.texts.clone());
        let title = if text.is_empty() { flat.attr("title").unwrap_or_default().to_owned() } else { text };
        let author = content
            .links
            .iter()
            .filter(|link| !link.text.is_empty() && link.element != element)
            .find(|link| self.links.get(&link.element).is_some_and(|target| target.leads == Leads::ToPeople))
            .map(|link| link.text.clone());
        let last_page = content
            .links
            .iter()
            .filter_map(|link| self.links.get(&link.element))
            .filter(|page| page.id == target.id)
            .filter_map(|page| Some((page_of_thread(page.url.as_str())?, &page.url)))
            .max_by_key(|(number, _)| *number)
            .map(|(_, page)| page.clone())
            .filter(|page| *page != target.url);
        let pinned = self.is_pinned(record, content, element, &title);
        let replies_named = cells.number(Role::Replies).is_some();
        Draft {
            url: target.url.clone(),
            id: target.id.clone(),
            title,
            author,
            pinned,
            last_page,
            replies_named,
            last: None,
            created: None,
        }
    }

    /// True if a class, an icon or a word of the row, or of the list around it, marks it as pinned.
    fn is_pinned(&self, record: &Record, content: &Content<'p>, title: usize, name: &str) -> bool {
        let titled = &self.page.elements[title];
        let in_title = |at: usize| title <= at && at < titled.end;
        let mut above = record.first();
        for _ in 0..3 {
            if self.page.is_pinned(above) {
                return true;
            }
            above = self.page.elements[above].parent;
        }
        let by_element = record.elements(self.page).take(200).any(|at| {
            let flat = &self.page.elements[at];
            let is_icon = matches!(flat.tag(), "img" | "i" | "span" | "svg" | "em" | "b" | "strong");
            let says = |name: &str| flat.attr(name).is_some_and(words::says_pinned);
            (at != title && self.page.is_pinned(at))
                || is_icon && (says("title") || says("alt") || flat.tag() == "img" && says("src"))
        });
        let by_text = content
            .lines
            .iter()
            .flat_map(|line| &line.runs)
            .any(|(at, run)| !in_title(*at) && run.chars().count() <= 24 && words::says_pinned(run));
        let prefix = name
            .split_inclusive([':', '：', ']', '】'])
            .next()
            .filter(|prefix| prefix.len() < name.len() && prefix.chars().count() <= 24);
        by_element || by_text || prefix.is_some_and(words::says_pinned)
    }

    /// Adds the page's times to the site's conventions.
    fn learn(&self, lists: &[&Rows], conventions: &mut Conventions) {
        let mut columns: HashMap<u64, Vec<Reading>> = HashMap::new();
        let mut pairs = Vec::new();
        for moment in lists.iter().flat_map(|rows| &rows.cells).flat_map(|cells| &cells.moments) {
            columns.entry(moment.place).or_default().push(moment.reading);
            if let Some(twin) = moment.twin {
                columns.entry(moment.place ^ 1).or_default().push(twin);
                pairs.push((moment.reading, twin));
            }
        }
        let mut columns: Vec<(u64, Vec<Reading>)> = columns.into_iter().collect();
        columns.sort_unstable_by_key(|(place, _)| *place);
        let own = self.own_texts(lists);
        let offset_told = own.iter().rev().take(400).find_map(|text| offset_told(text.trim()));
        let server_time = own.iter().find_map(|text| server_time_told(text));
        conventions.learn(
            &Evidence {
                language: self.page.language,
                columns: columns.into_iter().map(|(_, readings)| readings).collect(),
                pairs,
                offset_told,
                server_time,
            },
            self.ask.now,
        );
    }

    /// The site's own short texts, in order. Texts of users, in rows and in links to threads, may contain any zone
    /// and any time ("Live on Sunday, 20:00 GMT+9").
    fn own_texts(&self, lists: &[&Rows]) -> Vec<&'p str> {
        let mut is_own = vec![true; self.page.texts.len()];
        let of_threads = self.links.iter().filter(|(_, target)| target.leads == Leads::ToThread);
        let of_threads = of_threads.map(|(element, _)| self.page.elements[*element].texts.clone());
        for texts in lists.iter().flat_map(|rows| &rows.texts).cloned().chain(of_threads) {
            is_own[texts].fill(false);
        }
        let texts = self.page.texts.iter().zip(is_own).filter(|(text, is_own)| *is_own && text.text.len() < 200);
        texts.map(|(text, _)| text.text).collect()
    }

    fn finish(&self, rows: Rows) -> Vec<Row> {
        rows.drafts
            .into_iter()
            .zip(rows.cells)
            .map(|(draft, cells)| Row {
                id: draft.id,
                url: draft.url,
                title: draft.title,
                last: draft.last,
                created: draft.created,
                replies: cells.number(Role::Replies),
                views: cells.number(Role::Views),
                seeders: cells.number(Role::Seeders),
                leechers: cells.number(Role::Leechers),
                completed: cells.number(Role::Completed),
                size_bytes: cells.size,
                author: draft.author,
                pinned: draft.pinned.then_some(Pinned::Said),
                last_page: draft.last_page,
            })
            .collect()
    }
}

/// See [`identity::thread_id`].
#[must_use]
pub fn id_of(url: &CrawlUrl) -> String {
    identity::thread_id(url.as_str())
}
