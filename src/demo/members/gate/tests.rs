//! Unit tests of `members::gate`.

use super::*;
use crate::members::family::all;

fn gate(name: &str) -> Gate {
    Gate::new(all().find(|family| family.name == name).unwrap(), "s3cret".to_owned(), 0, 1)
}

fn fields(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const LATER: UnixMillis = UnixMillis(1_795_000_002_000);

fn phpbb(sid: &str, password: &str, made: &str) -> Vec<(String, String)> {
    let token = token(sid, made);
    let redirect = "./ucp.php?mode=login";
    fields(&[
        ("username", "anna"),
        ("password", password),
        ("autologin", "on"),
        ("redirect", redirect),
        ("creation_time", made),
        ("form_token", &token),
        ("sid", sid),
        ("login", "Login"),
    ])
}

#[test]
fn a_form_of_this_second_of_another_session_or_with_more_fields_is_no_try() {
    let mut gate = gate("phpbb");
    let sid = gate.guest();
    let good = phpbb(&sid, "s3cret", "1795000000");
    assert_eq!(gate.log_in(&phpbb(&sid, "s3cret", "1795000002"), Some(&sid), LATER), Tried::Malformed);
    assert_eq!(gate.log_in(&good, None, LATER), Tried::Malformed);
    let other = gate.guest();
    assert_eq!(gate.log_in(&good, Some(&other), LATER), Tried::Malformed);
    let more = [good.clone(), fields(&[("viewonline", "on")])].concat();
    assert_eq!(gate.log_in(&more, Some(&sid), LATER), Tried::Malformed);
    assert!(matches!(gate.log_in(&good, Some(&sid), LATER), Tried::In(_)));
}

#[test]
fn the_third_wrong_password_locks_the_account_for_the_right_one_too() {
    let mut gate = gate("xbtit");
    let mut attempt = |password: &str| gate.log_in(&fields(&[("uid", "anna"), ("pwd", password)]), None, LATER);
    assert_eq!(attempt("x"), Tried::Wrong);
    assert_eq!(attempt("y"), Tried::Wrong);
    assert_eq!(attempt("z"), Tried::LockedNow);
    assert_eq!(attempt("s3cret"), Tried::Locked);
}

#[test]
fn a_member_needs_every_cookie_of_the_login() {
    let mut gate = gate("xbtit");
    let Tried::In(sid) = gate.log_in(&fields(&[("uid", "anna"), ("pwd", "s3cret")]), None, LATER) else {
        panic!("let in")
    };
    assert_eq!(gate.visitor(&[("uid", "2"), ("pass", &sid)], None), (Some(sid.clone()), true));
    assert_eq!(gate.visitor(&[("pass", &sid)], None), (Some(sid), false));
    assert_eq!(gate.visitor(&[("uid", "2"), ("pass", "guessed")], None), (None, false));
}

#[test]
fn a_session_ends_after_its_requests() {
    let mut gate = Gate::new(all().find(|family| family.name == "xbtit").unwrap(), "p".to_owned(), 2, 1);
    let Tried::In(sid) = gate.log_in(&fields(&[("uid", "anna"), ("pwd", "p")]), None, LATER) else { panic!("let in") };
    assert_eq!([(); 4].map(|()| gate.count_request(&sid)), [true, true, false, false]);
    assert!(gate.session(&sid).is_none());
}
