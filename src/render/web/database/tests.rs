//! What pages do with databases and with what they copy: scripts in a small page, with what browsers give for them.

use url::Url;

use crate::engine::Start;
use crate::engine::net::NoNet;
use crate::web::clipboard;
use crate::web::html::load::{Window, text_of};
use crate::wire::Reach;

/// A page after a script, and what its `log` holds, joined by blanks.
fn run(script: &str) -> (Window, String) {
    let start = Start::at(Url::parse("https://site.test/").unwrap());
    let mut window = Window::open(&start, Box::new(NoNet::new())).unwrap();
    let script = format!(
        "<body><textarea id=t></textarea><p id=p>words</p><script>var log = [];
        const done = r => new Promise((keep, fail) => {{ r.onsuccess = () => keep(r.result); r.onerror = () => fail(r.error) }});
        const opened = (name, version, upgrade) => {{ const r = indexedDB.open(name, version); r.onupgradeneeded = e => upgrade(r.result, e, r.transaction); return done(r) }};
        (async () => {{ {script} }})().catch(e => log.push('failed', e.name, e.message))</script>"
    );
    window.load(&script, Reach::default());
    let told = text_of(&mut window, "log.join(' ')");
    let errors = window.engine.page().borrow().errors.clone();
    assert!(errors.is_empty(), "{errors:?}");
    (window, told.unwrap_or_default())
}

#[track_caller]
fn assert_log(script: &str, wanted: &str) {
    assert_eq!(run(script).1, wanted, "{script}");
}

#[test]
fn what_is_put_into_a_database_is_got_back() {
    assert_log(
        "const db = await opened('a', 2, (db, e) => { log.push(e.oldVersion, e.newVersion); db.createObjectStore('s', { keyPath: 'id' }) });
         const tx = db.transaction('s', 'readwrite'), s = tx.objectStore('s');
         s.put({ id: 2, n: 'b' }); s.put({ id: 1, n: 'a' }); s.put({ id: 2, n: 'c' });
         await new Promise(keep => tx.oncomplete = keep);
         const read = db.transaction(['s']).objectStore('s');
         log.push((await done(read.getAll())).map(r => r.n).join(), (await done(read.get(1))).n, await done(read.get(9)), await done(read.count()));
         log.push(db.version, db.objectStoreNames.contains('s'), (await indexedDB.databases())[0].name)",
        "0 2 a,c a  2 2 true a",
    );
    assert_log(
        "const o = { list: [1] }; const db = await opened('a', undefined, db => db.createObjectStore('s'));
         const s = db.transaction('s', 'readwrite').objectStore('s'); s.put(o, 'k'); o.list.push(2);
         const got = await done(s.get('k')); log.push(got.list.length); got.list.push(3); log.push((await done(s.get('k'))).list.length)",
        "1 1",
    );
    assert_log(
        "const db = await opened('a', 1, db => db.createObjectStore('s', { autoIncrement: true, keyPath: 'id' }));
         const s = db.transaction('s', 'readwrite').objectStore('s');
         log.push(await done(s.add({})), await done(s.add({ id: 7 })), await done(s.add({})));
         await done(s.delete(7)); log.push((await done(s.getAllKeys())).join()); await done(s.clear()); log.push(await done(s.count()))",
        "1 7 8 1,8 0",
    );
}

