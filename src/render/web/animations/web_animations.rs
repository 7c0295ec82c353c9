//! `Element.animate` and `Animation` (Web Animations §6) without a screen: an animation has no effect and finishes once its time is over,
//! so that scripts that wait for its end continue. `getAnimations` returns none.

use boa_engine::object::builtins::{JsFunction, JsPromise};
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace, js_string};

use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::engine::{bind, events, exception, jobs};
use crate::web::this_element;

/// Maximum duration of an animation in milliseconds, even of an endless one.
const LONGEST_MS: f64 = 5_000.0;

#[derive(Trace, Finalize, JsData)]
struct Animation {
    listeners: Listeners,
    #[unsafe_ignore_trace]
    state: PlayState,
    #[unsafe_ignore_trace]
    duration_ms: f64,
    /// Number of plays: the end of an earlier one is ignored.
    #[unsafe_ignore_trace]
    plays: u32,
    finished: JsObject,
    resolve: JsFunction,
    reject: JsFunction,
}

#[derive(Clone, Copy, PartialEq)]
enum PlayState {
    Idle,
    Running,
    Paused,
    Finished,
}

impl Target for Animation {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

const ANIMATION: bind::Interface = bind::Interface {
    name: "Animation",
    parent: Some("EventTarget"),
    constructor: Some(|new_target, _, context| {
        let data = new(0.0, PlayState::Idle, context);
        bind::construct(new_target, "Animation", data, context)
    }),
    methods: &[
        ("play", 0, |this, _, context| {
            play(&bind::this::<Animation>(this)?, context);
            Ok(JsValue::undefined())
        }),
        ("reverse", 0, |this, _, context| {
            play(&bind::this::<Animation>(this)?, context);
            Ok(JsValue::undefined())
        }),
        ("pause", 0, |this, _, _| {
            let animation = bind::this::<Animation>(this)?;
            (animation.borrow_mut().data_mut().state, animation.borrow_mut().data_mut().plays) = (PlayState::Paused, 0);
            Ok(JsValue::undefined())
        }),
        ("finish", 0, |this, _, context| {
            finish(&bind::this::<Animation>(this)?, context)?;
            Ok(JsValue::undefined())
        }),
        ("cancel", 0, |this, _, context| {
            let animation = bind::this::<Animation>(this)?;
            let before = std::mem::replace(&mut animation.borrow_mut().data_mut().state, PlayState::Idle);
            if before == PlayState::Running || before == PlayState::Paused {
                let reject = animation.borrow().data().reject.clone();
                let promise = animation.borrow().data().finished.clone();
                // The expected rejection is not reported as unhandled.
                let quiet = bind::function("", 0, |_, _, _| Ok(JsValue::undefined()), context);
                if let (Ok(promise), Some(quiet)) = (JsPromise::from_object(promise), JsFunction::from_object(quiet)) {
                    promise.catch(quiet, context)?;
                }
                let reason = exception::value("AbortError", "The animation was cancelled.", context)?;
                reject.call(&JsValue::undefined(), &[reason], context)?;
                events::fire(&animation.upcast(), "Event", "cancel", (false, false), &[], context);
            }
            Ok(JsValue::undefined())
        }),
        ("updatePlaybackRate", 1, |_, _, _| Ok(JsValue::undefined())),
        ("commitStyles", 0, |_, _, _| Ok(JsValue::undefined())),
        ("persist", 0, |_, _, _| Ok(JsValue::undefined())),
    ],
    attributes: &[
        (
            "playState",
            |this, _, _| {
                let state = bind::this::<Animation>(this)?.borrow().data().state;
                Ok(bind::js(match state {
                    PlayState::Idle => "idle",
                    PlayState::Running => "running",
                    PlayState::Paused => "paused",
                    PlayState::Finished => "finished",
                }))
            },
            None,
        ),
        ("pending", |_, _, _| Ok(false.into()), None),
        ("finished", |this, _, _| Ok(bind::this::<Animation>(this)?.borrow().data().finished.clone().into()), None),
        ("ready", |this, _, context| JsPromise::resolve(this.clone(), context).map(JsValue::from), None),
        (
            "currentTime",
            |this, _, _| {
                let animation = bind::this::<Animation>(this)?;
                let animation = animation.borrow();
                let over = animation.data().state == PlayState::Finished;
                Ok(if over { animation.data().duration_ms.into() } else { 0.into() })
            },
            Some(|_, _, _| Ok(JsValue::undefined())),
        ),
    ],
    ..bind::Interface::EMPTY
};

const METHODS: &[bind::Method] = &[
    ("animate", 1, |this, args, context| {
        this_element(this, context)?;
        let options = args.get_or_undefined(1);
        let mut number = |name| match bind::member(options, name, context)? {
            Some(value) => value.to_number(context),
            None => Ok(0.0),
        };
        let (duration, delay) = match options.as_object() {
            Some(_) => (number("duration")?, number("delay")?),
            None if options.is_undefined() => (0.0, 0.0),
            None => (options.to_number(context)?, 0.0),
        };
        let duration_ms = if duration.is_finite() { (duration + delay).clamp(0.0, LONGEST_MS) } else { LONGEST_MS };
        let data = new(duration_ms, PlayState::Idle, context);
        let object = bind::object("Animation", data, context)?;
        let animation = bind::this::<Animation>(&object.clone().into())?;
        play(&animation, context);
        Ok(object.into())
    }),
    ("getAnimations", 0, |_, _, context| Ok(bind::array([], context))),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    target::register(TargetKind::of::<Animation>(|_, _, _| None), context);
    let animation = bind::define(&ANIMATION, context)?;
    target::handlers(&animation, &["finish", "cancel", "remove"], context)?;
    for name in ["effect", "timeline", "startTime", "playbackRate", "id"] {
        bind::hidden(&animation, js_string!(name), JsValue::null(), true, context)?;
    }
    let element = bind::prototype("Element", context)?;
    bind::methods(&element, METHODS, context)?;
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, &METHODS[1..], context)
}

fn new(duration_ms: f64, state: PlayState, context: &mut Context) -> Animation {
    let (promise, functions) = JsPromise::new_pending(context);
    Animation {
        listeners: Listeners::default(),
        state,
        duration_ms,
        plays: 0,
        finished: promise.into(),
        resolve: functions.resolve,
        reject: functions.reject,
    }
}

/// Plays an animation from its start; its end is a task once its time is over.
fn play(animation: &JsObject<Animation>, context: &mut Context) {
    let (duration_ms, play) = {
        let mut animation = animation.borrow_mut();
        let animation = animation.data_mut();
        animation.state = PlayState::Running;
        animation.plays += 1;
        (animation.duration_ms, animation.plays)
    };
    let animation = animation.clone();
    jobs::post(context, (duration_ms * 1_000.0) as u64, move |context| {
        let is_current = {
            let animation = animation.borrow();
            animation.data().state == PlayState::Running && animation.data().plays == play
        };
        if is_current {
            return jobs::outside(context, |context| finish(&animation, context));
        }
        Ok(())
    });
}

fn finish(animation: &JsObject<Animation>, context: &mut Context) -> JsResult<()> {
    animation.borrow_mut().data_mut().state = PlayState::Finished;
    let resolve = animation.borrow().data().resolve.clone();
    let object = animation.clone().upcast();
    resolve.call(&JsValue::undefined(), &[object.clone().into()], context)?;
    events::fire(&object, "Event", "finish", (false, false), &[], context);
    Ok(())
}
