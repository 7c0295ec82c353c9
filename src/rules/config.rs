//! gleaner.toml: as written → validated.
//!
//! Machine settings live here (folders, memory, logs, contact); site settings live in the site's rule file. Every
//! key has a default, so no file at all is a valid configuration. Faults are reported as in rule files: all at once,
//! each at its position. Reads the file and the environment once, at startup; runtime state never lives here.

pub mod alarms;
pub mod backup;
pub mod handover;
pub mod searches;
pub mod variables;
pub mod web;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::alarms::{Alarms, AlarmsFile, ChannelFile};
use self::backup::{Backup, BackupFile};
use self::handover::{Handover, HandoverFile};
use self::searches::{Doubts, SavedSearch};
use self::web::{Web, WebFile};
use crate::fault::{Fault, Faults};
use crate::schema::{self, ParsedFile, Spans};
use gleaner_base::telemetry::{FILTER_HINT, check_filter};

/// gleaner.toml as written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigFile {
    /// Folder of the database and the archive. Default: `$STATE_DIRECTORY`, else /var/lib/gleaner if it exists, else
    /// ./gleaner-data. Relative to the folder of this file.
    #[schemars(length(min = 1))]
    pub data_dir: Option<String>,
    /// Folder of the site files. Default: `rules` in `$CONFIGURATION_DIRECTORY`, else /etc/gleaner/rules if it exists,
    /// else ./rules. Relative to the folder of this file.
    #[schemars(length(min = 1))]
    pub rules_dir: Option<String>,
    /// Contact for operators of crawled sites: an e-mail address or a URL. Part of the User-Agent.
    #[schemars(length(min = 1))]
    pub contact: Option<String>,
    /// Size of the database cache, in MiB.
    #[schemars(range(min = 1, max = 65_536))]
    pub cache_mb: u32,
    /// Maximum concurrent requests, over all sites. Each holds a connection and a response body.
    #[schemars(range(min = 1, max = 4_096))]
    pub requests_max: u16,
    /// Format of log lines.
    pub log_format: LogFormat,
    /// Log filter: a level, or `tracing-subscriber` directives such as `info,gleaner_net::fetch=debug`.
    #[schemars(length(min = 1))]
    pub log_filter: String,
    /// Scripts of pages.
    pub render: RenderFile,
    /// The HTTP server.
    pub web: WebFile,
    /// Searches with a name, as feeds and for Torznab.
    pub search: Vec<SavedSearch>,
    /// Torrents that go to the watch folder of a BitTorrent client, one `[[handover]]` each.
    pub handover: Vec<HandoverFile>,
    /// Backups that the service makes by itself.
    pub backup: BackupFile,
    /// What is told when something breaks.
    pub alarms: AlarmsFile,
    /// Who is called when something breaks, one `[[alarm_channel]]` each.
    pub alarm_channel: Vec<ChannelFile>,
}

/// `[render]` as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenderFile {
    /// Run no script where the kernel cannot confine the process that runs it (seccomp). `false` runs them with limits of memory and time
    /// alone.
    pub require_confinement: bool,
}

impl Default for RenderFile {
    fn default() -> Self {
        Self { require_confinement: true }
    }
}

impl Default for ConfigFile {
    fn default() -> Self {
        Self {
            data_dir: None,
            rules_dir: None,
            contact: None,
            cache_mb: 32,
            requests_max: 64,
            log_format: LogFormat::Text,
            log_filter: "info".to_owned(),
            render: RenderFile::default(),
            web: WebFile::default(),
            search: Vec::new(),
            handover: Vec::new(),
            backup: BackupFile::default(),
            alarms: AlarmsFile::default(),
            alarm_channel: Vec::new(),
        }
    }
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(clap::ValueEnum)]
pub enum LogFormat {
    /// Human-readable text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Options from the command line; they override the file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub data_dir: Option<PathBuf>,
    pub rules_dir: Option<PathBuf>,
    pub log_format: Option<LogFormat>,
}

