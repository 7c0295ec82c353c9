use boa_ast::scope::{BindingLocator, BindingLocatorScope};

use crate::{
    Context, JsResult, JsValue,
    error::JsNativeError,
    object::internal_methods::InternalMethodPropertyContext,
    property::PropertyKey,
    vm::{
        inline_cache::Found,
        opcode::{IndexOperand, Operation, RegisterOperand},
    },
};

/// gleaner: the value of a binding, whose place a later script may have made.
fn value_of(locator: &mut BindingLocator, context: &mut Context) -> JsResult<JsValue> {
    if let Some(value) = context.get_binding(locator)? {
        return Ok(value);
    }
    if let Some(late) = context.late_binding(locator) {
        *locator = late;
        if let Some(value) = context.get_binding(locator)? {
            return Ok(value);
        }
    }
    let name = locator.name().to_std_string_escaped();
    Err(JsNativeError::reference()
        .with_message(format!("{name} is not defined"))
        .into())
}

/// `GetName` implements the Opcode Operation for `Opcode::GetName`
///
/// Operation:
///  - Find a binding on the environment chain and store its value in dst.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetName;

impl GetName {
    #[inline(always)]
    pub(crate) fn operation(
        (value, index): (RegisterOperand, IndexOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        // gleaner: nearly all of them.
        if let Some(result) = context.plain_binding(usize::from(index)) {
            context.vm.set_register(value.into(), result);
            return Ok(());
        }
        let mut binding_locator =
            context.vm.frame().code_block.bindings[usize::from(index)].clone();
        context.find_runtime_binding(&mut binding_locator)?;
        let result = value_of(&mut binding_locator, context)?;
        context.vm.set_register(value.into(), result);
        Ok(())
    }
}

impl Operation for GetName {
    const NAME: &'static str = "GetName";
    const INSTRUCTION: &'static str = "INST - GetName";
    const COST: u8 = 4;
}

/// gleaner: the value of a global name, where the compiler's place for it holds: no scope that code at run time may add to is in between.
#[inline]
fn plain_global(index: usize, ic_index: usize, context: &Context) -> Option<JsValue> {
    let frame = context.vm.frame();
    let code = frame.code_block();
    if !matches!(code.bindings[index].scope(), BindingLocatorScope::GlobalObject) {
        return None;
    }
    let current = frame.environments.current_declarative_ref(frame.realm.environment())?;
    if current.with() || current.poisoned() {
        return None;
    }
    match code.ic[ic_index].find::<false>(frame.realm.global_object())?.read() {
        Found::Data(value) => Some(value),
        Found::Getter(_) | Found::Absent => None,
    }
}

/// `GetNameGlobal` implements the Opcode Operation for `Opcode::GetNameGlobal`
///
/// Operation:
///  - Find a binding in the global object and store its value in dst.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetNameGlobal;

impl GetNameGlobal {
    #[inline(always)]
    pub(crate) fn operation(
        (dst, index, ic_index): (RegisterOperand, IndexOperand, IndexOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        // gleaner: a property of the global object that its place knows.
        if let Some(value) = plain_global(usize::from(index), usize::from(ic_index), context) {
            context.vm.set_register(dst.into(), value);
            return Ok(());
        }
        let mut binding_locator =
            context.vm.frame().code_block.bindings[usize::from(index)].clone();
        context.find_runtime_binding(&mut binding_locator)?;

        if binding_locator.is_global() {
            let object = context.global_object();

            let ic = &context.vm.frame().code_block().ic[usize::from(ic_index)];

            match ic.find::<false>(&object).map(|cached| cached.read()) {
                Some(Found::Data(value)) => {
                    context.vm.set_register(dst.into(), value);
                    return Ok(());
                }
                Some(Found::Getter(getter)) => {
                    let getter = getter.as_object().expect("should contain getter");
                    let value = getter.call(&object.clone().into(), &[], context)?;
                    context.vm.set_register(dst.into(), value);
                    return Ok(());
                }
                Some(Found::Absent) | None => {}
            }

            let key: PropertyKey = ic.name.clone().into();

            let context = &mut InternalMethodPropertyContext::new(context);
            let Some(result) = object.__try_get__(&key, object.clone().into(), context)? else {
                if let Some(late) = context.late_binding(&binding_locator)
                    && let Some(result) = context.get_binding(&late)?
                {
                    context.vm.set_register(dst.into(), result);
                    return Ok(());
                }
                let name = binding_locator.name().to_std_string_escaped();
                return Err(JsNativeError::reference()
                    .with_message(format!("{name} is not defined"))
                    .into());
            };

            // Cache the property.
            let slot = *context.slot();
            if slot.is_cacheable() {
                let ic = &context.vm.frame().code_block.ic[usize::from(ic_index)];
                let object_borrowed = object.borrow();
                let shape = object_borrowed.shape();
                ic.set(shape, slot);
            }

            context.vm.set_register(dst.into(), result);
            return Ok(());
        }

        let result = context.get_binding(&binding_locator)?.ok_or_else(|| {
            let name = binding_locator.name().to_std_string_escaped();
            JsNativeError::reference().with_message(format!("{name} is not defined"))
        })?;

        context.vm.set_register(dst.into(), result);
        Ok(())
    }
}

impl Operation for GetNameGlobal {
    const NAME: &'static str = "GetNameGlobal";
    const INSTRUCTION: &'static str = "INST - GetNameGlobal";
    const COST: u8 = 4;
}

/// `GetLocator` implements the Opcode Operation for `Opcode::GetLocator`
///
/// Operation:
///  - Find a binding on the environment and set the `current_binding` of the current frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetLocator;

impl GetLocator {
    #[inline(always)]
    pub(crate) fn operation(index: IndexOperand, context: &mut Context) -> JsResult<()> {
        let mut binding_locator =
            context.vm.frame().code_block.bindings[usize::from(index)].clone();
        context.find_runtime_binding(&mut binding_locator)?;

        context.vm.frame_mut().binding_stack.push(binding_locator);

        Ok(())
    }
}

impl Operation for GetLocator {
    const NAME: &'static str = "GetLocator";
    const INSTRUCTION: &'static str = "INST - GetLocator";
    const COST: u8 = 4;
}

/// `GetNameAndLocator` implements the Opcode Operation for `Opcode::GetNameAndLocator`
///
/// Operation:
///  - Find a binding on the environment chain and store its value in dst, setting the
///    `current_binding` of the current frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetNameAndLocator;

impl GetNameAndLocator {
    #[inline(always)]
    pub(crate) fn operation(
        (value, index): (RegisterOperand, IndexOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        let mut binding_locator =
            context.vm.frame().code_block.bindings[usize::from(index)].clone();
        context.find_runtime_binding(&mut binding_locator)?;
        let result = value_of(&mut binding_locator, context)?;

        context.vm.frame_mut().binding_stack.push(binding_locator);
        context.vm.set_register(value.into(), result);
        Ok(())
    }
}

impl Operation for GetNameAndLocator {
    const NAME: &'static str = "GetNameAndLocator";
    const INSTRUCTION: &'static str = "INST - GetNameAndLocator";
    const COST: u8 = 4;
}

/// `GetNameOrUndefined` implements the Opcode Operation for `Opcode::GetNameOrUndefined`
///
/// Operation:
///  - Find a binding on the environment chain and store its value in dst. If the binding does not exist, store undefined.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetNameOrUndefined;

impl GetNameOrUndefined {
    #[inline(always)]
    pub(crate) fn operation(
        (value, index): (RegisterOperand, IndexOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        let mut binding_locator =
            context.vm.frame().code_block.bindings[usize::from(index)].clone();

        let is_global = binding_locator.is_global();

        context.find_runtime_binding(&mut binding_locator)?;

        let mut result = context.get_binding(&binding_locator)?;
        if result.is_none() {
            // gleaner: one that exists and has no value yet is an error, as any other.
            result = match context.late_binding(&binding_locator) {
                Some(late) => context.get_binding(&late)?,
                None => is_global.then(JsValue::undefined),
            };
        }
        let Some(result) = result else {
            let name = binding_locator.name().to_std_string_escaped();
            return Err(JsNativeError::reference()
                .with_message(format!("{name} is not defined"))
                .into());
        };

        context.vm.set_register(value.into(), result);
        Ok(())
    }
}

impl Operation for GetNameOrUndefined {
    const NAME: &'static str = "GetNameOrUndefined";
    const INSTRUCTION: &'static str = "INST - GetNameOrUndefined";
    const COST: u8 = 4;
}
