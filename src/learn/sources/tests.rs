//! Unit tests of `sources`: the ranking on made-up graphs of links, as `hits.py` of the study makes them.

use gleaner_frontier::offsite::OffsiteLink;
use gleaner_torrent::origin::Origin;

use super::*;

/// SplitMix64: the same graph for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() * end as f64) as usize
    }

    /// One of `count`, the n-th with probability proportional to n^-power.
    fn zipf(&mut self, count: usize, power: f64) -> usize {
        let weight = |n: usize| ((n + 1) as f64).powf(-power);
        let mut left = self.next() * (0..count).map(weight).sum::<f64>();
        (0..count).find(|n| (left -= weight(*n), left <= 0.0).1).unwrap_or(count - 1)
    }

    fn several(&mut self, many: usize, mut one: impl FnMut(&mut Self) -> usize) -> Vec<usize> {
        let mut chosen = Vec::new();
        while chosen.len() < many {
            let next = one(self);
            if !chosen.contains(&next) {
                chosen.push(next);
            }
        }
        chosen
    }
}

const TOPIC: usize = 40;
const NOISE: usize = 300;

fn topic(n: usize) -> String {
    format!("t{n}.example")
}

fn noise(n: usize) -> String {
    format!("n{n}.example")
}

/// One page: links with five links of the site between each two, but within rows.
#[derive(Default)]
struct Made {
    links: Vec<OffsiteLink>,
    place: usize,
}

impl Made {
    fn link(&mut self, host: String, in_rows: bool, has_words: bool) {
        self.place += if in_rows { 1 } else { 6 };
        self.links.push(OffsiteLink { host: host.into(), place: self.place, has_words });
    }
}

/// Pages of six sites: templates with friends and advertisements, descriptions that link to all sorts, some links to the topic, now and then
/// a page of links, and a member who praises one shop with our words.
fn graph(dice: &mut Dice) -> Vec<(String, OffsiteHosts)> {
    let mut sites = Vec::new();
    for site in 0..6 {
        let mut hosts = OffsiteHosts::default();
        let friends = dice.several(3, |dice| dice.zipf(TOPIC, 0.7));
        let advertisements = dice.several(4, |dice| dice.zipf(NOISE, 1.0));
        let shop = dice.below(NOISE);
        for page in 0..60 + dice.below(140) {
            let mut made = Made::default();
            // Poisson with a mean of 1.2, nearly.
            while dice.next() < 1.2 / 2.2 {
                made.link(noise(dice.zipf(NOISE, 1.0)), false, dice.next() < 0.05);
            }
            if dice.next() < 0.08 {
                made.link(topic(dice.zipf(TOPIC, 0.7)), false, dice.next() < 0.6);
            }
            if page % 40 == 7 {
                made.place += 10;
                let many = 4 + dice.below(8);
                for host in dice.several(many, |dice| dice.below(TOPIC)) {
                    made.link(topic(host), true, dice.next() < 0.5);
                }
                let many = 1 + dice.below(4);
                for host in dice.several(many, |dice| dice.below(NOISE)) {
                    made.link(noise(host), true, dice.next() < 0.05);
                }
            }
            if dice.next() < 0.1 {
                (0..6).for_each(|_| made.link(noise(shop), false, true));
            }
            made.place += 10;
            friends.iter().for_each(|host| made.link(topic(*host), true, dice.next() < 0.3));
            advertisements.iter().for_each(|host| made.link(noise(*host), true, dice.next() < 0.03));
            hosts.add(&made.links, || format!("http://s{site}.example/{page}"));
        }
        sites.push((format!("s{site}"), hosts));
    }
    sites
}

#[test]
fn the_first_ten_of_forty_made_up_graphs_are_sources() {
    let none = TorrentVotes::default();
    let mut right = 0;
    for seed in 0..40 {
        let ranked = rank(&graph(&mut Dice(seed)), &none, &Own::default());
        right += ranked.iter().take(10).filter(|proposal| proposal.host.starts_with('t')).count();
    }
    println!("P@10 {:.3}", f64::from(u16::try_from(right).unwrap()) / 400.0);
    assert!(right >= 380, "P@10 {right} of 400");
}

fn links(of: &[(&str, bool)]) -> OffsiteHosts {
    let mut hosts = OffsiteHosts::default();
    for (number, (host, has_words)) in of.iter().enumerate() {
        let link = OffsiteLink { host: (*host).into(), place: 0, has_words: *has_words };
        hosts.add(&[link], || format!("http://p.example/{number}"));
    }
    hosts
}

#[test]
fn a_site_has_one_vote_and_own_hosts_are_not_proposed() {
    let loud = links(&[("shop.example", true); 50]);
    let quiet = links(&[
        ("www.source.example", true),
        ("source.example", false),
        ("img.own.example", true),
        ("10.0.0.1", true),
    ]);
    let sites = [("a".to_owned(), loud), ("b".to_owned(), quiet.clone()), ("c".to_owned(), quiet)];
    let ranked = rank(&sites, &TorrentVotes::default(), &Own::of(["own.example"].into_iter()));
    let told: Vec<_> = ranked
        .iter()
        .map(|of| (&*of.host, of.linking_sites, of.sites_with_words, of.template_sites, of.pages))
        .collect();
    assert_eq!(told, [("source.example", 2, 2, 0, 4), ("shop.example", 1, 1, 1, 50)]);
    assert!((ranked[0].score - 7.0).abs() < 1e-9 && ranked[1].score < 4.0, "{ranked:?}");
    assert_eq!(ranked[0].examples.len(), PROPOSAL_LINKS_MAX);
}

#[test]
fn what_torrents_announce_counts_more_than_what_they_name_and_both_more_than_a_link() {
    let mut torrents = TorrentVotes::default();
    let announced = Origin { trackers: vec!["https://tracker.first.example/KEY".into()], ..Origin::default() };
    let named = Origin { comment: Some("https://second.example/7".into()), ..Origin::default() };
    for _ in 0..20 {
        torrents.add(["a"].into_iter(), &announced);
        torrents.add(["a"].into_iter(), &named);
    }
    let sites = [("a".to_owned(), links(&[("third.example", false)]))];
    let ranked = rank(&sites, &torrents, &Own::default());
    let told: Vec<_> = ranked.iter().map(|of| (&*of.host, of.announced_torrents, of.named_torrents)).collect();
    assert_eq!(told, [("first.example", 20, 0), ("second.example", 0, 20), ("third.example", 0, 0)]);
}
