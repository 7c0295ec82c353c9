//! What sites say to whoever has tried too often, in the words of real software and its translations, and the wait that they name.

use super::*;

#[test]
fn too_many_attempts_are_a_limit_in_each_language() {
    for (said, wait_s) in [
        // Laravel and UNIT3D.
        ("Too many login attempts. Please try again in 59 seconds.", Some(59)),
        ("您尝试的登录次数过多，请 59 秒后再试。", Some(59)),
        ("嘗試登入太多次，請在 59 秒後再試。", Some(59)),
        ("ログインの試行回数が多すぎます。59 秒後にお試しください。", Some(59)),
        ("너무 많은 로그인 시도를 하였습니다. 59 초 후에 다시 시도하십시오.", Some(59)),
        ("Слишком много попыток входа. Пожалуйста, попробуйте ещё раз через 59 секунд.", Some(59)),
        ("Zu viele Loginversuche. Versuchen Sie es bitte in 59 Sekunden nochmal.", Some(59)),
        ("Tentatives de connexion trop nombreuses. Veuillez essayer de nouveau dans 59 secondes.", Some(59)),
        ("Demasiados intentos de acceso. Por favor intente nuevamente en 59 segundos.", Some(59)),
        ("Muitas tentativas de login. Tente novamente em 59 segundos.", Some(59)),
        (
            "O número limite de tentativas de login foi atingido. Por favor tente novamente dentro de 59 segundos.",
            Some(59),
        ),
        ("Troppi tentativi di accesso. Riprova tra 59 secondi.", Some(59)),
        ("Za dużo nieudanych prób logowania. Proszę spróbować za 59 sekund.", Some(59)),
        ("Te veel mislukte aanmeldpogingen. Probeer het nog eens over 59 seconden.", Some(59)),
        ("Te veel login pogingen. U kunt het opniew proberen over 59 seconde(n).", Some(59)),
        ("Çok fazla oturum açma denemesi. 59 saniye sonra lütfen tekrar deneyin.", Some(59)),
        ("Çok fazla giriş denemesi. 59 saniye sonra lütfen tekrar deneyin.", Some(59)),
        // Symfony.
        ("Too many failed login attempts, please try again in 15 minutes.", Some(900)),
        ("Zu viele fehlgeschlagene Anmeldeversuche, bitte versuchen Sie es in 15 Minuten noch einmal.", Some(900)),
        ("Plusieurs tentatives de connexion ont échoué, veuillez réessayer dans 15 minutes.", Some(900)),
        ("Demasiados intentos fallidos de inicio de sesión, inténtelo de nuevo en 15 minutos.", Some(900)),
        ("Слишком много неудачных попыток входа, повторите попытку через 15 минут.", Some(900)),
        ("Troppi tentativi di login falliti. Riprova tra 15 minuti.", Some(900)),
        ("Zbyt dużo nieudanych prób logowania, spróbuj ponownie za 15 minut.", Some(900)),
        ("Te veel onjuiste inlogpogingen, probeer het opnieuw over 15 minuten.", Some(900)),
        ("Çok fazla hatalı giriş denemesi, lütfen 15 dakika sonra tekrar deneyin.", Some(900)),
        ("ログイン試行回数を超えました。15分後に再度お試しください。", Some(900)),
        ("로그인 시도 횟수가 너무 많습니다. 15분 후에 다시 시도해 주세요.", Some(900)),
        ("登录尝试失败次数过多，请 15 分钟后再试。", Some(900)),
        ("登錄失敗的次數過多，請 15 分鐘後再試。", Some(900)),
        // MyBB.
        (
            "You have failed to login within the required number of attempts. You must now wait 0h 15m 0s before you can login again.",
            Some(900),
        ),
        ("您在允许的尝试次数内未能成功登录. 您现在必须等待 0 小时 15 分钟 0 秒才能再次尝试登录. ", Some(900)),
        (
            "Ya has fallado el número de intentos requeridos para iniciar sesión. Debes esperar 0h 15m 0s antes de volver a intentarlo.",
            Some(900),
        ),
        (
            "Vous n'avez pas réussi à vous connecter avec les tentatives de connexion permises. Vous devez maintenant attendre 0h 15m 0s \
             avant de pouvoir vous reconnecter.",
            Some(900),
        ),
        (
            "Size tanınan giriş deneme hakkınızı aştınız.Yeniden denemek için 0 Saat 15 Dakika 0 Saniye beklemek zorundasınız.",
            Some(900),
        ),
        (
            "İzin verilen giriş denemesi hakkınız bitti. Tekrar giriş yapabilmeniz için şimdi 0 saat 15 dakika 0 saniye beklemeniz \
             gerekmektedir.",
            Some(900),
        ),
        // SMF.
        ("Sorry, you are out of login chances.  Please come back and try again later.", None),
        (
            "Sorry, but you've reached your login attempts threshold.  Please wait 30 seconds and try again later.",
            Some(30),
        ),
        (
            "Lo sentimos, has alcanzado el máximo de intentos de ingreso. Espera 30 segundos e inténtalo de nuevo.",
            Some(30),
        ),
        (
            "Lo sentimos, por el momento no cuentas con intentos para ingresar.  Por favor, inténtalo nuevamente más tarde.",
            None,
        ),
        ("Du hast keine Versuche mehr. Bitte versuchen Sie es später nochmal.", None),
        (
            "Du hast die maximale Anzahl an Login-Versuchen verbraucht. Bitte warte mindestens 30 Sekunden bevor Du es erneut versuchst.",
            Some(30),
        ),
        ("抱歉, 您尝试登录的次数已经超过门槛。请30秒后再尝试。", Some(30)),
        ("Désolé, nombre de tentatives de connexion dépassé. Patientez 30 secondes et réessayez.", Some(30)),
        (
            "Przepraszamy, wyczerpałeś już ilość prób zalogowania. Odczekaj 30 sekund i spróbuj ponownie później.",
            Some(30),
        ),
        ("Sorry, je hebt het maximale aantal inlogpogingen gebruikt. Probeer het over 30 seconden nog eens.", Some(30)),
        ("Sorry, je hebt geen inlogkansen meer.  Kom later terug en probeer dan opnieuw.", None),
        // phpBB.
        ("You exceeded the maximum allowed number of login attempts.", None),
        ("Du hast die maximal zulässige Anzahl von Anmeldeversuchen überschritten.", None),
        ("Vous avez dépassé le nombre maximum de tentatives de connexion autorisées.", None),
        ("Has superado el número máximo de intentos de identificación permitidos.", None),
        ("Você excedeu o número máximo de tentativas de login permitidas.", None),
        ("Hai superato il numero massimo di tentativi di accesso consentiti.", None),
        ("Przekroczono maksymalną liczbę prób logowania.", None),
        ("Je hebt het maximum aantal toegestane inlogpogingen overschreden.", None),
        ("İzin verilen en fazla giriş denemesi sayısını aştınız.", None),
        ("Вы превысили максимально допустимое количество попыток входа.", None),
        ("您已超过最大允许的登录尝试次数。", None),
        ("您已超過最大允許的登入嘗試次數。", None),
        ("ログイン試行回数の上限に達しました", None),
        ("로그인 시도 횟수를 초과했습니다.", None),
        // Discuz!, vBulletin, XenForo, WordPress, Drupal, Keycloak, Firebase.
        ("密码错误次数过多，请 15 分钟后重新登录", Some(900)),
        ("密碼錯誤次數過多，請 15 分鐘後重新登錄", Some(900)),
        ("累计 5 次错误尝试，15 分钟内您将不能登录本站。", Some(900)),
        ("You have used up your failed login quota! Please wait 15 minutes before trying again.", Some(900)),
        ("Too many failed login attempts. Please try again in 20 minutes.", Some(1_200)),
        (
            "There have been more than 5 failed login attempts for this account. Try again later or request a new password.",
            None,
        ),
        ("登入嘗試過多，請 15 分鐘後再試", Some(900)),
        ("登入嘗試過於頻繁，請在 59 秒後再試", Some(59)),
        ("登录过于频繁，请5分钟后再试", Some(300)),
        ("Превышено количество неудачных попыток входа.", None),
        ("Превышено ограничение на количество попыток входа", None),
        ("ログイン試行回数超過。しばらく待ってください", None),
        ("로그인 시도가 너무 많습니다. 잠시 후 다시 시도해주세요.", None),
        ("Za dużo prób logowania. Spróbuj później.", None),
        ("Çok fazla başarısız giriş denemesi. Lütfen daha sonra tekrar deneyin.", None),
        ("Trop de tentatives de connexion. Réessayez plus tard", None),
        ("Muitas tentativas de login malsucedidas.", None),
        ("Demasiadas tentativas. Tente novamente em 15 minutos.", Some(900)),
        ("ログイン試行が規定回数を超えました。59秒後に再開できます。", Some(59)),
        ("로그인 시도 횟수가 초과되었습니다", None),
        ("Вы исчерпали количество попыток входа", None),
        ("Account is temporarily disabled; contact your administrator or retry later.", None),
    ] {
        for page in [format!("<p class=error>{said}</p>{FORM}"), format!("<p>{said}</p>")] {
            let form = page.contains(FORM).then_some(0);
            let view = View::of(&page).unwrap();
            let after = After {
                status: 200,
                view: &view,
                login_form: form,
                cookies_changed: false,
                before: None,
                has_read_captcha: false,
            };
            assert_eq!(judge(&after).verdict, Verdict::RateLimited, "{page}");
            assert!(is_limited(&after) && !says_refused(&after), "{page}");
            assert_eq!(names_wait(&view).map(|wait| wait.as_secs()), wait_s, "{page}");
        }
    }
}

