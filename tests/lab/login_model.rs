//! The stored model of login forms: that it is the one its table gives, that its accuracy on unseen sites is as documented, and its
//! verdicts on hand-written forms of the expected software and languages.

use std::fs;

use gleaner_lab::login::text;
use gleaner_lab::login::training::{self, FOLD_SEEDS, Table};
use gleaner_login::fields::roles;
use gleaner_login::form::{Form, forms};
use gleaner_login::model::Judge;

use super::lab;

const TABLE: &str = include_str!("../../models/login_form.tsv");
const MODEL: &str = include_str!("../../models/login_form.json");

fn form(html: &str) -> Form {
    forms(html).unwrap().remove(0)
}

#[test]
fn the_committed_table_gives_the_committed_model_byte_for_byte() {
    let table = Table::parse(TABLE).unwrap();
    assert_eq!(table.text(), TABLE, "the table is written as it is read");
    assert!(
        text::json(&training::learn_stored(&table)).unwrap() == MODEL,
        "models/login_form.json is stale: gleaner-lab train"
    );
}

#[test]
fn unseen_sites_login_forms_are_known_as_well_as_promised() {
    let table = Table::parse(TABLE).unwrap();
    let report = training::report(&table, &FOLD_SEEDS[..1]);
    assert!(report.forms >= 1_000 && report.sites >= 200, "{report:?}");
    assert!(report.login_f1 >= 0.98 && report.login_precision >= 0.98, "{report:?}");
    assert!(report.login_f1 >= report.one_tree_f1 && report.login_f1 > report.paper16_f1, "{report:?}");
    assert!(report.user_field_accuracy >= 0.97 && report.password_field_accuracy >= 0.97, "{report:?}");
}

#[test]
fn a_table_with_a_fault_is_told_with_its_line() {
    let told = |text: &str| Table::parse(text).unwrap_err().to_string();
    assert!(told("").contains("line 1"));
    let mut lines: Vec<String> = TABLE.lines().take(3).map(str::to_owned).collect();
    lines[2] = lines[2].replacen('\t', "\tx", 1);
    assert!(told(&lines.join("\n")).starts_with("line 3: "), "{}", told(&lines.join("\n")));
    lines[2] = "1\t1\t-\t-\t5".to_owned();
    assert!(told(&lines.join("\n")).starts_with("line 3: "));
}