/// The validated configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The file that was read; None if there was none.
    pub file: Option<PathBuf>,
    pub data_dir: PathBuf,
    pub rules_dir: PathBuf,
    pub contact: Option<String>,
    pub cache_mb: u32,
    pub requests_max: u16,
    pub log_format: LogFormat,
    pub log_filter: String,
    pub require_confinement: bool,
    pub web: Web,
    pub handovers: Vec<Handover>,
    pub backup: Option<Backup>,
    pub alarms: Alarms,
    /// The folder and file options as they were given, for commands in hints.
    pub given: String,
}

/// The environment: systemd's folders and which folders exist. An argument, so that tests do not need a process
/// of their own.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub state_directory: Option<OsString>,
    pub configuration_directory: Option<OsString>,
    /// The user's own folder.
    pub home: Option<OsString>,
    /// Variables that begin with `GLEANER_`.
    pub variables: BTreeMap<String, String>,
    /// Root of the file system: `/`, or a test's folder.
    pub root: PathBuf,
    /// Who knows what is no query.
    pub doubts: Option<Doubts>,
}

impl Surroundings {
    /// The environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            state_directory: set("STATE_DIRECTORY"),
            configuration_directory: set("CONFIGURATION_DIRECTORY"),
            home: set("HOME"),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .filter(|(name, _)| name.starts_with("GLEANER_"))
                .collect(),
            root: PathBuf::from("/"),
            doubts: None,
        }
    }

    /// The first of systemd's folders, which are separated by colons (systemd.exec(5), StateDirectory=).
    fn first(list: Option<&OsString>) -> Option<PathBuf> {
        let list = list?.to_string_lossy().into_owned();
        list.split(':').find(|path| !path.is_empty()).map(PathBuf::from)
    }

    fn etc(&self) -> PathBuf {
        Self::first(self.configuration_directory.as_ref()).unwrap_or_else(|| self.root.join("etc/gleaner"))
    }

    fn config_file(&self) -> Option<PathBuf> {
        [self.etc().join("gleaner.toml"), PathBuf::from("gleaner.toml")].into_iter().find(|path| path.is_file())
    }

    fn data_dir(&self) -> PathBuf {
        let var = self.root.join("var/lib/gleaner");
        Self::first(self.state_directory.as_ref())
            .or_else(|| var.is_dir().then_some(var))
            .unwrap_or_else(|| PathBuf::from("gleaner-data"))
    }

    fn rules_dir(&self) -> PathBuf {
        let etc = self.etc().join("rules");
        if self.configuration_directory.is_some() || etc.is_dir() { etc } else { PathBuf::from("rules") }
    }
}

impl Config {
    /// Reads the configuration: the file at `path`, else the first that exists of `$CONFIGURATION_DIRECTORY`/gleaner.toml
    /// (or /etc/gleaner/gleaner.toml) and ./gleaner.toml, else the defaults. A file given as `path` must exist.
    /// `doubts` tells what looks like a filter in a query and is none.
    pub fn load(path: Option<&Path>, overrides: &Overrides, doubts: Doubts) -> Result<Self, Vec<Fault>> {
        let surroundings = Surroundings { doubts: Some(doubts), ..Surroundings::of_process() };
        Self::load_in(&surroundings, path, overrides)
    }

    /// Like [`Self::load`], in the given environment.
    pub fn load_in(
        surroundings: &Surroundings,
        path: Option<&Path>,
        overrides: &Overrides,
    ) -> Result<Self, Vec<Fault>> {
        let path = path.map(Path::to_owned).or_else(|| surroundings.config_file());
        let text = match &path {
            Some(path) => crate::read_text(path).map_err(|fault| vec![*fault])?,
            None => String::new(),
        };
        Self::from_text(surroundings, path.as_deref(), &text, overrides)
    }

