//! The client over real sockets on loopback: codings, validators, and failure kinds.

use std::io::{Read as _, Write as _};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::super::body::{self, Allowance, Read, Want};
use super::super::{Post, Validators};
use super::*;
use gleaner_base::url::Canonical;

const CONNECTIONS: usize = 2;

fn transport(addresses: AddressPolicy, proxy: Option<&url::Url>) -> HttpTransport {
    HttpTransport::new(&ClientOptions {
        user_agent: "gleaner-test",
        headers: &[],
        proxy,
        addresses,
        dns: Dns::default(),
        tls: crate::fetch::tls::Tls::default(),
        cookies: Arc::default(),
        connections_max: CONNECTIONS,
        timeout: std::time::Duration::from_secs(30),
    })
    .unwrap()
}

fn parse(url: &str) -> CrawlUrl {
    CrawlUrl::parse(url, &Canonical::default()).unwrap()
}

async fn get(transport: &HttpTransport, url: &str) -> Result<u16, FetchFailure> {
    transport.send((&parse(url)).into()).await.map(|response| response.status)
}

/// Answers each connection's first request with these bytes and closes it; returns the port and the requests.
async fn server(answer: Vec<u8>) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (asked, asks) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = vec![0; 16_384];
            let length = socket.read(&mut request).await.unwrap_or(0);
            let _ = asked.send(String::from_utf8_lossy(&request[..length]).to_ascii_lowercase());
            let _ = socket.write_all(&answer).await;
            let _ = socket.shutdown().await;
        }
    });
    (port, asks)
}

const EMPTY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn a_name_or_address_of_this_machine_is_refused_unless_allowed() {
    let (port, _asks) = server(EMPTY.to_vec()).await;
    let (guarded, open) = (transport(AddressPolicy::Public, None), transport(AddressPolicy::Any, None));
    let named = transport(AddressPolicy::with_networks(&["127.0.0.0/8"]).unwrap(), None);
    let other = transport(AddressPolicy::with_networks(&["10.0.0.0/8"]).unwrap(), None);
    for host in ["localhost", "127.0.0.1", "2130706433", "0x7f.1"] {
        let url = format!("http://{host}:{port}/");
        for transport in [&guarded, &other] {
            let refused = get(transport, &url).await.unwrap_err();
            assert_eq!(refused.kind, FailureKind::AddressRefused, "{host}: {refused}");
            assert!(refused.detail.contains("`private_addresses = true`"), "{refused}");
        }
        assert_eq!(get(&open, &url).await, Ok(200), "{host}");
        assert_eq!(get(&named, &url).await, Ok(200), "{host}");
    }
}

#[tokio::test]
async fn the_proxy_is_the_operators_word_and_names_behind_it_are_its_own() {
    let (port, _asks) = server(EMPTY.to_vec()).await;
    let proxy = url::Url::parse(&format!("http://localhost:{port}")).unwrap();
    let guarded = transport(AddressPolicy::Public, Some(&proxy));
    assert_eq!(get(&guarded, "http://name.invalid/").await, Ok(200));
    let refused = get(&guarded, "http://10.0.0.1/").await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::AddressRefused, "an address is refused before the proxy hears of it");
    assert_eq!(guarded.resolve(&parse("http://name.invalid/")).await, Ok(Resolution::default()));
}

#[tokio::test]
async fn a_proxy_that_is_dead_is_named_without_its_password() {
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for scheme in ["http", "socks5", "socks5h"] {
        let proxy = url::Url::parse(&format!("{scheme}://anna:hunter2@127.0.0.1:{dead}")).unwrap();
        let dead = transport(AddressPolicy::Any, Some(&proxy));
        // An address needs no name server, whoever asks for it.
        let failure = get(&dead, "http://127.0.0.1:9/").await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Connect, "{failure}");
        let named = format!("no connection: over the proxy {scheme}://127.0.0.1:{}: ", proxy.port().unwrap());
        assert!(failure.to_string().starts_with(&named) && !failure.detail.contains("hunter2"), "{failure}");
    }
}

