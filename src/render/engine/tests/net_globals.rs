//! fetch, XMLHttpRequest and their bodies, on a network made of a table.

use super::*;

fn rows() -> Vec<(&'static str, wire::Response)> {
    let mut missing = answer("text/html", "gone");
    (missing.status, missing.status_text) = (404, "Not Found".to_owned());
    vec![
        ("/data.json", answer("application/json", "{\"rows\":[1,2,3]}")),
        ("/dir/rel", answer("text/plain", "relative")),
        ("/missing", missing),
        ("/latin", answer("text/plain; charset=iso-8859-1", "plain")),
        ("/form", answer("application/x-www-form-urlencoded", "a=1&b=2")),
        ("/post", answer("text/plain", "posted")),
    ]
}

fn log(script: &str) -> String {
    net_log_of(rows(), script).0
}

#[test]
fn streams_are_piped_through_what_changes_them() {
    let read = "async function read(s) { let r = s.getReader(), all = []; for (;;) { let { value, done } = await r.read(); if (done) return all; all.push(value) } }\n";
    let log = |script: &str| {
        log(&format!("{read}(async () => {{ {script} }})().catch(e => log.push('failed', e.name, e.message))"))
    };
    assert_eq!(
        log("log.push((await read((await fetch('/dir/rel')).body.pipeThrough(new TextDecoderStream()))).join())"),
        "relative"
    );
    // gzip of "hello": decompressed output is read like any body.
    let gzip = "Uint8Array.from(atob('H4sIAAAAAAAA/8tIzcnJBwCGphA2BQAAAA=='), c => c.charCodeAt())";
    assert_eq!(
        log(&format!(
            "log.push(await new Response(new Blob([{gzip}]).stream().pipeThrough(new DecompressionStream('gzip'))).text())"
        )),
        "hello"
    );
    for format in ["gzip", "deflate", "deflate-raw"] {
        assert_eq!(
            log(&format!(
                "let packed = new Blob(['a'.repeat(1000)]).stream().pipeThrough(new CompressionStream('{format}')); \
                 let text = await new Response(packed.pipeThrough(new DecompressionStream('{format}'))).text(); log.push(text.length)"
            )),
            "1000"
        );
    }
    assert_eq!(
        log("await new Response(new Blob(['no gzip']).stream().pipeThrough(new DecompressionStream('gzip'))).text()"),
        "failed TypeError The compressed data was not valid."
    );
    assert_eq!(
        log(
            "let upper = new TransformStream({ transform(c, t) { t.enqueue(c.toUpperCase()) }, flush(t) { t.enqueue('!') } }); \
             let w = upper.writable.getWriter(); w.write('a'); w.write('b'); w.close(); log.push((await read(upper.readable)).join(''))"
        ),
        "AB!"
    );
    assert_eq!(
        log("let got = []; await new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close() } }) \
             .pipeTo(new WritableStream({ write(c) { got.push(c) }, close() { got.push('end') } })); log.push(got.join())"),
        "1,2,end"
    );
    assert_eq!(
        log("for await (let part of new Blob(['a€']).stream().pipeThrough(new TextDecoderStream())) log.push(part)"),
        "a€"
    );
}

#[test]
fn answers_are_fetched_and_read() {
    assert_eq!(
        log(
            "fetch('/data.json').then(r => { log.push(r.ok, r.status, r.url, r.headers.get('Content-Type')); return r.json() }).then(d => log.push(d.rows.length))"
        ),
        "true 200 https://example.org/data.json application/json 3"
    );
    assert_eq!(log("fetch('rel').then(r => r.text()).then(t => log.push(t))"), "relative");
    assert_eq!(log("fetch('/missing').then(r => log.push(r.ok, r.status, r.statusText))"), "false 404 Not Found");
    assert_eq!(
        log("fetch('https://closed.example/').catch(e => log.push(e instanceof TypeError, e.message))"),
        "true Failed to fetch"
    );
    assert_eq!(
        log(
            "(async () => { let r = await fetch('/data.json'); await r.text(); log.push(r.bodyUsed); try { await r.json() } catch (e) { log.push(e.name) } })()"
        ),
        "true TypeError"
    );
    assert_eq!(
        log(
            "fetch('/data.json').then(async r => { let c = r.clone(); log.push((await r.json()).rows[0], (await c.arrayBuffer()).byteLength) })"
        ),
        "1 16"
    );
    assert_eq!(log("fetch('/form').then(r => r.formData()).then(f => log.push(f.get('b')))"), "2");
    assert_eq!(
        log(
            "fetch('data:text/plain;base64,aGk=').then(r => r.text()).then(t => log.push(t)); fetch('data:,a%20b').then(r => r.text()).then(t => log.push(t))"
        ),
        "hi a b"
    );
    assert_eq!(
        log(
            "fetch(URL.createObjectURL(new Blob(['x', 'y'], {type: 'text/x'}))).then(async r => log.push(r.headers.get('content-type'), await r.text()))"
        ),
        "text/x xy"
    );
    assert_eq!(
        log(
            "fetch('http://').catch(e => log.push(e.name)); fetch('ftp://x/').catch(e => log.push(e.name)); fetch().catch(e => log.push(e.name))"
        ),
        "TypeError TypeError TypeError"
    );
}

