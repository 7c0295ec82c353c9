//! `localStorage` and `sessionStorage` (HTML §12.2): tables of texts. Their final contents are reported to the crawl, which may pass them
//! to another page of the origin.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsString, JsValue, Trace};

use crate::engine::{bind, exception};
use crate::limits;
use crate::web::webidl::exotic::{self, computed};
use crate::wire::Stored;

/// Keys and values, in order of the keys' insertion.
#[derive(Default, Trace, Finalize, JsData)]
struct Storage {
    #[unsafe_ignore_trace]
    pairs: Vec<(JsString, JsString)>,
    #[unsafe_ignore_trace]
    units: usize,
}

impl Storage {
    fn of(pairs: &[(String, String)]) -> Self {
        let mut storage = Self::default();
        for (key, value) in pairs {
            storage.set(key.as_str().into(), value.as_str().into());
        }
        storage
    }

    /// The pairs that fit into the crawl's limit, without those that are not valid Unicode.
    fn told(&self) -> Vec<(String, String)> {
        let mut room = limits::RENDER_STORED_BYTES_MAX;
        let pairs = self.pairs.iter().filter_map(|(key, value)| {
            let pair = (key.to_std_string().ok()?, value.to_std_string().ok()?);
            room = room.checked_sub(pair.0.len() + pair.1.len())?;
            Some(pair)
        });
        pairs.collect()
    }

    fn get(&self, key: &JsString) -> Option<JsString> {
        self.pairs.iter().find(|(other, _)| other == key).map(|(_, value)| value.clone())
    }

    /// False if the limit is reached.
    fn set(&mut self, key: JsString, value: JsString) -> bool {
        let old = self.get(&key).map_or(0, |old| key.len() + old.len());
        let units = self.units - old + key.len() + value.len();
        if units > limits::RENDER_STORAGE_BYTES_MAX {
            return false;
        }
        self.units = units;
        match self.pairs.iter_mut().find(|(other, _)| *other == key) {
            Some(pair) => pair.1 = value,
            None => self.pairs.push((key, value)),
        }
        true
    }

    fn remove(&mut self, key: &JsString) {
        if let Some(place) = self.pairs.iter().position(|(other, _)| other == key) {
            let (key, value) = self.pairs.remove(place);
            self.units -= key.len() + value.len();
        }
    }
}

static KIND: exotic::Kind = computed!(exotic::Computed {
    named: |object, name, _| {
        let storage = object.downcast_ref::<Storage>();
        Ok(storage.and_then(|storage| storage.get(name)).map(JsValue::from))
    },
    names: |object, _| {
        let storage = object.downcast_ref::<Storage>();
        Ok(storage.map_or_else(Vec::new, |storage| storage.pairs.iter().map(|(key, _)| key.clone()).collect()))
    },
    set: Some(|object, key, value, context| {
        let key = JsValue::from(key.clone()).to_string(context)?;
        let value = value.to_string(context)?;
        put(object, key, value, context)?;
        Ok(true)
    }),
    delete: Some(|object, key, context| {
        let key = JsValue::from(key.clone()).to_string(context)?;
        if let Some(mut storage) = object.downcast_mut::<Storage>() {
            storage.remove(&key);
        }
        Ok(())
    }),
    enumerable_names: true,
    ..exotic::Computed::EMPTY
});

const STORAGE: bind::Interface = bind::Interface {
    name: "Storage",
    methods: &[
        ("getItem", 1, |this, args, context| {
            let storage = exotic::this::<Storage>(this, context)?;
            bind::want(args, 1, "getItem' on 'Storage")?;
            let key = args[0].to_string(context)?;
            Ok(storage.borrow().data().get(&key).map_or_else(JsValue::null, JsValue::from))
        }),
        ("setItem", 2, |this, args, context| {
            let storage = exotic::this::<Storage>(this, context)?;
            bind::want(args, 2, "setItem' on 'Storage")?;
            let (key, value) = (args[0].to_string(context)?, args[1].to_string(context)?);
            put(&storage.upcast(), key, value, context)?;
            Ok(JsValue::undefined())
        }),
        ("removeItem", 1, |this, args, context| {
            let storage = exotic::this::<Storage>(this, context)?;
            bind::want(args, 1, "removeItem' on 'Storage")?;
            let key = args[0].to_string(context)?;
            storage.borrow_mut().data_mut().remove(&key);
            Ok(JsValue::undefined())
        }),
        ("clear", 0, |this, _, context| {
            *exotic::this::<Storage>(this, context)?.borrow_mut().data_mut() = Storage::default();
            Ok(JsValue::undefined())
        }),
        ("key", 1, |this, args, context| {
            let storage = exotic::this::<Storage>(this, context)?;
            let index = args.get_or_undefined(0).to_u32(context)?;
            let storage = storage.borrow();
            let pair = storage.data().pairs.get(index as usize);
            Ok(pair.map_or_else(JsValue::null, |(key, _)| key.clone().into()))
        }),
    ],
    attributes: &[(
        "length",
        |this, _, context| {
            let count = exotic::this::<Storage>(this, context)?.borrow().data().pairs.len();
            Ok(u32::try_from(count).unwrap_or(u32::MAX).into())
        },
        None,
    )],
    ..bind::Interface::EMPTY
};

/// The two storages of a page, which all of its windows share.
struct PageStorages {
    local: JsObject,
    session: JsObject,
}

/// The final contents of both storages.
pub(crate) fn told(context: &mut Context) -> Stored {
    let mut of = |which: fn(&PageStorages) -> &JsObject| {
        let object = own_of(context, which);
        let storage = exotic::this::<Storage>(&object, context).ok();
        storage.map(|storage| storage.borrow().data().told()).unwrap_or_default()
    };
    Stored { local: of(|own| &own.local), session: of(|own| &own.session) }
}

pub(crate) fn install(given: &Stored, context: &mut Context) -> JsResult<()> {
    bind::define(&STORAGE, context)?;
    if !context.has_data::<PageStorages>() {
        let own = PageStorages {
            local: exotic::object("Storage", Storage::of(&given.local), &KIND, context)?,
            session: exotic::object("Storage", Storage::of(&given.session), &KIND, context)?,
        };
        context.insert_data(own);
    }
    let attributes: &[bind::Attribute] = &[
        ("localStorage", |_, _, context| Ok(own_of(context, |own| &own.local)), None),
        ("sessionStorage", |_, _, context| Ok(own_of(context, |own| &own.session)), None),
    ];
    let global = context.global_object();
    bind::attributes(&global, attributes, context)
}

fn own_of(context: &Context, which: fn(&PageStorages) -> &JsObject) -> JsValue {
    context.get_data::<PageStorages>().map_or_else(JsValue::null, |own| which(own).clone().into())
}

fn put(object: &JsObject, key: JsString, value: JsString, context: &mut Context) -> JsResult<()> {
    let kept = object.downcast_mut::<Storage>().is_some_and(|mut storage| storage.set(key, value));
    if kept {
        return Ok(());
    }
    Err(exception::error("QuotaExceededError", "The storage is full.", context))
}
