//! `Blob`, `File` (File API) and `FormData` (XHR §5): bytes and fields that scripts hold and send.

use std::collections::HashMap;

use boa_engine::object::builtins::JsPromise;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};

use super::pairs::{self, Pairs};
use super::{bind, page, realm, stream};
use crate::limits;

/// Bytes with a type; a file also has a name.
#[derive(Clone, Default, Trace, Finalize, JsData)]
#[boa_gc(unsafe_no_drop)]
pub(super) struct Blob {
    #[unsafe_ignore_trace]
    pub(super) bytes: std::rc::Rc<[u8]>,
    #[unsafe_ignore_trace]
    pub(super) kind: String,
    #[unsafe_ignore_trace]
    pub(super) name: Option<String>,
    #[unsafe_ignore_trace]
    pub(super) modified_ms: f64,
}

const BLOB: bind::Interface = bind::Interface {
    name: "Blob",
    constructor: Some(|new_target, args, context| {
        let blob = assemble(args.get_or_undefined(0), args.get_or_undefined(1), context)?;
        bind::construct(new_target, "Blob", blob, context)
    }),
    methods: &[
        ("slice", 0, slice),
        ("text", 0, |this, _, context| {
            let text = String::from_utf8_lossy(&bind::this::<Blob>(this)?.borrow().data().bytes).into_owned();
            Ok(JsPromise::resolve(bind::js(&text), context)?.into())
        }),
        ("arrayBuffer", 0, |this, _, context| {
            let bytes = bind::this::<Blob>(this)?.borrow().data().bytes.clone();
            let buffer = bind::buffer(&bytes, context)?;
            Ok(JsPromise::resolve(buffer, context)?.into())
        }),
        ("stream", 0, |this, _, context| {
            let blob = bind::this::<Blob>(this)?;
            let bytes = blob.borrow().data().bytes.clone();
            stream::of_bytes(&bytes, blob.upcast(), |_| {}, context).map(JsValue::from)
        }),
    ],
    attributes: &[
        ("size", |this, _, _| Ok((bind::this::<Blob>(this)?.borrow().data().bytes.len() as f64).into()), None),
        ("type", |this, _, _| Ok(bind::js(&bind::this::<Blob>(this)?.borrow().data().kind)), None),
    ],
    ..bind::Interface::EMPTY
};

const FILE: bind::Interface = bind::Interface {
    name: "File",
    parent: Some("Blob"),
    length: 2,
    constructor: Some(|new_target, args, context| {
        bind::want(args, 2, "File")?;
        let options = args.get_or_undefined(2);
        let mut blob = assemble(&args[0], options, context)?;
        blob.name = Some(bind::text(args, 1, context)?);
        blob.modified_ms = match bind::member(options, "lastModified", context)? {
            Some(time) => time.to_number(context)?,
            None => context.clock().system_time_millis() as f64,
        };
        bind::construct(new_target, "File", blob, context)
    }),
    attributes: &[
        (
            "name",
            |this, _, _| Ok(bind::js(bind::this::<Blob>(this)?.borrow().data().name.as_deref().unwrap_or_default())),
            None,
        ),
        ("lastModified", |this, _, _| Ok(bind::this::<Blob>(this)?.borrow().data().modified_ms.into()), None),
    ],
    ..bind::Interface::EMPTY
};

/// Fields by name; a value is a text or a `File`.
#[derive(Default, Trace, Finalize, JsData)]
pub(super) struct FormData {
    list: Vec<(JsValue, JsValue)>,
}

impl Pairs for FormData {
    fn pair(&self, index: usize, _: &mut Context) -> Option<(JsValue, JsValue)> {
        self.list.get(index).cloned()
    }
}

