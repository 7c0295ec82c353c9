//! Parses expressions (XPath 1.0 §3.7).

use super::{Axis, Expression, Function, Operator, Step, Test, XPath, XPathError};
use crate::limits;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Literal(String),
    /// A name, with its prefix; `*` as the local part matches all.
    Name(Option<String>, String),
    /// `*` as an operator, `and`, `<=` and so on.
    Sign(&'static str),
}

const SIGNS: &[&str] =
    &["::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=", "<", ">", "$"];

const AXES: &[(&str, Axis)] = &[
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Following),
    ("following-sibling", Axis::FollowingSibling),
    ("namespace", Axis::Namespace),
    ("parent", Axis::Parent),
    ("preceding", Axis::Preceding),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("self", Axis::Itself),
];

/// Functions with their minimum and maximum numbers of arguments.
const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("boolean", Function::Boolean, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("concat", Function::Concat, 2, usize::MAX),
    ("contains", Function::Contains, 2, 2),
    ("count", Function::Count, 1, 1),
    ("false", Function::False, 0, 0),
    ("floor", Function::Floor, 1, 1),
    ("id", Function::Id, 1, 1),
    ("lang", Function::Lang, 1, 1),
    ("last", Function::Last, 0, 0),
    ("local-name", Function::LocalName, 0, 1),
    ("name", Function::Name, 0, 1),
    ("namespace-uri", Function::NamespaceUri, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("not", Function::Not, 1, 1),
    ("number", Function::Number, 0, 1),
    ("position", Function::Position, 0, 0),
    ("round", Function::Round, 1, 1),
    ("starts-with", Function::StartsWith, 2, 2),
    ("string", Function::String, 0, 1),
    ("string-length", Function::StringLength, 0, 1),
    ("substring", Function::Substring, 2, 3),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("sum", Function::Sum, 1, 1),
    ("translate", Function::Translate, 3, 3),
    ("true", Function::True, 0, 0),
];

/// Operators by precedence, lowest first.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::Unequal)],
    &[("<", Operator::Less), ("<=", Operator::LessEqual), (">", Operator::Greater), (">=", Operator::GreaterEqual)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("div", Operator::Div), ("mod", Operator::Mod)],
];

impl XPath {
    /// # Errors
    /// [`XPathError::Syntax`], also for expressions longer or deeper than the caps.
    pub fn parse(text: &str) -> Result<Self, XPathError> {
        if text.len() > limits::SELECTOR_BYTES_MAX {
            return Err(XPathError::Syntax);
        }
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, prefixes: Vec::new() };
        let root = parser.expression(0)?;
        if parser.at < parser.tokens.len() {
            return Err(XPathError::Syntax);
        }
        Ok(Self { root, prefixes: parser.prefixes })
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn name_length(text: &str) -> usize {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{B7}');
    text.find(|c| !goes_on(c)).unwrap_or(text.len())
}

fn tokens(text: &str) -> Result<Vec<Token>, XPathError> {
    let mut found: Vec<Token> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        // After an operand, names and the star are operators (§3.7).
        let after_operand = match found.last() {
            None => false,
            Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | "." | ".."),
            Some(_) => true,
        };
        let length;
        if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            found.push(Token::Number(rest[..length].parse().map_err(|_| XPathError::Syntax)?));
        } else if matches!(first, '"' | '\'') {
            let inner = rest[1..].find(first).ok_or(XPathError::Syntax)?;
            found.push(Token::Literal(rest[1..=inner].to_owned()));
            length = inner + 2;
        } else if first == '*' {
            length = 1;
            found.push(if after_operand { Token::Sign("*") } else { Token::Name(None, "*".to_owned()) });
        } else if is_name_start(first) {
            let word = &rest[..name_length(rest)];
            let operator = ["and", "or", "div", "mod"].into_iter().find(|sign| *sign == word);
            if let (true, Some(operator)) = (after_operand, operator) {
                length = word.len();
                found.push(Token::Sign(operator));
            } else {
                let after = &rest[word.len()..];
                let local = after.strip_prefix(':').filter(|local| !local.starts_with(':'));
                match local {
                    Some(local) if local.starts_with('*') => {
                        found.push(Token::Name(Some(word.to_owned()), "*".to_owned()));
                        length = word.len() + 2;
                    }
                    Some(local) if local.starts_with(is_name_start) => {
                        let local = &local[..name_length(local)];
                        found.push(Token::Name(Some(word.to_owned()), local.to_owned()));
                        length = word.len() + 1 + local.len();
                    }
                    Some(_) => return Err(XPathError::Syntax),
                    None => {
                        found.push(Token::Name(None, word.to_owned()));
                        length = word.len();
                    }
                }
            }
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).ok_or(XPathError::Syntax)?;
            found.push(Token::Sign(sign));
            length = sign.len();
        }
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    prefixes: Vec<String>,
}

