//! `[alarms]` and `[[alarm_channel]]`: which alarms are told, after how long, and to whom.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gleaner_alarms::book::Settings;
use gleaner_alarms::kinds::{KINDS, Kind};
use gleaner_alarms::limits::AFTER_MINUTES_MAX;
use gleaner_alarms::messages::Template;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fault::{Faults, nearest};
use crate::limits::{ALARM_CHANNELS_MAX, ALARM_COMMAND_WORDS_MAX, HANDOVER_NAME_BYTES_MAX};
use crate::schema::Spans;

/// `[alarms]` as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AlarmsFile {
    /// Minutes that a cause has to last before it is told, by the kind of alarm: `after.unreachable = 90`.
    pub after: BTreeMap<String, u32>,
    /// Kinds that are not told.
    pub off: Vec<String>,
}

/// One `[[alarm_channel]]` as written: it has one of `url`, `command` and `ping_url`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelFile {
    /// Its name: 1 to 64 letters, digits, `-`, `_` or `.`. Its secret, if it has one, is in the file `secrets/alarm-NAME` of the data folder, or
    /// in the credential `gleaner-alarm-NAME`.
    pub name: String,
    /// Takes a POST of JSON for each alarm. `{secret}` in it stands for the secret; without it, the secret is sent in a header.
    pub url: Option<String>,
    /// What the URL takes: `json`, `ntfy`, `gotify`, `discord`, `slack` or `apprise`.
    pub template: TemplateFile,
    /// Program and arguments that are started for each alarm, with JSON on its standard input. No shell.
    pub command: Vec<String>,
    /// Asked for once a minute while all of the service works, as dead man's switches want it. `{secret}` stands for the secret.
    pub ping_url: Option<String>,
}

/// What a URL takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TemplateFile {
    #[default]
    Json,
    Ntfy,
    Gotify,
    Discord,
    Slack,
    Apprise,
}

/// Who is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    pub way: Way,
}

/// How.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    Url { url: String, template: Template },
    Command(Vec<String>),
    Ping(String),
}

/// `[alarms]` and the channels, validated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alarms {
    pub settings: Settings,
    pub channels: Vec<Channel>,
}

/// What stands for the secret in a URL.
pub const SECRET: &str = "{secret}";

impl Channel {
    /// True if whoever reads the configuration has all of its address.
    #[must_use]
    pub fn has_open_address(&self) -> bool {
        match &self.way {
            Way::Url { url, .. } | Way::Ping(url) => !url.contains(SECRET),
            Way::Command(_) => false,
        }
    }
}

/// Reports what cannot be.
pub(super) fn check(file: &AlarmsFile, channels: &[ChannelFile], spans: &Spans, faults: &mut Faults) {
    let mut fault =
        |path: &str, message: String, hint: String| faults.add(spans.value(path), path, message, Some(hint));
    let kind_hint = |name: &str| match nearest(name, KINDS.iter().map(|row| row.name)) {
        Some(near) => format!("write {near}"),
        None => format!("there are {}", KINDS.map(|row| row.name).join(", ")),
    };
    for (at, name) in file.off.iter().enumerate().filter(|(_, name)| Kind::named(name).is_none()) {
        fault(&format!("alarms.off[{at}]"), format!("no alarm is called `{name}`"), kind_hint(name));
    }
    for (name, minutes) in &file.after {
        let path = format!("alarms.after.{name}");
        if Kind::named(name).is_none() {
            fault(&path, format!("no alarm is called `{name}`"), kind_hint(name));
        } else if *minutes > AFTER_MINUTES_MAX {
            fault(&path, "this is too long".to_owned(), format!("write minutes, at most {AFTER_MINUTES_MAX}"));
        }
    }
    if channels.len() > ALARM_CHANNELS_MAX {
        let message = format!("at most {ALARM_CHANNELS_MAX} channels are served");
        fault("alarm_channel", message, "take some away".to_owned());
    }
    for (at, channel) in channels.iter().enumerate() {
        let own = format!("alarm_channel[{at}]");
        let name = format!("{own}.name");
        let is_plain = |of: u8| of.is_ascii_alphanumeric() || b"-_.".contains(&of);
        let is_name = (1..=HANDOVER_NAME_BYTES_MAX).contains(&channel.name.len())
            && channel.name.bytes().all(is_plain)
            && !channel.name.starts_with('.');
        let place = if spans.has(&name) { &name } else { &own };
        if !is_name && (spans.has(&name) || !spans.may_have(&name)) {
            let hint = "write name = \"phone\": 1 to 64 letters, digits, `-`, `_` or `.`, with no `.` in front";
            fault(place, "a channel needs a name".to_owned(), hint.to_owned());
        } else if channels[..at].iter().any(|other| other.name == channel.name && is_name) {
            fault(place, format!("two channels are named `{}`", channel.name), "name each differently".to_owned());
        }
        check_way(channel, &own, &mut fault);
    }
}

