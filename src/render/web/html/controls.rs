//! Shared behaviour of form controls (HTML §4.10.18): form owner, labels, validity.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use boa_engine::{Context, Finalize, JsArgs, JsData, JsResult, JsValue, NativeFunction, Trace};
use regress::Regex;

use super::element::is_called;
use super::reflect::{has, text};
use super::{numbers, values};
use crate::dom::{NodeId, Tree};
use crate::engine::{bind, events};
use crate::limits;
use crate::web::dom::collection::{self, Filter};
use crate::web::webidl::exotic;
use crate::web::{of, read, slot, this_element, wrap, wrap_or_null};

/// Listed elements (§4.10.2): the contents of `form.elements`, except for image buttons.
const LISTED: &[&str] = &["button", "fieldset", "input", "object", "output", "select", "textarea"];

/// Whether a form may own the element: a listed HTML element, or a form-associated custom one (§4.10.2).
pub fn is_listed(tree: &Tree, id: NodeId) -> bool {
    is_called(tree, id, LISTED) || is_custom(tree, id)
}

fn is_custom(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| element.state.form_associated)
}

/// Submittable elements.
pub const SUBMITTABLE: &[&str] = &["button", "input", "select", "textarea"];

const LABELABLE: &[&str] = &["button", "input", "meter", "output", "progress", "select", "textarea"];

/// Interfaces with `validity`: those of listed elements.
const WITH_VALIDITY: &[&str] = &[
    "HTMLButtonElement",
    "HTMLFieldSetElement",
    "HTMLInputElement",
    "HTMLObjectElement",
    "HTMLOutputElement",
    "HTMLSelectElement",
    "HTMLTextAreaElement",
];

const FORM: bind::Attribute = (
    "form",
    |this, _, context| {
        let id = this_element(this, context)?;
        let form = read(context, |tree| form_of(tree, id));
        wrap_or_null(form, context)
    },
    None,
);

const LABELS: bind::Attribute = (
    "labels",
    |this, _, context| {
        let id = this_element(this, context)?;
        if read(context, |tree| !is_labelable(tree, id)) {
            return Ok(JsValue::null());
        }
        let list =
            slot(id, "labels", context, |context| collection::live("NodeList", id, Filter::Found(labels), context))?;
        Ok(list.into())
    },
    None,
);

/// The page's `validity` object; it is recomputed each time.
#[derive(Trace, Finalize, JsData)]
struct Validity {
    #[unsafe_ignore_trace]
    id: NodeId,
}

/// Validity flags (§4.10.18.2), with their names in scripts.
const FAULTS: &[&str] = &[
    "valueMissing",
    "typeMismatch",
    "patternMismatch",
    "tooLong",
    "tooShort",
    "rangeUnderflow",
    "rangeOverflow",
    "stepMismatch",
    "badInput",
    "customError",
];

const VALIDITY_METHODS: &[bind::Method] = &[
    ("checkValidity", 0, |this, _, context| {
        let id = this_element(this, context)?;
        Ok(check(id, context).into())
    }),
    ("reportValidity", 0, |this, _, context| {
        let id = this_element(this, context)?;
        Ok(check(id, context).into())
    }),
    ("setCustomValidity", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "setCustomValidity' on 'HTMLElement")?;
        let message = Some(bind::text(args, 0, context)?).filter(|message| !message.is_empty());
        if let Some(state) = of(context).borrow_mut().tree.state_mut(id) {
            state.complaint = message.map(String::into_boxed_str);
        }
        Ok(JsValue::undefined())
    }),
];

