//! The configuration in effect, and `gleaner config check`.

use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

use super::Global;
use super::hints::Hints;
use gleaner_base::{console, journal};
use gleaner_rules::config::web::Auth;
use gleaner_rules::config::{Config, LogFormat, Overrides, Surroundings, variables};
use gleaner_rules::fault::{self, Fault};
use gleaner_search::Query;
use gleaner_search::query::doubt_told;

/// Reads the configuration and prints all of its faults at once.
pub fn load(global: &Global) -> Result<Config, ExitCode> {
    read(global).map_err(|faults| {
        show_faults(&faults);
        ExitCode::FAILURE
    })
}

/// Reads the configuration.
///
/// # Errors
/// All faults of its file.
pub(super) fn read(global: &Global) -> Result<Config, Vec<Fault>> {
    let overrides =
        Overrides { data_dir: global.data.clone(), rules_dir: global.rules.clone(), log_format: global.log_format };
    let given = Hints::of(global).options().to_owned();
    let doubts = |query: &str| Query::parse(query).doubts;
    Config::load(global.config.as_deref(), &overrides, doubts).map(|config| Config { given, ..config })
}

/// What to say of variables that begin as ours do and are none.
pub(super) fn unknown_variables() -> Vec<String> {
    variables::unknown(&Surroundings::of_process().variables)
}

/// Prints faults of files to standard error: with the lines that they are in, or each as one line of the journal.
pub(super) fn show_faults(faults: &[Fault]) {
    if journal::reads_stderr() {
        faults.iter().for_each(|fault| console::write_error(&fault.to_string()));
    } else {
        let colour = fault::colour_wanted(std::io::stderr().is_terminal());
        // If it cannot be written, nobody reads it.
        let _ = writeln!(console::err_with(colour), "{}", fault::render(faults, colour).trim_end());
    }
}

/// A time in the largest unit that divides it.
fn told_span(span: std::time::Duration) -> String {
    match span.as_secs() / 60 {
        0 => "0m".to_owned(),
        minutes if minutes % 1_440 == 0 => format!("{}d", minutes / 1_440),
        minutes if minutes % 60 == 0 => format!("{}h", minutes / 60),
        minutes => format!("{minutes}m"),
    }
}

/// Prints the values in effect and their origin. Faults of the file were printed by [`load`].
pub fn check(config: &Config) -> anyhow::Result<ExitCode> {
    match &config.file {
        Some(file) => outln!("ok {}", file.display()),
        None => outln!("ok: no configuration file, using defaults"),
    }
    outln!("data_dir      {}", config.data_dir.display());
    outln!("rules_dir     {}", config.rules_dir.display());
    outln!("user agent    {}", config.user_agent());
    outln!("cache_mb      {}", config.cache_mb);
    outln!("requests_max  {}", config.requests_max);
    outln!("log_format    {}", if config.log_format == LogFormat::Json { "json" } else { "text" });
    outln!("log_filter    {}", config.log_filter);
    let web = &config.web;
    match &web.listen {
        Some(listen) => outln!("web.listen    {}", listen.to_string().trim_start_matches("http://")),
        None => outln!("web.listen    off"),
    }
    for (name, value) in [
        ("public_url", web.public_url.clone()),
        ("base_path", Some(web.base_path.clone())),
        ("hosts", Some(web.hosts.join(", "))),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            outln!("web.{name:<9} {value}");
        }
    }
    if web.auth == Auth::All {
        outln!("web.auth      all");
    }
    for search in &web.searches {
        outln!("search        {}: {}", search.name, search.query);
    }
    for handover in &config.handovers {
        let (name, folder, since) = (&handover.name, handover.folder.display(), handover.since.name());
        outln!("handover      {name}: {folder} ({since}) {}", handover.search);
        let query = Query::parse(&handover.search);
        if query.wants_magnets() {
            outln!("warning: handover {name}: has:magnet finds what has no torrent file: nothing is handed over");
        }
        for doubt in query.doubts {
            outln!(
                "warning: handover {name}: {}: it is looked for as words (gleaner search --help lists the filters)",
                doubt_told(&doubt)
            );
        }
    }
    if let Some(backup) = &config.backup {
        let (to, every, keep) = (backup.to.display(), told_span(backup.every), backup.keep);
        let secrets = if backup.with_secrets { ", with secrets" } else { "" };
        outln!("backup        {to}: every {every}, the last {keep} stay{secrets}");
    }
    let settings = &config.alarms.settings;
    for kind in &settings.off {
        outln!("alarms.off    {}", kind.name());
    }
    for (kind, after) in &settings.after {
        outln!("alarms.after  {}: {}", kind.name(), told_span(*after));
    }
    for channel in &config.alarms.channels {
        outln!("alarm_channel {}: {}", channel.name, channel.told());
    }
    if !config.require_confinement {
        outln!(
            "render        scripts of pages also run where the kernel cannot confine them (require_confinement = false)"
        );
    }
    for told in unknown_variables() {
        outln!("warning: {told}");
    }
    if config.contact.is_none() {
        outln!("hint: set `contact`, so that site operators can reach you");
    }
    Ok(ExitCode::SUCCESS)
}
