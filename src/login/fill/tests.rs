//! Filled-in forms compared with what browsers send.

use encoding_rs::{GBK, UTF_8, WINDOWS_1252};

use super::*;
use crate::form::forms;

const BASE: &str = "https://site.example/forum/index.php?sid=1";

fn chosen(form: &Form) -> Chosen {
    let by_name = |name: &str| form.controls.iter().position(|control| &*control.name == name);
    Chosen {
        user_is_told: false,
        user: by_name("u"),
        password: form.controls.iter().position(|control| control.kind == Kind::Password),
        remember: by_name("keep"),
        submit: form.controls.iter().position(|control| control.kind.submits()),
    }
}

fn sent_with(page: &str, charset: &'static Charset, others: &[(&str, &str)]) -> Result<Submission, FillError> {
    let form = &forms(page).unwrap()[0];
    let others: Vec<(Box<str>, Box<str>)> =
        others.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let entries = Entries { user: "Jö 中", password: &Secret::new("a&b=ü\n"), others: &others };
    fill(form, &chosen(form), entries, &Url::parse(BASE).unwrap(), charset)
}

fn body(page: &str, charset: &'static Charset) -> String {
    String::from_utf8(sent_with(page, charset, &[]).unwrap().body.to_vec()).unwrap()
}

#[test]
fn the_fields_are_a_browsers() {
    let page = "<form method=post action='login.php?do=login'><input type=hidden name=token value='x y'><input name=u>\
                <input type=password name=p><input type=checkbox name=keep value=1><input type=checkbox name=ads checked>\
                <input type=radio name=r value=a><input type=radio name=r value=b checked><input disabled name=d value=1>\
                <select name=q><option value=0>none<option value=1>pet</select><input value=nameless>\
                <textarea name=t>\na\nb</textarea><input type=file name=f><input type=hidden name=_charset_>\
                <input type=submit name=go value='Log in'><input type=submit name=other value=Register><button name=b>x</button>";
    assert_eq!(
        body(page, UTF_8),
        "token=x+y&u=J%C3%B6+%E4%B8%AD&p=a%26b%3D%C3%BC&keep=1&ads=on&r=b&q=0&t=a%0D%0Ab&f=&_charset_=UTF-8&go=Log+in"
    );
    let sent = sent_with(page, UTF_8, &[]).unwrap();
    assert_eq!(sent.url.as_str(), "https://site.example/forum/login.php?do=login");
    assert!(sent.shown.contains(&("p".into(), MASK.into())) && !format!("{:?}", sent.shown).contains("a&b"));
}

#[test]
fn fields_are_written_in_the_pages_charset_or_the_one_that_the_form_asks_for() {
    let page = "<form method=post><input name=u><input type=password name=p>";
    assert_eq!(body(page, GBK), "u=J%A8%B6+%D6%D0&p=a%26b%3D%A8%B9".replace("%A8%B6", "%26%23246%3B"));
    assert_eq!(body(page, WINDOWS_1252), "u=J%F6+%26%2320013%3B&p=a%26b%3D%FC");
    let asks = "<form method=post accept-charset='nonsense UTF-8'><input name=u><input type=password name=p>";
    assert_eq!(body(asks, WINDOWS_1252), "u=J%C3%B6+%E4%B8%AD&p=a%26b%3D%C3%BC");
}

#[test]
fn multipart_and_plain_bodies_are_written_as_html_says() {
    let page = "<form method=post enctype=multipart/form-data><input name=u><input type=password name=p>\
                <input name='a\"b' value='----gleanerFormBoundary00000000'><input type=file name=f>";
    let sent = sent_with(page, UTF_8, &[]).unwrap();
    assert_eq!(sent.content_type, "multipart/form-data; boundary=----gleanerFormBoundary00000001");
    let body = String::from_utf8(sent.body.to_vec()).unwrap();
    assert!(body.starts_with(
        "------gleanerFormBoundary00000001\r\nContent-Disposition: form-data; name=\"u\"\r\n\r\nJö 中\r\n"
    ));
    assert!(body.contains("name=\"a%22b\"\r\n\r\n----gleanerFormBoundary00000000\r\n"), "{body}");
    assert!(body.ends_with(
        "filename=\"\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n------gleanerFormBoundary00000001--\r\n"
    ));
    let plain = self::body("<form method=post enctype=text/plain><input name=u><input type=password name=p>", UTF_8);
    assert_eq!(plain, "u=Jö 中\r\np=a&b=ü\r\n");
}

