//! `URL` and `URLSearchParams`.

use super::*;

#[test]
fn addresses_are_taken_apart_and_put_together() {
    assert_js(&[
        "let u = new URL('../x?a=1#h', 'https://user:pw@example.org:8080/d/e/'); u.href === 'https://user:pw@example.org:8080/d/x?a=1#h' && u.origin === 'https://example.org:8080' && u.pathname === '/d/x' && u.search === '?a=1' && u.hash === '#h' && u.host === 'example.org:8080' && u.port === '8080' && u.username === 'user' && u.password === 'pw' && u.protocol === 'https:'",
        "try { new URL('nothing'); false } catch (e) { e instanceof TypeError }",
        "try { URL('https://a.b'); false } catch (e) { e instanceof TypeError }",
        "URL.canParse('x', 'https://a.b') && !URL.canParse('x') && URL.parse('x') === null && URL.parse('https://a.b').host === 'a.b'",
        "let u = new URL('https://a.b/'); u.pathname = '/c d'; u.hash = 'x'; u.port = '443'; u.href === 'https://a.b/c%20d#x'",
        "let u = new URL('https://a.b/'); u.protocol = 'http'; u.host = 'c.d:81'; String(u) === 'http://c.d:81/'",
        "let u = new URL('https://a.b/?x=1'); try { u.href = 'no'; false } catch (e) { u.href === 'https://a.b/?x=1' }",
        "JSON.stringify({u: new URL('https://a.b')}) === '{\"u\":\"https://a.b/\"}'",
        "new URL('https://EXAMPLE.org/a/../b/./c').href === 'https://example.org/b/c' && new URL('https://bücher.example').host === 'xn--bcher-kva.example'",
        "Object.getOwnPropertyDescriptor(URL.prototype, 'href').get.name === 'get href' && URL.prototype.constructor === URL && URL.length === 1 && webkitURL === URL",
        "class U extends URL { get x() { return 1 } } new U('https://a.b').x === 1 && new U('https://a.b') instanceof URL",
    ]);
}

#[test]
fn a_url_and_its_parameters_are_one() {
    assert_js(&[
        "let u = new URL('https://a.b/?x=1&y=2'); u.searchParams.set('x', '3'); u.searchParams.delete('y'); u.href === 'https://a.b/?x=3'",
        "let u = new URL('https://a.b/?x=1'), p = u.searchParams; u.search = '?z=9'; p.get('z') === '9' && !p.has('x') && u.searchParams === p",
        "let u = new URL('https://a.b/?x=1'); u.searchParams.delete('x'); u.href === 'https://a.b/'",
        "let u = new URL('https://a.b/?x=1'); u.href = 'https://c.d/?q=7'; u.searchParams.get('q') === '7'",
        "let u = new URL('https://a.b/'); u.searchParams.append('a b', 'c&d'); u.search === '?a+b=c%26d'",
    ]);
}

#[test]
fn parameters_are_lists_of_pairs() {
    assert_js(&[
        "new URLSearchParams('?a=1&b=2&a=3').getAll('a').join() === '1,3'",
        "new URLSearchParams({a: 1, b: 'x y'}).toString() === 'a=1&b=x+y'",
        "new URLSearchParams([['a', 1], ['b', 2]]).toString() === 'a=1&b=2'",
        "new URLSearchParams(new URLSearchParams('a=1')).get('a') === '1'",
        "new URLSearchParams(new Map([['k', 'v']])).get('k') === 'v'",
        "try { new URLSearchParams([['a']]); false } catch (e) { e instanceof TypeError }",
        "new URLSearchParams('a=%FF').get('a') === '\\uFFFD' && new URLSearchParams('a=\\uD800').get('a') === '\\uFFFD'",
        "let p = new URLSearchParams('b=1&a=2&b=0'); p.sort(); p.toString() === 'a=2&b=1&b=0' && p.size === 3",
        "let p = new URLSearchParams('a=1&b=2&a=3'); p.set('a', '9'); p.toString() === 'a=9&b=2'",
        "let p = new URLSearchParams('a=1&a=2'); p.delete('a', '1'); p.toString() === 'a=2' && p.has('a', '2') && !p.has('a', '1')",
        "[...new URLSearchParams('a=1&b=2')].join(';') === 'a,1;b,2' && [...new URLSearchParams('a=1').keys()].join() === 'a'",
        "let s = ''; new URLSearchParams('a=1&b=2').forEach((v, k) => s += k + v); s === 'a1b2'",
        "let p = new URLSearchParams('a=1&b=2&c=3'), s = ''; for (let [k] of p) { s += k; if (k == 'a') p.delete('b') } s === 'ac'",
        "let i = new URLSearchParams('a=1').entries(); i.next(); i.next().done && i[Symbol.iterator]() === i && String(i) === '[object URLSearchParams Iterator]'",
        "Object.fromEntries(new URLSearchParams('a=1&b=2')).b === '2'",
        "new URLSearchParams('+=+&%2B=%2B').toString() === '+=+&%2B=%2B'",
    ]);
}
