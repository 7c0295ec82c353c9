//! Sentences beside a login form that is back, in the words of real software where it is named: which of them end the tries of a pair that was
//! let in before.

use super::*;

fn is_refusal(page: &str, before: Option<&str>, status: u16) -> bool {
    let (view, before) = (View::of(page).unwrap(), before.map(|page| View::of(page).unwrap()));
    let form = view.forms.iter().position(|form| form.controls.len() == 2);
    let before = before.as_ref();
    says_refused(&After {
        status,
        view: &view,
        login_form: form,
        cookies_changed: false,
        before,
        has_read_captcha: false,
    })
}

fn beside_form(said: &str) -> String {
    format!("<p class=error>{said}</p>{FORM}")
}

/// What sites say to a password that they do not take, without naming it.
#[test]
fn beside_the_form_a_sentence_that_says_no_more_than_that_the_login_failed_refuses() {
    for said in [
        "Authentication failed.",
        "Authentication failure",
        "Bad username/password",
        "Bad credentials",
        "Login denied.",
        "Login failed.",
        "Login failed!<br>Try again.",
        "Login failed: please try again.",
        "Login failed. Have you forgotten your password?",
        "Error: login failed.",
        "Oops! Login failed",
        "Sign-in failed",
        "Login unsuccessful.",
        "Your login attempt was not successful, try again.",
        "Login incorrect",
        "Invalid login.",
        "Invalid login attempt.",
        "Invalid login, please try again.",
        "Sorry, invalid login details.",
        "Your login was rejected.",
        "The login details you entered are incorrect.",
        "No account found with that email.",
        "No such account.",
        "There is no user with that name, no user found.",
        "We couldn't find an account with that e-mail address.",
        "That account doesn't exist.",
        "Unknown user.",
        "Unknown username. Check again or try your email address.",
        "The requested user 'anna' could not be found.",
        "The username <b>anna</b> is not registered on this site.",
        "Member not found.",
        "This e-mail is not registered.",
        "Los datos de acceso no son correctos.",
        "La autenticación ha fallado.",
        "Anmeldung fehlgeschlagen.",
        "Login gescheitert!",
        "L'authentification a échoué.",
        "Falha: login incorreto",
        "Login fallito.",
        "Logowanie nie powiodło się.",
        "Inloggen mislukt.",
        "Giriş başarısız.",
        "Ошибка входа",
        "Вход не удался.",
        "Неудачная попытка входа.",
        "登录失败",
        "登录失败，请重新登录",
        "登录失败！请检查用户名和密码",
        "账号不存在",
        "登入失敗。",
        "ログインに失敗しました。",
        "ログインに失敗しました。もう一度お試しください。",
        "로그인에 실패했습니다.",
        "Login failed. You have 4 attempts left.",
        "登录失败，您还有 4 次机会",
        "Anmeldung fehlgeschlagen. Sie haben noch 3 Versuche.",
        "존재하지 않는 회원입니다.",
        "Anmeldung nicht erfolgreich.",
        "Gebruiker niet gevonden.",
        "Utilisateur inconnu.",
        "Usuario no encontrado",
        "该用户不存在",
        "登录失败，用户不存在",
        "Такой пользователь не найден",
        "Ошибка авторизации",
        "Échec de la connexion.",
        "Error de inicio de sesión.",
        "Falha no login.",
        "Accesso non riuscito.",
    ] {
        let page = beside_form(said);
        assert!([200, 401, 403, 422].iter().all(|status| is_refusal(&page, None, *status)), "{said}");
        assert!(![429, 500, 503].iter().any(|status| is_refusal(&page, None, *status)), "{said}");
        let alone = said.to_lowercase();
        let is_sure = phrases::WRONG.iter().any(|phrase| alone.contains(phrase)) || refuses(&alone);
        assert!(is_sure || !is_refusal(said, None, 200), "a page without a form: {said}");
    }
}

