//! Modules (HTML §8.1.6): import maps, static and dynamic imports through the page's requests, `import.meta.url`. Each module is fetched
//! once, and the imports of a module are fetched in parallel.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::task::Poll;

use ::url::Url;
use boa_engine::builtins::promise::PromiseState;
use boa_engine::job::NativeAsyncJob;
use boa_engine::module::{ModuleLoader, ModuleRequest, Referrer};
use boa_engine::object::builtins::JsPromise;
use boa_engine::parser::source::Beginning;
use boa_engine::{
    Context, JsArgs, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, Module, NativeFunction, js_string,
};

use super::{Origin, bind, fetch, page, realm, report, url};
use crate::wire::{Answer, Asker, Request};

/// The slot for a module that is being fetched, or for the reason of its failure.
type Slot = Rc<RefCell<Option<JsResult<Module>>>>;

/// The modules of a page by window, URL and kind, and its import map, which its frames share.
#[derive(Default)]
pub(super) struct Loader {
    modules: RefCell<HashMap<(usize, String), Slot>>,
    map: RefCell<ImportMap>,
}

/// An import map (HTML §8.1.6.2) as written: URLs are resolved on use.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ImportMap {
    imports: HashMap<String, Option<String>>,
    scopes: HashMap<String, HashMap<String, Option<String>>>,
}

impl Loader {
    /// Merges an import map into the page's: earlier entries stay.
    ///
    /// # Errors
    /// When the text is not a valid import map.
    pub(super) fn add_map(&self, text: &str) -> Result<(), String> {
        // serde would also accept a list for a structure.
        if !text.trim_start().starts_with('{') {
            return Err("import map: not an object".to_owned());
        }
        let added: ImportMap = serde_json::from_str(text).map_err(|error| format!("import map: {error}"))?;
        let mut map = self.map.borrow_mut();
        for (name, target) in added.imports {
            map.imports.entry(name).or_insert(target);
        }
        for (scope, imports) in added.scopes {
            let there = map.scopes.entry(scope).or_default();
            for (name, target) in imports {
                there.entry(name).or_insert(target);
            }
        }
        Ok(())
    }

    /// "Resolve a module specifier" (HTML §8.1.6.3).
    fn resolve(&self, specifier: &str, base: &Url, page: &Url) -> Option<Url> {
        let relative = ["/", "./", "../"].iter().any(|start| specifier.starts_with(start));
        let plain = if relative { base.join(specifier).ok() } else { Url::parse(specifier).ok() };
        let name = plain.as_ref().map_or(specifier, Url::as_str);
        let map = self.map.borrow();
        let mut scopes: Vec<_> =
            map.scopes.iter().filter_map(|(scope, to)| Some((page.join(scope).ok()?, to))).collect();
        // The longest matching scope comes first.
        scopes.sort_by(|a, b| b.0.as_str().cmp(a.0.as_str()));
        let fits =
            |scope: &Url| base == scope || scope.as_str().ends_with('/') && base.as_str().starts_with(scope.as_str());
        let tables = scopes.iter().filter(|(scope, _)| fits(scope)).map(|(_, table)| *table).chain([&map.imports]);
        for table in tables {
            if let Some(found) = look_up(table, name, page).or_else(|| look_up(table, specifier, page)) {
                return found;
            }
        }
        plain
    }

    /// The slot of a module, and whether it is being fetched already.
    fn slot(&self, key: (usize, String)) -> (Slot, bool) {
        let mut modules = self.modules.borrow_mut();
        match modules.get(&key) {
            Some(slot) => (Rc::clone(slot), true),
            None => {
                let slot = Slot::default();
                modules.insert(key, Rc::clone(&slot));
                (slot, false)
            }
        }
    }

    /// Drops all modules.
    pub(super) fn clear(&self) {
        drop(std::mem::take(&mut *self.modules.borrow_mut()));
    }
}

