//! Form submission (HTML §4.10.22): what is sent and how; and form reset. The URL goes to `navigation`.

use boa_engine::{Context, JsObject, JsResult, JsValue};
use url::form_urlencoded;

use super::controls::SUBMITTABLE;
use super::element::is_called;
use super::reflect::{self, has, text};
use super::{activation, form, select, state, table, values};
use crate::dom::{FormValue, NodeId, Tree};
use crate::engine::{bind, blob, events};
use crate::limits;
use crate::web::dom::document;
use crate::web::{node_of, of, read, wrap};
use crate::wire::{How, Navigation};

/// A name and its value: a text, or a file, of which there is none.
type Entry = (String, Option<String>);

/// Whether a click on an element submits its form.
pub fn is_submitter(tree: &Tree, id: NodeId) -> bool {
    (is_called(tree, id, &["button"]) && table::BUTTON_TYPE.state(text(tree, id, "type")) == Some("submit"))
        || (is_called(tree, id, &["input"]) && matches!(values::kind(tree, id), "submit" | "image"))
}

/// "Submit" (§4.10.22.3). With `asks` the form is validated and its listeners may cancel, as for a user's click.
pub fn submit(form: NodeId, submitter: Option<NodeId>, asks: bool, context: &mut Context) {
    if !read(context, |tree| tree.is_connected(form)) {
        return;
    }
    if asks && !is_let_go(form, submitter, context) {
        return;
    }
    let method = read(context, |tree| {
        let own = submitter.and_then(|button| table::FORM_METHOD.state(text(tree, button, "formmethod")));
        own.filter(|word| !word.is_empty()).or_else(|| table::METHOD.state(text(tree, form, "method")))
    });
    if method == Some("dialog") {
        let dialog = read(context, |tree| tree.ancestors(form).find(|above| is_called(tree, *above, &["dialog"])));
        if let Some(dialog) = dialog {
            let value =
                submitter.and_then(|button| read(context, |tree| text(tree, button, "value").map(str::to_owned)));
            super::interactive::close(dialog, value, context);
        }
        return;
    }
    let Ok(Some(data)) = form_data(form, submitter, context) else { return };
    if let Some((wanted, target)) = navigation(form, submitter, method == Some("post"), &data, context) {
        activation::send(wanted, &target, context);
    }
}

/// Validates the form and fires `submit`; true if it may be sent. A listener that submits the same form again has no effect meanwhile.
fn is_let_go(form: NodeId, submitter: Option<NodeId>, context: &mut Context) -> bool {
    if !state(context).borrow_mut().submitting.insert(form) {
        return false;
    }
    let unchecked = read(context, |tree| {
        has(tree, form, "novalidate") || submitter.is_some_and(|button| has(tree, button, "formnovalidate"))
    });
    let goes_on = (unchecked || form::is_valid(form, context)) && {
        let button = submitter.and_then(|button| wrap(button, context).ok()).map_or_else(JsValue::null, JsValue::from);
        wrap(form, context).is_ok_and(|object| {
            events::fire(&object, "SubmitEvent", "submit", (true, true), &[("submitter", button)], context)
        })
    };
    state(context).borrow_mut().submitting.remove(&form);
    // A listener may have removed the form.
    goes_on && read(context, |tree| tree.is_connected(form))
}