const FORM_DATA: bind::Interface = bind::Interface {
    name: "FormData",
    constructor: Some(|new_target, args, context| {
        let reader = context.get_data::<FormReader>().map(|reader| reader.0);
        let list = match reader {
            _ if args.get_or_undefined(0).is_undefined() => Vec::new(),
            Some(read) => read(args, context)?,
            None => {
                let refusal = "Failed to construct 'FormData': parameter 1 is not of type 'HTMLFormElement'.";
                return Err(bind::type_error(refusal));
            }
        };
        bind::construct(new_target, "FormData", FormData { list }, context)
    }),
    methods: &[
        ("append", 2, |this, args, context| {
            bind::want(args, 2, "append' on 'FormData")?;
            let pair = entry(args, context)?;
            change(this, |list| {
                if list.len() < limits::PAIRS_MAX {
                    list.push(pair);
                }
            })
        }),
        ("set", 2, |this, args, context| {
            bind::want(args, 2, "set' on 'FormData")?;
            let pair = entry(args, context)?;
            change(this, |list| match list.iter().position(|(name, _)| *name == pair.0) {
                Some(place) => {
                    let name = pair.0.clone();
                    list[place].1 = pair.1;
                    let mut at = 0;
                    list.retain(|(other, _)| {
                        at += 1;
                        at - 1 <= place || *other != name
                    });
                }
                None => list.push(pair),
            })
        }),
        ("delete", 1, |this, args, context| {
            let name = JsValue::from(args.get_or_undefined(0).to_string(context)?);
            change(this, |list| list.retain(|(other, _)| *other != name))
        }),
        ("get", 1, |this, args, context| {
            let name = JsValue::from(args.get_or_undefined(0).to_string(context)?);
            let this = bind::this::<FormData>(this)?;
            let this = this.borrow();
            let found = this.data().list.iter().find(|(other, _)| *other == name);
            Ok(found.map_or_else(JsValue::null, |(_, value)| value.clone()))
        }),
        ("getAll", 1, |this, args, context| {
            let name = JsValue::from(args.get_or_undefined(0).to_string(context)?);
            let this = bind::this::<FormData>(this)?;
            let found: Vec<_> = this.borrow().data().list.iter().filter(|(other, _)| *other == name).cloned().collect();
            Ok(bind::array(found.into_iter().map(|(_, value)| value), context))
        }),
        ("has", 1, |this, args, context| {
            let name = JsValue::from(args.get_or_undefined(0).to_string(context)?);
            let this = bind::this::<FormData>(this)?;
            let there = this.borrow().data().list.iter().any(|(other, _)| *other == name);
            Ok(there.into())
        }),
    ],
    ..bind::Interface::EMPTY
};

/// Names with their values: a text or a `File`.
pub type Fields = Vec<(JsValue, JsValue)>;

/// Reads the form passed to `new FormData(form)`; the document's code provides it.
pub type ReadForm = fn(&[JsValue], &mut Context) -> JsResult<Fields>;

struct FormReader(ReadForm);

/// Sets the form reader.
pub fn set_form_reader(read: ReadForm, context: &mut Context) {
    context.insert_data(FormReader(read));
}

/// A `FormData` with these fields.
///
/// # Errors
/// When the interface was not defined.
pub fn form_data(list: Fields, context: &mut Context) -> JsResult<JsObject> {
    bind::object("FormData", FormData { list }, context)
}

/// The fields of a `FormData`, `None` for any other object.
pub fn form_fields(object: &JsObject) -> Option<Fields> {
    object.downcast_ref::<FormData>().map(|form| form.list.clone())
}

/// The value that a form sends if no file was chosen.
///
/// # Errors
/// When the interface was not defined.
pub fn empty_file(context: &mut Context) -> JsResult<JsValue> {
    let kind = "application/octet-stream".to_owned();
    let file = Blob { bytes: std::rc::Rc::new([]), kind, name: Some(String::new()), modified_ms: 0.0 };
    Ok(bind::object("File", file, context)?.into())
}

/// The name of a `File`.
pub fn file_name(value: &JsValue) -> Option<String> {
    value.as_object()?.downcast_ref::<Blob>().and_then(|file| file.name.clone())
}

/// Blobs with a URL (`URL.createObjectURL`).
#[derive(Default)]
struct Addresses(HashMap<String, Blob>);

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&BLOB, context)?;
    bind::define(&FILE, context)?;
    let prototype = bind::define(&FORM_DATA, context)?;
    pairs::install::<FormData>(&prototype, "FormData", context)?;
    if !context.has_data::<Addresses>() {
        context.insert_data(Addresses::default());
    }
    Ok(())
}

fn change(this: &JsValue, what: impl FnOnce(&mut Vec<(JsValue, JsValue)>)) -> JsResult<JsValue> {
    what(&mut bind::this::<FormData>(this)?.borrow_mut().data_mut().list);
    Ok(JsValue::undefined())
}

/// XHR §5 "create an entry": a blob becomes a file.
fn entry(args: &[JsValue], context: &mut Context) -> JsResult<(JsValue, JsValue)> {
    let name = bind::js(&bind::text(args, 0, context)?);
    let blob = args[1].as_object().and_then(|object| object.downcast_ref::<Blob>().map(|blob| blob.clone()));
    let Some(mut blob) = blob else { return Ok((name, bind::js(&bind::text(args, 1, context)?))) };
    let file_name = bind::text_if_given(args, 2, context)?;
    if blob.name.is_some() && file_name.is_none() {
        return Ok((name, args[1].clone()));
    }
    blob.name = Some(file_name.unwrap_or_else(|| "blob".to_owned()));
    Ok((name, bind::object("File", blob, context)?.into()))
}

