//! `document.evaluate` and related methods (DOM §8).

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace, js_string};

use crate::dom::{Error, Item, NodeKind, Prefixes, XPath, XPathError, XPathValue};
use crate::engine::{bind, exception};
use crate::web::{change, node_argument, node_of, read, thrown, wrap, wrap_or_null};

#[derive(Trace, Finalize, JsData)]
struct Expression {
    #[unsafe_ignore_trace]
    xpath: XPath,
    resolver: JsValue,
}

#[derive(Default, Trace, Finalize, JsData)]
struct Evaluator;

#[derive(Trace, Finalize, JsData)]
struct Outcome {
    #[unsafe_ignore_trace]
    kind: u16,
    #[unsafe_ignore_trace]
    value: XPathValue,
    /// The position of `iterateNext`, and the tree's generation at the start.
    #[unsafe_ignore_trace]
    at: usize,
    #[unsafe_ignore_trace]
    generation: u64,
}

const ANY: u16 = 0;
const NUMBER: u16 = 1;
const STRING: u16 = 2;
const BOOLEAN: u16 = 3;
const UNORDERED_ITERATOR: u16 = 4;
const ORDERED_ITERATOR: u16 = 5;
const UNORDERED_SNAPSHOT: u16 = 6;
const ORDERED_SNAPSHOT: u16 = 7;
const FIRST_ORDERED: u16 = 9;

const RESULT: bind::Interface = bind::Interface {
    name: "XPathResult",
    methods: &[
        ("iterateNext", 0, |this, _, context| {
            let outcome = bind::this::<Outcome>(this)?;
            let item = {
                let mut outcome = outcome.borrow_mut();
                let outcome = outcome.data_mut();
                if !matches!(outcome.kind, UNORDERED_ITERATOR | ORDERED_ITERATOR) {
                    return Err(wrong_kind());
                }
                if outcome.generation != read(context, |tree| tree.generation()) {
                    let why = "The document has mutated since the result was returned.";
                    return Err(exception::error("InvalidStateError", why, context));
                }
                outcome.at += 1;
                node_at(outcome, outcome.at - 1)
            };
            object_of(item, context)
        }),
        ("snapshotItem", 1, |this, args, context| {
            let outcome = bind::this::<Outcome>(this)?;
            let index = args.get_or_undefined(0).to_u32(context)? as usize;
            let item = {
                let outcome = outcome.borrow();
                if !matches!(outcome.data().kind, UNORDERED_SNAPSHOT | ORDERED_SNAPSHOT) {
                    return Err(wrong_kind());
                }
                node_at(outcome.data(), index)
            };
            object_of(item, context)
        }),
    ],
    attributes: &[
        ("resultType", |this, _, _| Ok(bind::this::<Outcome>(this)?.borrow().data().kind.into()), None),
        (
            "numberValue",
            |this, _, context| {
                value(this, &[NUMBER], context, |value, context| Ok(read(context, |tree| value.to_number(tree)).into()))
            },
            None,
        ),
        (
            "stringValue",
            |this, _, context| {
                value(this, &[STRING], context, |value, context| {
                    Ok(bind::js(&read(context, |tree| value.to_text(tree))))
                })
            },
            None,
        ),
        (
            "booleanValue",
            |this, _, context| value(this, &[BOOLEAN], context, |value, _| Ok(value.to_truth().into())),
            None,
        ),
        (
            "singleNodeValue",
            |this, _, context| {
                let outcome = bind::this::<Outcome>(this)?;
                if !matches!(outcome.borrow().data().kind, 8 | FIRST_ORDERED) {
                    return Err(wrong_kind());
                }
                let item = node_at(outcome.borrow().data(), 0);
                object_of(item, context)
            },
            None,
        ),
        (
            "invalidIteratorState",
            |this, _, context| {
                let outcome = bind::this::<Outcome>(this)?;
                let outcome = outcome.borrow();
                let is_iterator = matches!(outcome.data().kind, UNORDERED_ITERATOR | ORDERED_ITERATOR);
                Ok((is_iterator && outcome.data().generation != read(context, |tree| tree.generation())).into())
            },
            None,
        ),
        (
            "snapshotLength",
            |this, _, context| {
                value(this, &[UNORDERED_SNAPSHOT, ORDERED_SNAPSHOT], context, |value, _| match value {
                    XPathValue::Nodes(nodes) => Ok(u32::try_from(nodes.len()).unwrap_or(u32::MAX).into()),
                    _ => Err(wrong_kind()),
                })
            },
            None,
        ),
    ],
    constants: &[
        ("ANY_TYPE", 0),
        ("NUMBER_TYPE", 1),
        ("STRING_TYPE", 2),
        ("BOOLEAN_TYPE", 3),
        ("UNORDERED_NODE_ITERATOR_TYPE", 4),
        ("ORDERED_NODE_ITERATOR_TYPE", 5),
        ("UNORDERED_NODE_SNAPSHOT_TYPE", 6),
        ("ORDERED_NODE_SNAPSHOT_TYPE", 7),
        ("ANY_UNORDERED_NODE_TYPE", 8),
        ("FIRST_ORDERED_NODE_TYPE", 9),
    ],
    ..bind::Interface::EMPTY
};

