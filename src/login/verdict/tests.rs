//! Verdicts on real software's pages: `fixtures/login/verdicts.tsv`, and cases that do not fit into its rows.

use std::fmt::Write as _;

use super::rules::{RULES, decide};
use super::*;
use crate::scripts::words_of;

const FORM: &str = "<form method=post><input name=u><input type=password name=p></form>";
const NAV: &str = "<title>Wrong password?</title><ul id=nav><li><a href=/l>Log in</a></li><li><a href=/a>My account</a></li><li><a \
                   href=/p>Forgot your username or password?</a></li></ul>";

/// The places in the table's `context`; `api` is a field of JSON, `answer` the body of an API's response.
const PLACES: &[(&str, &str)] = &[
    ("page", "{SAID}"),
    ("form", "<p>{SAID}</p>{FORM}"),
    ("error", "<p class=error>{SAID}</p>{FORM}"),
    ("heading", "<h2>{SAID}</h2><p>Write to us.</p>{FORM}"),
    ("captcha", "<p>{SAID}</p>{CAPTCHA}"),
    ("alone", "<p>{SAID}</p>"),
    ("nav", "{NAV}<p>{SAID}</p>"),
    ("nav_form", "{NAV}<p>{SAID}</p>{FORM}"),
    ("users", "<p>{SAID}</p>{FORM}<p>Users active over the past 5 minutes: 3</p>"),
    (
        "timed",
        "<p>{SAID}</p><p>.</p><p>Page created in 0.052 seconds, or 0.052s with 1 query. Statistics of 30 days</p>",
    ),
];

/// The pages for its `before=`.
const BEFORE: &[(&str, &str)] = &[
    ("form", "{FORM}"),
    ("welcome", "<p>Welcome. Too many failed attempts lock an account.</p>{FORM}"),
    ("visitors", "<p>Visitors from over 120 countries, 5012 today</p>{FORM}"),
    ("users", "{FORM}<p>Users active over the past 5 minutes: 3</p>"),
];

/// A row of the table.
struct Row {
    line: usize,
    rules: Vec<&'static str>,
    places: Vec<&'static str>,
    /// The words of its context after the places.
    context: Vec<&'static str>,
    said: &'static str,
    verdict: &'static str,
    also: Vec<(&'static str, &'static str)>,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("../../../fixtures/login/verdicts.tsv").lines().enumerate();
    let rows = lines.filter(|(_, line)| !line.starts_with('#')).skip(1).map(|(at, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[rules, _, context, said, verdict, also] = &cells[..] else { panic!("line {}: {line}", at + 1) };
        let mut context = context.split(' ');
        Row {
            line: at + 1,
            rules: rules.split('+').collect(),
            places: context.next().unwrap().split('+').collect(),
            context: context.collect(),
            said,
            verdict,
            also: also.split(' ').filter_map(|of| of.split_once('=')).collect(),
        }
    });
    rows.collect()
}

fn filled(page: &str, said: &str) -> String {
    let captcha = format!("<div class='g-recaptcha'></div>{FORM}");
    let forum = || format!("<h1>Board</h1>{}", "<p>Topic: my account has been banned, wrong password?</p>".repeat(60));
    let page =
        page.replace("{SAID}", said).replace("{NAV}", NAV).replace("{CAPTCHA}", &captcha).replace("{FORM}", FORM);
    if page.contains("{FORUM}") { page.replace("{FORUM}", &forum()) } else { page }
}

/// The page with this text in one of the places, and its login form.
fn page_at(place: &str, said: &str) -> (View, Option<usize>) {
    let page = match place {
        "answer" => return (View::of_answer(said.as_bytes()).unwrap(), None),
        "api" => {
            let quoted =
                serde_json::json!({ "status": "error", "message": said, "unlocks": false, "account_locked": false });
            words_of(quoted.to_string().as_bytes())
        }
        place => filled(named(PLACES, place), said),
    };
    (View::of(&page).unwrap(), page.contains(FORM).then_some(0))
}

