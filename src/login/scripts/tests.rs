//! Unit tests of `scripts`.

use super::*;
use crate::form::forms;
use crate::secret::Secret;

fn form(page: &str) -> Form {
    forms(page).unwrap().remove(0)
}

#[test]
fn scripts_that_hash_are_known_by_name_and_call_and_others_are_not_taken_for_them() {
    let plain = form("<form method=post action=/in><input name=u><input type=password name=p></form>");
    for (markup, expected) in [
        ("<script src=/js/md5.js></script>", true),
        ("<script src='/js/jsencrypt.min.js?v=2'></script>", true),
        ("<script src=\"crypto-js/core.js\"></script>", true),
        ("<script>f.onsubmit=()=>{p.value=hex_md5(p.value)}</script>", true),
        ("<script>CryptoJS.SHA256(x)</script>", true),
        ("<script src=/js/universal.js></script><script src=/js/caesar.js></script>", false),
        ("<script>var conversation = rsaquo('md5')</script>", false),
        ("<p>md5(x)</p>", false),
    ] {
        assert_eq!(hashes(&plain, markup).is_some(), expected, "{markup}");
    }
    let handler = form(
        "<form method=post onsubmit='md5hash(p, m)'><input name=u><input type=password name=p><input name=m></form>",
    );
    assert!(hashes(&handler, "").is_some());
    let checks =
        form("<form method=post onsubmit='return validate(this)'><input name=u><input type=password name=p></form>");
    assert_eq!(hashes(&checks, "<script>1</script>"), None);
}

#[test]
fn handlers_that_check_are_told_from_those_that_act() {
    for (handler, expected) in [
        ("", false),
        ("return true", false),
        ("return validate(this);", false),
        ("if (!checkForm(this)) { return false; }", false),
        ("if(this.u.value==''){alert('?');return false}", false),
        ("return filled(this)", false),
        ("return seal(this)", true),
        ("this.h.value = x", true),
        ("return false;", true),
        ("check(this); send(this)", true),
    ] {
        let page = format!(
            "<form method=post onsubmit=\"{handler}\"><input name=u><input type=password name=p><button>Go</button></form>"
        );
        assert_eq!(acts(&form(&page)), expected, "{handler}");
    }
}

#[test]
fn the_button_to_press_is_the_one_that_logs_in() {
    for (page, expected) in [
        (
            "<form><input name=u><input type=password name=p><button type=button>Show</button><button>Go</button></form>",
            "Go",
        ),
        ("<form><input name=u><input type=password name=p><button disabled>Go</button></form>", "Go"),
        (
            "<div><input name=u><input type=password name=p><button type=button>Help</button>\
                 <button type=button>Sign in</button></div>",
            "Sign in",
        ),
    ] {
        let form = form(page);
        assert_eq!(&*form.controls[button(&form).unwrap()].label, expected, "{page}");
    }
}

#[test]
fn bodies_are_told_without_secrets() {
    let mask = Mask::of("anna", &Secret::new("s3cret"));
    let told = |kind: &str, body: &str| told_body(kind, body.as_bytes(), &mask);
    assert_eq!(
        told("application/json; charset=utf-8", r#"{"user":"anna","password":"s3cret","x":{"a":1},"keep":true}"#),
        format!("JSON: keep=true  password={MASK}  user=anna  x={{…}}")
    );
    assert_eq!(told("application/x-www-form-urlencoded", "u=anna&p=s3cret"), format!("a form: u=anna  p={MASK}"));
    assert_eq!(told("application/json", "s3cret"), "JSON, 6 bytes");
    assert_eq!(told("multipart/form-data; boundary=s3cret", "xyz"), "multipart/form-data, 3 bytes");
}

#[test]
fn what_an_api_says_is_its_texts_and_not_its_names() {
    assert_eq!(words_of(br#"{"banned":false,"error":{"text":"Wrong <b>password"}}"#).trim(), "Wrong  b>password<br>");
    assert_eq!(words_of(b"Wrong password"), "Wrong password");
}
