//! A style sheet and its rules (CSS Syntax §9, CSSOM §6.1–6.4), shared by the objects that scripts hold and by the cascade.

use std::cell::{Cell, Ref, RefCell};
use std::rc::Rc;

use cssparser::{
    AtRuleParser, BasicParseErrorKind, CowRcStr, DeclarationParser, ParseError, Parser, ParserState,
    QualifiedRuleParser, RuleBodyItemParser, RuleBodyParser, StyleSheetParser, Token,
};
use selectors::parser::SelectorParseErrorKind;

use super::declaration::{self, Declaration};
use crate::dom::Error;
use crate::dom::select::{Namespaces, Selectors};
use crate::limits;

/// The rules of a sheet or of a rule.
pub type Rules = Rc<RefCell<Vec<Rc<Rule>>>>;

/// A style sheet.
#[derive(Debug, Default)]
pub struct Sheet {
    rules: Rules,
    namespaces: RefCell<Rc<Namespaces>>,
    pub disabled: Cell<bool>,
    shared: Rc<Shared>,
}

/// State shared by a sheet's rules.
#[derive(Debug, Default)]
struct Shared {
    /// Number of changes of the sheet.
    changes: Cell<u64>,
    /// Number of rules ever created for it.
    made: Cell<usize>,
}

/// The kind of a rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RuleKind {
    /// Selectors and declarations.
    Style,
    /// `@media`, `@supports`, `@layer` with a block …: the name, and the prelude before the block.
    Group { name: String, condition: String },
    /// A rule that declares nothing for elements: the name.
    Other { name: String },
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    pub kind: RuleKind,
    /// The text of a rule of any other kind.
    text: String,
    selectors: RefCell<Option<Selectors>>,
    declarations: RefCell<Vec<Declaration>>,
    rules: Rules,
    /// Whether it is inside a style rule.
    is_nested: bool,
    depth: u8,
    namespaces: Rc<Namespaces>,
    shared: Rc<Shared>,
}

impl Sheet {
    /// Parses a sheet; invalid rules are dropped (CSS Syntax §5.4.3), as are rules beyond [`limits::STYLE_RULES_MAX`].
    pub fn parse(text: &str) -> Self {
        let sheet = Self::default();
        sheet.replace(text);
        sheet
    }

    /// Replaces the sheet's rules.
    pub fn replace(&self, text: &str) {
        self.shared.made.set(0);
        *self.namespaces.borrow_mut() = Rc::default();
        let mut parser = Parser::new(text);
        parser.set_nested_block_limit(limits::SELECTOR_NESTING_MAX);
        let mut reader = RuleParser { shared: &self.shared, namespaces: Rc::default(), is_nested: false, depth: 0 };
        let mut rules = Vec::new();
        for item in StyleSheetParser::new(&mut parser, &mut reader).flatten() {
            if let Item::Rule(rule) = item {
                rules.push(rule);
            }
        }
        *self.namespaces.borrow_mut() = reader.namespaces;
        *self.rules.borrow_mut() = rules;
        self.changed();
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// A number that changes with each change of the sheet or its rules.
    pub fn changes(&self) -> u64 {
        self.shared.changes.get()
    }

    /// Records that the sheet's effect has changed.
    pub fn changed(&self) {
        self.shared.changes.set(self.changes() + 1);
    }

    /// `insertRule(text, index)` (CSSOM §6.4.1).
    ///
    /// # Errors
    /// [`Error::Syntax`] for an invalid rule, [`Error::IndexSize`] beyond the list, [`Error::Full`] at the cap.
    pub fn insert(&self, text: &str, index: usize) -> Result<(), Error> {
        let namespaces = Rc::clone(&self.namespaces.borrow());
        let mut reader = RuleParser { shared: &self.shared, namespaces, is_nested: false, depth: 0 };
        reader.insert(text, index, &self.rules)?;
        *self.namespaces.borrow_mut() = reader.namespaces;
        self.changed();
        Ok(())
    }

    /// `deleteRule(index)`.
    ///
    /// # Errors
    /// [`Error::IndexSize`] beyond the list.
    pub fn delete(&self, index: usize) -> Result<(), Error> {
        delete(&self.rules, index)?;
        self.changed();
        Ok(())
    }
}

fn delete(rules: &Rules, index: usize) -> Result<(), Error> {
    let mut rules = rules.borrow_mut();
    if index >= rules.len() {
        return Err(Error::IndexSize);
    }
    rules.remove(index);
    Ok(())
}

impl Rule {
    /// The selectors of a style rule, where `&` means the enclosing rule.
    pub fn selectors(&self) -> Ref<'_, Option<Selectors>> {
        self.selectors.borrow()
    }

