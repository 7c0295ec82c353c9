//! Unit tests of `hashing`.

use super::*;
use crate::form::forms;

#[test]
fn hashes_are_those_of_the_scripts() {
    assert_eq!(**hex_md5("secret"), *"5ebe2294ecd0e0f08eab7690d2a6ee69");
    assert_eq!(**to_entities("pä密"), *"pä&#23494;");
    assert_eq!(**hex_md5("ä"), *"c15bcc5577f9fade4b4a3256190a59b0", "one byte, as in Latin-1");
}

#[test]
fn the_known_scripts_are_recognised_and_no_other() {
    let vbulletin = &forms(
        "<form action='login.php?do=login' method=post \
             onsubmit='md5hash(vb_login_password, vb_login_md5password, vb_login_md5password_utf, 0)'>\
             <input name=vb_login_username><input type=password name=vb_login_password>\
             <input type=hidden name=vb_login_md5password><input type=hidden name=vb_login_md5password_utf></form>",
    )
    .unwrap()[0];
    let hashing = Hashing::of(vbulletin).unwrap();
    let values = hashing.apply("anna", "vb_login_password", " secret ");
    let md5 = "5ebe2294ecd0e0f08eab7690d2a6ee69";
    let expected = [("vb_login_password", ""), ("vb_login_md5password", md5), ("vb_login_md5password_utf", md5)];
    assert!(values.iter().map(|(name, value)| (&**name, &***value)).eq(expected), "{values:?}");

    let discuz = &forms(
        "<form method=post onsubmit=\"pwmd5('password3_LQ9');pwdclear=1;ajaxpost('loginform_LQ9')\">\
             <input name=username><input type=password name=password id=password3_LQ9></form>",
    )
    .unwrap()[0];
    assert_eq!(Hashing::of(discuz), Some(Hashing::Discuz));
    assert_eq!(
        Hashing::Discuz.apply("anna", "password", "secret"),
        [("password".into(), Zeroizing::new(md5.to_owned()))]
    );
    let smf = &forms(
        "<form action='index.php?action=login2' method=post onsubmit=\"hashLoginPassword(this, 'd98c6d57');\">\
             <input name=user><input type=password name=passwrd><input type=hidden name=hash_passwrd></form>",
    )
    .unwrap()[0];
    let hashing = Hashing::of(smf).unwrap();
    let expected = [("passwrd", ""), ("hash_passwrd", "891beaac67a7b892fb4b057acdfc3645e3cdd327")];
    let values = hashing.apply("Anna", "passwrd", "secret");
    assert!(values.iter().map(|(name, value)| (&**name, &***value)).eq(expected), "{values:?}");
    assert_eq!(hashing.apply("anna@h.example", "passwrd", "secret"), [], "an address goes with the password as it is");
    assert_eq!(unknown(smf), None);

    for other in
        ["<form onsubmit='encrypt(this)'><input type=password name=p></form>", "<form><input type=password></form>"]
    {
        assert_eq!(Hashing::of(&forms(other).unwrap()[0]), None, "{other}");
    }
    assert_eq!(unknown(vbulletin).or(unknown(discuz)), None);
    for (handler, expected) in [
        ("return encrypt(this)", Some("return encrypt(this)")),
        ("this.p.value = hex_SHA1(this.p.value)", Some("this.p.value = hex_SHA1(this.p.value)")),
        ("return validate(this)", None),
    ] {
        let form = &forms(&format!("<form onsubmit='{handler}'><input type=password name=p></form>")).unwrap()[0];
        assert_eq!(unknown(form), expected);
    }
}