#[test]
fn requests_carry_what_pages_give_them() {
    let asked = |script: &str| net_log_of(rows(), script).1.join("\n");
    assert_eq!(
        asked("fetch('/post', {method: 'post', body: new URLSearchParams({a: 1, b: 'x y'})})"),
        "POST https://example.org/post application/x-www-form-urlencoded;charset=UTF-8 a=1&b=x+y"
    );
    assert_eq!(
        asked(
            "fetch('/post', {method: 'POST', body: JSON.stringify({a: 1}), headers: {'Content-Type': 'application/json'}})"
        ),
        "POST https://example.org/post application/json {\"a\":1}"
    );
    assert_eq!(
        asked("fetch(new Request('/post#hash', {method: 'PUT', body: 'x'}))"),
        "PUT https://example.org/post text/plain;charset=UTF-8 x"
    );
    let form = asked(
        "let f = new FormData(); f.append('a', '1'); f.append('f', new Blob(['data']), 'n.txt'); fetch('/post', {method: 'POST', body: f})",
    );
    assert!(
        form.contains("multipart/form-data; boundary=")
            && form.contains("name=\"f\"; filename=\"n.txt\"")
            && form.contains("data"),
        "{form}"
    );
    assert_eq!(
        asked(
            "let x = new XMLHttpRequest(); x.open('POST', '/post'); x.setRequestHeader('Content-Type', 'a/b'); x.setRequestHeader('Cookie', 'no'); x.send('body')"
        ),
        "POST https://example.org/post a/b body"
    );
}

#[test]
fn what_is_aborted_is_told_so_and_its_answer_dropped() {
    assert_eq!(
        log(
            "let c = new AbortController(); fetch('/data.json', {signal: c.signal}).catch(e => log.push(e.name)); c.abort()"
        ),
        "AbortError"
    );
    assert_eq!(log("fetch('/data.json', {signal: AbortSignal.abort('why')}).catch(e => log.push(e))"), "why");
    assert_eq!(
        log(
            "let x = new XMLHttpRequest(); x.onabort = () => log.push('abort'); x.onload = () => log.push('no'); x.open('GET', '/data.json'); x.send(); x.abort(); log.push(x.readyState)"
        ),
        "abort 0"
    );
}

