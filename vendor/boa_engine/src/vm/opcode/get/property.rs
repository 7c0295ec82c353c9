use boa_string::StaticJsStrings;

use crate::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsValue, js_string,
    object::internal_methods::InternalMethodPropertyContext,
    property::PropertyKey,
    vm::{
        inline_cache::Found,
        opcode::{IndexOperand, Operation, RegisterOperand},
    },
};

/// gleaner: what had no such property, in V8's words, which tell more than that something is no object.
#[cold]
pub(crate) fn no_object(value: &JsValue, verb: &str, doing: &str, key: String) -> JsError {
    let value = if value.is_null() { "null" } else { "undefined" };
    let key = if key.is_empty() { key } else { format!(" ({doing} '{key}')") };
    JsNativeError::typ()
        .with_message(format!("Cannot {verb} properties of {value}{key}"))
        .into()
}

/// gleaner: a key as it is told, unless a script would have to run to tell it.
#[cold]
pub(crate) fn told_key(key: &JsValue) -> String {
    if key.is_object() {
        return String::new();
    }
    key.as_string()
        .map_or_else(|| key.display().to_string(), |key| key.to_std_string_escaped())
}

fn get_by_name<const LENGTH: bool>(
    (dst, object, receiver, index): (RegisterOperand, RegisterOperand, RegisterOperand, IndexOperand),
    context: &mut Context,
) -> JsResult<()> {
    // gleaner: what is known of an object takes no references.
    let value = context.vm.get_register(object.into());
    let Some(object) = value.object_unowned() else {
        return get_of_primitive::<LENGTH>((dst, object, receiver, index), context);
    };
    if LENGTH && object.is_array() {
        let value = object.borrow().properties().storage[0].clone();
        context.vm.set_register(dst.into(), value);
        return Ok(());
    }
    let ic = &context.vm.frame().code_block().ic[usize::from(index)];
    let found = ic.find::<false>(&object).map(|cached| cached.read());
    let result = match found {
        Some(Found::Data(value)) => value,
        Some(Found::Absent) => JsValue::undefined(),
        found => {
            let object = (*object).clone();
            let receiver = context.vm.get_register(receiver.into()).clone();
            get_uncached(&object, receiver, found, index, context)?
        }
    };
    context.vm.set_register(dst.into(), result);
    Ok(())
}

/// gleaner: gets a property of a value that is no object.
#[inline(never)]
fn get_of_primitive<const LENGTH: bool>(
    (dst, object, receiver, index): (RegisterOperand, RegisterOperand, RegisterOperand, IndexOperand),
    context: &mut Context,
) -> JsResult<()> {
    let value = context.vm.get_register(object.into()).clone();
    // NOTE: Since we’re using the prototype returned directly by `base_class()`,
    //       we need to handle string primitives separately due to the
    //       string exotic internal methods.
    if LENGTH && let Some(string) = value.as_string() {
        context
            .vm
            .set_register(dst.into(), (string.len() as u32).into());
        return Ok(());
    }

    // OPTIMIZATION:
    //    Instead of calling `to_object()`, which creates a temporary wrapper object for primitive
    //    values (e.g., numbers, strings, booleans) just to query their prototype chain.
    //
    //    To prevent the creation of a temporary JsObject, we directly retrieve the prototype that
    //    `to_object()` would produce, such as `Number.prototype`, `String.prototype`, etc.
    if value.is_null_or_undefined() {
        // gleaner: the error names the property.
        let key = &context.vm.frame().code_block().ic[usize::from(index)].name;
        return Err(no_object(&value, "read", "reading", key.to_std_string_escaped()));
    }
    let object = value.base_class(context)?;
    let receiver = context.vm.get_register(receiver.into()).clone();
    let ic = &context.vm.frame().code_block().ic[usize::from(index)];
    let found = ic.find::<false>(&object).map(|cached| cached.read());
    let result = get_uncached(&object, receiver, found, index, context)?;
    context.vm.set_register(dst.into(), result);
    Ok(())
}

/// gleaner: gets a property that its place knows nothing of, or knows a getter of.
fn get_uncached(
    object: &JsObject,
    receiver: JsValue,
    found: Option<Found>,
    index: IndexOperand,
    context: &mut Context,
) -> JsResult<JsValue> {
    let ic = &context.vm.frame().code_block().ic[usize::from(index)];
    match found.or_else(|| ic.look_up(object)) {
        Some(Found::Data(value)) => return Ok(value),
        Some(Found::Absent) => return Ok(JsValue::undefined()),
        Some(Found::Getter(getter)) => {
            let getter = getter.as_object().expect("should contain getter");
            return getter.call(&receiver, &[], context);
        }
        None => {}
    }

    let key: PropertyKey = ic.name.clone().into();

    let context = &mut InternalMethodPropertyContext::new(context);
    let result = object.__get__(&key, receiver, context)?;

    // Cache the property.
    let slot = *context.slot();
    if slot.is_cacheable() {
        let ic = &context.vm.frame().code_block.ic[usize::from(index)];
        let object_borrowed = object.borrow();
        let shape = object_borrowed.shape();
        ic.set(shape, slot);
    }
    Ok(result)
}