/// Notices and refusals that speak of attempts.
#[test]
fn attempts_that_are_left_are_no_limit() {
    for said in [
        "You have 4 login attempts left.",
        "Sie haben noch 4 Anmeldeversuche.",
        "Il vous reste 4 tentatives de connexion.",
        "il vous reste <strong>4</strong> tentative(s) de connexion.",
        "Tienes 4 intentos de inicio de sesión más.",
        "Restam 4 tentativas de login.",
        "Ti restano 4 tentativi di accesso.",
        "Pozostały 4 próby logowania.",
        "Je hebt nog 4 inlogpogingen.",
        "4 giriş denemesi hakkınız kaldı.",
        "Осталось 4 попытки входа.",
        "您还有 4 次登录尝试机会.",
        "ログイン試行はあと4回です",
        "로그인 시도 4회 남음",
        "Number of login attempts: 1",
        "The limit is 5 login attempts an hour.",
        "Nombre maximum de tentatives : 5",
        "Máximo de intentos: 5",
        "Limite de tentativas: 5",
        "Numero massimo di tentativi: 5",
        "Maximale aantal inlogpogingen: 5",
    ] {
        let view = View::of(&format!("<p>{said}</p>{FORM}")).unwrap();
        assert_eq!(says_rate_limited(&view), None, "{said}");
    }
}