#[test]
fn xhr_goes_through_its_states() {
    assert_eq!(
        log(
            "let x = new XMLHttpRequest(); x.onreadystatechange = () => log.push(x.readyState); x.onload = e => log.push('load', e.loaded, x.status, JSON.parse(x.responseText).rows.length); x.onloadend = () => log.push('end'); x.open('GET', '/data.json'); x.send(); log.push('sent')"
        ),
        "1 sent 2 3 4 load 16 200 3 end"
    );
    assert_eq!(
        log(
            "let x = new XMLHttpRequest(); x.responseType = 'json'; x.onload = () => log.push(x.response.rows[2], x.response === x.response, x.getResponseHeader('Content-TYPE')); x.open('GET', '/data.json'); x.send()"
        ),
        "3 true application/json"
    );
    assert_eq!(
        log(
            "let x = new XMLHttpRequest(); x.onerror = () => log.push('error', x.status, x.readyState); x.open('GET', 'https://closed.example'); x.send()"
        ),
        "error 0 4"
    );
    assert_eq!(
        log(
            "let x = new XMLHttpRequest(); x.open('GET', '/latin', false); x.send(); log.push(x.status, x.responseText, x.getAllResponseHeaders().trim())"
        ),
        "200 plain content-type: text/plain; charset=iso-8859-1"
    );
    assert_eq!(
        log(
            "let x = new XMLHttpRequest(); x.open('GET', 'https://closed.example', false); try { x.send() } catch (e) { log.push(e.name) }"
        ),
        "NetworkError"
    );
    assert_eq!(
        log(
            "let x = new XMLHttpRequest(); try { x.send() } catch (e) { log.push(e.name) } try { x.open('a b', '/') } catch (e) { log.push(e.name) }"
        ),
        "InvalidStateError SyntaxError"
    );
    assert_eq!(
        log(
            "let x = new XMLHttpRequest(); x.open('GET', '/data.json'); x.addEventListener('load', () => { log.push(1); x.onload = null; x.open('GET', '/dir/rel'); x.addEventListener('load', () => log.push(x.responseText), {once: true}); x.send() }, {once: true}); x.send()"
        ),
        "1 relative"
    );
    assert_eq!(
        log(
            "setTimeout(() => log.push('late'), 1); let x = new XMLHttpRequest(); x.timeout = 5; x.ontimeout = () => log.push('timeout'); x.onload = () => log.push('load'); x.open('GET', '/data.json'); x.send()"
        ),
        "load late"
    );
}

#[test]
fn a_page_that_asks_without_end_runs_out_of_requests() {
    let (log, asked) = net_log_of(
        rows(),
        "let n = 0; (function again() { fetch('/data.json').then(() => { n++; again() }, () => log.push(n)) })()",
    );
    assert_eq!((log, asked.len()), (limits::RENDER_REQUESTS_MAX.to_string(), limits::RENDER_REQUESTS_MAX as usize));
}

#[test]
fn headers_blobs_and_forms_are_what_the_standards_make_them() {
    assert_js(&[
        "let h = new Headers({'X-A': ' 1 ', b: '2'}); h.append('x-a', '3'); h.get('X-a') === '1, 3' && [...h].join(';') === 'b,2;x-a,1, 3' && h.has('B')",
        "try { new Headers({'a b': '1'}); false } catch (e) { e instanceof TypeError }",
        "new Headers([['a', 'b']]).get('a') === 'b' && new Headers(new Headers({a: 'b'})).get('a') === 'b' && new Headers().get('a') === null",
        "new Request('/x', {headers: {Cookie: 'a', 'Sec-X': 'b', X: 'c'}}).headers.get('cookie') === null",
        "let r = new Request('/x?y#z'); r.url === 'https://example.org/x?y#z' && r.method === 'GET' && r.credentials === 'same-origin' && new Request(r, {method: 'POST', body: 'b'}).method === 'POST'",
        "try { new Request('/', {body: 'x'}); false } catch (e) { e instanceof TypeError }",
        "let r = new Response('b', {status: 201, headers: {a: 'c'}}); r.status === 201 && r.ok && r.headers.get('content-type') === 'text/plain;charset=UTF-8'",
        "Response.json({a: 1}).headers.get('content-type') === 'application/json' && Response.error().type === 'error' && Response.redirect('/x').headers.get('location') === 'https://example.org/x'",
        "let b = new Blob(['ab', new Uint8Array([99]), new Blob(['d'])], {type: 'TEXT/x'}); b.size === 4 && b.type === 'text/x' && b.slice(1, 3).size === 2 && b.slice(-1).size === 1",
        "let f = new File(['x'], 'n', {lastModified: 7}); f instanceof Blob && f.name === 'n' && f.lastModified === 7",
        "let f = new FormData(); f.append('a', 1); f.append('a', 2); f.set('b', 3); f.getAll('a').join() === '1,2' && [...f].length === 3 && f.get('c') === null",
        "let f = new FormData(); f.append('a', new Blob(['x'])); f.get('a') instanceof File && f.get('a').name === 'blob'",
        "XMLHttpRequest.DONE === 4 && new XMLHttpRequest().OPENED === 1 && new XMLHttpRequest().upload instanceof XMLHttpRequestUpload",
    ]);
    assert_eq!(
        log_of(
            "new Blob(['é']).text().then(t => log.push(t)); new Response(new FormData()).text().then(t => log.push(t.length > 10))"
        ),
        "é true"
    );
}