/// Builds a blob from texts, buffers and other blobs.
fn assemble(parts: &JsValue, options: &JsValue, context: &mut Context) -> JsResult<Blob> {
    let mut bytes = Vec::new();
    if !parts.is_undefined() {
        let refusal = || bind::type_error("The provided value cannot be converted to a sequence.");
        let parts = parts.as_object().ok_or_else(refusal)?;
        for part in bind::values(&parts, limits::PAIRS_MAX, context)? {
            let blob = part.as_object().and_then(|object| object.downcast_ref::<Blob>().map(|blob| blob.bytes.clone()));
            if let Some(blob) = blob {
                bytes.extend_from_slice(&blob);
            } else if let Some(buffer) = bind::bytes(&part, context)? {
                bytes.extend_from_slice(&buffer);
            } else {
                bytes.extend_from_slice(part.to_string(context)?.to_std_string_lossy().as_bytes());
            }
        }
    }
    let kind = match bind::member(options, "type", context)? {
        Some(kind) => plain_type(&kind.to_string(context)?.to_std_string_lossy()),
        None => String::new(),
    };
    Ok(Blob { bytes: bytes.into(), kind, ..Blob::default() })
}

/// A type with invalid characters becomes empty (File API §3.2).
fn plain_type(kind: &str) -> String {
    if kind.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) { kind.to_ascii_lowercase() } else { String::new() }
}

fn slice(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let bytes = bind::this::<Blob>(this)?.borrow().data().bytes.clone();
    let mut bound = |index, usual: usize| -> JsResult<usize> {
        let value: &JsValue = args.get_or_undefined(index);
        if value.is_undefined() {
            return Ok(usual);
        }
        let at = value.to_number(context)?;
        let at = if at < 0.0 { bytes.len() as f64 + at } else { at };
        Ok((at.clamp(0.0, bytes.len() as f64)) as usize)
    };
    let (from, to) = (bound(0, 0)?, bound(1, bytes.len())?);
    let kind = bind::text_if_given(args, 2, context)?.map(|kind| plain_type(&kind)).unwrap_or_default();
    let part = bytes.get(from..to.max(from)).unwrap_or_default();
    Ok(bind::object("Blob", Blob { bytes: part.into(), kind, ..Blob::default() }, context)?.into())
}

pub(super) fn create_object_url(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let refusal = || bind::type_error("Failed to execute 'createObjectURL' on 'URL': Overload resolution failed.");
    let object = args.get_or_undefined(0).as_object().ok_or_else(refusal)?;
    let blob = object.downcast_ref::<Blob>().map(|blob| blob.clone()).ok_or_else(refusal)?;
    let page = page::of(context);
    let origin = realm::base(context).origin().ascii_serialization();
    let address = format!("blob:{origin}/{:016x}", page.borrow_mut().random());
    if let Some(addresses) = context.host_defined_mut().get_mut::<Addresses>()
        && addresses.0.len() < limits::PAIRS_MAX
    {
        addresses.0.insert(address.clone(), blob);
    }
    Ok(bind::js(&address))
}

pub(super) fn revoke_object_url(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let address = bind::text(args, 0, context)?;
    if let Some(addresses) = context.host_defined_mut().get_mut::<Addresses>() {
        addresses.0.remove(&address);
    }
    Ok(JsValue::undefined())
}

/// The blob with this URL.
pub(super) fn at(address: &str, context: &Context) -> Option<Blob> {
    context.get_data::<Addresses>()?.0.get(address).cloned()
}

/// "Extract a body" (Fetch §5.2): the bytes, and a content type if the value determines one.
///
/// # Errors
/// What the value's own conversion throws.
pub fn extract(value: &JsValue, context: &mut Context) -> JsResult<(Vec<u8>, Option<String>)> {
    if let Some(object) = value.as_object() {
        if let Some(blob) = object.downcast_ref::<Blob>() {
            return Ok((blob.bytes.to_vec(), Some(blob.kind.clone()).filter(|kind| !kind.is_empty())));
        }
        if let Some(params) = object.downcast_ref::<super::url::Params>() {
            let kind = "application/x-www-form-urlencoded;charset=UTF-8";
            return Ok((params.text().into_bytes(), Some(kind.to_owned())));
        }
        let fields = object.downcast_ref::<FormData>().map(|form| form.list.clone());
        if let Some(fields) = fields {
            return multipart(&fields, context);
        }
        if let Some(bytes) = bind::bytes(value, context)? {
            return Ok((bytes, None));
        }
    }
    let text = value.to_string(context)?.to_std_string_lossy();
    Ok((text.into_bytes(), Some("text/plain;charset=UTF-8".to_owned())))
}

