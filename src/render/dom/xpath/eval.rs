//! Evaluates expressions (XPath 1.0 §2 to §4).

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::HashSet;

use html5ever::{local_name, ns};

use super::super::attributes::qualified_name;
use super::super::node::{NodeData, NodeId, NodeKind};
use super::super::tree::Tree;
use super::{Axis, Expression, Function, Item, Operator, Prefixes, Step, Test, Value, XPath, XPathError};
use crate::limits;

/// With more nodes than this, one walk over the tree sorts them faster.
const SORTED: usize = 64;

type Answer<T> = Result<T, XPathError>;

impl Tree {
    /// The value of an expression at a node.
    ///
    /// # Errors
    /// [`XPathError::Namespace`] for an undeclared prefix, [`XPathError::Work`] beyond the cap of steps.
    pub fn evaluate(&self, xpath: &XPath, node: &Item, prefixes: &Prefixes) -> Answer<Value> {
        let work = Cell::new(0);
        let place = Context { tree: self, item: node, position: 1, size: 1, prefixes, work: &work };
        place.value(&xpath.root)
    }
}

impl Item {
    /// A node of the tree.
    pub fn of(node: NodeId) -> Self {
        Self { node, attribute: None }
    }
}

/// The context of an evaluation (§1 "context").
#[derive(Clone, Copy)]
struct Context<'a> {
    tree: &'a Tree,
    item: &'a Item,
    position: usize,
    size: usize,
    prefixes: &'a Prefixes,
    /// Nodes visited so far.
    work: &'a Cell<usize>,
}

