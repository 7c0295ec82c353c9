//! Lists: everything that is known of each torrent, without keys, in every form; a cell is no formula, a line is a line.

use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::{CrawlDb as _, UrlKey, UrlLabel};
use gleaner_store::export::{CategoryOf, ExportError, ExportFormat, ExportOptions, Share, export};
use std::path::Path;
use std::sync::Arc;

use crate::harvest::{Harvest, NOON, torrent};

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A torrent with everything that a file may say.
fn rich(name: &str, private: bool) -> Vec<u8> {
    let info = format!(
        "d6:lengthi5e4:name{}:{name}12:piece lengthi16384e6:pieces20:01234567890123456789{}7:similarl20:abcdefghijabcdefghijee",
        name.len(),
        if private { "7:privatei1e" } else { "" },
    );
    let tracker = format!("http://t.example/{KEY}/announce");
    let comment = format!("see http://site.example/details?id=7&passkey={KEY} now");
    format!(
        "d8:announce{}:{tracker}13:announce-listll{}:{tracker}el20:udp://open.example:1ee7:comment{}:{comment}10:created by4:mkt9\
         4:info{info}10:update-url18:http://new.example8:url-list19:http://seed.example",
        tracker.len(),
        tracker.len(),
        comment.len()
    )
    .into_bytes()
    .into_iter()
    .chain(*b"e")
    .collect()
}

async fn harvest() -> Harvest {
    let harvest = Harvest::new();
    harvest.store(&rich("=cmd|' /C calc'!A0", false), "a.example", "/d/1", NOON).await;
    harvest.store(&rich("two\r\nlines, \"quoted\" \u{202e}\0x", true), "a.example", "/d/2", NOON + 86_400_000).await;
    for number in 3..200 {
        harvest
            .store(&torrent("中文", number, "http://t/a"), "b.example", &format!("/d/{number}"), NOON + number)
            .await;
    }
    harvest.magnet(0xab, Some("only a name"), "a.example", NOON).await;
    harvest
}

fn options(dest: std::path::PathBuf) -> ExportOptions {
    let category = CategoryOf(Arc::new(|_, files| (4000 + files.len() as u32, "PC".to_owned())));
    ExportOptions { dest, category, ..ExportOptions::default() }
}

async fn written(harvest: &Harvest, name: &str) -> Vec<u8> {
    let options = options(harvest.path(name));
    let summary = export(&harvest.db, &harvest.archive, &options, &mut |_| {}).await.unwrap();
    let bytes = std::fs::read(&options.dest).unwrap();
    assert_eq!((summary.torrents, summary.dest_bytes), (199, Some(bytes.len() as u64)), "{name}");
    assert_eq!(summary.magnets, u64::from(name.ends_with("magnets")));
    let has = |key: &str| bytes.windows(key.len()).any(|part| part == key.as_bytes());
    assert!(!has(KEY), "{name}: a key of a member");
    bytes
}

fn json_lines(bytes: &[u8]) -> Vec<serde_json::Value> {
    std::str::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_line_of_json_has_all_that_is_known() {
    let harvest = harvest().await;
    let host = harvest.db.host_id("a.example", "https://a.example").await.unwrap();
    let label = UrlLabel { key: UrlKey { host, path: "/d/1".into() }, text: "401".into(), is_own: false };
    harvest.labels("a.example", "/list", vec![label], NOON + 1).await;
    let lines = json_lines(&written(&harvest, "x.jsonl").await);
    assert_eq!(lines.len(), 199);
    let one = lines.iter().find(|line| line["name"].as_str().unwrap().starts_with('=')).unwrap();
    let masked = "http://t.example/••••••/announce";
    assert_eq!(one["trackers"], serde_json::json!([masked, "udp://open.example:1"]));
    assert_eq!(one["comment"], "see http://site.example/details?id=7&passkey=•••••• now");
    assert_eq!((&one["created_by"], &one["update_url"]), (&"mkt9".into(), &"http://new.example".into()));
    assert_eq!(
        (&one["web_seeds"][0], &one["similar"][0]),
        (&"http://seed.example".into(), &"6162636465666768696a6162636465666768696a".into())
    );
    assert_eq!((&one["piece_bytes"], &one["pieces"], &one["category"]), (&16_384.into(), &1.into(), &4_001.into()));
    assert_eq!(one["files"], serde_json::json!([{"path": one["name"], "bytes": 5}]));
    assert_eq!((&one["sources"][0]["site"], &one["sources"][0]["label"]), (&"a.example".into(), &"401".into()));
}

#[tokio::test]
async fn a_cell_is_no_formula_and_a_row_of_csv_is_read_back_whole() {
    let harvest = harvest().await;
    let bytes = written(&harvest, "x.csv").await;
    let rows = parse_csv(std::str::from_utf8(&bytes).unwrap());
    assert_eq!(rows.len(), 200);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "each has as many cells as the head");
    let name = rows[0].iter().position(|cell| cell == "name").unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row[name].as_str()).collect();
    assert!(names.contains(&"'=cmd|' /C calc'!A0"));
    assert!(names.contains(&"two\r\nlines, \"quoted\" \u{202e}x"));
    for row in &rows[1..] {
        assert!(row.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\t', '\r'])), "{row:?}");
    }
}

