//! The sites, each with its fault and the verdict that it must get.

use super::*;

pub fn cases() -> Vec<Case> {
    let register = "<h2>Register</h2><form method=post action=register><input name=username placeholder='User name'>\
                    <input name=email type=email><input type=password name=password><input type=password name=password2>\
                    <input type=submit value='Create account'></form>";
    let reset = "<h2>Forgot your password?</h2><form method=post action=reset><input name=email type=email>\
                 <input type=submit value='Reset password'></form>";
    let search = "<form action=search><input name=user placeholder=Search><input type=submit value=Search></form>";
    let header = "<form method=post action=quick class=header><input name=user placeholder=User>\
                  <input type=password name=pass placeholder=Password><input type=submit value=Go></form>";
    let main = "<h1>Log in</h1><form method=post action=in id=login><label>Username <input name=username></label>\
                <label>Password <input type=password name=password></label>\
                <label><input type=checkbox name=remember value=1> Remember me</label>\
                <a href=lost>Forgot your password?</a><input type=submit name=go value='Log in'></form>";
    let main_body = &["username=anna&password=s3cret+%26+gr%C3%BCn&remember=1&go=Log+in"];
    let captcha = |picture: &str| {
        format!(
            "<img src=logo.png><form method=post action=in>Username: <input name=username> Password: \
             <input type=password name=password> Security code: <input name=seccode><img src='{picture}'>\
             <input type=submit name=go value='Log in'></form>"
        )
    };
    let captcha_body = &["username=anna&password=s3cret+%26+gr%C3%BCn&seccode=XKQ7&go=Log+in"];
    let question = |required: &str, none: &str| {
        format!(
            "<form method=post action=in>Username: <input name=username> Password: <input type=password name=password>\
             <select name=questionid>{none}<option value=1>Mother's name</option><option value=2>First pet</option></select>\
             Answer: <input name=answer {required}><input type=submit name=go value='Log in'></form>"
        )
    };
    vec![
        Case::new("plain", form()),
        Case::new("wrong", form()).accepts(&["nothing"]).ends(Verdict::WrongPassword, "wrong password", 1),
        Case::new("unknown-words", form())
            .page("wrong", format!("<p>Sorry, <b>no match</b>.</p>{}", form()))
            .accepts(&["nothing"])
            .ends(Verdict::ProbablyRefused, "the page says “Sorry, no match.”", 1),
        Case::new("unknown-words-with-the-password", form())
            .page("wrong", format!("<p>No match: s3cret & grün, 0a1b2c3d4e5f60718</p>{}", form()))
            .accepts(&["nothing"])
            .ends(Verdict::ProbablyRefused, "the page says “No match: ••••••, ••••••”", 1),
        Case::new("token-expired", format!("<p>NOTE: You need cookies enabled to log in</p>{}", form()))
            .page("wrong", format!("<p>Session expired, submit again.</p>{}", form()))
            .accepts(&["nothing"])
            .ends(Verdict::NotLookedAt, "session expired", 1),
        Case::new("frame", "<iframe src=ad></iframe><iframe src=frame/login.html></iframe>")
            .page("ad", "<p>Buy!")
            .page("frame/login.html", format!("<form method=post action=../in>{FIELDS}</form>")),
        Case::new("frame-of-the-named-page", "<p>nothing").page("who", "<iframe src=box></iframe>").page("box", form()),
        Case::new("frameset", "<html><frameset><frame src=ad><frame src=login></frameset></html>")
            .page("ad", "<p>Buy!")
            .page("login", form()),
        Case::new("frame-elsewhere", format!("<iframe src=//{ELSEWHERE}/sso/login></iframe>")).ends(
            Verdict::OtherSite,
            ELSEWHERE,
            0,
        ),
        Case::new("advertisement", format!("<iframe src=//{ELSEWHERE}/banner></iframe>")).ends(
            Verdict::NoForm,
            "neither",
            0,
        ),
        Case::new("link-elsewhere", format!("<a href=http://{ELSEWHERE}/>Log in</a>")).ends(
            Verdict::OtherSite,
            ELSEWHERE,
            0,
        ),
        Case::new("redirect-elsewhere", "<a href=login>Log in</a>")
            .page("login", format!("302 http://{ELSEWHERE}/authorize?client=1"))
            .ends(Verdict::OtherSite, ELSEWHERE, 0),
        Case::new("one-way-elsewhere", "<a href=login/other>Log in with Other</a><a href=login/own>Log in</a>")
            .page("login/other", format!("302 http://{ELSEWHERE}/authorize"))
            .page("login/own", format!("<form method=post action=../in>{FIELDS}</form>")),
        Case::new("action-elsewhere", format!("<form method=post action=http://{ELSEWHERE}/in>{FIELDS}</form>")).ends(
            Verdict::OtherSite,
            ELSEWHERE,
            0,
        ),
        Case::new(
            "accounts-elsewhere",
            format!("<form method=post action=http://{ELSEWHERE}/oauth><button>Sign in with Other</button></form>"),
        )
        .ends(Verdict::OtherSite, ELSEWHERE, 0),
        Case::new(
            "two-steps",
            "<form method=post action=next id=login>Username: <input name=username autocomplete=username>\
             <input type=submit value='Log in'></form>",
        )
        .page(
            "next",
            "<form method=post action=in><b>anna</b> <input type=hidden name=user value=anna>\
             Password: <input type=password name=password><input type=submit name=go value='Log in'></form>",
        )
        .accepts(&["username=anna", "user=anna&password=s3cret+%26+gr%C3%BCn&go=Log+in"]),
        // The tree knows no such form; its page, its field and its button identify it.
        Case::new("two-steps-linked", "<a href=account/login>Members</a>")
            .page(
                "account/login",
                "<h1>Welcome</h1><form method=post action=../step><input name=f1 type=email autocomplete='email'>\
                 <input type=hidden name=t value=7><button>Next</button></form>",
            )
            .page(
                "next",
                "<form method=post action=in><input type=email name=f1 value=anna readonly>\
                 <input type=password name=f2 autocomplete=current-password><button>Next</button></form>",
            )
            .accepts(&["f1=anna&t=7", "f1=anna&f2=s3cret+%26+gr%C3%BCn"]),
        Case::new(
            "letter",
            "<form method=post action=next id=login>Username: <input name=username autocomplete=username>\
             <input type=submit value='Log in'></form>",
        )
        .page("next", "<p>A letter is on its way to you.</p>")
        .accepts(&["username=anna", "never"])
        .ends(Verdict::SecondFactor, "asks for no password", 1),
        Case::new(
            "set-a-password",
            "<form method=post action=next id=login>Username: <input name=username autocomplete=username>\
             <input type=submit value='Log in'></form>",
        )
        .page(
            "next",
            "<p>New here?</p><form method=post action=in id=register>Your name: <input name=real>\
             Password: <input type=password name=p1 autocomplete=new-password>\
             Again: <input type=password name=p2 autocomplete=new-password><button>Register</button></form>",
        )
        .accepts(&["username=anna", "never"])
        .ends(Verdict::SecondFactor, "asks for no password", 1),
        Case::new("newsletter-on-login", "<a href=login>Log in</a>")
            .page(
                "login",
                "<form method=post action=news><input type=email name=mail autocomplete=email>\
                 <button>Subscribe to the newsletter</button></form><form method=post action=reset>\
                 <input type=email name=mail><button>Reset password</button></form>",
            )
            .ends(Verdict::NoForm, "pages that it links", 0),
        Case::new("pop-up", format!("<a href=#login>Login</a><div class=modal style='display: none'>{}</div>", form())),
        Case::new("dialog", format!("<dialog id=login>{}</dialog>", form())),
        Case::new("no-form", format!("<div>{FIELDS}</div>")).ends(Verdict::Script, "its fields belong to no form", 0),
        Case::new(
            "script-button",
            "<form method=post>Username <input name=username>Password <input type=password name=password>\
             <button type=button onclick=go()>Log in</button></form>",
        )
        .ends(Verdict::Script, "no button that submits", 0),
        Case::new("javascript", format!("<form method=post action='javascript:go()'>{FIELDS}</form>")).ends(
            Verdict::Script,
            "javascript:go()",
            0,
        ),
        Case::new("hash", format!("<form method=post action=in onsubmit='return sha256it(this)'>{FIELDS}</form>"))
            .ends(Verdict::Script, "return sha256it(this)", 0),
        Case::new("handler", format!("<form method=post action=in onsubmit='return filled(this)'>{FIELDS}</form>"))
            .ends(Verdict::LoggedIn, "which is not run", 1),
        Case::new("in-the-url", format!("<form action=in>{FIELDS}</form>")).ends(Verdict::SentByGet, "in the URL", 0),
        Case::new("identical", form() + &form()),
        Case::new("header-first", format!("{header}{main}")).accepts(main_body),
        Case::new("header-last", format!("{main}{header}")).accepts(main_body),
        Case::new("search", format!("{search}{}", form())),
        Case::new("others", format!("{register}{reset}{}{register}", form())),
        Case::new("others-alone", format!("{register}{reset}{search}")).ends(Verdict::NoForm, "neither", 0),
        Case::new("hundreds", search.repeat(450) + &form()),
        Case::new("thousands", search.repeat(20_000)).ends(Verdict::NoForm, "neither", 0),
        Case::new(
            "loose-fields",
            (0..20_000).map(|at| format!("<p><input type=password name=p{at}>")).collect::<String>(),
        )
        .ends(Verdict::NoForm, "neither", 0),
        Case::new("no-inputs", "<form></form><form method=post action=in><p>Log in</form>".repeat(9)).ends(
            Verdict::NoForm,
            "neither",
            0,
        ),
        Case::new(
            "broken-nesting",
            format!(
                "</div></form><table><form method=post action=in><tr><td>Username: <input name=username></p><td>Password: \
                 <b><input type=password name=password><p><input type=submit name=go value='Log in'></b></table></form><form>{search}"
            ),
        ),
        Case::new("deep", "<div>".repeat(3_000) + &form()).ends(Verdict::Unknown, "nests deeper", 0),
        Case {
            user: "安娜ü",
            ..Case::new(
                "gbk",
                "<meta charset=gbk><form method=post action=in>用户名: <input name=username> 密码: \
                 <input type=password name=password><input type=submit name=go value='登录'></form>",
            )
            .accepts(&["username=%B0%B2%C4%C8%A8%B9&password=s3cret+%26+gr%A8%B9n&go=%B5%C7%C2%BC"])
        },
        Case::new("no-action", format!("<form method=post>{FIELDS}</form>")),
        Case::new("empty-action", format!("<base href=/elsewhere/><form method=post action='  '>{FIELDS}</form>"))
            .ends(Verdict::ProbablyRefused, "404", 0),
        Case { cookie: "sid=member; Path=/; Expires=Foo, 99 Bar 20 99:99", ..Case::new("bad-date", form()) },
        Case {
            cookie: "sid=member; Path=/; Max-Age=3600; Expires=Thu, 01 Jan 2015 00:00:00 GMT",
            ..Case::new("clock-behind", form())
        },
        Case { cookie: "sid=member; Path=/; Expires=Fri, 31 Dec 9999 23:59:59 GMT", ..Case::new("far-future", form()) },
        Case {
            cookie: "sid=member; Path=/; Expires=Thu, 01 Jan 2015 00:00:00 GMT",
            ..Case::new("expired", form()).ends(Verdict::ProbablyRefused, "the login form is back", 1)
        },
        Case::new("no-hint", "<p>Hello <a href=login>Log in</a>")
            .page("login", form())
            .page("wrong", "<p>Thank you.")
            .accepts(&["nothing"])
            .ends(Verdict::ProbablyRefused, "no login form", 1),
        Case::new("loop", "<a href=login>Log in</a>").page("login", "302 login").ends(
            Verdict::RedirectLoop,
            "redirect loop: ",
            0,
        ),
        Case::new("captcha", captcha("code.png")).accepts(captcha_body).ends(Verdict::Captcha, "asks for `seccode`", 0),
        Case::new("widget", form().replace("</form>", "<div class=g-recaptcha></div></form>")).ends(
            Verdict::Captcha,
            "g-recaptcha",
            0,
        ),
        Case::new(
            "widget-elsewhere",
            form() + "<form><textarea name=comment></textarea><div class=h-captcha></div></form>",
        ),
        Case::new("question", question("required", "")).ends(Verdict::SecondFactor, "security question", 0),
        Case::new("question-none", question("", "<option value=0>none"))
            .accepts(&["username=anna&password=s3cret+%26+gr%C3%BCn&questionid=0&answer=&go=Log+in"]),
        Case {
            rules: "fields = { questionid = '2', answer = 'Rex' }",
            ..Case::new("question-set", question("required", ""))
                .accepts(&["username=anna&password=s3cret+%26+gr%C3%BCn&questionid=2&answer=Rex&go=Log+in"])
        },
        Case::new("second-factor", form())
            .page("next", "<h1>Two-factor authentication</h1><form method=post action=2fa><input name=code></form>")
            .accepts(&[BODY, "code=123456"])
            .ends(Verdict::SecondFactor, "a field for a one-time code: code", 1),
    ]
}