/// phpBB, MyBB, vBulletin, SMF, XenForo, Discuz!, NexusPHP, Laravel, Symfony, Spring Security, Devise, Keycloak, WordPress, Joomla, Invision,
/// Flarum and NodeBB name what is wrong.
#[test]
fn a_sentence_that_names_the_user_or_the_password_as_wrong_refuses() {
    for said in [
        "You have specified an incorrect password. Please check your password and try again.",
        "You have specified an incorrect username. Please check your username and try again.",
        "The username and password combination you entered is invalid.",
        "You have entered an invalid username or password. Please enter the correct details and try again. Don't forget that the \
         password is case sensitive.",
        "That username does not exist.",
        "Password incorrect",
        "Incorrect password. Please try again.",
        "Could not log you in: invalid password.",
        "用户名无效，密码错误或安全问题回答错误，您可以有至多 5 次尝试。",
        "登录失败，您还可以尝试 4 次",
        "用户名或密码不正确！",
        "These credentials do not match our records.",
        "The provided password is incorrect.",
        "Identifiants invalides.",
        "Ces identifiants ne correspondent pas à nos enregistrements.",
        "Diese Zugangsdaten stimmen nicht mit unseren Aufzeichnungen überein.",
        "Ungültige Anmeldedaten.",
        "Estas credenciales no coinciden con nuestros registros.",
        "Essas credenciais não foram encontradas em nossos registros. Senha incorreta.",
        "Credenziali non valide.",
        "Неверное имя пользователя или пароль.",
        "Неверный логин или пароль",
        "Nieprawidłowa nazwa użytkownika lub hasło.",
        "Uw gebruikersnaam of wachtwoord is onjuist.",
        "Kullanıcı adı veya şifre hatalı.",
        "認証情報と一致するレコードがありません。パスワードが違います。",
        "ユーザー名またはパスワードが正しくありません。",
        "メールアドレスまたはパスワードが間違っています",
        "비밀번호가 올바르지 않습니다.",
        "Invalid Email or password.",
        "Unrecognized username or password. Forgot your password?",
        "The password you entered for the username anna is incorrect.",
        "Error: Invalid username, email address or incorrect password.",
        "Username and password do not match or you do not have an account yet.",
        "Wrong password. After 3 tries your account is locked for 15 minutes.",
        "Please enter a correct username and password. Note that both fields may be case-sensitive.",
        "Sign in failed. Check your credentials.",
        "Warning! Username and password do not match or you do not have an account yet.",
        "Your login information was incorrect. Please try again.",
        "请输入一个正确的 用户名 和密码. 注意他们都是区分大小写的.",
        "Пожалуйста, введите правильные имя пользователя и пароль.",
        "ユーザー名とパスワードを確認してください。正しいユーザー名とパスワードを入力してください。",
        "No existe el usuario. Nombre de usuario o contraseña no válidos",
        "De inloggegevens zijn niet correct",
        "비밀번호가 틀립니다.",
    ] {
        assert!(is_refusal(&beside_form(said), None, 200), "{said}");
    }
}