/// Login forms of real software, shortened to the relevant parts: URL, form, user field, password field.
const LOGINS: &[(&str, &str, &str, &str)] = &[
    (
        "https://board.example/ucp.php?mode=login",
        r#"<form action="./ucp.php?mode=login" method="post" id="login"><h2>Login</h2><label for="username">Username:</label>
        <input type="text" tabindex="1" name="username" id="username" autocomplete="username"><label for="password">Password:</label>
        <input type="password" id="password" name="password" autocomplete="current-password"><a href="./ucp.php?mode=sendpassword">
        I forgot my password</a><label><input type="checkbox" name="autologin" id="autologin"> Remember me</label><label>
        <input type="checkbox" name="viewonline"> Hide my online status this session</label><input type="hidden" name="sid" value="x">
        <input type="submit" name="login" value="Login"></form>"#,
        "username",
        "password",
    ),
    (
        "https://bbs.example/member.php?mod=logging&action=login",
        r#"<form method="post" name="login" id="loginform_LX" onsubmit="pwdclear = 1;ajaxpost()" action="member.php?mod=logging&amp;action=login&amp;loginsubmit=yes">
        <input type="hidden" name="formhash" value="1"><select name="loginfield"><option value="username">用户名</option><option value="email">Email</option></select>
        <input type="text" name="username" id="username_LX" value=""><th><label for="password3">密码:</label></th><input type="password" id="password3" name="password">
        <a href="javascript:;">找回密码</a>安全提问:<select name="questionid"><option value="0">安全提问(未设置请忽略)</option></select><input type="text" name="answer">
        <label><input type="checkbox" name="cookietime" value="2592000">自动登录</label><button type="submit" name="loginsubmit" value="true"><strong>登录</strong></button></form>"#,
        "username",
        "password",
    ),
    (
        "https://tracker.example/login.php",
        r#"<form method="post" action="takelogin.php"><p>您在 30 分钟内有 10 次尝试机会</p><table><tr><td>用户名：</td><td><input type="text" name="username"></td></tr>
        <tr><td>密码：</td><td><input type="password" name="password"></td></tr><tr><td>验证码：</td><td><input type="text" name="imagestring"><input type="hidden" name="imagehash" value="x"></td></tr>
        <tr><td>自动登出：</td><td><input type="checkbox" name="logout" value="yes">15分钟后自动登出</td></tr><tr><td>限制IP：</td><td><input type="checkbox" name="securelogin" value="yes">限制</td></tr>
        <tr><td><input type="submit" value="登录！"><input type="reset" value="重置"></td></tr></table></form>"#,
        "username",
        "password",
    ),
    (
        "https://tracker.example/login.php",
        r#"<form class="auth_form" name="login" id="loginform" method="post" action="login.php">You do not have access to certain features without logging in.
        <table><tr><td>Username&nbsp;</td><td><input type="text" name="username" id="username" required placeholder="Username"></td></tr><tr><td>Password&nbsp;</td>
        <td><input type="password" name="password" id="password" required></td></tr><tr><td></td><td><input type="checkbox" id="keeplogged" name="keeplogged" value="1">
        <label for="keeplogged">Remember me</label><input type="submit" name="login" value="Log in"></td></tr></table></form>"#,
        "username",
        "password",
    ),
    (
        "https://rutracker.example/forum/login.php",
        r#"<form id="login-form-full" action="login.php" method="post"><input type="hidden" name="redirect" value="index.php"><table><tr><th>Вход</th></tr><tr><td>Имя:</td><td>
        <input type="text" name="login_username" size="25"></td></tr><tr><td>Пароль:</td><td><input type="password" name="login_password" size="25"></td></tr>
        <tr><td><input type="submit" name="login" value="Вход"></td></tr></table><a href="profile.php?mode=sendpassword">Забыли имя или пароль?</a></form>"#,
        "login_username",
        "login_password",
    ),
    (
        "https://forum.example/index.php",
        r#"<form id="navbar_loginform" action="login.php?do=login" method="post" onsubmit="md5hash(vb_login_password, vb_login_md5password, vb_login_md5password_utf, 0)">
        <input type="text" name="vb_login_username" id="navbar_username" value="User Name"><input type="password" name="vb_login_password" id="navbar_password">
        <input type="submit" value="Log in"><input type="checkbox" name="cookieuser" value="1" title="Save password"><input type="hidden" name="vb_login_md5password"></form>"#,
        "vb_login_username",
        "vb_login_password",
    ),
    (
        "https://forum.example/threads/1/",
        r#"<form style="display:none" action="member.php" method="post"><input type="hidden" name="action" value="do_login"><input type="text" name="quick_username" placeholder="ユーザー名">
        <input type="password" name="quick_password" placeholder="パスワード"><input type="checkbox" name="quick_remember" value="yes">次回から自動ログイン<input type="submit" value="ログイン"></form>"#,
        "quick_username",
        "quick_password",
    ),
    (
        "https://unit.example/login",
        r#"<form class="auth-form__form" method="POST" action="https://unit.example/login"><input type="hidden" name="_token" value="x"><label for="username">Nom d’utilisateur</label>
        <input id="username" name="username" autocomplete="username" required autofocus><label>Mot de passe</label><input id="password" type="password" name="password" autocomplete="current-password">
        <input type="checkbox" id="remember" name="remember"><label for="remember">Se souvenir de moi</label><button class="auth-form__primary-button">Se connecter</button></form>"#,
        "username",
        "password",
    ),
    (
        "https://a.example/",
        "<form method=post><input name=u placeholder=아이디><input type=password name=p placeholder=비밀번호><button>로그인</button></form>",
        "u",
        "p",
    ),
    (
        "https://a.example/",
        "<form method=post action=/giris><input name=kadi placeholder='Kullanıcı adı'><input type=password name=sifre placeholder=Şifre><button>Giriş Yap</button></form>",
        "kadi",
        "sifre",
    ),
    (
        "https://a.example/",
        "<form method=post><label>Nazwa użytkownika <input name=a></label><label>Hasło <input type=password name=b></label><button>Zaloguj się</button></form>",
        "a",
        "b",
    ),
    (
        "https://a.example/",
        "<form method=post><label>Gebruikersnaam <input name=a></label><label>Wachtwoord <input type=password name=b></label><button>Inloggen</button></form>",
        "a",
        "b",
    ),
    (
        "https://a.example/",
        "<form method=post><label>Benutzername <input name=a></label><label>Passwort <input type=password name=b></label><button>Anmelden</button></form>",
        "a",
        "b",
    ),
    (
        "https://a.example/",
        "<form method=post><label>Usuario <input name=a></label><label>Contraseña <input type=password name=b></label><button>Iniciar sesión</button></form>",
        "a",
        "b",
    ),
    (
        "https://a.example/",
        "<form method=post><label>Utilizador <input name=a></label><label>Senha <input type=password name=b></label><button>Entrar</button></form>",
        "a",
        "b",
    ),
    (
        "https://a.example/",
        "<form method=post><label>Nome utente <input name=a></label><label>Password <input type=password name=b></label><button>Accedi</button></form>",
        "a",
        "b",
    ),
    (
        "https://a.example/",
        "<form method=post><label>使用者名稱 <input name=a></label><label>密碼 <input type=password name=b></label><button>登入</button></form>",
        "a",
        "b",
    ),
    (
        "https://a.example/",
        "<form method=post><input name=mobile placeholder=请输入手机号><input type=password name=b placeholder=请输入密码>\
         <button>登录</button></form>",
        "mobile",
        "b",
    ),
    (
        "https://a.example/",
        "<div><input name=a placeholder=Username><input type=password name=b><button type=button>Sign in</button></div>",
        "a",
        "b",
    ),
];