type Parsed<T> = Result<T, XPathError>;

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(other)) if *other == sign)
    }

    fn next_is(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + 1), Some(Token::Sign(other)) if *other == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn want(&mut self, sign: &str) -> Parsed<()> {
        if self.take(sign) { Ok(()) } else { Err(XPathError::Syntax) }
    }

    /// An expression whose operators have at least a level's precedence.
    fn expression(&mut self, level: usize) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > limits::XPATH_DEPTH_MAX {
            return Err(XPathError::Syntax);
        }
        let parsed = self.expression_within(level);
        self.depth -= 1;
        parsed
    }

    fn expression_within(&mut self, level: usize) -> Parsed<Expression> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.expression(level + 1)?;
        let mut count = 0;
        while let Some((sign, operator)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            self.want(sign)?;
            // Chains nest to the left: each link adds a level of recursion to evaluation and drop.
            count += 1;
            if count > limits::XPATH_DEPTH_MAX {
                return Err(XPathError::Syntax);
            }
            let right = self.expression(level + 1)?;
            left = Expression::Binary(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let mut negative = false;
        while self.take("-") {
            negative = !negative;
        }
        let mut value = self.path()?;
        let mut count = 0;
        while self.take("|") {
            count += 1;
            if count > limits::XPATH_DEPTH_MAX {
                return Err(XPathError::Syntax);
            }
            value = Expression::Binary(Operator::Union, Box::new(value), Box::new(self.path()?));
        }
        Ok(if negative { Expression::Negative(Box::new(value)) } else { value })
    }

    fn path(&mut self) -> Parsed<Expression> {
        if self.begins_filter() {
            let primary = self.primary()?;
            let predicates = self.predicates()?;
            let mut steps = Vec::new();
            if self.is("/") || self.is("//") {
                self.steps_after_slash(&mut steps)?;
            }
            if predicates.is_empty() && steps.is_empty() {
                return Ok(primary);
            }
            return Ok(Expression::Filter(Box::new(primary), predicates, steps));
        }
        let mut steps = Vec::new();
        if self.is("//") {
            self.steps_after_slash(&mut steps)?;
            return Ok(Expression::Path(true, steps));
        }
        if self.take("/") {
            if self.begins_step() {
                steps.push(self.step()?);
                self.steps_after_slash(&mut steps)?;
            }
            return Ok(Expression::Path(true, steps));
        }
        steps.push(self.step()?);
        self.steps_after_slash(&mut steps)?;
        Ok(Expression::Path(false, steps))
    }

    fn begins_filter(&self) -> bool {
        match self.peek() {
            Some(Token::Number(_) | Token::Literal(_)) => true,
            Some(Token::Sign(sign)) => matches!(*sign, "(" | "$"),
            Some(Token::Name(_, name)) => {
                self.next_is("(") && !matches!(name.as_str(), "node" | "text" | "comment" | "processing-instruction")
            }
            None => false,
        }
    }

    fn begins_step(&self) -> bool {
        match self.peek() {
            Some(Token::Name(..)) => true,
            Some(Token::Sign(sign)) => matches!(*sign, "." | ".." | "@"),
            _ => false,
        }
    }

    fn steps_after_slash(&mut self, steps: &mut Vec<Step>) -> Parsed<()> {
        loop {
            if self.take("//") {
                steps.push(Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() });
            } else if !self.take("/") {
                return Ok(());
            }
            steps.push(self.step()?);
        }
    }

    fn step(&mut self) -> Parsed<Step> {
        let plain = |axis| Step { axis, test: Test::Node, predicates: Vec::new() };
        if self.take(".") {
            return Ok(plain(Axis::Itself));
        }
        if self.take("..") {
            return Ok(plain(Axis::Parent));
        }
        let axis = if self.take("@") {
            Axis::Attribute
        } else if self.next_is("::") {
            let Some(Token::Name(None, name)) = self.peek() else { return Err(XPathError::Syntax) };
            let found = AXES.iter().find(|(known, _)| known == name).ok_or(XPathError::Syntax)?;
            self.at += 2;
            found.1
        } else {
            Axis::Child
        };
        let test = self.test()?;
        let predicates = self.predicates()?;
        Ok(Step { axis, test, predicates })
    }

    fn test(&mut self) -> Parsed<Test> {
        let Some(Token::Name(prefix, name)) = self.peek().cloned() else { return Err(XPathError::Syntax) };
        self.at += 1;
        if prefix.is_none() && self.is("(") {
            self.at += 1;
            let test = match name.as_str() {
                "node" => Test::Node,
                "text" => Test::Text,
                "comment" => Test::Comment,
                "processing-instruction" => match self.peek().cloned() {
                    Some(Token::Literal(target)) => {
                        self.at += 1;
                        Test::Instruction(Some(target))
                    }
                    _ => Test::Instruction(None),
                },
                _ => return Err(XPathError::Syntax),
            };
            self.want(")")?;
            return Ok(test);
        }
        if let Some(prefix) = &prefix
            && !self.prefixes.contains(prefix)
        {
            self.prefixes.push(prefix.clone());
        }
        Ok(if name == "*" { Test::Any(prefix) } else { Test::Name(prefix, name) })
    }

    fn predicates(&mut self) -> Parsed<Vec<Expression>> {
        let mut found = Vec::new();
        while self.take("[") {
            found.push(self.expression(0)?);
            self.want("]")?;
        }
        Ok(found)
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let token = self.peek().cloned().ok_or(XPathError::Syntax)?;
        self.at += 1;
        match token {
            Token::Number(number) => Ok(Expression::Number(number)),
            Token::Literal(text) => Ok(Expression::Text(text)),
            Token::Sign("(") => {
                let inner = self.expression(0)?;
                self.want(")")?;
                Ok(inner)
            }
            Token::Name(None, name) => {
                let known = FUNCTIONS.iter().find(|(known, ..)| *known == name).ok_or(XPathError::Syntax)?;
                self.want("(")?;
                let mut arguments = Vec::new();
                if !self.is(")") {
                    arguments.push(self.expression(0)?);
                    while self.take(",") {
                        arguments.push(self.expression(0)?);
                    }
                }
                self.want(")")?;
                let (_, function, least, most) = known;
                if (*least..=*most).contains(&arguments.len()) {
                    Ok(Expression::Call(*function, arguments))
                } else {
                    Err(XPathError::Syntax)
                }
            }
            // There are no variables.
            _ => Err(XPathError::Syntax),
        }
    }
}
