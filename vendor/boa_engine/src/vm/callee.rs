//! gleaner: the name of what a script could not call, as V8 writes it: `a.b(...).c is not a function`. It is read from the text
//! at the place of the call once the error is made, so that calls cost nothing for it.

use boa_ast::Position;

use crate::{Context, JsError, JsNativeError, JsObject};

/// Operands of a name, and letters of one.
const OPERANDS_MAX: usize = 12;
const LETTERS_MAX: usize = 200;

/// Letters of arguments that are skipped.
const ARGUMENTS_MAX: usize = 2_000;

/// Letters of the text that count as one instruction.
const LETTERS_PER_INSTRUCTION: usize = 16;

const UNNAMED: &str = "(intermediate value)";

/// Words before an operand that are none themselves.
const KEYWORDS: &[&str] = &[
    "await", "case", "delete", "do", "else", "extends", "in", "instanceof", "of", "return", "throw", "typeof", "void", "yield",
];

/// The error of the call under way, whose callee is no function.
#[cold]
#[inline(never)]
pub(crate) fn not_callable(context: &mut Context) -> JsError {
    error(context, |text, place| text.called(place), " is not a function", "not a callable function")
}

/// The error of the `new` under way, whose callee is no constructor.
#[cold]
#[inline(never)]
pub(crate) fn not_a_constructor(context: &mut Context) -> JsError {
    error(context, |text, place| text.constructed(place), " is not a constructor", "not a constructor")
}

/// What a call of an object threw, unless that is because it is no function.
#[cold]
#[inline(never)]
pub(crate) fn thrown(thrown: JsError, object: &JsObject, context: &mut Context) -> JsError {
    if object.is_callable() { thrown } else { not_callable(context) }
}

/// The same for `new`.
#[cold]
#[inline(never)]
pub(crate) fn thrown_of_new(thrown: JsError, object: &JsObject, context: &mut Context) -> JsError {
    if object.is_constructor() { thrown } else { not_a_constructor(context) }
}

fn error(
    context: &mut Context,
    name: fn(&Text<'_>, usize) -> Option<String>,
    named: &str,
    nameless: &'static str,
) -> JsError {
    let mut read = 0;
    let name = {
        let frame = context.vm.frame();
        let info = frame.code_block().source_info();
        let text = info.text_spanned().source_text();
        // The instruction under way is the one before.
        let position = info.map().find_in_text(frame.pc.saturating_sub(1));
        text.code_units().zip(position).and_then(|(units, position)| {
            let text = Text(units);
            let place = text.place(position);
            read = place.unwrap_or(units.len());
            name(&text, place?)
        })
    };
    // A script that throws in a loop would read all of its text each time.
    context.instructions_remaining = context.instructions_remaining.saturating_sub(read / LETTERS_PER_INSTRUCTION);
    let error = JsNativeError::typ();
    match name {
        Some(name) => error.with_message(name + named).into(),
        None => error.with_message(nameless).into(),
    }
}

/// The text of a script.
struct Text<'a>(&'a [u16]);

