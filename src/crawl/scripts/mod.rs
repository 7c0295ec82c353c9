//! The scripts of pages, and what stands in their place: one door for a visit, which hears by an [`End`] what came of them.
//!
//! `errands` sends what scripts ask for, `rendering` runs them where `evidence` says so, `again` once more, `shortcut` asks for their data
//! in their place. What pages share of all that is in `shared`.

mod again;
pub mod books;
pub mod errands;
pub mod evidence;
pub mod page;
pub mod rendered;
pub(crate) mod rendering;
pub mod shared;
mod shelf;
mod shortcut;
mod storages;

use crate::limits;
use errands::Trouble;
use gleaner_store::crawldb::faults;
use page::Made;
pub use page::{End, NoPage, PageVisit, SentPage};

/// Asks for a page's data in its place, where it is known which request brings them. `is_watched` for what is rechecked.
pub async fn in_place_of(of: PageVisit<'_>, is_watched: bool) -> End {
    shortcut::visit(of, is_watched).await
}

/// Runs the scripts of a page that was sent, or asks for their data, as far as its rules and what is known of its likes want that.
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
        // Its scripts may have been fixed by the next recheck.
        if is_watched {
            scripts.shelf.forget_scripts();
        }
    }
    End::Made(Box::new(made))
}

/// Runs a page's scripts where that is wanted. A page may need no scripts, or such as the engine cannot run: what its endpoint gives is
/// taken beside them where nothing came of them, or nothing that the endpoint was compared with.
async fn render(of: PageVisit<'_>, sent: SentPage<'_>) -> Option<Made> {
    let PageVisit { scripts, job, errands } = of;
    let made = rendering::render(of, sent).await;
    // Without renders an endpoint has had its say already.
    if !scripts.may_render(job.class) {
        return made;
    }
    let gained = made.as_ref().is_some_and(|made| made.gained);
    let Ok(page) = job.url.to_url() else { return made };
    let is_compared = gained && scripts.shortcuts.book(job.class, |book| book.is_due(&page)) != Some(true);
    // What a guest sees is no page of the site's, and says nothing of its data.
    let is_closed = sent.read.nofollow
        || sent.read.denied.is_some()
        || made.as_ref().is_some_and(|made| made.read.denied.is_some());
    let trouble = errands.trouble();
    if is_compared || is_closed || trouble == Trouble::KeptBack {
        return made;
    }
    scripts.shortcuts.book(job.class, |book| book.defer(&page));
    // It is visited again, and then by its data.
    if trouble == Trouble::Unanswered && !gained && faults(job.lease.attempts) + 1 < limits::ATTEMPTS_MAX {
        return made;
    }
    let Some(endpoint) = scripts.shortcuts.book(job.class, |book| book.in_place_of_render(&page)).flatten() else {
        return made;
    };
    errands.give_back(&job.url, scripts.clock.now());
    let left_out = errands.not_whole.take();
    let by_data = shortcut::by_data(of, sent, (&endpoint, &page, false)).await;
    // Where scripts have shown nothing, data that are all there make up for what they were to show.
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
