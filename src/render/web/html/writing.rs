//! `document.write` and related methods (HTML §8.4): a script inserts text before the rest of the markup, or rebuilds the document.

use boa_engine::{Context, JsResult, JsValue};

use super::load::{fire_at, loading, settle_parsed};
use super::{frames, scripts, windows};
use crate::dom::{Parser, Step};
use crate::engine::{bind, events, exception, jobs, realm, target};
use crate::web::{change, of, own_document, settle, this_document};

const METHODS: &[bind::Method] = &[
    ("write", 0, |this, args, context| write(this, args, "", context)),
    ("writeln", 0, |this, args, context| write(this, args, "\n", context)),
    ("open", 0, |this, args, context| {
        // With three arguments it means `window.open`.
        if args.len() > 2 {
            return super::navigation::open(this, args, context);
        }
        in_window(this, context, |context| {
            open(context);
            Ok(this.clone())
        })
    }),
    ("close", 0, |this, _, context| {
        in_window(this, context, |context| {
            close(context);
            Ok(JsValue::undefined())
        })
    }),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, METHODS, context)
}

/// Runs `what` in the window that shows the document. Other documents have no parser.
fn in_window<T>(this: &JsValue, context: &mut Context, what: impl FnOnce(&mut Context) -> JsResult<T>) -> JsResult<T> {
    let document = this_document(this, context)?;
    let is_shown = of(context).borrow().document == document || frames::frame_of(document, context).is_some();
    if !is_shown {
        return Err(exception::error("InvalidStateError", "This document has no parser.", context));
    }
    windows::within(document, context, |context| {
        if loading(context).borrow().tokens > 0 {
            let message = "A custom element that the parser makes may not write into the document.";
            return Err(exception::error("InvalidStateError", message, context));
        }
        what(context)
    })
}

fn write(this: &JsValue, args: &[JsValue], end: &str, context: &mut Context) -> JsResult<JsValue> {
    let mut text = String::new();
    for index in 0..args.len() {
        text.push_str(&bind::text(args, index, context)?);
    }
    text.push_str(end);
    in_window(this, context, |context| {
        write_here(&text, context);
        Ok(JsValue::undefined())
    })
}

fn write_here(text: &str, context: &mut Context) {
    let (has_parser, forbidden) = {
        let state = loading(context);
        let state = state.borrow();
        (state.parser.is_some(), state.no_writes > 0)
    };
    if !has_parser {
        // A late script would erase the page.
        if forbidden {
            return;
        }
        open(context);
    }
    feed(text, context);
}

/// "Document open steps" (HTML §8.4.1): empties the document for a new parser. A document that is still being parsed stays as it is.
fn open(context: &mut Context) {
    let (web, state) = (of(context), loading(context));
    if state.borrow().parser.is_some() && !state.borrow().opened || state.borrow().no_writes > 0 {
        return;
    }
    let document = own_document(context);
    if let Some(frame) = windows::own_frame(context) {
        frames::is_written(frame, context);
    }
    if let Ok(object) = crate::web::wrap(document, context) {
        target::erase(&object, context);
    }
    target::erase(&realm::window(context), context);
    // Emptying a document never fails.
    let _ = change(context, |tree| tree.replace_children(document, None));
    let parser = {
        let mut web = web.borrow_mut();
        Parser::new(&mut web.tree, document)
    };
    let mut state = state.borrow_mut();
    (state.parser, state.opened) = (Some(parser), true);
}

/// Closes a document written by a script.
fn close(context: &mut Context) {
    let (web, state) = (of(context), loading(context));
    if !state.borrow().opened {
        return;
    }
    state.borrow_mut().opened = false;
    let parser = state.borrow_mut().parser.take();
    if let Some(mut parser) = parser {
        // A full document keeps its contents.
        let _ = parser.finish(&mut web.borrow_mut().tree);
    }
    settle(context);
    jobs::post(context, 0, |context| {
        jobs::outside(context, |context| {
            let document = own_document(context);
            fire_at(document, "DOMContentLoaded", true, context);
            let window = realm::window(context);
            events::fire(&window, "Event", "load", (false, false), &[], context);
            match windows::own_frame(context) {
                Some(frame) => frames::tell_element(frame, context),
                None => Ok(()),
            }
        })
    });
}

/// Parses a text at once and runs the scripts in it. If one must be fetched first, later writes wait with it.
fn feed(text: &str, context: &mut Context) {
    let (web, state) = (of(context), loading(context));
    if state.borrow().blocking.is_some() {
        let mut state = state.borrow_mut();
        if state.written_later.len() + text.len() <= crate::limits::DOM_TEXT_BYTES_MAX {
            state.written_later.push_str(text);
        }
        return;
    }
    let Some(mut parser) = state.borrow_mut().parser.take() else { return };
    let mut step = parser.write(&mut web.borrow_mut().tree, text);
    loop {
        // Running scripts find the parser there.
        state.borrow_mut().parser = Some(parser);
        settle_parsed(context);
        let Ok(Step::Script(script)) = step else { return };
        scripts::prepare(script, true, None, context);
        if state.borrow().opened {
            run_blocking(context);
        }
        settle(context);
        if state.borrow().blocking.is_some() {
            return;
        }
        match state.borrow_mut().parser.take() {
            Some(back) => parser = back,
            None => return,
        }
        step = parser.resume_write(&mut web.borrow_mut().tree);
    }
}

/// Fetches and runs the scripts at which written texts stopped, and continues parsing after them.
pub(crate) fn run_blocking(context: &mut Context) {
    let (web, state) = (of(context), loading(context));
    loop {
        let Some(script) = state.borrow_mut().blocking.take() else { return };
        match scripts::address_of(script, context) {
            Some(address) => scripts::run_blocking(script, &address, context),
            None => fire_at(script, "error", false, context),
        }
        let Some(mut parser) = state.borrow_mut().parser.take() else { return };
        let mut step = parser.resume_write(&mut web.borrow_mut().tree);
        loop {
            state.borrow_mut().parser = Some(parser);
            settle_parsed(context);
            let Ok(Step::Script(script)) = step else { break };
            scripts::prepare(script, true, None, context);
            settle(context);
            if state.borrow().blocking.is_some() {
                break;
            }
            match state.borrow_mut().parser.take() {
                Some(back) => parser = back,
                None => return,
            }
            step = parser.resume_write(&mut web.borrow_mut().tree);
        }
        if state.borrow().blocking.is_none() {
            let later = std::mem::take(&mut state.borrow_mut().written_later);
            if !later.is_empty() {
                feed(&later, context);
            }
        }
    }
}