/// The navigation of a form with its data.
fn navigation(
    form: NodeId,
    submitter: Option<NodeId>,
    is_post: bool,
    data: &JsObject,
    context: &mut Context,
) -> Option<(Navigation, String)> {
    let (address, enctype, target) = {
        let action = submitter.filter(|button| read(context, |tree| has(tree, *button, "formaction")));
        let address = match action {
            Some(button) => reflect::url(button, "formaction", true, context),
            None => reflect::url(form, "action", true, context),
        };
        read(context, |tree| {
            let own = |name: &str| submitter.and_then(|button| text(tree, button, name));
            let enctype = own("formenctype").or_else(|| text(tree, form, "enctype"));
            let target = own("formtarget").or_else(|| text(tree, form, "target")).unwrap_or_default().to_owned();
            (address, table::ENCTYPE.state(enctype).unwrap_or_default(), target)
        })
    };
    let mut url = document::base_url(form, context).join(&address).ok()?;
    let how = if target.eq_ignore_ascii_case("_blank") { How::Window } else { How::Form };
    let fields = blob::form_fields(data)?;
    let is_of_web = matches!(url.scheme(), "http" | "https");
    if !is_post {
        if is_of_web || url.scheme() == "file" {
            url.set_query(Some(&encoded(&texts(&fields))));
        }
        return Some((Navigation::get(url, how), target));
    }
    if !is_of_web {
        return Some((Navigation::get(url, how), target));
    }
    let (body, content_type) = match enctype {
        "multipart/form-data" => {
            let (body, kind) = blob::multipart(&fields, context).ok()?;
            (body, kind.unwrap_or_default())
        }
        "text/plain" => {
            let lines = texts(&fields).into_iter().map(|(name, value)| format!("{name}={value}\r\n"));
            (lines.collect::<String>().into_bytes(), enctype.to_owned())
        }
        _ => (encoded(&texts(&fields)).into_bytes(), enctype.to_owned()),
    };
    if body.len() > limits::RENDER_BODY_BYTES_MAX {
        return None;
    }
    Some((Navigation { url: url.into(), method: "POST".to_owned(), body, content_type, how }, target))
}

fn encoded(fields: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Fields as texts; a file becomes its name (§4.10.22.5). Line breaks become CR LF.
fn texts(fields: &[(JsValue, JsValue)]) -> Vec<(String, String)> {
    let lines = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
    let pairs = fields.iter().filter_map(|(name, value)| {
        let name = name.as_string()?.to_std_string_lossy();
        let value = match value.as_string() {
            Some(value) => value.to_std_string_lossy(),
            None => blob::file_name(value).unwrap_or_default(),
        };
        Some((lines(&name), lines(&value)))
    });
    pairs.collect()
}

/// "Construct the entry list" (§4.10.22.4), as an object that `formdata` listeners may change; `None` during another construction.
///
/// # Errors
/// None that a page could cause.
pub fn form_data(form: NodeId, submitter: Option<NodeId>, context: &mut Context) -> JsResult<Option<JsObject>> {
    if !state(context).borrow_mut().listing.insert(form) {
        return Ok(None);
    }
    let made = make_form_data(form, submitter, context);
    state(context).borrow_mut().listing.remove(&form);
    made.map(Some)
}

fn make_form_data(form: NodeId, submitter: Option<NodeId>, context: &mut Context) -> JsResult<JsObject> {
    let entries = read(context, |tree| entries(tree, form, submitter));
    let mut fields = Vec::with_capacity(entries.len());
    for (name, value) in entries {
        let value = match value {
            Some(value) => bind::js(&value),
            None => blob::empty_file(context)?,
        };
        fields.push((bind::js(&name), value));
    }
    let data = blob::form_data(fields, context)?;
    let object = wrap(form, context)?;
    events::fire(&object, "FormDataEvent", "formdata", (true, false), &[("formData", data.clone().into())], context);
    Ok(data)
}

/// The fields of a form in tree order.
fn entries(tree: &Tree, form: NodeId, submitter: Option<NodeId>) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    for id in form::owned(tree, form) {
        let in_datalist = || tree.ancestors(id).any(|above| is_called(tree, above, &["datalist"]));
        let given = tree.element(id).and_then(|element| element.state.form_value.as_deref());
        if let Some(given) = given.filter(|_| !tree.is_disabled(id) && !in_datalist()) {
            match given {
                FormValue::Text(value) => {
                    let name = text(tree, id, "name").filter(|name| !name.is_empty());
                    found.extend(name.map(|name| (name.to_owned(), Some(value.clone()))));
                }
                FormValue::Fields(fields) => {
                    let left = limits::PAIRS_MAX.saturating_sub(found.len());
                    let fields = fields.iter().take(left);
                    found.extend(fields.map(|(name, value)| (name.clone(), Some(value.clone()))));
                }
            }
            continue;
        }
        if !is_called(tree, id, SUBMITTABLE)
            || tree.is_disabled(id)
            || in_datalist()
            || found.len() >= limits::PAIRS_MAX
        {
            continue;
        }
        let name = text(tree, id, "name").unwrap_or_default().to_owned();
        match tree.element(id).map(|element| &*element.name().local) {
            Some("button") if Some(id) == submitter && !name.is_empty() => {
                found.push((name, Some(text(tree, id, "value").unwrap_or_default().to_owned())));
            }
            Some("select") if !name.is_empty() => {
                let chosen = select::chosen(tree, id).into_iter().filter(|option| !tree.is_disabled(*option));
                found.extend(chosen.map(|option| (name.clone(), Some(select::option_value(tree, option)))));
            }
            Some("textarea") if !name.is_empty() => found.push((name, Some(super::text::value(tree, id)))),
            Some("input") => input_entry(tree, id, name, submitter, &mut found),
            _ => continue,
        }
        if let Some(direction) = text(tree, id, "dirname").filter(|direction| !direction.is_empty()) {
            let has_text = is_called(tree, id, &["textarea"]) || matches!(values::kind(tree, id), "text" | "search");
            if has_text {
                found.push((direction.to_owned(), Some(if tree.is_rtl(id) { "rtl" } else { "ltr" }.to_owned())));
            }
        }
    }
    found
}

