//! Dedicated workers (HTML §10.2): each has a realm of its own on the page's heap, and takes turns with the page in its event loop. Its
//! scripts count towards the page's budgets. There are no shared workers.
//!
//! ```text
//! new Worker → realm, script requested → it runs → messages that waited → tasks of the realm, until it is closed or the page ends
//! ```

mod scope;

use std::cell::Cell;

use boa_engine::realm::Realm;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};
use url::Url;

use crate::engine::modules::{self, From};
use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{self, bind, events, exception, jobs, realm};
use crate::limits;
use crate::web::html::{messages, scripts, windows};
use crate::wire::{Answer, Asker};

/// A worker as its creator sees it.
#[derive(Trace, Finalize, JsData)]
struct Worker {
    listeners: Listeners,
    /// Its realm, until it is terminated.
    realm: Option<Realm>,
}

impl Target for Worker {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

/// Workers that the page has created.
#[derive(Default)]
struct Created(Cell<usize>);

const WORKER: bind::Interface = bind::Interface {
    name: "Worker",
    parent: Some("EventTarget"),
    length: 1,
    constructor: Some(construct),
    methods: &[
        ("postMessage", 1, |this, args, context| {
            let worker = bind::this::<Worker>(this)?;
            bind::want(args, 1, "postMessage' on 'Worker")?;
            let to = worker.borrow().data().realm.clone().unwrap_or_else(|| context.realm().clone());
            let message = messages::copy(&args[0], args.get_or_undefined(1), &to, context)?;
            if worker.borrow().data().realm.is_some() {
                realm::within(&to, context, |context| scope::take(message, context));
            }
            Ok(JsValue::undefined())
        }),
        ("terminate", 0, |this, _, context| {
            let worker = bind::this::<Worker>(this)?;
            let gone = worker.borrow_mut().data_mut().realm.take();
            if let Some(gone) = gone {
                realm::close(&gone, context);
            }
            Ok(JsValue::undefined())
        }),
    ],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::share(Created::default, context);
    target::register(TargetKind::of::<Worker>(|_, _, _| None), context);
    let prototype = bind::define(&WORKER, context)?;
    target::handlers(&prototype, &["message", "messageerror", "error"], context)
}

/// `new Worker(url, options)` (HTML §10.2.6.3).
fn construct(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "Worker")?;
    let text = bind::text(args, 0, context)?;
    let here = windows::base(context);
    let Ok(address) = here.join(&text) else {
        return Err(exception::error("SyntaxError", &format!("'{text}' is not a valid URL."), context));
    };
    if !matches!(address.scheme(), "data" | "blob") && address.origin() != here.origin() {
        let message =
            format!("Script at '{address}' cannot be accessed from origin '{}'.", here.origin().ascii_serialization());
        return Err(exception::error("SecurityError", &message, context));
    }
    let options = args.get_or_undefined(1);
    let mut word = |name| -> JsResult<String> {
        let value = bind::member(options, name, context)?;
        value.map_or_else(|| Ok(String::new()), |value| Ok(value.to_string(context)?.to_std_string_lossy()))
    };
    let (is_module, name) = (word("type")? == "module", word("name")?);
    let made = bind::construct(new_target, "Worker", Worker { listeners: Listeners::default(), realm: None }, context)?;
    let worker = bind::this::<Worker>(&made)?;
    let created = context.get_data::<Created>().map_or(0, |created| created.0.replace(created.0.get() + 1));
    let realm = if created < limits::WORKERS_MAX {
        scope::create(&worker, &name, (address.clone(), here), context)
    } else {
        Err(bind::type_error("the page has too many workers"))
    };
    let Ok(realm) = realm else {
        jobs::post(context, 0, move |context| {
            fail(&worker, context);
            Ok(())
        });
        return Ok(made);
    };
    worker.borrow_mut().data_mut().realm = Some(realm.clone());
    realm::within(&realm, context, |context| load(&worker, address, is_module, context));
    Ok(made)
}

/// Requests the worker's script, runs it, and then lets its messages in.
fn load(worker: &JsObject<Worker>, address: Url, is_module: bool, context: &mut Context) {
    let worker = worker.clone();
    if is_module {
        modules::prepare(From::Address(address), context, move |module, context| {
            let Some(module) = module else { return failed(&worker, context) };
            jobs::enter(context, |context| {
                module.link(context)?;
                let promise = module.evaluate(context)?;
                modules::tell(&promise, context)
            });
            scope::open(context);
        });
        return;
    }
    let mut request = scripts::request(Asker::Script, &address);
    request.url = address.to_string();
    engine::request(request, context, move |answer, context| {
        match script_of(answer) {
            Some((text, name)) => {
                jobs::outside(context, |context| engine::run_script(&text, name.as_str(), context));
                scope::open(context);
            }
            None => failed(&worker, context),
        }
        Ok(())
    });
}

/// The text and the URL of a response; `None` for an error.
fn script_of(answer: Answer) -> Option<(String, String)> {
    let response = answer.ok().filter(|response| (200..300).contains(&response.status))?;
    Some((encoding_rs::UTF_8.decode_with_bom_removal(&response.body).0.into_owned(), response.url))
}

/// The worker's script is not there: its creator gets an event, and the worker ends.
fn failed(worker: &JsObject<Worker>, context: &mut Context) {
    let outer = scope::outer(context);
    worker.borrow_mut().data_mut().realm = None;
    realm::close(&context.realm().clone(), context);
    if let Some(outer) = outer {
        realm::within(&outer, context, |context| fail(worker, context));
    }
}

fn fail(worker: &JsObject<Worker>, context: &mut Context) {
    let target = worker.clone().upcast();
    jobs::outside(context, |context| events::fire(&target, "Event", "error", (false, true), &[], context));
}

#[cfg(test)]
mod tests;
