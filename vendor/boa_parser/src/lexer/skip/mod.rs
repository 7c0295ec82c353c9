//! gleaner: Finds the end of a function's body without parsing it, and the names in it that may be bound outside of it.
//!
//! The names are those that a parser would find, and some more: a word that is not surely the name of a property, or surely bound within, is
//! one of them. What this cannot tell apart is not skipped.

mod names;
mod words;

use names::{NAME_BYTES, Name, Scope};

/// A body of more bytes is parsed: it is more likely to be called, and each function around it would be searched for its end again.
const BYTES_MAX: usize = 64 << 10;

/// A body with more brackets or scopes in one another is parsed: names go up through each of them.
const DEPTH_MAX: usize = 500;

/// A function's body that was skipped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Skipped<'a> {
    /// Bytes in front of the `}` that ends it.
    pub(crate) length: usize,
    /// Each once.
    pub(crate) names: Vec<&'a [u8]>,
    /// Whether `this` stands in it, and in no function of its own.
    pub(crate) has_this: bool,
}

/// Skips the body that begins behind its `{`.
///
/// # Errors
/// How many bytes were read, if it has to be parsed: it is too long, or has what the functions around it must know of (`eval`, `super`,
/// private names, `new.target`, directives), or characters that are not ASCII outside of its texts.
pub(crate) fn skip(text: &[u8]) -> Result<Skipped<'_>, usize> {
    let text = &text[..text.len().min(BYTES_MAX)];
    let mut skip = Skip {
        text,
        at: 0,
        before: Before::Start,
        newline: false,
        places: Vec::new(),
        scopes: vec![Scope::new(true, false)],
        arrows: Vec::new(),
        classes: Vec::new(),
        has_this: false,
        ended: Ended::No,
        is_branch: false,
        read_again: 0,
    };
    let Some(left) = skip.whole() else {
        return Err(skip.at.min(text.len()) + skip.read_again);
    };
    let mut names: Vec<&[u8]> = left.iter().map(|name| name.of(text)).collect();
    names.sort_unstable();
    names.dedup();
    Ok(Skipped {
        length: skip.at - 1,
        names,
        has_this: skip.has_this,
    })
}

#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    End,
}

/// What stands before a token, as far as its meaning depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// A statement may begin.
    Start,
    /// An expression may begin.
    Operator,
    /// An expression may end.
    Operand,
    /// The `.` in front of a property.
    Dot,
}

/// Whether the last token ends an expression, so that an operator behind a newline begins a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    No,
    /// As `x++`: it is not called, nor indexed.
    Called,
    /// As the name of a declaration, or the body of an arrow function.
    Whole,
}

/// What a bracket holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Statements,
    Members,
    Class,
    Template,
    /// `(…)` or `[…]` of an expression.
    Expression,
    /// The parentheses of `if`, `while` and `switch`.
    Condition,
    /// The parentheses of `for`.
    Loop,
    /// The parameters of a function, or of `catch`.
    Parameters(Function),
    /// `{…}` or `[…]` of names that are bound.
    Pattern,
}

/// Whose parameters they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Arrow,
    Declaration,
    Expression,
    Method,
    Catch,
}

/// Where the names of a declaration go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declares {
    Nothing,
    InFunction,
    InScope,
}

/// A bracket that is open.
struct Place {
    holds: Holds,
    /// Where what it holds begins.
    begin: usize,
    /// Scopes that end with it.
    scopes: u8,
    /// What stands before the token behind it.
    after: Before,
    /// How many names the scope had before it.
    names: usize,
    declares: Declares,
    /// In a declaration: behind the `=` of a name.
    in_value: bool,
    /// A declaration had one.
    has_values: bool,
    /// In a pattern: behind the `:` of a key.
    behind_key: bool,
    /// `?` without their `:`.
    questions: u32,
    /// Nothing of a member was read yet.
    is_fresh: bool,
    /// It is the body of an arrow function.
    is_arrow: bool,
}

/// An arrow function without braces.
struct Arrow {
    /// Brackets that were open where it begins.
    depth: usize,
    /// `?` of the innermost of them that were without `:`.
    questions: u32,
}

