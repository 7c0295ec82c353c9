//! The event loop of a page, in virtual time (HTML §8.1.7): microtasks after each script, then tasks by time and order. Network responses
//! come before time moves on.
//!
//! Virtual time stops while a request is under way, so that a page sees its responses and not its own timeouts; not for a stream of
//! events, which may never send one. A task that throws is
//! reported and stops nothing else. Finalization registries never call back, as the standard allows.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::task::{Poll, Waker};

use boa_engine::builtins::promise::OperationType;
use boa_engine::context::HostHooks;
use boa_engine::context::intrinsics::Intrinsics;
use boa_engine::job::{BoxedFuture, Job, JobExecutor, NativeAsyncJob, PromiseJob};
use boa_engine::object::builtins::JsPromise;
use boa_engine::realm::Realm;
use boa_engine::{Context, JsObject, JsResult, JsValue};

use super::page::{self, VirtualClock};
use super::{realm, report, target, timers, trace};
use crate::limits;
use crate::wire::trace::What;
use crate::wire::{Answer, Asker, End, Reach, Request, RequestId, Spent};

/// The body of a task.
pub type Run = Box<dyn FnOnce(&mut Context) -> JsResult<()>>;

/// The continuation of a request.
pub type OnAnswer = Box<dyn FnOnce(Answer, &mut Context) -> JsResult<()>>;

/// A request whose response is awaited.
struct UnderWay {
    realm: Realm,
    done: OnAnswer,
    /// Virtual time does not wait for it: it may be long in coming.
    is_stream: bool,
}

/// The queues of the event loop.
pub struct Jobs {
    micro: RefCell<VecDeque<PromiseJob>>,
    /// Pending module loads, called asynchronous jobs by the engine.
    asynchronous: RefCell<Vec<NativeAsyncJob>>,
    /// By time and order, each with the window that owns the task.
    tasks: RefCell<BTreeMap<(u64, u64), (Realm, Run)>>,
    order: Cell<u64>,
    requests: RefCell<HashMap<RequestId, UnderWay>>,
    last_request: Cell<RequestId>,
    /// The last request id that may be sent.
    requests_max: Cell<RequestId>,
    in_checkpoint: Cell<bool>,
    /// Number of microtasks run.
    ran: Cell<u64>,
    /// Rejected promises without a handler.
    rejected: RefCell<Vec<(Realm, JsObject)>>,
    /// Closed windows, whose tasks and requests are dropped.
    closed: RefCell<Vec<Realm>>,
    pub(super) timers: RefCell<timers::Timers>,
    pub(super) clock: Rc<VirtualClock>,
}

impl Jobs {
    pub(super) fn new(clock: Rc<VirtualClock>) -> Self {
        Self {
            micro: RefCell::default(),
            asynchronous: RefCell::default(),
            tasks: RefCell::default(),
            order: Cell::new(0),
            requests: RefCell::default(),
            last_request: Cell::new(0),
            requests_max: Cell::new(limits::RENDER_REQUESTS_MAX),
            in_checkpoint: Cell::new(false),
            ran: Cell::new(0),
            rejected: RefCell::default(),
            closed: RefCell::default(),
            timers: RefCell::default(),
            clock,
        }
    }

    /// Queues a task at `due_us` of virtual time, after all others of that time. Returns its key, by which it can be removed. Beyond the
    /// cap of tasks it is dropped: such a page is out of control.
    pub(super) fn put(&self, due_us: u64, realm: Realm, run: Run) -> Option<(u64, u64)> {
        let place = (due_us, self.order.get());
        self.order.set(self.order.get() + 1);
        let mut tasks = self.tasks.borrow_mut();
        if tasks.len() == limits::TIMERS_MAX || self.closed.borrow().contains(&realm) {
            return None;
        }
        tasks.insert(place, (realm, run));
        Some(place)
    }

    /// Removes a task before it has run.
    pub(super) fn take(&self, place: (u64, u64)) {
        // Drop the task only after the table is free again.
        let task = self.tasks.borrow_mut().remove(&place);
        drop(task);
    }

    fn take_due(&self, now_us: u64) -> Option<(Realm, Run)> {
        let mut tasks = self.tasks.borrow_mut();
        let first = tasks.first_entry()?;
        (first.key().0 <= now_us).then(|| first.remove())
    }

    fn next_due(&self) -> Option<u64> {
        self.tasks.borrow().first_key_value().map(|((due, _), _)| *due)
    }

    /// Milliseconds since 1970 at which the page started.
    pub fn origin_ms(&self) -> f64 {
        self.clock.origin_ms() as f64
    }

    /// The page's time in milliseconds since 1970.
    pub fn wall_ms(&self) -> f64 {
        self.origin_ms() + self.clock.now_us() as f64 / 1_000.0
    }