/// HTML §4.10.21.8 "multipart/form-data encoding algorithm".
///
/// # Errors
/// What the conversion of a field throws.
pub fn multipart(fields: &[(JsValue, JsValue)], context: &mut Context) -> JsResult<(Vec<u8>, Option<String>)> {
    let page = page::of(context);
    let boundary = format!("----WebKitFormBoundary{:016x}", page.borrow_mut().random());
    let quoted = |text: &str| text.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22");
    let mut body = Vec::new();
    for (name, value) in fields {
        let name = quoted(&name.to_string(context)?.to_std_string_lossy());
        body.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"").as_bytes());
        let blob = value.as_object().and_then(|object| object.downcast_ref::<Blob>().map(|blob| blob.clone()));
        if let Some(blob) = blob {
            let file = quoted(blob.name.as_deref().unwrap_or("blob"));
            let kind = if blob.kind.is_empty() { "application/octet-stream" } else { &blob.kind };
            body.extend_from_slice(format!("; filename=\"{file}\"\r\nContent-Type: {kind}\r\n\r\n").as_bytes());
            body.extend_from_slice(&blob.bytes);
        } else {
            body.extend_from_slice(b"\r\n\r\n");
            body.extend_from_slice(value.to_string(context)?.to_std_string_lossy().as_bytes());
        }
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((body, Some(format!("multipart/form-data; boundary={boundary}"))))
}

/// A body as form data: fields of a query, or parts (Fetch §5.3 "formData").
pub(super) fn form_of(bytes: &[u8], kind: &str, context: &mut Context) -> JsResult<JsValue> {
    let refusal = || bind::type_error("Failed to fetch");
    let mut list = Vec::new();
    if kind.starts_with("application/x-www-form-urlencoded") {
        for (name, value) in ::url::form_urlencoded::parse(bytes).take(limits::PAIRS_MAX) {
            list.push((bind::js(&name), bind::js(&value)));
        }
    } else {
        let boundary = kind.split_once("boundary=").ok_or_else(refusal)?.1.trim_matches('"');
        let mark = format!("--{boundary}");
        let mut parts = split(bytes, mark.as_bytes());
        parts.next();
        for part in parts.take_while(|part| !part.starts_with(b"--")).take(limits::PAIRS_MAX) {
            let part = part.strip_prefix(b"\r\n").and_then(|part| part.strip_suffix(b"\r\n")).ok_or_else(refusal)?;
            list.push(part_of(part, context)?.ok_or_else(refusal)?);
        }
    }
    Ok(bind::object("FormData", FormData { list }, context)?.into())
}

fn split<'a>(bytes: &'a [u8], mark: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let from = rest?;
        let (part, behind) = match memchr::memmem::find(from, mark) {
            Some(at) => (&from[..at], Some(&from[at + mark.len()..])),
            None => (from, None),
        };
        rest = behind;
        Some(part)
    })
}

/// One part: its headers, an empty line, its content.
fn part_of(part: &[u8], context: &mut Context) -> JsResult<Option<(JsValue, JsValue)>> {
    let Some(at) = memchr::memmem::find(part, b"\r\n\r\n") else { return Ok(None) };
    let (head, body) = (String::from_utf8_lossy(&part[..at]).into_owned(), &part[at + 4..]);
    let quoted = |name: &str| {
        let (_, rest) = head.split_once(&format!("; {name}=\""))?;
        rest.split_once('"').map(|(text, _)| text.replace("%22", "\""))
    };
    let Some(name) = quoted("name") else { return Ok(None) };
    let value = match quoted("filename") {
        None => bind::js(&String::from_utf8_lossy(body)),
        Some(file) => {
            let kind = head.lines().find_map(|line| line.strip_prefix("Content-Type: ")).unwrap_or("text/plain");
            let blob = Blob { bytes: body.into(), kind: kind.to_owned(), name: Some(file), modified_ms: 0.0 };
            bind::object("File", blob, context)?.into()
        }
    };
    Ok(Some((bind::js(&name), value)))
}

/// The bytes of a blob and its type; `None` for any other value.
pub fn content(value: &JsValue) -> Option<(std::rc::Rc<[u8]>, String)> {
    value.as_object()?.downcast_ref::<Blob>().map(|blob| (std::rc::Rc::clone(&blob.bytes), blob.kind.clone()))
}

/// A blob of these bytes.
///
/// # Errors
/// When the interface was not defined.
pub fn object(bytes: &[u8], kind: &str, context: &mut Context) -> JsResult<JsObject> {
    bind::object("Blob", Blob { bytes: bytes.into(), kind: kind.to_owned(), ..Blob::default() }, context)
}
