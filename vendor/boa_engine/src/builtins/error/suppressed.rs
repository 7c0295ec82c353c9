//! gleaner: the global `SuppressedError` object: an error that was thrown while something was disposed of because of another one.
//!
//! More information:
//!  - [ECMAScript reference][spec]
//!
//! [spec]: https://tc39.es/proposal-explicit-resource-management/#sec-suppressederror-objects

use crate::{
    Context, JsArgs, JsExpect, JsResult, JsString, JsValue,
    builtins::{BuiltInBuilder, BuiltInConstructor, BuiltInObject, IntrinsicObject},
    context::intrinsics::{Intrinsics, StandardConstructor, StandardConstructors},
    js_string,
    object::{JsObject, internal_methods::get_prototype_from_constructor},
    property::Attribute,
    realm::Realm,
    string::StaticString,
};
use boa_macros::js_str;

use super::{Error, ErrorKind};

static NAME: StaticString = StaticString::new(js_str!("SuppressedError"));

#[derive(Debug, Clone, Copy)]
pub(crate) struct SuppressedError;

impl IntrinsicObject for SuppressedError {
    fn init(realm: &Realm) {
        let attribute = Attribute::WRITABLE | Attribute::NON_ENUMERABLE | Attribute::CONFIGURABLE;
        BuiltInBuilder::from_standard_constructor::<Self>(realm)
            .prototype(realm.intrinsics().constructors().error().constructor())
            .inherits(Some(realm.intrinsics().constructors().error().prototype()))
            .property(js_string!("name"), Self::NAME, attribute)
            .property(js_string!("message"), js_string!(), attribute)
            .build();
    }

    fn get(intrinsics: &Intrinsics) -> JsObject {
        Self::STANDARD_CONSTRUCTOR(intrinsics.constructors()).constructor()
    }
}

impl BuiltInObject for SuppressedError {
    const NAME: JsString = JsString::from_static(&NAME);
}

impl BuiltInConstructor for SuppressedError {
    const CONSTRUCTOR_ARGUMENTS: usize = 3;
    const PROTOTYPE_STORAGE_SLOTS: usize = 2;
    const CONSTRUCTOR_STORAGE_SLOTS: usize = 0;

    const STANDARD_CONSTRUCTOR: fn(&StandardConstructors) -> &StandardConstructor =
        StandardConstructors::suppressed_error;

    /// [`SuppressedError ( error, suppressed, message )`][spec]
    ///
    /// [spec]: https://tc39.es/proposal-explicit-resource-management/#sec-suppressederror
    fn constructor(
        new_target: &JsValue,
        args: &[JsValue],
        context: &mut Context,
    ) -> JsResult<JsValue> {
        // 1. If NewTarget is undefined, let newTarget be the active function object; else let newTarget be NewTarget.
        let new_target = &if new_target.is_undefined() {
            let constructor = context.active_function_object();
            constructor.unwrap_or_else(|| Self::get(context.intrinsics())).into()
        } else {
            new_target.clone()
        };
        // 2. Let O be ? OrdinaryCreateFromConstructor(newTarget, "%SuppressedError.prototype%", « [[ErrorData]] »).
        let prototype = get_prototype_from_constructor(
            new_target,
            StandardConstructors::suppressed_error,
            context,
        )?;
        let error = Error::with_caller_position(ErrorKind::Error, new_target, context);
        let o = JsObject::from_proto_and_data(prototype, error);

        // 3. If message is not undefined, then
        let message = args.get_or_undefined(2);
        if !message.is_undefined() {
            let message = message.to_string(context)?;
            o.create_non_enumerable_data_property_or_throw(js_string!("message"), message, context);
        }
        // 4. - 5. The properties.
        for (name, value) in [("error", 0), ("suppressed", 1)] {
            let value = args.get_or_undefined(value).clone();
            o.create_non_enumerable_data_property_or_throw(js_string!(name), value, context);
        }
        // 6. Return O.
        Ok(o.into())
    }
}

impl SuppressedError {
    /// The error of a disposal that failed after another error.
    pub(crate) fn of(error: JsValue, suppressed: JsValue, context: &mut Context) -> JsResult<JsValue> {
        let constructor = Self::get(context.intrinsics());
        let message = js_string!("An error was suppressed during disposal");
        let made = constructor.construct(&[error, suppressed, message.into()], None, context);
        Ok(made.js_expect("it throws nothing")?.into())
    }
}
