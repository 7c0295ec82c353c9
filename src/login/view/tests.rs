//! Unit tests of `view`.

use super::*;

#[test]
fn the_picture_of_a_captcha_is_the_named_one_else_the_nearest() {
    let view = View::of(
        "<img src=logo.png><form><input name=q><img src=glass.gif></form><form><input name=u><input name=code>\
             <img src='/image.php?type=hv'></form><form><input name=other><img src='/captcha.php?x=1'></form>",
    )
    .unwrap();
    assert_eq!(view.picture_at(2, "other"), Some("/captcha.php?x=1"));
    let view = View::of(
        "<img src=logo.png><form><input name=q><img src=glass.gif></form>\
             <form><input name=u><img src='/image.php?type=hv'><input name=code><img src=key.gif></form>",
    )
    .unwrap();
    assert_eq!(view.picture_at(1, "code"), Some("/image.php?type=hv"));
    assert_eq!(View::of("<form><input name=code></form>").unwrap().picture_at(0, "code"), None);
}

#[test]
fn boxes_of_other_sites_are_told_by_their_form() {
    let view = View::of("<form></form><form><div class='x h-captcha'></div></form>").unwrap();
    assert_eq!((view.widget_in(0), view.widget_in(1)), (None, Some("h-captcha")));
}

#[test]
fn the_text_of_a_link_that_logs_out_is_all_of_it() {
    for text in ["log out", " logout ", "logout [ anna ]", "log out (anna b)", "выход", "abmelden"] {
        assert!(is_log_out_label(text), "{text}");
    }
    for text in [
        "logout: where is the button?",
        "logout (it does not work for me)",
        "logout [solved] problems",
        "log out or not",
        "",
    ] {
        assert!(!is_log_out_label(text), "{text}");
    }
    let view = View::of(
        "<a href=/t/7>Logout</a><a href=/bye>Logout</a><form method=post action=/user/logout><button>x</button></form>",
    );
    let view = view.unwrap();
    assert_eq!(view.log_outs().collect::<Vec<_>>(), ["/user/logout", "/t/7", "/bye"]);
    assert_eq!(
        view.without_topics(|address| address.starts_with("/t/")).log_outs().collect::<Vec<_>>(),
        ["/user/logout", "/bye"]
    );
}

#[test]
fn frames_that_speak_of_a_login_come_first() {
    let view = View::of("<iframe src=/ad></iframe><iframe></iframe><iframe src=' /login '></iframe>").unwrap();
    assert_eq!(view.frames, ["/login".into(), "/ad".into()]);
}

#[test]
fn links_that_ask_first_or_are_no_get_are_known() {
    let page = "<a href=/a onclick=\"return confirm ('Sure?')\">a</a><a href=/b data-confirm=Sure>b</a><a href=/c data-method=DELETE>c</a>\
                <a href=/d data-turbo-method=post>d</a><a href=/e data-method=get onclick='open(this)'>e</a><a data-method=put>f</a>";
    let view = View::of(page).unwrap();
    assert_eq!(view.asking_links().collect::<Vec<_>>(), ["/a", "/b", "/c", "/d"]);
}
