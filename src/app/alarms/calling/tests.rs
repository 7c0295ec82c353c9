//! Tests of calling: webhooks that hang, redirect or fail, commands, and secrets that stay secret.

use super::*;
use gleaner_alarms::messages::Template;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

fn caller(dir: &std::path::Path) -> Caller {
    Caller::new(dir.to_owned(), "gleaner/test", Tls::default())
}

fn channel(url: &str, template: Template) -> Channel {
    Channel { name: "hook".to_owned(), way: Way::Url { url: url.to_owned(), template } }
}

/// A server that answers each request with this, or with nothing; what it was asked is sent on.
async fn server(answer: &'static str) -> (String, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (asks, asked) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let (mut bytes, mut part) = (Vec::new(), [0; 4_096]);
            loop {
                let read = stream.read(&mut part).await.unwrap_or(0);
                bytes.extend_from_slice(&part[..read]);
                let text = String::from_utf8_lossy(&bytes);
                let is_whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                    let length = head
                        .to_ascii_lowercase()
                        .lines()
                        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                    body.len() >= length.unwrap_or(0)
                });
                if read == 0 || is_whole {
                    break;
                }
            }
            let _ = asks.send(String::from_utf8_lossy(&bytes).into_owned());
            if !answer.is_empty() {
                let _ = stream.write_all(answer.as_bytes()).await;
            }
            held.push(stream);
        }
    });
    (url, asked)
}

const WELL: &str = "HTTP/1.1 204 No Content\r\n\r\n";

#[tokio::test]
async fn a_webhook_gets_the_alarm_and_its_secret_in_a_header() {
    let dir = tempfile::tempdir().unwrap();
    secrets::write_private(&secrets::file_of(dir.path(), "alarm-hook"), b"tk_hunter2\n").unwrap();
    let (url, mut asked) = server(WELL).await;
    let alarm = test_alarm(UnixMillis(5_000));
    caller(dir.path()).call(&channel(&url, Template::Json), What::Fired, &alarm).await.unwrap();
    let request = asked.recv().await.unwrap();
    assert!(
        request.starts_with("POST / HTTP/1.1") && request.contains("authorization: Bearer tk_hunter2"),
        "{request}"
    );
    assert!(request.contains(r#""event":"fired""#) && request.contains(r#""since_ms":5000"#), "{request}");
    caller(dir.path())
        .call(&channel(&format!("{url}/{SECRET}/x"), Template::Discord), What::Over, &alarm)
        .await
        .unwrap();
    let request = asked.recv().await.unwrap();
    assert!(request.starts_with("POST /tk_hunter2/x ") && !request.contains("authorization"), "{request}");
    let ping = Channel { name: "hook".to_owned(), way: Way::Ping(format!("{url}/ping/{SECRET}")) };
    caller(dir.path()).ping(&ping).await.unwrap();
    assert!(asked.recv().await.unwrap().starts_with("GET /ping/tk_hunter2 "));
}

#[tokio::test]
async fn what_a_webhook_refuses_is_told_without_its_address_and_no_redirect_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, mut asked_inside) = server(WELL).await;
    let redirect: &'static str =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {inside}/admin\r\ncontent-length: 0\r\n\r\n").leak();
    let alarm = test_alarm(UnixMillis(0));
    for (answer, told) in [
        (redirect, "it redirects (status 307)"),
        ("HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n", "it answers with status 500"),
        ("SSH-2.0-OpenSSH_9.9\r\n", "it cannot be reached"),
    ] {
        let (url, _asked) = server(answer).await;
        let error =
            caller(dir.path()).call(&channel(&format!("{url}/s3cret"), Template::Slack), What::Fired, &alarm).await;
        let error = error.unwrap_err();
        assert!(error.starts_with(told) && !error.contains("s3cret") && !error.contains("127.0.0.1"), "{error}");
    }
    assert!(asked_inside.try_recv().is_err(), "the redirect was followed");
    let closed = channel("http://127.0.0.1:1/s3cret", Template::Json);
    let error = caller(dir.path()).call(&closed, What::Fired, &alarm).await.unwrap_err();
    assert!(error.contains("refused") && !error.contains("s3cret"), "{error}");
    let error = caller(dir.path())
        .call(&channel(&format!("http://127.0.0.1:1/{SECRET}"), Template::Json), What::Fired, &alarm)
        .await;
    assert!(error.unwrap_err().contains("wants a secret"));
    secrets::write_private(&secrets::file_of(dir.path(), "alarm-hook"), "ä\u{1}b".as_bytes()).unwrap();
    let error = caller(dir.path()).call(&closed, What::Fired, &alarm).await.unwrap_err();
    assert!(!error.contains('ä'), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_hangs_is_left_after_ten_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let (url, _asked) = server("").await;
    let began = tokio::time::Instant::now();
    let error = caller(dir.path()).call(&channel(&url, Template::Json), What::Fired, &test_alarm(UnixMillis(0))).await;
    assert!(error.unwrap_err().contains("within 10 s"));
    assert!(began.elapsed() <= Duration::from_secs(12));
}

#[tokio::test]
async fn a_command_gets_json_and_no_shell() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let run = async |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let channel = Channel { name: "own".to_owned(), way: Way::Command(words) };
        caller(dir.path()).call(&channel, What::Test, &test_alarm(UnixMillis(0))).await
    };
    let odd = dir.path().join("$(touch a);touch b");
    run(&["/usr/bin/tee", odd.to_str().unwrap()]).await.unwrap();
    assert_eq!((odd.exists(), std::fs::read_dir(dir.path()).unwrap().count()), (true, 1), "no shell has read it");
    run(&["/usr/bin/tee", out.to_str().unwrap()]).await.unwrap();
    let told: serde_json::Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!((&told["event"], &told["alarm"]["id"]), (&"test".into(), &"test".into()));
    assert!(run(&["/bin/false"]).await.unwrap_err().contains("exit status: 1"));
    assert!(run(&["/none"]).await.unwrap_err().contains("cannot be started"));
    run(&["/bin/true"]).await.unwrap();
}