#[test]
fn the_button_may_say_where_and_how() {
    let page = "<form action=/search method=get><input name=u><input type=password name=p>\
                <button formaction='/do login' formmethod=post formenctype=text/plain name=b value=1>Go</button>";
    let sent = sent_with(page, UTF_8, &[]).unwrap();
    assert_eq!((sent.url.as_str(), &*sent.content_type), ("https://site.example/do%20login", "text/plain"));
    assert!(String::from_utf8(sent.body.to_vec()).unwrap().ends_with("b=1\r\n"));
    let image = body("<form method=post><input name=u><input type=password name=p><input type=image name=i>", UTF_8);
    assert!(image.ends_with("&i.x=1&i.y=1"), "{image}");
}

#[test]
fn what_the_rule_file_sets_replaces_or_joins_the_fields() {
    let page = "<form method=post><input name=u><input type=password name=p><input type=radio name=r value=1 checked>\
                <input type=radio name=r value=2>";
    let sent = sent_with(page, UTF_8, &[("r", "9"), ("code", "123")]).unwrap();
    assert_eq!(String::from_utf8(sent.body.to_vec()).unwrap(), "u=J%C3%B6+%E4%B8%AD&p=a%26b%3D%C3%BC&r=9&code=123");
}

#[test]
fn a_form_that_would_tell_the_password_or_nothing_is_refused() {
    for (page, expected) in [
        ("<form action=/in><input name=u><input type=password name=p>", FillError::SecretInUrl),
        (
            "<form><input name=u><input type=password name=p>",
            FillError::Script("it has no action and no method".into()),
        ),
        (
            "<form method=post><input name=u><input type=password name=p><button type=button onclick=go()>Log in</button>",
            FillError::Script("it has no action, and no button that submits".into()),
        ),
        (
            "<form method=post onsubmit='p.value=sha256(p.value)'><input name=u><input type=password name=p>",
            FillError::UnknownHash("p.value=sha256(p.value)".into()),
        ),
        (
            "<div><input name=u><input type=password name=p><button>Log in</button></div>",
            FillError::Script("its fields belong to no form".into()),
        ),
        ("<form method=dialog><input name=u><input type=password name=p>", FillError::Dialog),
        ("<form method=post><input name=x><input type=password name=p>", FillError::NoUser),
        ("<form method=post><input name=u>", FillError::NoPassword),
        ("<form method=post onsubmit='go()'><input name=u><input type=password>", FillError::Script("go()".into())),
        (
            "<form method=post action='javascript:go()'><input name=u><input type=password name=p>",
            FillError::Script("javascript:go()".into()),
        ),
    ] {
        assert_eq!(sent_with(page, UTF_8, &[]).err(), Some(expected), "{page}");
    }
}

#[test]
fn hashed_passwords_leave_their_field_empty_or_hashed() {
    let page = "<form method=post onsubmit='md5hash(p, m, n)'><input name=u><input type=password name=p>\
                <input type=hidden name=m><input type=hidden name=n>";
    let sent = sent_with(page, UTF_8, &[]).unwrap();
    let text = String::from_utf8(sent.body.to_vec()).unwrap();
    assert!(text.contains("&p=&m=") && !text.contains("a%26b"), "{text}");
    assert_eq!(sent.shown[2], ("m".into(), MASK.into()));
}

#[test]
fn a_page_for_a_code_is_filled_in_by_name_and_nothing_is_made_up() {
    let page = "<form method=post action=/2fa><input type=hidden name=t value=0a1b2c3d><input name=code>\
                <input type=password name=p><input type=checkbox name=trust value=1><input type=submit name=go value=OK>";
    let form = &forms(page).unwrap()[0];
    let others = [("code".into(), "123456".into())];
    let sent = fill_others(form, &others, &Url::parse(BASE).unwrap(), UTF_8).unwrap();
    assert_eq!(&**sent.body, b"t=0a1b2c3d&code=123456&p=&go=OK");
    let shown: Vec<&str> = sent.shown.iter().map(|(_, value)| &**value).collect();
    assert_eq!(shown, [MASK, MASK, "", "OK"]);
}