    fn from_text(
        surroundings: &Surroundings,
        path: Option<&Path>,
        text: &str,
        overrides: &Overrides,
    ) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::new(path.unwrap_or(Path::new("gleaner.toml")), text);
        let read: ParsedFile<ConfigFile> = schema::read(&mut faults);
        check(&read.value, &read.spans, surroundings.home.as_deref(), &mut faults);
        searches::check(&read.value.search, surroundings.doubts, &read.spans, &mut faults);
        if !faults.is_empty() {
            return Err(faults.into_sorted());
        }
        let file = variables::with_variables(read.value, &surroundings.variables, surroundings.home.as_deref())?;
        let file = &file;
        let contact = file.contact.as_deref().map(str::trim);
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
        let named = |over: &Option<PathBuf>, own: &Option<String>, default: PathBuf| {
            over.clone().or_else(|| own.as_ref().map(|own| folder.join(own))).unwrap_or(default)
        };
        Ok(Self {
            file: path.map(Path::to_owned),
            data_dir: named(&overrides.data_dir, &file.data_dir, surroundings.data_dir()),
            rules_dir: named(&overrides.rules_dir, &file.rules_dir, surroundings.rules_dir()),
            contact: contact.map(str::to_owned),
            cache_mb: file.cache_mb,
            requests_max: file.requests_max,
            log_format: overrides.log_format.unwrap_or(file.log_format),
            log_filter: file.log_filter.clone(),
            require_confinement: file.render.require_confinement,
            web: Web { searches: file.search.clone(), ..web::validated(&file.web) },
            handovers: handover::validated(&file.handover, folder),
            backup: backup::validated(&file.backup, folder),
            alarms: alarms::validated(&file.alarms, &file.alarm_channel),
            given: String::new(),
        })
    }

    /// The keys whose values differ.
    #[must_use]
    pub fn changed_keys(&self, other: &Self) -> Vec<&'static str> {
        let keys = [
            ("data_dir", self.data_dir != other.data_dir),
            ("rules_dir", self.rules_dir != other.rules_dir),
            ("contact", self.contact != other.contact),
            ("cache_mb", self.cache_mb != other.cache_mb),
            ("requests_max", self.requests_max != other.requests_max),
            ("log_format", self.log_format != other.log_format),
            ("log_filter", self.log_filter != other.log_filter),
            ("render.require_confinement", self.require_confinement != other.require_confinement),
            ("search", self.web.searches != other.web.searches),
            ("web", Web { searches: other.web.searches.clone(), ..self.web.clone() } != other.web),
            ("handover", self.handovers != other.handovers),
            ("backup", self.backup != other.backup),
            ("alarms", self.alarms.settings != other.alarms.settings),
            ("alarm_channel", self.alarms.channels != other.alarms.channels),
        ];
        keys.into_iter().filter_map(|(key, is_changed)| is_changed.then_some(key)).collect()
    }

    /// `gleaner/<version> (+contact)`, or without the parentheses if there is no contact.
    #[must_use]
    pub fn user_agent(&self) -> String {
        const NAME: &str = concat!("gleaner/", env!("CARGO_PKG_VERSION"));
        match &self.contact {
            Some(contact) => format!("{NAME} (+{contact})"),
            None => NAME.to_owned(),
        }
    }
}

/// Reports what fits its type and cannot be.
fn check(file: &ConfigFile, spans: &Spans, home: Option<&OsStr>, faults: &mut Faults) {
    if let Some(contact) = file.contact.as_deref().map(str::trim)
        && let Err(message) = check_contact(contact)
    {
        let hint = "write an e-mail address or a URL, as crawler@example.org".to_owned();
        faults.add(spans.value("contact"), "contact", message, Some(hint));
    }
    if let Err(why) = check_filter(&file.log_filter) {
        faults.add(spans.value("log_filter"), "log_filter", why, Some(FILTER_HINT.to_owned()));
    }
    for (key, path) in [("data_dir", &file.data_dir), ("rules_dir", &file.rules_dir)] {
        if let Some((message, hint)) = path.as_deref().and_then(|path| unexpanded(path, home)) {
            faults.add(spans.value(key), key, message, Some(hint));
        }
    }
    web::check(&file.web, spans, faults);
    handover::check(&file.handover, spans, home, faults);
    backup::check(&file.backup, spans, home, faults);
    alarms::check(&file.alarms, &file.alarm_channel, spans, faults);
}