#[tokio::test]
async fn where_a_host_is_can_be_asked() {
    let open = transport(AddressPolicy::Any, None);
    let resolution = open.resolve(&parse("http://10.1.2.3/")).await.unwrap();
    assert_eq!(resolution.addresses, ["10.1.2.3".parse::<std::net::IpAddr>().unwrap()]);
    let resolution = open.resolve(&parse("http://localhost/")).await.unwrap();
    assert!(!resolution.addresses.is_empty() && !resolution.ttl.is_zero());
    let guarded = transport(AddressPolicy::Public, None);
    for url in ["http://localhost/", "http://10.1.2.3/"] {
        assert_eq!(guarded.resolve(&parse(url)).await.unwrap_err().kind, FailureKind::AddressRefused, "{url}");
    }
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_told_by_name() {
    let failure = get(&transport(AddressPolicy::Any, None), "http://nowhere.invalid/").await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Dns);
    assert!(failure.detail.contains("`nowhere.invalid`"), "{failure}");
}

#[tokio::test]
async fn validators_are_sent_and_what_is_no_header_is_left_out() {
    let answer = b"HTTP/1.1 304 Not Modified\r\nETag: \"new\"\r\nLast-Modified: then\r\nX-Robots-Tag: noindex\r\n\
        X-Robots-Tag: bot: nofollow\r\nConnection: close\r\n\r\n";
    let (port, mut asks) = server(answer.to_vec()).await;
    let (open, url) = (transport(AddressPolicy::Any, None), parse(&format!("http://127.0.0.1:{port}/")));
    let validators = Validators { etag: Some("W/\"a\"".into()), last_modified: Some("no\nheader".into()) };
    let response = open.send(Request { validators: Some(&validators), ..(&url).into() }).await.unwrap();
    let asked = asks.recv().await.unwrap();
    assert!(asked.contains("if-none-match: w/\"a\"") && !asked.contains("if-modified-since"), "{asked}");
    assert!(asked.contains("accept-encoding: gzip, br, zstd, deflate\r\n"), "{asked}");
    assert_eq!(response.status, 304);
    assert_eq!(response.headers.etag.as_deref(), Some("\"new\""));
    assert_eq!(response.headers.last_modified.as_deref(), Some("then"));
    assert_eq!(response.headers.robots_tags, ["noindex", "bot: nofollow"]);
    let validators = Validators { etag: None, last_modified: Some("Sat, 21 Nov 2026 00:00:00 GMT".into()) };
    open.send(Request { validators: Some(&validators), ..(&url).into() }).await.unwrap();
    let asked = asks.recv().await.unwrap();
    assert!(asked.contains("if-modified-since: sat, 21 nov") && !asked.contains("if-none-match"), "{asked}");
}