    /// Microseconds of virtual time since the page started.
    pub fn now_us(&self) -> u64 {
        self.clock.now_us()
    }

    /// Drops all tasks and requests of a window, now and from now on.
    pub(super) fn forget(&self, realm: &Realm) {
        self.closed.borrow_mut().push(realm.clone());
        // Drop them only after the tables are free again.
        let tasks: Vec<_> = self.tasks.borrow_mut().extract_if(.., |_, (of, _)| of == realm).collect();
        let requests: Vec<_> = self.requests.borrow_mut().extract_if(|_, of| of.realm == *realm).collect();
        self.timers.borrow_mut().forget(realm);
        drop((tasks, requests));
    }

    /// Drops everything queued, and with it references to the engine's heap.
    pub(super) fn clear(&self) {
        drop(std::mem::take(&mut *self.micro.borrow_mut()));
        drop(std::mem::take(&mut *self.asynchronous.borrow_mut()));
        drop(std::mem::take(&mut *self.tasks.borrow_mut()));
        drop(std::mem::take(&mut *self.requests.borrow_mut()));
        drop(std::mem::take(&mut *self.rejected.borrow_mut()));
        drop(std::mem::take(&mut *self.closed.borrow_mut()));
        drop(std::mem::take(&mut *self.timers.borrow_mut()));
    }
}

impl JobExecutor for Jobs {
    fn enqueue_job(self: Rc<Self>, job: Job, context: &mut Context) {
        match job {
            Job::PromiseJob(job) => self.micro.borrow_mut().push_back(job),
            Job::AsyncJob(job) => self.asynchronous.borrow_mut().push(job),
            Job::TimeoutJob(job) => {
                let due = self.clock.now_us().saturating_add(job.timeout().as_millis().saturating_mul(1_000));
                let run = move |context: &mut Context| {
                    if job.cancelled() { Ok(()) } else { job.call(context).map(|_| ()) }
                };
                self.put(due, context.realm().clone(), Box::new(run));
            }
            Job::GenericJob(job) => {
                let run = move |context: &mut Context| job.call(context).map(|_| ());
                self.put(self.clock.now_us(), context.realm().clone(), Box::new(run));
            }
            // Only our own `setInterval` creates intervals; finalization registries are not called back.
            _ => {}
        }
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        run(context, Reach::default());
        Ok(())
    }
}

/// Callbacks of the engine to its host.
#[derive(Default)]
pub(super) struct Hooks {
    /// The window object of the next realm, if it is not the global object.
    pub(super) next_window: RefCell<Option<JsObject>>,
}

impl HostHooks for Hooks {
    fn promise_rejection_tracker(
        &self,
        promise: &JsObject<boa_engine::builtins::promise::Promise>,
        operation: OperationType,
        context: &mut Context,
    ) {
        let promise = promise.clone().upcast();
        let jobs = of(context);
        let mut rejected = jobs.rejected.borrow_mut();
        match operation {
            OperationType::Reject if rejected.len() < limits::SCRIPT_ERRORS_MAX => {
                rejected.push((context.realm().clone(), promise));
            }
            OperationType::Reject => {}
            OperationType::Handle => rejected.retain(|(_, other)| !JsObject::equals(other, &promise)),
        }
    }

    fn create_global_object(&self, intrinsics: &Intrinsics) -> JsObject {
        JsObject::from_proto_and_data(intrinsics.constructors().object().prototype(), target::Window::default())
    }

    fn create_global_this(&self, _: &Intrinsics) -> Option<JsObject> {
        self.next_window.take()
    }

    /// Pages see UTC: their output does not depend on where the crawler runs.
    fn local_timezone_offset_seconds(&self, _: i64) -> i32 {
        0
    }

    fn max_buffer_size(&self, _: &mut Context) -> u64 {
        limits::ARRAY_BUFFER_BYTES_MAX
    }
}

/// The loop of a context.
///
/// # Panics
/// On a context that `Engine::new` did not make.
pub fn of(context: &Context) -> Rc<Jobs> {
    context.downcast_job_executor::<Jobs>().expect("Engine::new gives each context its loop")
}

/// Queues a task `after_us` microseconds of virtual time from now. Returns its key; `None` if the queue is full and the task was dropped.
pub fn post(
    context: &Context,
    after_us: u64,
    run: impl FnOnce(&mut Context) -> JsResult<()> + 'static,
) -> Option<(u64, u64)> {
    let jobs = of(context);
    jobs.put(jobs.clock.now_us().saturating_add(after_us), context.realm().clone(), Box::new(run))
}

