//! What is asked of a store and of its indexes (Indexed Database API §4.5, §4.6), and cursors over them (§4.8). A cursor walks the keys that
//! were there when it was opened, and shows what is at each when it comes there.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};

use super::key::{Key, Path, Range, data_error};
use super::transaction::{Transaction, content_of, done, may, tell};
use super::{Index, Request, Shared, Store, constraint, gone, name_list, upgrade_of};
use crate::engine::{bind, clone, exception};
use crate::limits;

/// An `IDBObjectStore`, or an `IDBIndex` of it.
#[derive(Clone, Trace, Finalize, JsData)]
#[boa_gc(unsafe_no_drop)]
struct Handle {
    transaction: JsObject<Transaction>,
    #[unsafe_ignore_trace]
    store: String,
    #[unsafe_ignore_trace]
    index: Option<String>,
}

#[derive(Trace, Finalize, JsData)]
struct Cursor {
    handle: Handle,
    source: JsValue,
    request: JsObject,
    /// Keys with the keys of their records, in the cursor's order.
    #[unsafe_ignore_trace]
    keys: Vec<(Key, Key)>,
    #[unsafe_ignore_trace]
    place: usize,
    with_values: bool,
    #[unsafe_ignore_trace]
    direction: &'static str,
}

const STORE: bind::Interface = bind::Interface {
    name: "IDBObjectStore",
    methods: &[
        ("put", 1, |this, args, context| write(this, args, true, context)),
        ("add", 1, |this, args, context| write(this, args, false, context)),
        ("delete", 1, |this, args, context| {
            if args.get_or_undefined(0).is_null_or_undefined() {
                return Err(data_error("No key or key range specified.", context));
            }
            let range = Range::of(args.get_or_undefined(0), context)?;
            change(this, |store| remove(store, &range), context)
        }),
        ("clear", 0, |this, _, context| change(this, |store| remove(store, &Range::default()), context)),
        ("createIndex", 2, create_index),
        ("deleteIndex", 1, |this, args, context| {
            let handle = bind::this::<Handle>(this)?.borrow().data().clone();
            let name = bind::text(args, 0, context)?;
            let content = may(&handle.transaction, true, context)?;
            let known =
                content.borrow_mut().stores.get_mut(&handle.store).and_then(|store| store.indexes.remove(&name));
            match known {
                Some(_) => Ok(JsValue::undefined()),
                None => Err(exception::error("NotFoundError", "The index was not found.", context)),
            }
        }),
        ("index", 1, |this, args, context| {
            let handle = bind::this::<Handle>(this)?.borrow().data().clone();
            let name = bind::text(args, 0, context)?;
            let content = may(&handle.transaction, false, context)?;
            let is_known =
                content.borrow().stores.get(&handle.store).is_some_and(|store| store.indexes.contains_key(&name));
            if !is_known {
                return Err(exception::error("NotFoundError", "The index was not found.", context));
            }
            bind::object("IDBIndex", Handle { index: Some(name), ..handle }, context).map(JsValue::from)
        }),
    ],
    attributes: &[
        ("name", |this, _, _| Ok(bind::js(&bind::this::<Handle>(this)?.borrow().data().store)), None),
        ("keyPath", |this, _, context| of_store(this, |store, context| store.path.put(context), context), None),
        ("autoIncrement", |this, _, context| of_store(this, |store, _| store.numbers.into(), context), None),
        (
            "indexNames",
            |this, _, context| {
                let handle = bind::this::<Handle>(this)?.borrow().data().clone();
                let names: Vec<String> = content_of(&handle.transaction)
                    .and_then(|content| {
                        let content = content.borrow();
                        content.stores.get(&handle.store).map(|store| store.indexes.keys().cloned().collect())
                    })
                    .unwrap_or_default();
                name_list(&names, context)
            },
            None,
        ),
        ("transaction", |this, _, _| Ok(bind::this::<Handle>(this)?.borrow().data().transaction.clone().into()), None),
    ],
    ..bind::Interface::EMPTY
};