const EXPRESSION: bind::Interface = bind::Interface {
    name: "XPathExpression",
    methods: &[("evaluate", 1, |this, args, context| {
        let expression = bind::this::<Expression>(this)?;
        let (xpath, resolver) = {
            let expression = expression.borrow();
            (expression.data().xpath.clone(), expression.data().resolver.clone())
        };
        let kind = if args.len() > 1 { args[1].to_uint16(context)? } else { ANY };
        evaluate(&xpath, args, &resolver, kind, context)
    })],
    ..bind::Interface::EMPTY
};

const EVALUATOR: bind::Interface = bind::Interface {
    name: "XPathEvaluator",
    constructor: Some(|new_target, _, context| bind::construct(new_target, "XPathEvaluator", Evaluator, context)),
    ..bind::Interface::EMPTY
};

/// `XPathEvaluatorBase`: for documents and for evaluators.
const BASE: &[bind::Method] = &[
    ("createExpression", 1, |_, args, context| {
        bind::want(args, 1, "createExpression' on 'Document")?;
        let xpath = parse(args, context)?;
        let resolver = resolver(args.get_or_undefined(1))?;
        bind::object("XPathExpression", Expression { xpath, resolver }, context).map(JsValue::from)
    }),
    ("createNSResolver", 1, |_, args, context| {
        node_argument(args, 0, "createNSResolver' on 'Document", context)?;
        Ok(args[0].clone())
    }),
    ("evaluate", 2, |_, args, context| {
        bind::want(args, 2, "evaluate' on 'Document")?;
        let xpath = parse(args, context)?;
        let resolver = resolver(args.get_or_undefined(2))?;
        let kind = args.get_or_undefined(3).to_uint16(context)?;
        evaluate(&xpath, &args[1..], &resolver, kind, context)
    }),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&RESULT, context)?;
    bind::define(&EXPRESSION, context)?;
    let evaluator = bind::define(&EVALUATOR, context)?;
    let document = bind::prototype("Document", context)?;
    bind::methods(&evaluator, BASE, context)?;
    bind::methods(&document, BASE, context)
}

fn parse(args: &[JsValue], context: &mut Context) -> JsResult<XPath> {
    let text = bind::text(args, 0, context)?;
    XPath::parse(&text).map_err(|_| thrown(Error::Syntax, context))
}

/// The namespace resolver: a function, an object with `lookupNamespaceURI`, or none.
fn resolver(value: &JsValue) -> JsResult<JsValue> {
    if value.is_null_or_undefined() || value.is_object() {
        return Ok(value.clone());
    }
    Err(bind::type_error("The namespace resolver is not an object."))
}

