//! What the pages of each shape led to (LEARNING §14.0: V), and which URL is asked for next (§14.4).

use std::collections::{HashMap, HashSet};

use crate::guard::{self, Refused};
use crate::map::{Map, ShapeId, UrlId};
use crate::prior::prior;
use crate::shape::Shape;
use gleaner_rules::is_router;

/// Sweeps that carry values from torrents back to lists and hubs.
const SWEEPS: usize = 4;

/// The value of a link to a download, and what is left of a value one link further away.
const OF_DOWNLOAD: f64 = 0.9;
const PER_LINK: f64 = 0.75;

/// Of a page: the shapes of its content links, and whether it has magnets.
type PageTargets = (HashSet<ShapeId>, bool);

/// The value of a shape is the mean over its pages: 1 for a torrent, else what their content links lead to.
#[derive(Debug, Default)]
pub struct Evidence {
    /// By shape; 0 where nothing was read.
    pub value: Vec<f64>,
    /// Shapes whose URLs give torrents.
    pub downloads: HashSet<ShapeId>,
}

impl Evidence {
    /// Weighs what was read.
    #[must_use]
    pub fn of(map: &Map) -> Self {
        let shapes: Vec<ShapeId> = map.shapes().map(|(id, _)| id).collect();
        let mut value = vec![0.0; shapes.iter().max().map_or(0, |last| last + 1)];
        let mut downloads = HashSet::new();
        let mut pages: Vec<(ShapeId, Vec<PageTargets>)> = Vec::new();
        for shape in shapes {
            let (mut count, mut torrents) = (0_u32, 0_u32);
            let mut links = Vec::new();
            for (id, page) in map.pages_of(shape) {
                count += 1;
                torrents += u32::from(page.is_torrent());
                let targets = if page.is_page() {
                    map.content(id, page).map(|link| map.shape_of(link)).filter(|to| *to != shape).collect()
                } else {
                    HashSet::new()
                };
                links.push((targets, page.is_page() && !page.magnets.is_empty()));
            }
            if count > 0 && torrents * 2 >= count {
                downloads.insert(shape);
                value[shape] = f64::from(torrents) / f64::from(count);
            } else if count > 0 {
                pages.push((shape, links));
            }
        }
        for _ in 0..SWEEPS {
            for (shape, links) in &pages {
                let of_page = |(targets, has_magnets): &PageTargets| {
                    let of_target =
                        |to: &ShapeId| if downloads.contains(to) { OF_DOWNLOAD } else { PER_LINK * value[*to] };
                    targets.iter().map(of_target).fold(if *has_magnets { OF_DOWNLOAD } else { 0.0 }, f64::max)
                };
                value[*shape] = links.iter().map(of_page).sum::<f64>() / links.len() as f64;
            }
        }
        Self { value, downloads }
    }

    #[must_use]
    pub fn value(&self, shape: ShapeId) -> f64 {
        self.value.get(shape).copied().unwrap_or_default()
    }
}

/// What is asked for next, and why.
#[derive(Debug)]
pub struct Pick {
    pub url: UrlId,
    pub score: f64,
}

/// Who asks.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    /// A member: shapes that nothing speaks for are left alone.
    pub is_member: bool,
    /// Shapes that brought a guest nothing and that no word speaks for.
    pub barren: HashSet<String>,
}

/// URLs of a shape that are looked at for the next request.
const CANDIDATES: usize = 60;

/// Pages of a shape's keys, of its action or of its path that brought nothing before no more of them are asked for.
const BARREN_OF_KEYS: usize = 6;
const BARREN_OF_ACTION: usize = 10;
const BARREN_OF_PATH: usize = 40;

/// A shape that words speak for, and pages of it that are read before it is given up.
const NAMED: f64 = 0.5;
const NAMED_PAGES: usize = 6;

/// Links of one shape in one place that are rows.
const ROWS_MIN: u16 = 5;

/// The path of a shape and the values that programs are told apart by: one program may be a whole site.
fn action(shape: &Shape) -> String {
    let routers = shape.query.iter().filter(|(key, _)| is_router(key) || key.is_empty());
    routers.fold(shape.path.clone(), |action, (key, form)| format!("{action}&{key}={form}"))
}

/// Files called `.torrent` that were torrents, after which one of each further folder's is enough.
const TORRENTS_ENOUGH: usize = 3;

/// Of files called `.torrent`, those of other shapes than this one, which is of them; else 0.
fn of_others(torrents: &[(ShapeId, usize)], shape: ShapeId) -> usize {
    if !torrents.iter().any(|(own, _)| *own == shape) {
        return 0;
    }
    torrents.iter().filter(|(other, _)| *other != shape).map(|(_, count)| count).sum()
}