fn named(pages: &[(&str, &'static str)], name: &str) -> &'static str {
    pages.iter().find(|(of, _)| *of == name).unwrap_or_else(|| panic!("there is no place `{name}`")).1
}

fn name(verdict: Verdict) -> String {
    serde_json::to_value(verdict).unwrap().as_str().unwrap().to_owned()
}

impl Row {
    /// Deviations from the row.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let before = self.context.iter().find_map(|of| of.strip_prefix("before="));
        let before = before.map(|before| View::of(&filled(named(BEFORE, before), "")).unwrap());
        for (at, place) in self.places.iter().enumerate() {
            let (view, login_form) = page_at(place, self.said);
            let after = After {
                status: self.context.iter().find_map(|of| of.parse().ok()).unwrap_or(200),
                view: &view,
                login_form,
                cookies_changed: self.context.contains(&"cookies"),
                before: before.as_ref(),
                has_read_captcha: self.context.contains(&"read"),
            };
            let mut expect = |what: &str, expected: &str, found: String| {
                if expected != found {
                    faults.push(format!("{place}: {what} is {found}, and not {expected}"));
                }
            };
            match self.verdict.strip_prefix('!') {
                Some(other) if name(judge(&after).verdict) == other => {
                    expect("verdict", self.verdict, other.to_owned())
                }
                Some(_) => {}
                None if self.verdict == "-" => {}
                None => {
                    expect("verdict", self.verdict, name(judge(&after).verdict));
                    let rule = self.rules.get(at).or(self.rules.last()).unwrap();
                    expect("rule", rule, decide(&after).0.name.to_owned());
                }
            }
            for (key, expected) in &self.also {
                expect(key, expected, self.read(key, &after));
            }
        }
        faults
    }

    /// Other results for a response, by the key in the table.
    fn read(&self, key: &str, after: &After<'_>) -> String {
        let yes = |is_so: bool| if is_so { "yes" } else { "no" }.to_owned();
        let or_none = |of: Option<String>| of.unwrap_or_else(|| "none".to_owned());
        match key {
            // In seconds.
            "wait" => or_none(names_wait(after.view).map(|wait| wait.as_secs().to_string())),
            "limited" => yes(is_limited(after)),
            // Neither for a rate limit, which the right password meets too, nor for a server in trouble.
            "refused" => {
                let at = |status: &u16| says_refused(&After { status: *status, ..*after });
                let is_held = [200, 401, 403, 422].iter().all(at) && ![429, 500, 503].iter().any(at);
                if says_refused(after) && !is_held {
                    "refused at any status".to_owned()
                } else {
                    yes(says_refused(after))
                }
            }
            // On a page that is only this message.
            "alone" => yes(says_refused(&After::answered(&page_at("page", self.said).0, None, None))),
            "lock_minutes" => or_none(locked_for(after).map(|wait| (wait.as_secs() / 60).to_string())),
            "tries" => yes(counts_tries(after)),
            "code" => or_none(refuses_behind_code(after).map(name)),
            // The same verdict if the page before already said so.
            "same_before" => {
                let (same, form) = page_at("form", self.said);
                yes(name(judge(&After { view: &same, login_form: form, before: Some(&same), ..*after }).verdict)
                    == self.verdict)
            }
            _ => panic!("line {}: there is no key `{key}`", self.line),
        }
    }
}

#[test]
fn each_row_is_judged_as_it_says_and_by_the_rule_that_it_names() {
    let mut faults = String::new();
    for row in rows() {
        for fault in row.faults() {
            let _ = writeln!(faults, "line {}: {fault}: {}", row.line, row.said);
        }
    }
    assert!(faults.is_empty(), "fixtures/login/verdicts.tsv:\n{faults}");
}

#[test]
fn each_rule_has_its_rows_and_a_name_of_its_own() {
    let rows = rows();
    for (at, rule) in RULES.iter().enumerate() {
        assert!(rows.iter().any(|row| row.rules.contains(&rule.name)), "{}: no row names it", rule.name);
        assert!(RULES[..at].iter().all(|of| of.name != rule.name), "{}: two have this name", rule.name);
    }
}

#[test]
fn what_stands_beside_the_form_and_says_nothing_to_this_login_is_no_reason_why_it_came_back() {
    let head = format!("{FORM}<p>Login failed after update, help</p><p>My account has been locked</p>");
    let note = "<p>Note: You need cookies enabled to log in.</p>";
    for (before, after, expected) in [
        (format!("{FORM}{note}"), format!("<p>Sorry, no match.</p>{FORM}{note}"), Verdict::ProbablyRefused),
        // From the index to a separate page with a notice.
        (format!("{FORM}<h1>Forum</h1>"), format!("<p>Sorry, no match.</p>{FORM}{note}"), Verdict::ProbablyRefused),
        (format!("{FORM}<h1>Forum</h1>"), format!("<p>Please enable cookies.</p>{FORM}"), Verdict::NotLookedAt),
        (head.clone(), head.clone(), Verdict::ProbablyRefused),
        (head.clone(), format!("<p>Login failed.</p>{head}"), Verdict::WrongPassword),
        (head.clone(), format!("<p>Your account has been locked.</p>{head}"), Verdict::Locked),
        (head.clone(), "Login failed".to_owned(), Verdict::WrongPassword),
    ] {
        let [before, view] = [&before, &after].map(|page| View::of(page).unwrap());
        let login_form = after.contains(FORM).then_some(0);
        let answered = After::answered(&view, login_form, Some(&before));
        assert_eq!(judge(&answered).verdict, expected, "{after}");
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

#[test]
fn a_heading_that_is_new_may_be_the_reason() {
    let failed = format!("<p class=error>Login failed.</p>{FORM}");
    let is_refusal = |page: &str, before: Option<&str>| {
        let (view, before) = (View::of(page).unwrap(), before.map(|page| View::of(page).unwrap()));
        says_refused(&After::answered(&view, Some(0), before.as_ref()))
    };
    assert!(is_refusal(&format!("<h1>Members</h1>{failed}"), None));
    let page = format!("<h1>Service interruption</h1>{failed}");
    assert!(!is_refusal(&page, None));
    assert!(is_refusal(&page, Some(&format!("<h1>Service interruption</h1>{FORM}"))), "it was there before");
}

/// Sentences reach logs without a site's name; and each problem comes with its fix.
#[test]
fn each_sentence_has_a_hint_and_no_name_that_stands_for_a_site() {
    assert_eq!(SENTENCES.map(|(verdict, _)| verdict), Verdict::ALL);
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