impl Text<'_> {
    /// The index of a position.
    fn place(&self, position: Position) -> Option<usize> {
        let (mut line, mut column, mut place) = (1, 1, 0);
        while (line, column) < (position.line_number(), position.column_number()) {
            let unit = *self.0.get(place)?;
            place += 1;
            match unit {
                0xD if self.0.get(place) == Some(&0xA) => {}
                0xA | 0xD | 0x2028 | 0x2029 => (line, column) = (line + 1, 1),
                // A pair is one character.
                0xDC00..=0xDFFF => {}
                _ => column += 1,
            }
        }
        ((line, column) == (position.line_number(), position.column_number())).then_some(place)
    }

    fn at(&self, place: usize) -> Option<char> {
        char::from_u32(u32::from(*self.0.get(place)?))
    }

    /// The character before a place.
    fn before(&self, place: usize) -> Option<char> {
        self.at(place.checked_sub(1)?)
    }

    fn read(&self, from: usize, to: usize) -> String {
        String::from_utf16_lossy(&self.0[from..to])
    }

    /// Letters behind the call are not counted as instructions, so few of them are read.
    fn forward(&self, from: usize, is: impl Fn(char) -> bool) -> usize {
        let few = from..from.saturating_add(LETTERS_MAX);
        few.clone().find(|place| !self.at(*place).is_some_and(&is)).unwrap_or(few.end)
    }

    fn skip(&self, place: usize) -> usize {
        self.forward(place, char::is_whitespace)
    }

    fn skip_back(&self, mut place: usize) -> usize {
        while self.before(place).is_some_and(char::is_whitespace) {
            place -= 1;
        }
        place
    }

    fn end_of_word(&self, place: usize) -> usize {
        self.forward(place, is_of_word)
    }

    fn start_of_word(&self, mut place: usize) -> usize {
        while self.before(place).is_some_and(is_of_word) {
            place -= 1;
        }
        place
    }

    /// The callee of a call, whose place is that of the last word of the callee, or of its parenthesis. None if there is no call.
    fn called(&self, place: usize) -> Option<String> {
        let end = match self.at(place)? {
            '(' => self.skip_back(place),
            _ => self.end_of_word(place),
        };
        let mut next = self.skip(end);
        if self.at(next) == Some('?') && self.at(next + 1) == Some('.') {
            next = self.skip(next + 2);
        }
        let end = if end >= 2 && self.before(end) == Some('.') && self.before(end - 1) == Some('?') { end - 2 } else { end };
        matches!(self.at(next), Some('(' | '`')).then(|| self.operand(end, OPERANDS_MAX))
    }

    /// The callee of a `new`.
    fn constructed(&self, place: usize) -> Option<String> {
        let end = self.end_of_word(place);
        if self.read(place, end.min(place + LETTERS_MAX)) != "new" {
            return None;
        }
        let start = self.skip(end);
        let end = self.forward(start, |c| is_of_word(c) || c == '.');
        let is_whole = end > start && end - start < LETTERS_MAX && matches!(self.at(self.skip(end)), None | Some('(' | ';' | ',' | ')' | '}'));
        is_whole.then(|| self.read(start, end))
    }

    /// The operand that ends at a place: names with what is taken of them. Where its beginning is another expression, or too far
    /// away, that is an [`UNNAMED`] one.
    fn operand(&self, end: usize, most: usize) -> String {
        let end = self.skip_back(end);
        let unnamed = || UNNAMED.to_owned();
        if most == 0 {
            return unnamed();
        }
        match self.before(end) {
            Some(c) if is_of_word(c) => {
                let start = self.start_of_word(end);
                if end - start > LETTERS_MAX {
                    return unnamed();
                }
                let word = self.read(start, end);
                let dot = self.skip_back(start);
                // Neither a number's point nor three of them are a member's.
                let is_member = self.before(dot) == Some('.') && (dot < 2 || self.before(dot - 1) != Some('.'));
                if is_member {
                    let is_optional = dot >= 2 && self.before(dot - 1) == Some('?');
                    let (end, link) = if is_optional { (dot - 2, "?.") } else { (dot - 1, ".") };
                    return self.operand(end, most - 1) + link + &word;
                }
                let is_name = !word.starts_with(|c: char| c.is_ascii_digit()) && !KEYWORDS.contains(&word.as_str());
                if is_name && !self.is_new(start) { word } else { unnamed() }
            }
            Some(bracket @ (')' | ']')) => {
                let Some(start) = self.opening(end - 1) else { return unnamed() };
                let head = self.skip_back(start);
                // The brackets of an expression alone, of an array, or of a statement.
                let is_taken = self.before(head).is_some_and(|c| is_of_word(c) || matches!(c, ')' | ']'));
                let head = if is_taken { self.operand(head, most - 1) } else { return unnamed() };
                match (head == UNNAMED, bracket) {
                    (true, _) => head,
                    (_, ')') => head + "(...)",
                    _ => {
                        let key = self.read(start + 1, end - 1);
                        let is_plain = key.len() <= LETTERS_MAX && key.chars().all(|c| is_of_word(c) || c == '.');
                        if is_plain { format!("{head}[{key}]") } else { head + "[...]" }
                    }
                }
            }
            _ => unnamed(),
        }
    }

    /// Whether `new` stands before a place.
    fn is_new(&self, place: usize) -> bool {
        let end = self.skip_back(place);
        end < place && self.read(self.start_of_word(end), end) == "new"
    }

    /// The bracket that a closing one closes; none if that is far away, or behind what may contain brackets that are none.
    fn opening(&self, closing: usize) -> Option<usize> {
        let (mut depth, mut place) = (0_usize, closing + 1);
        while closing - (place - 1) < ARGUMENTS_MAX {
            place = place.checked_sub(1)?;
            match self.at(place)? {
                ')' | ']' | '}' => depth += 1,
                '(' | '[' | '{' if depth == 1 => return Some(place),
                '(' | '[' | '{' => depth -= 1,
                quote @ ('"' | '\'') => {
                    place = (closing.saturating_sub(ARGUMENTS_MAX)..place)
                        .rev()
                        .find(|at| self.at(*at) == Some(quote) && self.before(*at) != Some('\\'))?;
                }
                '/' | '`' => return None,
                _ => {}
            }
            if place == 0 {
                return None;
            }
        }
        None
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '\u{200c}' | '\u{200d}')
}