/// Looks up one table of an import map: the exact name, or the longest prefix that ends with a slash. `Some(None)` forbids the import.
fn look_up(table: &HashMap<String, Option<String>>, name: &str, page: &Url) -> Option<Option<Url>> {
    // Keys that are URLs are compared in resolved form.
    let key_of = |key: &str| {
        let relative = ["/", "./", "../"].iter().any(|start| key.starts_with(start));
        if relative { page.join(key).map_or_else(|_| key.to_owned(), String::from) } else { key.to_owned() }
    };
    let mut best: Option<(String, &Option<String>)> = None;
    for (key, target) in table {
        let key = key_of(key);
        let fits = key == name || key.ends_with('/') && name.starts_with(&key);
        if fits && best.as_ref().is_none_or(|(other, _)| key.len() > other.len()) {
            best = Some((key, target));
        }
    }
    let (key, target) = best?;
    Some(target.as_ref().and_then(|target| page.join(target).ok()?.join(&name[key.len()..]).ok()))
}

impl ModuleLoader for Loader {
    async fn load_imported_module(
        self: Rc<Self>,
        referrer: Referrer,
        request: ModuleRequest,
        context: &RefCell<&mut Context>,
    ) -> JsResult<Module> {
        let specifier = request.specifier().to_std_string_lossy();
        let page = realm::base(&context.borrow());
        let base = referrer.path().and_then(Path::to_str).and_then(|path| Url::parse(path).ok());
        let base = base.unwrap_or_else(|| page.clone());
        let Some(address) = self.resolve(&specifier, &base, &page) else {
            let message = format!("Failed to resolve module specifier \"{}\"", page::cut(&specifier, 200));
            return Err(JsNativeError::typ().with_message(message).into());
        };
        let json = request.get_attribute("type").is_some_and(|kind| *kind == js_string!("json"));
        let slot = self.fetch(&address, json, &mut context.borrow_mut())?;
        filled(&slot).await
    }

    fn init_import_meta(self: Rc<Self>, meta: &JsObject, module: &Module, context: &mut Context) {
        let address = module.path().and_then(Path::to_str).unwrap_or_default().to_owned();
        // A new object accepts any property.
        let _ = meta.create_data_property_or_throw(js_string!("url"), js_string!(address.as_str()), context);
        let resolve = NativeFunction::from_copy_closure_with_captures(
            |_, args, base: &JsString, context| {
                let specifier = bind::text(args, 0, context)?;
                let page = realm::base(context);
                let base = Url::parse(&base.to_std_string_lossy()).unwrap_or_else(|_| page.clone());
                let loader = context.downcast_module_loader::<Loader>();
                match loader.and_then(|loader| loader.resolve(&specifier, &base, &page)) {
                    Some(url) => Ok(bind::js(url.as_str())),
                    None => Err(bind::type_error("Failed to resolve module specifier")),
                }
            },
            js_string!(address.as_str()),
        );
        let resolve = resolve.to_js_function(context.realm());
        let _ = meta.create_data_property_or_throw(js_string!("resolve"), resolve, context);
    }
}

impl Loader {
    /// Requests a module unless it was requested before.
    fn fetch(&self, address: &Url, json: bool, context: &mut Context) -> JsResult<Slot> {
        let key = (realm::number(context), format!("{}{address}", if json { "json " } else { "" }));
        let (slot, known) = self.slot(key);
        if known {
            return Ok(slot);
        }
        let request = Request {
            asker: Asker::Module,
            method: "GET".to_owned(),
            url: address.to_string(),
            headers: Vec::new(),
            credentials: true,
            body: Vec::new(),
        };
        let (filled, name) = (Rc::clone(&slot), address.to_string());
        fetch::start(request, context, move |answer, context| {
            let module = read(answer, &name, json, context);
            *filled.borrow_mut() = Some(module);
            Ok(())
        });
        Ok(slot)
    }
}

/// Turns a response into a module (HTML §8.1.4.2 "fetch a single module script").
fn read(answer: Answer, name: &str, json: bool, context: &mut Context) -> JsResult<Module> {
    let refused = |why: String| JsError::from(JsNativeError::typ().with_message(why));
    let response = answer.map_err(|_| refused(format!("Failed to fetch dynamically imported module: {name}")))?;
    if !(200..300).contains(&response.status) {
        let status = response.status;
        return Err(refused(format!("Failed to fetch dynamically imported module: {name} (status {status})")));
    }
    let kind = response.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let text = encoding_rs::UTF_8.decode_with_bom_removal(&response.body).0;
    if json {
        let value = super::json::parse(&text, context)?;
        return Ok(Module::from_value_as_default(value, context));
    }
    if !kind.contains("javascript") && !kind.contains("ecmascript") {
        let kind = page::cut(&kind, 100);
        return Err(refused(format!("Failed to load module script: {name} is of type \"{kind}\"")));
    }
    // Imports inside the module resolve against the URL after redirects.
    let path = if response.url.is_empty() { name } else { &response.url };
    super::module(&text, path.into(), context)
}

