//! gleaner: What a word means: a keyword with what belongs to it, or a name.

use super::{
    Before, Declares, Ended, Function, Holds, Skip, is_word,
    names::Name,
};

/// A word that was read, and what follows it.
struct Word<'a> {
    word: &'a [u8],
    /// The next byte that is no white space, and where it is.
    next: u8,
    behind: usize,
    is_same_line: bool,
    is_fresh: bool,
    is_branch: bool,
}

/// Words that only begin statements, or parts of them.
const STATEMENTS: [&[u8]; 17] = [
    b"if", b"while", b"switch", b"for", b"catch", b"do", b"try", b"else", b"finally", b"default", b"return", b"throw",
    b"case", b"break", b"continue", b"debugger", b"var",
];

impl Skip<'_> {
    pub(super) fn word(&mut self, is_fresh: bool, is_branch: bool) -> Option<()> {
        let begin = self.at;
        while is_word(self.peek()) {
            self.at += 1;
        }
        // An escape, or a letter that is not ASCII.
        if self.peek() == b'\\' || !self.peek().is_ascii() {
            return None;
        }
        let (word, end) = (&self.text[begin..self.at], self.at);
        if self.before == Before::Dot {
            self.before = Before::Operand;
            return Some(());
        }
        let is_behind_newline = std::mem::take(&mut self.newline);
        self.blank()?;
        let (next, is_arrow) = (self.peek(), self.text[self.at..].starts_with(b"=>"));
        let is_same_line = !std::mem::replace(&mut self.newline, is_behind_newline);
        let behind = std::mem::replace(&mut self.at, end);
        let is_name_of_member = match self.holds() {
            Holds::Members => is_fresh && matches!(next, b':' | b'('),
            Holds::Pattern => is_fresh && next == b':',
            Holds::Class => self.before == Before::Start && (matches!(next, b'(' | b';' | b'}') || next == b'=' && !is_arrow),
            _ => false,
        };
        if is_name_of_member {
            self.before = Before::Operand;
            return Some(());
        }
        let word = Word { word, next, behind, is_same_line, is_fresh, is_branch };
        if self.keyword(&word)? {
            return Some(());
        }
        let word = word.word;
        let name = Name::new(self.text, begin, end);
        if word == b"async" && is_same_line && is_word(next) {
            self.meet(name);
            return Some(());
        }
        self.begin_operand()?;
        self.before = Before::Operand;
        if is_arrow {
            self.at = behind;
            self.enter(true, false);
            self.bind(name, Declares::InScope);
            return self.body(Function::Arrow, false);
        }
        match self.in_pattern() {
            true => {
                let declares = self.place().declares;
                self.bind(name, declares);
                self.ended = Ended::Whole;
            }
            false => self.meet(name),
        }
        Some(())
    }

    /// Takes a word that is no name, and what belongs to it. False if it is a name.
    fn keyword(&mut self, of: &Word<'_>) -> Option<bool> {
        let &Word { word, next, behind, is_same_line, .. } = of;
        if !(2..=10).contains(&word.len()) {
            return Some(false);
        }
        // The name of a method, behind `get`, `async` or `static`.
        if matches!(self.holds(), Holds::Members | Holds::Class) && STATEMENTS.contains(&word) {
            return Some(false);
        }
        match word {
            b"this" | b"null" | b"true" | b"false" | b"import" => {
                self.begin_operand()?;
                if word == b"this" && !self.has_this {
                    self.has_this = !self.scopes.iter().any(|scope| scope.has_own_this);
                }
                self.before = Before::Operand;
            }
            b"in" | b"instanceof" | b"extends" => self.infix()?,
            b"of" if self.holds() == Holds::Loop && self.before == Before::Operand => self.infix()?,
            b"new" if next == b'.' => return None,
            b"return" if !is_same_line => {
                self.begin_operand()?;
                self.end_statement()?;
            }
            b"return" | b"throw" | b"typeof" | b"new" | b"delete" | b"void" | b"case" => {
                self.begin_operand()?;
                self.before = Before::Operator;
            }
            // Operators, or names.
            b"yield" | b"await" if next == b'/' || next == b'{' || !is_same_line => return None,
            b"yield" | b"await" => {
                self.begin_operand()?;
                self.meet(Name::new(self.text, self.at - word.len(), self.at));
                self.before = Before::Operator;
            }
            b"break" | b"continue" => {
                self.begin_operand()?;
                if is_same_line && is_word(next) {
                    self.at = behind;
                    self.name()?;
                }
                self.end_statement()?;
            }
            b"else" | b"do" | b"try" | b"finally" | b"default" | b"debugger" => {
                self.begin_operand()?;
                (self.before, self.is_branch) = (Before::Start, true);
            }
            b"if" | b"while" | b"switch" => {
                self.begin_operand()?;
                self.parenthesis(Holds::Condition, behind)?;
            }
            b"for" => {
                self.begin_operand()?;
                self.at = behind;
                if self.text[behind..].starts_with(b"await") {
                    self.at += b"await".len();
                    self.blank()?;
                }
                self.enter(false, false);
                self.parenthesis(Holds::Loop, self.at)?;
            }
            b"catch" if next == b'(' => {
                self.enter(false, false);
                self.parenthesis(Holds::Parameters(Function::Catch), behind)?;
            }
            b"catch" => self.before = Before::Start,
            b"var" => self.declare(Declares::InFunction)?,
            b"const" => self.declare(Declares::InScope)?,
            b"let" => return self.let_word(of),
            b"function" => self.function(behind, of.is_branch)?,
            b"class" => self.class(behind)?,
            b"super" | b"eval" | b"with" | b"export" | b"enum" => return None,
            _ => return Some(false),
        }
        Some(true)
    }

    /// `let` declares, or is a name. False if it is one.
    fn let_word(&mut self, of: &Word<'_>) -> Option<bool> {
        let begins = match self.holds() {
            Holds::Loop => of.is_fresh,
            _ => self.before != Before::Operator,
        };
        if !begins || !(is_word(of.next) || matches!(of.next, b'{' | b'[')) {
            return Some(false);
        }
        let rest = &self.text[of.behind..];
        let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        if matches!(&rest[..length], b"in" | b"of" | b"instanceof") {
            return None;
        }
        self.declare(Declares::InScope)?;
        Some(true)
    }

    /// An operator that is a word. In the head of a loop it ends the declaration.
    fn infix(&mut self) -> Option<()> {
        if self.holds() == Holds::Loop {
            self.end_arrows()?;
            self.place().declares = Declares::Nothing;
        }
        self.before = Before::Operator;
        Some(())
    }

    fn parenthesis(&mut self, holds: Holds, at: usize) -> Option<()> {
        self.at = at;
        if self.peek() != b'(' {
            return None;
        }
        self.at += 1;
        self.open(holds, 0, Before::Start);
        Some(())
    }

    fn declare(&mut self, declares: Declares) -> Option<()> {
        self.begin_operand()?;
        if !matches!(self.holds(), Holds::Statements | Holds::Loop) {
            return None;
        }
        let place = self.place();
        (place.declares, place.in_value) = (declares, false);
        self.before = Before::Operator;
        Some(())
    }

    /// The name that comes next, if one does.
    fn name(&mut self) -> Option<Option<Name>> {
        let begin = self.at;
        while is_word(self.peek()) {
            self.at += 1;
        }
        if self.peek() == b'\\' || !self.peek().is_ascii() {
            return None;
        }
        let name = (self.at > begin).then(|| Name::new(self.text, begin, self.at));
        self.blank()?;
        Some(name)
    }

    /// A function, up to its parameters.
    fn function(&mut self, behind: usize, is_branch: bool) -> Option<()> {
        self.begin_operand()?;
        let is_declared = self.before == Before::Start;
        self.at = behind;
        if self.peek() == b'*' {
            self.at += 1;
            self.blank()?;
        }
        let name = self.name()?;
        // In a branch it is another block's, or none's.
        if let Some(name) = name.filter(|_| is_declared && !is_branch) {
            self.bind(name, Declares::InScope);
        }
        self.enter(true, true);
        if let Some(name) = name {
            self.bind(name, Declares::InScope);
        }
        let of = match is_declared {
            true => Function::Declaration,
            false => Function::Expression,
        };
        self.parenthesis(Holds::Parameters(of), self.at)
    }

    /// A class, up to its body or to what it extends.
    fn class(&mut self, behind: usize) -> Option<()> {
        self.begin_operand()?;
        let after = match self.before {
            Before::Start => Before::Start,
            _ => Before::Operand,
        };
        self.at = behind;
        let extends = b"extends";
        let is_derived = |at: usize| {
            self.text[at..].starts_with(extends) && !self.text.get(at + extends.len()).is_some_and(|byte| is_word(*byte))
        };
        let mut name = None;
        if !is_derived(self.at) {
            name = self.name()?;
        }
        if let Some(name) = name.filter(|_| after == Before::Start) {
            self.bind(name, Declares::InScope);
        }
        self.enter(false, false);
        if let Some(name) = name {
            self.bind(name, Declares::InScope);
        }
        self.classes.push((self.places.len(), after));
        self.before = Before::Operand;
        // `extends` is read as an operator.
        matches!(self.peek(), b'{' | b'e').then_some(())
    }
}
