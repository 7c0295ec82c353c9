//! Everything that a page, a redirect or a name server can write to lead the crawler into its own network. Nothing
//! must get through: a server on loopback counts the connections.

use std::net::Ipv4Addr;
use std::str::FromStr as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::fetch::Transport;
use crate::fetch::dns::name_server::{Says, dns, name_server, pass};
use crate::fetch::http::{ClientOptions, HttpTransport};
use gleaner_base::url::{Canonical, CrawlUrl};

/// Hosts as a link can spell them. Each is refused as an address, or is not a URL at all.
const SPELLINGS: &[&str] = &[
    // Loopback: decimal, octal, hexadecimal, short, mixed, with a trailing dot.
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.1.",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7F.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "0177.0.0.0x1",
    "00000000177.0.0.1",
    "127.0.0.01",
    "127.255.255.254",
    "127.65537",
    "4294967296",
    "127.0.0.256",
    "127.0.0.1.5",
    "0x7f000001.",
    // Digits, dots and letters that Unicode normalisation and percent-decoding turn into others.
    "１２７.0.0.1",
    "１２７．０．０．１",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "𝟭𝟮𝟳.0.0.1",
    "127\u{ad}.0.0.1",
    "0ｘ7f.1",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "%30x7f000001",
    "127.0.0.1%00",
    "127.0.0.1%20",
    // This host, and no host.
    "0",
    "0.0.0.0",
    "0x0",
    "00",
    "000000.0",
    "0.1.2.3",
    "[::]",
    // Loopback in IPv6, and IPv4 in every embedding.
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7F00:1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a00:1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2002:c0a8:1::1]",
    "[2001::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[2606:4700::5efe:10.0.0.1]",
    "[2606:4700::200:5efe:7f00:1]",
    // Zones.
    "[fe80::1%25lo]",
    "[fe80::1%lo]",
    "[::1%25lo]",
    "127.0.0.1%lo",
    // Private, shared, link-local; clouds' metadata.
    "10.0.0.1",
    "167772161",
    "012.1",
    "0xa000001",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "3232235521",
    "0300.0250.1",
    "192.168.257",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "[::ffff:a9fe:a9fe]",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "[fc00::1]",
    "[fdff::1]",
    "[fe80::1]",
    "[fec0::1]",
    // Multicast, broadcast, reserved, benchmarks, documentation.
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "4294967295",
    "198.18.0.1",
    "192.0.2.1",
    "203.0.113.1",
    "192.88.99.1",
    "[ff02::1]",
    "[ff0e::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[100::1]",
    "[5f00::1]",
    // Prefixes before the host.
    "user@127.0.0.1",
    "user:pass@127.0.0.1",
    "public.example@127.0.0.1",
    "public.example:80@127.0.0.1",
    "public.example%2f@127.0.0.1",
    "public.example%00@127.0.0.1",
    "@127.0.0.1",
    ":@127.0.0.1",
    // Names of this machine and of its hosts file.
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "ｌocalhost",
    "%6cocalhost",
    "lo\tcal\nhost",
    "local\u{ad}host",
    "pinned.example",
    "box",
    "PINNED.example",
    "pinned.example.",
];

/// References as a `Location` or a link can spell them, on a page of `http://public.example/dir/`; `PORT` is
/// replaced.
const REFERENCES: &[&str] = &[
    "//127.0.0.1:PORT/",
    "\\\\127.0.0.1:PORT\\x",
    "/\\127.0.0.1:PORT/",
    "\\/127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT/",
    "http:////127.0.0.1:PORT/",
    "//127.1:PORT",
    " \t//127.0.0.1:PORT/",
    "ht\ntp://127.0.0.1:PORT/",
    "http://127.0.\n0.1:PORT/",
    "HTTP://127.0.0.1:PORT/",
    "https://127.0.0.1:PORT/",
    "http://public.example@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT#@public.example/",
    "http://127.0.0.1:PORT?@public.example/",
    "http://127.0.0.1:PORT\\@public.example/",
    "//public.example@127.0.0.1:PORT/",
    "//[::ffff:127.0.0.1]:PORT/",
    "http://2130706433:PORT/",
    "//localhost:PORT/",
    "\u{b}http://127.0.0.1:PORT/",
    "\0//127.0.0.1:PORT/",
];