fn namespace_of(resolver: &JsValue, prefix: &str, context: &mut Context) -> JsResult<Option<String>> {
    if prefix == "xml" {
        return Ok(Some("http://www.w3.org/XML/1998/namespace".to_owned()));
    }
    let Some(object) = resolver.as_object() else { return Ok(None) };
    let told = if object.is_callable() {
        object.call(&JsValue::undefined(), &[bind::js(prefix)], context)?
    } else {
        let method: JsObject = object
            .get(js_string!("lookupNamespaceURI"), context)?
            .as_callable()
            .ok_or_else(|| bind::type_error("lookupNamespaceURI is not a function"))?;
        method.call(resolver, &[bind::js(prefix)], context)?
    };
    if told.is_null_or_undefined() {
        return Ok(None);
    }
    Ok(Some(told.to_string(context)?.to_std_string_lossy()))
}

fn evaluate(
    xpath: &XPath,
    args: &[JsValue],
    resolver: &JsValue,
    kind: u16,
    context: &mut Context,
) -> JsResult<JsValue> {
    let node = node_of(args.get_or_undefined(0), context)
        .ok_or_else(|| bind::type_error("Failed to execute 'evaluate': the context node is not of type 'Node'."))?;
    if matches!(read(context, |tree| tree.kind(node)), NodeKind::DocumentType | NodeKind::Fragment) {
        return Err(thrown(Error::NotSupported, context));
    }
    let mut prefixes = Prefixes::new();
    for prefix in &xpath.prefixes {
        if let Some(namespace) = namespace_of(resolver, prefix, context)? {
            prefixes.insert(prefix.clone(), namespace);
        }
    }
    let answer = read(context, |tree| {
        let item = match tree.attr(node) {
            Some(attr) => match attr.owner() {
                Some(element) => Item { node: element, attribute: Some(attr.name().clone()) },
                None => Item::of(node),
            },
            None => Item::of(node),
        };
        tree.evaluate(xpath, &item, &prefixes).map(|value| (value, tree.generation()))
    });
    let (value, generation) = match answer {
        Ok(answer) => answer,
        Err(XPathError::Namespace) => return Err(thrown(Error::Namespace, context)),
        Err(XPathError::Syntax) => return Err(thrown(Error::Syntax, context)),
        Err(XPathError::Work) => return Err(thrown(Error::Full, context)),
    };
    let natural = match &value {
        XPathValue::Number(_) => NUMBER,
        XPathValue::Text(_) => STRING,
        XPathValue::Truth(_) => BOOLEAN,
        XPathValue::Nodes(_) => UNORDERED_ITERATOR,
    };
    let kind = if kind == ANY { natural } else { kind };
    if kind > FIRST_ORDERED || (kind > BOOLEAN && natural != UNORDERED_ITERATOR) {
        return Err(wrong_kind());
    }
    bind::object("XPathResult", Outcome { kind, value, at: 0, generation }, context).map(JsValue::from)
}

fn wrong_kind() -> boa_engine::JsError {
    bind::type_error("The result type is not of the wanted kind.")
}

fn value(
    this: &JsValue,
    kinds: &[u16],
    context: &mut Context,
    what: fn(&XPathValue, &mut Context) -> JsResult<JsValue>,
) -> JsResult<JsValue> {
    let outcome = bind::this::<Outcome>(this)?;
    let (kind, value) = {
        let outcome = outcome.borrow();
        (outcome.data().kind, outcome.data().value.clone())
    };
    if kinds.contains(&kind) { what(&value, context) } else { Err(wrong_kind()) }
}

fn node_at(outcome: &Outcome, index: usize) -> Option<Item> {
    match &outcome.value {
        XPathValue::Nodes(nodes) => nodes.get(index).cloned(),
        _ => None,
    }
}

/// The object of a node or an attribute.
fn object_of(item: Option<Item>, context: &mut Context) -> JsResult<JsValue> {
    let Some(item) = item else { return Ok(JsValue::null()) };
    match item.attribute {
        None => wrap(item.node, context).map(JsValue::from),
        Some(name) => {
            let attr = change(context, |tree| tree.attr_node(item.node, &name.ns, &name.local))?;
            wrap_or_null(attr, context)
        }
    }
}
