//! Pipes one stream into another, chunk by chunk (Streams §4.9.1 "ReadableStreamPipeTo").

use boa_engine::builtins::promise::ResolvingFunctions;
use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::{JsFunction, JsPromise};
use boa_engine::{Context, Finalize, JsArgs, JsObject, JsResult, JsValue, NativeFunction, Trace, js_string};

use super::super::{Stream, fail, read};
use super::{Writable, abort, finish, promised, write};
use crate::engine::bind;

/// A pipe from one stream to another.
#[derive(Clone, Trace, Finalize)]
struct Pump {
    from: JsObject<Stream>,
    to: JsObject<Writable>,
    done: ResolvingFunctions,
    /// The destination stays open when the source ends.
    keep_open: bool,
}

/// The continuation after an awaited value.
type Step = fn(&Pump, &JsValue, &mut Context) -> JsResult<()>;

impl Pump {
    /// Requests the next chunk.
    fn turn(&self, context: &mut Context) -> JsResult<()> {
        let chunk = read(&self.from, context)?;
        self.after(chunk, Self::took, context)
    }

    /// A chunk arrived, or the end.
    fn took(&self, result: &JsValue, context: &mut Context) -> JsResult<()> {
        let Some(result) = result.as_object() else { return Ok(()) };
        if !result.get(js_string!("done"), context)?.to_boolean() {
            let chunk = result.get(js_string!("value"), context)?;
            let written = write(&self.to, &chunk, context);
            let written = promised(written, context)?;
            return self.after(written, |pump, _, context| pump.turn(context), context);
        }
        let ended = if self.keep_open { Ok(JsValue::undefined()) } else { finish(&self.to, context) };
        let ended = promised(ended, context)?;
        self.after(ended, |pump, _, context| settled(&pump.done.resolve, &JsValue::undefined(), context), context)
    }

    /// Continues once a promise is fulfilled; ends both streams if it is rejected.
    fn after(&self, promise: JsValue, then: Step, context: &mut Context) -> JsResult<()> {
        let go_on = NativeFunction::from_copy_closure_with_captures(
            move |_, args, pump: &Self, context| {
                then(pump, args.get_or_undefined(0), context).map(|()| JsValue::undefined())
            },
            self.clone(),
        );
        let end = NativeFunction::from_copy_closure_with_captures(
            |_, args, pump: &Self, context| {
                let reason = args.get_or_undefined(0);
                fail(&pump.from, reason, context)?;
                abort(&pump.to, reason, context)?;
                settled(&pump.done.reject, reason, context).map(|()| JsValue::undefined())
            },
            self.clone(),
        );
        let go_on: JsFunction = FunctionObjectBuilder::new(context.realm(), go_on).build();
        let end: JsFunction = FunctionObjectBuilder::new(context.realm(), end).build();
        JsPromise::resolve(promise, context)?.then(Some(go_on), Some(end), context).map(drop)
    }
}

fn settled(function: &JsFunction, value: &JsValue, context: &mut Context) -> JsResult<()> {
    function.call(&JsValue::undefined(), std::slice::from_ref(value), context).map(drop)
}

pub(super) fn pipe(
    from: JsObject<Stream>,
    to: JsObject<Writable>,
    keep_open: bool,
    context: &mut Context,
) -> JsResult<JsValue> {
    let locked = std::mem::replace(&mut from.borrow_mut().data_mut().is_locked, true);
    if locked || std::mem::replace(&mut to.borrow_mut().data_mut().is_locked, true) {
        return Ok(JsPromise::reject(bind::type_error("Cannot pipe a locked stream"), context)?.into());
    }
    let (promise, done) = JsPromise::new_pending(context);
    Pump { from, to, done, keep_open }.turn(context)?;
    Ok(promise.into())
}
