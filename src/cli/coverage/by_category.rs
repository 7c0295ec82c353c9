//! The coverage of a site by what its torrents are: by its own labels, which lists give to links; where it has none, by the category of each torrent
//! in the archive, of which nobody knows how many the site has.

use serde::Serialize;

use crate::app::database::Database;
use crate::cli::{categories, search};
use gleaner_base::newznab::full_name;
use gleaner_rules::config::Config;
use gleaner_store::coverage::{LabelCoverage, SiteCoverage};

/// A site as `--by-category --json` prints it.
#[derive(Debug, Serialize)]
pub(super) struct ByCategory {
    pub site: String,
    /// By the site's own labels; empty if its pages do not say.
    pub by_label: Vec<LabelCoverage>,
    /// Otherwise what is in the archive, by category.
    pub had: Vec<CategoryCount>,
}

/// Torrents of a site that are in the archive, of one category.
#[derive(Debug, Serialize)]
pub(super) struct CategoryCount {
    pub number: u32,
    pub name: String,
    pub had: u64,
}

/// Reads what the coverage lacks: the categories of torrents on sites without labels.
pub(super) async fn of_sites(
    config: &Config,
    db: &Database,
    sites: Vec<SiteCoverage>,
) -> anyhow::Result<Vec<ByCategory>> {
    let mut all = Vec::with_capacity(sites.len());
    let lacks_labels = |site: &SiteCoverage| site.by_label.is_empty() && site.ci > 0;
    let index = if sites.iter().any(lacks_labels) { Some(search::level(config, db).await?) } else { None };
    for site in sites {
        let counts = match index.as_ref().filter(|_| lacks_labels(&site)) {
            Some(index) => categories::counts(index, Some(&site.site))?,
            None => std::collections::BTreeMap::new(),
        };
        let had = counts.into_iter().filter_map(|(number, had)| Some((number, full_name(number)?, had)));
        let mut had: Vec<CategoryCount> = had.map(|(number, name, had)| CategoryCount { number, name, had }).collect();
        had.retain(|count| count.had > 0);
        all.push(ByCategory { site: site.site, by_label: site.by_label, had });
    }
    Ok(all)
}

/// For people.
pub(super) fn text(sites: &[ByCategory]) -> String {
    let mut text = String::new();
    for ByCategory { site, by_label, had } in sites {
        text += &format!("{site}\n");
        if !by_label.is_empty() {
            let rows = by_label.iter().map(|row| {
                let label = row.label.clone().unwrap_or_else(|| "(without a label)".to_owned());
                let cr = row.cr.map_or_else(|| "unknown".to_owned(), |cr| format!("{:.2} %", cr * 100.0));
                [label, row.listed.to_string(), row.had.to_string(), cr]
            });
            text += &categories::table(["label", "listed", "had", "CR"], rows);
        } else if had.is_empty() {
            text += "  nothing is known of it by category\n";
        } else {
            text += "  its lists do not say what their links are: these are counts of what is had, and no coverage\n";
            let rows = had.iter().map(|row| [row.number.to_string(), row.name.clone(), row.had.to_string()]);
            text += &categories::table(["number", "category", "had"], rows);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_store::coverage::listed::LabelLinks;

    #[test]
    fn labels_have_a_coverage_and_categories_only_counts() {
        let links = |listed, visited, had| LabelLinks { listed, visited, had };
        let by_label = vec![
            LabelCoverage::new(Some("401".to_owned()), links(100, 50, 40), true),
            LabelCoverage::new(None, links(10, 0, 0), true),
        ];
        let site = ByCategory { site: "a".to_owned(), by_label, had: Vec::new() };
        let told = text(&[site]);
        assert!(told.contains("401") && told.contains("50.00 %") && told.contains("unknown"), "{told}");
        let had = vec![CategoryCount { number: 5_040, name: "TV/HD".to_owned(), had: 7 }];
        let told = text(&[ByCategory { site: "b".to_owned(), by_label: Vec::new(), had }]);
        assert!(told.contains("no coverage") && told.contains("TV/HD") && !told.contains('%'), "{told}");
        let unread = LabelCoverage::new(None, links(100, 50, 40), false);
        assert_eq!(unread.cr, None, "lists were not read");
    }
}
