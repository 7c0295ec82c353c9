//! Which hosts may be new sources of torrents, by what known sites and their torrents name (LEARNING §17). Pure: nothing is asked of a host.
//!
//! Each *site* has one vote for a host. That is the weight by which Bharat and Henzinger (SIGIR 1998) mend HITS (Kleinberg, JACM 1999):
//! without it, a site that praises one shop on each page decides, and a template's links count as often as the site has pages.
//!
//! score = sites + 2·sites with our words beside the link + 2·sites with it in rows + authority / max
//!       + 4·sites whose torrents announce there + 3·sites whose torrents name it otherwise
//!
//! The last two are less than one a site where its torrents name many trackers or few torrents name the host ([`torrents`]).

mod authority;
pub mod host;
pub mod torrents;

use std::collections::{BTreeMap, BTreeSet};

use gleaner_frontier::offsite::OffsiteHosts;

use self::host::Own;
use self::torrents::TorrentVotes;
use crate::limits::PROPOSAL_LINKS_MAX;

/// Weights of the score. Measured on made-up graphs only: see the tests.
const WITH_WORDS: f64 = 2.0;
const IN_ROWS: f64 = 2.0;
const ANNOUNCED: f64 = 4.0;
const NAMED: f64 = 3.0;

/// A page with a link to a proposed host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Example {
    pub site: String,
    pub page: String,
}

/// A host that may be a new source, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposal {
    pub host: String,
    pub score: f64,
    /// Sites that link to it or whose torrents name it.
    pub sites: BTreeSet<String>,
    /// Of these, sites whose pages link to it.
    pub linking_sites: u64,
    pub sites_with_words: u64,
    pub sites_in_rows: u64,
    /// Sites whose template links to it.
    pub template_sites: u64,
    /// Pages of known sites with a link to it.
    pub pages: u64,
    /// Up to `limits::PROPOSAL_LINKS_MAX` of them.
    pub examples: Vec<Example>,
    /// Torrents that were read and announce to it.
    pub announced_torrents: u64,
    /// Torrents that were read and name it in `comment`, `publisher-url` or `source`.
    pub named_torrents: u64,
}

/// Ranks the hosts that the pages of these sites, by name, and these torrents name. Own hosts, public suffixes and addresses are none.
/// Equal scores are in the order of names.
#[must_use]
pub fn rank(sites: &[(String, OffsiteHosts)], torrents: &TorrentVotes, own: &Own) -> Vec<Proposal> {
    let mut found: BTreeMap<String, Proposal> = BTreeMap::new();
    for (site, links) in sites {
        add_links(&mut found, site, links, own);
    }
    for vote in torrents.votes() {
        let Some(host) = host::proposable(vote.host, own) else { continue };
        let of = found.entry(host).or_default();
        of.sites.insert(vote.site.to_owned());
        of.score += ANNOUNCED * vote.announced + NAMED * vote.named;
        of.announced_torrents += vote.announced_torrents;
        of.named_torrents += vote.named_torrents;
    }
    let authorities = authority::of(sites, own);
    let mut ranked: Vec<Proposal> = found
        .into_iter()
        .map(|(host, of)| {
            let score = of.score + authorities.get(&host).copied().unwrap_or_default();
            Proposal { host, score, ..of }
        })
        .collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.host.cmp(&other.host)));
    ranked
}

/// Adds the votes of one site's pages. Several of its hosts may be one proposal: `www.h` and `h`.
fn add_links(found: &mut BTreeMap<String, Proposal>, site: &str, links: &OffsiteHosts, own: &Own) {
    let mut voted: BTreeMap<String, (bool, bool, bool)> = BTreeMap::new();
    for (name, of) in links.hosts() {
        let Some(host) = host::proposable(name, own) else { continue };
        let (has_words, in_rows, of_template) = voted.entry(host.clone()).or_default();
        *has_words |= of.word_pages > 0;
        *in_rows |= of.row_pages > 0 && !links.is_template(name);
        *of_template |= links.is_template(name);
        let proposal = found.entry(host).or_default();
        proposal.pages += of.pages;
        let free = PROPOSAL_LINKS_MAX.saturating_sub(proposal.examples.len());
        let example = |page: &str| Example { site: site.to_owned(), page: page.to_owned() };
        proposal.examples.extend(of.examples().take(free).map(example));
    }
    for (host, (has_words, in_rows, of_template)) in voted {
        let proposal = found.entry(host).or_default();
        proposal.sites.insert(site.to_owned());
        proposal.linking_sites += 1;
        proposal.sites_with_words += u64::from(has_words);
        proposal.sites_in_rows += u64::from(in_rows);
        proposal.template_sites += u64::from(of_template);
        proposal.score += 1.0 + if has_words { WITH_WORDS } else { 0.0 } + if in_rows { IN_ROWS } else { 0.0 };
    }
}

#[cfg(test)]
mod tests;
