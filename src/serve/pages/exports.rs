//! What exports of a name have had, and the commands.

use axum::response::Response;
use maud::html;

use super::status::command;
use super::visit::Visit;
use super::words;
use crate::problem::Problem;

const COMMANDS: [(&str, &str); 5] = [
    ("export harvest.tar.zst", "everything as one archive with a manifest"),
    ("export weekly.tar.zst --since-last weekly", "what is new since the last export of this name"),
    ("export folder/ --layout by-site", "a folder a site"),
    ("export all.parquet", "a table of what is known, for analysis"),
    ("import harvest.tar.zst --dry-run", "what an export of another machine would add here"),
];

/// `/exports`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let exports = (visit.outlet.inside.desk.exports)().await.map_err(|error| Problem::ours(&error))?;
    let body = html! {
        h1 { "Exports" }
        p.lead { "They run on the command line, beside the service." }
        section aria-labelledby="named" {
            header { h2 #named { "Exports with a name" } span.soft { "each has what it has not had before; its marks say what it had, a line for each" } }
            @if exports.is_empty() { p.empty { "None yet." } } @else {
                table.cards {
                    thead { tr { th { "name" } th.n { "its marks" } th.n { "last" } th { "the next one" } } }
                    tbody { @for of in &exports { tr {
                        td.main { span.name { (words::shown(&of.name)) } }
                        td.n data-l="its marks" { (words::bytes(of.bytes)) }
                        td.n data-l="last" { (words::when(of.at, visit.now)) }
                        td.main { div.fix { (command(&visit.command(&format!("export new.tar.zst --since-last {}", of.name)))) } }
                    } } }
                }
            }
        }
        section aria-labelledby="commands" {
            header { h2 #commands { "Commands" } }
            table.cards { tbody { @for (words, what) in COMMANDS { tr { td.main { div.fix { (command(&visit.command(words))) } } td.main { (what) } } } } }
        }
    };
    Ok(visit.page("exports", "", &body))
}
