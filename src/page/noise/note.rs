//! A model as a note in the crawl database: JSON, with long lists of numbers as base64.
//!
//! An invalid note is rejected, and the model starts again: it costs some visits, never a wrong verdict.

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

use super::fuse::{Piece, Template};
use super::learn::{Evidence, Sample, StoredAtom, StoredPart};
use super::words::Kind;
use super::{Holds, Key, Model, Records};
use crate::limits::{NOISE_ATOMS_MAX, NOISE_FUSED_PAGES, NOISE_KEYS_MAX, NOISE_NOTE_BYTES_MAX, NOISE_SAMPLES_MAX};

/// Version of the format and of the page analysis: slots of another version have other keys.
const VERSION: u32 = 1;

/// Why a note was rejected.
#[derive(Debug, thiserror::Error)]
pub enum NoteError {
    #[error("the note of a noise model is longer than {NOISE_NOTE_BYTES_MAX} bytes")]
    TooLong,
    #[error("the note of a noise model is of version {0}, and this build reads {VERSION}")]
    Version(u32),
    #[error("the note of a noise model is broken: {0}")]
    Broken(String),
}

#[derive(Serialize, Deserialize)]
struct Note {
    version: u32,
    holds: Holds,
    epoch: u64,
    relearned: u32,
    pages: u32,
    with_records: u32,
    looks: u32,
    strangers: u8,
    template_urls: Vec<u64>,
    /// Key, slot, times.
    template: Vec<(u64, u64, u16)>,
    noise: Vec<u64>,
    shaped: Vec<u64>,
    /// Slot, and bits of links, titles, rows.
    records: Vec<(u64, u8)>,
    evidence: Vec<EvidenceNote>,
    samples: Vec<SampleNote>,
}

/// Key, code of its kind, slot, born, changes, changed, compared, shared.
type EvidenceNote = (u64, u8, u64, u32, u32, u32, u32, u32);

#[derive(Serialize, Deserialize)]
struct SampleNote {
    url: u64,
    at: u32,
    hits: u32,
    atoms: String,
    parts: String,
}

const ATOM_BYTES: usize = 18;
const PART_BYTES: usize = 8;

const KEYS: [Key; 9] = [
    Key::Slot,
    Key::Part,
    Key::Shape(Kind::Words),
    Key::Shape(Kind::Count),
    Key::Shape(Kind::Mixed),
    Key::Shape(Kind::Date),
    Key::Shape(Kind::Size),
    Key::Shape(Kind::Long),
    Key::Shape(Kind::Hash),
];

fn code(key: Key) -> u8 {
    // Every key is in the table, which is shorter than 256.
    KEYS.iter().position(|known| *known == key).and_then(|place| u8::try_from(place).ok()).unwrap_or(0)
}