    pub fn declarations(&self) -> Ref<'_, Vec<Declaration>> {
        self.declarations.borrow()
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn set_declarations(&self, list: Vec<Declaration>) {
        *self.declarations.borrow_mut() = list;
        self.changed();
    }

    /// `selectorText`; empty for rules of other kinds.
    pub fn selector_text(&self) -> String {
        self.selectors.borrow().as_ref().map(Selectors::text).unwrap_or_default()
    }

    /// Replaces the selectors of a style rule; invalid ones change nothing (CSSOM §6.4.3).
    pub fn set_selector_text(&self, text: &str) {
        if self.kind != RuleKind::Style {
            return;
        }
        if let Ok(selectors) = Selectors::parse_in(text, &self.namespaces, self.is_nested) {
            *self.selectors.borrow_mut() = Some(selectors);
            self.changed();
        }
    }

    /// The rule as text (CSSOM §6.4 "serialize a CSS rule").
    pub fn text(&self) -> String {
        let head = match &self.kind {
            RuleKind::Style => self.selector_text(),
            RuleKind::Group { name, condition } if condition.is_empty() => format!("@{name}"),
            RuleKind::Group { name, condition } => format!("@{name} {condition}"),
            RuleKind::Other { .. } => return self.text.clone(),
        };
        let declarations = declaration::text_of(&self.declarations.borrow());
        let rules = self.rules.borrow();
        if rules.is_empty() && self.kind == RuleKind::Style {
            let gap = if declarations.is_empty() { "" } else { " " };
            return format!("{head} {{ {declarations}{gap}}}");
        }
        let lines = std::iter::once(declarations).filter(|line| !line.is_empty());
        // Recursion is bounded by the nesting of parsed rules: `limits::SELECTOR_NESTING_MAX`.
        let lines: Vec<String> = lines.chain(rules.iter().map(|rule| rule.text())).collect();
        format!("{head} {{\n  {}\n}}", lines.join("\n  "))
    }

    /// `insertRule` of a group or of a style rule.
    ///
    /// # Errors
    /// As [`Sheet::insert`].
    pub fn insert(&self, text: &str, index: usize) -> Result<(), Error> {
        let is_nested = self.is_nested || self.kind == RuleKind::Style;
        let namespaces = Rc::clone(&self.namespaces);
        let mut reader = RuleParser { shared: &self.shared, namespaces, is_nested, depth: self.depth + 1 };
        reader.insert(text, index, &self.rules)?;
        self.changed();
        Ok(())
    }

    /// `deleteRule` of a group or of a style rule.
    ///
    /// # Errors
    /// As [`Sheet::delete`].
    pub fn delete(&self, index: usize) -> Result<(), Error> {
        delete(&self.rules, index)?;
        self.changed();
        Ok(())
    }

    fn changed(&self) {
        self.shared.changes.set(self.shared.changes.get() + 1);
    }
}

/// Parses rules for a sheet.
struct RuleParser<'s> {
    shared: &'s Rc<Shared>,
    namespaces: Rc<Namespaces>,
    /// Whether the parser is inside a style rule.
    is_nested: bool,
    depth: u8,
}

/// An item of a block.
enum Item {
    Rule(Rc<Rule>),
    Declaration(Declaration),
}

type ParseResult<T> = Result<T, ParseError<SelectorParseErrorKind>>;

fn refused<T>() -> ParseResult<T> {
    Err(ParseError::from_basic_kind(BasicParseErrorKind::QualifiedRuleInvalid))
}

