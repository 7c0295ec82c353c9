//! A sample of the unknown ids of a site: which are asked for, and what their answers say of the others. Pure; the crawl keeps it as a note.
//!
//! The unknown ids are cut into as many equal parts as ids are to be asked for, and one of each part is drawn: spread over all gaps, each with the same
//! chance, so that the share that answers estimates that of all. Its interval is Wilson's at 95 %.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::distinct::wilson;
use super::ids::{Form, IdShape};
use crate::crawldb::HostId;
use crate::limits::{SAMPLED_SHAPES_MAX, SAMPLED_VACANT_MAX};
use gleaner_base::clock::UnixMillis;

/// Name of the note that stores the samples of a site.
pub const SAMPLES_NOTE: &str = "samples";

/// The samples of a site, as the note has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    shapes: Vec<Sample>,
}

/// What was asked for of one form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    host: HostId,
    head: Box<str>,
    tail: Box<str>,
    /// Ids with an answer, and those of them that brought a torrent.
    pub asked: u64,
    pub answered: u64,
    /// Those that did not, in the order of asking.
    pub vacant: Vec<u64>,
    at: UnixMillis,
}

impl Samples {
    /// The content of a note; empty for one of another version.
    #[must_use]
    pub fn from_bytes(note: Option<&[u8]>) -> Self {
        note.and_then(|note| serde_json::from_slice(note).ok()).unwrap_or_default()
    }

    /// The stored form.
    #[must_use]
    pub fn note(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The sample of a form.
    #[must_use]
    pub fn of(&self, form: &Form) -> Option<&Sample> {
        self.shapes.iter().find(|sample| sample.is_of(form))
    }

    /// Takes the answer for an id. Of more than `SAMPLED_SHAPES_MAX` forms, the one that was asked longest ago is forgotten.
    pub fn take(&mut self, form: &Form, id: u64, has_torrent: bool, at: UnixMillis) {
        let place = self.shapes.iter().position(|sample| sample.is_of(form)).unwrap_or_else(|| {
            if self.shapes.len() >= SAMPLED_SHAPES_MAX {
                let oldest = (0..self.shapes.len()).min_by_key(|place| self.shapes[*place].at);
                oldest.map(|place| self.shapes.remove(place));
            }
            let Form { host, head, tail } = form.clone();
            self.shapes.push(Sample { host, head, tail, asked: 0, answered: 0, vacant: Vec::new(), at });
            self.shapes.len() - 1
        });
        let sample = &mut self.shapes[place];
        sample.at = at;
        sample.asked += 1;
        sample.answered += u64::from(has_torrent);
        if !has_torrent {
            sample.vacant.push(id);
            if sample.vacant.len() > SAMPLED_VACANT_MAX {
                sample.vacant.remove(0);
            }
        }
    }
}

impl Sample {
    fn is_of(&self, form: &Form) -> bool {
        (self.host, &self.head, &self.tail) == (form.host, &form.head, &form.tail)
    }
}

/// At most `asks` unknown ids of a shape, in ascending order, but for those that were asked for in vain. The same seed draws the same.
#[must_use]
pub fn draw(shape: &IdShape, sample: Option<&Sample>, asks: u64, seed: u64) -> Vec<u64> {
    let open = shape.without(sample.map_or(&[], |sample| &sample.vacant));
    let unknown = open.unknown();
    let parts = asks.min(unknown);
    // Parts may begin and end within an id: so each has the same chance, and two parts may draw the one between them.
    let drawn = (0..parts).filter_map(|part| {
        let chance = (u128::from(xxh3_64_with_seed(&part.to_le_bytes(), seed)) * u128::from(unknown)) >> 64;
        let place = (u128::from(part) * u128::from(unknown) + chance) / u128::from(parts);
        open.unknown_at(u64::try_from(place).ok()?)
    });
    let mut drawn: Vec<u64> = drawn.collect();
    drawn.dedup();
    drawn
}

/// How the numbers between the known ids of a shape are estimated to be torrents.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct IdGaps {
    /// Origin and path, with the number as `{id}`, other numbers as `#`, and what may be a title as `*`.
    pub shape: String,
    /// Distinct numbers of its URLs that are known.
    pub known: u64,
    /// The smallest and the largest of them, without strays.
    pub first: u64,
    pub last: u64,
    /// Numbers between these that are not known.
    pub unknown: u64,
    /// Of these, torrents at least and at most: from none to all, until a sample was asked for; then its 95 % interval.
    pub torrents_low: u64,
    pub torrents_high: u64,
    /// The share of the sample that answered, of those unknown; None without a sample.
    pub torrents: Option<u64>,
    /// Numbers that `crawl --enumerate` asked for and that were answered, and those of them that brought a torrent.
    pub asked: u64,
    pub answered: u64,
    /// True if a URL is known once its number is: `crawl --enumerate` may ask for it.
    pub can_be_asked: bool,
}