/// The URL that is most worth a request; None if none is. `robots` says what robots.txt allows.
pub fn pick(map: &mut Map, evidence: &Evidence, asker: &Asker, robots: &dyn Fn(&str) -> bool) -> Option<Pick> {
    let mut of_path: HashMap<String, (usize, f64)> = HashMap::new();
    let mut of_action: HashMap<String, (usize, f64)> = HashMap::new();
    let mut of_keys: HashMap<(String, Vec<String>), usize> = HashMap::new();
    for (id, shape) in map.shapes() {
        let count = map.pages_of(id).count();
        for of in [of_path.entry(shape.path.clone()).or_default(), of_action.entry(action(shape)).or_default()] {
            *of = (of.0 + count, of.1.max(evidence.value(id)));
        }
        *of_keys.entry((shape.path.clone(), shape.keys().map(str::to_owned).collect())).or_default() += count;
    }
    let torrents: Vec<(ShapeId, usize)> = map
        .shapes()
        .filter(|(_, shape)| shape.path.ends_with(".torrent"))
        .map(|(id, _)| (id, map.pages_of(id).filter(|(_, page)| page.is_torrent()).count()))
        .collect();
    let ends: HashSet<UrlId> = map.pages().filter_map(|(_, page)| page.moved_to).collect();
    let shapes: Vec<ShapeId> = map.shapes().map(|(id, _)| id).collect();
    let mut best: Option<(f64, ShapeId, Vec<UrlId>, usize)> = None;
    for shape in shapes {
        let read = map.pages_of(shape).count();
        let value = evidence.value(shape);
        let is_download = evidence.downloads.contains(&shape);
        let cap = match () {
            () if is_download && of_others(&torrents, shape) >= TORRENTS_ENOUGH => 1,
            () if is_download => 4,
            () if value > 0.0 => 8,
            () if read > 0 && value == 0.0 => 2,
            () => 3,
        };
        // A board of talk comes first on many a forum: what words speak for is tried on other lists, too.
        let is_named = || map.urls_of(shape).first().is_some_and(|url| prior(map.path(*url), "") >= NAMED);
        if read >= cap && !(value == 0.0 && read < NAMED_PAGES && is_named()) {
            continue;
        }
        let form = map.shape(shape);
        let is_barren = |(pages, value): (usize, f64), most: usize| pages >= most && value == 0.0;
        let is_spent =
            is_barren(of_path[&form.path], BARREN_OF_PATH) || is_barren(of_action[&action(form)], BARREN_OF_ACTION);
        let keys = of_keys[&(form.path.clone(), form.keys().map(str::to_owned).collect())] - read;
        if value == 0.0 && (keys >= BARREN_OF_KEYS && read >= 1 || is_spent) {
            continue;
        }
        let allowed = allowed_of(map, shape, &ends, robots);
        if allowed.is_empty() {
            continue;
        }
        let of = |count: usize| allowed.iter().take(count).map(|id| map.url(*id));
        let words = of(3).map(|url| prior(&url.path, &url.text)).fold(0.0, f64::max);
        let is_row = of(5).any(|url| url.repeats >= ROWS_MIN);
        if asker.is_member && !speaks_for(map, shape, asker, words, is_row, value) {
            continue;
        }
        let prior = if is_row { (words + 0.2_f64).min(1.0) } else { words };
        // No answer, or a redirect to what robots.txt closes, says nothing of the shape.
        let answered = map.pages_of(shape).filter(|(_, page)| page.is_answered()).count();
        let (read_f, keys_f) = (answered as f64, keys.min(4) as f64);
        let mean = (2.0 * prior + read_f * value) / (2.0 + read_f);
        let unknown = 1.0 / (1.0 + read_f + 0.5 * keys_f).sqrt();
        let many = ((1.0 + map.urls_of(shape).len() as f64).log2() / 8.0).min(1.0);
        let mut score = (mean + 0.25 * unknown) * (0.5 + 0.5 * many) / (1.0 + 0.35 * read_f);
        if is_download && read > 0 {
            score *= 0.5;
        }
        if best.as_ref().is_none_or(|(other, ..)| score > *other) {
            best = Some((score, shape, allowed, read));
        }
    }
    let (score, shape, mut allowed, read) = best?;
    // A page that has given none yet is another part of the site; the last one listed is the end of a pager.
    let given: HashSet<Option<UrlId>> = map.pages_of(shape).map(|(id, _)| map.url(id).from).collect();
    allowed.sort_by_key(|id| given.contains(&map.url(*id).from));
    let url = if read == 2 { *allowed.last()? } else { *allowed.first()? };
    Some(Pick { url, score })
}

/// The first URLs of a shape that may be asked for.
fn allowed_of(map: &mut Map, shape: ShapeId, ends: &HashSet<UrlId>, robots: &dyn Fn(&str) -> bool) -> Vec<UrlId> {
    let free = |id: &UrlId| map.page(*id).is_none() && !ends.contains(id) && map.url(*id).refused.is_none();
    let free: Vec<UrlId> = map.urls_of(shape).iter().copied().filter(free).take(CANDIDATES).collect();
    let mut allowed = Vec::new();
    for id in free {
        if map.refuse(id).is_some() || guard::waits(map.path(id), map.pages_read()) {
            continue;
        }
        if !robots(map.path(id)) {
            map.refuse_as(id, Refused::Robots);
            continue;
        }
        allowed.push(id);
    }
    allowed
}

/// A member asks only for what led to torrents, what words speak for, and rows that are told apart by titles.
fn speaks_for(map: &Map, shape: ShapeId, asker: &Asker, words: f64, is_row: bool, value: f64) -> bool {
    const NOTHING_SAID: f64 = 0.3;
    if value > 0.0 || words > NOTHING_SAID {
        return true;
    }
    let urls = map.urls_of(shape);
    let texts: HashSet<&str> = urls.iter().map(|id| &*map.url(*id).text).filter(|text| !text.is_empty()).collect();
    let is_titled = is_row && texts.len() * 2 >= urls.len();
    // What stands in the menu of every page has words that this one lacks; the start page leads on by sections.
    let is_section = words == NOTHING_SAID && !is_row && map.shape(shape).places() == 0;
    (is_titled || is_section) && !asker.barren.contains(&map.shape(shape).to_string())
}