#[test]
fn login_forms_of_known_software_and_of_each_language_are_known_with_their_fields() {
    let judge = Judge::stored();
    for (url, html, user, password) in LOGINS {
        let form = form(html);
        let path = judge.path(&form, url);
        assert!(judge.judge(&form, url).is_login, "{html}\n{}", path.join("\n"));
        let roles = roles(&form);
        let name = |at: Option<usize>| at.map(|at| &*form.controls[at].name);
        assert_eq!((name(roles.user), name(roles.password)), (Some(*user), Some(*password)), "{html}");
        assert!(path.last().is_some_and(|last| last.starts_with("login form: ")), "{path:?}");
    }
}

/// Forms that a search for a password field or a field named `user` would mistake for logins.
const OTHERS: &[(&str, &str)] = &[
    (
        "https://a.example/",
        "<form action=/search><input name=user placeholder='Search users'><button>Search</button></form>",
    ),
    (
        "https://a.example/",
        "<form action=search.php method=post><input name=keywords><input type=submit value=搜索></form>",
    ),
    (
        "https://a.example/register",
        "<form method=post action=/register><input name=username><input type=email name=email><input type=password name=password>\
         <input type=password name=password_confirmation><label><input type=checkbox name=terms>I agree to the terms</label><button>Register</button></form>",
    ),
    (
        "https://a.example/ucp.php?mode=register",
        "<form method=post id=register action='./ucp.php?mode=register'><h2>Registrierung</h2><label>Benutzername <input name=username></label><label>E-Mail \
         <input type=email name=email></label><label>Passwort <input type=password name=new_password></label><label>Passwort wiederholen \
         <input type=password name=password_confirm></label><input type=submit value=Absenden></form>",
    ),
    (
        "https://a.example/signup",
        "<form method=post action=/signup><input name=username placeholder=用户名><input name=email placeholder=邮箱><input type=password name=password placeholder=密码>\
         <input name=phone placeholder=手机><button>注册</button></form>",
    ),
    (
        "https://a.example/recover.php",
        "<form method=post action=recover.php><p>忘记密码? 请输入您的邮箱</p><input name=email><button>找回密码</button></form>",
    ),
    (
        "https://a.example/forgot",
        "<form method=post action=/password/email><label>E-mail <input type=email name=email></label><button>Reset password</button></form>",
    ),
    (
        "https://a.example/",
        "<form method=post action=/subscribe><input type=email name=email placeholder='Your e-mail'><button>Subscribe</button></form>",
    ),
    (
        "https://a.example/thread/1",
        "<form method=post action=/comment><input name=name><input name=email><textarea name=comment></textarea><button>Post comment</button></form>",
    ),
    (
        "https://a.example/logout",
        "<form method=post action=/logout><input type=hidden name=token value=x><button>Log out</button></form>",
    ),
    ("https://a.example/", "<form></form>"),
];

