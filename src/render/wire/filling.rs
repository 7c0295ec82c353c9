//! What is typed into the controls of a page that is held open, and how it is sent.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// What is typed into a page that is held open, and how it is sent. Its texts may be secrets: they are the body of its frame, no
/// `Debug` shows them, and they are overwritten when they are dropped.
#[derive(Serialize, Deserialize)]
pub struct Filling {
    entries: Vec<EntryHead>,
    /// None: it types alone, and what it belongs to is sent by another filling.
    pub submit: Option<Submit>,
    #[serde(skip)]
    pub texts: Zeroizing<Vec<u8>>,
}

/// One control, by the mark that the document gave it.
#[derive(Serialize, Deserialize)]
struct EntryHead {
    mark: u32,
    /// Bytes of its text; none: it is a box to be checked.
    bytes: Option<usize>,
}

impl Filling {
    /// One that types nothing yet.
    #[must_use]
    pub fn new(submit: Submit) -> Self {
        Self { entries: Vec::new(), submit: Some(submit), texts: Zeroizing::default() }
    }

    /// Leaves the typing here; gives the filling that types nothing and sends, where this one would have sent.
    pub fn split_off_sending(&mut self) -> Option<Self> {
        self.submit.take().map(Self::new)
    }

    /// Types a text into a control, in place of what it holds; of a list it is the value of the option to be chosen.
    pub fn type_in(&mut self, mark: u32, text: &str) {
        self.entries.push(EntryHead { mark, bytes: Some(text.len()) });
        // A buffer that grew would leave a copy behind.
        let mut texts = Zeroizing::new(Vec::with_capacity(self.texts.len() + text.len()));
        texts.extend_from_slice(&self.texts);
        texts.extend_from_slice(text.as_bytes());
        self.texts = texts;
    }

    /// Checks a box.
    pub fn check(&mut self, mark: u32) {
        self.entries.push(EntryHead { mark, bytes: None });
    }

    /// The controls in their order: a text, or none for a box to be checked. Lengths beyond the body end the list.
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

/// How a person sends a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Submit {
    /// By a click on this control.
    Click(u32),
    /// By the Enter key in this control, which sends the form that owns it, whether it has a button or not.
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