/// The source of a module.
pub enum From {
    /// An inline module, and its position in the page.
    Text(String, Option<Beginning>),
    Address(Url),
}

/// Loads a module and its imports without running them; `done` gets it, or `None` after the error was reported.
pub fn prepare(from: From, context: &mut Context, done: impl FnOnce(Option<Module>, &mut Context) + 'static) {
    let load = async move |context: &RefCell<&mut Context>| {
        let module = read_with_imports(from, context).await;
        let context = &mut **context.borrow_mut();
        let module = module.map_err(|error| report::exception(error, context)).ok();
        done(module, context);
        Ok(JsValue::undefined())
    };
    context.enqueue_job(NativeAsyncJob::with_realm(load, context.realm().clone()).into());
}

async fn read_with_imports(from: From, context: &RefCell<&mut Context>) -> JsResult<Module> {
    let module = match from {
        From::Text(text, start) => inline(&text, start, &mut context.borrow_mut())?,
        From::Address(address) => {
            let slot = {
                let context = &mut **context.borrow_mut();
                let loader = context.downcast_module_loader::<Loader>();
                let loader = loader.ok_or_else(|| bind::type_error("there is no module loader"))?;
                loader.fetch(&address, false, context)?
            };
            filled(&slot).await?
        }
    };
    let loaded = module.load(&mut context.borrow_mut());
    // An error is reported once, for the initiator of the load, not also as an unhandled rejection.
    let silent = NativeFunction::from_copy_closure(|_, _, _| Ok(JsValue::undefined()));
    {
        let context = &mut **context.borrow_mut();
        let silent = silent.to_js_function(context.realm());
        loaded.catch(silent, context)?;
    }
    std::future::poll_fn(|_| match loaded.state() {
        PromiseState::Pending => Poll::Pending,
        PromiseState::Fulfilled(_) => Poll::Ready(Ok(())),
        PromiseState::Rejected(reason) => Poll::Ready(Err(JsError::from_opaque(reason))),
    })
    .await?;
    Ok(module)
}

/// Waits until a slot holds its module.
async fn filled(slot: &Slot) -> JsResult<Module> {
    let loaded = std::future::poll_fn(|_| match &*slot.borrow() {
        Some(result) => Poll::Ready(result.clone()),
        None => Poll::Pending,
    });
    loaded.await
}

/// Parses an inline module: its imports are relative to the page.
///
/// # Errors
/// When the text cannot be parsed.
pub(super) fn inline(text: &str, start: Option<Beginning>, context: &mut Context) -> JsResult<Module> {
    let base = realm::base(context).to_string();
    super::module(text, Origin { name: &base, start }, context)
}

/// Reports what a module throws, now or later, like an exception of any other script (HTML §8.1.4.4 "run a module script", step 8).
///
/// # Errors
/// When the engine is terminated.
pub fn tell(promise: &JsPromise, context: &mut Context) -> JsResult<()> {
    let told = NativeFunction::from_copy_closure(|_, args, context| {
        report::exception(JsError::from_opaque(args.get_or_undefined(0).clone()), context);
        Ok(JsValue::undefined())
    });
    promise.catch(told.to_js_function(context.realm()), context).map(drop)
}

/// Starts a module at a URL, as an import of it would.
///
/// # Errors
/// When the URL is invalid.
pub(super) fn start(address: &str, context: &mut Context) -> JsResult<()> {
    let url = url::resolve(address, context)?;
    let specifier = serde_json::to_string(url.as_str()).map_err(|_| bind::type_error("no address"))?;
    let script = super::script(&format!("import({specifier})"), url.as_str().into(), context)?;
    script.evaluate(context).map(|_| ())
}
