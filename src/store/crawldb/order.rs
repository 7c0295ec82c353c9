//! The order in which a host's due URLs are leased. A rank is stored with its row; the order of the ranks is the caller's at each lease.

/// The order of one lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseOrder {
    /// Lower ranks first.
    #[default]
    ByRank,
    /// Ranks by their place in an order; no others.
    Ranked(RankOrder),
    /// Of the ranks in an order, the URL that was queued first.
    Oldest(RankOrder),
}

/// The place of each rank; some have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankOrder([u8; 256]);

/// No place: 255 ranks have one at most.
const NONE: u8 = u8::MAX;

impl RankOrder {
    /// These ranks in this order, each at its first place. Of all 256 ranks the last one has no place.
    #[must_use]
    pub fn of(ranks: &[u8]) -> Self {
        let mut places = [NONE; 256];
        let mut next = 0;
        for rank in ranks {
            let place = &mut places[usize::from(*rank)];
            if *place == NONE && next < NONE {
                *place = next;
                next += 1;
            }
        }
        Self(places)
    }

    /// The ranks with a place before this one, and no others.
    #[must_use]
    pub fn before(&self, place: u8) -> Self {
        Self(self.0.map(|own| if own < place { own } else { NONE }))
    }

    /// The place of a rank, from 0; `u8::MAX` for those without one.
    #[must_use]
    pub fn place(&self, rank: u8) -> u8 {
        self.0[usize::from(rank)]
    }
}

impl LeaseOrder {
    /// The place of a rank: rows of equal places are leased in the order in which they were queued. None: not leased.
    #[must_use]
    pub fn place(&self, rank: u8) -> Option<u8> {
        match self {
            Self::ByRank => Some(rank),
            Self::Ranked(order) => Some(order.place(rank)).filter(|place| *place != NONE),
            Self::Oldest(order) => Some(0).filter(|_| order.place(rank) != NONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_the_places_that_they_are_given() {
        let order = RankOrder::of(&[33, 0, 33, 200]);
        assert_eq!([33, 0, 200, 1].map(|rank| order.place(rank)), [0, 1, 2, NONE]);
        assert_eq!([33, 1].map(|rank| LeaseOrder::Ranked(order).place(rank)), [Some(0), None]);
        assert_eq!([200, 1].map(|rank| LeaseOrder::Oldest(order).place(rank)), [Some(0), None]);
        let before = order.before(2);
        assert_eq!([33, 0, 200, 1].map(|rank| before.place(rank)), [0, 1, NONE, NONE]);
        let all: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(RankOrder::of(&all).place(254), 254);
    }
}
