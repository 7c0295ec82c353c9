//! Events, targets and signals.

use super::*;

#[test]
fn events_are_what_the_standard_makes_them() {
    assert_js(&[
        "new Event('a').type === 'a' && !new Event('a').bubbles && new Event('a', {bubbles: true}).bubbles",
        "new CustomEvent('a', {detail: 5}).detail === 5 && new CustomEvent('a') instanceof Event",
        "Object.prototype.toString.call(new Event('a')) === '[object Event]'",
        "new MouseEvent('click', {clientX: 3}).clientX === 3 && new MouseEvent('click') instanceof UIEvent",
        "new KeyboardEvent('keydown', {key: 'x'}).key === 'x' && new KeyboardEvent('a').ctrlKey === false",
        "Event.AT_TARGET === 2 && new Event('a').BUBBLING_PHASE === 3",
        "try { Event('a'); false } catch (e) { e instanceof TypeError }",
        "try { new Event(); false } catch (e) { e instanceof TypeError }",
        "let e = document_less(); function document_less() { return new Event('x', {cancelable: true}) } e.preventDefault(); e.defaultPrevented && e.returnValue === false",
        "class Mine extends Event { constructor() { super('mine'); this.x = 1 } } let m = new Mine(); m.x == 1 && m.type == 'mine' && m instanceof Mine",
        "new Event('a').isTrusted === false && new Event('a').timeStamp >= 0",
        "let e = new CustomEvent('a'); e.initCustomEvent('b', true, true, 7); e.type === 'b' && e.detail === 7 && e.bubbles",
    ]);
}

#[test]
fn targets_call_their_listeners_in_order() {
    assert_js(&[
        "let t = new EventTarget(), s = ''; t.addEventListener('a', () => s += 1); t.addEventListener('a', {handleEvent() { s += 2 }}); t.dispatchEvent(new Event('a')); s === '12'",
        "let t = new EventTarget(), n = 0, f = () => n++; t.addEventListener('a', f); t.addEventListener('a', f); t.dispatchEvent(new Event('a')); n === 1",
        "let t = new EventTarget(), n = 0; t.addEventListener('a', () => n++, {once: true}); t.dispatchEvent(new Event('a')); t.dispatchEvent(new Event('a')); n === 1",
        "let t = new EventTarget(), n = 0, f = () => n++; t.addEventListener('a', f); t.removeEventListener('a', f); t.dispatchEvent(new Event('a')); n === 0",
        "let t = new EventTarget(), n = 0, g = () => n++; t.addEventListener('a', () => t.removeEventListener('a', g)); t.addEventListener('a', g); t.dispatchEvent(new Event('a')); n === 0",
        "let t = new EventTarget(), s = ''; t.addEventListener('a', e => { s += 1; e.stopImmediatePropagation() }); t.addEventListener('a', () => s += 2); t.dispatchEvent(new Event('a')); s === '1'",
        "let t = new EventTarget(); t.addEventListener('a', e => e.preventDefault()); t.dispatchEvent(new Event('a', {cancelable: true})) === false",
        "let t = new EventTarget(); t.addEventListener('a', e => e.preventDefault(), {passive: true}); t.dispatchEvent(new Event('a', {cancelable: true}))",
        "let t = new EventTarget(), n = 0; t.addEventListener('a', () => { throw 1 }); t.addEventListener('a', () => n++); t.dispatchEvent(new Event('a')); n === 1",
        "let t = new EventTarget(), seen; t.addEventListener('a', e => seen = [e.target === t, e.currentTarget === t, e.eventPhase, window.event === e]); let e = new Event('a'); t.dispatchEvent(e); seen.join() === 'true,true,2,true' && e.currentTarget === null && e.eventPhase === 0 && window.event === undefined",
        "let t = new EventTarget(); try { t.dispatchEvent({}); false } catch (e) { e instanceof TypeError }",
        "let t = new EventTarget(), name; t.addEventListener('a', e => { try { t.dispatchEvent(e) } catch (x) { name = x.name } }); t.dispatchEvent(new Event('a')); name === 'InvalidStateError'",
        "class T extends EventTarget {} let n = 0, t = new T(); t.addEventListener('a', () => n++); t.dispatchEvent(new Event('a')); n === 1",
        "let n = 0; addEventListener('a', () => n++); window.dispatchEvent(new Event('a')); n === 1 && window instanceof EventTarget && window instanceof Window",
        "let n = 0; onload = () => n++; dispatchEvent(new Event('load')); let had = typeof onload; onload = null; dispatchEvent(new Event('load')); n === 1 && had === 'function' && onload === null",
        "let s = ''; onload = () => s += 1; addEventListener('load', () => s += 2); onload = () => s += 3; dispatchEvent(new Event('load')); s === '32'",
        "try { EventTarget.prototype.addEventListener.call({}, 'a', () => {}); false } catch (e) { e instanceof TypeError }",
        "window.addEventListener('a', null) === undefined",
    ]);
}

#[test]
fn microtasks_run_between_listeners_of_the_engines_own_events_only() {
    assert_eq!(
        log_of(
            "let s = AbortSignal.timeout(5);
             s.addEventListener('abort', () => { log.push(1); Promise.resolve().then(() => log.push('m')) }); s.addEventListener('abort', () => log.push(2))"
        ),
        "1 2 m"
    );
}

#[test]
fn signals_abort_once_and_tell_why() {
    assert_js(&[
        "let c = new AbortController(), n = 0; c.signal.onabort = () => n++; c.abort(); c.abort(); n === 1 && c.signal.aborted && c.signal.reason.name === 'AbortError'",
        "let c = new AbortController(); c.abort('x'); c.signal.reason === 'x'",
        "let c = new AbortController(), s = AbortSignal.any([c.signal]); c.abort(1); s.aborted && s.reason === 1",
        "try { AbortSignal.abort().throwIfAborted(); false } catch (e) { e instanceof DOMException && e.code === 20 }",
        "let c = new AbortController(), n = 0; addEventListener('a', () => n++, {signal: c.signal}); dispatchEvent(new Event('a')); c.abort(); dispatchEvent(new Event('a')); n === 1",
        "try { new AbortSignal(); false } catch (e) { e instanceof TypeError }",
    ]);
    assert_eq!(log_of("let s = AbortSignal.timeout(5); s.onabort = () => log.push(s.reason.name)"), "TimeoutError");
}

#[test]
fn exceptions_of_the_platform_have_names_and_codes() {
    assert_js(&[
        "let e = new DOMException('m', 'NotFoundError'); e.code === 8 && e.name === 'NotFoundError' && e.message === 'm' && e instanceof Error",
        "new DOMException().name === 'Error' && new DOMException().code === 0 && DOMException.NOT_FOUND_ERR === 8",
        "String(new DOMException('m', 'AbortError')) === 'AbortError: m'",
    ]);
}
