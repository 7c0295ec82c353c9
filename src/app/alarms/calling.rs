//! Calls who is to be called: a POST to a webhook, a command, a ping. Each has its time, none its answer's content; addresses and secrets are in no message of an error.

use std::path::PathBuf;
use std::process::Stdio;

use gleaner_alarms::Alarm;
use gleaner_alarms::book::What;
use gleaner_alarms::messages;
use gleaner_base::clock::UnixMillis;
use gleaner_login::secret::Secret;
use gleaner_net::fetch::tls::Tls;
use gleaner_net::hook::Hooks;
use gleaner_net::limits::HOOK_TIME_MAX;
use gleaner_rules::config::alarms::{Channel, SECRET, Way};
use tokio::io::AsyncWriteExt as _;

use crate::app::secrets::{self, SecretError};

/// A try that has ended.
pub struct Sent {
    pub channel: String,
    /// The message of the outbox that it was.
    pub message: Option<u64>,
    pub result: Result<(), String>,
}

/// See the module.
#[derive(Clone)]
pub struct Caller {
    data_dir: PathBuf,
    user_agent: String,
    tls: Tls,
}

impl Caller {
    #[must_use]
    pub fn new(data_dir: PathBuf, user_agent: &str, tls: Tls) -> Self {
        Self { data_dir, user_agent: user_agent.to_owned(), tls }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Why it was not taken, without the address.
    pub async fn call(&self, channel: &Channel, what: What, alarm: &Alarm) -> Result<(), String> {
        match &channel.way {
            Way::Command(words) => run(words, what, alarm).await,
            Way::Ping(_) => Err("it takes no messages".to_owned()),
            Way::Url { url, template } => {
                let secret = self.secret(&channel.name)?;
                let (name, before) = template.secret_header();
                let is_in_url = url.contains(SECRET);
                let header = secret.as_ref().filter(|_| !is_in_url);
                let header = header.map(|secret| (name, format!("{before}{}", secret.reveal())));
                let (url, body) = messages::request(*template, &filled(url, secret.as_ref())?, what, alarm);
                self.hooks()?.send(&url, Some(body.to_string()), header).await.map_err(|error| error.to_string())
            }
        }
    }

    /// Gives a sign of life.
    ///
    /// # Errors
    /// As for [`Self::call`].
    pub async fn ping(&self, channel: &Channel) -> Result<(), String> {
        let Way::Ping(url) = &channel.way else { return Ok(()) };
        let url = filled(url, self.secret(&channel.name)?.as_ref())?;
        self.hooks()?.send(&url, None, None).await.map_err(|error| error.to_string())
    }

    /// A client of its own for each try: they are rare, and keep no connection.
    fn hooks(&self) -> Result<Hooks, String> {
        Hooks::new(&self.user_agent, &self.tls).map_err(|error| error.to_string())
    }

    /// The secret of a channel, if it has one.
    fn secret(&self, channel: &str) -> Result<Option<Secret>, String> {
        match secrets::password(&self.data_dir, &format!("alarm-{channel}")) {
            Ok(secret) => Ok(Some(secret)),
            Err(SecretError::Absent { .. }) => Ok(None),
            Err(error) => Err(error.to_string().replace('\n', "; ")),
        }
    }
}

/// The URL with its secret.
fn filled(url: &str, secret: Option<&Secret>) -> Result<String, String> {
    if !url.contains(SECRET) {
        return Ok(url.to_owned());
    }
    let secret = secret.ok_or(
        "its URL wants a secret, and there is none: write it into the file `secrets/alarm-NAME` of the data folder",
    )?;
    Ok(url.replace(SECRET, secret.reveal()))
}

/// Runs a command with the alarm as JSON on its standard input.
async fn run(words: &[String], what: What, alarm: &Alarm) -> Result<(), String> {
    let (program, arguments) = words.split_first().ok_or("it has no program")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let body = messages::request(messages::Template::Json, "", what, alarm).1.to_string();
    let ran = async {
        let mut child = command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            // It may not read it.
            let _ = stdin.write_all(format!("{body}\n").as_bytes()).await;
        }
        child.wait().await.map_err(|error| error.to_string())
    };
    match tokio::time::timeout(HOOK_TIME_MAX, ran).await {
        Err(_) => Err(format!("{program} does not end within {} s", HOOK_TIME_MAX.as_secs())),
        Ok(Err(error)) => Err(error),
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("{program} ends with {status}")),
    }
}

/// What a test sends.
#[must_use]
pub fn test_alarm(now: UnixMillis) -> Alarm {
    Alarm {
        id: "test".to_owned(),
        kind: "test".to_owned(),
        site: None,
        title: "a test, nothing is wrong".to_owned(),
        since_ms: i64::try_from(now.0).unwrap_or(i64::MAX),
        away_since_ms: None,
        over_ms: None,
        figures: None,
        rule: None,
        page: None,
        todo: "nothing".to_owned(),
        silenced_until_ms: None,
        note: None,
    }
}

#[cfg(test)]
mod tests;
