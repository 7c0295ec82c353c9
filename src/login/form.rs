//! The forms of a page as a browser sees them: owners of controls, labels, and hidden parts.
//!
//! All later steps (which form is the login form, which field is the password, what is sent) read these records and
//! no markup.

use std::collections::HashMap;

use ego_tree::{NodeId, NodeRef};
use scraper::Node;
use scraper::node::Element;

use super::form_tree::FormTree;
use crate::limits::{
    CONTROL_TEXT_BYTES_MAX, CONTROLS_PER_FORM_MAX, FORM_TEXT_BYTES_MAX, FORMS_PER_PAGE_MAX, LINKS_PER_FORM_MAX,
    LOOSE_FORMS_MAX, OPTIONS_PER_SELECT_MAX,
};
use gleaner_page::tree::TreeError;

/// The attribute with which `render` marks the controls of an open page.
const MARK: &str = "data-gleaner-node";

/// A form with its controls in tree order, or fields without a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Index among the page's forms, from 0; fields without a form come last.
    pub index: usize,
    /// False for password fields without a form and their surrounding controls: a script sends them.
    pub is_element: bool,
    /// Attributes as written; empty where absent.
    pub id: Box<str>,
    pub name: Box<str>,
    pub class: Box<str>,
    /// Relative to the page; empty means the page itself.
    pub action: Box<str>,
    pub method: Method,
    pub encoding: Encoding,
    pub accept_charset: Box<str>,
    pub onsubmit: Box<str>,
    /// The form, or an element around it, is hidden.
    pub is_hidden: bool,
    pub controls: Vec<Control>,
    /// Its visible text, with single spaces, at most `FORM_TEXT_BYTES_MAX` bytes; without the options of selects.
    pub text: Box<str>,
    /// Links within it: reference and text.
    pub links: Vec<(Box<str>, Box<str>)>,
}

impl Form {
    /// The button that submits the form: the first that is not disabled, as for the Enter key (HTML §4.10.22.2).
    #[must_use]
    pub fn submit(&self) -> Option<usize> {
        self.controls.iter().position(|control| control.kind.submits() && !control.is_disabled)
    }
}

/// How a form is sent (HTML §4.10.18.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    #[default]
    Get,
    Post,
    /// `method=dialog`: nothing is sent.
    Dialog,
}

/// How the fields of a POST are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    #[default]
    UrlEncoded,
    Multipart,
    Plain,
}

/// The types of controls. An `input` of an unknown type is a text field, as in browsers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    #[default]
    Text,
    Password,
    Email,
    Tel,
    Url,
    Search,
    Number,
    /// Dates, colours, ranges: values that a person picks.
    Picker,
    Hidden,
    Checkbox,
    Radio,
    File,
    /// `input type=submit` and `button`s that submit.
    Submit,
    Image,
    /// Buttons that only scripts listen to.
    Button,
    Reset,
    Select,
    Textarea,
}

impl Kind {
    /// True for controls into which a person types a line of text.
    #[must_use]
    pub fn is_line(self) -> bool {
        matches!(self, Self::Text | Self::Password | Self::Email | Self::Tel | Self::Url | Self::Search | Self::Number)
    }

    /// True for text fields that may contain a user name.
    #[must_use]
    pub fn may_name_a_user(self) -> bool {
        matches!(self, Self::Text | Self::Email | Self::Tel | Self::Number)
    }

    /// True for controls that submit the form.
    #[must_use]
    pub fn submits(self) -> bool {
        matches!(self, Self::Submit | Self::Image)
    }

    fn of_input(kind: &str) -> Self {
        match kind.trim().to_ascii_lowercase().as_str() {
            "password" => Self::Password,
            "email" => Self::Email,
            "tel" => Self::Tel,
            "url" => Self::Url,
            "search" => Self::Search,
            "number" => Self::Number,
            "date" | "datetime-local" | "month" | "week" | "time" | "color" | "range" => Self::Picker,
            "hidden" => Self::Hidden,
            "checkbox" => Self::Checkbox,
            "radio" => Self::Radio,
            "file" => Self::File,
            "submit" => Self::Submit,
            "image" => Self::Image,
            "button" => Self::Button,
            "reset" => Self::Reset,
            _ => Self::Text,
        }
    }
}

