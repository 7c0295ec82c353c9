//! Coverage as CSV for tables, and over time as a picture (SVG). Pure.

use std::fmt::Write as _;

use super::growth::GrowthPoint;
use super::{SiteCoverage, ratio};
use gleaner_base::clock::UnixMillis;

/// The terms of each site, a line for each; unknown ones are empty.
#[must_use]
pub fn terms_csv(sites: &[SiteCoverage]) -> String {
    let mut text = "site,cr,cr_is_at_most,ci,ni,ni_low,ni_high,nt,ci_per_nt,listed_stored,outside_lists,listed_magnets,index_pages,index_pages_read,updated,invalid,\
                    lists_unread,lists_waiting,lists_closed,downloads_unanswered,downloads_closed,pages_not_whole,requests,seconds,hr,stated,stated_is_more,ids_unknown,ids_torrents_low,ids_torrents_high\n"
        .to_owned();
    for SiteCoverage { site, nt, ci, ni, cr, cr_is_at_most, unread, rates, stated, ids, .. } in sites {
        let gaps = ids.first();
        let whole = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let cells = [
            cell(site),
            share(*cr),
            cr_is_at_most.to_string(),
            ci.to_string(),
            whole(ni.ni),
            whole(ni.ni_low),
            whole(ni.ni_high),
            whole(nt.nt),
            share(nt.ci_per_nt),
            ni.listed_stored.to_string(),
            ni.outside_lists.to_string(),
            ni.listed_magnets.to_string(),
            nt.index_pages.to_string(),
            nt.index_pages_read.to_string(),
            nt.updated.to_string(),
            nt.invalid.to_string(),
            unread.lists_unread.to_string(),
            unread.lists_waiting.to_string(),
            unread.lists_closed.to_string(),
            unread.downloads_unanswered.to_string(),
            unread.downloads_closed.to_string(),
            unread.pages_not_whole.to_string(),
            rates.pages.to_string(),
            rates.seconds.to_string(),
            share(rates.hr),
            whole(stated.stated),
            stated.stated_is_more.to_string(),
            whole(gaps.map(|gaps| gaps.unknown)),
            whole(gaps.map(|gaps| gaps.torrents_low)),
            whole(gaps.map(|gaps| gaps.torrents_high)),
        ];
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// Each site over time, a line for each time at which a torrent came.
#[must_use]
pub fn growth_csv(sites: &[SiteCoverage]) -> String {
    let mut text = "site,until,cr,ci,listed_stored\n".to_owned();
    for site in sites {
        for GrowthPoint { until, ci, listed_stored, cr } in &site.over_time {
            let _ = writeln!(text, "{},{},{},{ci},{listed_stored}", cell(&site.site), until.rfc3339(), share(*cr));
        }
    }
    text
}

fn share(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.6}")).unwrap_or_default()
}

/// A text in a cell (RFC 4180). Spreadsheets take what begins like a formula for one.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 480.0;
/// The plot area: left, top, right and bottom.
const AREA: [f64; 4] = [60.0, 40.0, 760.0, 430.0];

/// Of the lines, by turns; told apart in print by their titles and the legend's order.
const COLOURS: [&str; 8] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#17becf"];

/// Legend lines that fit.
const LEGEND_LINES: usize = 22;

/// The coverage of each site over time as SVG: time to the right, share of today's listed torrents upwards. A site without NI has no line.
#[must_use]
pub fn growth_svg(sites: &[SiteCoverage]) -> String {
    let times = || sites.iter().flat_map(|site| site.over_time.iter().map(|point| point.until.0));
    let (from, until) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let [left, top, right, bottom] = AREA;
    let x = |at: UnixMillis| {
        let along = ratio(at.0.saturating_sub(from), until.saturating_sub(from)).unwrap_or(1.0);
        left + (right - left) * along
    };
    let y = |share: f64| bottom - (bottom - top) * share.clamp(0.0, 1.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Coverage over time</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"22\" font-size=\"14\">Share of the torrents listed today that was in the archive</text>\n"
    );
    for percent in [0, 25, 50, 75, 100] {
        let at = y(f64::from(percent) / 100.0);
        let _ = write!(
            text,
            "<path d=\"M{left} {at}H{right}\" stroke=\"#ddd\"/>\n<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{percent} %</text>\n",
            left - 6.0,
            at + 4.0
        );
    }
    if times().next().is_some() {
        for (at, anchor) in [(from, "start"), (until, "end")] {
            let (at, label) = (x(UnixMillis(at)), UnixMillis(at).rfc3339());
            let _ = writeln!(text, "<text x=\"{at}\" y=\"{}\" text-anchor=\"{anchor}\">{label}</text>", bottom + 20.0);
        }
    }
    for (number, site) in sites.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let known: Vec<(f64, f64)> =
            site.over_time.iter().filter_map(|point| Some((x(point.until), y(point.cr?)))).collect();
        let now = site.cr.map_or_else(|| "unknown".to_owned(), |cr| format!("{:.1} %", cr * 100.0));
        let at_most = if site.cr_is_at_most { "≤ " } else { "" };
        let name = format!("{}: {at_most}{now}", marked_up(&site.site));
        if let Some(((first_x, first_y), later)) = known.split_first() {
            let steps: String = later.iter().map(|(x, y)| format!("H{x:.1}V{y:.1}")).collect();
            let _ = writeln!(
                text,
                "<path d=\"M{first_x:.1} {bottom:.1}V{first_y:.1}{steps}H{right}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"><title>{name}</title></path>"
            );
        }
        if number < LEGEND_LINES {
            #[allow(clippy::cast_precision_loss)] // a place on a picture
            let at = top + 8.0 + 18.0 * number as f64;
            let _ = writeln!(text, "<text x=\"{}\" y=\"{at}\" fill=\"{colour}\">{name}</text>", right + 12.0);
        }
    }
    text + "</svg>\n"
}