/// Queues a microtask.
pub fn microtask(context: &mut Context, run: impl FnOnce(&mut Context) -> JsResult<()> + 'static) {
    let realm = context.realm().clone();
    let job = PromiseJob::with_realm(move |context| run(context).map(|()| JsValue::undefined()), realm);
    context.enqueue_job(job.into());
}

/// Sends a request; `done` runs as a task once the response is there. Beyond the cap of requests the response is an error.
pub fn request(
    context: &Context,
    request: Request,
    done: impl FnOnce(Answer, &mut Context) -> JsResult<()> + 'static,
) -> RequestId {
    let jobs = of(context);
    let id = jobs.last_request.get() + 1;
    jobs.last_request.set(id);
    let page = page::of(context);
    page.borrow_mut().note(|| What::Request {
        id,
        asker: request.asker,
        method: trace::told(&request.method),
        url: trace::told(&request.url),
        by: trace::place(context),
    });
    let is_looking = matches!(request.method.as_str(), "GET" | "HEAD");
    let is_unsent = !is_looking && page.borrow().sends_gets_only;
    page.borrow_mut().unsent += u64::from(is_unsent);
    if is_unsent || id > jobs.requests_max.get() || request.body.len() > limits::RENDER_BODY_BYTES_MAX {
        let why = if is_unsent {
            "no POST is sent for a checkbox, a link, a control without a label, or pagination of a member's list"
        } else {
            "the page's budget of requests is used up"
        };
        let answer = Err(why.to_owned());
        page.borrow_mut().note(|| trace::of_answer(id, &answer));
        post(context, 0, move |context| done(answer, context));
        return id;
    }
    if jobs.closed.borrow().contains(context.realm()) {
        return id;
    }
    page.borrow_mut().posted += u64::from(!is_looking);
    page.borrow_mut().faults.asked(id, &request);
    page.borrow_mut().heard.asked(id, &request);
    let is_stream = request.asker == Asker::Events;
    page.borrow_mut().net.start(id, request);
    let under_way = UnderWay { realm: context.realm().clone(), done: Box::new(done), is_stream };
    jobs.requests.borrow_mut().insert(id, under_way);
    id
}

/// After requests that brought links the page may send as many again, within the limit of a whole page.
pub fn allow_requests(context: &Context) {
    let jobs = of(context);
    let allowed =
        jobs.last_request.get().saturating_add(limits::RENDER_REQUESTS_MAX).min(limits::RENDER_REQUESTS_ALL_MAX);
    jobs.requests_max.set(allowed.max(jobs.requests_max.get()));
}

/// Whether a request was refused because the page had reached its limit.
pub fn has_asked_too_often(context: &Context) -> bool {
    let jobs = of(context);
    jobs.last_request.get() > jobs.requests_max.get()
}

/// Cancels a request: its response will be dropped.
pub fn give_up(context: &Context, id: RequestId) {
    let handler = of(context).requests.borrow_mut().remove(&id);
    drop(handler);
}

/// Sends a request and waits for its response, as a synchronous XMLHttpRequest does; other responses wait for their turn.
pub fn request_and_wait(context: &Context, what: Request) -> Answer {
    let slot = Rc::new(RefCell::new(None));
    let filled = Rc::clone(&slot);
    let id = request(context, what, move |answer, _| {
        *filled.borrow_mut() = Some(answer);
        Ok(())
    });
    let jobs = of(context);
    while jobs.requests.borrow().contains_key(&id) {
        let (answered, answer) = page::of(context).borrow_mut().net.wait();
        let handler = jobs.requests.borrow_mut().remove(&answered);
        page::of(context).borrow_mut().answered(answered, &answer);
        match handler {
            Some(_) if answered == id => return answer,
            Some(UnderWay { realm, done, .. }) => {
                jobs.put(jobs.clock.now_us(), realm, Box::new(move |context| done(answer, context)));
            }
            None => {}
        }
    }
    Err("the page's budget of requests is used up".to_owned())
}

/// Runs script code from outside any script: counts the call, reports what it throws, and runs the microtasks afterwards if no other
/// script is running (HTML §8.1.4.4 "clean up after running script"). `None` if it threw or the page is spent.
pub fn enter<T>(context: &mut Context, what: impl FnOnce(&mut Context) -> JsResult<T>) -> Option<T> {
    let page = page::of(context);
    if page.borrow().spent.is_some() {
        return None;
    }
    page.borrow_mut().depth += 1;
    let result = what(context);
    page.borrow_mut().depth -= 1;
    let result = result.map_err(|error| report::exception(error, context)).ok();
    if page.borrow().depth == 0 {
        checkpoint(context);
    }
    result
}