impl Context<'_> {
    fn count(&self, steps: usize) -> Answer<()> {
        self.work.set(self.work.get() + steps);
        if self.work.get() > limits::XPATH_STEPS_MAX { Err(XPathError::Work) } else { Ok(()) }
    }

    fn value(&self, expression: &Expression) -> Answer<Value> {
        self.count(1)?;
        Ok(match expression {
            Expression::Number(number) => Value::Number(*number),
            Expression::Text(text) => Value::Text(text.clone()),
            Expression::Negative(inner) => Value::Number(-self.number(inner)?),
            Expression::Call(function, arguments) => self.call(*function, arguments)?,
            Expression::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            Expression::Path(from_root, steps) => {
                let start = if *from_root { Item::of(self.tree.root(self.item.node)) } else { self.item.clone() };
                Value::Nodes(self.walk(vec![start], steps)?)
            }
            Expression::Filter(primary, predicates, steps) => {
                let Value::Nodes(mut nodes) = self.value(primary)? else { return Err(XPathError::Syntax) };
                for predicate in predicates {
                    nodes = self.keep(nodes, predicate)?;
                }
                Value::Nodes(self.walk(nodes, steps)?)
            }
        })
    }

    fn number(&self, expression: &Expression) -> Answer<f64> {
        Ok(self.value(expression)?.to_number(self.tree))
    }

    fn text(&self, expression: &Expression) -> Answer<String> {
        Ok(self.value(expression)?.to_text(self.tree))
    }

    fn binary(&self, operator: Operator, left: &Expression, right: &Expression) -> Answer<Value> {
        let truth = |expression| Ok(self.value(expression)?.to_truth());
        Ok(match operator {
            Operator::Or => Value::Truth(truth(left)? || truth(right)?),
            Operator::And => Value::Truth(truth(left)? && truth(right)?),
            Operator::Plus => Value::Number(self.number(left)? + self.number(right)?),
            Operator::Minus => Value::Number(self.number(left)? - self.number(right)?),
            Operator::Times => Value::Number(self.number(left)? * self.number(right)?),
            Operator::Div => Value::Number(self.number(left)? / self.number(right)?),
            Operator::Mod => Value::Number(self.number(left)? % self.number(right)?),
            Operator::Union => {
                let (Value::Nodes(mut all), Value::Nodes(more)) = (self.value(left)?, self.value(right)?) else {
                    return Err(XPathError::Syntax);
                };
                all.extend(more);
                Value::Nodes(self.in_order(all)?)
            }
            comparison => Value::Truth(self.compare(comparison, &self.value(left)?, &self.value(right)?)?),
        })
    }

    /// §3.4: a node-set compares as true if any of its nodes does.
    fn compare(&self, operator: Operator, left: &Value, right: &Value) -> Answer<bool> {
        let by_number = |a: f64, b: f64| match operator {
            Operator::Equal => a == b,
            Operator::Unequal => a != b,
            Operator::Less => a < b,
            Operator::LessEqual => a <= b,
            Operator::Greater => a > b,
            _ => a >= b,
        };
        let is_equality = matches!(operator, Operator::Equal | Operator::Unequal);
        let by_text = |a: &str, b: &str| (a == b) == (operator == Operator::Equal);
        let texts = |nodes: &[Item]| nodes.iter().map(|item| string_of(self.tree, item)).collect::<Vec<_>>();
        match (left, right) {
            (Value::Nodes(left), Value::Nodes(right)) => {
                let (left, right) = (texts(left), texts(right));
                self.count(left.len().saturating_mul(right.len()))?;
                Ok(left.iter().any(|a| {
                    right.iter().any(
                        |b| {
                            if is_equality { by_text(a, b) } else { by_number(number_of(a), number_of(b)) }
                        },
                    )
                }))
            }
            (Value::Nodes(_), Value::Truth(_)) | (Value::Truth(_), Value::Nodes(_)) => {
                Ok(by_number(f64::from(left.to_truth()), f64::from(right.to_truth())))
            }
            (Value::Nodes(nodes), other) => Ok(texts(nodes).iter().any(|text| match other {
                Value::Text(other) if is_equality => by_text(text, other),
                other => by_number(number_of(text), other.to_number(self.tree)),
            })),
            (other, Value::Nodes(nodes)) => Ok(texts(nodes).iter().any(|text| match other {
                Value::Text(other) if is_equality => by_text(text, other),
                other => by_number(other.to_number(self.tree), number_of(text)),
            })),
            (Value::Truth(_), _) | (_, Value::Truth(_)) if is_equality => {
                Ok(by_number(f64::from(left.to_truth()), f64::from(right.to_truth())))
            }
            (Value::Text(left), Value::Text(right)) if is_equality => Ok(by_text(left, right)),
            (left, right) => Ok(by_number(left.to_number(self.tree), right.to_number(self.tree))),
        }
    }

    /// Applies the steps to each node. The result is in document order, each node once.
    fn walk(&self, mut nodes: Vec<Item>, steps: &[Step]) -> Answer<Vec<Item>> {
        for step in steps {
            let is_one = nodes.len() <= 1;
            let mut next = Vec::new();
            for node in &nodes {
                let mut found = self.along(node, step)?;
                for predicate in &step.predicates {
                    found = self.keep(found, predicate)?;
                }
                if step.axis.is_reverse() {
                    found.reverse();
                }
                next.extend(found);
            }
            nodes = if is_one { next } else { self.in_order(next)? };
        }
        Ok(nodes)
    }

    /// The nodes for which a predicate holds; a number is a position (§2.4).
    fn keep(&self, nodes: Vec<Item>, predicate: &Expression) -> Answer<Vec<Item>> {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (place, item) in nodes.into_iter().enumerate() {
            let at = Context { item: &item, position: place + 1, size, ..*self };
            let holds = match at.value(predicate)? {
                Value::Number(number) => number == (place + 1) as f64,
                other => other.to_truth(),
            };
            if holds {
                kept.push(item);
            }
        }
        Ok(kept)
    }

    /// The nodes on an axis that pass the test, in the order of the axis.
    fn along(&self, item: &Item, step: &Step) -> Answer<Vec<Item>> {
        let tree = self.tree;
        let id = item.node;
        if step.axis == Axis::Attribute {
            return self.attributes(item, &step.test);
        }
        if item.attribute.is_some() {
            let above: Vec<NodeId> = match step.axis {
                Axis::Parent => vec![id],
                Axis::Ancestor | Axis::AncestorOrSelf => tree.inclusive_ancestors(id).collect(),
                Axis::Itself => Vec::new(),
                _ => return Ok(Vec::new()),
            };
            let mut found = Vec::new();
            let with_itself = matches!(step.axis, Axis::Itself | Axis::AncestorOrSelf);
            if with_itself && matches!(step.test, Test::Node) {
                found.push(item.clone());
            }
            return self.passing(above.into_iter(), &step.test).map(|more| {
                found.extend(more);
                found
            });
        }
        let root = tree.root(id);
        match step.axis {
            Axis::Itself => self.passing(std::iter::once(id), &step.test),
            Axis::Parent => self.passing(tree.parent(id).into_iter(), &step.test),
            Axis::Child => self.passing(tree.children(id), &step.test),
            Axis::Ancestor => self.passing(tree.ancestors(id), &step.test),
            Axis::AncestorOrSelf => self.passing(tree.inclusive_ancestors(id), &step.test),
            Axis::Descendant => self.passing(tree.descendants(id), &step.test),
            Axis::DescendantOrSelf => self.passing(std::iter::once(id).chain(tree.descendants(id)), &step.test),
            Axis::FollowingSibling => {
                let siblings = std::iter::successors(tree.next_sibling(id), |id| tree.next_sibling(*id));
                self.passing(siblings, &step.test)
            }
            Axis::PrecedingSibling => {
                let siblings = std::iter::successors(tree.previous_sibling(id), |id| tree.previous_sibling(*id));
                self.passing(siblings, &step.test)
            }
            Axis::Following => {
                let first = tree.next_after_subtree(id, root);
                self.passing(std::iter::successors(first, |id| tree.next_in_order(*id, root)), &step.test)
            }
            Axis::Preceding => {
                let above: HashSet<NodeId> = tree.ancestors(id).collect();
                let before =
                    std::iter::successors(tree.previous_in_order(id, root), |id| tree.previous_in_order(*id, root));
                self.passing(before.filter(|id| !above.contains(id)), &step.test)
            }
            Axis::Attribute | Axis::Namespace => Ok(Vec::new()),
        }
    }

    fn passing(&self, nodes: impl Iterator<Item = NodeId>, test: &Test) -> Answer<Vec<Item>> {
        let mut found = Vec::new();
        for id in nodes {
            self.count(1)?;
            // A document type is not a node in XPath.
            if self.tree.kind(id) != NodeKind::DocumentType && self.passes(id, test)? {
                found.push(Item::of(id));
            }
        }
        Ok(found)
    }

    fn namespace(&self, prefix: &str) -> Answer<&str> {
        self.prefixes.get(prefix).map(String::as_str).ok_or(XPathError::Namespace)
    }

    fn passes(&self, id: NodeId, test: &Test) -> Answer<bool> {
        let tree = self.tree;
        let element = tree.element(id);
        Ok(match test {
            Test::Node => true,
            Test::Text => tree.is_text(id),
            Test::Comment => tree.kind(id) == NodeKind::Comment,
            Test::Instruction(target) => match tree.data(id) {
                NodeData::Instruction(instruction) => target.as_ref().is_none_or(|name| *name == instruction.target),
                _ => false,
            },
            Test::Any(None) => element.is_some(),
            Test::Any(Some(prefix)) => {
                let namespace = self.namespace(prefix)?;
                element.is_some_and(|element| &*element.name.ns == namespace)
            }
            Test::Name(Some(prefix), local) => {
                let namespace = self.namespace(prefix)?;
                element.is_some_and(|element| &*element.name.ns == namespace && *element.name.local == **local)
            }
            Test::Name(None, local) => element.is_some_and(|element| {
                let name = &element.name;
                if name.ns == ns!(html) && tree.is_html_document(tree.document_of(id)) {
                    (*name.local).eq_ignore_ascii_case(local)
                } else {
                    name.ns == ns!() && *name.local == **local
                }
            }),
        })
    }

    fn attributes(&self, item: &Item, test: &Test) -> Answer<Vec<Item>> {
        let Some(element) = self.tree.element(item.node).filter(|_| item.attribute.is_none()) else {
            return Ok(Vec::new());
        };
        let is_html = self.tree.is_html_in_html(item.node);
        let mut found = Vec::new();
        for attribute in element.attributes() {
            self.count(1)?;
            let name = &attribute.name;
            let passes = name.ns != ns!(xmlns)
                && match test {
                    Test::Node | Test::Any(None) => true,
                    Test::Any(Some(prefix)) => &*name.ns == self.namespace(prefix)?,
                    Test::Name(Some(prefix), local) => &*name.ns == self.namespace(prefix)? && *name.local == **local,
                    Test::Name(None, local) => {
                        let is_it = *name.local == **local || (is_html && (*name.local).eq_ignore_ascii_case(local));
                        name.ns == ns!() && is_it
                    }
                    _ => false,
                };
            if passes {
                found.push(Item { node: item.node, attribute: Some(name.clone()) });
            }
        }
        Ok(found)
    }

    /// Document order, each node once.
    fn in_order(&self, mut items: Vec<Item>) -> Answer<Vec<Item>> {
        let mut seen = HashSet::new();
        items.retain(|item| seen.insert(item.clone()));
        if items.len() < 2 {
            return Ok(items);
        }
        self.count(items.len())?;
        if items.len() > SORTED {
            let root = self.tree.root(items[0].node);
            let mut order = std::collections::HashMap::new();
            for (place, id) in std::iter::once(root).chain(self.tree.descendants(root)).enumerate() {
                order.insert(id, place);
            }
            self.count(order.len())?;
            items.sort_by_key(|item| (order.get(&item.node).copied(), item.attribute.is_some()));
        } else {
            items.sort_by(|a, b| match self.tree.compare_order(a.node, b.node) {
                Ordering::Equal => a.attribute.is_some().cmp(&b.attribute.is_some()),
                order => order,
            });
        }
        Ok(items)
    }

    /// The context node for a function without an argument, or the first node of its argument.
    fn first(&self, arguments: &[Expression]) -> Answer<Option<Item>> {
        match arguments.first() {
            None => Ok(Some(self.item.clone())),
            Some(argument) => match self.value(argument)? {
                Value::Nodes(nodes) => Ok(nodes.into_iter().next()),
                _ => Err(XPathError::Syntax),
            },
        }
    }

    fn own_text(&self, arguments: &[Expression]) -> Answer<String> {
        match arguments.first() {
            Some(argument) => self.text(argument),
            None => Ok(string_of(self.tree, self.item)),
        }
    }

    fn call(&self, function: Function, arguments: &[Expression]) -> Answer<Value> {
        let text = |place: usize| self.text(&arguments[place]);
        Ok(match function {
            Function::True => Value::Truth(true),
            Function::False => Value::Truth(false),
            Function::Not => Value::Truth(!self.value(&arguments[0])?.to_truth()),
            Function::Boolean => Value::Truth(self.value(&arguments[0])?.to_truth()),
            Function::Last => Value::Number(self.size as f64),
            Function::Position => Value::Number(self.position as f64),
            Function::Count => match self.value(&arguments[0])? {
                Value::Nodes(nodes) => Value::Number(nodes.len() as f64),
                _ => return Err(XPathError::Syntax),
            },
            Function::Sum => match self.value(&arguments[0])? {
                Value::Nodes(nodes) => {
                    Value::Number(nodes.iter().map(|item| number_of(&string_of(self.tree, item))).sum())
                }
                _ => return Err(XPathError::Syntax),
            },
            Function::Id => Value::Nodes(self.by_id(&arguments[0])?),
            Function::Lang => Value::Truth(self.is_in_language(&text(0)?)),
            Function::LocalName => {
                Value::Text(self.first(arguments)?.map(|item| name_of(self.tree, &item).1).unwrap_or_default())
            }
            Function::Name => {
                Value::Text(self.first(arguments)?.map(|item| name_of(self.tree, &item).0).unwrap_or_default())
            }
            Function::NamespaceUri => {
                Value::Text(self.first(arguments)?.map(|item| name_of(self.tree, &item).2).unwrap_or_default())
            }
            Function::Number => match arguments.first() {
                Some(argument) => Value::Number(self.number(argument)?),
                None => Value::Number(number_of(&string_of(self.tree, self.item))),
            },
            Function::Floor => Value::Number(self.number(&arguments[0])?.floor()),
            Function::Ceiling => Value::Number(self.number(&arguments[0])?.ceil()),
            Function::Round => Value::Number(round(self.number(&arguments[0])?)),
            Function::String => Value::Text(self.own_text(arguments)?),
            Function::Concat => {
                let mut all = String::new();
                for argument in arguments {
                    all.push_str(&self.text(argument)?);
                    self.count(all.len())?;
                }
                Value::Text(all)
            }
            Function::Contains => Value::Truth(text(0)?.contains(&text(1)?)),
            Function::StartsWith => Value::Truth(text(0)?.starts_with(&text(1)?)),
            Function::StringLength => Value::Number(self.own_text(arguments)?.chars().count() as f64),
            Function::NormalizeSpace => {
                let text = self.own_text(arguments)?;
                Value::Text(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
            }
            Function::SubstringBefore => {
                let (all, mark) = (text(0)?, text(1)?);
                Value::Text(all.split_once(&mark).map(|(before, _)| before.to_owned()).unwrap_or_default())
            }
            Function::SubstringAfter => {
                let (all, mark) = (text(0)?, text(1)?);
                Value::Text(all.split_once(&mark).map(|(_, after)| after.to_owned()).unwrap_or_default())
            }
            Function::Substring => self.substring(arguments)?,
            Function::Translate => Value::Text(translate(&text(0)?, &text(1)?, &text(2)?)),
        })
    }

    fn substring(&self, arguments: &[Expression]) -> Answer<Value> {
        let all = self.text(&arguments[0])?;
        let from = round(self.number(&arguments[1])?);
        let to = match arguments.get(2) {
            Some(count) => from + round(self.number(count)?),
            None => f64::INFINITY,
        };
        let is_in = |place: usize| (place + 1) as f64 >= from && ((place + 1) as f64) < to;
        Ok(Value::Text(all.chars().enumerate().filter(|(place, _)| is_in(*place)).map(|(_, c)| c).collect()))
    }

    fn by_id(&self, argument: &Expression) -> Answer<Vec<Item>> {
        let texts = match self.value(argument)? {
            Value::Nodes(nodes) => nodes.iter().map(|item| string_of(self.tree, item)).collect::<Vec<_>>().join(" "),
            other => other.to_text(self.tree),
        };
        let root = self.tree.root(self.item.node);
        let mut found = Vec::new();
        for id in texts.split_ascii_whitespace() {
            self.count(1)?;
            found.extend(self.tree.element_by_id(root, id).map(Item::of));
        }
        self.in_order(found)
    }

    fn is_in_language(&self, wanted: &str) -> bool {
        let said = self.tree.inclusive_ancestors(self.item.node).find_map(|id| {
            let element = self.tree.element(id)?;
            element.attribute_ns(&ns!(xml), &local_name!("lang")).or_else(|| element.attribute(&local_name!("lang")))
        });
        said.is_some_and(|said| {
            let (said, wanted) = (said.to_ascii_lowercase(), wanted.to_ascii_lowercase());
            said == wanted || said.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('-'))
        })
    }
}