/// What stands beside the same form where the site is in trouble, or something else is wrong.
#[test]
fn a_sentence_that_a_login_failed_for_another_reason_refuses_nobody() {
    for said in [
        "Login failed: database error",
        "Login failed. <p>The database is away.</p>",
        "Login failed</p><p>The authentication backend did not answer.</p>",
        "Login failed because of a technical problem.",
        "Login failed because our hamsters are tired.",
        "Login failed: our hamsters are tired.",
        "Login failed – read-only mode",
        "Login failed (disk full)",
        "Login failed: ECONNREFUSED",
        "Login failed: 502",
        "Login failed (error 1040)",
        "Login failed: Failed to fetch",
        "Login failed: Load failed",
        "Failed to fetch user information",
        "Failed to load your account.",
        "Failed to send the login e-mail.",
        "Login failed (LDAP).",
        "Login failed due to high load.",
        "Login failed. An unknown error occurred.",
        "An unknown error occurred while logging in.",
        "There is something wrong with our login.",
        "Something is wrong with your account, please write to us.",
        "The creation of a user profile was unsuccessful.",
        "Authentication failed: connection to 10.0.0.3 refused",
        "Authentication server timed out; login failed.",
        "Login failed, please try again later.",
        "Login failed. Try again once the tracker is back.",
        "Login failed. This is a read-only mirror.",
        "Login failed. Your account is being moved.",
        "Login denied: your IP address is not allowed.",
        "Login IP mismatch",
        "Login failed: user agent mismatch",
        "Login failed: your browser sent no referer.",
        "Login failed. Cookies must be enabled.",
        "Login failed. Your session was invalid.",
        "Login failed: invalid state",
        "Google login failed.",
        "Login denied while the board is under maintenance.",
        "Login is denied to members of this group.",
        "Logins are currently denied to members.",
        "Access denied.",
        "Access denied to your account.",
        "The account service is unavailable.",
        "mysqli_connect(): Access denied for user 'forum'@'localhost'",
        "Connection failed",
        "Login failed. Our tracker is being rebuilt, come back on Friday.",
        "The authentication provider rejected the login.",
        "Authentication failed: SSL handshake error",
        "Your login has failed the security check.",
        "Your account does not exist on this mirror.",
        "Your login was successful but your account could not be found in the new forum.",
        "Account not found in shard 3",
        "User not found in cache",
        "Authentication failed with exit status 1",
        "Login daemon failed",
        "Invalid login form",
        "Invalid login key",
        "Wrong domain for login",
        "You are using the wrong login page",
        "Wrong time: login is closed",
        "Login failed since the clock is wrong",
        "The security key is invalid. Please log in again.",
        "Anti-spam: login rejected",
        "Logins via Tor are denied",
        "Login denied. Please turn off your ad blocker.",
        "Die Anmeldung ist fehlgeschlagen, weil die Platte voll ist",
        "Anmeldung ist nur Administratoren erlaubt",
        "L'authentification a échoué car la base est indisponible",
        "La autenticación falló porque el disco está lleno",
        "Login falhou porque o disco está cheio",
        "Autenticazione fallita: disco pieno",
        "Logowanie nie powiodło się, bo dysk jest pełny",
        "Inloggen mislukt doordat de schijf vol is",
        "Giriş başarısız oldu çünkü disk dolu",
        "Авторизация не удалась: диск переполнен",
        "Вход не удался, так как идут работы",
        "登录失败，账号正在迁移中",
        "登录失败，请联系管理员",
        "登录接口调用失败",
        "登录状态失败",
        "账号数据找不到",
        "ログイン情報の取得に失敗しました",
        "ログイン状態の保存に失敗しました",
        "로그인 정보를 가져오는데 실패했습니다",
        "로그인 처리에 실패했습니다",
        "No such account type",
        "Account settings not found",
        "Login module 'user' not found",
        "Class 'User' not found",
        "Steam login failed",
        "2FA authentication failed",
        "Passkey login failed",
        // What runs behind it was not let in.
        "ORA-01017: invalid username/password; logon denied",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "Login failed for user 'sa'.",
        "FATAL: password authentication failed for user \"web\"",
        "SQL30082N Security processing failed (USERNAME AND/OR PASSWORD INVALID)",
        "ldap_bind(): Unable to bind to server: Invalid credentials",
        "Invalid login: 535-5.7.8 Username and Password not accepted",
        "Login failed, error 5",
        "Login failed #12",
        "Login failed. Turnstile was not solved.",
        "Login failed. Please solve the puzzle.",
        "User not found. Our database is empty.",
        "登录失败(10054)",
        "登录失败(5)",
        "登录失败 请更换线路",
        "登录失败，本站已更换域名",
        "账号不存在，请使用新站登录",
        "登录失败，人机验证失败",
        "登入失敗，請稍候",
        "ログインに失敗しました。ブラウザの設定をご確認ください。",
        "アカウントが見つかりません。移行中です。",
        "로그인에 실패했습니다. 관리자에게 문의하세요.",
        "Ошибка входа. Сайт переезжает.",
        "Пользователь не найден. Идёт импорт.",
        "Anmeldung fehlgeschlagen. Wir ziehen um.",
        "Compte introuvable sur ce miroir",
        "Utente non trovato nel nuovo sito",
        "Inloggen mislukt. We verhuizen.",
        "Giriş başarısız. Taşınıyoruz.",
        // Notices for everybody.
        "No account? <a href=/r>Sign up</a>",
        "Not registered? No account yet?",
        "Login failed? <a href=/lost>Reset your password</a>",
        "Wrong password? <a href=/lost>Reset it</a>",
        "No users online",
        "There are no members online, and no users on the chat.",
        "[6] failed logins in a row will result in banning",
        "If the login failed, clear your browser's data.",
        "Failed login attempts since your last visit",
        "Entering a wrong password three times locks the account",
        "[10] 次连续登录失败将导致账号被禁用",
        "如果密码错误超过5次，账号将被锁定",
        "您还可以尝试其他登录方式",
        "5回パスワードを間違えるとロックされます",
        "パスワードを正しく入力してください",
        "パスワードはお間違いのないようご入力ください",
        "ログイン画面が正しく表示されない場合はこちら",
        "비밀번호를 5회 잘못 입력하면 계정이 잠깁니다",
        "비밀번호 5회 이상 잘못 입력 시 로그인이 제한됩니다",
        "Wenn das Passwort falsch ist, fragen Sie uns.",
        "Si le mot de passe est incorrect, écrivez-nous.",
        "Si la contraseña no es correcta, escríbanos.",
        "Если пароль неверный, напишите нам.",
        // What may be said of whatever was asked for: a connection, or a page.
        "Anmeldung fehlgeschlagen: Verbindung zum Dienst verloren",
        "Anmeldung fehlgeschlagen: der Speicher ist voll",
        "Ein unbekannter Fehler ist bei der Anmeldung aufgetreten.",
        "Datenübertragung fehlgeschlagen",
        "Zugang verweigert",
        "Zugangsdaten konnten nicht gelesen werden",
        "Échec de la connexion au serveur",
        "Échec de la connexion. Échec de la connexion à la base.",
        "Error de inicio de sesión: disco lleno",
        "Échec de la connexion à la base",
        "Connexion refusée",
        "Le jeton de connexion est invalide",
        "Une erreur inconnue s'est produite lors de l'authentification",
        "Acceso denegado",
        "Acceso no válido",
        "Ha ocurrido un error desconocido al iniciar sesión",
        "Usuarios encontrados: 5",
        "Acesso negado",
        "Acesso inválido",
        "Ocorreu um erro desconhecido durante o login",
        "Accesso negato",
        "Si è verificato un errore sconosciuto durante il login",
        "Odmowa dostępu do konta",
        "Wystąpił nieznany błąd podczas logowania",
        "Er is een onbekende fout opgetreden bij het inloggen",
        "Toegang geweigerd",
        "Giriş sırasında bilinmeyen bir hata oluştu",
        "Giriş başarısız: sunucuya ulaşılamıyor",
        "Произошла ошибка при входе",
        "Произошла ошибка при авторизации, попробуйте ещё раз",
        "Ошибка получения данных",
        "Отказано в доступе к аккаунту",
        "登录失败，系统繁忙",
        "登录失败，与UCenter通信失败",
        "登录失败：硬盘已满",
        "登录时发生错误，请重试",
        "登录出现未知错误",
        "登入時發生錯誤",
        "用户页面不存在",
        "ログインに失敗しました。サーバーが応答しません。",
        "ログイン処理中にエラーが発生しました",
        "로그인 처리 중 오류가 발생했습니다",
        "잘못된 로그인 요청입니다",
        "서버 오류로 로그인에 실패했습니다",
        "Sorry, no match.",
        "Please log in.",
        "Something failed.",
    ] {
        assert!(!is_refusal(&beside_form(said), None, 200), "{said}");
    }
}

