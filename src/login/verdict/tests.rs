//! What pages say of a login, in the words of real software.

mod limits;
mod refusals;

use super::*;

fn judged(status: u16, page: &str, login_form: Option<usize>, cookies_changed: bool) -> Verdict {
    let view = View::of(page).unwrap();
    judge(&After { status, view: &view, login_form, cookies_changed, before: None, has_read_captcha: false }).verdict
}

const FORM: &str = "<form method=post><input name=u><input type=password name=p></form>";

#[test]
fn each_end_is_told_by_its_signs() {
    let forum = format!("<h1>Board</h1>{}", "<p>Topic: my account has been banned, wrong password?</p>".repeat(60));
    for (status, page, form, cookies, expected) in [
        (200, format!("<a href='logout.php?k=1'>Log out</a>{forum}"), None, true, Verdict::LoggedIn),
        (200, format!("<a href='/u?do=x'>Abmelden</a>{forum}"), None, false, Verdict::LoggedIn),
        (200, "欢迎回来，anna".to_owned(), None, false, Verdict::LoggedIn),
        (200, forum.clone(), None, true, Verdict::LoggedIn),
        (200, forum, None, false, Verdict::ProbablyRefused),
        (200, format!("<b>Wrong password.</b>{FORM}"), Some(0), true, Verdict::WrongPassword),
        (200, format!("密码错误次数过多，请 15 分钟后重新登录{FORM}"), Some(0), false, Verdict::RateLimited),
        (200, format!("密码错误{FORM}"), Some(0), false, Verdict::WrongPassword),
        (403, "Forbidden".to_owned(), None, false, Verdict::ProbablyRefused),
        (403, FORM.to_owned(), Some(0), false, Verdict::ProbablyRefused),
        (403, "Request blocked. Cloudflare Ray ID: 1".to_owned(), None, false, Verdict::SiteTrouble),
        (
            200,
            "<h1>Database error</h1><p>Could not connect to the database.</p>".to_owned(),
            None,
            false,
            Verdict::SiteTrouble,
        ),
        (200, "Down for maintenance, please try again later.".to_owned(), None, false, Verdict::SiteTrouble),
        (200, format!("<p>Login failed: database error</p>{FORM}"), Some(0), false, Verdict::SiteTrouble),
        (200, format!("<p>Wartungsarbeiten bis 12 Uhr.</p>{FORM}"), Some(0), false, Verdict::SiteTrouble),
        (200, format!("<p>系统维护中，禁止登录</p>{FORM}"), Some(0), false, Verdict::SiteTrouble),
        (200, format!("<p>您的帐号被禁止登录</p>{FORM}"), Some(0), false, Verdict::Locked),
        // What is said for sure is so, whatever else is.
        (200, format!("<p>Wrong password. Database error.</p>{FORM}"), Some(0), false, Verdict::WrongPassword),
        (
            200,
            format!("<p>Invalid username or password. Too many failed attempts will lock your account.</p>{FORM}"),
            Some(0),
            false,
            Verdict::WrongPassword,
        ),
        (
            200,
            format!("<p>Wrong password. Please check it, or try again later.</p>{FORM}"),
            Some(0),
            false,
            Verdict::WrongPassword,
        ),
        (
            200,
            // Who says so has looked at it: it is held, whatever else is told.
            format!("<p>Wrong username or password. You have used up your failed login quota!</p>{FORM}"),
            Some(0),
            false,
            Verdict::WrongPassword,
        ),
        (200, format!("<p>Too many failed logins.</p>{FORM}"), Some(0), false, Verdict::RateLimited),
        (401, FORM.to_owned(), Some(0), false, Verdict::WrongPassword),
        (429, "slow down".to_owned(), None, false, Verdict::RateLimited),
        (200, "Your account has been banned: wrong password".to_owned(), None, true, Verdict::Locked),
        (200, "Please confirm your email address first".to_owned(), None, true, Verdict::ConfirmEmail),
        (200, "Your password has expired. Please choose a new one.".to_owned(), None, false, Verdict::PasswordExpired),
        (200, "Срок действия вашего пароля истёк.".to_owned(), None, false, Verdict::PasswordExpired),
        (200, "Срок действия пароля истекает через 10 дней".to_owned(), None, true, Verdict::LoggedIn),
        (200, "パスワードの有効期限: 2027-01-01".to_owned(), None, true, Verdict::LoggedIn),
        (200, "Need to change your password? See Settings.".to_owned(), None, true, Verdict::LoggedIn),
        (200, "If your password has expired, ask an admin.".to_owned(), None, true, Verdict::LoggedIn),
        (
            200,
            "<p>If your one-time password has expired, request a new one.</p><form><input name=otp></form>".to_owned(),
            None,
            true,
            Verdict::SecondFactor,
        ),
        (200, format!("<p>Your one-time password has expired.</p>{FORM}"), Some(0), false, Verdict::ProbablyRefused),
        (
            200,
            format!("<p>Invalid username or password, or your password has expired.</p>{FORM}"),
            Some(0),
            false,
            Verdict::WrongPassword,
        ),
        (200, format!("<div class='g-recaptcha'></div>{FORM}"), Some(0), false, Verdict::Captcha),
        (200, format!("验证码错误{FORM}"), Some(0), false, Verdict::Captcha),
        (200, "<form><input type=password name=otp></form>".to_owned(), None, true, Verdict::SecondFactor),
        (200, "<form><input name=otp></form>".to_owned(), None, true, Verdict::SecondFactor),
        (200, "Two-factor: <form><input name=auth_code></form>".to_owned(), None, true, Verdict::SecondFactor),
        (200, format!("Sorry, no match.{FORM}"), Some(0), true, Verdict::ProbablyRefused),
        (200, FORM.to_owned(), Some(0), true, Verdict::ProbablyRefused),
        (500, FORM.to_owned(), Some(0), true, Verdict::SiteTrouble),
        (200, String::new(), None, false, Verdict::ProbablyRefused),
        (404, "Not found".to_owned(), None, false, Verdict::ProbablyRefused),
        (502, "Bad gateway".to_owned(), None, false, Verdict::Unknown),
        (
            503,
            "The board is being moved. We never ask for your username or password by mail.".to_owned(),
            None,
            false,
            Verdict::Unknown,
        ),
        (500, r#"{"error":"Wrong password"}"#.to_owned(), None, false, Verdict::WrongPassword),
        (200, format!("Your browser does not accept cookies.{FORM}"), Some(0), true, Verdict::NotLookedAt),
        (200, format!("Session expired, submit again.{FORM}"), Some(0), true, Verdict::NotLookedAt),
        (
            422,
            "The change you wanted was rejected. InvalidAuthenticityToken".to_owned(),
            None,
            false,
            Verdict::NotLookedAt,
        ),
        (400, "Bad request: missing CSRF token".to_owned(), None, false, Verdict::NotLookedAt),
        (422, "Unprocessable".to_owned(), None, false, Verdict::ProbablyRefused),
        (419, "Gone stale".to_owned(), None, false, Verdict::ProbablyRefused),
        (
            200,
            format!("{FORM}<p><a href=/1>CSRF and you</a><p><a href=/2>Too fast</a>"),
            Some(0),
            true,
            Verdict::ProbablyRefused,
        ),
        (200, format!("The submitted form was invalid.{FORM}"), Some(0), false, Verdict::NotLookedAt),
        (200, format!("您的请求来路不正确{FORM}"), Some(0), false, Verdict::NotLookedAt),
    ] {
        assert_eq!(judged(status, &page, form, cookies), expected, "{status} {page}");
    }
}

/// Of real software and of none: a wrong password beside words of another end is one, unless that has come to pass.
#[test]
fn a_refusal_beside_a_warning_is_one() {
    for (message, expected) in [
        ("You have entered an invalid username or password, please try again later", Verdict::WrongPassword),
        ("Wrong password (too many failed attempts lock the account)", Verdict::WrongPassword),
        ("Wrong password. After 3 tries your account is locked for 15 minutes.", Verdict::WrongPassword),
        (
            "Login failed! Username or password incorrect, or your account is not activated. You have 4 of 10 remaining \
             tries; your IP address is banned after that.",
            Verdict::WrongPassword,
        ),
        (
            "Invalid username or password. If you have just registered, your account is not activated yet.",
            Verdict::WrongPassword,
        ),
        ("Password incorrect. If you have forgotten it, verify your email to reset.", Verdict::WrongPassword),
        ("Incorrect password. Please try again. You can also activate your account by mail.", Verdict::WrongPassword),
        ("Login failed. Wrong password, or please confirm your email address first.", Verdict::WrongPassword),
        ("Login failed. Your account is not activated yet.", Verdict::ConfirmEmail),
        ("Wrong password. Your account has been locked after 3 tries.", Verdict::Locked),
        ("Wrong password. Your account is locked.", Verdict::Locked),
        // Whoever tells both has looked at the password: that it has to be waited makes it no better.
        ("Wrong password. Too many attempts, please try again later.", Verdict::WrongPassword),
        (
            "Invalid username or password. Too many failed attempts, please try again in 15 minutes.",
            Verdict::WrongPassword,
        ),
        ("Неверный пароль! Слишком много попыток, подождите 1 минуту.", Verdict::WrongPassword),
        ("Too many incorrect password attempts. Please try again later.", Verdict::RateLimited),
        ("密码错误次数过多，请 15 分钟后重新登录", Verdict::RateLimited),
    ] {
        assert_eq!(judged(200, &format!("<p>{message}</p>{FORM}"), Some(0), false), expected, "{message}");
    }
}

#[test]
fn a_wait_that_a_page_names_in_words_is_read() {
    for (message, expected) in [
        ("Too many failed login attempts. Try again in 15 minutes.", Some(900)),
        ("Zu viele Anmeldeversuche: in 2 Stunden wieder.", Some(7_200)),
        ("密码错误次数过多，请 15 分钟后重新登录", Some(900)),
        ("请15分钟后再试", Some(900)),
        ("Слишком много попыток, 30 секунд", Some(30)),
        ("Too many attempts. You have used 5 of 5 tries since 2003.", None),
        ("You must now wait 1h 15m 0s before you can login again.", Some(4_500)),
        ("You must now wait 0h 14m 37s before you can login again.", Some(877)),
        ("Try again in 14 minutes and 37 seconds.", Some(877)),
        ("您现在必须等待 0 小时 14 分钟 37 秒才能再次尝试登录", Some(877)),
        ("请1小时15分钟后再试", Some(4_500)),
        ("Yeniden denemek için 0 Saat 14 Dakika 37 Saniye beklemek zorundasınız.", Some(877)),
        ("5 tries in 10 minutes; wait 15 minutes", Some(900)),
        ("A sheet of A4, 5 m long", None),
        ("Too many attempts: 99999999999999999999 minutes, or 90 days", Some(86_400)),
        ("Too many failed attempts. Try again in one hour.", Some(3_600)),
        ("Too many attempts. Wait 2 days and 3 hours.", Some(86_400)),
        ("Too many attempts. Please wait 1 day and 30 minutes.", Some(86_400)),
        ("Too many attempts, Mike12day. Our 5 sections are closed.", None),
        ("Too many attempts. As a security measure, write to us.", None),
        ("Too many attempts, 5 a day are granted. Incident 4f89-11d3-9d", None),
        ("Too many attempts, please wait 15 minutes. We answer within 2 days.", Some(900)),
        ("IP1.2.3.4登录次数过多请15分钟后再试", Some(900)),
        ("You have exceeded 5 failed logins in 10 minutes. Your IP is blocked for 24 hours.", Some(86_400)),
        ("登录失败次数过多（10分钟内5次）。请2小时后再试。", Some(7_200)),
        ("Too many failed login attempts in the last 15 minutes. Please try again in 1 hour.", Some(3_600)),
        ("Too many failed logins (5 in 10 minutes). The account opens again in 2 hours.", Some(7_200)),
        (
            "Too many login attempts.</p><p>You have used 5 of 5 tries in 10 minutes.</p><p>Please wait 2 hours.",
            Some(7_200),
        ),
        ("Too many login attempts.</p><p>Your address: 192.0.2.7</p><p>Please wait 24 hours.", Some(86_400)),
        ("Zu viele Loginversuche, nach 0,052 Sekunden", None),
        ("Too many attempts. Please wait 48 hours.", Some(86_400)),
        ("次数过多，请3天后再试", Some(86_400)),
        ("Too many attempts, wait.</p><p>12.5 minutes a try</p><p>Posted 3 days ago", None),
    ] {
        let footer = "<p>Page created in 0.052 seconds, or 0.052s with 1 query. Statistics of 30 days</p>";
        let view = View::of(&format!("<p>{message}</p><p>.</p>{footer}")).unwrap();
        assert_eq!(names_wait(&view).map(|wait| wait.as_secs()), expected, "{message}");
    }
}

#[test]
fn a_captcha_beside_the_form_is_no_reason_once_a_person_has_read_it() {
    let captcha = format!("<div class='g-recaptcha'></div>{FORM}");
    for (page, has_read_captcha, expected) in [
        (captcha.clone(), false, Verdict::Captcha),
        (captcha.clone(), true, Verdict::ProbablyRefused),
        (format!("<p>Please type the characters you see.</p>{captcha}"), false, Verdict::Captcha),
        (format!("<p>Sorry, no match.</p>{captcha}"), false, Verdict::ProbablyRefused),
        (format!("<p>Computer says zorb.</p>{captcha}"), false, Verdict::ProbablyRefused),
        (format!("<p>Sorry, no match.</p>{captcha}"), true, Verdict::ProbablyRefused),
        // The text that was read is the wrong one, as the page says.
        (format!("验证码错误{captcha}"), true, Verdict::Captcha),
        (format!("<p>That captcha? No.</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>Le code de vérification est incorrect.</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>Der Sicherheitscode stimmt nicht.</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>検証コードが違います</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>인증 번호가 맞지 않습니다</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>Введите проверочный код ещё раз</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>Zły kod.</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>El código no es válido.</p>{captcha}"), true, Verdict::Captcha),
        // Also where the next form shows none.
        (format!("<p>Invalid code.</p>{FORM}"), true, Verdict::Captcha),
        (format!("<p>Login failed: invalid code.</p>{captcha}"), true, Verdict::ProbablyRefused),
        // Words that may be of the account as well, known or not.
        (format!("<p>The code or your credentials are incorrect.</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Invalid login or captcha.</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Captcha or login is wrong</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Falscher Code oder falsche Zugangsdaten</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Login failed. Please enter the captcha again.</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Wrong code or login data.</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Invalid captcha/PIN.</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Captcha is incorrect, or your zorb is.</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>You were not recognised. Enter the captcha.</p>{captcha}"), false, Verdict::ProbablyRefused),
        (format!("<p>Zaloguj się ponownie: błędny kod</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>登录失败，请重新输入验证码</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Captcha wrong.</p><p>Check your login details.</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Check your login details.</p><p>Captcha wrong.</p>{captcha}"), true, Verdict::ProbablyRefused),
        (format!("<p>Error! Invalid captcha. Please try again.</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>验证码错误，请重新输入</p>{captcha}"), true, Verdict::Captcha),
        (format!("<p>Login failed.</p>{captcha}"), true, Verdict::WrongPassword),
        (format!("<p>Wrong password or code.</p>{captcha}"), true, Verdict::WrongPassword),
        (format!("<p>Codeine is no decoder.</p>{captcha}"), true, Verdict::ProbablyRefused),
    ] {
        let view = View::of(&page).unwrap();
        let after = After {
            status: 200,
            view: &view,
            login_form: Some(0),
            cookies_changed: true,
            before: None,
            has_read_captcha,
        };
        assert_eq!(judge(&after).verdict, expected, "{page}");
    }
}

#[test]
fn what_stands_beside_the_form_and_says_nothing_to_this_login_is_no_reason_why_it_came_back() {
    let head = format!("{FORM}<p>Login failed after update, help</p><p>My account has been locked</p>");
    let note = "<p>Note: You need cookies enabled to log in.</p>";
    for (before, after, expected) in [
        (format!("{FORM}{note}"), format!("<p>Sorry, no match.</p>{FORM}{note}"), Verdict::ProbablyRefused),
        // From the index to a page of its own, which has a notice.
        (format!("{FORM}<h1>Forum</h1>"), format!("<p>Sorry, no match.</p>{FORM}{note}"), Verdict::ProbablyRefused),
        (format!("{FORM}<h1>Forum</h1>"), format!("<p>Please enable cookies.</p>{FORM}"), Verdict::NotLookedAt),
        (head.clone(), head.clone(), Verdict::ProbablyRefused),
        (head.clone(), format!("<p>Login failed.</p>{head}"), Verdict::WrongPassword),
        (head.clone(), format!("<p>Your account has been locked.</p>{head}"), Verdict::Locked),
        (head.clone(), "Login failed".to_owned(), Verdict::WrongPassword),
    ] {
        let [before, view] = [&before, &after].map(|page| View::of(page).unwrap());
        let login_form = after.contains(FORM).then_some(0);
        let after_it = After {
            status: 200,
            view: &view,
            login_form,
            cookies_changed: false,
            before: Some(&before),
            has_read_captcha: false,
        };
        assert_eq!(judge(&after_it).verdict, expected, "{after}");
    }
}

/// Sentences reach logs, where nobody puts a site's name in; and what is wrong is told with what to do.
#[test]
fn each_sentence_has_a_hint_and_no_name_that_stands_for_a_site() {
    let told = |verdict: &Verdict| !matches!(verdict, Verdict::LoggedIn | Verdict::RateLimited);
    for verdict in Verdict::ALL.into_iter().filter(told) {
        let sentence = verdict.sentence();
        assert!(sentence.contains(" (hint: ") && sentence.ends_with(')'), "{sentence}");
        assert!(!sentence.contains("SITE"), "{sentence}");
    }
}

#[test]
fn a_page_for_guests_is_known_and_one_for_members_is_not_taken_for_it() {
    let sign = |page: &str, form: Option<usize>| logged_out(&View::of(page).unwrap(), form);
    assert!(sign(FORM, Some(0)).is_some());
    assert!(sign("您需要登录后才可以下载，请登录", None).is_some());
    assert!(sign(&format!("{FORM}<a href=/logout>x</a>"), Some(0)).is_none(), "members see both on some sites");
    assert!(sign("A file.", None).is_none());
    assert!(sign(&"you must log in ".repeat(500), None).is_none(), "a long page quotes it");
}

#[test]
fn links_that_end_the_session_are_known_by_address_and_text() {
    for reference in [
        "/logout",
        "logout.php?hash=1",
        "member.php?mod=logging&action=logout&formhash=1",
        "ucp.php?mode=logout",
        "/user/sign-out/",
    ] {
        assert!(gleaner_rules::ends_session(reference), "{reference}");
    }
    for reference in ["/blogout", "/login", "/t/how-to-logout-of-windows", "/about#logout", "/signout-design"] {
        assert!(!gleaner_rules::ends_session(reference), "{reference}");
    }
    let view = View::of("<a href=/x>Logout [ anna ]</a><a href=/y>Выход</a><a href=/z>Logout problems</a>").unwrap();
    assert_eq!(view.log_outs().collect::<Vec<_>>(), ["/x", "/y"]);
}

/// The pages of trouble are those of real software: navigation, machines and operators speak of logins in all of them.
#[test]
fn a_refusal_is_a_sentence_that_says_so_and_no_words_of_a_page_in_trouble() {
    const NAV: &str = "<title>Wrong password?</title><ul id=nav><li><a href=/l>Log in</a></li><li><a href=/a>My account</a></li><li><a \
                       href=/p>Forgot your username or password?</a></li></ul>";
    for said in [
        "Something went wrong.",
        "Something went wrong. Username: anna",
        "Lock wait timeout exceeded; try restarting transaction [1205]",
        "Error 1020 Access denied",
        "The requested URL /login was not found on this server.",
        "You don't have permission to access /login on this server.",
        "The requested method POST is not allowed for the URL /login.php.",
        "Proxy Authentication Required",
        "Warning: mysqli_connect(): (HY000/1045): Access denied for user 'forum'@'localhost' (using password: YES) in /www/config.php",
        "Warning: Cannot modify header information - headers already sent by (output started at /www/a.php:1) in /www/login.php",
        "Deprecated: password_hash(): Passing null to parameter #1 ($password) of type string is deprecated in /www/login.php",
        "Table './forum/phpbb_login_attempts' is marked as crashed and should be repaired [145]",
        "Login is currently disabled while we upgrade the board. Please come back later.",
        "We could not log you in because of a technical problem on our side.",
        "Unable to log in right now. Our servers are having problems.",
        "Cannot connect to memcached. Login requires cache.",
        "Account server unreachable",
        "Maintenance: user accounts are being migrated to the new database.",
        "Your forum is moving. See you tomorrow! Your username and password will stay the same.",
        "抱歉,站点已关闭,仅限管理员登录",
        "Something went wrong while logging you in.",
        "Oops! Something went wrong with your password, please log in again.",
        "If you believe this is wrong, send us your username.",
        "Your login session is invalid. Please enter your password again.",
        "Invalid token for user name anna",
        "Die Datenbank hat eine ungültige Antwort auf das Passwort geliefert.",
        "Incorrect string value: 'x' for column 'username' at row 1",
        "您访问的用户页面不存在",
        "Database says: password mismatch for user anna",
    ] {
        for (page, form) in [
            (said.to_owned(), None),
            (format!("{NAV}<p>{said}</p>"), None),
            (format!("{NAV}<p>{said}</p>{FORM}"), Some(0)),
        ] {
            let view = View::of(&page).unwrap();
            let of = After {
                status: 200,
                view: &view,
                login_form: form,
                cookies_changed: false,
                before: None,
                has_read_captcha: false,
            };
            assert!(!says_refused(&of), "{page}");
            assert_ne!(judge(&of).verdict, Verdict::WrongPassword, "{page}");
        }
    }
    for said in [
        "The password you entered for the username anna is incorrect.",
        "The username/password combination you have entered is invalid.",
        "errorhandle_login('登录失败，您还可以尝试 4 次', {});",
        "ログインIDまたはパスワードが間違っています",
        "아이디 또는 비밀번호가 일치하지 않습니다",
        "Benutzername oder Kennwort stimmen nicht überein.",
        "Identifiants invalides.",
        "De combinatie van gebruikersnaam en wachtwoord klopt niet.",
        "Unrecognized username or password.",
        "帐号密码不匹配(还可以尝试4次)",
        "That username does not exist.",
        "These credentials do not match our records.",
    ] {
        for (page, form) in [(format!("{NAV}<p>{said}"), None), (format!("<p class=error>{said}</p>{FORM}"), Some(0))] {
            let view = View::of(&page).unwrap();
            let of = After {
                status: 200,
                view: &view,
                login_form: form,
                cookies_changed: false,
                before: None,
                has_read_captcha: false,
            };
            assert!(says_refused(&of), "{page}");
            // Neither at a limit, which the right one meets as well, nor by a server in trouble.
            assert!(![429, 500, 503].iter().any(|status| says_refused(&After { status: *status, ..of })), "{page}");
        }
    }
}

#[test]
fn behind_a_code_words_of_the_password_refuse_it() {
    for (said, expected) in [
        ("Login failed: wrong user name or password.", Some(Verdict::WrongPassword)),
        ("Invalid username, password or authentication code.", Some(Verdict::ProbablyRefused)),
        ("That is not your password.", Some(Verdict::ProbablyRefused)),
        ("The one-time password is incorrect.", None),
        ("Login failed.", None),
        ("Wrong code.", None),
        ("Sorry, no match.", None),
    ] {
        let view = View::of(&format!("<p class=error>{said}</p>{FORM}")).unwrap();
        let of = After {
            status: 200,
            view: &view,
            login_form: Some(0),
            cookies_changed: false,
            before: None,
            has_read_captcha: false,
        };
        assert_eq!(refuses_behind_code(&of), expected, "{said}");
    }
}