impl Axis {
    fn is_reverse(self) -> bool {
        matches!(self, Self::Ancestor | Self::AncestorOrSelf | Self::Preceding | Self::PrecedingSibling)
    }
}

/// Halves are rounded up (§4.4).
fn round(number: f64) -> f64 {
    if number.is_finite() { (number + 0.5).floor() } else { number }
}

/// "String-value" (§5).
fn string_of(tree: &Tree, item: &Item) -> String {
    match &item.attribute {
        Some(name) => {
            tree.attribute_ns(item.node, &name.ns, &name.local).map(|one| one.value.clone()).unwrap_or_default()
        }
        None if tree.kind(item.node) == NodeKind::Document => {
            let texts = tree.descendants(item.node).filter(|id| tree.is_text(*id));
            texts.filter_map(|id| tree.character_data(id)).collect()
        }
        None => tree.text_content(item.node).unwrap_or_default(),
    }
}

/// Qualified name, local name, namespace.
fn name_of(tree: &Tree, item: &Item) -> (String, String, String) {
    let name = match &item.attribute {
        Some(name) => Some(name),
        None => tree.element(item.node).map(|element| &element.name),
    };
    match (name, tree.data(item.node)) {
        (Some(name), _) => (qualified_name(name).into_owned(), name.local.to_string(), name.ns.to_string()),
        (None, NodeData::Instruction(instruction)) => {
            (instruction.target.clone(), instruction.target.clone(), String::new())
        }
        _ => Default::default(),
    }
}

/// A text as a number (§4.4): digits and a point, with an optional sign; anything else is `NaN`.
fn number_of(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.len() > usize::from(digits.starts_with('.'));
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

impl Value {
    pub fn to_number(&self, tree: &Tree) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Truth(truth) => f64::from(*truth),
            Self::Text(text) => number_of(text),
            Self::Nodes(_) => number_of(&self.to_text(tree)),
        }
    }

    pub fn to_text(&self, tree: &Tree) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Truth(truth) => truth.to_string(),
            Self::Number(number) if number.is_infinite() => {
                if *number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
            }
            Self::Number(number) if *number == 0.0 => "0".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Nodes(nodes) => nodes.first().map(|item| string_of(tree, item)).unwrap_or_default(),
        }
    }

    pub fn to_truth(&self) -> bool {
        match self {
            Self::Truth(truth) => *truth,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Nodes(nodes) => !nodes.is_empty(),
        }
    }
}

fn translate(all: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    let mut table = std::collections::HashMap::new();
    for (place, c) in from.chars().enumerate() {
        table.entry(c).or_insert(to.get(place).copied());
    }
    all.chars().filter_map(|c| table.get(&c).copied().unwrap_or(Some(c))).collect()
}
