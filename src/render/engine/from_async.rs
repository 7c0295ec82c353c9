//! `Array.fromAsync` (ECMAScript proposal, stage 4): an array of the awaited values of an iterable.

use boa_engine::builtins::promise::ResolvingFunctions;
use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::{JsArray, JsFunction, JsPromise};
use boa_engine::{Context, Finalize, JsArgs, JsObject, JsResult, JsSymbol, JsValue, NativeFunction, Trace, js_string};

use super::bind;

/// A pending array.
#[derive(Clone, Trace, Finalize)]
struct Gather {
    iterator: JsObject,
    next: JsObject,
    is_async: bool,
    map: Option<JsObject>,
    this: JsValue,
    array: JsObject,
    done: ResolvingFunctions,
}

/// The continuation after an awaited value.
type Step = fn(&Gather, &JsValue, &mut Context) -> JsResult<()>;

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let array = context.intrinsics().constructors().array().constructor();
    let method = bind::function("fromAsync", 1, from_async, context);
    bind::hidden(&array, js_string!("fromAsync"), method.into(), true, context)
}

fn from_async(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (promise, done) = JsPromise::new_pending(context);
    let reject = done.reject.clone();
    let begun = begin(args, done, context);
    settled(begun, &reject, context)?;
    Ok(promise.into())
}

/// A failed step rejects the whole; the engine's own termination is passed on.
fn settled(step: JsResult<()>, reject: &JsFunction, context: &mut Context) -> JsResult<()> {
    match step {
        Err(error) if error.as_engine().is_none() => {
            let reason = error.into_opaque(context)?;
            reject.call(&JsValue::undefined(), &[reason], context).map(drop)
        }
        other => other,
    }
}

fn begin(args: &[JsValue], done: ResolvingFunctions, context: &mut Context) -> JsResult<()> {
    let map = match args.get_or_undefined(1) {
        none if none.is_undefined() => None,
        map => Some(map.as_callable().ok_or_else(|| bind::type_error("The mapper is not a function"))?),
    };
    let mut items = args.get_or_undefined(0).to_object(context)?;
    let mut method = items.get(JsSymbol::async_iterator(), context)?.as_callable();
    let is_async = method.is_some();
    if method.is_none() {
        if items.get(JsSymbol::iterator(), context)?.is_null_or_undefined() {
            // An array-like object becomes an array first.
            let array = context.intrinsics().constructors().array().constructor();
            let from = array.get(js_string!("from"), context)?.as_callable();
            let from = from.ok_or_else(|| bind::type_error("Array.from is not a function"))?;
            let made = from.call(&array.into(), &[items.into()], context)?;
            items = made.to_object(context)?;
        }
        method = items.get(JsSymbol::iterator(), context)?.as_callable();
    }
    let method = method.ok_or_else(|| bind::type_error("The object must have a callable @@iterator property."))?;
    let iterator = method.call(&items.into(), &[], context)?;
    let iterator = iterator.as_object().ok_or_else(|| bind::type_error("The iterator is not an object."))?;
    let next = iterator.get(js_string!("next"), context)?.as_callable();
    let next = next.ok_or_else(|| bind::type_error("The iterator has no next method."))?;
    let array = JsArray::new(context)?.into();
    let this = args.get_or_undefined(2).clone();
    Gather { iterator, next, is_async, map, this, array, done }.turn(context)
}

impl Gather {
    /// Requests the next value.
    fn turn(&self, context: &mut Context) -> JsResult<()> {
        let result = self.next.call(&self.iterator.clone().into(), &[], context)?;
        if self.is_async { self.after(result, Self::took, context) } else { self.took(&result, context) }
    }

    fn took(&self, result: &JsValue, context: &mut Context) -> JsResult<()> {
        let result = result.as_object().ok_or_else(|| bind::type_error("The iterator's result is not an object."))?;
        if result.get(js_string!("done"), context)?.to_boolean() {
            return self.done.resolve.call(&JsValue::undefined(), &[self.array.clone().into()], context).map(drop);
        }
        let value = result.get(js_string!("value"), context)?;
        if self.is_async { self.mapped(&value, context) } else { self.after(value, Self::mapped, context) }
    }

    fn mapped(&self, value: &JsValue, context: &mut Context) -> JsResult<()> {
        let Some(map) = &self.map else { return self.put(value, context) };
        let place = JsArray::from_object(self.array.clone())?.length(context)?;
        let value = map.call(&self.this, &[value.clone(), place.into()], context)?;
        self.after(value, Self::put, context)
    }

    fn put(&self, value: &JsValue, context: &mut Context) -> JsResult<()> {
        JsArray::from_object(self.array.clone())?.push(value.clone(), context)?;
        self.turn(context)
    }

    /// Continues once a value is available.
    fn after(&self, value: JsValue, then: Step, context: &mut Context) -> JsResult<()> {
        let go_on = NativeFunction::from_copy_closure_with_captures(
            move |_, args, gather: &Self, context| {
                let step = then(gather, args.get_or_undefined(0), context);
                settled(step, &gather.done.reject, context).map(|()| JsValue::undefined())
            },
            self.clone(),
        );
        let go_on: JsFunction = FunctionObjectBuilder::new(context.realm(), go_on).build();
        let end = Some(self.done.reject.clone());
        JsPromise::resolve(value, context)?.then(Some(go_on), end, context).map(drop)
    }
}