#[test]
fn indexes_ranges_and_cursors_find_records() {
    let fill = "const db = await opened('a', 1, db => { const s = db.createObjectStore('s', { keyPath: 'id' });
            s.createIndex('by', 'at'); s.createIndex('tags', 'tags', { multiEntry: true }); s.createIndex('one', 'u', { unique: true }) });
        const s = db.transaction('s', 'readwrite').objectStore('s');
        for (const [id, at] of [[1, 30], [2, 10], [3, 20], [4, 20]]) s.put({ id, at, tags: ['t' + id, 'all'] });";
    let log = |script: &str, wanted: &str| assert_log(&format!("{fill}\n{script}"), wanted);
    log(
        "log.push((await done(s.index('by').getAll())).map(r => r.id).join(), (await done(s.index('by').get(20))).id)",
        "2,3,4,1 3",
    );
    log(
        "log.push((await done(s.index('tags').getAllKeys('all'))).join(), await done(s.index('tags').getKey('t3')))",
        "1,2,3,4 3",
    );
    log(
        "log.push((await done(s.getAll(IDBKeyRange.bound(2, 4, false, true)))).map(r => r.id).join(), await done(s.count(IDBKeyRange.lowerBound(3))))",
        "2,3 2",
    );
    log(
        "await new Promise(keep => { s.index('by').openCursor(null, 'prev').onsuccess = e => { const c = e.target.result; if (!c) return keep(); log.push(c.key + ':' + c.value.id); c.continue() } })",
        "30:1 20:4 20:3 10:2",
    );
    log(
        "await new Promise(keep => { s.openCursor().onsuccess = e => { const c = e.target.result; if (!c) return keep(); if (c.key % 2) c.delete(); else c.update({ ...c.value, at: 0 }); c.continue() } });
         log.push((await done(s.getAll())).map(r => r.id + ':' + r.at).join(), await done(s.index('by').count(0)))",
        "2:0,4:0 2",
    );
    log(
        "s.put({ id: 2, at: 99 }); log.push(await done(s.index('by').count(10)), (await done(s.index('by').get(99))).id)",
        "0 2",
    );
    log(
        "s.put({ id: 1, u: 5 }); try { await done(s.put({ id: 2, u: 5 })) } catch (e) { log.push(e.name) }",
        "ConstraintError",
    );
}

#[test]
fn a_transaction_that_fails_leaves_what_was_there() {
    let fill = "const db = await opened('a', 1, db => db.createObjectStore('s')); await done(db.transaction('s', 'readwrite').objectStore('s').put(1, 'k'));";
    let log = |script: &str, wanted: &str| assert_log(&format!("{fill}\n{script}"), wanted);
    let left = "log.push(await done(db.transaction('s').objectStore('s').get('k')))";
    log(
        &format!(
            "const tx = db.transaction('s', 'readwrite'); tx.objectStore('s').put(2, 'k'); tx.abort(); await new Promise(keep => tx.onabort = keep); {left}"
        ),
        "1",
    );
    log(
        &format!(
            "const tx = db.transaction('s', 'readwrite'), s = tx.objectStore('s'); s.put(2, 'k'); s.add(3, 'k'); \
             await new Promise(keep => tx.onabort = keep); log.push(tx.error.name); {left}"
        ),
        "ConstraintError 1",
    );
    log("try { db.transaction('s').objectStore('s').put(1, 'x') } catch (e) { log.push(e.name) }", "ReadOnlyError");
    log("try { db.transaction('nope') } catch (e) { log.push(e.name) }", "NotFoundError");
    log(
        "try { db.transaction('s', 'readwrite').objectStore('s').put(1, {}) } catch (e) { log.push(e.name) }",
        "DataError",
    );
    log(
        "const tx = db.transaction('s'); await new Promise(keep => tx.oncomplete = keep); try { tx.objectStore('s') } catch (e) { log.push(e.name) }",
        "InvalidStateError",
    );
    log("try { await opened('a', 0.5, () => {}) } catch (e) { log.push(e.name) }", "TypeError");
    log(
        "await opened('a', 3, () => {}); try { await opened('a', 2, () => {}) } catch (e) { log.push(e.name) }",
        "VersionError",
    );
    log("await done(indexedDB.deleteDatabase('a')); log.push((await indexedDB.databases()).length)", "0");
}

#[test]
fn keys_have_the_order_of_their_kinds() {
    assert_log(
        "const db = await opened('a', 1, db => db.createObjectStore('s')); const s = db.transaction('s', 'readwrite').objectStore('s');
         for (const key of [[1], new Uint8Array([1]), 'b', 'a', new Date(5), 10, -1]) s.put(0, key);
         log.push((await done(s.getAllKeys())).map(k => k.constructor.name).join(), indexedDB.cmp('a', 'b'), indexedDB.cmp([2], [1, 5]));
         try { indexedDB.cmp(NaN, 1) } catch (e) { log.push(e.name) }
         const round = []; round.push(round); try { indexedDB.cmp(round, 1) } catch (e) { log.push(e.name) }",
        "Number,Number,Date,String,String,ArrayBuffer,Array -1 1 DataError DataError",
    );
}

