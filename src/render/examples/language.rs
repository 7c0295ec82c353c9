//! Runs tests of Test262 on the engine, for `benches/language/run`.
//!
//! Reads a job a line from standard input, as JSON, and prints its result as a line of JSON. `ROOT` is Test262's folder. A test that ends
//! this process has printed no result: the caller starts another one behind it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use boa_engine::builtins::promise::PromiseState;
use boa_engine::object::ObjectInitializer;
use boa_engine::object::builtins::{JsArrayBuffer, JsPromise};
use boa_engine::property::Attribute;
use boa_engine::{
    Context, JsArgs, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, Script, Source,
    js_string,
};
use gleaner_render::wire::{Answer, Reach, Request, RequestId, Response};
use gleaner_render::{Engine, Net, Start, limits};

/// Where the tests are, as their scripts see it.
const ORIGIN: &str = "https://test262.example/";

/// Instructions of one test: an endless loop is a failure, and no test needs as many.
const INSTRUCTIONS: usize = 100_000_000;

#[derive(serde::Deserialize)]
struct Job {
    /// Below `ROOT/test`.
    test: String,
    /// `script`, `strict` or `module`.
    mode: String,
    /// Files below `ROOT/harness`, in the order in which they run.
    harness: Vec<String>,
    /// Whether the test calls `$DONE`.
    is_async: bool,
    /// The name of the error that it must throw.
    throws: Option<String>,
}

#[derive(serde::Serialize)]
struct Told<'a> {
    test: &'a str,
    mode: &'a str,
    /// Why it failed; `None` if it passed.
    failed: Option<String>,
}

/// Answers with the files of a folder.
struct Files {
    root: PathBuf,
    waiting: VecDeque<(RequestId, Request)>,
}

impl Net for Files {
    fn start(&mut self, id: RequestId, request: Request) {
        self.waiting.push_back((id, request));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let Some((id, request)) = self.waiting.pop_front() else { return (0, Err("no request".to_owned())) };
        let path = request.url.strip_prefix(ORIGIN).unwrap_or_default();
        let kind = if path.ends_with(".json") { "application/json" } else { "text/javascript" };
        let answer = std::fs::read(self.root.join("test").join(path)).map(|body| Response {
            url: request.url.clone(),
            status: 200,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            body,
            ..Response::default()
        });
        (id, answer.map_err(|error| error.to_string()))
    }
}