struct Skip<'a> {
    text: &'a [u8],
    at: usize,
    before: Before,
    /// A line ended since the last token.
    newline: bool,
    places: Vec<Place>,
    /// The outermost is the body's.
    scopes: Vec<Scope>,
    arrows: Vec<Arrow>,
    /// Of classes whose body has not begun: how many brackets were open, and what stands behind them.
    classes: Vec<(usize, Before)>,
    has_this: bool,
    ended: Ended,
    /// The last token was the head of `if`, `while` or `for`, or `else`.
    is_branch: bool,
    /// Bytes that were read a second time.
    read_again: usize,
}

/// How often a text may be read a second time: parameters within parameters would be read again and again.
const READ_AGAIN_TIMES_MAX: usize = 4;

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

impl Skip<'_> {
    /// Reads all of it, up to the `}`; gives the names that it does not bind.
    fn whole(&mut self) -> Option<Vec<Name>> {
        self.open(Holds::Statements, 0, Before::Start);
        self.blank()?;
        // It may be a directive.
        if matches!(self.peek(), b'"' | b'\'') {
            return None;
        }
        while self.token()? == Next::GoOn {}
        Some(self.scopes.pop()?.left(self.text))
    }

    /// The byte at a place from here on, 0 behind the end.
    fn ahead(&self, by: usize) -> u8 {
        self.text.get(self.at + by).copied().unwrap_or(0)
    }

    fn peek(&self) -> u8 {
        self.ahead(0)
    }

    /// Skips white space and comments.
    fn blank(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                b' ' | b'\t' | 0x0B | 0x0C => self.at += 1,
                b'\n' | b'\r' => {
                    self.newline = true;
                    self.at += 1;
                }
                b'/' if self.ahead(1) == b'/' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
                }
                b'/' if self.ahead(1) == b'*' => {
                    let rest = &self.text[self.at + 2..];
                    let length = rest.windows(2).position(|end| end == b"*/")?;
                    self.newline |= rest[..length].iter().any(|byte| matches!(byte, b'\n' | b'\r'));
                    self.at += length + 4;
                }
                _ => return Some(()),
            }
        }
    }

    /// What holds the next token.
    fn place(&mut self) -> &mut Place {
        self.places.last_mut().expect("the body is one")
    }

    fn holds(&self) -> Holds {
        self.places.last().map_or(Holds::Statements, |place| place.holds)
    }

    fn open(&mut self, holds: Holds, scopes: u8, after: Before) {
        let declares = match holds {
            Holds::Parameters(_) => Declares::InScope,
            Holds::Pattern => self.places.last().map_or(Declares::Nothing, |place| place.declares),
            _ => Declares::Nothing,
        };
        if let Some(place) = self.places.last_mut() {
            place.is_fresh = false;
        }
        self.places.push(Place {
            holds,
            begin: self.at,
            scopes,
            after,
            names: self.scopes.last().map_or(0, |scope| scope.met.len()),
            declares,
            in_value: false,
            has_values: false,
            behind_key: false,
            questions: 0,
            is_fresh: true,
            is_arrow: false,
        });
        self.before = match holds {
            Holds::Statements | Holds::Class => Before::Start,
            _ => Before::Operator,
        };
    }

    /// Closes the innermost bracket.
    fn close(&mut self) -> Option<Place> {
        self.end_arrows()?;
        if self.places.len() == 1 {
            return None;
        }
        let place = self.places.pop()?;
        for _ in 0..place.scopes {
            self.leave()?;
        }
        self.before = place.after;
        if place.holds == Holds::Pattern {
            self.place().has_values |= place.has_values;
        }
        Some(place)
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the body has one")
    }

    fn enter(&mut self, is_function: bool, has_own_this: bool) {
        self.scopes.push(Scope::new(is_function, has_own_this));
    }

    /// Ends the innermost scope: what it has not bound is its outer one's.
    fn leave(&mut self) -> Option<()> {
        let mut left = self.scopes.pop()?.left(self.text);
        self.scopes.last_mut()?.met.append(&mut left);
        Some(())
    }

    fn meet(&mut self, name: Name) {
        let met = &mut self.scope().met;
        if name.length as usize > NAME_BYTES || met.iter().rev().take(4).all(|of| of.key != name.key) {
            met.push(name);
        }
    }

    fn bind(&mut self, name: Name, declares: Declares) {
        let scope = match declares {
            Declares::InFunction => self.scopes.iter_mut().rev().find(|scope| scope.is_function),
            _ => self.scopes.last_mut(),
        };
        if let Some(scope) = scope {
            scope.bound.push(name);
        }
    }

    /// True where the name that comes next is bound.
    fn in_pattern(&self) -> bool {
        self.places.last().is_some_and(|place| place.declares != Declares::Nothing && !place.in_value)
    }

    /// Ends the arrow functions without braces that began in the innermost bracket.
    fn end_arrows(&mut self) -> Option<()> {
        while self.arrows.last().is_some_and(|arrow| arrow.depth == self.places.len()) {
            self.arrows.pop();
            self.leave()?;
        }
        Some(())
    }

    /// A statement ends here: by `;`, or because no expression goes on so.
    fn end_statement(&mut self) -> Option<()> {
        self.end_arrows()?;
        let place = self.place();
        if !matches!(place.holds, Holds::Parameters(_) | Holds::Pattern) {
            place.declares = Declares::Nothing;
        }
        place.questions = 0;
        self.before = match place.holds {
            Holds::Loop => Before::Operator,
            _ => Before::Start,
        };
        Some(())
    }

    /// An expression begins here: where one could only end, a statement has ended, or a word in front of the name of a member.
    fn begin_operand(&mut self) -> Option<()> {
        if self.before == Before::Operand {
            if !matches!(self.holds(), Holds::Statements | Holds::Members | Holds::Class) {
                return None;
            }
            self.end_statement()?;
        }
        Some(())
    }

    /// Takes the next token.
    fn token(&mut self) -> Option<Next> {
        if self.places.len().max(self.scopes.len()) > DEPTH_MAX {
            return None;
        }
        self.newline = false;
        self.blank()?;
        let byte = *self.text.get(self.at)?;
        let is_fresh = std::mem::take(&mut self.place().is_fresh);
        let is_branch = std::mem::take(&mut self.is_branch);
        let ends = match std::mem::replace(&mut self.ended, Ended::No) {
            Ended::No => false,
            Ended::Called => matches!(byte, b'(' | b'[' | b'`'),
            Ended::Whole => matches!(byte, b'(' | b'[' | b'`' | b'/' | b'+' | b'-' | b'*' | b'<'),
        };
        if ends && self.newline && matches!(self.holds(), Holds::Statements | Holds::Class) {
            self.end_statement()?;
        }
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => self.word(is_fresh, is_branch)?,
            b'0'..=b'9' => self.number()?,
            b'.' if self.ahead(1).is_ascii_digit() => self.number()?,
            b'"' | b'\'' => self.string(byte)?,
            b'`' => {
                self.at += 1;
                self.template()?;
            }
            b'{' => self.open_brace()?,
            b'}' => return self.close_brace(),
            b'(' => {
                self.at += 1;
                self.open(Holds::Expression, 0, Before::Operand);
            }
            b'[' => {
                self.at += 1;
                // A key in brackets is an expression.
                let place = self.place();
                let begin = place.begin;
                let is_key = place.holds == Holds::Pattern && !place.behind_key && self.text[begin - 1] == b'{';
                self.place().has_values |= is_key;
                let holds = match self.in_pattern() && !is_key {
                    true => Holds::Pattern,
                    false => Holds::Expression,
                };
                self.open(holds, 0, Before::Operand);
            }
            b')' => self.close_parenthesis()?,
            b']' => {
                self.at += 1;
                let begin = self.close()?.begin;
                if self.text[begin - 1] != b'[' {
                    return None;
                }
            }
            b';' => {
                self.at += 1;
                self.end_statement()?;
            }
            b',' => {
                self.at += 1;
                self.end_arrows()?;
                let place = self.place();
                (place.in_value, place.behind_key, place.is_fresh) = (false, false, true);
                self.before = Before::Operator;
            }
            b':' => self.colon()?,
            b'?' => self.question(),
            b'.' => {
                self.at += 1;
                self.before = match (self.peek(), self.ahead(1)) {
                    (b'.', b'.') => {
                        self.at += 2;
                        Before::Operator
                    }
                    _ => Before::Dot,
                };
            }
            b'/' => self.slash()?,
            b'+' | b'-' if self.ahead(1) == byte => {
                // `-->` at the beginning of a line is a comment.
                if byte == b'-' && self.ahead(2) == b'>' && self.newline {
                    return None;
                }
                self.at += 2;
                if self.before != Before::Operand || self.newline {
                    self.begin_operand()?;
                    self.before = Before::Operator;
                } else {
                    self.ended = Ended::Called;
                }
            }
            b'<' if self.text[self.at..].starts_with(b"<!--") => return None,
            b'=' if !matches!(self.ahead(1), b'=' | b'>') => {
                self.at += 1;
                let place = self.place();
                if place.declares != Declares::Nothing {
                    (place.in_value, place.has_values) = (true, true);
                }
                self.before = Before::Operator;
            }
            b'=' if self.ahead(1) == b'>' => return None,
            b'!' | b'~' if self.ahead(1) != b'=' => {
                self.at += 1;
                self.begin_operand()?;
                self.before = Before::Operator;
            }
            b'=' | b'!' | b'+' | b'-' | b'*' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' => {
                self.at += 1;
                while self.peek() == b'=' {
                    self.at += 1;
                }
                self.before = Before::Operator;
            }
            // Private names, escapes in names, decorators, and all that is not ASCII.
            _ => return None,
        }
        Some(Next::GoOn)
    }

    fn number(&mut self) -> Option<()> {
        self.begin_operand()?;
        if self.peek() == b'0' && matches!(self.ahead(1) | 0x20, b'x' | b'o' | b'b') {
            self.at += 2;
        } else {
            while matches!(self.peek(), b'0'..=b'9' | b'_') {
                self.at += 1;
            }
            if self.peek() == b'.' {
                self.at += 1;
            }
            while matches!(self.peek(), b'0'..=b'9' | b'_') {
                self.at += 1;
            }
            if self.peek() | 0x20 == b'e' {
                self.at += 1;
                if matches!(self.peek(), b'+' | b'-') {
                    self.at += 1;
                }
            }
        }
        while is_word(self.peek()) {
            self.at += 1;
        }
        self.before = Before::Operand;
        Some(())
    }

    fn string(&mut self, quote: u8) -> Option<()> {
        // The name of a member, or an operand.
        self.begin_operand()?;
        self.at += 1;
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' | b'\r' => return None,
                byte if byte == quote => break,
                _ => {}
            }
        }
        self.before = Before::Operand;
        Some(())
    }

    /// The text of a template, up to its end or to an expression in it.
    fn template(&mut self) -> Option<()> {
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => break,
                b'$' if self.peek() == b'{' => {
                    self.at += 1;
                    self.open(Holds::Template, 0, Before::Operand);
                    return Some(());
                }
                _ => {}
            }
        }
        self.before = Before::Operand;
        Some(())
    }

    /// A division, or a regular expression.
    fn slash(&mut self) -> Option<()> {
        self.at += 1;
        if self.before == Before::Operand {
            if self.peek() == b'=' {
                self.at += 1;
            }
            self.before = Before::Operator;
            return Some(());
        }
        let mut in_class = false;
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                b'\n' | b'\r' => return None,
                _ => {}
            }
        }
        while is_word(self.peek()) {
            self.at += 1;
        }
        self.before = Before::Operand;
        Some(())
    }

    fn question(&mut self) {
        self.at += 1;
        self.before = Before::Operator;
        match self.peek() {
            b'.' if !self.ahead(1).is_ascii_digit() => {
                self.at += 1;
                // What follows is a name, an index or arguments: none of them is taken for an operand of its own.
                self.before = if matches!(self.peek(), b'[' | b'(') { Before::Operator } else { Before::Dot };
            }
            b'?' => {
                self.at += 1;
                if self.peek() == b'=' {
                    self.at += 1;
                }
            }
            _ => self.place().questions += 1,
        }
    }

    fn colon(&mut self) -> Option<()> {
        self.at += 1;
        let depth = self.places.len();
        let questions = self.place().questions;
        while self.arrows.last().is_some_and(|arrow| arrow.depth == depth && arrow.questions == questions) {
            self.arrows.pop();
            self.leave()?;
        }
        self.before = Before::Operator;
        let place = self.place();
        if place.questions > 0 {
            place.questions -= 1;
        } else if matches!(place.holds, Holds::Pattern) {
            place.behind_key = true;
        } else if place.holds == Holds::Statements {
            self.before = Before::Start;
        } else if place.holds != Holds::Members {
            return None;
        }
        Some(())
    }

    fn open_brace(&mut self) -> Option<()> {
        if self.before == Before::Operand
            && let Some((_, after)) = self.classes.pop_if(|(depth, _)| *depth == self.places.len())
        {
            self.at += 1;
            self.open(Holds::Class, 1, after);
            return Some(());
        }
        if self.before == Before::Operand && self.holds() != Holds::Class && !self.newline {
            return None;
        }
        if self.holds() == Holds::Class && self.before == Before::Operand {
            // `static {`
            self.at += 1;
            self.enter(true, true);
            self.open(Holds::Statements, 1, Before::Start);
            return Some(());
        }
        self.begin_operand()?;
        self.at += 1;
        if self.in_pattern() {
            self.open(Holds::Pattern, 0, Before::Operand);
        } else if self.before == Before::Start {
            self.enter(false, false);
            self.open(Holds::Statements, 1, Before::Start);
        } else {
            self.open(Holds::Members, 0, Before::Operand);
        }
        Some(())
    }

    fn close_brace(&mut self) -> Option<Next> {
        self.at += 1;
        if self.places.len() == 1 {
            self.end_arrows()?;
            return Some(Next::End);
        }
        let closed = self.close()?;
        if closed.is_arrow {
            self.ended = Ended::Whole;
        }
        match closed.holds {
            Holds::Template => self.template()?,
            Holds::Statements | Holds::Members | Holds::Class | Holds::Pattern => {}
            _ => return None,
        }
        Some(Next::GoOn)
    }

    fn close_parenthesis(&mut self) -> Option<()> {
        self.at += 1;
        self.end_arrows()?;
        if self.places.len() == 1 {
            return None;
        }
        let place = self.places.pop()?;
        if self.text[place.begin - 1] != b'(' {
            return None;
        }
        let end = self.at;
        self.newline = false;
        self.blank()?;
        let newline = self.newline;
        match place.holds {
            Holds::Expression if self.text[self.at..].starts_with(b"=>") && !newline => {
                // They were parameters.
                self.read_again(&place, end)?;
                self.enter(true, false);
                self.open(Holds::Parameters(Function::Arrow), 0, Before::Operator);
            }
            Holds::Expression
                if self.peek() == b'{'
                    && matches!(self.holds(), Holds::Members | Holds::Class)
                    && !self.extends() =>
            {
                // They were the parameters of a method.
                self.read_again(&place, end)?;
                self.enter(true, true);
                self.open(Holds::Parameters(Function::Method), 0, Before::Operator);
            }
            Holds::Expression => {
                (self.at, self.before) = (end, Before::Operand);
            }
            Holds::Condition => (self.before, self.is_branch) = (Before::Start, true),
            Holds::Loop if self.peek() == b'{' => {
                self.at += 1;
                // What is declared in the body is not bound in its head.
                self.enter(false, false);
                self.open(Holds::Statements, 2, Before::Start);
            }
            Holds::Loop => {
                self.leave()?;
                (self.before, self.is_branch) = (Before::Start, true);
            }
            Holds::Parameters(of) => self.body(of, place.has_values)?,
            _ => return None,
        }
        Some(())
    }

    /// Goes back to the beginning of what turned out to be parameters, which end there.
    fn read_again(&mut self, place: &Place, end: usize) -> Option<()> {
        self.read_again += end - place.begin;
        if self.read_again > self.text.len().saturating_mul(READ_AGAIN_TIMES_MAX) {
            return None;
        }
        self.scope().met.truncate(place.names);
        self.at = place.begin;
        Some(())
    }

    /// True in what a class extends.
    fn extends(&self) -> bool {
        self.classes.last().is_some_and(|(depth, _)| *depth == self.places.len())
    }

    /// The body behind the parameters of a function, whose scope is the innermost.
    fn body(&mut self, of: Function, has_values: bool) -> Option<()> {
        if of == Function::Arrow {
            if !self.text[self.at..].starts_with(b"=>") {
                return None;
            }
            self.at += 2;
            self.blank()?;
            if self.peek() != b'{' {
                let (depth, questions) = (self.places.len(), self.place().questions);
                self.arrows.push(Arrow { depth, questions });
                self.before = Before::Operator;
                return Some(());
            }
        }
        if self.peek() != b'{' {
            return None;
        }
        self.at += 1;
        let mut scopes = 1;
        if has_values {
            // What is declared in the body is not bound in the values of parameters.
            self.enter(of != Function::Catch, false);
            scopes = 2;
        }
        let after = match of {
            Function::Arrow | Function::Expression => Before::Operand,
            Function::Declaration | Function::Method | Function::Catch => Before::Start,
        };
        self.open(Holds::Statements, scopes, after);
        self.place().is_arrow = of == Function::Arrow;
        Some(())
    }
}
