//! Conditions that an element must satisfy to match a selector: a class, an `id` or a name from the last compound of the selector.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use selectors::parser::{Combinator, Component, Selector};

use super::Selectors;
use super::grammar::Css;
use crate::dom::{NodeId, Tree};
use crate::limits;

/// A hash of a class, an `id` or a name. It ignores case and may collide, so it only rules out elements that cannot match.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Need(u64);

#[derive(Clone, Copy, Hash)]
enum Kind {
    Class,
    Id,
    Name,
}

impl Need {
    fn new(kind: Kind, text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        kind.hash(&mut hasher);
        text.bytes().for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
        Self(hasher.finish())
    }

    /// The most restrictive need of a selector.
    fn of(selector: &Selector<Css>) -> Option<Self> {
        let mut compound = selector.iter();
        loop {
            let components: Vec<&Component<Css>> = compound.by_ref().collect();
            let find = |take: &dyn Fn(&Component<Css>) -> Option<Self>| components.iter().find_map(|one| take(one));
            let need = find(&|one| match one {
                Component::ID(id) => Some(Self::new(Kind::Id, id.as_ref())),
                Component::Class(class) => Some(Self::new(Kind::Class, class.as_ref())),
                _ => None,
            });
            let need = need.or_else(|| {
                find(&|one| match one {
                    Component::LocalName(name) => Some(Self::new(Kind::Name, name.name.as_ref())),
                    _ => None,
                })
            });
            // The element of a pseudo-element precedes it.
            if need.is_some() || compound.next_sequence() != Some(Combinator::PseudoElement) {
                return need;
            }
        }
    }
}

impl Selectors {
    /// One need per selector, at least one of which an element must satisfy to match. `None` if a selector has no need, or there are too
    /// many to be worthwhile.
    pub fn needs(&self) -> Option<Vec<Need>> {
        let selectors = self.0.slice();
        (selectors.len() <= limits::SELECTOR_NEEDS_MAX).then(|| selectors.iter().map(Need::of).collect())?
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
