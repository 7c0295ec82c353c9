//! Asks the person at the terminal what only a person can answer. A picture to read exists as a file only while its
//! question is open, also if the process is stopped meanwhile.

use std::io::{BufRead as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::ends::Ending;
use crate::app::secrets;
use crate::limits;
use gleaner_base::{console, owner};
use gleaner_crawl::login::handover::{Picture, Question, Wanted};

/// The terminal, and the picture that it shows.
pub struct Terminal {
    data_dir: PathBuf,
    site: String,
    ending: Ending,
}

impl Terminal {
    /// A terminal whose picture is deleted if a signal ends the process during a question.
    #[must_use]
    pub fn new(data_dir: &Path, site: &str, ending: &Ending) -> Self {
        Self { data_dir: data_dir.to_path_buf(), site: site.to_owned(), ending: ending.clone() }
    }

    /// Asks; None if nothing was typed, or if the process was told to stop.
    pub fn ask(&self, question: &Question<'_>) -> Option<Box<str>> {
        if !self.ending.asks() {
            return None;
        }
        let wants = match question.wanted {
            Wanted::Captcha => "the site asks to read a CAPTCHA",
            Wanted::Choice => "the site asks which security question is yours",
            Wanted::Answer => "the site asks a security question",
            Wanted::Code => "the site asks for a one-time code",
            Wanted::CodeIfAny => "the site takes a one-time code; leave it empty if your account has none",
        };
        // Text from sites must not send control sequences to the terminal.
        let plain = |text: &str| text.replace(char::is_control, " ");
        let mut text = format!("{wants}: {}\n", plain(question.text));
        for (place, option) in question.options.iter().enumerate() {
            text.push_str(&format!("  {}: {}\n", place + 1, plain(option)));
        }
        match question.picture.as_ref().map(|picture| self.show(picture)) {
            Some(Ok(path)) => text.push_str(&format!("its picture is in {}\n", path.display())),
            Some(Err(error)) => text.push_str(&format!("its picture cannot be written: {error:#}\n")),
            None if question.wanted == Wanted::Captcha => {
                text.push_str("the page has no picture of it: a script may show it\n");
            }
            None => {}
        }
        let typed = typed(&text);
        self.ending.is_answered();
        let answer = typed?;
        (!answer.trim().is_empty()).then(|| answer.trim().into())
    }

    fn show(&self, picture: &Picture) -> anyhow::Result<PathBuf> {
        let path = self.data_dir.join("sessions").join(format!("{}.captcha.{}", self.site, picture.extension));
        self.ending.shows(path.clone());
        let _owner = owner::act(&self.data_dir);
        secrets::write_private(&path, &picture.bytes).with_context(|| path.display().to_string())?;
        Ok(path)
    }
}

fn typed(text: &str) -> Option<String> {
    let mut terminal = console::err();
    write!(terminal, "{text}> ").and_then(|()| terminal.flush()).ok()?;
    let mut line = String::new();
    std::io::stdin().lock().take(limits::ANSWER_TYPED_BYTES_MAX as u64).read_line(&mut line).ok()?;
    Some(line)
}
