//! Unit tests of `fields`.

use super::*;
use crate::form::forms;

fn names(html: &str) -> Vec<String> {
    let form = forms(html).unwrap().remove(0);
    let of = |at: Option<usize>| at.map_or_else(String::new, |at| form.controls[at].name.to_string());
    let roles = roles(&form);
    vec![of(roles.user), of(roles.password), of(roles.remember), of(roles.captcha)]
}

#[test]
fn a_form_without_one_telling_word_is_read_by_types_and_order() {
    let html = "<form><input name=f1><input type=password name=f2><input type=submit></form>";
    assert_eq!(names(html), ["f1", "f2", "", ""]);
}

#[test]
fn traps_that_nobody_sees_are_not_filled_in() {
    let html = "<form><div style='display:none'><input name=username><input type=password name=password></div>\
                    <label>用户名 <input name=a></label><label>密码 <input type=password name=b></label>\
                    <label>验证码 <input name=c></label><label><input type=checkbox name=d>记住我</label></form>";
    assert_eq!(names(html), ["a", "b", "d", "c"]);
}

#[test]
fn of_a_page_in_one_form_the_user_stands_before_the_password() {
    let html = "<form><input name=ctl$Login$txtSearch><input name=ctl$newsletter$email><input name=ctl$Login$txtUser>\
                    <input type=password name=ctl$Login$txtPass><input name=ctl$contact$email></form>";
    assert_eq!(names(html)[..2], ["ctl$Login$txtUser", "ctl$Login$txtPass"]);
}

#[test]
fn what_autocomplete_declares_comes_first() {
    let html = "<form><input name=email><input name=x autocomplete='section-a username'>\
                    <input type=password name=y autocomplete=one-time-code>\
                    <input type=password name=z autocomplete=current-password></form>";
    assert_eq!(names(html)[..2], ["x", "z"]);
}

#[test]
fn an_ending_drawn_for_the_page_says_nothing() {
    for name in ["username", "username_LxPw"] {
        let html = format!(
            "<form><input name={name} id=username_LxPw><input type=password name=password id=password3_LxPw></form>"
        );
        assert_eq!(names(&html)[..2], [name, "password"]);
    }
}

#[test]
fn names_are_read_in_many_languages() {
    for (label, asked_for) in [
        ("E-Mail-Adresse", FieldPurpose::Email),
        ("Benutzername", FieldPurpose::User),
        ("Nom d’utilisateur", FieldPurpose::User),
        ("Имя пользователя", FieldPurpose::User),
        ("ユーザー名", FieldPurpose::User),
        ("아이디", FieldPurpose::User),
        ("用戶名", FieldPurpose::User),
        ("Kullanıcı Adı", FieldPurpose::User),
        ("Vorname", FieldPurpose::Person),
        ("驗證碼", FieldPurpose::Captcha),
        ("Hasło", FieldPurpose::Password),
        ("Код с картинки", FieldPurpose::Captcha),
        ("Two-factor code", FieldPurpose::SecondFactor),
    ] {
        let form = forms(&format!("<form><p>{label}: <input name=f></form>")).unwrap().remove(0);
        assert_eq!(asked(&form), [asked_for], "{label}");
    }
}

#[test]
fn the_first_of_two_pages_asks_for_the_user_alone_and_says_that_it_logs_in() {
    let user = "<input name=u autocomplete=username>";
    for (html, when_judged, by_itself) in [
        (format!("<form method=post>{user}<button>Next</button></form>"), true, true),
        (format!("<form method=post>{user}<input type=hidden name=t><button>Продолжить</button></form>"), true, true),
        ("<form method=post><input type=email name=e><button>Log in</button></form>".to_owned(), true, true),
        // The field declares nothing, or the button says nothing.
        ("<form method=post><input name=username><button>Next</button></form>".to_owned(), true, false),
        (format!("<form method=post>{user}<button>Go</button></form>"), true, false),
        // Sent in the URL, by a script, with a password that comes later, or with another text field.
        (format!("<form>{user}<button>Next</button></form>"), false, false),
        (format!("<form method=post>{user}<button type=button>Next</button></form>"), false, false),
        (
            format!("<form method=post>{user}<input type=password name=p hidden><button>Next</button></form>"),
            false,
            false,
        ),
        (format!("<form method=post>{user}<input name=captcha><button>Next</button></form>"), false, false),
        ("<form method=post><input autocomplete=username><button>Next</button></form>".to_owned(), false, false),
        // Forms that are not logins.
        ("<form method=post><input type=email name=e><button>Reset password</button></form>".to_owned(), false, false),
        (
            "<form method=post action=subscribe><input type=email name=e><button>Continue</button></form>".to_owned(),
            false,
            false,
        ),
        (
            "<form method=post><input name=openid_identifier autocomplete=username><button>Log in</button></form>"
                .to_owned(),
            false,
            false,
        ),
        (format!("<form method=post class=register>{user}<button>Next</button></form>"), false, false),
    ] {
        let form = forms(&html).unwrap().remove(0);
        let told = [true, false].map(|is_judged| asks_for_user_alone(&form, is_judged).is_some());
        assert_eq!(told, [when_judged, by_itself], "{html}");
    }
}

#[test]
fn the_second_of_two_pages_asks_for_one_password_that_is_there_already() {
    let password = "<input type=password name=p>";
    for (html, expected) in [
        (format!("<form method=post><b>anna</b>{password}<button>Next</button></form>"), true),
        (format!("<form method=post><input name=username value=anna>{password}</form>"), true),
        (format!("<form method=post>{password}<input type=password name=again></form>"), false),
        (format!("<form method=post><input name=realname>{password}<input name=city></form>"), false),
        ("<form method=post><input type=password name=p autocomplete=new-password></form>".to_owned(), false),
        ("<form method=post><input name=username></form>".to_owned(), false),
    ] {
        let form = forms(&html).unwrap().remove(0);
        assert_eq!(asks_for_password_alone(&form), expected, "{html}");
    }
}