#[tokio::test]
async fn headers_longer_than_their_caps_are_not_kept() {
    let long = "x".repeat(limits::VALIDATOR_BYTES_MAX + 1);
    let tags = "X-Robots-Tag: noindex\r\n".repeat(limits::ROBOTS_TAGS_MAX + 1);
    let answer = format!(
        "HTTP/1.1 200 OK\r\nETag: {long}\r\nX-Robots-Tag: {long}\r\n{tags}Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let (port, _asks) = server(answer.into_bytes()).await;
    let url = parse(&format!("http://127.0.0.1:{port}/"));
    let headers = transport(AddressPolicy::Any, None).send((&url).into()).await.unwrap().headers;
    assert_eq!((headers.etag, headers.robots_tags.len()), (None, limits::ROBOTS_TAGS_MAX));
    assert!(headers.robots_tags.iter().all(|tag| tag == "noindex"));
}

#[tokio::test]
async fn a_line_that_is_no_header_is_passed_over_and_the_others_count() {
    for line in [
        "Set-Cookie: grid=a%7Cb; path=/; domain=\x7fww\x7f.example",
        "X-Odd: a\x01b",
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0//EN\">",
        "PHP Warning: PHP Startup: Unable to load dynamic library '/usr/lib/x.so' - no such file in Unknown on line 0",
        "Warning: caf\u{e9} \x1b[1m",
        "X-Powered By: thing",
        "X-Spaced : thing",
        "no colon at all",
        ": no name",
        "(comment): x",
        "n\u{e4}me: x",
        "",
        "X-Folded: a\r\n\tb\r\n  c",
        "\x7f\r\n folded after it",
    ] {
        let line = if line.is_empty() { String::new() } else { format!("{line}\r\n") };
        let head =
            format!("HTTP/1.1 200 OK\r\n{line}Content-Type: a/b\r\n{line}Content-Length: 4\r\n{line}Connection: close");
        let (headers, read) = read(format!("{head}\r\n\r\npage").into_bytes()).await;
        assert_eq!(headers.content_type.as_deref(), Some("a/b"), "{line:?}");
        assert!(matches!(&read, Read::Whole(bytes) if &bytes[..] == b"page"), "{line:?}: {read:?}");
    }
    // Behind a header, such a line belongs to it.
    let odd = b"HTTP/1.1 200 OK\r\n first\r\nContent-Type: a/b;\r\n c=d\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage";
    let content_type = read(odd.to_vec()).await.0.content_type.unwrap();
    assert_eq!(content_type.split_whitespace().collect::<Vec<_>>(), ["a/b;", "c=d"]);
}

#[tokio::test]
async fn an_answer_may_have_thousands_of_header_lines_and_not_endless_ones() {
    let head = |lines: usize| {
        let lines: String = (0..lines).map(|n| format!("X-{n}: y\r\n")).collect();
        format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 4\r\nConnection: close\r\n\r\npage").into_bytes()
    };
    for lines in [98, 120, limits::USUAL_HEADER_LINES_MAX - 2] {
        let (_, read) = read(head(lines)).await;
        assert!(matches!(&read, Read::Whole(bytes) if &bytes[..] == b"page"), "{lines}: {read:?}");
    }
    for (lines, is_read) in [
        (limits::USUAL_HEADER_LINES_MAX, true),
        (limits::HEADER_LINES_MAX - 2, true),
        (limits::HEADER_LINES_MAX, false),
    ] {
        let (port, _asks) = server(head(lines)).await;
        let (open, url) = (transport(AddressPolicy::Any, None), format!("http://127.0.0.1:{port}/"));
        let failure = get(&open, &url).await.unwrap_err();
        assert_eq!((failure.kind, &*failure.detail), (FailureKind::Protocol, LONG_HEAD));
        // The retry, which others decide on.
        assert_eq!(get(&open, &url).await.is_ok(), is_read, "{lines}");
    }
}

/// The requests that were sent since the last call.
fn asked(asks: &mut tokio::sync::mpsc::UnboundedReceiver<String>) -> usize {
    std::iter::from_fn(|| asks.try_recv().ok()).count()
}

#[tokio::test]
async fn each_call_sends_one_request_and_long_heads_are_never_forgotten() {
    let lines: String = (0..300).map(|n| format!("X-{n}: y\r\n")).collect();
    let answer = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 4\r\nConnection: close\r\n\r\npage");
    let open = transport(AddressPolicy::Any, None);
    let mut servers = Vec::new();
    // More than there are clients, so that each is evicted before its turn comes again.
    for _ in 0..CONNECTIONS + 2 {
        servers.push(server(answer.clone().into_bytes()).await);
    }
    for round in 0..3 {
        for (port, asks) in &mut servers {
            let got = get(&open, &format!("http://127.0.0.1:{port}/")).await;
            assert_eq!(got.is_ok(), round > 0, "{round}: {got:?}");
            assert_eq!(asked(asks), 1, "each request passes the gate of its host");
        }
    }
}

#[test]
fn origins_of_long_heads_are_capped() {
    let heads = LongHeads::default();
    let origin = |n: usize| url::Url::parse(&format!("http://h{n}.example/")).unwrap().origin();
    let failure = |detail: &str| FetchFailure { kind: FailureKind::Protocol, detail: detail.to_owned() };
    heads.note(&origin(0), &failure("another"));
    assert_eq!(heads.lines(&origin(0)), limits::USUAL_HEADER_LINES_MAX);
    for n in (0..=limits::LONG_HEAD_ORIGINS_MAX).flat_map(|n| [n, n]) {
        heads.note(&origin(n), &failure(LONG_HEAD));
    }
    assert_eq!(heads.lines(&origin(0)), limits::HEADER_LINES_MAX);
    assert_eq!(heads.lines(&origin(limits::LONG_HEAD_ORIGINS_MAX - 1)), limits::HEADER_LINES_MAX);
    assert_eq!(heads.lines(&origin(limits::LONG_HEAD_ORIGINS_MAX)), limits::USUAL_HEADER_LINES_MAX);
}

#[tokio::test]
async fn a_post_is_sent_once_and_leaves_its_origin_as_it_was() {
    let (port, mut asks) = server(EMPTY.to_vec()).await;
    let (open, url) = (transport(AddressPolicy::Any, None), parse(&format!("http://127.0.0.1:{port}/")));
    let post = Post { body: b"a=b", content_type: "application/x-www-form-urlencoded", referer: &url };
    assert_eq!(open.send(Request { post: Some(post), ..(&url).into() }).await.unwrap().status, 200);
    let kept: Vec<usize> = open.kept.lock().unwrap().clients.iter().map(|(.., lines)| *lines).collect();
    assert_eq!((kept, asked(&mut asks)), (vec![limits::USUAL_HEADER_LINES_MAX], 1));
}

#[tokio::test]
async fn many_header_lines_behind_a_body_are_read_on_the_next_request() {
    let lines: String = (0..300).map(|n| format!("X-{n}: y\r\n")).collect();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-0\r\nConnection: close\r\n\r\n4\r\npage\r\n0\r\n{lines}\r\n"
    );
    let (port, mut asks) = server(answer.into_bytes()).await;
    let (open, url) = (transport(AddressPolicy::Any, None), parse(&format!("http://127.0.0.1:{port}/")));
    for is_read in [false, true] {
        let response = open.send((&url).into()).await.unwrap();
        let read = body::read(response.body, None, &Allowance::default(), |_, _| Want::UpTo(1 << 20)).await;
        assert_eq!(matches!(&read, Read::Whole(bytes) if &bytes[..] == b"page"), is_read, "{read:?}");
        assert_eq!(asked(&mut asks), 1);
    }
}

