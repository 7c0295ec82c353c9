//! The shares of a site's rules in its requests, as a table of `gleaner rules explain SITE` and as JSON.

use std::io::{self, Write};

use serde_json::json;

use super::block_on;
use crate::app::database::Database;
use gleaner_crawl::frontier::shares::{RuleShare, Shares, is_useless};
use gleaner_crawl::worth;
use gleaner_rules::config::Config;
use gleaner_rules::{Rule, SiteRules};

/// Reads the note of the database of this data folder, or of the process that holds it. None without a database.
fn read(config: &Config, site: &SiteRules) -> Result<Option<Shares>, String> {
    let asked = block_on(async {
        let Some(db) = Database::of(&config.into()).await? else { return Ok(None) };
        Ok(Some(worth::shares(db.reader(), site).await?))
    });
    asked.map_err(|error| format!("the database cannot be read: {error:#}"))
}

/// Prints the shares of a site's rules, the best first. False if nothing was fetched yet.
pub(super) fn tell(config: &Config, site: &SiteRules, out: &mut impl Write) -> io::Result<bool> {
    let shares = match read(config, site) {
        Ok(shares) => shares.unwrap_or_default(),
        Err(why) => {
            writeln!(out, "  shares      {why}")?;
            return Ok(false);
        }
    };
    table(site, &shares, out)
}

fn table(site: &SiteRules, shares: &Shares, out: &mut impl Write) -> io::Result<bool> {
    let (rules, of_last) = best_first(shares);
    if rules.is_empty() {
        writeln!(out, "  shares      none: no URL of a rule was fetched yet")?;
        return Ok(false);
    }
    writeln!(
        out,
        "  shares      torrents per request that a URL of the rule leads to, new torrents per fetch of it, and its part of the last {of_last} requests"
    )?;
    writeln!(out, "    per request  per fetch  fetched  torrents  requests  rule")?;
    for share in &rules {
        let RuleShare { index, fetched, torrents, of_last, .. } = *share;
        let per_fetch = per_fetch(share);
        let rule = named(site, share);
        writeln!(out, "    {index:>11.3}  {per_fetch:>9.3}  {fetched:>7}  {torrents:>8}  {of_last:>8}  {rule}")?;
    }
    for share in rules.iter().filter(|share| is_useless(share)) {
        let (rule, fetched) = (named(site, share), share.fetched);
        writeln!(out, "  remove?     {rule}: its {fetched} fetches led to fewer than one torrent in 1,000 requests")?;
    }
    Ok(true)
}

/// Prints the same as one JSON object.
pub(super) fn tell_json(config: &Config, site: &SiteRules, out: &mut impl Write) -> anyhow::Result<bool> {
    let shares = read(config, site).map_err(|why| anyhow::anyhow!(why))?.unwrap_or_default();
    let (rules, of_last) = best_first(&shares);
    let told: Vec<serde_json::Value> = rules
        .iter()
        .map(|share| {
            let rule = rule_of(site, share);
            json!({
                "class": rule.map(Rule::key),
                "pattern": rule.map(|rule| rule.pattern.to_string()),
                "place": rule.map(Rule::place),
                "fetched": share.fetched,
                "torrents": share.torrents,
                "torrents_per_fetch": per_fetch(share),
                "torrents_per_request": share.index,
                "torrents_per_request_of_all": share.index_of_all,
                "of_last_requests": share.of_last,
                "shapes": share.shapes,
                "is_useless": is_useless(share),
            })
        })
        .collect();
    writeln!(out, "{}", json!({ "site": *site.name, "last_requests": of_last, "rules": told }))?;
    Ok(!rules.is_empty())
}

fn best_first(shares: &Shares) -> (Vec<RuleShare>, usize) {
    let (mut rules, of_last) = shares.by_rule();
    rules.retain(|share| share.fetched > 0);
    rules.sort_by(|one, other| other.index.total_cmp(&one.index));
    (rules, of_last)
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn per_fetch(share: &RuleShare) -> f64 {
    share.torrents as f64 / share.fetched.max(1) as f64
}

fn rule_of<'a>(site: &'a SiteRules, share: &RuleShare) -> Option<&'a Rule> {
    site.rules().get(share.rule?)
}

fn named(site: &SiteRules, share: &RuleShare) -> String {
    match rule_of(site, share) {
        Some(rule) => format!("{} '{}' ({})", rule.key(), rule.pattern, rule.place()),
        None => "shapes that are too many to be told apart".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_rules::{Class, from_text};

    #[test]
    fn rules_are_shown_the_best_first_and_a_useless_one_is_named() {
        let text = "start = ['http://h.example/']\n[classes]\ndetail = ['^/t/']\ndownload = ['^/dl/']\npage = ['^/help/', '^/$']\n";
        let site = from_text("s", text).unwrap();
        let number = |key: &str| site.rules().iter().position(|rule| rule.key().contains(key)).unwrap();
        let mut shares = Shares::default();
        let mut out = Vec::new();
        assert!(!table(&site, &shares, &mut out).unwrap());
        let detail = shares.rank(Class::Detail, number("detail"), "/t/1");
        let download = shares.rank(Class::Download, number("download"), "/dl/1");
        let help = shares.rank(Class::Page, number("page"), "/help/1");
        for _ in 0..500 {
            shares.fetched(help, 0, &[]);
            shares.fetched(detail, 0, &[(download, 1)]);
            shares.fetched(download, 1, &[]);
        }
        assert!(table(&site, &shares, &mut out).unwrap());
        let told = String::from_utf8(out).unwrap();
        let at = |what: &str| told.find(what).unwrap_or_else(|| panic!("{what} is not in {told}"));
        assert!(at("'^/dl/'") < at("'^/t/'") && at("'^/t/'") < at("'^/help/'"), "{told}");
        assert!(at("remove?") > at("'^/help/'") && told.matches("remove?").count() == 1, "{told}");
        assert!(told.contains("last 200 requests") && told.contains("500       500"), "{told}");
    }
}