/// One control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    pub kind: Kind,
    /// True for `button`, whose text is not a value.
    pub is_button_element: bool,
    /// Attributes as written; empty where absent.
    pub name: Box<str>,
    pub id: Box<str>,
    pub class: Box<str>,
    /// The initial value: `on` for a checkbox without one, the text of a textarea, the value of a select's first
    /// selected option.
    pub value: Box<str>,
    pub placeholder: Box<str>,
    pub autocomplete: Box<str>,
    pub title: Box<str>,
    pub onclick: Box<str>,
    pub formaction: Option<Box<str>>,
    pub formmethod: Option<Method>,
    pub formenctype: Option<Encoding>,
    /// The text of its `label`, or `aria-label`; for a button its own text.
    pub label: Box<str>,
    /// The text before and after it, up to the next control.
    pub before: Box<str>,
    pub after: Box<str>,
    pub is_checked: bool,
    /// Disabled by itself or by a `fieldset`, and so not sent.
    pub is_disabled: bool,
    pub is_required: bool,
    /// Hidden although its type is visible: itself, or by an element around it within the form.
    pub is_concealed: bool,
    pub is_multiple: bool,
    /// The number by which an open page finds it again; None for a page as sent.
    pub mark: Option<u32>,
    pub options: Vec<SelectOption>,
}

/// An option of a select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectOption {
    pub value: Box<str>,
    pub text: Box<str>,
    pub is_selected: bool,
    pub is_disabled: bool,
}

/// The forms of a page in tree order, at most `limits::FORMS_PER_PAGE_MAX`; then password fields without a form, at
/// most `limits::LOOSE_FORMS_MAX`.
///
/// # Errors
/// The page has no tree: too deep, or too many nodes.
pub fn forms(page: &str) -> Result<Vec<Form>, TreeError> {
    FormTree::parse(page).map(|tree| of_tree(&tree))
}

/// The forms of a parsed page.
pub(super) fn of_tree(tree: &FormTree) -> Vec<Form> {
    FormReader::new(tree).read()
}

struct FormReader<'a> {
    tree: &'a FormTree,
    /// By the id of the control.
    labels: HashMap<&'a str, String>,
    forms: Vec<Form>,
    index: HashMap<NodeId, usize>,
    by_id: HashMap<&'a str, usize>,
    /// Text since the last control of each form.
    since: Vec<String>,
    /// Password fields without a form.
    loose: Vec<NodeId>,
}

impl<'a> FormReader<'a> {
    fn new(tree: &'a FormTree) -> Self {
        let mut reader = Self {
            tree,
            labels: HashMap::new(),
            forms: Vec::new(),
            index: HashMap::new(),
            by_id: HashMap::new(),
            since: Vec::new(),
            loose: Vec::new(),
        };
        for node in tree.html.tree.root().descendants() {
            let Some(element) = node.value().as_element() else { continue };
            match element.name() {
                "label" => {
                    if let Some(control) = element.attr("for") {
                        reader.labels.entry(control).or_insert_with(|| text_of(node, CONTROL_TEXT_BYTES_MAX));
                    }
                }
                "form" if reader.forms.len() < FORMS_PER_PAGE_MAX => reader.open(node, element),
                _ => {}
            }
        }
        reader
    }

    fn open(&mut self, node: NodeRef<'a, Node>, element: &'a Element) {
        let attribute = |name: &str| -> Box<str> { element.attr(name).unwrap_or_default().into() };
        let index = self.forms.len();
        self.index.insert(node.id(), index);
        if let Some(id) = element.attr("id") {
            self.by_id.entry(id).or_insert(index);
        }
        self.since.push(String::new());
        self.forms.push(Form {
            index,
            is_element: true,
            id: attribute("id"),
            name: attribute("name"),
            class: attribute("class"),
            action: element.attr("action").unwrap_or_default().trim().into(),
            method: method_of(element.attr("method").unwrap_or_default()),
            encoding: encoding_of(element.attr("enctype").unwrap_or_default()),
            accept_charset: attribute("accept-charset"),
            onsubmit: attribute("onsubmit"),
            is_hidden: node.ancestors().chain([node]).any(conceals),
            ..Form::default()
        });
    }