impl RuleParser<'_> {
    fn insert(&mut self, text: &str, index: usize, rules: &Rules) -> Result<(), Error> {
        let mut parser = Parser::new(text);
        parser.set_nested_block_limit(limits::SELECTOR_NESTING_MAX);
        let is_full = self.shared.made.get() >= limits::STYLE_RULES_MAX;
        let item = cssparser::parse_one_rule(&mut parser, self);
        let Ok(Item::Rule(rule)) = item else {
            return Err(if is_full { Error::Full } else { Error::Syntax });
        };
        let mut rules = rules.borrow_mut();
        if index > rules.len() {
            return Err(Error::IndexSize);
        }
        rules.insert(index, rule);
        Ok(())
    }

    fn rule(
        &self,
        kind: RuleKind,
        selectors: Option<Selectors>,
        (declarations, rules): (Vec<Declaration>, Vec<Rc<Rule>>),
        text: &str,
    ) -> ParseResult<Item> {
        let made = self.shared.made.get();
        if made >= limits::STYLE_RULES_MAX || self.depth > limits::SELECTOR_NESTING_MAX {
            return refused();
        }
        self.shared.made.set(made + 1);
        Ok(Item::Rule(Rc::new(Rule {
            text: if matches!(kind, RuleKind::Other { .. }) { text.trim().to_owned() } else { String::new() },
            kind,
            selectors: RefCell::new(selectors),
            declarations: RefCell::new(declarations),
            rules: Rc::new(RefCell::new(rules)),
            is_nested: self.is_nested,
            depth: self.depth,
            namespaces: Rc::clone(&self.namespaces),
            shared: Rc::clone(self.shared),
        })))
    }

    /// Parses the contents of a block.
    fn block(&mut self, is_nested: bool, input: &mut Parser<'_>) -> (Vec<Declaration>, Vec<Rc<Rule>>) {
        if self.depth >= limits::SELECTOR_NESTING_MAX {
            return Default::default();
        }
        let namespaces = Rc::clone(&self.namespaces);
        let mut inner = RuleParser { shared: self.shared, namespaces, is_nested, depth: self.depth + 1 };
        let (mut declarations, mut rules) = (Vec::new(), Vec::new());
        for item in RuleBodyParser::new(input, &mut inner).flatten() {
            match item {
                Item::Rule(rule) => rules.push(rule),
                Item::Declaration(one) => declaration::put(&mut declarations, one),
            }
        }
        (declarations, rules)
    }
}

impl<'i> QualifiedRuleParser<'i> for RuleParser<'_> {
    type Prelude = Selectors;
    type QualifiedRule = Item;
    type Error = SelectorParseErrorKind;

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> ParseResult<Selectors> {
        Selectors::read(input, &self.namespaces, self.is_nested)
    }

    fn parse_block(&mut self, selectors: Selectors, _: &ParserState, input: &mut Parser<'i>) -> ParseResult<Item> {
        let block = self.block(true, input);
        self.rule(RuleKind::Style, Some(selectors), block, "")
    }
}

impl<'i> AtRuleParser<'i> for RuleParser<'_> {
    type Prelude = (String, &'i str);
    type AtRule = Item;
    type Error = SelectorParseErrorKind;

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> ParseResult<Self::Prelude> {
        let start = input.position();
        while input.next_including_whitespace().is_ok() {}
        Ok((name.to_ascii_lowercase(), input.slice_from(start).trim()))
    }

    fn rule_without_block(&mut self, (name, prelude): Self::Prelude, _: &ParserState) -> Result<Item, ()> {
        match name.as_str() {
            "namespace" => {
                let mut namespaces = (*self.namespaces).clone();
                namespaces.declare(prelude).map_err(drop)?;
                self.namespaces = Rc::new(namespaces);
            }
            // A layer statement without rules still defines the order of layers.
            "layer" => {
                let kind = RuleKind::Group { name, condition: prelude.to_owned() };
                return self.rule(kind, None, Default::default(), "").map_err(drop);
            }
            "import" => {}
            _ => return Err(()),
        }
        let text = format!("@{name} {prelude};");
        self.rule(RuleKind::Other { name }, None, Default::default(), &text).map_err(drop)
    }

    fn parse_block(
        &mut self,
        (name, prelude): Self::Prelude,
        start: &ParserState,
        input: &mut Parser<'i>,
    ) -> ParseResult<Item> {
        match name.as_str() {
            "media" | "supports" | "layer" | "container" | "scope" | "starting-style" => {
                let block = self.block(self.is_nested, input);
                self.rule(RuleKind::Group { name, condition: prelude.to_owned() }, None, block, "")
            }
            "font-face" | "keyframes" | "-webkit-keyframes" | "page" | "property" | "counter-style" => {
                while input.next().is_ok() {}
                let text = format!("{}}}", input.slice_from(start.position()));
                self.rule(RuleKind::Other { name }, None, Default::default(), &text)
            }
            _ => refused(),
        }
    }
}

impl<'i> DeclarationParser<'i> for RuleParser<'_> {
    type Declaration = Item;
    type Error = SelectorParseErrorKind;

    fn parse_value(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>, _: &ParserState) -> ParseResult<Item> {
        let start = input.position();
        while let Ok(token) = input.next() {
            // `a:hover { … }` is a rule (CSS Syntax §5.4.4).
            if matches!(token, Token::CurlyBracketBlock) && !name.starts_with("--") {
                return refused();
            }
        }
        Declaration::new(&name, input.slice_from(start)).map(Item::Declaration).map_or_else(refused, Ok)
    }
}

impl<'i> RuleBodyItemParser<'i, Item, SelectorParseErrorKind> for RuleParser<'_> {
    fn parse_declarations(&self) -> bool {
        self.is_nested
    }

    fn parse_qualified(&self) -> bool {
        true
    }
}