impl Model {
    /// The note: equal for equal models, at most [`NOISE_NOTE_BYTES_MAX`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let sorted = |keys: &super::KeySet| {
            let mut keys: Vec<u64> = keys.iter().copied().collect();
            keys.sort_unstable();
            keys
        };
        let bits =
            |records: &Records| u8::from(records.kept) | u8::from(records.titles) << 1 | u8::from(records.rows) << 2;
        let pieces = self.template.pieces.iter();
        let mut template: Vec<_> = pieces.map(|(key, piece)| (*key, piece.slot, piece.times)).collect();
        template.sort_unstable();
        let mut records: Vec<_> = self.records.iter().map(|(slot, records)| (*slot, bits(records))).collect();
        records.sort_unstable();
        let of_evidence = |(key, of): (&u64, &Evidence)| {
            (*key, code(of.key), of.slot, of.born, of.changes, of.changed, of.compared, of.shared)
        };
        let mut evidence: Vec<EvidenceNote> = self.evidence.iter().map(of_evidence).collect();
        evidence.sort_unstable();
        let note = Note {
            version: VERSION,
            holds: self.holds,
            epoch: self.epoch,
            relearned: self.relearned,
            pages: self.pages,
            with_records: self.with_records,
            looks: self.looks,
            strangers: self.strangers,
            template_urls: self.template.urls.clone(),
            template,
            noise: sorted(&self.noise),
            shaped: sorted(&self.shaped),
            records,
            evidence,
            samples: self.samples.iter().map(sample_note).collect(),
        };
        // Numbers, strings and lists of them: serde_json cannot fail.
        serde_json::to_vec(&note).unwrap_or_default()
    }

    /// Parses a note.
    ///
    /// # Errors
    /// [`NoteError`] if it is too long, of another version, or invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NoteError> {
        if bytes.len() > NOISE_NOTE_BYTES_MAX {
            return Err(NoteError::TooLong);
        }
        let broken = |what: &str| NoteError::Broken(what.to_owned());
        let note: Note = serde_json::from_slice(bytes).map_err(|error| NoteError::Broken(error.to_string()))?;
        if note.version != VERSION {
            return Err(NoteError::Version(note.version));
        }
        let lists = [note.noise.len(), note.shaped.len(), note.records.len(), note.evidence.len()];
        let is_too_much = lists.iter().any(|length| *length > NOISE_KEYS_MAX)
            || note.template.len() > NOISE_ATOMS_MAX
            || note.template_urls.len() > NOISE_FUSED_PAGES
            || note.samples.len() > NOISE_SAMPLES_MAX;
        if is_too_much {
            return Err(broken("more than a model holds"));
        }
        let mut model = Self {
            holds: note.holds,
            epoch: note.epoch,
            relearned: note.relearned,
            template: Template { pieces: super::Keys::default(), urls: note.template_urls },
            noise: note.noise.into_iter().collect(),
            shaped: note.shaped.into_iter().collect(),
            looks: note.looks,
            pages: note.pages,
            with_records: note.with_records,
            strangers: note.strangers,
            ..Self::default()
        };
        model.template.pieces =
            note.template.into_iter().map(|(key, slot, times)| (key, Piece { slot, times })).collect();
        let records = |bits: u8| Records { kept: bits & 1 != 0, titles: bits & 2 != 0, rows: bits & 4 != 0 };
        model.records = note.records.into_iter().map(|(slot, bits)| (slot, records(bits))).collect();
        for (id, code, slot, born, changes, changed, compared, shared) in note.evidence {
            let key = *KEYS.get(usize::from(code)).ok_or_else(|| broken("a key of no kind"))?;
            model.evidence.insert(id, Evidence { key, slot, born, changes, changed, compared, shared });
        }
        let is_part = |key: &u64| model.evidence.get(key).is_some_and(|evidence| evidence.key == Key::Part);
        model.has_parts = model.noise.iter().any(is_part);
        for sample in note.samples {
            model.samples.push(read_sample(&sample).ok_or_else(|| broken("a look that is none"))?);
        }
        Ok(model)
    }
}

fn sample_note(sample: &Sample) -> SampleNote {
    let mut atoms = Vec::with_capacity(sample.atoms.len() * ATOM_BYTES);
    for atom in &sample.atoms {
        for number in [atom.slot, atom.value, atom.shape, atom.counted] {
            atoms.extend_from_slice(&number.to_le_bytes());
        }
        atoms.extend_from_slice(&[atom.flags, atom.parts]);
    }
    let parts = sample.parts.iter().flat_map(|part| {
        let (key, value) = (part.key.to_le_bytes(), part.value.to_le_bytes());
        key.into_iter().chain(value)
    });
    let parts: Vec<u8> = parts.collect();
    SampleNote {
        url: sample.url,
        at: sample.at,
        hits: sample.hits,
        atoms: BASE64.encode(&atoms),
        parts: BASE64.encode(&parts),
    }
}

fn read_sample(note: &SampleNote) -> Option<Sample> {
    let atoms = BASE64.decode(note.atoms.as_bytes()).ok()?;
    let parts = BASE64.decode(note.parts.as_bytes()).ok()?;
    let is_whole = atoms.len() % ATOM_BYTES == 0 && parts.len() % PART_BYTES == 0;
    if !is_whole || atoms.len() / ATOM_BYTES > NOISE_ATOMS_MAX {
        return None;
    }
    let number = |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let kept = |bytes: &[u8]| {
        Some(StoredAtom {
            slot: number(bytes, 0)?,
            value: number(bytes, 4)?,
            shape: number(bytes, 8)?,
            counted: number(bytes, 12)?,
            flags: *bytes.get(16)?,
            parts: *bytes.get(17)?,
        })
    };
    let part = |bytes: &[u8]| Some(StoredPart { key: number(bytes, 0)?, value: number(bytes, 4)? });
    Some(Sample {
        url: note.url,
        at: note.at,
        hits: note.hits,
        atoms: atoms.chunks_exact(ATOM_BYTES).map(kept).collect::<Option<_>>()?,
        parts: parts.chunks_exact(PART_BYTES).map(part).collect::<Option<_>>()?,
    })
}
