//! Conditions that an element must satisfy to match a selector: a class, an `id` or a name from the last compound of the selector.

use selectors::parser::{Combinator, Component, Selector};

use super::Selectors;
use super::grammar::Css;
use crate::dom::{NodeId, Tree};
use crate::limits;

/// A hash of a class, an `id` or a name. It ignores case and may collide, so it only rules out elements that cannot match.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Need(u64);

#[derive(Clone, Copy)]
enum Kind {
    Class,
    Id,
    Name,
}

impl Need {
    fn new(kind: Kind, text: &str) -> Self {
        // FNV-1a: names are short, and whoever makes them collide is only asked more often.
        let start = 0xcbf2_9ce4_8422_2325 ^ kind as u64;
        Self(
            text.bytes()
                .fold(start, |sum, byte| (sum ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    /// The most restrictive needs of a selector, one of which an element must satisfy.
    fn of(selector: &Selector<Css>) -> Option<Vec<Self>> {
        let mut compound = selector.iter();
        loop {
            let components: Vec<&Component<Css>> = compound.by_ref().collect();
            let find = |take: &dyn Fn(&Component<Css>) -> Option<Self>| components.iter().find_map(|one| take(one));
            let need = find(&|one| match one {
                Component::ID(id) => Some(Self::new(Kind::Id, id.as_ref())),
                Component::Class(class) => Some(Self::new(Kind::Class, class.as_ref())),
                _ => None,
            });
            // Recursion is bounded by the nesting of parsed selectors: [`limits::SELECTOR_NESTING_MAX`].
            let of_list = || {
                components.iter().find_map(|one| match one {
                    Component::Is(list) | Component::Where(list) => Self::of_all(list.slice()),
                    _ => None,
                })
            };
            let name = || {
                find(&|one| match one {
                    Component::LocalName(name) => Some(Self::new(Kind::Name, name.name.as_ref())),
                    _ => None,
                })
            };
            let needs = need.map(|need| vec![need]).or_else(of_list).or_else(|| name().map(|need| vec![need]));
            // The element of a pseudo-element precedes it.
            if needs.is_some() || compound.next_sequence() != Some(Combinator::PseudoElement) {
                return needs;
            }
        }
    }

    /// The needs of all selectors of a list; `None` if one has none, or there are too many to be worthwhile.
    fn of_all(selectors: &[Selector<Css>]) -> Option<Vec<Self>> {
        if selectors.len() > limits::SELECTOR_NEEDS_MAX {
            return None;
        }
        let mut all = Vec::new();
        for selector in selectors {
            all.extend(Self::of(selector)?);
        }
        all.sort_unstable();
        all.dedup();
        (all.len() <= limits::SELECTOR_NEEDS_MAX).then_some(all)
    }
}

impl Selectors {
    /// Needs at least one of which an element must satisfy to match. `None` if a selector has no need, or there are too many to be
    /// worthwhile.
    pub fn needs(&self) -> Option<Vec<Need>> {
        Need::of_all(self.0.slice())
    }
}

impl Tree {
    /// All needs that an element satisfies.
    pub fn has_for_needs(&self, id: NodeId) -> Vec<Need> {
        let name = self.element(id).map(|element| Need::new(Kind::Name, &element.name.local));
        let own = self.id(id).map(|own| Need::new(Kind::Id, own));
        let classes = self.classes(id).map(|class| Need::new(Kind::Class, class));
        let mut has: Vec<Need> = name.into_iter().chain(own).chain(classes).collect();
        has.sort_unstable();
        has.dedup();
        has
    }
}
