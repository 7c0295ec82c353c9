//! Unit tests of `secrets`.

use super::*;

#[test]
fn values_of_secrets_are_found_in_what_is_no_toml_too() {
    for (text, expected) in [
        ("password = 'a b'\n", vec!["'a b'"]),
        ("[login]\n pass = hunter2, x # y\nuser = 'u'", vec!["hunter2, x # y"]),
        (r#"login = { "pwd" = "a\"b", token="c" }"#, vec![r#""a\"b""#, r#""c""#]),
        ("secret = '''a\nb'''\nPassword='x", vec!["'''a\nb'''", "'x"]),
        ("passwd =\npassword_field = 'pw'\nbypass = 1\n", vec![""]),
        ("token = \"\"\"open\n=", vec!["\"\"\"open\n="]),
    ] {
        let found: Vec<&str> = values(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn what_stands_in_front_of_a_host_is_found_wherever_it_is() {
    for (text, expected) in [
        ("hosts = ['anna:pw@h', \"b:x@y@h\"]", vec!["anna:pw@", "b:x@y@"]),
        ("accept = ['http://anna:p/w@h/', 'https://anna@h/x']", vec!["anna:p/w@", "anna@"]),
        ("start = ['https://h:8080/a', 'https://h/user@b']\nindex = ['^/a@b$']", vec![]),
    ] {
        let found: Vec<&str> = userinfo(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, expected, "{text}");
    }
    for (text, expected) in
        [("anna:pw@h", true), ("anna:pw", true), ("h:8080", false), ("[::1]", false), ("https://h/a:b", false)]
    {
        assert_eq!(may_have_userinfo(text), expected, "{text}");
    }
}

#[test]
fn names_of_password_fields_are_known_in_each_language_and_others_are_not_taken_for_them() {
    for name in [
        "pw",
        "pass",
        "passwd",
        "password",
        "pwd",
        "user[pw]",
        "userPw",
        "login_pw2",
        "PW",
        "auth_login_password",
        "kennwort",
        "Passwort",
        "mot_de_passe",
        "motdepasse",
        "mdp",
        "contrasena",
        "contraseña",
        "clave",
        "senha",
        "wachtwoord",
        "haslo",
        "hasło",
        "sifre",
        "şifre",
        "parola",
        "parol",
        "пароль",
        "密码",
        "密碼",
        "mima",
        "パスワード",
        "비밀번호",
    ] {
        assert!(names_password(name), "{name}");
    }
    for name in [
        "style",
        "questionid",
        "answer",
        "lang",
        "remember",
        "power",
        "pwned_no",
        "newsletter",
        "www",
        "op",
        "submit",
        "cookielength",
        "tz",
        "hash",
        "autologin",
        "redirect",
        "confirm_image",
        "enclave",
        "has_login",
        "hasLocation",
        "app_assets",
        "idp_assertion",
        "passport",
    ] {
        assert!(!names_password(name), "{name}");
    }
}

#[test]
fn nothing_is_shown_of_an_accounts_lines_that_are_no_toml() {
    for (text, at, expected) in [
        ("[login]\nuser = 'anna'\npassword: hunter2\n", "password:", vec!["hunter2"]),
        ("[login]\nmot_de_passe hunter2", "mot", vec!["hunter2"]),
        ("login = { pw: 'hunter2' }\n[rate]\nx y", "pw", vec!["{ pw: 'hunter2' }"]),
        ("[login]\npassword =\nhunter2\n", "\nhunter2", vec!["", "hunter2"]),
        ("[login.fields]\nanswer = \"a\" \"b\"\n", "\"b\"", vec!["\"a\" \"b\""]),
        ("[rate]\ndelay: 3\n[login]\nuser = 'anna'\n", "delay", vec![]),
    ] {
        let spans = broken_lines(text, &[text.find(at).unwrap()]);
        assert_eq!(spans.into_iter().map(|span| &text[span]).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn keys_that_mean_a_secret_are_told_from_misspelt_ones() {
    let known = ["user", "page", "probe", "form", "user_field", "password_field", "fields", "json"];
    for name in ["password", "PASS", "pasword", "passwrd", "secret", "token", "login_password"] {
        assert!(is_meant("login", name, &known), "{name}");
    }
    for name in ["pasword_field", "passwordfield", "paeg", "usr", "pag", "jsn"] {
        assert!(!is_meant("login", name, &known), "{name}");
    }
    assert!(is_meant("", "password", &[]) && !is_meant("rate", "token", &[]) && !is_meant("", "pages", &[]));
}
