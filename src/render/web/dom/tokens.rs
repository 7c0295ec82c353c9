//! `DOMTokenList` (DOM §7.1): the words of an attribute as a set; mainly `classList`.

use std::collections::HashSet;

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, Finalize, JsData, JsObject, JsResult, JsValue, NativeFunction, Trace, js_string};
use html5ever::{LocalName, QualName, ns};

use crate::dom::{Error, NodeId, Tree};
use crate::engine::bind;
use crate::web::webidl::exotic::{self, Computed, Kind, computed};
use crate::web::{change, read, slot, this_element, thrown};

/// A list has no state of its own, only the attribute.
#[derive(Trace, Finalize, JsData)]
struct Tokens {
    #[unsafe_ignore_trace]
    place: TokenAttribute,
    #[unsafe_ignore_trace]
    list: &'static List,
}

/// An attribute of an interface that is a token list.
struct List {
    interface: &'static str,
    property: &'static str,
    content: &'static str,
    /// The supported tokens, for `supports`; empty if that is not defined.
    supported: &'static [&'static str],
}

/// Link types that a browser acts on; bundlers check for `modulepreload` before they load a polyfill.
const LINK_TYPES: &[&str] = &[
    "alternate",
    "dns-prefetch",
    "icon",
    "manifest",
    "modulepreload",
    "next",
    "preconnect",
    "prefetch",
    "preload",
    "prerender",
    "search",
    "stylesheet",
];

const ANCHOR_TYPES: &[&str] = &["noopener", "noreferrer", "opener"];

const SANDBOX_FLAGS: &[&str] = &[
    "allow-downloads",
    "allow-forms",
    "allow-modals",
    "allow-orientation-lock",
    "allow-pointer-lock",
    "allow-popups",
    "allow-popups-to-escape-sandbox",
    "allow-presentation",
    "allow-same-origin",
    "allow-scripts",
    "allow-storage-access-by-user-activation",
    "allow-top-navigation",
    "allow-top-navigation-by-user-activation",
    "allow-top-navigation-to-custom-protocols",
];

static LISTS: &[List] = &[
    List { interface: "Element", property: "classList", content: "class", supported: &[] },
    List { interface: "HTMLAnchorElement", property: "relList", content: "rel", supported: ANCHOR_TYPES },
    List { interface: "HTMLAreaElement", property: "relList", content: "rel", supported: ANCHOR_TYPES },
    List { interface: "SVGAElement", property: "relList", content: "rel", supported: ANCHOR_TYPES },
    List { interface: "HTMLLinkElement", property: "relList", content: "rel", supported: LINK_TYPES },
    List { interface: "HTMLLinkElement", property: "sizes", content: "sizes", supported: &[] },
    List { interface: "HTMLLinkElement", property: "blocking", content: "blocking", supported: &["render"] },
    List { interface: "HTMLScriptElement", property: "blocking", content: "blocking", supported: &["render"] },
    List { interface: "HTMLStyleElement", property: "blocking", content: "blocking", supported: &["render"] },
    List { interface: "HTMLFormElement", property: "relList", content: "rel", supported: ANCHOR_TYPES },
    List { interface: "HTMLOutputElement", property: "htmlFor", content: "for", supported: &[] },
    List { interface: "HTMLIFrameElement", property: "sandbox", content: "sandbox", supported: SANDBOX_FLAGS },
];

static KIND: Kind = computed!(Computed {
    length: |list, context| Ok(place_of(list).map_or(0, |place| read(context, |tree| place.length(tree)))),
    item: |list, index, context| {
        let found = place_of(list).and_then(|place| read(context, |tree| place.item(tree, index)));
        Ok(found.unwrap_or_default())
    },
    ..Computed::EMPTY
});

const INTERFACE: bind::Interface =
    bind::Interface {
        name: "DOMTokenList",
        methods: &[
            ("item", 1, |this, args, context| {
                let place = this_place(this, context)?;
                bind::want(args, 1, "item' on 'DOMTokenList")?;
                let index = args[0].to_u32(context)?;
                Ok(read(context, |tree| place.item(tree, index)).unwrap_or_else(JsValue::null))
            }),
            ("contains", 1, |this, args, context| {
                let place = this_place(this, context)?;
                bind::want(args, 1, "contains' on 'DOMTokenList")?;
                let wanted = bind::text(args, 0, context)?;
                Ok(read(context, |tree| split(place.value(tree)).any(|word| word == wanted)).into())
            }),
            ("add", 0, |this, args, context| {
                let place = this_place(this, context)?;
                let given = given(args, context)?;
                update(&place, context, |words| {
                    let mut known: HashSet<String> = words.iter().cloned().collect();
                    words.extend(given.into_iter().filter(|word| known.insert(word.clone())));
                })
            }),
            ("remove", 0, |this, args, context| {
                let place = this_place(this, context)?;
                let given: HashSet<String> = given(args, context)?.into_iter().collect();
                update(&place, context, |words| words.retain(|word| !given.contains(word)))
            }),
            ("toggle", 1, |this, args, context| {
                let place = this_place(this, context)?;
                bind::want(args, 1, "toggle' on 'DOMTokenList")?;
                let force = args.get(1).filter(|value| !value.is_undefined()).map(JsValue::to_boolean);
                let word = given(&args[..1], context)?.remove(0);
                let there = read(context, |tree| split(place.value(tree)).any(|known| known == word));
                let wanted = force.unwrap_or(!there);
                if there != wanted {
                    update(&place, context, |words| {
                        if wanted { words.push(word) } else { words.retain(|known| *known != word) }
                    })?;
                }
                Ok(wanted.into())
            }),
            ("replace", 2, |this, args, context| {
                let place = this_place(this, context)?;
                bind::want(args, 2, "replace' on 'DOMTokenList")?;
                let given = given(&args[..2], context)?;
                let [old, new] = given.as_slice() else { return Ok(false.into()) };
                if !read(context, |tree| split(place.value(tree)).any(|known| known == old)) {
                    return Ok(false.into());
                }
                update(&place, context, |words| {
                    let mut is_there = false;
                    words.retain_mut(|word| {
                        if word != old && word != new {
                            return true;
                        }
                        new.clone_into(word);
                        !std::mem::replace(&mut is_there, true)
                    });
                })?;
                Ok(true.into())
            }),
            ("supports", 1, |this, args, context| {
                let list = exotic::this::<Tokens>(this, context)?;
                bind::want(args, 1, "supports' on 'DOMTokenList")?;
                let word = bind::text(args, 0, context)?.to_ascii_lowercase();
                let supported = list.borrow().data().list.supported;
                if supported.is_empty() {
                    return Err(bind::type_error(
                        "Failed to execute 'supports' on 'DOMTokenList': DOMTokenList has no supported tokens.",
                    ));
                }
                Ok(supported.contains(&word.as_str()).into())
            }),
            ("toString", 0, |this, _, context| {
                let place = this_place(this, context)?;
                Ok(read(context, |tree| bind::js(place.value(tree))))
            }),
        ],
        attributes: &[
            (
                "length",
                |this, _, context| {
                    let place = this_place(this, context)?;
                    Ok(read(context, |tree| place.length(tree)).into())
                },
                None,
            ),
            (
                "value",
                |this, _, context| {
                    let place = this_place(this, context)?;
                    Ok(read(context, |tree| bind::js(place.value(tree))))
                },
                Some(|this, args, context| {
                    let place = this_place(this, context)?;
                    let text = bind::text(args, 0, context)?;
                    place.set(&text, context)
                }),
            ),
        ],
        ..bind::Interface::EMPTY
    };

