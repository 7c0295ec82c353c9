//! The grammar of selectors: the representation of names, and the supported pseudo-classes and pseudo-elements.

use std::fmt;

use cssparser::{CowRcStr, ParseError, ToCss, serialize_identifier, serialize_string};
use html5ever::{LocalName, Namespace};
use precomputed_hash::PrecomputedHash;
use selectors::parser::{self, SelectorImpl, SelectorParseErrorKind};

use super::Namespaces;

/// The types that the `selectors` crate is instantiated with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Css;

impl SelectorImpl for Css {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Value;
    type Identifier = Name;
    type LocalName = Name;
    type NamespaceUrl = Namespace;
    type NamespacePrefix = Name;
    type BorrowedNamespaceUrl = Namespace;
    type BorrowedLocalName = Name;
    type NonTSPseudoClass = PseudoClass;
    type PseudoElement = PseudoElement;
}

/// The name of an element or attribute, a class, an id.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Name(pub(super) LocalName);

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for Name {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        serialize_identifier(&self.0, dest)
    }
}

impl PrecomputedHash for Name {
    fn precomputed_hash(&self) -> u32 {
        self.0.precomputed_hash()
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Value(String);

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl AsRef<str> for Value {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for Value {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        serialize_string(&self.0, dest)
    }
}

/// Pseudo-classes other than the structural ones.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum PseudoClass {
    AnyLink,
    Checked,
    Default,
    Defined,
    Dir {
        is_rtl: bool,
    },
    Disabled,
    Enabled,
    Focus,
    FocusVisible,
    FocusWithin,
    Indeterminate,
    Invalid,
    Lang(Vec<String>),
    Link,
    /// A state that a page without a user never has: it is parsed and matches nothing.
    Never(&'static str),
    Open,
    Optional,
    PlaceholderShown,
    ReadOnly,
    ReadWrite,
    Required,
    /// A custom state of a custom element.
    State(String),
    Target,
    Valid,
}

const PLAIN: &[(&str, PseudoClass)] = &[
    ("any-link", PseudoClass::AnyLink),
    ("-webkit-any-link", PseudoClass::AnyLink),
    // No link counts as visited.
    ("link", PseudoClass::Link),
    ("checked", PseudoClass::Checked),
    ("default", PseudoClass::Default),
    ("defined", PseudoClass::Defined),
    ("disabled", PseudoClass::Disabled),
    ("enabled", PseudoClass::Enabled),
    ("focus", PseudoClass::Focus),
    ("focus-visible", PseudoClass::FocusVisible),
    ("focus-within", PseudoClass::FocusWithin),
    ("indeterminate", PseudoClass::Indeterminate),
    ("invalid", PseudoClass::Invalid),
    ("open", PseudoClass::Open),
    ("optional", PseudoClass::Optional),
    ("placeholder-shown", PseudoClass::PlaceholderShown),
    ("read-only", PseudoClass::ReadOnly),
    ("read-write", PseudoClass::ReadWrite),
    ("required", PseudoClass::Required),
    ("target", PseudoClass::Target),
    ("valid", PseudoClass::Valid),
];

/// There is no pointer, media or full screen.
const NEVER: &[&str] = &[
    "active",
    "autofill",
    "-webkit-autofill",
    "buffering",
    "fullscreen",
    "-webkit-full-screen",
    "future",
    "has-slotted",
    "hover",
    "in-range",
    "modal",
    "muted",
    "out-of-range",
    "past",
    "paused",
    "picture-in-picture",
    "playing",
    "popover-open",
    "seeking",
    "stalled",
    "target-current",
    "user-invalid",
    "user-valid",
    "visited",
    "volume-locked",
];

const PSEUDO_ELEMENTS: &[&str] = &[
    "after",
    "backdrop",
    "before",
    "checkmark",
    "column",
    "cue",
    "details-content",
    "file-selector-button",
    "first-letter",
    "first-line",
    "grammar-error",
    "marker",
    "picker-icon",
    "placeholder",
    "scroll-marker",
    "scroll-marker-group",
    "search-text",
    "selection",
    "spelling-error",
    "target-text",
    "view-transition",
];

impl parser::NonTSPseudoClass for PseudoClass {
    fn is_active_or_hover(&self) -> bool {
        matches!(self, Self::Never("active" | "hover"))
    }

    fn is_user_action_state(&self) -> bool {
        self.is_active_or_hover() || matches!(self, Self::Focus | Self::FocusVisible | Self::FocusWithin)
    }
}

impl ToCss for PseudoClass {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        match self {
            Self::Dir { is_rtl } => write!(dest, ":dir({})", if *is_rtl { "rtl" } else { "ltr" }),
            Self::Lang(ranges) => write!(dest, ":lang({})", ranges.join(", ")),
            Self::Never(name) => write!(dest, ":{name}"),
            Self::State(name) => {
                dest.write_str(":state(")?;
                serialize_identifier(name, dest)?;
                dest.write_str(")")
            }
            plain => {
                let name = PLAIN.iter().find(|(_, class)| class == plain).map_or("", |(name, _)| name);
                write!(dest, ":{name}")
            }
        }
    }
}

/// A pseudo-element. It matches no element.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct PseudoElement(String);

impl PseudoElement {
    /// The name without its colons.
    pub(super) fn name(&self) -> &str {
        &self.0
    }
}

impl parser::PseudoElement for PseudoElement {
    fn accepts_state_pseudo_classes(&self) -> bool {
        true
    }

