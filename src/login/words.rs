//! The words by which forms and fields tell what they are for, in the languages of the sites that are crawled.
//!
//! One table of data and one search over it. Texts are folded first: lower case, no accents, single spaces, one in
//! front and one behind; a space in a word of the table is therefore the border of a word. Words of scripts that part
//! none stand without. The languages: English, Chinese (both scripts), Japanese, Korean, Russian, German, French,
//! Spanish, Portuguese, Italian, Polish, Dutch, Turkish.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// What a word speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The act of logging in.
    Login,
    Register,
    /// A forgotten password.
    Reset,
    Search,
    Newsletter,
    /// Comments and letters to the owner.
    Comment,
    /// Carts, orders, payment.
    Order,
    User,
    Email,
    Password,
    /// A second entry of the same.
    Confirm,
    Remember,
    Captcha,
    /// One-time codes.
    SecondFactor,
    Question,
    Answer,
    /// Surnames, addresses, birthdays, terms: what a registration asks for and a login does not. `Nome` and `имя` alone
    /// are also what users are called.
    Person,
    /// Another site's account.
    OtherAccount,
    Logout,
    /// Traps for machines that fill in everything.
    Honeypot,
}

/// Topics of the table.
pub const TOPICS: usize = Topic::Honeypot as usize + 1;

/// How often each topic is spoken of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u16; TOPICS]);

impl Tally {
    #[must_use]
    pub fn of(&self, topic: Topic) -> u16 {
        self.0[topic as usize]
    }

    #[must_use]
    pub fn has(&self, topic: Topic) -> bool {
        self.of(topic) > 0
    }

    /// Topics of a list that are spoken of.
    #[must_use]
    pub fn any(&self, topics: &[Topic]) -> bool {
        topics.iter().any(|topic| self.has(*topic))
    }

    fn add(&mut self, topic: Topic) {
        let count = &mut self.0[topic as usize];
        *count = count.saturating_add(1);
    }
}

/// A text under construction in its folded form.
#[derive(Clone, Debug)]
pub struct Folded(String);

impl Default for Folded {
    fn default() -> Self {
        Self(String::from(" "))
    }
}

impl Folded {
    /// Folds one text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut folded = Self::default();
        folded.add(text);
        folded
    }

    /// Adds a text as words of its own. In `userName` and `user_name` there are two.
    pub fn add(&mut self, text: &str) {
        self.add_up_to(text, usize::MAX);
    }

    /// Adds the beginning of a text, up to some bytes of the folded form.
    pub fn add_up_to(&mut self, text: &str, bytes_max: usize) {
        let end = self.0.len().saturating_add(bytes_max);
        // Folding seldom makes a text longer.
        self.0.reserve(text.len().min(bytes_max) + 1);
        let mut after_small = false;
        for character in text.chars() {
            if self.0.len() >= end {
                break;
            }
            if character.is_ascii() {
                if character.is_ascii_uppercase() && after_small {
                    self.part();
                }
                after_small = character.is_ascii_lowercase();
                if character.is_ascii_alphanumeric() {
                    self.0.push(character.to_ascii_lowercase());
                } else {
                    self.part();
                }
                continue;
            }
            after_small = false;
            for small in character.to_lowercase() {
                match fold(small) {
                    Some(plain) => self.0.push_str(plain),
                    None if small.is_alphanumeric() || small == 'ー' => self.0.push(small),
                    // The dot that Turkish İ leaves behind.
                    None if small == '\u{307}' => {}
                    None => self.part(),
                }
            }
        }
        self.part();
    }

    fn part(&mut self) {
        if !self.0.ends_with(' ') {
            self.0.push(' ');
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Counts the topics. Words that overlap count each for itself.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let (search, topics) = &*SEARCH;
        for found in search.find_overlapping_iter(&self.0) {
            tally.add(topics[found.pattern().as_usize()]);
        }
        tally
    }
}

