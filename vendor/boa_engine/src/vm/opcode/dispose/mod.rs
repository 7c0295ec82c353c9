//! gleaner: what `using` and `await using` dispose of, per the [proposal][spec].
//!
//! [spec]: https://tc39.es/proposal-explicit-resource-management/#sec-disposableresource-records

use super::{IndexOperand, RegisterOperand};
use crate::{
    Context, JsData, JsError, JsExpect, JsNativeError, JsObject, JsResult, JsSymbol, JsValue,
    builtins::error::SuppressedError,
    vm::opcode::Operation,
};
use boa_gc::{Finalize, Trace};

/// How a resource is disposed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    Sync,
    Async,
    /// By `Symbol.dispose`, whose result is not awaited, in an `await using`.
    SyncInAsync,
}

#[derive(Debug, Clone, Trace, Finalize)]
struct Resource {
    value: JsValue,
    /// `None` for `null` and `undefined` in an `await using`, for which it waits all the same.
    method: Option<JsObject>,
    #[unsafe_ignore_trace]
    hint: Hint,
}

/// The resources of a scope, and how its code ended.
#[derive(Debug, Default, Trace, Finalize, JsData)]
struct Disposables {
    resources: Vec<Resource>,
    error: Option<JsValue>,
    needs_await: bool,
    has_awaited: bool,
}

impl Disposables {
    fn with<T>(
        stack: RegisterOperand,
        context: &Context,
        what: impl FnOnce(&mut Self) -> T,
    ) -> JsResult<T> {
        let stack = context.vm.get_register(stack.into()).as_object();
        let stack = stack.js_expect("it was created before")?;
        let mut stack = stack.downcast_mut::<Self>().js_expect("it was created before")?;
        Ok(what(&mut stack))
    }

    /// Something threw: the error of what was before it is suppressed.
    fn failed(stack: RegisterOperand, error: JsValue, context: &mut Context) -> JsResult<()> {
        let before = Self::with(stack, context, |stack| stack.error.take())?;
        let error = match before {
            Some(before) => SuppressedError::of(error, before, context)?,
            None => error,
        };
        Self::with(stack, context, |stack| stack.error = Some(error))
    }
}

/// `CreateDisposables` implements the Opcode Operation for `Opcode::CreateDisposables`
///
/// Operation:
///  - Creates an empty list of resources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CreateDisposables;

impl CreateDisposables {
    #[inline(always)]
    pub(crate) fn operation(dst: RegisterOperand, context: &mut Context) {
        let stack = JsObject::from_proto_and_data(None, Disposables::default());
        context.vm.set_register(dst.into(), stack.into());
    }
}

impl Operation for CreateDisposables {
    const NAME: &'static str = "CreateDisposables";
    const INSTRUCTION: &'static str = "INST - CreateDisposables";
    const COST: u8 = 3;
}

/// `AddDisposable` implements the Opcode Operation for `Opcode::AddDisposable`
///
/// Operation:
///  - Adds a resource (`AddDisposableResource`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct AddDisposable;

impl AddDisposable {
    #[inline(always)]
    pub(crate) fn operation(
        (stack, value, is_async): (RegisterOperand, RegisterOperand, IndexOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        let value = context.vm.get_register(value.into()).clone();
        let is_async = u32::from(is_async) != 0;
        let resource = if value.is_null_or_undefined() {
            if !is_async {
                return Ok(());
            }
            Resource { value: JsValue::undefined(), method: None, hint: Hint::Async }
        } else {
            if !value.is_object() {
                return Err(JsNativeError::typ()
                    .with_message("what `using` disposes of must be an object, null or undefined")
                    .into());
            }
            let mut found = None;
            if is_async {
                found = value
                    .get_method(JsSymbol::async_dispose(), context)?
                    .map(|method| (method, Hint::Async));
            }
            if found.is_none() {
                let hint = if is_async { Hint::SyncInAsync } else { Hint::Sync };
                found = value
                    .get_method(JsSymbol::dispose(), context)?
                    .map(|method| (method, hint));
            }
            let (method, hint) = found.ok_or_else(|| {
                JsNativeError::typ().with_message("what `using` disposes of has no Symbol.dispose method")
            })?;
            Resource { value, method: Some(method), hint }
        };
        Disposables::with(stack, context, |stack| stack.resources.push(resource))
    }
}

impl Operation for AddDisposable {
    const NAME: &'static str = "AddDisposable";
    const INSTRUCTION: &'static str = "INST - AddDisposable";
    const COST: u8 = 6;
}

/// `DisposeFailed` implements the Opcode Operation for `Opcode::DisposeFailed`
///
/// Operation:
///  - Notes what the code, or a disposal, threw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DisposeFailed;

impl DisposeFailed {
    #[inline(always)]
    pub(crate) fn operation(
        (stack, error): (RegisterOperand, RegisterOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        let error = context.vm.get_register(error.into()).clone();
        Disposables::failed(stack, error, context)
    }
}

impl Operation for DisposeFailed {
    const NAME: &'static str = "DisposeFailed";
    const INSTRUCTION: &'static str = "INST - DisposeFailed";
    const COST: u8 = 3;
}

/// `DisposeNext` implements the Opcode Operation for `Opcode::DisposeNext`
///
/// Operation:
///  - Disposes of resources (`DisposeResources`), the newest first, until there is something to await: then `waits` is true, and
///    `value` what it is. At the end it throws what was thrown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DisposeNext;

impl DisposeNext {
    #[inline(always)]
    pub(crate) fn operation(
        (stack, value, waits): (RegisterOperand, RegisterOperand, RegisterOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        let awaited = loop {
            enum Step {
                Await,
                Call(JsValue, JsObject, Hint),
                Skip,
                End(Option<JsValue>),
            }
            let step = Disposables::with(stack, context, |stack| {
                let next = stack.resources.last();
                let waits = stack.needs_await && !stack.has_awaited;
                if waits && next.is_none_or(|next| next.hint == Hint::Sync) {
                    stack.needs_await = false;
                    return Step::Await;
                }
                let Some(next) = stack.resources.pop() else {
                    return Step::End(stack.error.take());
                };
                let Some(method) = next.method.clone() else {
                    stack.needs_await = true;
                    return Step::Skip;
                };
                stack.has_awaited |= next.hint != Hint::Sync;
                Step::Call(next.value.clone(), method, next.hint)
            })?;
            match step {
                Step::Skip => {}
                Step::Await => break Some(JsValue::undefined()),
                Step::End(None) => break None,
                Step::End(Some(error)) => return Err(JsError::from_opaque(error)),
                Step::Call(this, method, hint) => match method.call(&this, &[], context) {
                    Ok(result) if hint == Hint::Async => break Some(result),
                    Ok(_) if hint == Hint::SyncInAsync => break Some(JsValue::undefined()),
                    Ok(_) => {}
                    Err(error) => {
                        let error = error.into_opaque(context)?;
                        Disposables::failed(stack, error, context)?;
                        if hint == Hint::SyncInAsync {
                            break Some(JsValue::undefined());
                        }
                    }
                },
            }
        };
        context.vm.set_register(waits.into(), awaited.is_some().into());
        context.vm.set_register(value.into(), awaited.unwrap_or_default());
        Ok(())
    }
}

impl Operation for DisposeNext {
    const NAME: &'static str = "DisposeNext";
    const INSTRUCTION: &'static str = "INST - DisposeNext";
    const COST: u8 = 8;
}
