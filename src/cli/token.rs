//! `gleaner token`: who may ask the HTTP server.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Table;

use crate::app;
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_rules::config::Config;
use gleaner_serve::tokens::{self, Scope};

#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum TokenCommand {
    /// Make a token, and show its secret once
    #[command(after_help = "Example: gleaner token new prowlarr")]
    New {
        /// Name of the token: who uses it
        name: String,
        /// What it admits to
        #[arg(long, value_name = "SCOPE", default_value = "torznab")]
        scope: Admits,
    },
    /// Show the tokens, without their secrets
    #[command(after_help = "Example: gleaner token list --json")]
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token: its secret and its download links admit to nothing from now on
    #[command(after_help = "Example: gleaner token revoke prowlarr")]
    Revoke {
        /// Name of the token
        name: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Admits {
    /// Torznab, feeds and downloads
    Torznab,
    /// These, and reading the JSON API
    Read,
    /// Everything
    Admin,
}

pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let data_dir = &config.data_dir;
    match &options.command {
        TokenCommand::New { name, scope } => {
            let scope = match scope {
                Admits::Torznab => Scope::Torznab,
                Admits::Read => Scope::Read,
                Admits::Admin => Scope::Admin,
            };
            // A folder that is not the service's would hold a token that admits to nothing.
            app::is_folder(data_dir)?;
            let secret = tokens::create(data_dir, name, scope, SystemClock.now())?;
            outln!("{secret}");
            errln!("it is shown this once: a client sends it as API key, or as `Authorization: Bearer …`");
        }
        TokenCommand::List { json } => list(config, *json)?,
        TokenCommand::Revoke { name } => {
            tokens::revoke(data_dir, name)?;
            outln!("{name} is revoked");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(config: &Config, json: bool) -> anyhow::Result<()> {
    let tokens = tokens::list(&config.data_dir)?;
    let used = tokens::last_used(&config.data_dir);
    // An earlier token may have had its name.
    let last = |token: &tokens::Token| used.get(&token.name).filter(|at| **at >= token.created).map(|at| at.rfc3339());
    if json {
        let row = |token: &tokens::Token| {
            let (name, scope) = (&token.name, token.scope);
            serde_json::json!({ "name": name, "scope": scope, "created": token.created.rfc3339(), "last_used": last(token) })
        };
        outln!("{}", serde_json::json!({ "tokens": tokens.iter().map(row).collect::<Vec<_>>() }));
        return Ok(());
    }
    if tokens.is_empty() {
        outln!("no tokens\nhint: gleaner token new NAME{}", config.given);
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["name", "scope", "created", "last used"]);
    for token in tokens {
        let last = last(&token).unwrap_or_else(|| "never".to_owned());
        table.add_row([token.name, token.scope.name().to_owned(), token.created.rfc3339(), last]);
    }
    let text: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    out!("{text}");
    Ok(())
}
