//! Login by a JSON API: one POST of an object, whose response contains a token. The token is kept with the session's cookies
//! and sent as `Authorization: Bearer` to the origin that issued it, and nowhere else.

use std::time::Duration;

use serde_json::{Map, Value};

use super::reading::Answer;
use super::{Run, Step, ends, is_wrong_and_limited};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_login::secret::{MASK, told_url};
use gleaner_login::verdict::{After, Judged, Verdict, names_wait};
use gleaner_login::view::View;
use gleaner_net::fetch::Post;
use gleaner_rules::JsonLogin;

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
        // The page from which a browser would send it: the site's first.
        let page = self.site.rules.start.first().unwrap_or(&json.url).clone();
        self.may_ask(&json.url, page.as_str().starts_with("https:"))?;
        (self.attempt.is_try, self.report.trouble) = (true, None);
        // A map of strings: serde_json cannot fail on it.
        let body = serde_json::to_vec(&object).unwrap_or_default();
        let post = Post { content_type: "application/json", body: &body, referer: &page };
        let answer = self.read(json.url.clone(), Some(post), limits::PAGE_BYTES_MAX).await?;
        self.report.trouble = self.patience.trouble_of(answer.status);
        self.token_of(json, &answer)
    }

    /// Takes the token; returns what ends the login if there is none.
    fn token_of(&mut self, json: &JsonLogin, answer: &Answer) -> Step<Judged> {
        let Answer { url, status, bytes, .. } = answer;
        let parsed: Option<Value> = serde_json::from_slice(bytes).ok();
        let token = parsed.as_ref().and_then(|value| value.pointer(&json.token)).and_then(Value::as_str);
        let token = token.filter(|token| !token.is_empty());
        if let (200..=299, Some(token)) = (status, token) {
            let own = url.to_url().map_err(|error| ends(Verdict::Unknown, error.to_string()))?;
            if !self.means.jar.set_bearer(&own, token) {
                return Err(ends(Verdict::Unknown, "the token of the answer is not valid in a header"));
            }
            return Ok(ends(Verdict::LoggedIn, format!("the answer carries a token at {}", json.token)));
        }
        // An API also reports in words.
        let view = View::of_answer(bytes)
            .map_err(|error| ends(Verdict::Unknown, format!("{}: {error}", told_url(url.as_str()))))?;
        let after = After {
            status: *status,
            view: &view,
            login_form: None,
            cookies_changed: false,
            before: None,
            has_read_captcha: false,
        };
        let judged = self.judge_answer(&after);
        let wait = parsed.as_ref().and_then(|of| told_wait(of, self.site.clock.now()));
        self.locked_as_told(&judged, wait);
        if judged.verdict == Verdict::RateLimited || is_wrong_and_limited(&judged, &view) {
            self.waits_as_told(wait.or_else(|| names_wait(&view)));
        }
        // Without the token there is no session, whatever the response says, and whatever a page shows to guests. A wrong
        // password reported in unknown words and a wrong pointer in the rule file look alike.
        let why = format!("status {status}, and no text at {} (`json.token`) of the answer", json.token);
        Err(match judged.verdict {
            Verdict::LoggedIn => ends(Verdict::ProbablyRefused, why),
            verdict @ (Verdict::Unknown | Verdict::ProbablyRefused) => ends(verdict, why),
            _ => judged,
        })
    }
}

/// How long an API's response asks to wait, in members with such names, of the object itself or nested up to two deep: seconds, or
/// milliseconds if the name says so, or the Unix time at which it ends; at most `limits::RETRY_AFTER_MAX`.
pub(super) fn told_wait(answer: &Value, now: UnixMillis) -> Option<Duration> {
    told_wait_in(answer, now, 2)
}

fn told_wait_in(answer: &Value, now: UnixMillis, depth: u32) -> Option<Duration> {
    let of = |object: &Map<String, Value>| {
        object.iter().find_map(|(name, value)| {
            let name: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
            let unit = ["retryafter", "retryin", "waitseconds"].iter().find_map(|known| name.strip_prefix(known))?;
            let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
            let seconds = match unit {
                "ms" | "millis" | "milliseconds" => number / 1_000.0,
                "" | "s" | "sec" | "secs" | "seconds" => number,
                _ => return None,
            };
            let wait = Duration::try_from_secs_f64(seconds.ceil()).ok()?;
            // So many seconds must be a point in time, not a wait.
            let wait = if wait > EPOCH_MIN { wait.saturating_sub(Duration::from_millis(now.0)) } else { wait };
            (!wait.is_zero()).then_some(wait.min(limits::RETRY_AFTER_MAX))
        })
    };
    let object = answer.as_object()?;
    let within = || object.values().filter(|_| depth > 0).find_map(|of| told_wait_in(of, now, depth - 1));
    of(object).or_else(within)
}

/// A number of seconds from here on is a point in time: 2001.
const EPOCH_MIN: Duration = Duration::from_secs(1_000_000_000);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_tells_how_long_to_wait_in_its_members() {
        for (answer, expected) in [
            (r#"{"message":"Too many attempts","retry_after":30}"#, Some(30)),
            (r#"{"error":{"code":7,"retryAfter":"12.2"}}"#, Some(13)),
            (r#"{"retry_after_ms":1500}"#, Some(2)),
            (r#"{"Retry-After-Seconds":9e99}"#, None),
            (r#"{"retry_after":99999999}"#, Some(limits::RETRY_AFTER_MAX.as_secs())),
            (r#"{"retry_after":1700000090}"#, Some(90)),
            (r#"{"retry_after":1600000000}"#, None),
            (r#"{"error":{"info":{"retry_after":90}}}"#, Some(90)),
            (r#"{"retry_after":-5}"#, None),
            (r#"{"retry_after":0}"#, None),
            (r#"{"retry_after":"soon","retry_after_minutes":3}"#, None),
            (r#"[{"retry_after":30}]"#, None),
        ] {
            let parsed: Value = serde_json::from_str(answer).unwrap();
            let now = UnixMillis(1_700_000_000_000);
            assert_eq!(told_wait(&parsed, now).map(|wait| wait.as_secs()), expected, "{answer}");
        }
    }
}
