//! Transactions (Indexed Database API §4.10): requests that are told one after the other, and the end behind the last of them.

use std::rc::Rc;

use boa_engine::{Context, Finalize, JsData, JsObject, JsResult, JsValue, Trace};

use super::{Content, Database, Request, Shared, answer, name_list, request, store};
use crate::engine::target::{Listeners, Target};
use crate::engine::{bind, events, exception, jobs};

#[derive(Trace, Finalize, JsData)]
pub(super) struct Transaction {
    pub(super) listeners: Listeners,
    pub(super) database: JsObject,
    #[unsafe_ignore_trace]
    pub(super) scope: Vec<String>,
    #[unsafe_ignore_trace]
    pub(super) mode: &'static str,
    /// Requests that are not told yet.
    #[unsafe_ignore_trace]
    pub(super) waiting: u32,
    pub(super) ended: bool,
    /// What the database held before.
    #[unsafe_ignore_trace]
    pub(super) before: Option<Content>,
    pub(super) error: JsValue,
    /// The request to open the database, of a transaction that changes its version.
    pub(super) opening: Option<JsObject>,
}

impl Target for Transaction {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

pub(super) const TRANSACTION: bind::Interface = bind::Interface {
    name: "IDBTransaction",
    parent: Some("EventTarget"),
    methods: &[
        ("objectStore", 1, |this, args, context| {
            let transaction = bind::this::<Transaction>(this)?;
            let name = bind::text(args, 0, context)?;
            let (is_in_scope, ended) = {
                let transaction = transaction.borrow();
                let own = transaction.data();
                (own.mode == "versionchange" || own.scope.contains(&name), own.ended)
            };
            if ended {
                return Err(exception::error("InvalidStateError", "The transaction has finished.", context));
            }
            let content = content_of(&transaction);
            if !is_in_scope || !content.is_some_and(|content| content.borrow().stores.contains_key(&name)) {
                return Err(exception::error("NotFoundError", "The object store was not found.", context));
            }
            store::object(&transaction, name, context)
        }),
        ("abort", 0, |this, _, context| {
            let transaction = bind::this::<Transaction>(this)?;
            if transaction.borrow().data().ended {
                return Err(exception::error("InvalidStateError", "The transaction has finished.", context));
            }
            abort(&transaction, JsValue::null(), context);
            Ok(JsValue::undefined())
        }),
        ("commit", 0, |this, _, _| bind::this::<Transaction>(this).map(|_| JsValue::undefined())),
    ],
    attributes: &[
        ("db", |this, _, _| Ok(bind::this::<Transaction>(this)?.borrow().data().database.clone().into()), None),
        ("mode", |this, _, _| Ok(bind::js(bind::this::<Transaction>(this)?.borrow().data().mode)), None),
        ("durability", |_, _, _| Ok(bind::js("default")), None),
        ("error", |this, _, _| Ok(bind::this::<Transaction>(this)?.borrow().data().error.clone()), None),
        (
            "objectStoreNames",
            |this, _, context| {
                let names = bind::this::<Transaction>(this)?.borrow().data().scope.clone();
                name_list(&names, context)
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn content_of(transaction: &JsObject<Transaction>) -> Option<Shared> {
    let database = transaction.borrow().data().database.clone();
    database.downcast_ref::<Database>().map(|database| Rc::clone(&database.content))
}

pub(super) fn begin(
    database: &JsObject,
    scope: Vec<String>,
    mode: &'static str,
    context: &mut Context,
) -> JsResult<JsObject<Transaction>> {
    let transaction = Transaction {
        listeners: Listeners::default(),
        database: database.clone(),
        scope,
        mode,
        waiting: 0,
        ended: false,
        before: None,
        error: JsValue::null(),
        opening: None,
    };
    let transaction = bind::object("IDBTransaction", transaction, context)?;
    let transaction = transaction.downcast::<Transaction>().map_err(|_| bind::type_error("Illegal invocation"))?;
    end_later(&transaction, context);
    Ok(transaction)
}

/// Looks behind all that runs now whether a transaction has anything left to do.
pub(super) fn end_later(transaction: &JsObject<Transaction>, context: &Context) {
    let transaction = transaction.clone();
    jobs::post(context, 0, move |context| {
        let opening = {
            let mut transaction = transaction.borrow_mut();
            let transaction = transaction.data_mut();
            if transaction.waiting > 0 || transaction.ended {
                return Ok(());
            }
            transaction.ended = true;
            transaction.before = None;
            transaction.opening.take()
        };
        let database = release(&transaction);
        events::fire(&transaction.upcast(), "Event", "complete", (false, false), &[], context);
        if let Some(request) = opening {
            if let Some(mut request) = request.downcast_mut::<Request>() {
                request.transaction = None;
            }
            answer(&request, Ok(database.into()), context);
        }
        Ok(())
    });
}

/// A transaction is over: its database is as any other from now on.
pub(super) fn release(transaction: &JsObject<Transaction>) -> JsObject {
    let database = transaction.borrow().data().database.clone();
    if let Some(mut database) = database.downcast_mut::<Database>() {
        database.upgrade = None;
    }
    database
}

/// Puts back what the database held, and tells so.
pub(super) fn abort(transaction: &JsObject<Transaction>, error: JsValue, context: &mut Context) {
    let content = content_of(transaction);
    let opening = {
        let mut transaction = transaction.borrow_mut();
        let transaction = transaction.data_mut();
        if std::mem::replace(&mut transaction.ended, true) {
            return;
        }
        transaction.error = error;
        if let (Some(content), Some(before)) = (content, transaction.before.take()) {
            *content.borrow_mut() = before;
        }
        transaction.opening.take()
    };
    release(transaction);
    let transaction = transaction.clone().upcast();
    jobs::post(context, 0, move |context| {
        events::fire(&transaction, "Event", "abort", (true, false), &[], context);
        if let Some(request) = opening {
            if let Some(mut request) = request.downcast_mut::<Request>() {
                request.transaction = None;
            }
            let error = exception::value("AbortError", "The transaction was aborted.", context)?;
            answer(&request, Err(error), context);
        }
        Ok(())
    });
}

/// A request of a transaction that is done already, and told behind what runs now.
pub(super) fn done(
    transaction: &JsObject<Transaction>,
    source: JsValue,
    outcome: JsResult<JsValue>,
    context: &mut Context,
) -> JsResult<JsValue> {
    let request = request("IDBRequest", source, Some(transaction.clone().upcast()), context)?;
    tell(transaction, &request, outcome, context)?;
    Ok(request.into())
}

/// Tells a request's outcome behind what runs now, and ends its transaction when it was the last.
pub(super) fn tell(
    transaction: &JsObject<Transaction>,
    request: &JsObject,
    outcome: JsResult<JsValue>,
    context: &mut Context,
) -> JsResult<()> {
    let outcome = match outcome {
        Ok(result) => Ok(result),
        Err(error) if error.as_engine().is_some() => return Err(error),
        Err(error) => Err(error.into_opaque(context)?),
    };
    transaction.borrow_mut().data_mut().waiting += 1;
    let (transaction, request) = (transaction.clone(), request.clone());
    jobs::post(context, 0, move |context| {
        let error = outcome.as_ref().err().cloned();
        let is_taken = answer(&request, outcome, context);
        transaction.borrow_mut().data_mut().waiting -= 1;
        match error {
            Some(error) if !is_taken => abort(&transaction, error, context),
            _ => end_later(&transaction, context),
        }
        Ok(())
    });
    Ok(())
}

/// Refuses what a transaction that has ended, or one that may only read, is asked for; keeps what was there before its first write.
pub(super) fn may(transaction: &JsObject<Transaction>, writes: bool, context: &mut Context) -> JsResult<Shared> {
    let (ended, mode) = (transaction.borrow().data().ended, transaction.borrow().data().mode);
    let Some(content) = content_of(transaction).filter(|_| !ended) else {
        return Err(exception::error("TransactionInactiveError", "The transaction has finished.", context));
    };
    if writes && mode == "readonly" {
        return Err(exception::error("ReadOnlyError", "The transaction is read-only.", context));
    }
    if writes {
        let mut transaction = transaction.borrow_mut();
        let before = &mut transaction.data_mut().before;
        if before.is_none() {
            *before = Some(content.borrow().clone());
        }
    }
    Ok(content)
}