/// Names that the name server maps to forbidden addresses; each is refused.
const PLACED: &[(&str, &[&str])] = &[
    ("a-loopback.example", &["127.0.0.1"]),
    ("aaaa-loopback.example", &["::1"]),
    ("both-loopback.example", &["127.0.0.1", "::1"]),
    ("unspecified.example", &["0.0.0.0"]),
    ("aaaa-unspecified.example", &["::"]),
    ("private.example", &["10.0.0.1", "192.168.0.1", "172.16.0.1"]),
    ("aaaa-private.example", &["fd00::1"]),
    ("metadata.example", &["169.254.169.254"]),
    ("aaaa-metadata.example", &["fd00:ec2::254"]),
    ("mapped.example", &["::ffff:127.0.0.1"]),
    ("compatible.example", &["::127.0.0.1"]),
    ("nat64.example", &["64:ff9b::7f00:1"]),
    ("sixtofour.example", &["2002:7f00:1::1"]),
    ("teredo.example", &["2001::1"]),
    ("linklocal.example", &["fe80::1"]),
    ("multicast.example", &["224.0.0.1", "ff02::1"]),
    ("broadcast.example", &["255.255.255.255"]),
    ("shared.example", &["100.64.0.1"]),
];

/// Names with addresses of both kinds, and the allowed rest.
const MIXED: &[(&str, &[&str], &[&str])] = &[
    ("first.example", &["8.8.8.8", "127.0.0.1"], &["8.8.8.8"]),
    ("last.example", &["127.0.0.1", "8.8.8.8"], &["8.8.8.8"]),
    ("a-public.example", &["8.8.8.8", "::1", "fd00::1"], &["8.8.8.8"]),
    ("aaaa-public.example", &["10.0.0.1", "2606:4700::1"], &["2606:4700::1"]),
    (
        "many.example",
        &["0.0.0.0", "1.1.1.1", "169.254.169.254", "::ffff:10.0.0.1", "2606:4700::1"],
        &["1.1.1.1", "2606:4700::1"],
    ),
];

fn addresses(list: &[&str]) -> Vec<IpAddr> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

/// The name server of these tables.
fn says(name: &str, before: usize) -> Says {
    let name = name.to_ascii_lowercase();
    let placed = PLACED.iter().copied().chain(MIXED.iter().map(|(name, at, _)| (*name, *at)));
    if let Some((_, at)) = placed.into_iter().find(|(known, _)| *known == name) {
        return Says::All(addresses(at), 60);
    }
    match name.as_str() {
        "alias.example" => Says::Alias(60, Ipv4Addr::LOCALHOST, 60),
        // Public when checked, private when connected to. 127.0.0.2 represents the public address.
        "rebinding.example" => Says::At(Ipv4Addr::new(127, 0, 0, if before == 0 { 2 } else { 1 }), 10),
        _ => Says::NoSuchName,
    }
}

async fn guarded(policy: AddressPolicy) -> (HttpTransport, Dns) {
    let server = name_server(says).await;
    let dns = dns(&server, "127.0.0.1 pinned.example box\n::1 pinned.example\n");
    let options = ClientOptions {
        user_agent: "gleaner-test",
        headers: &[],
        proxy: None,
        addresses: policy,
        dns: dns.clone(),
        tls: crate::fetch::tls::Tls::default(),
        cookies: Arc::default(),
        connections_max: 1,
        timeout: std::time::Duration::from_secs(30),
    };
    (HttpTransport::new(&options).unwrap(), dns)
}

/// Counts the connections at an address, and answers each with an empty 200.
async fn door(address: (Ipv4Addr, u16)) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let (port, arrived) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&arrived);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = socket.read(&mut [0; 4_096]).await;
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await;
        }
    });
    (port, arrived)
}

/// True if the guard refused the URL in both ways.
async fn is_refused(transport: &HttpTransport, url: &CrawlUrl) -> bool {
    let got = transport.send(url.into()).await.map(|response| response.status);
    let resolved = transport.resolve(url).await;
    let refused = |failure: Option<FetchFailure>| failure.is_some_and(|it| it.kind == FailureKind::AddressRefused);
    refused(got.err()) && refused(resolved.err())
}

