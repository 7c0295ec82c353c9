//! Interfaces that are lists of pairs (WebIDL §3.7.9 "iterable declarations"): `entries`, `keys`, `values`, `forEach` and live iteration.

use boa_engine::object::NativeObject;
use boa_engine::object::builtins::JsArray;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsSymbol, JsValue, Trace, js_string};

use std::cell::RefCell;

use super::{bind, realm};

/// A list of pairs.
pub(super) trait Pairs: NativeObject {
    fn pair(&self, index: usize, context: &mut Context) -> Option<(JsValue, JsValue)>;
}

/// An iterator over such a list.
#[derive(Trace, Finalize, JsData)]
struct Iterator {
    list: JsObject,
    #[unsafe_ignore_trace]
    index: usize,
    #[unsafe_ignore_trace]
    part: Part,
    #[unsafe_ignore_trace]
    pair: fn(&JsObject, usize, &mut Context) -> Option<(JsValue, JsValue)>,
}

#[derive(Clone, Copy)]
enum Part {
    Both,
    Key,
    Value,
}

fn pair_of<T: Pairs>(list: &JsObject, index: usize, context: &mut Context) -> Option<(JsValue, JsValue)> {
    list.downcast_ref::<T>().and_then(|list| list.pair(index, context))
}

/// Adds the five members to an interface's prototype.
pub(super) fn install<T: Pairs>(prototype: &JsObject, name: &'static str, context: &mut Context) -> JsResult<()> {
    let methods: &[bind::Method] = &[
        ("entries", 0, |this, _, context| iterator::<T>(this, Part::Both, context)),
        ("keys", 0, |this, _, context| iterator::<T>(this, Part::Key, context)),
        ("values", 0, |this, _, context| iterator::<T>(this, Part::Value, context)),
        ("forEach", 1, for_each::<T>),
    ];
    bind::methods(prototype, methods, context)?;
    let entries = prototype.get(js_string!("entries"), context)?;
    bind::hidden(prototype, JsSymbol::iterator(), entries, true, context)?;
    let of_arrays = JsArray::new(context)?.values(context)?;
    let iterator_prototype =
        of_arrays.as_object().and_then(|object| object.prototype()).and_then(|object| object.prototype());
    let own = JsObject::from_proto_and_data(iterator_prototype, ());
    bind::methods(&own, &[("next", 0, next)], context)?;
    let tag = PropertyDescriptor::builder()
        .value(js_string!(format!("{name} Iterator")))
        .writable(false)
        .enumerable(false)
        .configurable(true);
    own.define_property_or_throw(JsSymbol::to_string_tag(), tag, context)?;
    if realm::own::<Prototypes>(context).is_none() {
        realm::keep(Prototypes::default(), context);
    }
    if let Some(prototypes) = realm::own::<Prototypes>(context) {
        prototypes.0.borrow_mut().push((std::any::TypeId::of::<T>(), own));
    }
    Ok(())
}

/// Iterator prototypes by the type of their lists.
#[derive(Default)]
struct Prototypes(RefCell<Vec<(std::any::TypeId, JsObject)>>);

fn iterator<T: Pairs>(this: &JsValue, part: Part, context: &mut Context) -> JsResult<JsValue> {
    let list = bind::this::<T>(this)?.upcast();
    let prototypes = realm::own::<Prototypes>(context);
    let prototype = prototypes.and_then(|all| {
        let all = all.0.borrow();
        all.iter().find(|(id, _)| *id == std::any::TypeId::of::<T>()).map(|(_, prototype)| prototype.clone())
    });
    let iterator = Iterator { list, index: 0, part, pair: pair_of::<T> };
    Ok(JsObject::from_proto_and_data(prototype, iterator).into())
}

fn next(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let this = bind::this::<Iterator>(this)?;
    let (list, index, part, pair) = {
        let mut this = this.borrow_mut();
        let data = this.data_mut();
        data.index += 1;
        (data.list.clone(), data.index - 1, data.part, data.pair)
    };
    let (value, done) = match pair(&list, index, context) {
        None => {
            // A finished iterator stays finished.
            this.borrow_mut().data_mut().index = index;
            (JsValue::undefined(), true)
        }
        Some((name, value)) => match part {
            Part::Key => (name, false),
            Part::Value => (value, false),
            Part::Both => (bind::array([name, value], context), false),
        },
    };
    let result = JsObject::with_object_proto(context.intrinsics());
    result.create_data_property_or_throw(js_string!("value"), value, context)?;
    result.create_data_property_or_throw(js_string!("done"), done, context)?;
    Ok(result.into())
}

fn for_each<T: Pairs>(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let list = bind::this::<T>(this)?.upcast();
    let refusal = || bind::type_error("parameter 1 is not of type 'Function'.");
    let callback = args.get_or_undefined(0).as_callable().ok_or_else(refusal)?;
    let mut index = 0;
    while let Some((name, value)) = pair_of::<T>(&list, index, context) {
        callback.call(args.get_or_undefined(1), &[value, name, list.clone().into()], context)?;
        index += 1;
    }
    Ok(JsValue::undefined())
}