/// What a shell would have expanded in a path, with the path to write; None if there is nothing of the kind.
#[must_use]
pub fn unexpanded(path: &str, home: Option<&OsStr>) -> Option<(String, String)> {
    let of_home = ["~", "$HOME", "${HOME}"].into_iter().find_map(|name| {
        let rest = path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        Some((name, home.map(|home| format!("write {}{rest}", Path::new(home).display()))))
    });
    let (name, hint) = match of_home {
        Some((name, hint)) => (name.to_owned(), hint),
        None if path.starts_with('~') => (path.split('/').next().unwrap_or_default().to_owned(), None),
        None => {
            let rest = &path[path.find('$')?..];
            let begins = |of: char| of.is_ascii_alphabetic() || matches!(of, '_' | '{');
            rest[1..].starts_with(begins).then_some(())?;
            let end = rest[1..].find(|of: char| !of.is_ascii_alphanumeric() && !matches!(of, '_' | '{' | '}'));
            (rest[..end.map_or(rest.len(), |end| end + 1)].to_owned(), None)
        }
    };
    Some((format!("`{name}` is not expanded"), hint.unwrap_or_else(|| "write the path in full".to_owned())))
}

/// A contact must fit into a header comment (RFC 9110 §5.6.5) and be an address that one can write to.
fn check_contact(contact: &str) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'(' | b')' | b'\\' | b'"' | b'<' | b'>');
    if contact.len() > 200 || !contact.bytes().all(is_plain) {
        return Err("the contact does not fit into a header".to_owned());
    }
    if contact.starts_with("http://") || contact.starts_with("https://") {
        let url = url::Url::parse(contact).map_err(|error| format!("the contact is not a URL: {error}"))?;
        let has_secret = !url.username().is_empty() || url.password().is_some();
        return if has_secret { Err("the contact contains a user name or password".to_owned()) } else { Ok(()) };
    }
    match contact.strip_prefix("mailto:").unwrap_or(contact).split_once('@') {
        Some((user, host)) if !user.is_empty() && host.contains('.') && !host.contains('@') => Ok(()),
        _ => Err("the contact is neither an e-mail address nor a URL".to_owned()),
    }
}

/// The JSON Schema of gleaner.toml, for editors.
#[must_use]
pub fn config_schema() -> serde_json::Value {
    schemars::schema_for!(ConfigFile).to_value()
}

#[cfg(test)]
mod tests {
    use super::handover::Since;
    use super::*;