thread_local! {
    static PRINTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(std::env::args().nth(1).ok_or("usage: language ROOT [skip] < JOBS")?);
    let skips = std::env::args().nth(2).as_deref() == Some("skip");
    let thread = std::thread::Builder::new().stack_size(limits::RENDER_STACK_BYTES);
    let run = move || -> Result<(), String> {
        if skips {
            boa_engine::parser::SKIPPED_FROM.set((0, 0));
        }
        for line in std::io::stdin().lock().lines() {
            let job: Job = serde_json::from_str(&line.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
            let failed = run(&job, &root).err();
            let told = serde_json::to_string(&Told { test: &job.test, mode: &job.mode, failed });
            let mut out = std::io::stdout().lock();
            writeln!(out, "{}", told.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        }
        Ok(())
    };
    thread.spawn(run)?.join().map_err(|_| "a test ended the thread")??;
    Ok(())
}

/// Runs a test.
///
/// # Errors
/// Why it failed.
fn run(job: &Job, root: &Path) -> Result<(), String> {
    PRINTED.take();
    let start = Start { instructions: INSTRUCTIONS, ..Start::at(ORIGIN.parse().map_err(|_| "no address")?) };
    let net = Files { root: root.to_owned(), waiting: VecDeque::new() };
    let mut engine = Engine::new(&start, Box::new(net)).map_err(|error| error.to_string())?;
    engine.with(|context| host(context).map(drop)).ok_or("panicked")?.map_err(|error| error.to_string())?;
    for file in &job.harness {
        let text = std::fs::read_to_string(root.join("harness").join(file)).map_err(|e| format!("{file}: {e}"))?;
        let ran = engine.with(|context| evaluate(&text, file, context)).ok_or("panicked")?;
        ran.map_err(|error| format!("{file}: {error}"))?;
    }
    let address = format!("{ORIGIN}{}", job.test);
    let promise = Rc::new(RefCell::new(None));
    let ran = if job.mode == "module" {
        let text = format!("import({address:?})");
        engine.with(|context| {
            let started = evaluate(&text, ORIGIN, context)?;
            let started = started.as_object().ok_or_else(|| JsNativeError::typ().with_message("no promise"))?;
            *promise.borrow_mut() = Some(JsPromise::from_object(started)?);
            Ok(())
        })
    } else {
        let text = std::fs::read(root.join("test").join(&job.test)).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&text);
        let text = if job.mode == "strict" { format!("\"use strict\";\n{text}") } else { text.into_owned() };
        engine.with(|context| evaluate(&text, &address, context).map(drop))
    };
    let mut error = ran.ok_or_else(|| panic_of(&engine))?.err();
    if error.is_none() {
        engine.run(Reach::default());
        if let Some(promise) = promise.take() {
            error = match promise.state() {
                PromiseState::Fulfilled(_) => None,
                PromiseState::Rejected(reason) => Some(JsError::from_opaque(reason)),
                PromiseState::Pending => return Err("the module is not done".to_owned()),
            };
        }
    }
    if let Some(spent) = engine.spent() {
        return Err(format!("{spent:?} {}", panic_of(&engine)));
    }
    let told = error.map(|error| engine.with(|context| names(error, context)).ok_or("panicked")).transpose()?;
    judge(job, told)
}

fn panic_of(engine: &Engine) -> String {
    engine.page().borrow().errors.last().map(|error| error.message.clone()).unwrap_or_default()
}

/// Compares what a test threw (its name and its message) and printed with what it should.
fn judge(job: &Job, threw: Option<(String, String)>) -> Result<(), String> {
    match (&job.throws, threw) {
        (Some(wanted), Some((name, _))) if *wanted == name => Ok(()),
        (Some(wanted), Some((name, message))) => Err(format!("wanted {wanted}, threw {name}: {message}")),
        (Some(wanted), None) => Err(format!("wanted {wanted}, threw nothing")),
        (None, Some((name, message))) => Err(format!("{name}: {message}")),
        (None, None) if job.is_async => {
            let printed = PRINTED.take();
            match printed.as_slice() {
                [one] if one == "Test262:AsyncTestComplete" => Ok(()),
                [] => Err("$DONE was not called".to_owned()),
                all => Err(all.join("; ")),
            }
        }
        (None, None) => Ok(()),
    }
}

fn evaluate(text: &str, name: &str, context: &mut Context) -> JsResult<JsValue> {
    let source = Source::from_text(text).with_path(Path::new(name));
    Script::parse(source, None, context)?.evaluate(context)
}

/// The name of an error's constructor, and its message.
fn names(error: JsError, context: &mut Context) -> (String, String) {
    let value = error.into_opaque(context).unwrap_or_default();
    let text = |value: &JsValue| value.as_string().map(|text| text.to_std_string_lossy());
    let Some(object) = value.as_object() else { return (String::new(), value.display().to_string()) };
    let constructor = object.get(js_string!("constructor"), context).ok().and_then(|value| value.as_object());
    let name = constructor.and_then(|function| function.get(js_string!("name"), context).ok());
    let message = object.get(js_string!("message"), context).ok();
    (name.as_ref().and_then(text).unwrap_or_default(), message.as_ref().and_then(text).unwrap_or_default())
}

/// Adds `print` and `$262` (Test262's INTERPRETING.md, "Host-Defined Functions") to the current realm.
fn host(context: &mut Context) -> JsResult<JsObject> {
    let global = context.global_object();
    let print = NativeFunction::from_copy_closure(|_, args, context| {
        let text = args.get_or_undefined(0).to_string(context)?.to_std_string_lossy();
        PRINTED.with_borrow_mut(|printed| printed.push(text));
        Ok(JsValue::undefined())
    });
    context.register_global_builtin_callable(js_string!("print"), 1, print)?;
    let create = NativeFunction::from_copy_closure(|_, _, context| {
        let realm = context.create_realm()?;
        let before = context.enter_realm(realm);
        let made = host(context);
        context.enter_realm(before);
        made.map(JsValue::from)
    });
    let detach = NativeFunction::from_copy_closure(|_, args, _| {
        let buffer =
            args.get_or_undefined(0).as_object().ok_or_else(|| JsNativeError::typ().with_message("no buffer"))?;
        JsArrayBuffer::from_object(buffer)?.detach(&JsValue::undefined())?;
        Ok(JsValue::null())
    });
    let run = NativeFunction::from_copy_closure(|_, args, context| {
        let text = args.get_or_undefined(0).as_string().unwrap_or_default().to_std_string_lossy();
        evaluate(&text, ORIGIN, context)
    });
    let collect = NativeFunction::from_copy_closure(|_, _, _| Ok(JsValue::undefined()));
    let mut object = ObjectInitializer::new(context);
    let object = object
        .function(create, js_string!("createRealm"), 0)
        .function(detach, js_string!("detachArrayBuffer"), 2)
        .function(run, js_string!("evalScript"), 1)
        .function(collect, js_string!("gc"), 0)
        .property(js_string!("global"), global.clone(), Attribute::all())
        .build();
    let name: JsString = js_string!("$262");
    global.create_data_property_or_throw(name, object.clone(), context)?;
    Ok(object)
}