const VALIDITY_ATTRIBUTES: &[bind::Attribute] = &[
    (
        "willValidate",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| is_candidate(tree, id)).into())
        },
        None,
    ),
    (
        "validity",
        |this, _, context| {
            let id = this_element(this, context)?;
            slot(id, "validity", context, |context| bind::object("ValidityState", Validity { id }, context))
                .map(JsValue::from)
        },
        None,
    ),
    (
        "validationMessage",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| {
                let own = tree.element(id).and_then(|element| element.state.complaint.as_deref());
                bind::js(match own {
                    _ if !is_candidate(tree, id) || faults(tree, id).is_empty() => "",
                    Some(own) => own,
                    None => "Please check this field.",
                })
            }))
        },
        None,
    ),
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::define(&bind::Interface { name: "ValidityState", ..bind::Interface::EMPTY }, context)?;
    for name in FAULTS.iter().copied().chain(["valid"]) {
        let get = NativeFunction::from_copy_closure(move |this, _, context| {
            let id = exotic::this::<Validity>(this, context)?.borrow().data().id;
            let faults = read(context, |tree| faults(tree, id));
            Ok(if name == "valid" { faults.is_empty().into() } else { faults.contains(&name).into() })
        });
        bind::accessor(&prototype, name, get, None, context)?;
    }
    for name in WITH_VALIDITY {
        let prototype = bind::prototype(name, context)?;
        bind::methods(&prototype, VALIDITY_METHODS, context)?;
        bind::attributes(&prototype, VALIDITY_ATTRIBUTES, context)?;
        bind::attributes(&prototype, &[FORM], context)?;
    }
    for name in ["HTMLLabelElement", "HTMLLegendElement", "HTMLOptionElement"] {
        let prototype = bind::prototype(name, context)?;
        bind::attributes(&prototype, &[FORM], context)?;
    }
    for local in LABELABLE {
        let prototype = bind::prototype(crate::web::webidl::interfaces::of_html(local), context)?;
        bind::attributes(&prototype, &[LABELS], context)?;
    }
    let label = bind::prototype("HTMLLabelElement", context)?;
    let control: bind::Attribute = (
        "control",
        |this, _, context| {
            let id = this_element(this, context)?;
            let control = read(context, |tree| control(tree, id));
            wrap_or_null(control, context)
        },
        None,
    );
    bind::attributes(&label, &[control], context)
}

/// The form of a control, a label, a legend or an option.
pub fn form_of(tree: &Tree, id: NodeId) -> Option<NodeId> {
    let owner = if is_called(tree, id, &["label"]) {
        control(tree, id).filter(|control| is_listed(tree, *control))?
    } else if is_called(tree, id, &["legend"]) {
        tree.parent(id).filter(|parent| is_called(tree, *parent, &["fieldset"]))?
    } else if is_called(tree, id, &["option"]) {
        tree.ancestors(id).take(2).find(|above| is_called(tree, *above, &["select"]))?
    } else {
        id
    };
    tree.form_owner(owner)
}

fn is_labelable(tree: &Tree, id: NodeId) -> bool {
    is_custom(tree, id)
        || is_called(tree, id, LABELABLE) && !(is_called(tree, id, &["input"]) && values::kind(tree, id) == "hidden")
}

/// "Labeled control" (§4.10.4).
pub fn control(tree: &Tree, label: NodeId) -> Option<NodeId> {
    match text(tree, label, "for") {
        Some(id) => tree.element_by_id(tree.root(label), id).filter(|found| is_labelable(tree, *found)),
        None => tree.descendants(label).find(|id| is_labelable(tree, *id)),
    }
}

pub fn labels(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    if !is_labelable(tree, id) {
        return Vec::new();
    }
    let root = tree.root(id);
    let all = std::iter::once(root).chain(tree.descendants(root));
    all.filter(|label| is_called(tree, *label, &["label"]) && control(tree, *label) == Some(id)).collect()
}

/// Whether a value is validated at all ("barred from constraint validation").
pub fn is_candidate(tree: &Tree, id: NodeId) -> bool {
    if !(is_called(tree, id, SUBMITTABLE) || is_custom(tree, id)) || tree.is_disabled(id) {
        return false;
    }
    let is_barred_kind = match tree.element(id).map(|element| &*element.name().local) {
        Some("input") => matches!(values::kind(tree, id), "hidden" | "reset" | "button"),
        Some("button") => super::table::BUTTON_TYPE.state(text(tree, id, "type")) != Some("submit"),
        _ => false,
    };
    let is_fixed = (is_called(tree, id, &["input", "textarea"]) || is_custom(tree, id)) && has(tree, id, "readonly");
    !is_barred_kind && !is_fixed && !tree.ancestors(id).any(|above| is_called(tree, above, &["datalist"]))
}