fn input_entry(tree: &Tree, id: NodeId, name: String, submitter: Option<NodeId>, found: &mut Vec<Entry>) {
    let kind = values::kind(tree, id);
    match kind {
        "image" if Some(id) == submitter => {
            let prefix = if name.is_empty() { String::new() } else { format!("{name}.") };
            // A script's click has the coordinates 0, 0.
            found.extend(["x", "y"].map(|axis| (format!("{prefix}{axis}"), Some("0".to_owned()))));
        }
        _ if name.is_empty() => {}
        "image" | "button" | "reset" => {}
        "submit" if Some(id) != submitter => {}
        "checkbox" | "radio" if !tree.is_checked(id) => {}
        "file" => found.push((name, None)),
        "hidden" if name.eq_ignore_ascii_case("_charset_") => found.push((name, Some("UTF-8".to_owned()))),
        _ => found.push((name, Some(values::of_input(tree, id)))),
    }
}

/// `form.reset()` (§4.10.23): a listener may cancel it.
pub fn reset(form: NodeId, context: &mut Context) {
    if !state(context).borrow_mut().resetting.insert(form) {
        return;
    }
    let goes_on =
        wrap(form, context).is_ok_and(|object| events::fire(&object, "Event", "reset", (true, true), &[], context));
    if goes_on {
        let all = read(context, |tree| form::owned(tree, form));
        for id in all {
            reset_control(id, context);
        }
    }
    state(context).borrow_mut().resetting.remove(&form);
}

fn reset_control(id: NodeId, context: &mut Context) {
    let options =
        read(context, |tree| if is_called(tree, id, &["select"]) { select::options(tree, id) } else { Vec::new() });
    {
        let web = of(context);
        let tree = &mut web.borrow_mut().tree;
        for one in options.into_iter().chain([id]) {
            if let Some(state) = tree.state_mut(one) {
                (state.checked, state.value, state.shown_option) = (None, None, None);
            }
        }
    }
    let default = state(context).borrow_mut().outputs.remove(&id);
    if let Some(default) = default {
        // A full document keeps the value.
        let _ = crate::web::change(context, |tree| tree.set_text_content(id, &default));
    }
}

/// `new FormData(form, submitter)`.
///
/// # Errors
/// A `TypeError` if it is not a form, or the submitter is not one of its buttons.
pub(super) fn read_form(args: &[JsValue], context: &mut Context) -> JsResult<Vec<(JsValue, JsValue)>> {
    let form = form::argument(args.first().unwrap_or(&JsValue::undefined()), context)?;
    let submitter = match args.get(1) {
        Some(given) if !given.is_null_or_undefined() => {
            let button = node_of(given, context).filter(|one| read(context, |tree| is_submitter(tree, *one)));
            let button = button.ok_or_else(|| bind::type_error("The specified element is not a submit button."))?;
            if read(context, |tree| tree.form_owner(button)) != Some(form) {
                let message = "The specified element is not owned by this form element.";
                return Err(crate::engine::exception::error("NotFoundError", message, context));
            }
            Some(button)
        }
        _ => None,
    };
    let Some(data) = form_data(form, submitter, context)? else {
        let message = "The form is constructing its entry list.";
        return Err(crate::engine::exception::error("InvalidStateError", message, context));
    };
    Ok(blob::form_fields(&data).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_as_a_query() {
        let fields = [("a b".to_owned(), "ü&=".to_owned()), ("c".to_owned(), String::new())];
        assert_eq!(encoded(&fields), "a+b=%C3%BC%26%3D&c=");
    }
}
