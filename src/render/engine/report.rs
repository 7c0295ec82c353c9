//! Reports uncaught errors: their position, and their events (HTML §8.1.4.6 "report an exception", §8.1.4.7 unhandled rejections).

use std::cell::Cell;

use boa_engine::builtins::promise::PromiseState;
use boa_engine::error::EngineError;
use boa_engine::object::builtins::JsPromise;
use boa_engine::vm::{CallFrameLocation, SourcePath};
use boa_engine::{Context, JsError, js_string};

use super::{events, page};
use crate::wire::{ScriptError, Spent};

/// Prefix of the engine's name for text run by `eval`, `Function` or a timer; the position of the call follows in parentheses.
const EVALUATED: &str = "eval at ";

/// Set while an error is being reported, so that a throwing handler does not get its own errors.
#[derive(Default)]
struct Telling(Cell<bool>);

/// Reports an exception to the page's errors and to the window's `error` event. An engine that ran out of instructions is spent.
pub fn exception(error: JsError, context: &mut Context) {
    let page = page::of(context);
    if let Some(engine) = error.as_engine() {
        match engine {
            EngineError::NoInstructionsRemain => page.borrow_mut().spent = Some(Spent::Instructions),
            EngineError::Panic(_) => page.borrow_mut().spent = Some(Spent::Panicked),
            EngineError::RuntimeLimit(_) => {}
        }
        page.borrow_mut().fault(thrown(&error, engine.to_string()));
        return;
    }
    let message = words(&error, context);
    let at_throw = thrown(&error, message);
    page.borrow_mut().fault(made(&error).map_or_else(|| at_throw.clone(), |made| at(made, at_throw.message.clone())));
    // Handlers get what browsers give them: the position of the throw and, for evaluated text, the file that evaluated it.
    let mut told = at_throw;
    if let Some(file) = evaluator(&told.source) {
        told.source = file;
    }
    let value = error.into_opaque(context).unwrap_or_default();
    tell(context, |context| {
        events::fire_error(&told, value, context);
    });
}

/// Reports a rejected promise if it is still unhandled.
pub(super) fn rejection(promise: &JsPromise, context: &mut Context) {
    let PromiseState::Rejected(reason) = promise.state() else { return };
    let error = JsError::from_opaque(reason.clone());
    let message = format!("Uncaught (in promise) {}", words(&error, context));
    let described = thrown(&error, message);
    let object = promise.clone().into();
    if !events::fire_rejection(object, reason, context) {
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

/// The message of an exception in the format of browsers: `name: message` for an error.
fn words(error: &JsError, context: &mut Context) -> String {
    if let Some(native) = error.as_native() {
        return match native.message() {
            "" => native.kind().to_string(),
            message => format!("{}: {message}", native.kind()),
        };
    }
    let Some(value) = error.as_opaque() else { return error.to_string() };
    if let Some(text) = value.as_string() {
        return text.to_std_string_lossy();
    }
    if let Some(object) = value.as_object() {
        let mut word = |name| {
            let value = object.get(js_string!(name), context).ok()?;
            value.as_string().map(|text| text.to_std_string_lossy())
        };
        if let (Some(name), Some(message)) = (word("name"), word("message")) {
            return if message.is_empty() { name } else { format!("{name}: {message}") };
        }
    }
    value.display().to_string()
}

/// The position at which an error was thrown.
fn thrown(error: &JsError, message: String) -> ScriptError {
    // For a script without known lines, use at least its name.
    let frame = error.frames().find(|frame| frame.position.is_some()).or_else(|| error.frames().next());
    match frame {
        Some(frame) => at(frame, message),
        None => ScriptError { message, source: String::new(), line: 0, column: 0 },
    }
}

/// The position at which the error was created. It survives a rethrow, and is the first line of its `stack`.
fn made(error: &JsError) -> Option<CallFrameLocation> {
    let value = error.as_opaque()?;
    JsError::from_opaque(value.clone()).frames().find(|frame| frame.position.is_some())
}

fn at(frame: CallFrameLocation, message: String) -> ScriptError {
    let (line, column) = frame.position.map_or((0, 0), |position| (position.line_number(), position.column_number()));
    let source = match frame.path {
        SourcePath::None | SourcePath::Eval | SourcePath::Json => String::new(),
        path => path.to_string(),
    };
    ScriptError { message, source, line, column }
}

/// The URL of the file that evaluated a text, from the engine's name for the text.
fn evaluator(source: &str) -> Option<String> {
    let (file, _) = place_of_call(source)?.rsplit_once(':')?.0.rsplit_once(':')?;
    Some(file.to_owned())
}

fn place_of_call(source: &str) -> Option<&str> {
    source.strip_prefix(EVALUATED)?.split_once(" (")?.1.strip_suffix(')')
}

/// The innermost running script and its position (`source:line:column`), or that of the call that evaluated it; `None` if there is none.
pub fn under_way(context: &Context) -> Option<String> {
    context.stack_trace().find_map(|frame| {
        let frame = frame.position();
        frame.position?;
        let path = frame.path.to_string();
        match (place_of_call(&path), &frame.path) {
            (Some(call), _) => Some(call.to_owned()),
            (None, SourcePath::Path(_) | SourcePath::Within(..)) => Some(frame.to_string()),
            _ => None,
        }
    })
}

/// The name of a text that the running script evaluates other than by `eval`; `None` if no script is running.
pub fn evaluated(by: &str, context: &Context) -> Option<String> {
    under_way(context).map(|place| format!("{EVALUATED}{by} ({place})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_text_that_was_evaluated_the_file_of_the_call_is_known() {
        let source = "eval at f (https://a.example:81/b(1).js:3:4)";
        assert_eq!(place_of_call(source), Some("https://a.example:81/b(1).js:3:4"));
        assert_eq!(evaluator(source).as_deref(), Some("https://a.example:81/b(1).js"));
        assert_eq!(evaluator("https://a.example/eval at x (1:2)"), None);
    }
}
