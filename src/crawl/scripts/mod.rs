//! The scripts of pages, and what replaces them: the single interface for visits, which get the result as an [`End`].
//!
//! `errands` sends the requests of scripts, `live` knows those that are not sent, `rendering` runs them if `evidence` decides so, `again` runs them once more, `shortcut`
//! requests their data instead. `shared` holds what pages share of all that.

mod again;
pub mod books;
pub mod errands;
pub mod evidence;
pub mod live;
pub mod page;
pub mod rendered;
pub(crate) mod rendering;
pub mod shared;
mod shelf;
mod shortcut;
mod storages;
mod stream;

use crate::limits;
use errands::Trouble;
use gleaner_store::crawldb::faults;
use page::Made;
pub use page::{End, NoPage, PageVisit, SentPage};

/// Requests a page's data in its place, if the request that returns them is known. `is_watched` for what is rechecked.
pub async fn in_place_of(of: PageVisit<'_>, is_watched: bool) -> End {
    shortcut::visit(of, is_watched).await
}

/// Runs the scripts of a page that was fetched, or requests their data, as its rules and the results for similar pages require.
pub async fn run(of: PageVisit<'_>, sent: SentPage<'_>, is_watched: bool) -> End {
    let PageVisit { scripts, job, errands } = of;
    let made = match shortcut::beside(of, sent).await {
        Some(made) => Some(made),
        None => render(of, sent).await,
    };
    let has_more = made.as_ref().is_some_and(|made| made.gained);
    let is_last_try = faults(job.lease.attempts) + 1 >= limits::ATTEMPTS_MAX;
    match errands.trouble() {
        Trouble::KeptBack => return End::kept_back("requests of its scripts were withheld"),
        Trouble::NoProcess => {
            let why = "no process could be started for its scripts".to_owned();
            return End::NoPage(NoPage::KeptBack { why, pause: limits::RENDER_NO_PROCESS_PAUSE });
        }
        Trouble::Died if !has_more && !is_last_try => return End::NoPage(NoPage::Again("its render processes died")),
        Trouble::Empty if !has_more && !is_last_try => {
            return End::NoPage(NoPage::Again("it shows nothing after its scripts, unlike pages of its kind"));
        }
        Trouble::Unanswered if !has_more && !is_last_try => {
            return End::NoPage(NoPage::Again("requests of its scripts were not answered"));
        }
        Trouble::Unanswered if !has_more => errands.not_whole.tell("requests of its scripts were not answered"),
        _ => {}
    }
    let Some(mut made) = made else { return End::AsSent };
    if let Some(nothing) = made.nothing.take() {
        if let Some(why) = &nothing.why {
            errands.not_whole.tell(&format!("it shows nothing after its scripts: {why}"));
        }
        rendering::tell_nothing(scripts, &job.url, nothing);
        // By the next recheck its scripts may have been fixed.
        if is_watched {
            scripts.shelf.forget_scripts();
        }
    }
    End::Made(Box::new(made))
}

/// Runs a page's scripts if required. A page may need no scripts, or scripts that the engine cannot run: the data of its endpoint are
/// used in addition if the scripts yielded nothing, or nothing that the endpoint was compared with.
async fn render(of: PageVisit<'_>, sent: SentPage<'_>) -> Option<Made> {
    let PageVisit { scripts, job, errands } = of;
    let made = rendering::render(of, sent).await;
    // Without renders the endpoint was used already.
    if !scripts.may_render(job.class) || !shortcut::has_any(scripts, job) {
        return made;
    }
    let gained = made.as_ref().is_some_and(|made| made.gained);
    let Ok(page) = job.url.to_url() else { return made };
    let is_compared = gained && scripts.shortcuts.book(job.class, |book| book.is_due(&page)) != Some(true);
    // A guest's view is no page of the site's, and says nothing of its data.
    let is_closed = sent.read.nofollow
        || sent.read.denied.is_some()
        || made.as_ref().is_some_and(|made| made.read.denied.is_some());
    let trouble = errands.trouble();
    if is_compared || is_closed || trouble == Trouble::KeptBack {
        return made;
    }
    scripts.shortcuts.book(job.class, |book| book.defer(&page));
    // It is revisited, and then by its data.
    if trouble == Trouble::Unanswered && !gained && faults(job.lease.attempts) + 1 < limits::ATTEMPTS_MAX {
        return made;
    }
    let Some(endpoint) = scripts.shortcuts.book(job.class, |book| book.in_place_of_render(&page)).flatten() else {
        return made;
    };
    errands.give_back(&job.url, scripts.clock.now());
    let left_out = errands.not_whole.take();
    let by_data = shortcut::by_data(of, sent, (&endpoint, &page, false)).await;
    // If scripts have shown nothing, complete data replace what they would have shown.
    if let Some(why) = left_out.filter(|_| gained || !by_data.as_ref().is_some_and(|made| made.gained)) {
        errands.not_whole.tell(&why);
    }
    match (by_data, made) {
        (Some(mut by_data), Some(made)) => {
            by_data.detail = format!("{}; {}", by_data.detail, made.detail);
            by_data.read.add(&made.read);
            Some(Made { html: made.html, gained: by_data.gained || made.gained, ..by_data })
        }
        (by_data, made) => by_data.or(made),
    }
}
