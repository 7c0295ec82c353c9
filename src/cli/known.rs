//! The database's record of a URL, as lines of `gleaner rules explain`.

use super::rules::UrlKnowledge;
use super::{block_on, learned};
use crate::app::database::Database;
use crate::app::queues::{KnownUrl, Queued, when};
use crate::app::status;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::frontier::budgets::Cut;
use gleaner_crawl::frontier::shape::Shape;
use gleaner_crawl::frontier::traps::trap_form;
use gleaner_crawl::worth;
use gleaner_rules::config::Config;
use gleaner_rules::{SiteRules, Verdict};
use gleaner_store::crawldb::Outcome;

/// Queries the database of this configuration's data folder, or the process that holds it. Empty if no crawl has started
/// there: explaining a rule needs no database.
pub(super) fn of(config: &Config, site: &SiteRules, url: &CrawlUrl) -> UrlKnowledge {
    let asked = block_on(async {
        let Some(db) = Database::of(&config.into()).await? else { return Ok(UrlKnowledge::default()) };
        // URLs on mirrors are recorded under the site's first host.
        let url = site.without_mirror(url.clone());
        let known = db.known_url(&site.name, url.origin(), url.path()).await?;
        let cuts = match &known {
            Some(KnownUrl { last: Some((Outcome::Trapped, _)), .. }) => status::cuts(db.reader(), &site.name).await?,
            _ => Vec::new(),
        };
        let yields = worth::yields(db.reader(), site).await?;
        Ok(UrlKnowledge { yields, lines: lines(site, &url, known.as_ref(), &cuts) })
    });
    let asked = asked.map(|mut known| {
        if let Verdict::Take { class, .. } = site.judge(url) {
            known.lines.extend(learned::of_page(config, site, class.name(), url.as_str()));
        }
        known
    });
    asked.unwrap_or_else(|error| {
        let why = format!("the database cannot be read: {}", format!("{error:#}").replace('\n', "\n              "));
        UrlKnowledge { lines: vec![("known", why)], ..UrlKnowledge::default() }
    })
}

fn lines(site: &SiteRules, url: &CrawlUrl, known: Option<&KnownUrl>, cuts: &[Cut]) -> Vec<(&'static str, String)> {
    let Some(KnownUrl { depth, first_seen, last, attempts, queued }) = known else {
        return vec![("known", "not to the crawl: no page that it has read links to it".to_owned())];
    };
    let links = if *depth == 1 { "link" } else { "links" };
    let mut lines = vec![("known", format!("since {}, {depth} {links} from a start URL", first_seen.rfc3339()))];
    lines.push(match last {
        None => ("visited", "not yet".to_owned()),
        Some((outcome, at)) if outcome.was_fetched() => ("visited", format!("{}: {}", at.rfc3339(), outcome.name())),
        Some((outcome, at)) => ("tried", format!("{}: {}, not fetched", at.rfc3339(), outcome.name())),
    });
    if let (faulty @ 1.., _) | (faulty, 1..) = *attempts {
        lines.push(("attempts", format!("{faulty} failed, {} refused for their rate", attempts.1)));
    }
    match *queued {
        Queued::Behind { ahead, due } => {
            lines.push(("queued", format!("due {}, {ahead} others of its host ahead of it", when(due))));
        }
        Queued::Unknown { ahead } => {
            lines.push((
                "queued",
                format!("not among the first {ahead} of its host: later in the queue, or not queued"),
            ));
        }
        Queued::No => match last.and_then(|(outcome, _)| parked(site, url, outcome, cuts)) {
            Some(why) => lines.push(("parked", why)),
            None => lines.push(("queued", "no: it is done".to_owned())),
        },
    }
    lines
}

/// Why a URL is parked, and what unparks it; None if it is not parked.
fn parked(site: &SiteRules, url: &CrawlUrl, outcome: Outcome, cuts: &[Cut]) -> Option<String> {
    Some(match outcome {
        Outcome::RobotsDenied => format!("by {}/robots.txt, until that changes", url.origin()),
        Outcome::RulesRefused => format!("by the rules of {}, until they change", site.file.display()),
        Outcome::OverBudget => {
            format!("deeper than depth_max = {} of {}, until that changes", site.depth_max, site.file.display())
        }
        Outcome::LeftOut => format!(
            "a list shows its torrent, which is stored, and pages like it show no more; until one does, or `lean = false` in {}",
            site.file.display()
        ),
        Outcome::Walled => "others of its rule were refused alike, until one of them is answered".to_owned(),
        Outcome::Trapped => {
            let shape = Shape::of(url.path());
            let form = trap_form(url.path());
            let is_its = |cut: &&Cut| form.map_or(cut.shape == shape.as_str(), |form| cut.shape == form.name());
            let reason = match (form, cuts.iter().find(is_its)) {
                (Some(form), _) => format!("{}: {}", form.name(), form.sentence()),
                (None, Some(cut)) => cut.reason.clone(),
                (None, None) => "pages of its shape led to too few torrents".to_owned(),
            };
            format!("as a trap ({}), until its shape recovers or the rules change: {reason}", shape.as_str())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_base::clock::UnixMillis;
    use gleaner_rules as rules;

    #[test]
    fn what_is_parked_names_what_parked_it() {
        let text = "start = ['http://h.example/']\ndepth_max = 3\n[classes]\nindex = ['.']\n";
        let site = rules::from_text("s", text).unwrap();
        let told = |path: &str, outcome: Option<Outcome>, queued| {
            let url = CrawlUrl::from_parts("http://h.example", path);
            let last = outcome.map(|outcome| (outcome, UnixMillis(1_000)));
            let known = KnownUrl { depth: 4, first_seen: UnixMillis(0), last, attempts: (2, 0), queued };
            let lines = lines(&site, &url, Some(&known), &[]);
            lines.into_iter().map(|(what, line)| format!("{what} {line}\n")).collect::<String>()
        };
        let said = [
            (Outcome::RobotsDenied, "parked by http://h.example/robots.txt"),
            (Outcome::RulesRefused, "parked by the rules of"),
            (Outcome::OverBudget, "parked deeper than depth_max = 3"),
            (Outcome::Trapped, "parked as a trap (/"),
            (Outcome::Walled, "parked others of its rule were refused alike"),
            (Outcome::LeftOut, "parked a list shows its torrent"),
        ];
        for (outcome, wanted) in said {
            let told = told("/a/b?page=7", Some(outcome), Queued::No);
            assert!(told.contains(wanted) && told.contains(", not fetched") && told.contains("4 links"), "{told}");
        }
        let done = told("/a", Some(Outcome::Page), Queued::No);
        assert!(
            done.contains("visited 1970-01-01T00:00:01Z: page\n") && done.contains("queued no: it is done"),
            "{done}"
        );
        let next = told("/a", None, Queued::Behind { ahead: 7, due: UnixMillis(0) });
        assert!(next.contains("queued due now, 7 others") && next.contains("attempts 2 failed"), "{next}");
    }
}