/// The password was looked at, whatever is asked for beside that: the same is not sent again by itself.
#[test]
fn a_refusal_beside_words_of_a_limit_is_one() {
    let before = View::of(&format!("<p>Welcome. Too many failed attempts lock an account.</p>{FORM}")).unwrap();
    for (said, expected) in [
        ("These credentials are not valid. Please try again later.", Verdict::WrongPassword),
        ("IDまたはパスワードが間違っています。しばらくしてから再度お試しください。", Verdict::WrongPassword),
        ("비밀번호가 올바르지 않습니다. 잠시 후 다시 시도해 주세요.", Verdict::WrongPassword),
        ("账号或密码有误，请稍后再试", Verdict::WrongPassword),
        ("Пароль введён неверно. Повторите попытку позже.", Verdict::WrongPassword),
        ("Passwort ungültig. Zu viele Anmeldeversuche führen zur Sperre.", Verdict::WrongPassword),
        ("La contraseña no es válida. Demasiados intentos bloquearán su cuenta.", Verdict::WrongPassword),
        ("Too many attempts with a wrong password. Try again in 15 minutes.", Verdict::RateLimited),
        ("Too many failed login attempts. Please try again later.", Verdict::RateLimited),
        ("密码错误次数过多，请15分钟后再试", Verdict::RateLimited),
    ] {
        let view = View::of(&format!("<p>{said}</p>{FORM}")).unwrap();
        let after = After::answered(&view, Some(0), Some(&before));
        assert_eq!(judge(&after).verdict, expected, "{said}");
    }
}

