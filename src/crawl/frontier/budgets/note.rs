//! Conversion of a site's accounts to a note of the crawl database, and back.

use super::{PAGE, SKELETON_PAGES, Shapes, TEMPLATE_PAGES, VERSION, parts_of};
use crate::limits::{NOTE_BYTES_MAX, SHAPES_MAX};

/// More than any crawl counts, and far from where counting would overflow.
const COUNTED_AT_MOST: u64 = 1 << 53;

impl Shapes {
    /// The accounts as a note for the database, at most [`NOTE_BYTES_MAX`] bytes; merges accounts if they
    /// would take more.
    pub fn to_bytes(&mut self) -> Vec<u8> {
        loop {
            // Maps with text for keys and plain numbers: serde_json cannot fail on them.
            let bytes = serde_json::to_vec(self).unwrap_or_default();
            if bytes.len() <= NOTE_BYTES_MAX || self.accounts.len() < 8 {
                return bytes;
            }
            self.make_room();
            self.drop_old_pools();
        }
    }

    /// Parses a note. One that is broken, too long or of another version gives empty accounts and the reason.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], shape_pages: u32) -> (Self, Option<String>) {
        let read = if bytes.len() > NOTE_BYTES_MAX {
            Err(format!("longer than {NOTE_BYTES_MAX} bytes"))
        } else {
            serde_json::from_slice::<Self>(bytes).map_err(|error| error.to_string())
        };
        match read {
            Ok(shapes) if shapes.version != VERSION => {
                (Self::new(shape_pages), Some(format!("version {} is not known", shapes.version)))
            }
            // Such an account has no folder that it could be merged into.
            Ok(shapes) if shapes.accounts.keys().any(|key| parts_of(key).is_none()) => {
                (Self::new(shape_pages), Some("an account is of no class".to_owned()))
            }
            Ok(mut shapes) => {
                (shapes.turn, shapes.generation) =
                    (shapes.turn.min(COUNTED_AT_MOST), shapes.generation.min(COUNTED_AT_MOST));
                shapes.raise(shape_pages.max(10));
                while shapes.accounts.len() > SHAPES_MAX {
                    shapes.make_room();
                }
                (shapes, None)
            }
            Err(why) => (Self::new(shape_pages), Some(why)),
        }
    }

    /// Applies another B₀ of the rule file: open accounts get an increase, too. A decrease affects new ones alone.
    fn raise(&mut self, shape_pages: u32) {
        let (old, new) = (i64::from(self.shape_pages.max(1)), i64::from(shape_pages));
        self.shape_pages = shape_pages;
        if new <= old {
            return;
        }
        for account in self.accounts.values_mut() {
            let more = (account.opening / old).saturating_mul(new - old);
            account.opening = account.opening.saturating_add(more);
            account.balance = account.balance.saturating_add(more);
            account.is_starved &= account.balance <= 0;
        }
        for (name, pool) in &mut self.pools {
            let shapes = if name.ends_with('?') { TEMPLATE_PAGES } else { SKELETON_PAGES };
            pool.balance = pool.balance.saturating_add(shapes * (new - old) * PAGE);
        }
        self.generation += 1;
    }
}