#[test]
fn registration_reset_search_newsletter_and_comment_forms_are_not_taken_for_logins() {
    let judge = Judge::stored();
    for (url, html) in OTHERS {
        let form = form(html);
        assert!(!judge.judge(&form, url).is_login, "{html}\n{}", judge.path(&form, url).join("\n"));
    }
}

#[test]
fn of_two_login_forms_the_one_that_is_shown_is_taken_and_of_equals_the_first() {
    let judge = Judge::stored();
    let login = |style: &str| {
        format!(
            "<form method=post action=/login style='{style}'><input name=username><input type=password name=password><button>Log in</button></form>"
        )
    };
    let chosen = |page: &str| judge.login_form(&forms(page).unwrap(), "https://a.example/").map(|(at, _)| at);
    assert_eq!(chosen(&(login("display:none") + &login(""))), Some(1));
    assert_eq!(chosen(&(login("") + &login(""))), Some(0));
    assert_eq!(chosen(&login("display: none")), Some(0), "a pop-up's form is better than none");
    assert_eq!(chosen("<form action=/search><input name=q></form>"), None);
    assert_eq!(chosen(""), None);
}

#[test]
fn a_model_that_does_not_fit_is_refused() {
    let told = |json: &str| Judge::read(json.as_bytes()).err().unwrap().to_string();
    assert!(told("{").contains("the model cannot be read"));
    assert!(told(r#"{"features":["age"],"threshold":0.5,"trees":[]}"#).contains("`age`"));
    assert!(told(r#"{"features":[],"threshold":0.5,"trees":[[]]}"#).contains("tree 0"));
}

#[test]
fn other_labelled_forms_are_scored_with_the_built_in_model() {
    let here = tempfile::tempdir().unwrap();
    let line = |url: &str, kind: &str, user: &str, password: &str, html: &str| {
        let fields = serde_json::json!({ user: "username", password: "password" });
        serde_json::json!({ "site": "a", "url": url, "type": kind, "fields": fields, "html": html }).to_string() + "\n"
    };
    let mut text: String = LOGINS.iter().map(|(url, html, user, pass)| line(url, "login", user, pass, html)).collect();
    text.extend(OTHERS.iter().map(|(url, html)| line(url, "other", "x", "y", html)));
    text.push_str(&line(LOGINS[0].0, "search", "x", "y", LOGINS[0].1));
    fs::write(here.path().join("forms.jsonl"), text).unwrap();
    let ran = lab(here.path(), &["train", "--forms", "forms.jsonl", "--json"]);
    assert!(ran.status.success(), "{ran:?}");
    let score: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(score["login_recall"], 1.0, "{score}");
    assert_eq!(
        score["wrong_lines"],
        serde_json::json!([LOGINS.len() + OTHERS.len() + 1]),
        "the label is wrong: {score}"
    );
    assert_eq!((&score["user_field_accuracy"], &score["password_field_accuracy"]), (&1.0.into(), &1.0.into()));
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1, "nothing is written");

    fs::write(here.path().join("forms.jsonl"), "{}\n").unwrap();
    let ran = lab(here.path(), &["train", "--forms", "forms.jsonl"]);
    assert!(!ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains("forms.jsonl:1: "), "{ran:?}");
}

#[test]
fn the_trees_can_be_seen_and_a_missing_table_is_told_with_what_to_do() {
    let here = tempfile::tempdir().unwrap();
    let ran = lab(here.path(), &["train", "--dot"]);
    let dot = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(dot.matches("digraph ").count(), Judge::stored().model().trees.len());
    assert!(dot.contains("password_fields") && dot.ends_with("}\n"), "{dot}");
    let ran = lab(here.path(), &["train"]);
    assert!(!ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains("hint: "), "{ran:?}");
}