    fn read(mut self) -> Vec<Form> {
        for node in self.tree.html.tree.root().descendants() {
            match node.value() {
                Node::Element(element) if is_control(element.name()) => match self.owner(node, element) {
                    Some(form) => self.control(form, node, element),
                    None if is_password(element) && self.loose.len() < LOOSE_FORMS_MAX => self.loose.push(node.id()),
                    None => {}
                },
                Node::Element(element) if element.name() == "a" => {
                    if let (Some(form), Some(href)) = (self.form_around(node), element.attr("href"))
                        && self.forms[form].links.len() < LINKS_PER_FORM_MAX
                    {
                        self.forms[form].links.push((href.into(), text_of(node, CONTROL_TEXT_BYTES_MAX).into()));
                    }
                }
                Node::Text(text) if !is_silent(node) => {
                    if let Some(form) = self.form_around(node) {
                        add_text(&mut self.since[form], text, CONTROL_TEXT_BYTES_MAX * 2);
                        let mut whole = std::mem::take(&mut self.forms[form].text).into_string();
                        add_text(&mut whole, text, FORM_TEXT_BYTES_MAX);
                        self.forms[form].text = whole.into();
                    }
                }
                _ => {}
            }
        }
        for form in 0..self.forms.len() {
            self.close(form);
        }
        for id in std::mem::take(&mut self.loose) {
            self.gather(id);
        }
        self.forms
    }

    /// The form that owns a control (HTML §4.10.18.3): named by its `form` attribute, else set by the parser, else
    /// the ancestor.
    fn owner(&self, node: NodeRef<'a, Node>, element: &'a Element) -> Option<usize> {
        if let Some(id) = element.attr("form") {
            return self.by_id.get(id).copied();
        }
        let by_parser = self.tree.owners.get(&node.id()).and_then(|form| self.index.get(form));
        by_parser.copied().or_else(|| self.form_around(node))
    }

    fn form_around(&self, node: NodeRef<'a, Node>) -> Option<usize> {
        node.ancestors().find_map(|ancestor| self.index.get(&ancestor.id()).copied())
    }

    fn control(&mut self, form: usize, node: NodeRef<'a, Node>, element: &'a Element) {
        if self.forms[form].controls.len() >= CONTROLS_PER_FORM_MAX {
            return;
        }
        let mut control = self.plain(node, element);
        let between = std::mem::take(&mut self.since[form]);
        if let Some(last) = self.forms[form].controls.last_mut() {
            last.after = between.as_str().into();
        }
        control.before = between.into();
        self.forms[form].controls.push(control);
    }

    fn close(&mut self, form: usize) {
        let behind = std::mem::take(&mut self.since[form]);
        if let Some(last) = self.forms[form].controls.last_mut() {
            last.after = behind.into();
        }
    }

    /// A control without its surrounding text.
    fn plain(&self, node: NodeRef<'a, Node>, element: &'a Element) -> Control {
        let attribute = |name: &str| -> Box<str> { element.attr(name).unwrap_or_default().into() };
        let has = |name: &str| element.attr(name).is_some();
        let kind = kind_of(element);
        let options = if kind == Kind::Select { options_of(node) } else { Vec::new() };
        let value = match kind {
            Kind::Textarea => text_of_field(node).into(),
            Kind::Select => {
                // HTML §4.10.7: a select of one line shows its first option if none is selected.
                let chosen = options.iter().rfind(|option| option.is_selected);
                let shown = chosen.or_else(|| options.iter().find(|option| !option.is_disabled));
                shown.map(|option| option.value.clone()).unwrap_or_default()
            }
            Kind::Checkbox | Kind::Radio if !has("value") => "on".into(),
            _ => attribute("value"),
        };
        Control {
            kind,
            is_button_element: element.name() == "button",
            name: attribute("name"),
            id: attribute("id"),
            class: attribute("class"),
            value,
            placeholder: attribute("placeholder"),
            autocomplete: attribute("autocomplete"),
            title: attribute("title"),
            onclick: attribute("onclick"),
            formaction: element.attr("formaction").map(|action| action.trim().into()),
            formmethod: element.attr("formmethod").map(method_of),
            formenctype: element.attr("formenctype").map(encoding_of),
            label: self.label(node, element).into(),
            is_checked: has("checked"),
            is_disabled: has("disabled") || is_disabled_by_fieldset(node),
            is_required: has("required"),
            is_concealed: conceals(node) || concealed_within(node, &self.index),
            is_multiple: has("multiple"),
            mark: element.attr(MARK).and_then(|mark| mark.parse().ok()),
            options,
            ..Control::default()
        }
    }