/// Validates one control and fires `invalid` if it fails (§4.10.21.2 "check validity steps").
pub fn check(id: NodeId, context: &mut Context) -> bool {
    if read(context, |tree| !is_candidate(tree, id) || faults(tree, id).is_empty()) {
        return true;
    }
    if let Ok(object) = wrap(id, context) {
        events::fire(&object, "Event", "invalid", (false, true), &[], context);
    }
    false
}

/// Whether `:valid` matches, or `:invalid` (§4.16.3): of a control that is validated, of a form by the controls that it owns, of a fieldset
/// by those in it. `None` if neither does.
pub(super) fn validity(tree: &Tree, id: NodeId) -> Option<bool> {
    let is_bad = |id: &NodeId| is_candidate(tree, *id) && tree.validity_of(*id) == Some(false);
    match &*tree.element(id)?.name().local {
        "form" => Some(!invalid_forms(tree, id).contains(&id)),
        "fieldset" => Some(!tree.descendants(id).any(|id| is_bad(&id))),
        _ if is_candidate(tree, id) => Some(faults(tree, id).is_empty()),
        _ => None,
    }
}

/// The forms in the tree of one that own an invalid control. One walk finds those of all forms, and keeps them.
fn invalid_forms(tree: &Tree, form: NodeId) -> HashSet<NodeId> {
    let (mut forms, mut invalid) = (Vec::new(), HashSet::new());
    for id in tree.descendants(tree.root(form)) {
        if is_called(tree, id, &["form"]) {
            forms.push(id);
        } else if is_candidate(tree, id) && tree.validity_of(id) == Some(false) {
            invalid.extend(form_of(tree, id));
        }
    }
    for id in forms {
        tree.knows_validity(id, Some(!invalid.contains(&id)));
    }
    invalid
}

/// The validity flags of a control's value.
fn faults(tree: &Tree, id: NodeId) -> Vec<&'static str> {
    let mut found = Vec::new();
    if is_called(tree, id, &["input"]) {
        input_faults(tree, id, &mut found);
    } else if is_called(tree, id, &["textarea"]) {
        if has(tree, id, "required") && !has(tree, id, "readonly") && super::text::value(tree, id).is_empty() {
            found.push("valueMissing");
        }
    } else if is_called(tree, id, &["select"]) && has(tree, id, "required") && super::select::is_unchosen(tree, id) {
        found.push("valueMissing");
    }
    if tree.element(id).is_some_and(|element| element.state.complaint.is_some()) {
        found.push("customError");
    }
    found
}

fn input_faults(tree: &Tree, id: NodeId, found: &mut Vec<&'static str>) {
    let (kind, value) = (values::kind(tree, id), values::of_input(tree, id));
    if has(tree, id, "required") && is_missing(tree, id, kind, &value) {
        found.push("valueMissing");
    }
    let is_wrong = match kind {
        "url" => !value.is_empty() && url::Url::parse(&value).is_err(),
        "email" if has(tree, id, "multiple") => !value.is_empty() && !value.split(',').all(values::is_email),
        "email" => !value.is_empty() && !values::is_email(&value),
        _ => false,
    };
    if is_wrong {
        found.push("typeMismatch");
    }
    let has_pattern = matches!(kind, "text" | "search" | "url" | "tel" | "email" | "password") && !value.is_empty();
    if text(tree, id, "pattern").is_some_and(|pattern| has_pattern && !matches_pattern(pattern, &value)) {
        found.push("patternMismatch");
    }
    let Some(number) = values::number(kind, &value) else { return };
    let (least, most) = values::bounds(tree, id, kind);
    let wraps = kind == "time" && matches!((least, most), (Some(least), Some(most)) if most < least);
    if wraps {
        // With bounds that wrap around midnight, the values between them are invalid.
        if most.is_some_and(|most| number > most) && least.is_some_and(|least| number < least) {
            found.extend(["rangeUnderflow", "rangeOverflow"]);
        }
    } else {
        if least.is_some_and(|least| number < least) {
            found.push("rangeUnderflow");
        }
        if most.is_some_and(|most| number > most) {
            found.push("rangeOverflow");
        }
    }
    if let Some(step) = values::step(tree, id, kind) {
        let steps = (number - values::step_base(tree, id, kind)) / step;
        // Ignores rounding errors of the division.
        if (steps - steps.round()).abs() > 1e-7 {
            found.push("stepMismatch");
        }
    }
}