/// Sites with a person at the terminal, and the answer to each question.
pub fn cases_with_a_person() -> Vec<(Case, Vec<(Wanted, &'static str)>)> {
    let all = |name: &str| cases().into_iter().find(|case| case.name == name).unwrap();
    let with = |case: Case, name| Case {
        name,
        verdict: Verdict::LoggedIn,
        posts: case.accepts.len(),
        says: "has a link",
        ..case
    };
    let captcha = || all("captcha");
    let data = "data:image/gif;base64,R0lGODlh";
    let moved = |case: Case, source: &str| {
        let pages = case.pages.into_iter().map(|(path, html)| (path, html.replace("code.png", source))).collect();
        Case { pages, ..case }
    };
    vec![
        (with(captcha(), "asked-captcha").page("code.png", "png"), vec![(Wanted::Captcha, "XKQ7")]),
        (with(moved(captcha(), data), "asked-data"), vec![(Wanted::Captcha, "XKQ7")]),
        (
            with(captcha(), "asked-again")
                .page("code.png", "png")
                .page("wrong", format!("验证码错误{}", captcha().pages[0].1))
                .ends(Verdict::LoggedIn, "has a link", 2),
            vec![(Wanted::Captcha, "XKQI"), (Wanted::Captcha, "XKQ7")],
        ),
        (
            with(captcha(), "asked-in-vain")
                .page("code.png", "png")
                .page("wrong", format!("验证码错误{}", captcha().pages[0].1))
                .ends(Verdict::Captcha, "验证码错误", 2),
            vec![(Wanted::Captcha, "1"), (Wanted::Captcha, "2")],
        ),
        (
            // The person's text may be right: the password is not sent again.
            with(captcha(), "refused-behind-a-captcha")
                .page("code.png", "png")
                .page("wrong", format!("<p>Sorry, no match.</p>{}", captcha().pages[0].1))
                .accepts(&["nothing"])
                .ends(Verdict::ProbablyRefused, "the login form is back", 1),
            vec![(Wanted::Captcha, "XKQ7")],
        ),
        (
            with(captcha(), "asked-for-nothing").page("code.png", "png").ends(Verdict::Captcha, "no answer was typed", 0),
            vec![(Wanted::Captcha, "")],
        ),
        (with(captcha(), "no-picture").page("code.png", "<p>not one").ends(Verdict::Captcha, "not a picture", 0), vec![]),
        (
            with(moved(captcha(), &format!("http://{ELSEWHERE}/x.png")), "picture-elsewhere").ends(
                Verdict::Captcha,
                ELSEWHERE,
                0,
            ),
            vec![],
        ),
        (with(all("second-factor"), "asked-code"), vec![(Wanted::Code, "123456")]),
        (
            with(all("second-factor"), "wrong-code")
                .page(
                    "wrong",
                    "<h1>Two-factor authentication</h1>Try again<form method=post action=2fa><input name=code></form>",
                )
                .ends(Verdict::SecondFactor, "a one-time code", 2),
            vec![(Wanted::Code, "000000")],
        ),
        (
            with(all("second-factor"), "code-back-to-the-form")
                .page(
                    "wrong",
                    "<h1>Log in</h1>Sorry, no match.<form method=post action=in>Username <input name=username> Password \
                     <input type=password name=password><input type=submit value='Log in'></form>",
                )
                .ends(Verdict::SecondFactor, "the one-time code was not accepted", 2),
            vec![(Wanted::Code, "000000")],
        ),
        (
            with(all("second-factor"), "code-asked-of-everybody")
                .page(
                    "wrong",
                    "<h1>Log in</h1>Login failed: wrong user name or password.<form method=post action=in>Username <input \
                     name=username> Password <input type=password name=password><input type=submit value='Log in'></form>",
                )
                .ends(Verdict::WrongPassword, "wrong user name", 2),
            vec![(Wanted::Code, "000000")],
        ),
        (
            with(all("question"), "asked-question")
                .accepts(&["username=anna&password=s3cret+%26+gr%C3%BCn&questionid=2&answer=Rex&go=Log+in"]),
            vec![(Wanted::Choice, "2"), (Wanted::Answer, "Rex")],
        ),
        (
            with(all("question"), "no-such-question").ends(Verdict::SecondFactor, "names none", 0),
            vec![(Wanted::Choice, "9")],
        ),
    ]
}