    fn load(text: &str, overrides: &Overrides) -> Result<Config, Vec<String>> {
        let path = Path::new("/conf/gleaner.toml");
        Config::from_text(&Surroundings::default(), Some(path), text, overrides)
            .map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn no_file_is_a_valid_configuration() {
        let root = tempfile::tempdir().unwrap();
        let surroundings = Surroundings { root: root.path().to_owned(), ..Surroundings::default() };
        let config = Config::load_in(&surroundings, None, &Overrides::default()).unwrap();
        assert_eq!(config.data_dir, Path::new("gleaner-data"));
        assert_eq!(config.rules_dir, Path::new("rules"));
        assert_eq!((config.cache_mb, config.log_format), (32, LogFormat::Text));
        assert_eq!(config.user_agent(), format!("gleaner/{}", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn searches_have_names_of_their_own_and_queries_that_are_some() {
        let given = |text: &str| {
            let doubts: Doubts =
                |query| query.split(' ').filter(|part| part.starts_with("cats:")).map(str::to_owned).collect();
            let surroundings = Surroundings { doubts: Some(doubts), ..Surroundings::default() };
            Config::from_text(&surroundings, Some(Path::new("g.toml")), text, &Overrides::default())
                .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let well = "[[search]]\nname = \"linux\"\nquery = \"cat:4020 -beta\"\n";
        let config = given(well).unwrap();
        assert_eq!(config.web.searches[0].query, "cat:4020 -beta");
        assert_eq!(config.changed_keys(&given("").unwrap()), ["search"]);
        for (name, query, told) in [
            ("a b", "x", "g.toml:6:8: `a b` cannot be the name of a search"),
            ("../x", "x", "cannot be the name"),
            (".x", "x", "cannot be the name"),
            ("linux", "x", "g.toml:6:8: two searches are called `linux`"),
            ("x", "cats:5 y", "g.toml:7:9: `cats:5` is no filter"),
            ("x", "  ", "this query finds everything"),
        ] {
            let faults = given(&format!("{well}\n[[search]]\nname = '{name}'\nquery = '{query}'\n")).unwrap_err();
            assert!(faults.len() == 1 && faults[0].contains(told) && faults[0].contains("hint: "), "{faults:?}");
        }
        let missing = given("[[search]]\nname = 'x'\n").unwrap_err();
        assert!(
            missing.len() == 1 && missing[0].contains("g.toml:1:") && missing[0].contains("`query` is missing"),
            "{missing:?}"
        );
    }

    #[test]
    fn systemd_names_the_folders() {
        let root = tempfile::tempdir().unwrap();
        let etc = root.path().join("conf");
        std::fs::create_dir_all(&etc).unwrap();
        std::fs::write(etc.join("gleaner.toml"), "contact = \"https://example.org/bot\"\n").unwrap();
        let surroundings = Surroundings {
            state_directory: Some("/var/lib/private/gleaner:/other".into()),
            configuration_directory: Some(etc.clone().into()),
            root: root.path().to_owned(),
            ..Surroundings::default()
        };
        let config = Config::load_in(&surroundings, None, &Overrides::default()).unwrap();
        assert_eq!(config.data_dir, Path::new("/var/lib/private/gleaner"));
        assert_eq!(config.rules_dir, etc.join("rules"));
        assert_eq!(config.file, Some(etc.join("gleaner.toml")));
        assert!(config.user_agent().ends_with(" (+https://example.org/bot)"));
    }

    #[test]
    fn folders_of_an_installed_machine_go_before_those_of_the_working_folder() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("var/lib/gleaner")).unwrap();
        std::fs::create_dir_all(root.path().join("etc/gleaner/rules")).unwrap();
        let surroundings = Surroundings { root: root.path().to_owned(), ..Surroundings::default() };
        let config = Config::load_in(&surroundings, None, &Overrides::default()).unwrap();
        assert_eq!(config.data_dir, root.path().join("var/lib/gleaner"));
        assert_eq!(config.rules_dir, root.path().join("etc/gleaner/rules"));
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_defaults() {
        let text = "data_dir = 'data'\nrules_dir = '/r'\nlog_format = 'json'\ncache_mb = 64\n";
        let config = load(text, &Overrides::default()).unwrap();
        assert_eq!((config.data_dir.as_path(), config.cache_mb), (Path::new("/conf/data"), 64));
        assert_eq!((config.rules_dir.as_path(), config.log_format), (Path::new("/r"), LogFormat::Json));
        let overrides =
            Overrides { data_dir: Some("d".into()), rules_dir: Some("r".into()), log_format: Some(LogFormat::Text) };
        let config = load(text, &overrides).unwrap();
        assert_eq!((config.data_dir.as_path(), config.rules_dir.as_path()), (Path::new("d"), Path::new("r")));
        assert_eq!(config.log_format, LogFormat::Text);
    }

    #[test]
    fn what_only_a_shell_expands_is_a_fault_with_the_path_to_write() {
        let home = Some(OsStr::new("/home/anna"));
        for (path, name, hint) in [
            ("~/gl", "~", "write /home/anna/gl"),
            ("~", "~", "write /home/anna"),
            ("$HOME/gl", "$HOME", "write /home/anna/gl"),
            ("${HOME}/gl", "${HOME}", "write /home/anna/gl"),
            ("~bob/gl", "~bob", "write the path in full"),
            ("/srv/$USER/gl", "$USER", "write the path in full"),
            ("$HOMES", "$HOMES", "write the path in full"),
        ] {
            assert_eq!(unexpanded(path, home), Some((format!("`{name}` is not expanded"), hint.to_owned())), "{path}");
        }
        for path in ["/srv/gl", "./~", "a~", "cash$", "5$/x", ""] {
            assert_eq!(unexpanded(path, home), None, "{path}");
        }
        let faults =
            load("cache_mb = 64\ndata_dir = '~/gl'\nrules_dir = '$HOME/r'\n", &Overrides::default()).unwrap_err();
        let expected = ["/conf/gleaner.toml:2:12: ", "/conf/gleaner.toml:3:13: "];
        assert!(
            faults.len() == 2 && expected.iter().zip(&faults).all(|(at, fault)| fault.starts_with(at)),
            "{faults:#?}"
        );
    }

    #[test]
    fn all_faults_are_told_at_once_and_in_place() {
        let text = "cach_mb = 1\ncontact = 'me (at) home'\nlog_format = 'jsn'\nlog_filter = 'gleaner=loud'\nrequests_max = 0\n";
        let faults = load(text, &Overrides::default()).unwrap_err();
        let starts: Vec<&str> = faults.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
        let at = |line: usize, column: usize| format!("/conf/gleaner.toml:{line}:{column}");
        assert_eq!(starts, [at(1, 1), at(2, 11), at(3, 14), at(4, 14), at(5, 16)], "{faults:#?}");
        assert!(faults[0].ends_with("did you mean `cache_mb`?"), "{}", faults[0]);
        assert!(faults[2].ends_with("did you mean `json`?"), "{}", faults[2]);
    }

    #[test]
    fn handovers_have_a_name_of_their_own_and_a_folder() {
        let text = "[[handover]]\nname = 'a'\nfolder = 'watch'\nsearch = ' cat:4020 '\n[[handover]]\nname = 'b'\nfolder = '/w'\nsince = 'all'\n";
        let [a, b] = &load(text, &Overrides::default()).unwrap().handovers[..] else { panic!() };
        assert_eq!((&*a.folder, &*a.search, a.since), (Path::new("/conf/watch"), "cat:4020", Since::New));
        assert_eq!((&*b.folder, &*b.search, b.since), (Path::new("/w"), "", Since::All));
        for (text, told) in [
            ("folder = '/w'", "1:1: the key `name` is missing"),
            ("name = ''\nfolder = '/w'", "2:8: this is not a name"),
            ("name = '../x'\nfolder = '/w'", "2:8: this is not a name"),
            ("name = '.x'\nfolder = '/w'", "2:8: this is not a name"),
            ("name = 'x'", "1:1: the key `folder` is missing"),
            ("name = 'x'\nfolder = ''", "3:10: the key `folder` is missing"),
            ("name = 'x'\nfolder = '~/w'", "3:10: `~` is not expanded"),
            ("name = 'x'\nfolder = '/w'\nsince = 'now'", "4:9: `handover[0].since` cannot be"),
            ("name = 'x'\nfoldr = '/w'", "3:1: unknown key `foldr`"),
            ("name = 'x'\nfolder = '/w'\n[[handover]]\nname = 'x'\nfolder = '/v'", "5:8: two handovers are named `x`"),
        ] {
            let faults = load(&format!("[[handover]]\n{text}\n"), &Overrides::default()).unwrap_err();
            assert!(faults.len() == 1 && faults[0].contains(told), "{text}: {faults:#?}");
        }
    }

    #[test]
    fn channels_have_a_name_and_one_way_and_alarms_a_kind() {
        let text = "[alarms]\noff = ['backup-old']\nafter.unreachable = 90\n[[alarm_channel]]\nname = 'phone'\nurl = 'https://ntfy.lan/x'\ntemplate = 'ntfy'\n\
            [[alarm_channel]]\nname = 'beat'\nping_url = 'https://hc.lan/{secret}'\n[[alarm_channel]]\nname = 'own'\ncommand = ['/bin/call']\n";
        let alarms = load(text, &Overrides::default()).unwrap().alarms;
        let told: Vec<_> = alarms.channels.iter().map(|channel| (&*channel.name, channel.told())).collect();
        assert_eq!(told, [("phone", "ntfy"), ("beat", "ping"), ("own", "command")]);
        assert_eq!((alarms.settings.off.len(), alarms.settings.after.values().next().unwrap().as_secs()), (1, 5_400));
        for (text, told) in [
            ("[alarms]\noff = ['rows-fel']", "2:8: no alarm is called `rows-fel`"),
            ("[alarms]\nafter.rows-fell = 999999999", "this is too long"),
            ("[alarms]\nafter = { nothing = 5 }", "no alarm is called `nothing`"),
            ("[[alarm_channel]]\nurl = 'https://x/'", "a channel needs a name"),
            ("[[alarm_channel]]\nname = 'x'", "a channel has one of"),
            ("[[alarm_channel]]\nname = 'x'\nurl = 'https://x/'\ncommand = ['y']", "a channel has one of"),
            ("[[alarm_channel]]\nname = 'x'\nurl = 'file:///etc/passwd'", "3:7: this is not a URL"),
            ("[[alarm_channel]]\nname = 'x'\nurl = 'https://a:b@x/'", "contains a user name or password"),
            ("[[alarm_channel]]\nname = 'x'\ncommand = ['']", "this is no command"),
            (
                "[[alarm_channel]]\nname = 'x'\nurl = 'https://x/'\n[[alarm_channel]]\nname = 'x'\nurl = 'https://x/'",
                "two channels are named `x`",
            ),
        ] {
            let faults = load(text, &Overrides::default()).unwrap_err();
            assert!(faults.len() == 1 && faults[0].contains(told), "{text}: {faults:?}");
        }
    }

    #[test]
    fn a_named_file_must_be_there() {
        let faults =
            Config::load(Some(Path::new("/nowhere/gleaner.toml")), &Overrides::default(), |_| Vec::new()).unwrap_err();
        assert!(faults[0].message.starts_with("cannot be read"), "{faults:?}");
    }

    #[test]
    fn contacts_are_addresses_or_urls() {
        for good in ["a@example.org", "mailto:a@example.org", "https://example.org/bot"] {
            assert_eq!(check_contact(good), Ok(()), "{good}");
        }
        for bad in ["", "me", "a@b", "https://", "https://u:p@h/", "a b@example.org", "a@example.org)\r\nX: y"] {
            assert!(check_contact(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_shipped_example_is_valid_and_shows_the_defaults() {
        let text = include_str!("../../systemd/gleaner.toml");
        assert!(load(text, &Overrides::default()).is_ok());
        let is_toml = |line: &str| line.contains(" = ") || line.starts_with('[');
        let uncommented: String = text
            .lines()
            .filter_map(|line| line.strip_prefix("# ").filter(|line| is_toml(line)).or(Some(line)))
            .filter(|line| is_toml(line) || line.is_empty())
            .collect::<Vec<_>>()
            .join("\n");
        let config = load(&uncommented, &Overrides::default()).unwrap_or_else(|faults| panic!("{faults:#?}"));
        let defaults = ConfigFile::default();
        assert_eq!((config.cache_mb, config.requests_max), (defaults.cache_mb, defaults.requests_max));
        assert_eq!((config.log_format, config.log_filter), (defaults.log_format, defaults.log_filter));
        let schema = config_schema();
        for key in schema["properties"].as_object().unwrap().keys() {
            assert!(text.contains(&format!("{key} = ")) || text.contains(&format!("[{key}]")), "{key} is not shown");
        }
    }
}