fn is_missing(tree: &Tree, id: NodeId, kind: &str, value: &str) -> bool {
    match kind {
        "checkbox" => !tree.is_checked(id),
        "radio" => !super::input::group(tree, id).iter().any(|radio| tree.is_checked(*radio)),
        "file" => true,
        "hidden" | "range" | "color" | "submit" | "image" | "reset" | "button" => false,
        _ => !has(tree, id, "readonly") && value.is_empty(),
    }
}

/// Whether a pattern matches the whole value; an invalid pattern matches everything.
fn matches_pattern(pattern: &str, value: &str) -> bool {
    thread_local! {
        /// Compiled patterns by their texts.
        static PATTERNS: RefCell<HashMap<String, Option<Regex>>> = RefCell::default();
    }
    PATTERNS.with_borrow_mut(|patterns| {
        if patterns.len() >= limits::PATTERNS_KEPT_MAX && !patterns.contains_key(pattern) {
            patterns.clear();
        }
        // A pattern must be valid by itself, before it is put into parentheses.
        let compile = || {
            let whole = |_| Regex::with_flags(&format!("^(?:{pattern})$"), "v");
            Regex::with_flags(pattern, "v").and_then(whole).ok()
        };
        let whole = patterns.entry(pattern.to_owned()).or_insert_with(compile);
        whole.as_ref().is_none_or(|whole| whole.find(value).is_some())
    })
}

/// Defines `meter` and `progress`, whose numbers clamp each other (§4.10.13, §4.10.14), and `output`.
pub(super) fn install_gauges(context: &mut Context) -> JsResult<()> {
    let meter = bind::prototype("HTMLMeterElement", context)?;
    for name in ["value", "min", "max", "low", "high", "optimum"] {
        let get = NativeFunction::from_copy_closure(move |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| gauge(tree, id, name)).into())
        });
        let set = NativeFunction::from_copy_closure(move |this, args, context| {
            let id = this_element(this, context)?;
            let value = super::reflect::double(args.get_or_undefined(0), name, context)?;
            super::reflect::set_text(id, name, &numbers::shortest(value), context).map(|()| JsValue::undefined())
        });
        bind::accessor(&meter, name, get, Some(set), context)?;
    }
    let progress = bind::prototype("HTMLProgressElement", context)?;
    let attributes: [bind::Attribute; 2] = [
        (
            "value",
            |this, _, context| {
                let id = this_element(this, context)?;
                Ok(read(context, |tree| progress_value(tree, id).unwrap_or(0.0)).into())
            },
            Some(|this, args, context| {
                let id = this_element(this, context)?;
                let value = super::reflect::double(args.get_or_undefined(0), "value", context)?;
                super::reflect::set_text(id, "value", &numbers::shortest(value), context).map(|()| JsValue::undefined())
            }),
        ),
        (
            "position",
            |this, _, context| {
                let id = this_element(this, context)?;
                Ok(read(context, |tree| progress_value(tree, id).map_or(-1.0, |value| value / progress_max(tree, id)))
                    .into())
            },
            None,
        ),
    ];
    bind::attributes(&progress, &attributes, context)
}

fn progress_max(tree: &Tree, id: NodeId) -> f64 {
    text(tree, id, "max").and_then(numbers::float).filter(|max| *max > 0.0).unwrap_or(1.0)
}

fn progress_value(tree: &Tree, id: NodeId) -> Option<f64> {
    let value = text(tree, id, "value")?;
    Some(numbers::float(value).unwrap_or(0.0).clamp(0.0, progress_max(tree, id)))
}

/// A number of a meter, clamped by the others.
fn gauge(tree: &Tree, id: NodeId, name: &str) -> f64 {
    let read = |name: &str| text(tree, id, name).and_then(numbers::float);
    let least = read("min").unwrap_or(0.0);
    let most = read("max").unwrap_or(1.0).max(least);
    let low = read("low").unwrap_or(least).clamp(least, most);
    match name {
        "min" => least,
        "max" => most,
        "value" => read("value").unwrap_or(0.0).clamp(least, most),
        "low" => low,
        "high" => read("high").unwrap_or(most).clamp(low, most),
        _ => read("optimum").unwrap_or_else(|| f64::midpoint(least, most)).clamp(least, most),
    }
}
