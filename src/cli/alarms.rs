//! `gleaner alarms`: what is wrong, and what was; answers of a person to it.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};

use super::block_on;
use super::fold::fold;
use crate::app::control::{self, Remote};
use crate::app::{alarms, has_database, nothing_there};
use gleaner_alarms::Alarm;
use gleaner_alarms::limits::SILENCE_MINUTES_MAX;
use gleaner_alarms::messages::{lasted, short};
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_rules::config::Config;
use gleaner_rules::load_dir;
use gleaner_serve::alarms::Answer;

/// Alarms that are over which people are shown; `--json` has five hundred.
const OVER_SHOWN: usize = 20;

#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    /// Site to report; all, and the service itself, when none is given
    site: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<AlarmsCommand>,
}

#[derive(Clone, Debug, Subcommand)]
enum AlarmsCommand {
    /// Send a message that says it is a test to the channels of gleaner.toml, and say what became of it
    #[command(after_help = "Example: gleaner alarms test phone")]
    Test {
        /// Name of a channel; all when none is given
        channel: Option<String>,
    },
    /// Call nobody about an open alarm for some minutes, or until it is over
    #[command(after_help = "Example: gleaner alarms silence unreachable-3 --minutes 120")]
    Silence {
        /// Its id, as `gleaner alarms` shows it
        id: String,
        /// For so many minutes; without it, until it is over
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(SILENCE_MINUTES_MAX)))]
        minutes: Option<u32>,
        /// Until it is over
        #[arg(long, conflicts_with = "minutes")]
        until_over: bool,
    },
    /// End the silence of an alarm
    #[command(after_help = "Example: gleaner alarms unsilence unreachable-3")]
    Unsilence {
        /// Its id, as `gleaner alarms` shows it
        id: String,
    },
    /// Write a note to an alarm; an empty one removes it
    #[command(after_help = "Example: gleaner alarms note unreachable-3 'they move to another host, back on Monday'")]
    Note {
        /// Its id, as `gleaner alarms` shows it
        id: String,
        /// The note
        text: String,
    },
}

pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    match &options.command {
        None => list(config, options),
        Some(AlarmsCommand::Test { channel }) => {
            let took = answer(config, channel.as_deref().unwrap_or_default(), Answer::Test)?;
            outln!("the test was delivered: {}", took.join(", "));
            Ok(ExitCode::SUCCESS)
        }
        Some(AlarmsCommand::Silence { id, minutes, .. }) => {
            answer(config, id, Answer::Silence { minutes: *minutes })?;
            match minutes {
                Some(minutes) => outln!("nobody is called about {id} for {minutes} minutes"),
                None => outln!("nobody is called about {id} until it is over"),
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(AlarmsCommand::Unsilence { id }) => {
            answer(config, id, Answer::Unsilence)?;
            outln!("{id} is not silenced: whoever is to be called is told when it is over");
            Ok(ExitCode::SUCCESS)
        }
        Some(AlarmsCommand::Note { id, text }) => {
            answer(config, id, Answer::Note { text: text.clone() })?;
            outln!("{id}: {}", if text.is_empty() { "the note is removed" } else { text.as_str() });
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn answer(config: &Config, id: &str, answer: Answer) -> anyhow::Result<Vec<String>> {
    block_on(async {
        let Some(service) = Remote::connect(&config.data_dir).await else {
            return Err(control::no_service(&config.data_dir, "", &format!("gleaner run{}", config.given)));
        };
        let is_test = answer == Answer::Test;
        match service.answer(id.to_owned(), answer).await? {
            Err(gleaner_serve::acts::Refused::Unknown(id)) if !is_test => {
                bail!("no alarm has the id {id}, or it is over\nhint: gleaner alarms{} lists them", config.given)
            }
            done => Ok(done?),
        }
    })
}

fn list(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    crate::app::is_folder(&config.data_dir)?;
    let now = SystemClock.now();
    let mut all = block_on(async {
        let told = match Remote::connect(&config.data_dir).await {
            Some(service) => service.alarms().await?,
            None => None,
        };
        match told {
            Some(told) => Ok(told),
            // Where nothing was crawled, and where nothing may be read, nothing is known.
            None if has_database(&config.data_dir)? => Ok(alarms::stored(&config.data_dir)),
            None => Err(nothing_there(&config.into())),
        }
    })?;
    if let Some(site) = &options.site {
        all.retain(|alarm| alarm.site.as_ref() == Some(site));
        let has_rules =
            || load_dir(&config.rules_dir).iter().any(|of| of.site.as_ref().is_ok_and(|of| *of.name == **site));
        if all.is_empty() && !has_rules() {
            bail!("{site}: no site has this name, and no alarm\nhint: gleaner status{} lists the sites", config.given);
        }
    }
    if options.json {
        outln!("{}", serde_json::json!({ "alarms": all }));
        return Ok(ExitCode::SUCCESS);
    }
    let (open, over): (Vec<&Alarm>, Vec<&Alarm>) = all.iter().partition(|alarm| alarm.over_ms.is_none());
    let mut text = String::new();
    match open.len() {
        0 => text.push_str("nothing is wrong\n"),
        count => text.push_str(&format!("{count} open\n")),
    }
    open.iter().for_each(|alarm| text.push_str(&told(alarm, now)));
    if !over.is_empty() {
        text.push_str("over\n");
        over.iter().take(OVER_SHOWN).for_each(|alarm| text.push_str(&told_over(alarm)));
    }
    if over.len() > OVER_SHOWN {
        text.push_str(&format!("  and {} more: --json\n", over.len() - OVER_SHOWN));
    }
    out!("{}", fold(&text, 4));
    Ok(ExitCode::SUCCESS)
}

fn time(ms: i64) -> String {
    UnixMillis(u64::try_from(ms).unwrap_or_default()).rfc3339()
}

/// An open one.
fn told(alarm: &Alarm, now: UnixMillis) -> String {
    let Alarm { id, site, title, since_ms, away_since_ms, figures, rule, page, todo, silenced_until_ms, note, .. } =
        alarm;
    let site = site.as_deref().unwrap_or("gleaner");
    let for_ms = i64::try_from(now.0).unwrap_or(i64::MAX) - since_ms;
    let mut text = format!("  {id}  {site}: {title}\n    since {}, for {}\n", time(*since_ms), lasted(for_ms));
    if let Some(away) = away_since_ms {
        text += &format!("    its cause is away since {}: it is over once that lasts\n", time(*away));
    }
    if let Some(figures) = figures {
        text += &format!("    {}: {} now, {} before\n", figures.of, short(figures.now), short(figures.before));
    }
    for (name, value) in [
        ("rule", rule),
        ("page", &page.as_ref().map(|page| format!("alarms/{page} of the data folder"))),
        ("note", note),
    ] {
        if let Some(value) = value {
            text += &format!("    {name}: {value}\n");
        }
    }
    match silenced_until_ms {
        Some(until) if *until >= gleaner_alarms::book::UNTIL_OVER_MS => text += "    silenced until it is over\n",
        Some(until) => text += &format!("    silenced until {}\n", time(*until)),
        None => {}
    }
    text + &format!("    to do: {todo}\n")
}

/// One that is over.
fn told_over(alarm: &Alarm) -> String {
    let Alarm { id, site, title, since_ms, over_ms, note, .. } = alarm;
    let site = site.as_deref().unwrap_or("gleaner");
    let lasted = lasted(over_ms.unwrap_or(*since_ms) - since_ms);
    let note = note.as_ref().map(|note| format!("    note: {note}\n")).unwrap_or_default();
    format!("  {id}  {site}: {title}\n    {}, for {lasted}\n{note}", time(*since_ms))
}