#[tokio::test]
async fn what_goes_back_to_the_server_is_what_it_sent() {
    let answer = b"HTTP/1.1 302 Found\r\nLocation: /\xD6\xD0\t?q=\xe9&r=%C3%A9#\xff\r\nETag: \"\xe9\"\r\nLast-Modified: \xc3\xa9\r\n\
        Content-Length: 0\r\nConnection: close\r\n\r\n";
    let (port, mut asks) = server(answer.to_vec()).await;
    let (open, url) = (transport(AddressPolicy::Any, None), parse(&format!("http://127.0.0.1:{port}/")));
    let headers = open.send((&url).into()).await.unwrap().headers;
    assert_eq!(headers.location.as_deref(), Some("/%D6%D0\t?q=%E9&r=%C3%A9#%FF"));
    assert_eq!((headers.etag, headers.last_modified.as_deref()), (None, Some("é")), "no tag rather than another");
    asks.recv().await.unwrap();
    let validators = Validators { etag: Some("\"é\"".into()), last_modified: None };
    open.send(Request { validators: Some(&validators), ..(&url).into() }).await.unwrap();
    let asked = asks.recv().await.unwrap();
    assert!(asked.contains("if-none-match: \"é\"\r\n"), "{asked}");
}

#[tokio::test]
async fn no_more_idle_connections_are_kept_than_the_site_may_have_and_cookies_go_to_all() {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    let (open_sockets, accepted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (asked, mut asks) = tokio::sync::mpsc::unbounded_channel();
    let mut urls = Vec::new();
    for _ in 0..8 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        urls.push(parse(&format!("http://{}/", listener.local_addr().unwrap())));
        let (asked, open_sockets, accepted) = (asked.clone(), Arc::clone(&open_sockets), Arc::clone(&accepted));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                open_sockets.fetch_add(1, SeqCst);
                accepted.fetch_add(1, SeqCst);
                let (asked, open_sockets) = (asked.clone(), Arc::clone(&open_sockets));
                tokio::spawn(async move {
                    let mut request = [0; 4_096];
                    while let Ok(length @ 1..) = socket.read(&mut request).await {
                        let _ = asked.send(String::from_utf8_lossy(&request[..length]).to_ascii_lowercase());
                        let answer = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 2\r\n\r\nok";
                        let _ = socket.write_all(answer).await;
                    }
                    open_sockets.fetch_sub(1, SeqCst);
                });
            }
        });
    }
    let transport = transport(AddressPolicy::Any, None);
    for (number, url) in urls.iter().chain(&urls).enumerate() {
        let response = transport.send(url.into()).await.unwrap();
        let read = body::read(response.body, None, &Allowance::default(), |_, _| Want::UpTo(100)).await;
        assert!(matches!(read, Read::Whole(bytes) if bytes == b"ok"[..]));
        let asked = asks.recv().await.unwrap();
        assert_eq!(asked.contains("cookie: a=1"), number > 0, "{asked}");
        assert!(asked.contains("user-agent: gleaner-test\r\n"), "{asked}");
        let alone = async {
            while open_sockets.load(SeqCst) > CONNECTIONS {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // Idle connections that were kept would stay for half a minute.
        tokio::time::timeout(Duration::from_secs(5), alone).await.expect("the others are closed");
    }
    // Alternating origins, such as pages and downloads, keep their connections.
    let before = accepted.load(SeqCst);
    for url in urls[6..].iter().cycle().take(6) {
        let response = transport.send(url.into()).await.unwrap();
        let read = body::read(response.body, None, &Allowance::default(), |_, _| Want::UpTo(100)).await;
        assert!(matches!(read, Read::Whole(_)));
    }
    assert_eq!(accepted.load(SeqCst), before);
}

#[tokio::test(start_paused = true)]
async fn time_in_which_nobody_looks_is_not_the_servers() {
    let second = Duration::from_secs(1);
    for (needs, answers) in [(40, true), (85, true), (100, false)] {
        let mut patience = Patience {
            left: limits::REQUEST_TIME_MAX,
            silence: limits::READ_TIME_MAX,
            origin: url::Origin::new_opaque(),
            long_heads: LongHeads::default(),
        };
        let ended = {
            let sleep = tokio::time::sleep(needs * second);
            let mut waiting = std::pin::pin!(patience.wait(async {
                sleep.await;
                Ok(())
            }));
            assert!(futures_util::poll!(&mut waiting).is_pending());
            // A commit blocks the site's loop.
            tokio::time::sleep(60 * second).await;
            waiting.await
        };
        assert_eq!(ended.is_ok(), answers, "{needs}: {ended:?}");
        assert!(patience.left >= limits::REQUEST_TIME_MAX - 31 * second, "{needs}: {:?}", patience.left);
    }
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

async fn read(answer: Vec<u8>) -> (ResponseHeaders, Read) {
    let (port, _asks) = server(answer).await;
    let url = parse(&format!("http://127.0.0.1:{port}/"));
    let response = transport(AddressPolicy::Any, None).send((&url).into()).await.unwrap();
    (response.headers, body::read(response.body, None, &Allowance::default(), |_, _| Want::UpTo(1 << 20)).await)
}

fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    [format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n").as_bytes(), body]
        .concat()
}

#[tokio::test]
async fn a_body_comes_decoded_and_its_coded_length_is_nobodys_business() {
    let page = b"<html>page</html>".repeat(10_000);
    let (headers, plain) = read(answer("", &page)).await;
    assert_eq!(headers.content_length, Some(page.len() as u64));
    assert!(matches!(plain, Read::Whole(bytes) if bytes == page));
    let (headers, coded) = read(answer("Content-Encoding: X-GZip\r\n", &gzip(&page))).await;
    assert_eq!(headers.content_length, None);
    assert!(matches!(coded, Read::Whole(bytes) if bytes == page));
    let twice = gzip(&gzip(&page));
    let (_, coded) = read(answer("Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n", &twice)).await;
    assert!(matches!(coded, Read::Whole(bytes) if bytes == page));
}

#[tokio::test]
async fn a_bomb_ends_like_any_large_body() {
    let bomb = gzip(&vec![0; 64 << 20]);
    let (_, bombed) = read(answer("Content-Encoding: gzip\r\n", &bomb)).await;
    let Read::Stopped { bytes, over_cap: true } = bombed else { panic!("{bombed:?}") };
    assert!(bytes.len() <= (1 << 20) + limits::DECODED_PIECE_BYTES_MAX, "{}", bytes.len());
}

#[tokio::test]
async fn a_content_that_is_whole_does_not_wait_for_the_end_of_its_body() {
    let page = b"<html>page</html>";
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = parse(&format!("http://{}/", listener.local_addr().unwrap()));
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 4_096]).await;
        // No length, and the connection stays open.
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n").await;
        let _ = socket.write_all(&gzip(page)).await;
        std::future::pending::<()>().await;
    });
    let response = transport(AddressPolicy::Any, None).send((&url).into()).await.unwrap();
    let allowance = Allowance::default();
    let reading = body::read(response.body, None, &allowance, |_, _| Want::UpTo(1 << 20));
    let read = tokio::time::timeout(3 * limits::BODY_TAIL_TIME_MAX, reading).await.expect("no wait");
    assert!(matches!(read, Read::Whole(bytes) if bytes == page[..]));
}