/// The attribute that holds a list's words.
#[derive(Clone)]
struct TokenAttribute {
    element: NodeId,
    local: LocalName,
}

impl TokenAttribute {
    fn value<'a>(&self, tree: &'a Tree) -> &'a str {
        tree.attribute(self.element, &self.local).unwrap_or_default()
    }

    fn length(&self, tree: &Tree) -> u32 {
        u32::try_from(set_of(self.value(tree)).len()).unwrap_or(u32::MAX)
    }

    fn item(&self, tree: &Tree, index: u32) -> Option<JsValue> {
        set_of(self.value(tree)).get(index as usize).map(|word| bind::js(word))
    }

    fn set(&self, text: &str, context: &mut Context) -> JsResult<JsValue> {
        let name = QualName::new(None, ns!(), self.local.clone());
        change(context, |tree| tree.set_attribute_ns(self.element, name, text)).map(|()| JsValue::undefined())
    }
}

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::define(&INTERFACE, context)?;
    super::collection::iterable(&prototype, context)?;
    for list in LISTS {
        let get = NativeFunction::from_copy_closure(move |this, _, context| {
            let element = this_element(this, context)?;
            let make = |context: &mut Context| {
                let data = Tokens { place: TokenAttribute { element, local: LocalName::from(list.content) }, list };
                exotic::object("DOMTokenList", data, &KIND, context)
            };
            slot(element, list.property, context, make).map(JsValue::from)
        });
        // `[PutForwards=value]`.
        let set = NativeFunction::from_copy_closure(move |this, args, context| {
            let element = this_element(this, context)?;
            let text = bind::text(args, 0, context)?;
            TokenAttribute { element, local: LocalName::from(list.content) }.set(&text, context)
        });
        let (get, set) = (get.to_js_function(context.realm()), set.to_js_function(context.realm()));
        let attribute = PropertyDescriptor::builder().get(get).set(set).enumerable(true).configurable(true);
        let prototype = bind::prototype(list.interface, context)?;
        prototype.define_property_or_throw(js_string!(list.property), attribute, context)?;
    }
    Ok(())
}

fn place_of(list: &JsObject) -> Option<TokenAttribute> {
    list.downcast_ref::<Tokens>().map(|tokens| tokens.place.clone())
}

fn this_place(this: &JsValue, context: &mut Context) -> JsResult<TokenAttribute> {
    Ok(exotic::this::<Tokens>(this, context)?.borrow().data().place.clone())
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t', '\n', '\r', '\x0C']).filter(|word| !word.is_empty())
}

/// "Ordered set parser" (DOM §1.2).
fn set_of(text: &str) -> Vec<&str> {
    let mut known = HashSet::new();
    split(text).filter(|word| known.insert(*word)).collect()
}

/// Arguments as tokens: empty ones are rejected first, then those with whitespace.
fn given(args: &[JsValue], context: &mut Context) -> JsResult<Vec<String>> {
    let given = (0..args.len()).map(|place| bind::text(args, place, context)).collect::<JsResult<Vec<String>>>()?;
    if given.iter().any(String::is_empty) {
        return Err(thrown(Error::Syntax, context));
    }
    if given.iter().any(|word| word.contains([' ', '\t', '\n', '\r', '\x0C'])) {
        return Err(thrown(Error::InvalidCharacter, context));
    }
    Ok(given)
}

/// Changes the words and writes them back (DOM §7.1 "update steps").
fn update(place: &TokenAttribute, context: &mut Context, what: impl FnOnce(&mut Vec<String>)) -> JsResult<JsValue> {
    let (mut words, there) = read(context, |tree| {
        let words: Vec<String> = set_of(place.value(tree)).into_iter().map(str::to_owned).collect();
        (words, tree.attribute(place.element, &place.local).is_some())
    });
    what(&mut words);
    if !there && words.is_empty() {
        return Ok(JsValue::undefined());
    }
    place.set(&words.join(" "), context)
}