/// Letters of the Latin languages without their marks; nothing for all others.
fn fold(letter: char) -> Option<&'static str> {
    Some(match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' | 'ă' => "a",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ı' => "i",
        'ł' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' => "o",
        'ř' => "r",
        'ś' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ť' | 'ț' => "t",
        'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'æ' => "ae",
        'œ' => "oe",
        'ё' => "е",
        _ => return None,
    })
}

static SEARCH: LazyLock<(AhoCorasick, Vec<Topic>)> = LazyLock::new(|| {
    let pairs = || {
        let split = |(topic, lines): &(Topic, &'static [&'static str])| {
            let topic = *topic;
            lines.iter().flat_map(|line| line.split('|')).map(move |word| (topic, word))
        };
        WORDS.iter().flat_map(split)
    };
    // Three times as fast as the automaton that would be chosen for so many words, for 3.4 MB and 11 ms once.
    let search = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(pairs().map(|(_, word)| word));
    // The table is a constant of some thousand letters; a search is refused from 2³¹ states on.
    (search.expect("the table of words is small"), pairs().map(|(topic, _)| topic).collect())
});

/// Words of a topic, a line for each language or two, parted by `|`.
#[rustfmt::skip] // A line is a language.
const WORDS: &[(Topic, &[&str])] = &[
    (Topic::Login, &[
        "login| log in | log me in | log on |logon| sign in |signin| sign on |signon| auth | authn |authenti| logging in | signing in | do log ",
        "登录|登入|登陆|登錄|登陸|ログイン|サインイン|ログオン|로그인",
        " войти| вход |авториза| авторизов| вхід | увійти",
        " anmelden | einloggen|anmeldung| log dich ein",
        " se connecter| connexion | connectez | connecter | identifiez | s identifier ",
        " iniciar sesion| inicia sesion| inicio de sesion| acceder | entrar | ingresar | ingreso | conectarse | inicie sesion",
        " iniciar sessao| acessar | aceder | inicie sessao",
        " accedi | accesso | entra | connettiti ",
        " zaloguj|logowanie| inloggen | aanmelden | meld je aan | giris yap | oturum ac | uye girisi | giris | girisi ",
        " belepes | bejelentkez| prihlasit| prihlaseni | logga in | logg inn | log ind ",
    ]),
    (Topic::Register, &[
        " sign up|signup| register | register| registration|regform| create account| create an account| create a new account",
        " create your account| create my account|createaccount| new account|newaccount| new user|newuser| new member| join ",
        " become a member| get started | start your free| free trial| new customer| regist |registerform",
        "注册|註冊|新規登録|会員登録|新規会員|ユーザー登録|利用規約|회원가입|가입하기",
        "регистрац|зарегистрир|реєстрац",
        " registrier| konto erstellen| konto anlegen| neues konto| neu hier| neukunde",
        " inscription| inscri| creer un compte| creer mon compte| creer votre compte| nouveau compte| nouveau client",
        " registr| crear cuenta| crear una cuenta| crear mi cuenta| date de alta| cadastr| criar conta| criar uma conta",
        " iscriviti| iscrizione| iscriv| crea account| crea un account| crea il tuo account",
        "zarejestruj|rejestrac| zaloz konto| utworz konto| account aanmaken| maak een account| kayit ol| kaydol| uye ol | hesap olustur| yeni uye",
        "regisztr",
    ]),
    (Topic::Reset, &[
        " forgot|forgot| lost password| lost your password|lostpassword|lostpw|lostpass| reset password| reset your password|resetpassword|resetpass",
        " password reset|passwordreset| recover| remind|reminder| retrieve | password help| new password | having trouble| can t access| send password",
        "忘记密码|忘記密碼|找回密码|找回密碼|重置密码|重設密碼|取回密码|忘记了密码",
        "パスワードを忘れ|パスワードをお忘れ|パスワードの再|パスワード再|お忘れの方|再発行|비밀번호 찾기|비밀번호찾기|비밀번호를 잊|비밀번호 재설정|아이디 찾기",
        " забыли| забыл|восстанов| напомнить | напомним| потеряли",
        " vergessen| passwort anfordern| passwort zuruck| neues passwort",
        " oublie| perdu | reinitialis",
        " olvid| recuperar | recupera | restablecer| esquec| esqueci| redefinir| recuperacao",
        " dimenticat| recupero | smarrit| reimposta",
        " zapomni| nie pamiet| przypomnij| odzyskaj| reset hasla| vergeten | unuttum| sifremi unut| sifre sifirla",
        " elfelejt| emlekezteto",
    ]),
    (Topic::Search, &[
        "search| find | query | keyword| lookup | filter| q ",
        "搜索|搜尋|查找|检索|检 索|検索|검색",
        "поиск| искать| найти",
        "suche| finden | recherch| chercher | buscar| busqueda| busca | pesquis| procurar | cerca | ricerca ",
        " szuka| wyszuk|zoeken| zoek | ara | arama ",
    ]),
    (Topic::Newsletter, &[
        "newsletter|subscri|mailing list|mailinglist|mailchimp| mc embedded| email updates| email list| e news| stay in touch| stay informed",
        " stay up to date| get updates| keep me updated",
        "订阅|訂閱|電子報|メルマガ|メールマガジン|購読|구독|뉴스레터",
        "подписа|подписк|рассылк",
        " abonnieren| abonn|infolettre| suscri| boletin | assinar | inscreva| subskry| biuletyn| zapisz sie|nieuwsbrief| abonneer| abone | bulten",
    ]),
    (Topic::Comment, &[
        "comment| contact us | contact form|contactform| contact | feedback | your message| message | reply | inquiry| enquiry| review | submit post",
        "评论|評論|留言|发表|發表|回复|回覆|联系我们|聯絡我們|コメント|お問い合わせ|お問合せ|댓글|문의하기",
        "комментар| сообщени| отзыв",
        "kommentar| nachricht | kontaktformular| votre message| comentario| mensaje | mensagem| commento| messaggio| komentarz| wiadomosc| reactie| bericht | yorum| mesaj",
    ]),
    (Topic::Order, &[
        "checkout| cart | basket | order | add to | buy | payment| coupon| quantity| shipping| billing| donat| purchase",
        "购物车|購物車|结算|結帳|购买|購買|下单|カート|注文|購入|장바구니|주문|구매",
        " корзин| купить| заказ",
        "warenkorb| bestell| kaufen | panier | commande | acheter | carrito| comprar | pedido | carrinho| carrello| acquista| koszyk| zamow|winkelwagen| sepet| satin al",
    ]),
    (Topic::User, &[
        "user|login| uname | nick|nickname| account | member | memberid | logname | screenname| screen name| handle | customer number| customer id| card number| card no",
        "用户|用戶|帐号|账号|帳號|賬號|帐户|账户|会员名|會員|昵称|使用者|ユーザ|アカウント|会員番号|会員id|ログインid|아이디|사용자|계정",
        " логин|имя пользователя|пользовател| ник |псевдоним",
        "benutzer| nutzername| anmeldename| kundennummer| mitgliedsname|utilisateur| identifiant| pseudo",
        " usuario| apodo | utilizador| utente | uzytkownik| nazwa uzytk|gebruiker|kullanici| uye ad| felhasznalo",
    ]),
    (Topic::Email, &[
        "email| e mail| mail | mailaddress|emailaddress| mailaddr",
        "邮箱|郵箱|邮件|郵件|信箱|メール|이메일|전자우편",
        " почт| емейл| имейл|courriel| correo| e posta | eposta ",
    ]),
    (Topic::Password, &[
        "password|passwd|passwort| pass | pwd|pwd | passwrd|passphrase| pw | user pass|userpass| psw| pin code | passcode",
        "密码|密碼|口令|パスワード|비밀번호|암호|пароль|пароля| парол",
        "kennwort| mot de passe| mdp | motdepasse| contrasena| clave | senha | palavra passe| haslo |wachtwoord| sifre| parola| jelszo",
    ]),
    (Topic::Confirm, &[
        "confirm| repeat| retype | re enter|reenter| re type| again | verify password|password2 | password 2|passwd2|pwd2|pass2 | pass 2| conf | twice",
        "确认密码|確認密碼|重复密码|重複密碼|再次输入|再次輸入|確認用|もう一度|再入力|비밀번호 확인|재입력",
        "подтвержд|подтверд| повтор| еще раз",
        " bestatig| wiederhol| retap| ressais| repetir| repita| repite| conferma| ripeti| potwierdz| powtorz| bevestig| herhaal| tekrar",
    ]),
    (Topic::Remember, &[
        "remember| keep me | keep signed| keep logged| stay logged| stay signed|staylogged|autologin| auto login| auto log| always log| persistent|persist",
        "cookietime|savelogin| save login| save password| save my| keeplog| log me on| log me in auto|cookielength| rememberme|rembme| permanent",
        "记住|記住|自动登录|自動登入|自動登錄|保持登录|保持登入|下次自动|登录有效期|记住我|ログイン状態|次回から|自動ログイン|自動的にログイン|ログインしたまま",
        "로그인 상태|로그인상태|자동 로그인|자동로그인|로그인 유지|아이디 저장|아이디저장",
        " запомни| не выходить| оставаться в системе| чужой компьютер| запам",
        " angemeldet bleiben| eingeloggt bleiben| merken | dauerhaft| automatisch anmelden",
        " se souvenir| souvenir de moi| rester connecte| memoriser| connexion automatique| garder ma session",
        " recordar| recuerdame| recuerda | no cerrar sesion| mantener | lembrar| lembre| manter | permanecer| continuar conectado",
        " ricorda| resta connesso| rimani connesso| mantieni | collegato",
        " zapamietaj| pamietaj| nie wylogowuj| onthoud| ingelogd blijven| aangemeld blijven| hatirla| oturumu acik",
    ]),
    (Topic::Captcha, &[
        "captcha| security code|seccode| verify code|verifycode| vcode | vericode|verification code|validation code|imagestring| checkcode|check code|validatecode|validcode",
        " image text| characters in| text in the image| code shown| confirm code| visual confirmation| imagehash|authcode|yzm| anti spam|antispam| turing| are you human",
        "验证码|驗證碼|校验码|图形码|附加码|画像認証|画像の文字|認証文字|보안문자|자동등록방지|자동입력",
        "код с картин|проверочный код|защитный код|код на картин| символы с|код подтвержд",
        "sicherheitscode| code de securite| code de verification| recopie| codigo de seguridad| codigo de verificac| codigo da imagem| codice di sicurezza| codice di controllo| kod z obrazka| przepisz| beveiligingscode| guvenlik kodu| dogrulama kodu",
    ]),
    (Topic::SecondFactor, &[
        " two factor| twofactor| 2fa|2fa | otp | totp | onetime| one time| authenticator| two step| twostep| mfa | tfa | two fa| authentication code| onetimecode| auth code ",
        "动态密码|动态口令|两步验证|二次验证|双重验证|双因素|两步|兩步驟|二步|雙重|安全令牌|二段階認証|2段階認証|ワンタイム|二要素|인증번호|일회용|2단계|otp",
        "двухфактор|двухэтап|одноразов",
        " zwei faktor| zweifaktor| einmal| deux facteurs| double authentification| code a usage| dos factores| dos pasos| doble factor| dois fatores| duas etapas| due fattori| due passaggi| dwuetap| dwuskladnik| jednorazow| tweestaps| twee factor| eenmalig| iki adimli| iki faktor| tek kullanimlik",
    ]),
    (Topic::Question, &[
        " security question|securityquestion| secret question|secretquestion|questionid| question |question| qid ",
        "安全问题|安全提问|安全提問|安全問題|密保问题|秘密の質問|비밀번호 질문|секретный вопрос|контрольный вопрос",
        " sicherheitsfrage| question secrete| question de securite| pregunta| pergunta| domanda| pytanie| beveiligingsvraag| geheime vraag| guvenlik sorusu| gizli soru",
    ]),
    (Topic::Answer, &[
        "answer|答案|回答|問題答案|秘密の答え|질문 답|ответ| antwort| reponse| respuesta| resposta| risposta| odpowiedz| antwoord| cevap",
    ]),
    (Topic::Person, &[
        " first name|firstname| fname | last name|lastname| lname |surname| full name|fullname| birth|birthday| dob | gender | sex |country| city | zip |zipcode|postal|postcode",
        "phone| mobile |telephone| address1| street| company| terms | i agree| i accept| i have read| agree to |agreement| state ",
        "姓名|真实姓名|性别|性別|生日|电话|電話|手机|手機|地址|服务条款|服務條款|同意|氏名|お名前|生年月日|住所|郵便番号|이름|생년월일|전화|주소|약관",
        " фамили|дата рождения| телефон| адрес | город| согла",
        "vorname|nachname| geburt| strasse| plz | telefon| stadt | agb | prenom| naissance| adresse | ville | pays | telephone| conditions",
        " apellido| nacimiento| telefono| ciudad| terminos| sobrenome| apelido| nascimento| telefone| cidade| termos| cognome| nascita| citta | termini",
        " imie | nazwisko| urodzenia| miasto | regulamin| voornaam| achternaam| geboorte| voorwaarden| adiniz| soyad| dogum| sehir | sozlesme",
    ]),
    (Topic::OtherAccount, &["openid|oauth|facebook| fbconnect| fb connect| client cert|clientcert|google|twitter|yandex|vkontakte|mailru| saml | sso | wechat|weixin| qq "]),
    (Topic::Logout, &[
        "logout| log out |logoff| log off |signout| sign out |退出|登出|注销|ログアウト|サインアウト|로그아웃| выход | выйти |abmelden|ausloggen| deconnexion| deconnecter| cerrar sesion| terminar sessao| encerrar| esci | disconnetti| wyloguj|uitloggen|afmelden| cikis",
    ]),
    (Topic::Honeypot, &["honeypot| honey | leave this field| leave blank| leave empty| do not fill| don t fill| if you are human"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_table_is_written_as_texts_are_folded() {
        for (topic, words) in WORDS {
            for word in words.iter().flat_map(|of| of.split('|')) {
                let folded = Folded::of(word);
                assert_eq!(folded.as_str().trim(), word.trim(), "{topic:?}: `{word}` would never be met");
                assert!(word.trim().chars().count() > usize::from(word.is_ascii() && !word.contains(' ')), "{word:?}");
            }
        }
    }

    #[test]
    fn topics_are_told_in_each_language() {
        for (text, topic) in [
            ("Log in", Topic::Login),
            ("會員登入", Topic::Login),
            ("登录", Topic::Login),
            ("ログイン", Topic::Login),
            ("로그인", Topic::Login),
            ("ВОЙТИ", Topic::Login),
            ("Anmelden", Topic::Login),
            ("Se connecter", Topic::Login),
            ("INICIAR SESIÓN", Topic::Login),
            ("Iniciar sessão", Topic::Login),
            ("Accedi", Topic::Login),
            ("Zaloguj się", Topic::Login),
            ("Inloggen", Topic::Login),
            ("GİRİŞ YAP", Topic::Login),
            ("Şifremi unuttum", Topic::Reset),
            ("Mot de passe oublié ?", Topic::Reset),
            ("userName", Topic::User),
            ("忘記密碼?", Topic::Reset),
            ("Kayıt Ol", Topic::Register),
            ("Créer un compte", Topic::Register),
        ] {
            assert!(Folded::of(text).tally().has(topic), "{text}: {}", Folded::of(text).as_str());
        }
    }

    #[test]
    fn words_within_words_of_another_sense_are_not_met() {
        for (text, topic) in [
            ("blog in English", Topic::Login),
            ("design in Rust", Topic::Login),
            ("the author", Topic::Login),
            ("joint", Topic::Register),
            ("compass", Topic::Password),
        ] {
            assert!(!Folded::of(text).tally().has(topic), "{text}");
        }
    }
}