/// Whoever is locked for what he tried is locked until somebody unlocks him; where a time is named it is a limit.
#[test]
fn an_account_that_too_many_attempts_have_locked_is_locked() {
    for (said, expected) in [
        ("Account locked due to too many failed login attempts. Please contact the administrator.", Verdict::Locked),
        ("Cuenta bloqueada por demasiados intentos fallidos. Contacta con nosotros.", Verdict::Locked),
        ("密码错误次数过多账号已锁定，请联系管理员", Verdict::Locked),
        ("Account bloccato per troppi tentativi di accesso.", Verdict::Locked),
        ("Too many failed login attempts. Account locked. Contact staff.", Verdict::Locked),
        ("Too many failed login attempts. Account locked. Contact staff. We answer within 2 days.", Verdict::Locked),
        ("Too many failed login attempts. Account locked as a security measure.", Verdict::Locked),
        ("Too many failed login attempts. Try again in 3 days. Account locked.", Verdict::RateLimited),
        ("Too many failed login attempts. Account locked. Please try again later.", Verdict::RateLimited),
        ("You have exceeded 5 failed logins in 10 minutes. Your IP is blocked for 24 hours.", Verdict::RateLimited),
        ("Login temporarily disabled for your account until tomorrow.", Verdict::RateLimited),
        ("Too many failed login attempts. Account locked. Try again in 24 hours.", Verdict::RateLimited),
        (
            "Account locked due to too many failed login attempts.</p><p>Was it not you? Contact us.</p><p>It is unlocked in 30 minutes.",
            Verdict::RateLimited,
        ),
        ("Account locked due to too many failed login attempts. Try again in 15 minutes.", Verdict::RateLimited),
        ("Account temporarily locked due to too many login attempts.", Verdict::RateLimited),
        ("Too many login attempts. Your account will be locked.", Verdict::RateLimited),
        ("Too many login attempts. Is your account locked?", Verdict::RateLimited),
    ] {
        let view = View::of(&format!("<p>{said}</p>{FORM}<p>Users active over the past 5 minutes: 3</p>")).unwrap();
        let before = View::of(&format!("{FORM}<p>Users active over the past 5 minutes: 3</p>")).unwrap();
        let after = After::answered(&view, Some(0), Some(&before));
        assert_eq!(judge(&after).verdict, expected, "{said}");
    }
}

#[test]
fn a_captcha_that_too_many_tries_have_brought_is_for_a_person() {
    let said = "You exceeded the maximum allowed number of login attempts. In addition to your username and password you now also have to solve the CAPTCHA below.";
    let form = "<form method=post><input name=username><input type=password name=password>CAPTCHA</form>";
    let before = View::of(&form.replace("CAPTCHA", "")).unwrap();
    for (captcha, wait, expected) in [
        ("<input name=confirm_code>", "", Verdict::Captcha),
        ("<input name=confirm_code>", " Try again in 15 minutes.", Verdict::RateLimited),
        ("", "", Verdict::RateLimited),
    ] {
        let view = View::of(&format!("<p class=error>{said}{wait}</p>{}", form.replace("CAPTCHA", captcha))).unwrap();
        let after = After::answered(&view, Some(0), Some(&before));
        assert_eq!(judge(&after).verdict, expected, "{captcha}{wait}");
    }
}
