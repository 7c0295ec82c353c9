//! The interface of a node's object (HTML §3.2.2, DOM §4): a table of elements, and the prototype chain.

use boa_engine::{Context, JsResult, NativeFunction};
use html5ever::{local_name, ns};

use crate::dom::{NodeData, NodeId, Tree, is_custom_element_name};
use crate::engine::bind;
use crate::web::html::custom;

/// HTML interfaces with their elements. An interface without elements is abstract.
const HTML: &[(&str, &[&str])] = &[
    ("HTMLAnchorElement", &["a"]),
    ("HTMLAreaElement", &["area"]),
    ("HTMLBaseElement", &["base"]),
    ("HTMLBodyElement", &["body"]),
    ("HTMLBRElement", &["br"]),
    ("HTMLButtonElement", &["button"]),
    ("HTMLCanvasElement", &["canvas"]),
    ("HTMLDataElement", &["data"]),
    ("HTMLDataListElement", &["datalist"]),
    ("HTMLDetailsElement", &["details"]),
    ("HTMLDialogElement", &["dialog"]),
    ("HTMLDirectoryElement", &["dir"]),
    ("HTMLDivElement", &["div"]),
    ("HTMLDListElement", &["dl"]),
    ("HTMLEmbedElement", &["embed"]),
    ("HTMLFieldSetElement", &["fieldset"]),
    ("HTMLFontElement", &["font"]),
    ("HTMLFormElement", &["form"]),
    ("HTMLFrameElement", &["frame"]),
    ("HTMLFrameSetElement", &["frameset"]),
    ("HTMLHeadingElement", &["h1", "h2", "h3", "h4", "h5", "h6"]),
    ("HTMLHeadElement", &["head"]),
    ("HTMLHRElement", &["hr"]),
    ("HTMLHtmlElement", &["html"]),
    ("HTMLIFrameElement", &["iframe"]),
    ("HTMLImageElement", &["img"]),
    ("HTMLInputElement", &["input"]),
    ("HTMLLabelElement", &["label"]),
    ("HTMLLegendElement", &["legend"]),
    ("HTMLLIElement", &["li"]),
    ("HTMLLinkElement", &["link"]),
    ("HTMLMapElement", &["map"]),
    ("HTMLMarqueeElement", &["marquee"]),
    ("HTMLMenuElement", &["menu"]),
    ("HTMLMetaElement", &["meta"]),
    ("HTMLMeterElement", &["meter"]),
    ("HTMLModElement", &["del", "ins"]),
    ("HTMLObjectElement", &["object"]),
    ("HTMLOListElement", &["ol"]),
    ("HTMLOptGroupElement", &["optgroup"]),
    ("HTMLOptionElement", &["option"]),
    ("HTMLOutputElement", &["output"]),
    ("HTMLParagraphElement", &["p"]),
    ("HTMLParamElement", &["param"]),
    ("HTMLPictureElement", &["picture"]),
    ("HTMLPreElement", &["pre", "listing", "xmp"]),
    ("HTMLProgressElement", &["progress"]),
    ("HTMLQuoteElement", &["blockquote", "q"]),
    ("HTMLScriptElement", &["script"]),
    ("HTMLSelectElement", &["select"]),
    ("HTMLSlotElement", &["slot"]),
    ("HTMLSourceElement", &["source"]),
    ("HTMLSpanElement", &["span"]),
    ("HTMLStyleElement", &["style"]),
    ("HTMLTableCaptionElement", &["caption"]),
    ("HTMLTableCellElement", &["td", "th"]),
    ("HTMLTableColElement", &["col", "colgroup"]),
    ("HTMLTableElement", &["table"]),
    ("HTMLTableRowElement", &["tr"]),
    ("HTMLTableSectionElement", &["tbody", "tfoot", "thead"]),
    ("HTMLTemplateElement", &["template"]),
    ("HTMLTextAreaElement", &["textarea"]),
    ("HTMLTimeElement", &["time"]),
    ("HTMLTitleElement", &["title"]),
    ("HTMLTrackElement", &["track"]),
    ("HTMLUListElement", &["ul"]),
];