const INDEX: bind::Interface = bind::Interface {
    name: "IDBIndex",
    attributes: &[
        (
            "name",
            |this, _, _| Ok(bind::js(bind::this::<Handle>(this)?.borrow().data().index.as_deref().unwrap_or_default())),
            None,
        ),
        ("keyPath", |this, _, context| of_index(this, |index, context| index.path.put(context), context), None),
        ("unique", |this, _, context| of_index(this, |index, _| index.unique.into(), context), None),
        ("multiEntry", |this, _, context| of_index(this, |index, _| index.multi.into(), context), None),
        (
            "objectStore",
            |this, _, context| {
                let handle = bind::this::<Handle>(this)?.borrow().data().clone();
                object(&handle.transaction, handle.store, context)
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

/// What both are asked for.
const READS: &[bind::Method] = &[
    ("get", 1, |this, args, context| look(this, args, Want::Value, context)),
    ("getKey", 1, |this, args, context| look(this, args, Want::Key, context)),
    ("getAll", 0, |this, args, context| look(this, args, Want::Values, context)),
    ("getAllKeys", 0, |this, args, context| look(this, args, Want::Keys, context)),
    ("count", 0, |this, args, context| look(this, args, Want::Count, context)),
    ("openCursor", 0, |this, args, context| open_cursor(this, args, true, context)),
    ("openKeyCursor", 0, |this, args, context| open_cursor(this, args, false, context)),
];

const CURSOR: bind::Interface = bind::Interface {
    name: "IDBCursor",
    methods: &[
        ("continue", 0, |this, args, context| {
            let cursor = bind::this::<Cursor>(this)?;
            let wanted = match args.get_or_undefined(0) {
                none if none.is_undefined() => None,
                key => Some(Key::must(key, context)?),
            };
            let mut place = cursor.borrow().data().place + 1;
            if let Some(wanted) = wanted {
                let cursor = cursor.borrow();
                let is_back = cursor.data().direction.starts_with("prev");
                let reached = |key: &Key| if is_back { *key <= wanted } else { *key >= wanted };
                while cursor.data().keys.get(place).is_some_and(|(key, _)| !reached(key)) {
                    place += 1;
                }
            }
            go_to(&cursor, place, context)
        }),
        ("advance", 1, |this, args, context| {
            let cursor = bind::this::<Cursor>(this)?;
            let count = args.get_or_undefined(0).to_u32(context)? as usize;
            if count == 0 {
                return Err(bind::type_error("A count argument with value 0 was supplied, must be greater than 0."));
            }
            let place = cursor.borrow().data().place.saturating_add(count);
            go_to(&cursor, place, context)
        }),
        ("update", 1, |this, args, context| {
            let cursor = bind::this::<Cursor>(this)?;
            let (handle, source, primary) = {
                let cursor = cursor.borrow();
                let own = cursor.data();
                (own.handle.clone(), own.source.clone(), own.keys.get(own.place).map(|(_, primary)| primary.clone()))
            };
            let value = clone::structured(args.get_or_undefined(0), context)?;
            let content = may(&handle.transaction, true, context)?;
            let Some(primary) = primary else { return Err(gone(context)) };
            let outcome = put(&handle.store, &content, value, Some(primary), true, context);
            done(&handle.transaction, source, outcome, context)
        }),
        ("delete", 0, |this, _, context| {
            let cursor = bind::this::<Cursor>(this)?;
            let (handle, source, primary) = {
                let cursor = cursor.borrow();
                let own = cursor.data();
                (own.handle.clone(), own.source.clone(), own.keys.get(own.place).map(|(_, primary)| primary.clone()))
            };
            let content = may(&handle.transaction, true, context)?;
            if let (Some(store), Some(primary)) = (content.borrow_mut().stores.get_mut(&handle.store), primary) {
                remove(store, &Range::only(primary));
            }
            done(&handle.transaction, source, Ok(JsValue::undefined()), context)
        }),
    ],
    attributes: &[
        ("source", |this, _, _| Ok(bind::this::<Cursor>(this)?.borrow().data().source.clone()), None),
        ("request", |this, _, _| Ok(bind::this::<Cursor>(this)?.borrow().data().request.clone().into()), None),
        ("direction", |this, _, _| Ok(bind::js(bind::this::<Cursor>(this)?.borrow().data().direction)), None),
        ("key", |this, _, context| key_at(this, |(key, _)| key, context), None),
        ("primaryKey", |this, _, context| key_at(this, |(_, primary)| primary, context), None),
    ],
    ..bind::Interface::EMPTY
};

const CURSOR_WITH_VALUE: bind::Interface = bind::Interface {
    name: "IDBCursorWithValue",
    parent: Some("IDBCursor"),
    attributes: &[(
        "value",
        |this, _, context| {
            let cursor = bind::this::<Cursor>(this)?;
            let (handle, primary) = {
                let cursor = cursor.borrow();
                let own = cursor.data();
                (own.handle.clone(), own.keys.get(own.place).map(|(_, primary)| primary.clone()))
            };
            let Some(content) = content_of(&handle.transaction) else { return Ok(JsValue::undefined()) };
            let value = primary.and_then(|primary| {
                content.borrow().stores.get(&handle.store).and_then(|store| store.records.get(&primary).cloned())
            });
            value.map_or_else(|| Ok(JsValue::undefined()), |value| clone::structured(&value, context))
        },
        None,
    )],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    for interface in [&STORE, &INDEX] {
        let prototype = bind::define(interface, context)?;
        bind::methods(&prototype, READS, context)?;
    }
    bind::define(&CURSOR, context)?;
    bind::define(&CURSOR_WITH_VALUE, context).map(drop)
}

pub(super) fn object(transaction: &JsObject<Transaction>, store: String, context: &mut Context) -> JsResult<JsValue> {
    let handle = Handle { transaction: transaction.clone(), store, index: None };
    bind::object("IDBObjectStore", handle, context).map(JsValue::from)
}

fn of_store(
    this: &JsValue,
    what: impl FnOnce(&Store, &mut Context) -> JsValue,
    context: &mut Context,
) -> JsResult<JsValue> {
    let handle = bind::this::<Handle>(this)?.borrow().data().clone();
    let content = content_of(&handle.transaction);
    // What is told of a store is no large part of it.
    let shape = content.and_then(|content| {
        content.borrow().stores.get(&handle.store).map(|store| Store {
            path: store.path.clone(),
            numbers: store.numbers,
            ..Store::default()
        })
    });
    shape.map_or_else(|| Ok(JsValue::undefined()), |shape| Ok(what(&shape, context)))
}

fn of_index(
    this: &JsValue,
    what: impl FnOnce(&Index, &mut Context) -> JsValue,
    context: &mut Context,
) -> JsResult<JsValue> {
    let handle = bind::this::<Handle>(this)?.borrow().data().clone();
    let content = content_of(&handle.transaction);
    let shape = content.and_then(|content| {
        let content = content.borrow();
        let index = content.stores.get(&handle.store)?.indexes.get(handle.index.as_deref()?)?;
        Some(Index { path: index.path.clone(), unique: index.unique, multi: index.multi, ..Index::default() })
    });
    shape.map_or_else(|| Ok(JsValue::undefined()), |shape| Ok(what(&shape, context)))
}

/// Does something to a store, and gives the request of it.
fn change(this: &JsValue, what: impl FnOnce(&mut Store), context: &mut Context) -> JsResult<JsValue> {
    let handle = bind::this::<Handle>(this)?.borrow().data().clone();
    let content = may(&handle.transaction, true, context)?;
    if let Some(store) = content.borrow_mut().stores.get_mut(&handle.store) {
        what(store);
    }
    done(&handle.transaction, this.clone(), Ok(JsValue::undefined()), context)
}

fn remove(store: &mut Store, range: &Range) {
    let gone: Vec<Key> = in_range(store.records.keys(), range);
    for key in &gone {
        store.records.remove(key);
    }
    if gone.is_empty() {
        return;
    }
    for index in store.indexes.values_mut() {
        index.entries.retain(|(_, primary)| !range.contains(primary));
    }
}

fn in_range<'a>(keys: impl Iterator<Item = &'a Key>, range: &Range) -> Vec<Key> {
    keys.filter(|key| range.contains(key)).cloned().collect()
}

/// `put` and `add`.
fn write(this: &JsValue, args: &[JsValue], replaces: bool, context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, if replaces { "put' on 'IDBObjectStore" } else { "add' on 'IDBObjectStore" })?;
    let handle = bind::this::<Handle>(this)?.borrow().data().clone();
    let content = may(&handle.transaction, true, context)?;
    let value = clone::structured(&args[0], context)?;
    let given = match args.get_or_undefined(1) {
        none if none.is_undefined() => None,
        key => Some(Key::must(key, context)?),
    };
    let shape = content.borrow().stores.get(&handle.store).map(|store| (store.path.clone(), store.numbers, store.next));
    let Some((path, numbers, next)) = shape else { return Err(gone(context)) };
    let has_path = !matches!(path, Path::None);
    let key = match (given, path.find(&value, context)?) {
        (Some(_), _) if has_path => {
            return Err(data_error("The object store uses in-line keys and the key parameter was provided.", context));
        }
        (Some(key), _) => key,
        (None, Some(found)) => Key::must(&found, context)?,
        (None, None) if numbers => {
            path.inject(&value, next.into(), context)?;
            Key::Number(next)
        }
        (None, None) => {
            return Err(data_error("The object store needs a key, and the value or the call gives none.", context));
        }
    };
    if let (Key::Number(number), true, Some(store)) =
        (&key, numbers, content.borrow_mut().stores.get_mut(&handle.store))
    {
        store.next = store.next.max(number.floor() + 1.0);
    }
    let outcome = put(&handle.store, &content, value, Some(key), replaces, context);
    done(&handle.transaction, this.clone(), outcome, context)
}

/// Puts a value that is a copy already under its key.
fn put(
    name: &str,
    content: &Shared,
    value: JsValue,
    key: Option<Key>,
    replaces: bool,
    context: &mut Context,
) -> JsResult<JsValue> {
    let Some(key) = key else { return Err(gone(context)) };
    let indexes: Vec<(String, Path, bool, bool)> = match content.borrow().stores.get(name) {
        Some(store) => {
            let shape =
                |(name, index): (&String, &Index)| (name.clone(), index.path.clone(), index.unique, index.multi);
            store.indexes.iter().map(shape).collect()
        }
        None => return Err(gone(context)),
    };
    let mut told = Vec::new();
    for (index, path, unique, multi) in indexes {
        told.push((index, unique, keys_of(&value, &path, multi, context)?));
    }
    let is_full = {
        let mut content = content.borrow_mut();
        let records: usize = content.stores.values().map(|store| store.records.len()).sum();
        let Some(store) = content.stores.get_mut(name) else { return Ok(JsValue::undefined()) };
        let is_known = store.records.contains_key(&key);
        let is_taken = told.iter().any(|(index, unique, keys)| {
            *unique && store.indexes.get(index).is_some_and(|index| is_taken(index, keys, &key))
        });
        if (is_known && !replaces) || is_taken {
            drop(content);
            return Err(constraint(context));
        }
        let is_full = !is_known && records >= limits::DATABASE_RECORDS_MAX;
        if !is_full {
            if is_known {
                remove(store, &Range::only(key.clone()));
            }
            for (index, _, keys) in told {
                if let Some(index) = store.indexes.get_mut(&index) {
                    index.entries.extend(keys.into_iter().map(|own| (own, key.clone())));
                }
            }
            store.records.insert(key.clone(), value);
        }
        is_full
    };
    if is_full {
        return Err(exception::error("QuotaExceededError", "The page's databases are full.", context));
    }
    key.put(context)
}

/// Whether another record has one of these keys.
fn is_taken(index: &Index, keys: &[Key], primary: &Key) -> bool {
    keys.iter().any(|key| entries(index, &Range::only(key.clone())).any(|(_, other)| other != primary))
}

/// The entries of an index in a range.
fn entries<'a>(index: &'a Index, range: &'a Range) -> impl Iterator<Item = &'a (Key, Key)> {
    let before = |entry: &&(Key, Key)| match range.start() {
        std::ops::Bound::Unbounded => false,
        std::ops::Bound::Included(key) => entry.0 < *key,
        std::ops::Bound::Excluded(key) => entry.0 <= *key,
    };
    index.entries.iter().skip_while(before).take_while(|(key, _)| !range.is_over(key))
}

/// The keys by which an index knows a value.
fn keys_of(value: &JsValue, path: &Path, multi: bool, context: &mut Context) -> JsResult<Vec<Key>> {
    let Some(found) = path.find(value, context)? else { return Ok(Vec::new()) };
    let list = found.as_object().filter(|list| multi && list.is_array());
    let Some(list) = list else { return Ok(Key::of(&found, context)?.into_iter().collect()) };
    let mut keys = Vec::new();
    for one in bind::values(&list, limits::PAIRS_MAX, context)? {
        keys.extend(Key::of(&one, context)?);
    }
    keys.sort();
    keys.dedup();
    Ok(keys)
}

fn create_index(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 2, "createIndex' on 'IDBObjectStore")?;
    let handle = bind::this::<Handle>(this)?.borrow().data().clone();
    let name = bind::text(args, 0, context)?;
    let path = Path::of(&args[1], context)?;
    let options = args.get_or_undefined(2);
    let (unique, multi) = (bind::flag(options, "unique", context)?, bind::flag(options, "multiEntry", context)?);
    let database = handle.transaction.borrow().data().database.clone();
    upgrade_of(&bind::this(&database.into())?, context)?;
    let content = may(&handle.transaction, true, context)?;
    let records: Option<Vec<(Key, JsValue)>> = content.borrow().stores.get(&handle.store).and_then(|store| {
        let has_room = store.indexes.len() < limits::DATABASE_STORES_MAX && !store.indexes.contains_key(&name);
        has_room.then(|| store.records.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
    });
    let Some(records) = records else {
        return Err(exception::error("ConstraintError", "The index exists already.", context));
    };
    let mut index = Index { path, unique, multi, ..Index::default() };
    for (primary, value) in records {
        let keys = keys_of(&value, &index.path, multi, context)?;
        index.entries.extend(keys.into_iter().map(|key| (key, primary.clone())));
    }
    if let Some(store) = content.borrow_mut().stores.get_mut(&handle.store) {
        store.indexes.insert(name.clone(), index);
    }
    bind::object("IDBIndex", Handle { index: Some(name), ..handle }, context).map(JsValue::from)
}

/// What is asked of the records in a range.
#[derive(Clone, Copy, PartialEq)]
enum Want {
    Value,
    Key,
    Values,
    Keys,
    Count,
}

fn look(this: &JsValue, args: &[JsValue], want: Want, context: &mut Context) -> JsResult<JsValue> {
    let handle = bind::this::<Handle>(this)?.borrow().data().clone();
    may(&handle.transaction, false, context)?;
    let query = args.get_or_undefined(0);
    if matches!(want, Want::Value | Want::Key) && query.is_null_or_undefined() {
        return Err(data_error("No key or key range specified.", context));
    }
    let range = Range::of(query, context)?;
    let most = match (want, args.get_or_undefined(1)) {
        (Want::Value | Want::Key, _) => 1,
        (Want::Values | Want::Keys, count) if !count.is_undefined() => match count.to_u32(context)? {
            0 => usize::MAX,
            count => count as usize,
        },
        _ => usize::MAX,
    };
    let found = listed(&handle, &range, most);
    let outcome = answer_of(&handle, found, want, context);
    done(&handle.transaction, this.clone(), outcome, context)
}

fn answer_of(handle: &Handle, found: Vec<(Key, Key)>, want: Want, context: &mut Context) -> JsResult<JsValue> {
    if want == Want::Count {
        return Ok(u32::try_from(found.len()).unwrap_or(u32::MAX).into());
    }
    let mut list = Vec::with_capacity(found.len());
    for (_, primary) in found {
        list.push(match want {
            Want::Key | Want::Keys => primary.put(context)?,
            _ => value_at(handle, &primary, context)?,
        });
    }
    Ok(match want {
        Want::Value | Want::Key => list.pop().unwrap_or_default(),
        _ => bind::array(list, context),
    })
}

/// A copy of a record.
fn value_at(handle: &Handle, primary: &Key, context: &mut Context) -> JsResult<JsValue> {
    let value = content_of(&handle.transaction).and_then(|content| {
        content.borrow().stores.get(&handle.store).and_then(|store| store.records.get(primary).cloned())
    });
    value.map_or_else(|| Ok(JsValue::undefined()), |value| clone::structured(&value, context))
}

/// The keys of a store or an index in a range, each with the key of its record.
fn listed(handle: &Handle, range: &Range, most: usize) -> Vec<(Key, Key)> {
    let Some(content) = content_of(&handle.transaction) else { return Vec::new() };
    let content = content.borrow();
    let Some(store) = content.stores.get(&handle.store) else { return Vec::new() };
    match &handle.index {
        Some(name) => {
            store.indexes.get(name).map(|index| entries(index, range).take(most).cloned().collect()).unwrap_or_default()
        }
        None => store
            .records
            .range((range.start(), std::ops::Bound::Unbounded))
            .take_while(|(key, _)| !range.is_over(key))
            .take(most)
            .map(|(key, _)| (key.clone(), key.clone()))
            .collect(),
    }
}

fn open_cursor(this: &JsValue, args: &[JsValue], with_values: bool, context: &mut Context) -> JsResult<JsValue> {
    let handle = bind::this::<Handle>(this)?.borrow().data().clone();
    may(&handle.transaction, false, context)?;
    let range = Range::of(args.get_or_undefined(0), context)?;
    let direction = match bind::text_if_given(args, 1, context)?.as_deref() {
        None | Some("next") => "next",
        Some("prev") => "prev",
        Some("nextunique") => "nextunique",
        Some("prevunique") => "prevunique",
        Some(other) => return Err(bind::type_error(format!("'{other}' is not a valid IDBCursorDirection."))),
    };
    let mut keys = listed(&handle, &range, usize::MAX);
    if direction.ends_with("unique") {
        keys.dedup_by(|one, two| one.0 == two.0);
    }
    if direction.starts_with("prev") {
        keys.reverse();
    }
    let request = super::request("IDBRequest", this.clone(), Some(handle.transaction.clone().upcast()), context)?;
    let transaction = handle.transaction.clone();
    let has_any = !keys.is_empty();
    let (source, place) = (this.clone(), 0);
    let cursor = Cursor { handle, source, request: request.clone(), keys, place, with_values, direction };
    let interface = if with_values { "IDBCursorWithValue" } else { "IDBCursor" };
    let cursor = bind::object(interface, cursor, context)?;
    let result = if has_any { cursor.into() } else { JsValue::null() };
    tell(&transaction, &request, Ok(result), context)?;
    Ok(request.into())
}

/// Moves a cursor and tells its request again, with nothing at the end.
fn go_to(cursor: &JsObject<Cursor>, place: usize, context: &mut Context) -> JsResult<JsValue> {
    let (transaction, request, is_over) = {
        let mut cursor = cursor.borrow_mut();
        let own = cursor.data_mut();
        own.place = place;
        (own.handle.transaction.clone(), own.request.clone(), place >= own.keys.len())
    };
    may(&transaction, false, context)?;
    if let Some(mut request) = request.downcast_mut::<Request>() {
        request.result = None;
    }
    let result = if is_over { JsValue::null() } else { cursor.clone().into() };
    tell(&transaction, &request, Ok(result), context)?;
    Ok(JsValue::undefined())
}

fn key_at(this: &JsValue, which: fn(&(Key, Key)) -> &Key, context: &mut Context) -> JsResult<JsValue> {
    let cursor = bind::this::<Cursor>(this)?;
    let key = {
        let cursor = cursor.borrow();
        let own = cursor.data();
        own.keys.get(own.place).map(|keys| which(keys).clone())
    };
    key.map_or_else(|| Ok(JsValue::undefined()), |key| key.put(context))
}