#[tokio::test]
async fn a_coded_body_leaves_its_connection_usable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = parse(&format!("http://{}/", listener.local_addr().unwrap()));
    let (accepted, mut connections) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = accepted.send(());
            tokio::spawn(async move {
                let coded = gzip(b"page");
                while socket.read(&mut [0; 4_096]).await.is_ok_and(|length| length > 0) {
                    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n";
                    let chunk = [format!("{:x}\r\n", coded.len()).as_bytes(), &coded, b"\r\n0\r\n\r\n"].concat();
                    let _ = socket.write_all(&[head.as_bytes(), &chunk].concat()).await;
                }
            });
        }
    });
    let transport = transport(AddressPolicy::Any, None);
    for _ in 0..5 {
        let response = transport.send((&url).into()).await.unwrap();
        let read = body::read(response.body, None, &Allowance::default(), |_, _| Want::UpTo(100)).await;
        assert!(matches!(read, Read::Whole(bytes) if bytes == b"page"[..]));
    }
    connections.recv().await.unwrap();
    assert!(connections.try_recv().is_err(), "one connection for all five");
}

#[tokio::test]
async fn answers_that_are_none_are_told_in_words() {
    for (answer, kind, words) in [
        (&b""[..], FailureKind::Truncated, "closed the connection"),
        (b"<html>old</html>\r\n\r\n", FailureKind::Protocol, "not HTTP/1"),
        (b"HTTP/1.1 two OK\r\n\r\n", FailureKind::Protocol, "status"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", FailureKind::Protocol, "length"),
    ] {
        let (port, _asks) = server(answer.to_vec()).await;
        let failure =
            get(&transport(AddressPolicy::Any, None), &format!("http://127.0.0.1:{port}/")).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(failure.detail.contains(words), "{failure}");
    }
    let (_, cut) = read(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort".to_vec()).await;
    assert!(
        matches!(&cut, Read::Failed { failure, .. } if failure.kind == FailureKind::Truncated
        && failure.detail.contains("shorter than the announced length")),
        "{cut:?}"
    );
}

/// A TLS server with a certificate of `fixtures/tls`; accepts a few connections and ends.
fn tls_server(certificate: &str) -> u16 {
    let file = |name: &str| format!("{}/fixtures/tls/{name}.pem", env!("GLEANER_ROOT"));
    let chain = vec![CertificateDer::from_pem_file(file(certificate)).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file("key")).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for socket in listener.incoming().take(4).flatten() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, socket);
            let _ = stream.read(&mut [0; 1_024]);
        }
    });
    port
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_told_with_a_hint() {
    let open = transport(AddressPolicy::Any, None);
    for (certificate, words) in [
        ("expired", "has expired\nhint: "),
        ("early", "not valid yet\nhint: "),
        ("self_signed", "self-signed, or its issuer is unknown\nhint: "),
        ("authority", "self-signed, or its issuer is unknown\nhint: "),
    ] {
        let port = tls_server(certificate);
        let failure = get(&open, &format!("https://localhost:{port}/")).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Tls, "{certificate}: {failure}");
        assert!(failure.detail.contains(words), "{certificate}: {failure}");
    }
    let (port, _asks) = server(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
    let failure = get(&open, &format!("https://127.0.0.1:{port}/")).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    assert!(failure.detail.contains("does not speak TLS"), "{failure}");
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let failure = get(&open, &format!("http://127.0.0.1:{unused}/")).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Connect, "{failure}");
}

