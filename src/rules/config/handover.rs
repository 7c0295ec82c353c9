//! `[[handover]]`: torrents that go to the watch folder of a BitTorrent client.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::unexpanded;
use crate::fault::Faults;
use crate::limits::{HANDOVER_NAME_BYTES_MAX, HANDOVERS_MAX};
use crate::schema::Spans;

/// One `[[handover]]` as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HandoverFile {
    /// Its name: 1 to 64 letters, digits, `-`, `_` or `.`. What was handed over is remembered by it.
    pub name: String,
    /// Watch folder of a BitTorrent client. Relative to the folder of this file.
    pub folder: String,
    /// Which torrents, as a query of `gleaner search`. Without one, all.
    pub search: String,
    /// `new`, what is stored from its first run on; `all`, what was stored before, too.
    pub since: Since,
}

/// From when on torrents are handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Since {
    /// What is stored from its first run on.
    #[default]
    New,
    /// What was stored before, too.
    All,
}

impl Since {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::All => "all",
        }
    }
}

/// One `[[handover]]`, validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    pub name: String,
    pub folder: PathBuf,
    pub search: String,
    pub since: Since,
}

/// Reports what cannot be.
pub(super) fn check(files: &[HandoverFile], spans: &Spans, home: Option<&OsStr>, faults: &mut Faults) {
    let mut fault = |path: &str, message: String, hint: &str| {
        faults.add(spans.value(path), path, message, Some(hint.to_owned()));
    };
    if files.len() > HANDOVERS_MAX {
        fault("handover", format!("at most {HANDOVERS_MAX} handovers are served"), "take some away");
    }
    for (at, file) in files.iter().enumerate() {
        let (own, name) = (format!("handover[{at}]"), format!("handover[{at}].name"));
        let is_plain = |of: u8| of.is_ascii_alphanumeric() || b"-_.".contains(&of);
        if file.name.is_empty() && !spans.may_have(&name) {
            fault(&own, "the key `name` is missing in `handover`".to_owned(), "write name = \"seedbox\"");
        } else if file.name.is_empty()
            || file.name.len() > HANDOVER_NAME_BYTES_MAX
            || file.name.starts_with('.')
            || !file.name.bytes().all(is_plain)
        {
            let hint = "write 1 to 64 letters, digits, `-`, `_` or `.`, with no `.` in front";
            fault(&name, "this is not a name".to_owned(), hint);
        } else if files[..at].iter().any(|other| other.name == file.name) {
            fault(&name, format!("two handovers are named `{}`", file.name), "name each differently");
        }
        let folder = format!("handover[{at}].folder");
        if file.folder.is_empty() {
            let place = if spans.has(&folder) { &folder } else { &own };
            if spans.has(&folder) || !spans.may_have(&folder) {
                let hint = "write folder = \"/srv/watch\": the watch folder of the client";
                fault(place, "the key `folder` is missing in `handover`".to_owned(), hint);
            }
        } else if let Some((message, hint)) = unexpanded(&file.folder, home) {
            fault(&folder, message, &hint);
        }
    }
}

/// What [`check`] has found nothing wrong with. `base` is the folder of the file.
pub(super) fn validated(files: &[HandoverFile], base: &Path) -> Vec<Handover> {
    let one = |file: &HandoverFile| Handover {
        name: file.name.clone(),
        folder: base.join(&file.folder),
        search: file.search.trim().to_owned(),
        since: file.since,
    };
    files.iter().map(one).collect()
}