#[test]
fn a_heading_that_is_new_may_be_the_reason() {
    let failed = format!("<p class=error>Login failed.</p>{FORM}");
    assert!(is_refusal(&format!("<h1>Members</h1>{failed}"), None, 200));
    let page = format!("<h1>Service interruption</h1>{failed}");
    assert!(!is_refusal(&page, None, 200));
    assert!(is_refusal(&page, Some(&format!("<h1>Service interruption</h1>{FORM}")), 200), "it was there before");
}

/// JSON of an API below 500 is all of an answer; whatever else comes without a form may be of what stands in front.
#[test]
fn an_api_that_says_no_more_than_that_the_login_failed_refuses() {
    for (status, body, expected) in [
        (401, r#"{"error":"Login failed"}"#, true),
        (200, r#"{"success":false,"error":"login_failed"}"#, true),
        (422, r#"{"status":"error","message":"Falha no login."}"#, true),
        (500, r#"{"error":"Login failed"}"#, false),
        (429, r#"{"error":"Login failed"}"#, false),
        (401, r#"{"error":"Login failed","detail":"database is away"}"#, false),
        (401, r#"{"error":"Login failed: our hamsters are tired"}"#, false),
        (401, r#"{"login_failed":"?"}"#, false),
        (401, "Login failed", false),
    ] {
        let view = View::of_answer(body.as_bytes()).unwrap();
        let of = After {
            status,
            view: &view,
            login_form: None,
            cookies_changed: false,
            before: None,
            has_read_captcha: false,
        };
        assert_eq!(says_refused(&of), expected, "{status} {body}");
    }
}

#[test]
fn a_count_of_the_tries_that_are_left_is_one_of_tries_to_log_in() {
    let form = "<form method=post><input name=u><input type=password name=p></form>";
    let before = View::of(&format!("<p>Visitors from over 120 countries, 5012 today</p>{form}")).unwrap();
    for (said, expected) in [
        ("You have 1 attempts remaining.", true),
        ("Login failed. 2 attempts remaining.", true),
        ("登录失败，您还可以尝试 2 次", true),
        ("Noch 2 Versuche übrig.", true),
        ("Only 3 entries left in our Christmas raffle.", false),
        ("2 countries remaining", false),
        ("Visitors from over 120 countries, 5013 today", false),
        ("您今天还可以下载 3 次", false),
        ("신규 회원 모집 5자리 남았습니다", false),
        ("The CAPTCHA was wrong. 2 attempts left.", false),
    ] {
        for (page, login_form) in [(format!("<p>{said}</p>{form}"), Some(0)), (format!("<p>{said}</p>"), None)] {
            let view = View::of(&page).unwrap();
            let after = After::answered(&view, login_form, Some(&before));
            assert_eq!(counts_tries(&after), expected, "{page}");
        }
    }
}
