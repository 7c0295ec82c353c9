//! Text for the controls of a page that is held open, and how to submit it.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// What is typed into a page that is held open, and how it is submitted. Its texts may be secrets: they are the body of the frame,
/// `Debug` never shows them, and they are overwritten when dropped.
#[derive(Serialize, Deserialize)]
pub struct Filling {
    entries: Vec<EntryHead>,
    /// `None` only types; another filling submits the form.
    pub submit: Option<Submit>,
    #[serde(skip)]
    pub texts: Zeroizing<Vec<u8>>,
}

/// One control, by the mark that the serialised document gave it.
#[derive(Serialize, Deserialize)]
struct EntryHead {
    mark: u32,
    /// Bytes of its text; `None` for a box to check.
    bytes: Option<usize>,
}

impl Filling {
    /// A filling that types nothing yet.
    #[must_use]
    pub fn new(submit: Submit) -> Self {
        Self { entries: Vec::new(), submit: Some(submit), texts: Zeroizing::default() }
    }

    /// Keeps the typing here; returns a filling that types nothing and submits, if this one would have submitted.
    pub fn split_off_sending(&mut self) -> Option<Self> {
        self.submit.take().map(Self::new)
    }

    /// Types a text into a control, replacing its value; for a list it is the value of the option to choose.
    pub fn type_in(&mut self, mark: u32, text: &str) {
        self.entries.push(EntryHead { mark, bytes: Some(text.len()) });
        // A buffer that grows would leave a copy of the secrets in memory.
        let mut texts = Zeroizing::new(Vec::with_capacity(self.texts.len() + text.len()));
        texts.extend_from_slice(&self.texts);
        texts.extend_from_slice(text.as_bytes());
        self.texts = texts;
    }

    /// Checks a box.
    pub fn check(&mut self, mark: u32) {
        self.entries.push(EntryHead { mark, bytes: None });
    }

    /// The controls in order, each with its text, or `None` for a box to check. A length beyond the body ends the iteration.
    pub fn entries(&self) -> impl Iterator<Item = (u32, Option<Zeroizing<String>>)> {
        let mut rest = self.texts.as_slice();
        self.entries.iter().map_while(move |head| {
            let Some(bytes) = head.bytes else { return Some((head.mark, None)) };
            let (text, behind) = rest.split_at_checked(bytes)?;
            rest = behind;
            Some((head.mark, Some(Zeroizing::new(String::from_utf8_lossy(text).into_owned()))))
        })
    }
}

impl std::fmt::Debug for Filling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Filling({} controls, {:?})", self.entries.len(), self.submit)
    }
}

/// How a form is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Submit {
    /// By a click on this control.
    Click(u32),
    /// By the Enter key in this control, which submits the form that owns it, whether it has a button or not.
    Enter(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filling_is_read_as_it_was_written_and_shows_nothing() {
        let mut filling = Filling::new(Submit::Enter(7));
        filling.type_in(3, "anna");
        filling.check(4);
        filling.type_in(5, "s3cret ü");
        let head = serde_json::to_string(&filling).unwrap();
        assert!(!head.contains("s3cret") && !format!("{filling:?}").contains("s3cret"), "{head}");
        let mut read: Filling = serde_json::from_str(&head).unwrap();
        read.texts = filling.texts.clone();
        let entries: Vec<_> = read.entries().map(|(mark, text)| (mark, text.map(|text| text.to_string()))).collect();
        assert_eq!(entries, [(3, Some("anna".to_owned())), (4, None), (5, Some("s3cret ü".to_owned()))]);
        read.texts = Zeroizing::new(b"ann".to_vec());
        assert_eq!(read.entries().count(), 0);
    }
}