/// HTML elements without their own interface.
const PLAIN: &[&str] = &[
    "abbr",
    "acronym",
    "address",
    "article",
    "aside",
    "b",
    "basefont",
    "bdi",
    "bdo",
    "big",
    "center",
    "cite",
    "code",
    "dd",
    "dfn",
    "dt",
    "em",
    "figcaption",
    "figure",
    "footer",
    "header",
    "hgroup",
    "i",
    "kbd",
    "main",
    "mark",
    "nav",
    "nobr",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "rb",
    "rp",
    "rt",
    "rtc",
    "ruby",
    "s",
    "samp",
    "search",
    "section",
    "small",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "tt",
    "u",
    "var",
    "wbr",
];

/// The interface of a node's object.
pub(crate) fn of(tree: &Tree, id: NodeId) -> &'static str {
    match tree.data(id) {
        NodeData::Vacant => "Node",
        NodeData::Document(document) if document.is_html => "HTMLDocument",
        NodeData::Document(_) => "XMLDocument",
        NodeData::DocumentType(_) => "DocumentType",
        NodeData::Fragment(fragment) if fragment.shadow().is_some() => "ShadowRoot",
        NodeData::Fragment(_) => "DocumentFragment",
        NodeData::Text(_) => "Text",
        NodeData::CData(_) => "CDATASection",
        NodeData::Comment(_) => "Comment",
        NodeData::Instruction(_) => "ProcessingInstruction",
        NodeData::Attr(_) => "Attr",
        NodeData::Element(element) => {
            let name = element.name();
            match name.ns {
                ns!(html) => of_html(&name.local),
                ns!(svg) if name.local == local_name!("svg") => "SVGSVGElement",
                ns!(svg) if name.local == local_name!("a") => "SVGAElement",
                ns!(svg) => "SVGElement",
                ns!(mathml) => "MathMLElement",
                _ => "Element",
            }
        }
    }
}

/// The interface of an HTML element by its local name (HTML §3.2.2 "element interface").
pub fn of_html(local: &str) -> &'static str {
    match local {
        "audio" => return "HTMLAudioElement",
        "video" => return "HTMLVideoElement",
        _ => {}
    }
    let own = HTML.iter().find(|(_, elements)| elements.contains(&local));
    match own {
        Some((interface, _)) => interface,
        None if PLAIN.contains(&local) || is_custom_element_name(local) => "HTMLElement",
        None => "HTMLUnknownElement",
    }
}

/// Defines the interfaces of elements, without their members.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let mut define = |name: &'static str, parent: &'static str| {
        let interface = bind::Interface { name, parent: Some(parent), ..bind::Interface::EMPTY };
        if !name.starts_with("HTML") {
            return bind::define(&interface, context).map(|_| ());
        }
        // Classes of custom elements inherit from any of them.
        let body = NativeFunction::from_copy_closure(move |new_target, _, context| {
            custom::html_constructor(name, new_target, context)
        });
        bind::define_with(&interface, body, context).map(|_| ())
    };
    define("Element", "Node")?;
    define("HTMLElement", "Element")?;
    define("SVGElement", "Element")?;
    define("SVGGraphicsElement", "SVGElement")?;
    define("SVGSVGElement", "SVGGraphicsElement")?;
    define("SVGAElement", "SVGGraphicsElement")?;
    define("MathMLElement", "Element")?;
    define("HTMLUnknownElement", "HTMLElement")?;
    define("HTMLMediaElement", "HTMLElement")?;
    define("HTMLAudioElement", "HTMLMediaElement")?;
    define("HTMLVideoElement", "HTMLMediaElement")?;
    HTML.iter().try_for_each(|(name, _)| define(name, "HTMLElement"))
}