/// Runs `what` as if no script were running, so that microtasks run after each of its scripts. Only for tasks of natives, which no script
/// waits for.
pub fn outside<T>(context: &mut Context, what: impl FnOnce(&mut Context) -> T) -> T {
    let page = page::of(context);
    let depth = std::mem::take(&mut page.borrow_mut().depth);
    let result = what(context);
    page.borrow_mut().depth = depth;
    result
}

/// Calls a function of the page from the event loop.
pub fn call(function: &JsObject, this: &JsValue, args: &[JsValue], context: &mut Context) -> Option<JsValue> {
    // Exceptions are reported to the window in which the function was created.
    let realm = realm::of_object(function, context);
    realm::within(&realm, context, |context| enter(context, |context| function.call(this, args, context)))
}

/// Runs all microtasks, then reports rejected promises without a handler (HTML §8.1.7.3).
pub fn checkpoint(context: &mut Context) {
    let (jobs, page) = (of(context), page::of(context));
    if jobs.in_checkpoint.replace(true) {
        return;
    }
    loop {
        while page.borrow().spent.is_none() {
            let Some(job) = jobs.micro.borrow_mut().pop_front() else { break };
            jobs.ran.set(jobs.ran.get() + 1);
            if jobs.ran.get() > limits::RENDER_MICROTASKS_MAX {
                page.borrow_mut().spent = Some(Spent::Microtasks);
                break;
            }
            page.borrow_mut().depth += 1;
            let result = job.call(context);
            page.borrow_mut().depth -= 1;
            if let Err(error) = result {
                report::exception(error, context);
            }
        }
        context.clear_kept_objects();
        let rejected = std::mem::take(&mut *jobs.rejected.borrow_mut());
        if rejected.is_empty() || page.borrow().spent.is_some() {
            break;
        }
        for (realm, promise) in rejected {
            if let Ok(promise) = JsPromise::from_object(promise) {
                realm::within(&realm, context, |context| report::rejection(&promise, context));
            }
        }
    }
    jobs.in_checkpoint.set(false);
}

/// Runs the loop until no work is left or the limits of `reach` are met.
pub fn run(context: &mut Context, reach: Reach) -> End {
    let (jobs, page) = (of(context), page::of(context));
    let last_us = jobs.clock.now_us().saturating_add(reach.virtual_ms.saturating_mul(1_000));
    let context = RefCell::new(context);
    let mut loading: Vec<BoxedFuture<'_>> = Vec::new();
    let mut tasks_left = reach.tasks;
    loop {
        if page.borrow().spent.is_some() {
            return End::Spent;
        }
        for job in std::mem::take(&mut *jobs.asynchronous.borrow_mut()) {
            loading.push(Box::pin(job.call(&context)));
        }
        let ended = poll_all(&mut loading, &context);
        checkpoint(&mut context.borrow_mut());
        // A finished load may be what another one waited for.
        if ended || !jobs.asynchronous.borrow().is_empty() {
            continue;
        }
        let task = jobs.take_due(jobs.clock.now_us());
        if task.is_none() && jobs.requests.borrow().values().all(|request| request.is_stream) {
            let is_listening = !jobs.requests.borrow().is_empty();
            match jobs.next_due() {
                Some(due) if due <= last_us => {
                    jobs.clock.advance(due);
                    continue;
                }
                // Nothing is left to do but to wait for the streams.
                _ if is_listening => {}
                None => return End::Idle,
                Some(_) => return End::Time,
            }
        }
        let Some(left) = tasks_left.checked_sub(1) else {
            if let Some((realm, task)) = task {
                jobs.put(jobs.clock.now_us(), realm, task);
            }
            return End::Tasks;
        };
        tasks_left = left;
        let context = &mut **context.borrow_mut();
        if let Some((realm, task)) = task {
            realm::within(&realm, context, |context| enter(context, task));
        } else {
            let (id, answer) = page.borrow_mut().net.wait();
            let handler = jobs.requests.borrow_mut().remove(&id);
            page.borrow_mut().answered(id, &answer);
            if let Some(UnderWay { realm, done, .. }) = handler {
                realm::within(&realm, context, |context| enter(context, |context| done(answer, context)));
            }
        }
    }
}

/// Polls each module load; true if one of them finished.
fn poll_all(loading: &mut Vec<BoxedFuture<'_>>, context: &RefCell<&mut Context>) -> bool {
    let mut still = std::task::Context::from_waker(Waker::noop());
    let before = loading.len();
    let mut thrown = Vec::new();
    loading.retain_mut(|future| match future.as_mut().poll(&mut still) {
        Poll::Pending => true,
        Poll::Ready(Ok(_)) => false,
        Poll::Ready(Err(error)) => {
            thrown.push(error);
            false
        }
    });
    for error in thrown {
        report::exception(error, &mut context.borrow_mut());
    }
    loading.len() < before
}