#[tokio::test]
async fn a_form_is_posted_as_a_browser_posts_it_and_does_not_show_in_debug() {
    // The page of the form is at the origin that it is sent to, or at another, which is told no more than the page's origin.
    for is_own in [true, false] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = parse(&format!("http://{}/login?x=1", listener.local_addr().unwrap()));
        let page = if is_own { url.clone() } else { parse("http://other.example/login?key=0123") };
        let told = if is_own { page.as_str() } else { "http://other.example/" };
        let serving = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut got = Vec::new();
            while !got.ends_with(b"p=secret") {
                let mut piece = [0; 4_096];
                let length = socket.read(&mut piece).await.unwrap();
                assert_ne!(length, 0, "{}", String::from_utf8_lossy(&got));
                got.extend_from_slice(&piece[..length]);
            }
            socket.write_all(b"HTTP/1.1 302 Found\r\nLocation: /in\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            String::from_utf8(got).unwrap()
        });
        let post = Post { content_type: "application/x-www-form-urlencoded", body: b"u=a&p=secret", referer: &page };
        let request = Request { post: Some(post), ..(&url).into() };
        assert!(!format!("{request:?}").contains("secret"));
        let response = transport(AddressPolicy::Any, None).send(request).await.unwrap();
        assert_eq!((response.status, response.headers.location.as_deref()), (302, Some("/in")));
        let got = serving.await.unwrap().to_ascii_lowercase();
        assert!(got.starts_with("post /login?x=1 http/1.1\r\n"), "{got}");
        for header in [
            "content-type: application/x-www-form-urlencoded\r\n".to_owned(),
            format!("referer: {told}\r\n"),
            format!("origin: {}\r\n", page.origin()),
            "content-length: 12\r\n".to_owned(),
        ] {
            assert!(got.contains(&header), "{header} is missing in {got}");
        }
    }
}