#[tokio::test]
async fn no_spelling_of_a_private_address_gets_through() {
    let (transport, _dns) = guarded(AddressPolicy::Public).await;
    let (port, arrived) = door((Ipv4Addr::LOCALHOST, 0)).await;
    let base = url::Url::from_str("http://public.example/dir/").unwrap();
    let canonical = Canonical::default();
    let mut cases = 0;
    for host in SPELLINGS {
        for text in [format!("http://{host}:{port}/"), format!("http://{host}/")] {
            if let Ok(url) = CrawlUrl::parse(&text, &canonical) {
                assert!(is_refused(&transport, &url).await, "{text:?} is {url}");
            }
        }
        cases += 1;
    }
    for reference in REFERENCES {
        if let Ok(url) = CrawlUrl::join(&base, &reference.replace("PORT", &port.to_string()), None, &canonical) {
            assert!(is_refused(&transport, &url).await, "{reference:?} is {url}");
        }
        cases += 1;
    }
    for name in PLACED.iter().map(|(name, _)| *name).chain(["alias.example"]) {
        let url = CrawlUrl::parse(&format!("http://{name}:{port}/"), &canonical).unwrap();
        assert!(is_refused(&transport, &url).await, "{name}");
        cases += 1;
    }
    assert_eq!(arrived.load(Ordering::Relaxed), 0, "nobody got through");
    assert!(cases >= 160, "{cases} cases");
}

#[tokio::test]
async fn of_mixed_addresses_only_the_public_are_connected_to() {
    let (_transport, dns) = guarded(AddressPolicy::Public).await;
    let resolver = GuardedResolver::new(dns, AddressPolicy::Public, None);
    for (name, _, left) in MIXED {
        let found = resolver.resolve(Name::from_str(name).unwrap()).await.unwrap();
        let found: Vec<IpAddr> = found.map(|address| address.ip()).collect();
        assert_eq!(found, addresses(left), "{name}");
    }
}

#[tokio::test]
async fn a_name_that_moves_between_check_and_connection_is_checked_where_it_is_connected_to() {
    let (transport, _dns) = guarded(AddressPolicy::with_networks(&["127.0.0.2"]).unwrap()).await;
    let (port, allowed) = door((Ipv4Addr::new(127, 0, 0, 2), 0)).await;
    let (_, inside) = door((Ipv4Addr::LOCALHOST, port)).await;
    let url = CrawlUrl::parse(&format!("http://rebinding.example:{port}/"), &Canonical::default()).unwrap();
    assert_eq!(transport.resolve(&url).await.unwrap().addresses, addresses(&["127.0.0.2"]));
    assert_eq!(
        transport.send((&url).into()).await.unwrap().status,
        200,
        "while the answer holds, it is what was checked"
    );
    pass(Duration::from_secs(11)).await;
    assert!(is_refused(&transport, &url).await);
    assert_eq!((allowed.load(Ordering::Relaxed), inside.load(Ordering::Relaxed)), (1, 0));
}

#[test]
fn networks_are_read_and_what_is_none_is_told() {
    let policy = AddressPolicy::with_networks(&["10.1.0.0/16", " fd00::/8 ", "192.168.7.7"]).unwrap();
    for (address, allowed) in [
        ("10.1.2.3", true),
        ("::ffff:10.1.2.3", true),
        ("10.2.0.1", false),
        ("fd12::1", true),
        ("fc00::1", false),
        ("192.168.7.7", true),
        ("192.168.7.8", false),
        ("8.8.8.8", true),
        ("127.0.0.1", false),
    ] {
        assert_eq!(policy.allows(address.parse().unwrap()), allowed, "{address}");
    }
    for text in ["10.1.0.0/33", "10.1", "10.1.0.0/16/8", "", "localhost", "fd00::/129", "*"] {
        let error = AddressPolicy::with_networks(&["10.0.0.0/8", text]).unwrap_err();
        assert!(error.to_string().starts_with(&format!("`{text}` is not a network\nhint: ")), "{error}");
    }
    assert!(AddressPolicy::Any.allows("127.0.0.1".parse().unwrap()));
}
