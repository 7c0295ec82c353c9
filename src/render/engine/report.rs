//! Errors that no script caught: where they were thrown, who is told (HTML §8.1.4.6 "report an exception", §8.1.4.7 unhandled rejections).
//!
//! The engine tells a place only in the text of a backtrace; it is read from there.

use std::cell::Cell;

use boa_engine::builtins::promise::PromiseState;
use boa_engine::error::EngineError;
use boa_engine::object::builtins::JsPromise;
use boa_engine::{Context, JsError, JsValue, js_string};

use super::events;
use super::page::{self, ScriptError, Spent};

/// Set while an error is being told, so that a handler which throws is not told of its own errors.
#[derive(Default)]
struct Telling(Cell<bool>);

/// Tells an exception: to the page's errors, and to the window's `error` event. An engine that ran out of instructions is spent.
pub fn exception(error: JsError, context: &mut Context) {
    let page = page::of(context);
    if let Some(engine) = error.as_engine() {
        match engine {
            EngineError::NoInstructionsRemain => page.borrow_mut().spent = Some(Spent::Instructions),
            EngineError::Panic(_) => page.borrow_mut().spent = Some(Spent::Panicked),
            EngineError::RuntimeLimit(_) => {}
        }
        let told = place(&error.to_string());
        page.borrow_mut().fault(told);
        return;
    }
    let described = describe(&error, context);
    fault(described, error, context);
}

/// Tells a script that cannot be read: its errors name a line and no source.
pub fn unreadable(error: JsError, name: &str, context: &mut Context) {
    let mut described = describe(&error, context);
    name.clone_into(&mut described.source);
    fault(described, error, context);
}

fn fault(described: ScriptError, error: JsError, context: &mut Context) {
    page::of(context).borrow_mut().fault(described.clone());
    let value = error.into_opaque(context).unwrap_or_default();
    tell(context, |context| {
        events::fire_error(&described, value, context);
    });
}

/// Tells a promise that was rejected, if still nobody handles it.
pub(super) fn rejection(promise: &JsPromise, context: &mut Context) {
    let PromiseState::Rejected(reason) = promise.state() else { return };
    let mut described = describe(&JsError::from_opaque(reason.clone()), context);
    described.message.insert_str(0, "Uncaught (in promise) ");
    let object = promise.clone().into();
    let mut handled = false;
    tell(context, |context| handled = events::fire_rejection(object, reason, context));
    if !handled {
        page::of(context).borrow_mut().fault(described);
    }
}

fn tell(context: &mut Context, what: impl FnOnce(&mut Context)) {
    if !context.has_data::<Telling>() {
        context.insert_data(Telling::default());
    }
    let set = |context: &Context, value| context.get_data::<Telling>().is_some_and(|telling| telling.0.replace(value));
    if !set(context, true) {
        what(context);
        set(context, false);
    }
}

/// What was thrown, as text, with the place that its backtrace names.
fn describe(error: &JsError, context: &mut Context) -> ScriptError {
    let mut described = place(&error.to_string());
    // The engine shows an object that was thrown with all its properties; pages' own words are `name: message`.
    if let Some(object) = error.as_opaque().and_then(JsValue::as_object) {
        let mut word = |name| {
            let value = object.get(js_string!(name), context).ok()?;
            value.as_string().map(|text| text.to_std_string_lossy())
        };
        if let (Some(name), Some(message)) = (word("name"), word("message")) {
            described.message = if message.is_empty() { name } else { format!("{name}: {message}") };
        }
    }
    described
}

/// Takes `message\n    at f (source:line:column)…` apart. Errors of syntax say `at line 1, col 5` within the message.
fn place(text: &str) -> ScriptError {
    let (message, trace) = text.split_once("\n    at ").unwrap_or((text, ""));
    // The engine marks errors of its own natives.
    let message = message.trim_end_matches(" (native)");
    let mut error = ScriptError { message: message.to_owned(), source: String::new(), line: 0, column: 0 };
    for entry in trace.split("\n    at ") {
        let Some((_, inside)) = entry.trim_end().strip_suffix(')').and_then(|entry| entry.rsplit_once(" (")) else {
            continue;
        };
        let mut parts = inside.rsplitn(3, ':');
        let (column, line, source) = (parts.next(), parts.next(), parts.next());
        if let (Some(Ok(column)), Some(Ok(line)), Some(source)) = (column.map(str::parse), line.map(str::parse), source)
            && !source.starts_with("native at ")
        {
            (error.source, error.line, error.column) = (source.to_owned(), line, column);
            return error;
        }
    }
    if let Some((_, at)) = message.rsplit_once("at line ")
        && let Some((line, column)) = at.split_once(", col ")
    {
        error.line = line.parse().unwrap_or(0);
        error.column = column.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_in_a_script_is_taken_and_native_ones_are_passed_over() {
        let told = place(
            "TypeError: no\n    at map (native at src/x.rs:1:2)\n    at f (https://a.example:81/b.js:3:4)\n    at <main> (c:5:6)",
        );
        assert_eq!((told.message.as_str(), told.source.as_str()), ("TypeError: no", "https://a.example:81/b.js"));
        assert_eq!((told.line, told.column), (3, 4));
    }

    #[test]
    fn an_error_of_syntax_names_its_line() {
        let told = place("SyntaxError: unexpected token ')', at line 12, col 5 in script");
        assert_eq!((told.line, told.column), (12, 5));
    }
}
