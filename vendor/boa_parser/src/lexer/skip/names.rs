//! gleaner: Names of a body, and the scopes that bind them.

use std::collections::HashSet;

/// A word of the text.
#[derive(Clone, Copy)]
pub(super) struct Name {
    /// Up to 15 bytes and their number, or a hash.
    pub(super) key: u128,
    begin: u32,
    pub(super) length: u32,
}

pub(super) const NAME_BYTES: usize = 15;

impl Name {
    pub(super) fn new(text: &[u8], begin: usize, end: usize) -> Self {
        let word = &text[begin..end];
        let mut key = [0; 16];
        if word.len() <= NAME_BYTES {
            key[..word.len()].copy_from_slice(word);
            key[NAME_BYTES] = word.len() as u8;
        } else {
            key[..NAME_BYTES].copy_from_slice(&word[..NAME_BYTES]);
            key[NAME_BYTES] = 0xFF;
        }
        Self {
            key: u128::from_le_bytes(key),
            begin: begin as u32,
            length: (end - begin) as u32,
        }
    }

    pub(super) fn of<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.begin as usize..(self.begin + self.length) as usize]
    }

    fn is(&self, other: &Self, text: &[u8]) -> bool {
        self.key == other.key
            && (self.length as usize <= NAME_BYTES || self.of(text) == other.of(text))
    }

    const fn bit(&self) -> u64 {
        1 << ((((self.key ^ (self.key >> 64)) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 58)
    }
}

/// More names than these are looked for in a table.
const LISTED_MAX: usize = 16;

/// Names of a function or of a block.
pub(super) struct Scope {
    pub(super) is_function: bool,
    /// `this` and `arguments` are its own.
    pub(super) has_own_this: bool,
    pub(super) met: Vec<Name>,
    pub(super) bound: Vec<Name>,
}

impl Scope {
    pub(super) const fn new(is_function: bool, has_own_this: bool) -> Self {
        Self {
            is_function,
            has_own_this,
            met: Vec::new(),
            bound: Vec::new(),
        }
    }

    /// The names that were met and are not bound here.
    pub(super) fn left(mut self, text: &[u8]) -> Vec<Name> {
        if self.has_own_this {
            self.met.retain(|name| name.of(text) != b"arguments");
        }
        let bits = self.bound.iter().fold(0, |bits, name| bits | name.bit());
        if self.bound.len() > LISTED_MAX {
            let bound: HashSet<&[u8]> = self.bound.iter().map(|name| name.of(text)).collect();
            self.met.retain(|name| bits & name.bit() == 0 || !bound.contains(name.of(text)));
        } else if bits != 0 {
            self.met.retain(|name| {
                bits & name.bit() == 0 || !self.bound.iter().any(|bound| bound.is(name, text))
            });
        }
        if self.is_function && self.met.len() > LISTED_MAX {
            let mut seen = HashSet::with_capacity(self.met.len());
            self.met.retain(|name| seen.insert(name.of(text)));
        }
        self.met
    }
}