/// Estimates the gaps of a shape.
#[must_use]
pub fn gaps(shape: &IdShape, origin: &str, sample: Option<&Sample>) -> IdGaps {
    let unknown = shape.unknown();
    let (asked, answered) = sample.map_or((0, 0), |sample| (sample.asked, sample.answered));
    // Those that were asked for in vain are none.
    let open = shape.without(sample.map_or(&[], |sample| &sample.vacant)).unknown();
    let [low, is, high] = wilson(answered, asked).map(|share| share_of(open, share));
    IdGaps {
        shape: format!("{origin}{}", shape.form.told()),
        known: shape.known(),
        first: shape.first(),
        last: shape.last(),
        unknown,
        torrents_low: low,
        torrents_high: high,
        torrents: (asked > 0).then_some(is),
        asked,
        answered,
        can_be_asked: shape.form.path(0).is_some(),
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a reckoning; saturates
fn share_of(count: u64, share: f64) -> u64 {
    (count as f64 * share).round() as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::coverage::ids::Ids;

    fn shape(known: impl Iterator<Item = u64>) -> IdShape {
        let mut ids = Ids::default();
        known.for_each(|id| ids.add(HostId(0), &format!("/t/{id}")));
        ids.finish().unwrap().remove(0)
    }

    #[test]
    fn the_draw_is_spread_over_the_gaps_and_each_unknown_id_has_the_same_chance() {
        let shape = shape((1..=1_000).filter(|id| id % 3 == 0 || *id > 900));
        let drawn = draw(&shape, None, 50, 7);
        assert!((45..=50).contains(&drawn.len()));
        assert!(drawn.is_sorted() && drawn.iter().all(|id| id % 3 != 0 && (4..=900).contains(id)));
        assert!(drawn.windows(2).all(|pair| pair[1] - pair[0] <= 40), "{drawn:?}");
        let mut counts = [0_u32; 1_001];
        for seed in 0..2_000 {
            draw(&shape, None, 50, seed).into_iter().for_each(|id| counts[id as usize] += 1);
        }
        let of_unknown: Vec<u32> = (4..900).filter(|id| id % 3 != 0).map(|id| counts[id]).collect();
        let mean = 50.0 * 2_000.0 / of_unknown.len() as f64;
        assert!(of_unknown.iter().all(|count| (f64::from(*count) - mean).abs() < mean / 2.0), "{mean} {of_unknown:?}");
        assert_eq!(draw(&shape, None, u64::MAX, 1).len() as u64, shape.unknown(), "all, and no more");
        assert!(draw(&shape, None, 0, 1).is_empty());
    }

    #[test]
    fn what_was_asked_for_in_vain_is_not_drawn_again_and_the_rest_is_estimated_by_the_share() {
        let shape = shape((1..=400).filter(|id| id % 2 == 0));
        let mut samples = Samples::default();
        let before = gaps(&shape, "http://a", None);
        assert_eq!((before.unknown, before.torrents, before.torrents_low, before.torrents_high), (199, None, 0, 199));
        for id in (3..=81).step_by(2) {
            samples.take(&shape.form, id, false, UnixMillis(1));
        }
        let sample = samples.of(&shape.form).unwrap();
        let asked: BTreeSet<u64> = sample.vacant.iter().copied().collect();
        let again = draw(&shape, Some(sample), 500, 2);
        assert!(again.len() == 159 && again.iter().all(|id| !asked.contains(id)));
        let none = gaps(&shape, "http://a", Some(sample));
        assert_eq!((none.torrents, none.torrents_low, none.torrents_high), (Some(0), 0, 14), "{none:?}");
        (0..40).for_each(|_| samples.take(&shape.form, 1, true, UnixMillis(1)));
        let half = gaps(&shape, "http://a", samples.of(&shape.form));
        assert_eq!((half.torrents, half.torrents_low, half.torrents_high), (Some(80), 62, 97), "{half:?}");
        assert_eq!(Samples::from_bytes(Some(&samples.note())), samples);
        assert_eq!(Samples::from_bytes(Some(b"x")), Samples::default());
    }

    #[test]
    fn the_note_is_bounded() {
        let mut samples = Samples::default();
        for number in 0..100 {
            let form = Form { host: HostId(0), head: format!("/{number}/").into(), tail: "".into() };
            samples.take(&form, 1, false, UnixMillis(number));
        }
        assert_eq!(samples.shapes.len(), SAMPLED_SHAPES_MAX);
        let form = Form { host: HostId(0), head: "/99/".into(), tail: "".into() };
        (0..SAMPLED_VACANT_MAX as u64 + 9).for_each(|id| samples.take(&form, id, false, UnixMillis(100)));
        assert_eq!(samples.of(&form).unwrap().vacant.len(), SAMPLED_VACANT_MAX);
        assert!(samples.note().len() < gleaner_base::limits::NOTE_BYTES_MAX / 2);
    }
}