fn get_by_value<const PUSH_KEY: bool>(
    (dst, key, receiver, object): (
        RegisterOperand,
        RegisterOperand,
        RegisterOperand,
        RegisterOperand,
    ),
    context: &mut Context,
) -> JsResult<()> {
    // gleaner: an element of an array, or a letter, takes no references, and a key that is a number stays one.
    if let Some(at) = context.vm.get_register(key.into()).as_i32()
        && at >= 0
    {
        let base = context.vm.get_register(object.into());
        let element = match base.object_unowned() {
            Some(array) if array.is_array() => array.borrow().properties().get_dense_property(at as u32),
            Some(_) => None,
            None => base.letter_at(at as usize).map(JsValue::from),
        };
        if let Some(element) = element {
            context.vm.set_register(dst.into(), element);
            return Ok(());
        }
    }
    let key_value = context.vm.get_register(key.into()).clone();
    let base = context.vm.get_register(object.into()).clone();
    if base.is_null_or_undefined() {
        return Err(no_object(&base, "read", "reading", told_key(&key_value)));
    }
    let object = base.base_class(context)?;
    let key_value = key_value.to_property_key(context)?;

    // Fast Path
    //
    // NOTE: Since we’re using the prototype returned directly by `base_class()`,
    //       we need to handle string primitives separately due to the
    //       string exotic internal methods.
    match &key_value {
        PropertyKey::Index(index) => {
            if object.is_array() {
                let object_borrowed = object.borrow();
                if let Some(element) = object_borrowed.properties().get_dense_property(index.get())
                {
                    if PUSH_KEY {
                        context.vm.set_register(key.into(), key_value.into());
                    }

                    context.vm.set_register(dst.into(), element);
                    return Ok(());
                }
            } else if let Some(string) = base.as_string() {
                let value = string
                    .code_unit_at(index.get() as usize)
                    .map_or_else(JsValue::undefined, |char| {
                        js_string!([char].as_slice()).into()
                    });

                if PUSH_KEY {
                    context.vm.set_register(key.into(), key_value.into());
                }
                context.vm.set_register(dst.into(), value);
                return Ok(());
            }
        }
        PropertyKey::String(string) if *string == StaticJsStrings::LENGTH => {
            if let Some(string) = base.as_string() {
                let value = string.len().into();

                if PUSH_KEY {
                    context.vm.set_register(key.into(), key_value.into());
                }
                context.vm.set_register(dst.into(), value);
                return Ok(());
            }
        }
        _ => {}
    }

    let receiver = context.vm.get_register(receiver.into());

    // Slow path:
    let result = object.__get__(
        &key_value,
        receiver.clone(),
        &mut InternalMethodPropertyContext::new(context),
    )?;

    if PUSH_KEY {
        context.vm.set_register(key.into(), key_value.into());
    }
    context.vm.set_register(dst.into(), result);
    Ok(())
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct GetLengthProperty;

impl GetLengthProperty {
    #[inline(always)]
    pub(crate) fn operation(
        (dst, object, index): (RegisterOperand, RegisterOperand, IndexOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        get_by_name::<true>((dst, object, object, index), context)
    }
}

impl Operation for GetLengthProperty {
    const NAME: &'static str = "GetLengthProperty";
    const INSTRUCTION: &'static str = "INST - GetLengthProperty";
    const COST: u8 = 4;
}

/// `GetPropertyByName` implements the Opcode Operation for `Opcode::GetPropertyByName`
///
/// Operation:
///  - Get a property by name from an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetPropertyByName;

impl GetPropertyByName {
    #[inline(always)]
    pub(crate) fn operation(
        (dst, object, index): (RegisterOperand, RegisterOperand, IndexOperand),
        context: &mut Context,
    ) -> JsResult<()> {
        get_by_name::<false>((dst, object, object, index), context)
    }
}

impl Operation for GetPropertyByName {
    const NAME: &'static str = "GetPropertyByName";
    const INSTRUCTION: &'static str = "INST - GetPropertyByName";
    const COST: u8 = 4;
}

/// `GetPropertyByNameWithThis` implements the Opcode Operation for `Opcode::GetPropertyByNameWithThis`
///
/// Operation:
///  - Get a property by name from an object with this.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetPropertyByNameWithThis;

impl GetPropertyByNameWithThis {
    #[inline(always)]
    pub(crate) fn operation(
        (dst, receiver, value, index): (
            RegisterOperand,
            RegisterOperand,
            RegisterOperand,
            IndexOperand,
        ),
        context: &mut Context,
    ) -> JsResult<()> {
        get_by_name::<false>((dst, value, receiver, index), context)
    }
}

impl Operation for GetPropertyByNameWithThis {
    const NAME: &'static str = "GetPropertyByNameWithThis";
    const INSTRUCTION: &'static str = "INST - GetPropertyByNameWithThis";
    const COST: u8 = 4;
}

/// `GetPropertyByValue` implements the Opcode Operation for `Opcode::GetPropertyByValue`
///
/// Operation:
///  - Get a property by value from an object and store it in dst.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetPropertyByValue;

impl GetPropertyByValue {
    #[inline(always)]
    pub(crate) fn operation(
        args: (
            RegisterOperand,
            RegisterOperand,
            RegisterOperand,
            RegisterOperand,
        ),
        context: &mut Context,
    ) -> JsResult<()> {
        get_by_value::<false>(args, context)
    }
}

impl Operation for GetPropertyByValue {
    const NAME: &'static str = "GetPropertyByValue";
    const INSTRUCTION: &'static str = "INST - GetPropertyByValue";
    const COST: u8 = 4;
}

/// `GetPropertyByValuePush` implements the Opcode Operation for `Opcode::GetPropertyByValuePush`
///
/// Operation:
///  - Get a property by value from an object and store the key and value in registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetPropertyByValuePush;

impl GetPropertyByValuePush {
    #[inline(always)]
    pub(crate) fn operation(
        args: (
            RegisterOperand,
            RegisterOperand,
            RegisterOperand,
            RegisterOperand,
        ),
        context: &mut Context,
    ) -> JsResult<()> {
        get_by_value::<true>(args, context)
    }
}

impl Operation for GetPropertyByValuePush {
    const NAME: &'static str = "GetPropertyByValuePush";
    const INSTRUCTION: &'static str = "INST - GetPropertyByValuePush";
    const COST: u8 = 4;
}
