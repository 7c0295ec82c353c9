//! Keys (Indexed Database API §2.4), the ranges of them (§2.9), and the paths by which values tell theirs (§2.5).

use std::cmp::Ordering;
use std::ops::Bound;

use boa_engine::object::builtins::{JsArray, JsDate};
use boa_engine::{Context, Finalize, JsArgs, JsData, JsError, JsObject, JsResult, JsString, JsValue, Trace, js_string};

use crate::engine::{bind, exception};
use crate::limits;

/// A key, in the order of its kinds.
#[derive(Clone, Debug)]
pub(super) enum Key {
    Number(f64),
    Date(f64),
    Text(JsString),
    Bytes(Vec<u8>),
    List(Vec<Key>),
}

impl Key {
    /// A value as a key; `None` where it is none.
    ///
    /// # Errors
    /// What a getter of a list throws.
    pub fn of(value: &JsValue, context: &mut Context) -> JsResult<Option<Self>> {
        Self::at_depth(value, 0, context)
    }

    fn at_depth(value: &JsValue, depth: usize, context: &mut Context) -> JsResult<Option<Self>> {
        if let Some(number) = value.as_number() {
            // Both zeros are one key.
            return Ok((!number.is_nan()).then_some(Self::Number(number + 0.0)));
        }
        if let Some(text) = value.as_string() {
            return Ok(Some(Self::Text(text.clone())));
        }
        let Some(object) = value.as_object() else { return Ok(None) };
        if let Ok(date) = JsDate::from_object(object.clone()) {
            let time = date.get_time(context)?.to_number(context)?;
            return Ok((!time.is_nan()).then_some(Self::Date(time)));
        }
        if let Some(bytes) = bind::bytes(value, context)? {
            return Ok(Some(Self::Bytes(bytes)));
        }
        let Ok(list) = JsArray::from_object(object) else { return Ok(None) };
        let length = list.length(context)?;
        if depth >= limits::DATABASE_KEY_DEPTH_MAX || length > limits::DATABASE_KEY_PARTS_MAX {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for place in 0..length {
            let part = list.get(place, context)?;
            let Some(part) = Self::at_depth(&part, depth + 1, context)? else { return Ok(None) };
            parts.push(part);
        }
        Ok(Some(Self::List(parts)))
    }

    /// A value that must be a key.
    ///
    /// # Errors
    /// `DataError` where it is none.
    pub fn must(value: &JsValue, context: &mut Context) -> JsResult<Self> {
        Self::of(value, context)?.ok_or_else(|| data_error("The parameter is not a valid key.", context))
    }

    /// The key as scripts see it.
    pub fn put(&self, context: &mut Context) -> JsResult<JsValue> {
        Ok(match self {
            Self::Number(number) => (*number).into(),
            Self::Date(time) => {
                let constructor = context.intrinsics().constructors().date().constructor();
                constructor.construct(&[(*time).into()], None, context)?.into()
            }
            Self::Text(text) => text.clone().into(),
            Self::Bytes(bytes) => bind::buffer(bytes, context)?.into(),
            Self::List(parts) => {
                let parts: Vec<JsValue> = parts.iter().map(|part| part.put(context)).collect::<JsResult<_>>()?;
                bind::array(parts, context)
            }
        })
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Number(_) => 0,
            Self::Date(_) => 1,
            Self::Text(_) => 2,
            Self::Bytes(_) => 3,
            Self::List(_) => 4,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) | (Self::Date(one), Self::Date(two)) => one.total_cmp(two),
            (Self::Text(one), Self::Text(two)) => one.iter().cmp(two.iter()),
            (Self::Bytes(one), Self::Bytes(two)) => one.cmp(two),
            (Self::List(one), Self::List(two)) => one.cmp(two),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

pub(super) fn data_error(message: &str, context: &mut Context) -> JsError {
    exception::error("DataError", message, context)
}

/// Where a value has its key: nowhere, at a path, or at several which make a list.
#[derive(Clone, Debug, Default)]
pub(super) enum Path {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

impl Path {
    /// A path as a script gives it.
    ///
    /// # Errors
    /// What a conversion throws.
    pub fn of(value: &JsValue, context: &mut Context) -> JsResult<Self> {
        if value.is_null_or_undefined() {
            return Ok(Self::None);
        }
        if let Some(list) = value.as_object().filter(JsObject::is_array) {
            let parts = bind::values(&list, limits::DATABASE_KEY_DEPTH_MAX, context)?;
            let parts: JsResult<Vec<String>> =
                parts.iter().map(|part| Ok(part.to_string(context)?.to_std_string_lossy())).collect();
            return parts.map(Self::Many);
        }
        Ok(Self::One(value.to_string(context)?.to_std_string_lossy()))
    }

    /// The path as scripts see it.
    pub fn put(&self, context: &mut Context) -> JsValue {
        match self {
            Self::None => JsValue::null(),
            Self::One(path) => bind::js(path),
            Self::Many(paths) => bind::array(paths.iter().map(|path| bind::js(path)), context),
        }
    }

    /// What stands in a value at the path.
    ///
    /// # Errors
    /// What a getter throws.
    pub fn find(&self, value: &JsValue, context: &mut Context) -> JsResult<Option<JsValue>> {
        match self {
            Self::None => Ok(None),
            Self::One(path) => at(value, path, context),
            Self::Many(paths) => {
                let mut parts = Vec::new();
                for path in paths {
                    let Some(part) = at(value, path, context)? else { return Ok(None) };
                    parts.push(part);
                }
                Ok(Some(bind::array(parts, context)))
            }
        }
    }

    /// Writes a key into a value that has none, as stores that number their values do.
    ///
    /// # Errors
    /// When the value has no room for it.
    pub fn inject(&self, value: &JsValue, key: JsValue, context: &mut Context) -> JsResult<()> {
        let Self::One(path) = self else { return Ok(()) };
        let refusal = "A generated key could not be inserted into the value.";
        let (way, last) = path.rsplit_once('.').unwrap_or(("", path));
        let mut holder = value.as_object().ok_or_else(|| data_error(refusal, context))?;
        for step in way.split('.').filter(|step| !step.is_empty()) {
            let next = holder.get(js_string!(step), context)?;
            holder = match next.as_object() {
                Some(next) => next,
                None => {
                    let made = JsObject::with_object_proto(context.intrinsics());
                    holder.create_data_property_or_throw(js_string!(step), made.clone(), context)?;
                    made
                }
            };
        }
        holder.create_data_property_or_throw(js_string!(last), key, context).map(drop)
    }
}

fn at(value: &JsValue, path: &str, context: &mut Context) -> JsResult<Option<JsValue>> {
    let mut found = value.clone();
    for step in path.split('.').filter(|step| !step.is_empty()) {
        if let (Some(text), "length") = (found.as_string(), step) {
            found = u32::try_from(text.len()).unwrap_or(u32::MAX).into();
            continue;
        }
        let Some(object) = found.as_object() else { return Ok(None) };
        found = object.get(js_string!(step), context)?;
    }
    Ok((!found.is_undefined()).then_some(found))
}

/// Keys between two ends, each of which may be open.
#[derive(Clone, Debug, Default, Trace, Finalize, JsData)]
pub(super) struct Range {
    #[unsafe_ignore_trace]
    lower: Option<(Key, bool)>,
    #[unsafe_ignore_trace]
    upper: Option<(Key, bool)>,
}

impl Range {
    /// A query as a script gives it: nothing for all keys, a range, or one key.
    ///
    /// # Errors
    /// `DataError` for anything else.
    pub fn of(value: &JsValue, context: &mut Context) -> JsResult<Self> {
        if value.is_null_or_undefined() {
            return Ok(Self::default());
        }
        if let Some(range) =
            value.as_object().and_then(|object| object.downcast_ref::<Self>().map(|range| range.clone()))
        {
            return Ok(range);
        }
        Ok(Self::only(Key::must(value, context)?))
    }

    pub fn only(key: Key) -> Self {
        Self { lower: Some((key.clone(), false)), upper: Some((key, false)) }
    }

    pub fn contains(&self, key: &Key) -> bool {
        let above = self.lower.as_ref().is_none_or(|(end, open)| if *open { key > end } else { key >= end });
        above && self.upper.as_ref().is_none_or(|(end, open)| if *open { key < end } else { key <= end })
    }

    /// Where a walk over sorted keys may begin.
    pub fn start(&self) -> Bound<&Key> {
        match &self.lower {
            None => Bound::Unbounded,
            Some((key, true)) => Bound::Excluded(key),
            Some((key, false)) => Bound::Included(key),
        }
    }

    /// Whether no key from this one on is in the range.
    pub fn is_over(&self, key: &Key) -> bool {
        self.upper.as_ref().is_some_and(|(end, open)| if *open { key >= end } else { key > end })
    }
}

fn end_of(this: &JsValue, which: fn(&Range) -> &Option<(Key, bool)>, context: &mut Context) -> JsResult<JsValue> {
    let range = bind::this::<Range>(this)?.borrow().data().clone();
    which(&range).as_ref().map_or_else(|| Ok(JsValue::undefined()), |(key, _)| key.put(context))
}

fn made(range: Range, context: &mut Context) -> JsResult<JsValue> {
    if let (Some((lower, lower_open)), Some((upper, upper_open))) = (&range.lower, &range.upper)
        && (lower > upper || (lower == upper && (*lower_open || *upper_open)))
    {
        return Err(data_error("The lower key is greater than the upper key.", context));
    }
    bind::object("IDBKeyRange", range, context).map(JsValue::from)
}

pub(super) const RANGE: bind::Interface = bind::Interface {
    name: "IDBKeyRange",
    methods: &[("includes", 1, |this, args, context| {
        let key = Key::must(args.get_or_undefined(0), context)?;
        Ok(bind::this::<Range>(this)?.borrow().data().contains(&key).into())
    })],
    attributes: &[
        ("lower", |this, _, context| end_of(this, |range| &range.lower, context), None),
        ("upper", |this, _, context| end_of(this, |range| &range.upper, context), None),
        (
            "lowerOpen",
            |this, _, _| Ok(bind::this::<Range>(this)?.borrow().data().lower.as_ref().is_none_or(|end| end.1).into()),
            None,
        ),
        (
            "upperOpen",
            |this, _, _| Ok(bind::this::<Range>(this)?.borrow().data().upper.as_ref().is_none_or(|end| end.1).into()),
            None,
        ),
    ],
    statics: &[
        ("only", 1, |_, args, context| made(Range::only(Key::must(args.get_or_undefined(0), context)?), context)),
        ("lowerBound", 1, |_, args, context| {
            let lower = Some((Key::must(args.get_or_undefined(0), context)?, args.get_or_undefined(1).to_boolean()));
            made(Range { lower, upper: None }, context)
        }),
        ("upperBound", 1, |_, args, context| {
            let upper = Some((Key::must(args.get_or_undefined(0), context)?, args.get_or_undefined(1).to_boolean()));
            made(Range { lower: None, upper }, context)
        }),
        ("bound", 2, |_, args, context| {
            let lower = Some((Key::must(args.get_or_undefined(0), context)?, args.get_or_undefined(2).to_boolean()));
            let upper = Some((Key::must(args.get_or_undefined(1), context)?, args.get_or_undefined(3).to_boolean()));
            made(Range { lower, upper }, context)
        }),
    ],
    ..bind::Interface::EMPTY
};