/// A text as character data or attribute of XML; control characters, which XML has not, are replaced.
fn marked_up(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::estimate::Estimate;
    use crate::coverage::listed::Links;
    use crate::crawldb::SiteCounts;

    fn site(name: &str, points: &[(u64, u64, Option<f64>)]) -> SiteCoverage {
        let mut site = super::super::coverage(name, &Estimate::default(), &Links::default(), &SiteCounts::default());
        site.cr = points.last().and_then(|point| point.2);
        let point = |&(hour, ci, cr): &(u64, u64, Option<f64>)| GrowthPoint {
            until: UnixMillis(hour * 3_600_000),
            ci,
            listed_stored: ci,
            cr,
        };
        site.over_time = points.iter().map(point).collect();
        site
    }

    #[test]
    fn names_break_neither_cells_nor_markup() {
        let names = ["=1+1", "a,\"b\"\n", "<script>&\u{0}", "'"];
        let sites: Vec<_> = names.iter().map(|name| site(name, &[(1, 1, Some(0.5)), (5, 2, Some(1.0))])).collect();
        let csv = growth_csv(&sites);
        assert!(csv.contains("\n'=1+1,1970-01-01T01:00:00Z,0.500000,1,1\n"), "{csv}");
        assert!(csv.contains("\n\"a,\"\"b\"\"\n\",1970"), "{csv}");
        let svg = growth_svg(&sites);
        assert!(svg.contains("&lt;script&gt;&amp;\u{fffd}: 100.0 %") && !svg.contains("<script"), "{svg}");
        let terms = terms_csv(&sites[..1]);
        let [head, row] = terms.lines().collect::<Vec<_>>()[..] else { panic!("{terms}") };
        assert_eq!(head.split(',').count(), row.split(',').count(), "{terms}");
        assert!(row.starts_with("'=1+1,1.000000,false,0,,,,,,0,"), "{row}");
    }

    #[test]
    fn a_line_climbs_from_nothing_to_the_coverage_of_today() {
        let svg = growth_svg(&[site("a", &[(0, 1, Some(0.5)), (10, 2, Some(1.0))]), site("b", &[(3, 9, None)])]);
        assert!(svg.contains("<path d=\"M60.0 430.0V235.0H760.0V40.0H760\""), "{svg}");
        assert!(svg.contains("<title>a: 100.0 %</title>") && svg.contains(">b: unknown</text>"), "{svg}");
        assert_eq!(svg.matches("stroke-width=\"2\"").count(), 1, "nothing is drawn of what is not known");
        for empty in [growth_svg(&[]), growth_svg(&[site("a", &[])])] {
            assert!(empty.starts_with("<svg ") && empty.ends_with("</svg>\n"), "{empty}");
        }
    }
}