#[test]
fn what_a_page_copies_is_kept_for_its_reader() {
    for (script, wanted) in [
        ("await navigator.clipboard.writeText('one'); log.push(await navigator.clipboard.readText())", "one"),
        ("await navigator.clipboard.write([new ClipboardItem({ 'text/plain': new Blob(['blob']) })]); await 0", "blob"),
        ("t.value = 'typed'; t.select(); log.push(document.execCommand('copy'))", "typed"),
        (
            "const r = document.createRange(); r.selectNodeContents(p); getSelection().addRange(r); document.execCommand('copy')",
            "words",
        ),
        (
            "document.addEventListener('copy', e => { e.clipboardData.setData('text/plain', 'instead'); e.preventDefault() }); document.execCommand('copy')",
            "instead",
        ),
    ] {
        let (mut window, _) = run(script);
        assert_eq!(window.engine.with(|context| clipboard::take(context)).unwrap(), [wanted], "{script}");
        assert!(window.engine.with(|context| clipboard::take(context)).unwrap().is_empty());
    }
    assert_log(
        "log.push(document.execCommand('copy'), document.queryCommandSupported('copy'), document.execCommand('bold'))",
        "false true false",
    );
}

#[test]
fn what_is_put_into_a_cache_is_found_there() {
    assert_log(
        "const c = await caches.open('v1'); await c.put('/a?x=1', new Response('one'));
         log.push(await (await c.match('/a?x=1')).text(), await (await c.match('/a?x=1')).text(), await c.match('/a'));
         log.push(await (await c.match('/a', { ignoreSearch: true })).text(), await (await caches.match('https://site.test/a?x=1')).text());
         log.push((await c.keys())[0].url, await caches.has('v1'), (await caches.keys()).join());
         log.push(await c.delete('/a?x=1'), await c.delete('/a?x=1'), await caches.delete('v1'), await caches.has('v1'))",
        "one one  one one https://site.test/a?x=1 true v1 true false true false",
    );
    assert_log("try { await (await caches.open('v')).put('/a', {}) } catch (e) { log.push(e.name) }", "TypeError");
    assert_log("try { await (await caches.open('v')).add('/a') } catch (e) { log.push(e.name) }", "TypeError");
}

#[test]
fn locks_wait_for_each_other() {
    assert_log(
        "const a = navigator.locks.request('l', async lock => { log.push(lock.name, lock.mode); await 0; await 0; log.push('a'); return 1 });
         const b = navigator.locks.request('l', { mode: 'shared' }, async lock => { log.push('b', lock.mode); throw new RangeError() });
         const c = navigator.locks.request('l', () => 3); await Promise.allSettled([a, b, c]); log.push(await a); try { await b } catch (e) { log.push(e.name) } log.push(await c)",
        "l exclusive a b shared 1 RangeError 3",
    );
}

#[test]
fn what_few_pages_ask_for_is_there_by_whichever_name_it_is_asked_for() {
    assert_log(
        "log.push(typeof IDBKeyRange.only, typeof indexedDB.open, typeof IDBDatabase, typeof caches.open, typeof Cache, typeof navigator.locks.request);
         log.push(new DecompressionStream('gzip') instanceof DecompressionStream, typeof WritableStream, typeof DataTransfer, navigator.clipboard instanceof Clipboard)",
        "function function function function function function true function function true",
    );
    assert_log(
        "log.push(navigator.locks instanceof LockManager, typeof caches.keys, caches === caches)",
        "true function true",
    );
    assert_log(
        "window.indexedDB = { mine: 1 }; log.push(indexedDB.mine); window.caches = null; log.push(caches)",
        "1 ",
    );
}
