//! Logging in by a JSON API: one POST of an object, whose answer carries a token. The token stays with the session's cookies
//! and goes as `Authorization: Bearer` to the origin that gave it, and nowhere else.

use serde_json::{Map, Value};

use super::reading::Answer;
use super::{Run, Step, ends};
use crate::fetch::Post;
use crate::limits;
use crate::login::secret::{MASK, told_url};
use crate::login::verdict::{After, Judged, Verdict};
use crate::login::view::View;
use crate::rules::JsonLogin;

impl Run<'_> {
    pub(super) async fn log_in_by_json(&mut self, json: &JsonLogin) -> Step<Judged> {
        let rules = self.means.rules;
        let mut object = Map::new();
        let mut shown = Vec::new();
        for (name, value) in &rules.fields {
            object.insert(name.to_string(), Value::from(&**value));
            shown.push(format!("{name}={MASK}"));
        }
        object.insert(json.user.to_string(), Value::from(&*rules.user));
        object.insert(json.password.to_string(), Value::from(self.means.password.reveal()));
        shown.push(format!("{}={}  {}={MASK}", json.user, rules.user, json.password));
        self.say_chosen(format!("object: {}", shown.join("  ")));
        // The page of a browser that would send it: the site's first.
        let page = self.site.rules.start.first().unwrap_or(&json.url).clone();
        self.may_ask(&json.url, page.as_str().starts_with("https:"))?;
        (self.is_try, self.report.trouble) = (true, None);
        // A map of texts: serde_json cannot fail on it.
        let body = serde_json::to_vec(&object).unwrap_or_default();
        let post = Post { content_type: "application/json", body: &body, referer: &page };
        let answer = self.read(json.url.clone(), Some(post), limits::PAGE_BYTES_MAX).await?;
        self.report.trouble = self.trouble_of(answer.status);
        self.token_of(json, &answer)
    }

    /// Takes the token; what ends the login where there is none.
    fn token_of(&mut self, json: &JsonLogin, answer: &Answer) -> Step<Judged> {
        let Answer { url, status, bytes, .. } = answer;
        let parsed: Option<Value> = serde_json::from_slice(bytes).ok();
        let token = parsed.as_ref().and_then(|value| value.pointer(&json.token)).and_then(Value::as_str);
        let token = token.filter(|token| !token.is_empty());
        if let (200..=299, Some(token)) = (status, token) {
            let own = url.to_url().map_err(|error| ends(Verdict::Unknown, error.to_string()))?;
            if !self.means.jar.set_bearer(&own, token) {
                return Err(ends(Verdict::Unknown, "the token of the answer cannot stand in a header"));
            }
            return Ok(ends(Verdict::LoggedIn, format!("the answer carries a token at {}", json.token)));
        }
        // What an API says it says in words, too.
        let text = String::from_utf8_lossy(bytes);
        let view =
            View::of(&text).map_err(|error| ends(Verdict::Unknown, format!("{}: {error}", told_url(url.as_str()))))?;
        let after = After {
            status: *status,
            view: &view,
            login_form: None,
            cookies_changed: false,
            before: None,
            has_read_captcha: false,
        };
        let judged = self.judge_answer(&after);
        // Without the token there is no session, whatever the answer's words, and whatever a page shows to guests. A wrong
        // password in words that are not known and a pointer to the wrong place look alike.
        let why = format!("status {status}, and no text at {} (`json.token`) of the answer", json.token);
        Err(match judged.verdict {
            Verdict::LoggedIn => ends(Verdict::ProbablyRefused, why),
            verdict @ (Verdict::Unknown | Verdict::ProbablyRefused) => ends(verdict, why),
            _ => judged,
        })
    }
}