/// RFC 4180.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(of) = chars.next() {
        match of {
            '"' if is_quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            of => cell.push(of),
        }
    }
    rows
}

#[tokio::test]
async fn a_magnet_link_has_no_tracker_with_a_key_and_none_of_a_private_torrent() {
    let harvest = harvest().await;
    let bytes = written(&harvest, "x.magnets").await;
    let links: Vec<&str> = std::str::from_utf8(&bytes).unwrap().lines().collect();
    assert_eq!(links.len(), 200, "with the one that has no torrent");
    for link in &links {
        gleaner_torrent::magnet::parse(link).unwrap();
    }
    let public = links.iter().find(|link| link.contains("calc")).unwrap();
    assert!(public.contains("tr=udp%3A%2F%2Fopen.example%3A1") && !public.contains("t.example"), "{public}");
    let private = links.iter().find(|link| link.contains("quoted")).unwrap();
    assert!(!private.contains("&tr="), "{private}");
}

#[tokio::test]
async fn a_parquet_file_begins_and_ends_as_one_and_the_same_state_gives_the_same_bytes() {
    let harvest = harvest().await;
    let bytes = written(&harvest, "x.parquet").await;
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert_eq!(written(&harvest, "x.parquet").await, bytes, "and replaces the one that was there");
    let empty = Harvest::new();
    let options = options(empty.path("x.parquet"));
    let summary = export(&empty.db, &empty.archive, &options, &mut |_| {}).await.unwrap();
    assert_eq!((summary.torrents, summary.is_complete()), (0, true));
}

#[tokio::test]
async fn what_is_shared_says_nothing_of_where_it_is_from() {
    let harvest = harvest().await;
    let share = Some(Share { announce: Some("udp://ours:1".into()), with_private: false });
    let options = ExportOptions { share, ..options(harvest.path("x.jsonl")) };
    let summary = export(&harvest.db, &harvest.archive, &options, &mut |_| {}).await.unwrap();
    assert_eq!((summary.torrents, summary.private_left_out), (198, 1));
    let bytes = std::fs::read(&options.dest).unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    for word in ["a.example", "t.example", "seed.example", "new.example", "mkt9", "site.example"] {
        assert!(!text.contains(word), "{word}");
    }
    for line in json_lines(&bytes) {
        assert_eq!(
            (&line["trackers"], &line["sources"]),
            (&serde_json::json!(["udp://ours:1"]), &serde_json::json!([]))
        );
    }
}

#[tokio::test]
async fn days_bound_a_list_and_what_an_earlier_one_had_is_left_out() {
    let harvest = harvest().await;
    let count =
        async |options: ExportOptions| export(&harvest.db, &harvest.archive, &options, &mut |_| {}).await.unwrap();
    let dest = harvest.path("x.jsonl");
    let until = count(ExportOptions { until: Some(UnixMillis(NOON + 100)), ..options(dest.clone()) }).await;
    assert_eq!(until.torrents, 98);
    let all = count(ExportOptions { notes_keys: true, ..options(harvest.path("x.magnets")) }).await;
    assert_eq!((all.keys.len(), all.magnet_keys.len()), (199, 1));
    let (without, without_magnets) = (all.keys.into_iter().skip(9).collect(), all.magnet_keys.into_iter().collect());
    let rest = ExportOptions { without, without_magnets, ..options(harvest.path("x.magnets")) };
    let rest = count(rest).await;
    assert_eq!((rest.torrents, rest.magnets, rest.is_complete()), (9, 0, true));
}

#[tokio::test]
async fn a_file_that_is_no_list_is_not_replaced() {
    let harvest = harvest().await;
    for name in ["x.jsonl", "x.csv", "x.parquet", "x.magnets"] {
        std::fs::write(harvest.path(name), "a person's own text").unwrap();
        let error = export(&harvest.db, &harvest.archive, &options(harvest.path(name)), &mut |_| {}).await.unwrap_err();
        assert!(matches!(error, ExportError::Foreign { .. }), "{name}: {error}");
        assert_eq!(std::fs::read(harvest.path(name)).unwrap(), b"a person's own text");
    }
    let format = |name: &str| ExportFormat::of_dest(Path::new(name)).unwrap();
    assert_eq!(
        (format("a.CSV"), format("a.parquet"), format("a.magnets")),
        (ExportFormat::Csv, ExportFormat::Parquet, ExportFormat::Magnets)
    );
}

#[tokio::test]
async fn a_lost_file_is_told_and_the_rest_is_listed() {
    let harvest = harvest().await;
    let facts = crate::harvest::facts_of(&torrent("中文", 3, "http://t/a"));
    std::fs::remove_file(harvest.archive.path_of(&facts.infohashes)).unwrap();
    let options = options(harvest.path("x.parquet"));
    let summary = export(&harvest.db, &harvest.archive, &options, &mut |_| {}).await.unwrap();
    assert_eq!((summary.torrents, summary.left_out.count, summary.is_complete()), (198, 1, false));
}
