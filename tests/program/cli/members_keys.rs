//! Keys of a member in the addresses of torrents: no manifest, log line or report shows them, and the torrents come.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use crate::cli::harness::{folder, run};

/// Parts of the keys.
const SECRETS: [&str; 4] = ["0f1e2d3c4b5a", "Zm9vYmFyMTIz", "eyJhbGciOi", "c2lnbmF0dXJl"];

/// Addresses of torrents: `#` is the torrent's number, 1 to 3.
const SHAPES: [&str; 30] = [
    "/a.php?id=#&passkey=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/b.php?id=#&torrent_pass=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/c.php?id=#&authkey=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/d.php?id=#&token=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/e.php?id=#&key=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/f.php?id=#&pid=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/g.php?id=#&pk=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/h.php?id=#&hash=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/i.php?id=#&secret=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/j.php?id=#&jwt=eyJhbGciOiJIUzI1NiJ9.eyJ1aWQiOjd9abcdefgh.c2lnbmF0dXJlMTIz",
    "/k.php?id=#&auth=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/l.php?id=#&sign=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/m.php?id=#&api_token=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/n.php?id=#&u=0f1e2d3c4b5a69788796a5b4c3d2e1f001234567",
    "/o.php?id=#&u=0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/p.php?id=#&u=Zm9vYmFyMTIzNDU2Nzg5MGFi",
    "/q.php?id=#&a[passkey]=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/r.php?id=#&user%5Brsskey%5D=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/s/#;passkey=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/t.php?id=#;passkey=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/u/#.0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/0f1e2d3c4b5a69788796a5b4c3d2e1f0/v/#/name.torrent",
    "/w/0f1e2d3c4b5a69788796a5b4c3d2e1f0/#.torrent",
    "/x/#/Zm9vYmFyMTIzNDU2Nzg5MGFi/name.torrent",
    "/y/0f1e2d3c4b5a69788796a5b4c3d2e1f001234567?id=#",
    "/z/#/0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0.torrent",
    "/aa.php/#/0f1e2d3c4b5a69788796a5b4c3d2e1f0/name.torrent?x=1",
    "/ab?id=#&0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "/ac/Zm9vYmFyMTIzNDU2Nzg5MGFi/#",
    "/ad.php?apikey=0f1e2d3c4b5a69788796a5b4c3d2e1f0&t=#",
];

const RULES: &str = "\
start = ['http://SITE/']
[login]
user = 'anna'
[rate]
requests_per_second = 200
connections = 4
[classes]
index = ['^/$']
detail = ['^/details/']
download = ['.']
";

fn answer(path: &str) -> (&'static str, String) {
    match path {
        "/robots.txt" => ("404 X", String::new()),
        // Every torrent three times, and a page of each with its link alone.
        "/" => {
            let links = SHAPES.iter().enumerate().flat_map(|(at, shape)| {
                (1..=2)
                    .map(move |number| format!("<p><a href='{}'>x</a>", shape.replace('#', &number.to_string())))
                    .chain([format!("<p><a href='/details/{at}'>x</a>")])
            });
            ("200 X", format!("<a href=/logout>Log out</a>{}", links.collect::<String>()))
        }
        _ => match path.strip_prefix("/details/").and_then(|at| SHAPES.get(at.parse::<usize>().ok()?)) {
            Some(shape) => ("200 X", format!("<a href=/logout>Log out</a><a href='{}'>x</a>", shape.replace('#', "3"))),
            None => {
                let name = format!("{:0>12}", data_encoding::HEXLOWER.encode(path.as_bytes()));
                let info =
                    format!("6:lengthi9e4:name{}:{name}12:piece lengthi16384e6:pieces20:{:->20}", name.len(), "");
                ("200 X", format!("d4:infod{info}ee"))
            }
        },
    }
}

fn serve(mut client: TcpStream) -> std::io::Result<()> {
    let mut requests = BufReader::new(client.try_clone()?);
    loop {
        let (mut line, mut is_member) = (String::new(), false);
        if requests.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or("/").to_owned();
        loop {
            line.clear();
            if requests.read_line(&mut line)? <= 2 {
                break;
            }
            is_member |= line.to_ascii_lowercase().starts_with("authorization: basic ");
        }
        let (status, body) = if is_member { answer(&path) } else { ("401 X", String::new()) };
        let kind = if body.starts_with('d') { "application/x-bittorrent" } else { "text/html" };
        let asks = if is_member { "" } else { "WWW-Authenticate: Basic realm=x\r\n" };
        let head = format!("HTTP/1.1 {status}\r\n{asks}Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
        client.write_all(format!("{head}{body}").as_bytes())?;
    }
}

#[test]
fn thirty_shapes_of_keys_are_in_no_manifest_log_or_report() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // Ends with the process; no request comes after the crawl.
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || serve(client));
        }
    });
    let here = folder();
    let path = |name: &str| here.path().join(name);
    fs::create_dir(path("rules")).unwrap();
    fs::create_dir_all(path("data/secrets")).unwrap();
    fs::write(path("rules/s.toml"), RULES.replace("SITE", &address)).unwrap();
    fs::write(path("data/secrets/s"), "pw").unwrap();
    fs::set_permissions(path("data/secrets"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(path("data/secrets/s"), fs::Permissions::from_mode(0o600)).unwrap();
    let folders = ["--data", "data", "--rules", "rules"];
    let told = |words: &[&str]| {
        let ran = run(here.path(), &[words, &folders].concat());
        format!("{}{}", ran.out, ran.err)
    };
    let crawled = told(&["crawl", "-vv", "--max-time", "60"]);
    let exported = told(&["export", "out"]);
    assert!(exported.contains("90 torrents"), "{exported}\n{crawled}");
    let manifest = fs::read_to_string(path("out/manifest.jsonl")).unwrap();
    let all = [
        ("log", &*crawled),
        ("manifest", &*manifest),
        ("status", &*told(&["status", "--json"])),
        ("dry run", &*told(&["crawl", "--dry-run"])),
        ("coverage", &*told(&["coverage", "--json"])),
    ];
    for (what, text) in all {
        let shown: Vec<&str> = text.lines().filter(|line| SECRETS.iter().any(|secret| line.contains(secret))).collect();
        assert!(shown.is_empty(), "{what}: {} lines\n{}", shown.len(), shown[..shown.len().min(12)].join("\n"));
    }
    // What names a torrent is there.
    assert!(manifest.contains("/a.php?id=1&passkey=••••••") && manifest.contains("/u/2.••••••"), "{manifest}");
}