fn check_way(channel: &ChannelFile, own: &str, fault: &mut impl FnMut(&str, String, String)) {
    let ways = [channel.url.is_some(), !channel.command.is_empty(), channel.ping_url.is_some()];
    if ways.iter().filter(|is_set| **is_set).count() != 1 {
        let message = "a channel has one of `url`, `command` and `ping_url`";
        fault(own, message.to_owned(), "write one of them; a second one is another [[alarm_channel]]".to_owned());
    }
    for (key, url) in [("url", &channel.url), ("ping_url", &channel.ping_url)] {
        let Some(url) = url else { continue };
        let parsed = url::Url::parse(&url.replace(SECRET, "x"));
        let is_web = parsed.as_ref().is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let has_user = parsed.is_ok_and(|url| !url.username().is_empty() || url.password().is_some());
        if !is_web {
            fault(&format!("{own}.{key}"), "this is not a URL".to_owned(), "write https://…".to_owned());
        } else if has_user {
            let hint = format!(
                "take it out, and write it into the file `secrets/alarm-{}` of the data folder (chmod 600)",
                channel.name
            );
            fault(&format!("{own}.{key}"), "the URL contains a user name or password".to_owned(), hint);
        }
    }
    if channel.command.len() > ALARM_COMMAND_WORDS_MAX || channel.command.first().is_some_and(String::is_empty) {
        let hint = format!("write [\"/usr/local/bin/call\", \"…\"], at most {ALARM_COMMAND_WORDS_MAX} words");
        fault(&format!("{own}.command"), "this is no command".to_owned(), hint);
    }
}

/// What [`check`] has found nothing wrong with.
pub(super) fn validated(file: &AlarmsFile, channels: &[ChannelFile]) -> Alarms {
    let off: BTreeSet<Kind> = file.off.iter().filter_map(|name| Kind::named(name)).collect();
    let minutes = |minutes: &u32| Duration::from_secs(60 * u64::from(*minutes));
    let after = file.after.iter().filter_map(|(name, after)| Some((Kind::named(name)?, minutes(after)))).collect();
    let channel = |file: &ChannelFile| {
        let way = match (&file.url, &file.ping_url) {
            (Some(url), _) => Way::Url { url: url.clone(), template: file.template.into() },
            (None, Some(url)) => Way::Ping(url.clone()),
            (None, None) => Way::Command(file.command.clone()),
        };
        Channel { name: file.name.clone(), way }
    };
    Alarms { settings: Settings { off, after }, channels: channels.iter().map(channel).collect() }
}

impl From<TemplateFile> for Template {
    fn from(template: TemplateFile) -> Self {
        match template {
            TemplateFile::Json => Self::Json,
            TemplateFile::Ntfy => Self::Ntfy,
            TemplateFile::Gotify => Self::Gotify,
            TemplateFile::Discord => Self::Discord,
            TemplateFile::Slack => Self::Slack,
            TemplateFile::Apprise => Self::Apprise,
        }
    }
}

impl Channel {
    /// In a word, without its address, which may be a secret.
    #[must_use]
    pub fn told(&self) -> &'static str {
        match &self.way {
            Way::Url { template: Template::Json, .. } => "url",
            Way::Url { template: Template::Ntfy, .. } => "ntfy",
            Way::Url { template: Template::Gotify, .. } => "gotify",
            Way::Url { template: Template::Discord, .. } => "discord",
            Way::Url { template: Template::Slack, .. } => "slack",
            Way::Url { template: Template::Apprise, .. } => "apprise",
            Way::Command(_) => "command",
            Way::Ping(_) => "ping",
        }
    }
}