    fn label(&self, node: NodeRef<'a, Node>, element: &'a Element) -> String {
        if element.name() == "button" {
            return text_of(node, CONTROL_TEXT_BYTES_MAX);
        }
        let by_id = element.attr("id").and_then(|id| self.labels.get(id)).filter(|label| !label.is_empty());
        if let Some(label) = by_id {
            return label.clone();
        }
        let around = node.ancestors().find(|ancestor| is_element(*ancestor, "label"));
        let around = around.map(|label| text_of(label, CONTROL_TEXT_BYTES_MAX)).filter(|label| !label.is_empty());
        around.unwrap_or_else(|| element.attr("aria-label").unwrap_or_default().trim().to_owned())
    }

    /// A password field without a form, with what a script would send along: the controls of the nearest ancestor
    /// that also has a text field for a name, or of its parent if the button is there.
    fn gather(&mut self, id: NodeId) {
        let Some(password) = self.tree.html.tree.get(id) else { return };
        let is_gathered = |forms: &[Form], name: &str, own: &str| {
            let taken = |form: &Form| {
                !form.is_element
                    && form.controls.iter().any(|of| &*of.name == name && &*of.id == own && of.kind == Kind::Password)
            };
            forms.iter().any(taken)
        };
        let element = password.value().as_element();
        let attribute = |name: &str| element.and_then(|element| element.attr(name)).unwrap_or_default();
        if is_gathered(&self.forms, attribute("name"), attribute("id")) {
            return;
        }
        let controls_in = |root: NodeRef<'a, Node>| -> Vec<NodeRef<'a, Node>> {
            let owned = |node: &NodeRef<'a, Node>| {
                node.value().as_element().is_some_and(|of| is_control(of.name()) && self.owner(*node, of).is_none())
            };
            root.descendants().filter(owned).take(CONTROLS_PER_FORM_MAX).collect()
        };
        let kinds = |controls: &[NodeRef<'a, Node>]| -> (bool, bool) {
            let kind = |node: &NodeRef<'a, Node>| node.value().as_element().map(kind_of).unwrap_or_default();
            (
                controls.iter().any(|node| kind(node).may_name_a_user()),
                controls.iter().any(|node| kind(node).submits() || kind(node) == Kind::Button),
            )
        };
        let mut root = password;
        let mut found = vec![password];
        for ancestor in password.ancestors() {
            if is_element(ancestor, "html") || ancestor.value().is_document() {
                break;
            }
            root = ancestor;
            found = controls_in(ancestor);
            if kinds(&found) == (true, true) {
                break;
            }
        }
        let controls = found
            .into_iter()
            .filter_map(|node| node.value().as_element().map(|element| self.plain(node, element)))
            .collect();
        let form = Form {
            index: self.forms.len(),
            controls,
            text: text_of(root, FORM_TEXT_BYTES_MAX).into(),
            is_hidden: root.ancestors().chain([root]).any(conceals),
            method: Method::Post,
            ..Form::default()
        };
        self.forms.push(form);
    }
}

fn is_control(name: &str) -> bool {
    matches!(name, "input" | "button" | "select" | "textarea")
}

fn is_element(node: NodeRef<'_, Node>, name: &str) -> bool {
    node.value().as_element().is_some_and(|element| element.name() == name)
}

fn is_password(element: &Element) -> bool {
    kind_of(element) == Kind::Password
}

fn kind_of(element: &Element) -> Kind {
    match element.name() {
        "select" => Kind::Select,
        "textarea" => Kind::Textarea,
        "button" => match element.attr("type").unwrap_or_default().to_ascii_lowercase().as_str() {
            "button" => Kind::Button,
            "reset" => Kind::Reset,
            _ => Kind::Submit,
        },
        _ => Kind::of_input(element.attr("type").unwrap_or_default()),
    }
}