    fn valid_after_slotted(&self) -> bool {
        matches!(self.0.as_str(), "after" | "before" | "marker" | "placeholder" | "file-selector-button")
    }

    fn valid_after_before_or_after(&self) -> bool {
        self.0 == "marker"
    }

    fn is_before_or_after(&self) -> bool {
        matches!(self.0.as_str(), "after" | "before")
    }
}

impl ToCss for PseudoElement {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        dest.write_str("::")?;
        serialize_identifier(&self.0, dest)
    }
}

/// The grammar beyond the crate's own, with the prefixes of a style sheet.
pub(super) struct Grammar<'n>(pub(super) &'n Namespaces);

type Parsed<T> = Result<T, ParseError<SelectorParseErrorKind>>;

fn unsupported<T>() -> Parsed<T> {
    Err(ParseError::custom(SelectorParseErrorKind::UnsupportedPseudoClassOrElement))
}

impl<'i> parser::Parser<'i> for Grammar<'_> {
    type Impl = Css;
    type Error = SelectorParseErrorKind;

    fn parse_slotted(&self) -> bool {
        true
    }

    fn parse_part(&self) -> bool {
        true
    }

    fn parse_nth_child_of(&self) -> bool {
        true
    }

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        true
    }

    fn parse_host(&self) -> bool {
        true
    }

    /// Outside of nested rules it means `:scope` (CSS Nesting §4).
    fn parse_parent_selector(&self) -> bool {
        true
    }

    fn default_namespace(&self) -> Option<Namespace> {
        self.0.default.clone()
    }

    fn namespace_for_prefix(&self, prefix: &Name) -> Option<Namespace> {
        let found = self.0.prefixes.iter().find(|(known, _)| known == prefix.as_ref());
        found.map(|(_, namespace)| namespace.clone())
    }

    fn is_is_alias(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case("-webkit-any") || name.eq_ignore_ascii_case("matches")
    }

    fn parse_non_ts_pseudo_class(&self, name: CowRcStr<'i>) -> Parsed<PseudoClass> {
        let name = name.to_ascii_lowercase();
        if let Some((_, class)) = PLAIN.iter().find(|(known, _)| *known == name) {
            return Ok(class.clone());
        }
        match NEVER.iter().find(|known| **known == name) {
            Some(known) => Ok(PseudoClass::Never(known)),
            None => unsupported(),
        }
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        name: CowRcStr<'i>,
        arguments: &mut cssparser::Parser<'i>,
        _: bool,
    ) -> Parsed<PseudoClass> {
        match name.to_ascii_lowercase().as_str() {
            "lang" => {
                let one = |arguments: &mut cssparser::Parser<'i>| -> Parsed<String> {
                    Ok(arguments.expect_ident_or_string()?.to_string())
                };
                Ok(PseudoClass::Lang(arguments.parse_comma_separated(one)?))
            }
            "dir" => match arguments.expect_ident()?.to_ascii_lowercase().as_str() {
                "ltr" => Ok(PseudoClass::Dir { is_rtl: false }),
                "rtl" => Ok(PseudoClass::Dir { is_rtl: true }),
                _ => Ok(PseudoClass::Never("dir")),
            },
            "state" => Ok(PseudoClass::State(arguments.expect_ident()?.to_string())),
            _ => unsupported(),
        }
    }

    fn parse_pseudo_element(&self, name: CowRcStr<'i>) -> Parsed<PseudoElement> {
        let name = name.to_ascii_lowercase();
        if PSEUDO_ELEMENTS.contains(&name.as_str()) || name.starts_with("-webkit-") {
            Ok(PseudoElement(name))
        } else {
            unsupported()
        }
    }

    fn parse_functional_pseudo_element(
        &self,
        name: CowRcStr<'i>,
        arguments: &mut cssparser::Parser<'i>,
    ) -> Parsed<PseudoElement> {
        let name = name.to_ascii_lowercase();
        if !matches!(name.as_str(), "highlight" | "picker") {
            return unsupported();
        }
        arguments.expect_ident()?;
        Ok(PseudoElement(name))
    }
}