fn method_of(text: &str) -> Method {
    match text.trim().to_ascii_lowercase().as_str() {
        "post" => Method::Post,
        "dialog" => Method::Dialog,
        _ => Method::Get,
    }
}

fn encoding_of(text: &str) -> Encoding {
    match text.trim().to_ascii_lowercase().as_str() {
        "multipart/form-data" => Encoding::Multipart,
        "text/plain" => Encoding::Plain,
        _ => Encoding::UrlEncoded,
    }
}

/// True for an element hidden by its markup. The effects of style sheets and scripts are unknown.
fn conceals(node: NodeRef<'_, Node>) -> bool {
    node.value().as_element().is_some_and(|element| {
        let style: String = element
            .attr("style")
            .unwrap_or_default()
            .chars()
            .filter(|of| !of.is_whitespace())
            .map(|of| of.to_ascii_lowercase())
            .collect();
        element.attr("hidden").is_some() || style.contains("display:none") || style.contains("visibility:hidden")
    })
}

/// True if an element between a control and its form is hidden.
fn concealed_within(node: NodeRef<'_, Node>, forms: &HashMap<NodeId, usize>) -> bool {
    node.ancestors().take_while(|ancestor| !forms.contains_key(&ancestor.id())).any(conceals)
        && node.ancestors().any(|ancestor| forms.contains_key(&ancestor.id()))
}

/// HTML §4.10.15: a disabled `fieldset` disables everything in it except its first `legend`.
fn is_disabled_by_fieldset(node: NodeRef<'_, Node>) -> bool {
    let mut inside = node;
    for ancestor in node.ancestors() {
        let is_disabled = ancestor
            .value()
            .as_element()
            .is_some_and(|element| element.name() == "fieldset" && element.attr("disabled").is_some());
        if is_disabled {
            let legend = ancestor.children().find(|child| is_element(*child, "legend"));
            if legend.is_none_or(|legend| legend.id() != inside.id()) {
                return true;
            }
        }
        inside = ancestor;
    }
    false
}

fn options_of(select: NodeRef<'_, Node>) -> Vec<SelectOption> {
    let option = |node: NodeRef<'_, Node>| {
        let element = node.value().as_element().filter(|element| element.name() == "option")?;
        let text = text_of(node, CONTROL_TEXT_BYTES_MAX);
        let in_disabled = node.ancestors().take_while(|of| of.id() != select.id()).any(|of| {
            of.value().as_element().is_some_and(|of| of.name() == "optgroup" && of.attr("disabled").is_some())
        });
        Some(SelectOption {
            value: element.attr("value").unwrap_or(&text).into(),
            text: text.into(),
            is_selected: element.attr("selected").is_some(),
            is_disabled: in_disabled || element.attr("disabled").is_some(),
        })
    };
    select.descendants().filter_map(option).take(OPTIONS_PER_SELECT_MAX).collect()
}

/// The text of a textarea as sent: the parser has already dropped the first line end.
fn text_of_field(node: NodeRef<'_, Node>) -> String {
    node.descendants().filter_map(|of| of.value().as_text().map(|text| &**text)).collect()
}

/// True for text that is never visible.
fn is_silent(node: NodeRef<'_, Node>) -> bool {
    node.ancestors().any(|ancestor| {
        ancestor.value().as_element().is_some_and(|element| {
            matches!(element.name(), "script" | "style" | "option" | "textarea" | "template" | "head")
        })
    })
}

/// The visible text of a node, with single spaces, up to `bytes_max`.
pub(super) fn text_of(node: NodeRef<'_, Node>, bytes_max: usize) -> String {
    let mut out = String::new();
    for of in node.descendants() {
        if let Node::Text(text) = of.value()
            && (!is_silent(of) || is_element(node, "option"))
        {
            add_text(&mut out, text, bytes_max);
            if out.len() >= bytes_max {
                break;
            }
        }
    }
    out
}

/// Appends the words of a text, separated by single spaces.
fn add_text(out: &mut String, text: &str, bytes_max: usize) {
    for word in text.split_whitespace() {
        if out.len() + word.len() + 1 > bytes_max {
            return;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
}

#[cfg(test)]
mod tests;
