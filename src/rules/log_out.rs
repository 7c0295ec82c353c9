//! Log-out URLs: a site with an account must not request them, because they end its session.
//!
//! Only the parts of a URL that act are judged: the last segment of the path, and the parameters that software uses to name
//! an action. Values elsewhere (`?redirect=/logout`, `viewtopic.php?t=logout`) have no effect. In doubt, a URL is taken for a
//! log-out: skipping it costs one page, following it costs a login. Works on the text of URLs only.

use percent_encoding::percent_decode_str;

gleaner_base::topics! { name: LOG_OUT_PAGES; }

/// Suffixes that software appends to such a word in a parameter name: vBulletin's `logouthash`, MyBB's `logoutkey`.
const KEY_ENDS: [&str; 3] = ["hash", "key", "token"];

/// Parameters whose value names an action, or the page that performs it.
pub(super) const ACTIONS: [&str; 24] = [
    "a",
    "act",
    "action",
    "app",
    "cmd",
    "do",
    "event",
    "func",
    "go",
    "job",
    "method",
    "mod",
    "mode",
    "module",
    "op",
    "p",
    "page",
    "sa",
    "section",
    "sub",
    "subaction",
    "task",
    "todo",
    "what",
];

/// Parameters whose value is a route if it has a slash (Drupal, Yii, OpenCart), otherwise a search term.
pub(super) const ROUTES: [&str; 3] = ["q", "r", "route"];

/// File extensions of scripts and documents; `logout.torrent` and `logout.css` are plain files.
pub(super) const SCRIPTS: [&str; 14] =
    ["php", "php3", "php5", "phtml", "asp", "aspx", "ashx", "jsp", "do", "action", "cgi", "pl", "htm", "html"];

/// True for a URL, or a reference, that ends the session: `member.php?mod=logging&action=logout`,
/// `ucp.php?mode=logout&sid=…`, `/user/sign-out/17`, `logout.php`, `index.php?logout/&t=…`. Ignores the host name.
#[must_use]
pub fn ends_session(reference: &str) -> bool {
    let reference = reference.split('#').next().unwrap_or_default();
    let (address, query) = reference.split_once('?').unwrap_or((reference, ""));
    let path = match address.split_once("//") {
        Some((scheme, rest)) if scheme.is_empty() || scheme.ends_with(':') => {
            rest.split_once('/').map_or("", |(_, path)| path)
        }
        _ => address,
    };
    is_log_out_path(path) || query.split(['&', ';']).any(is_log_out_parameter)
}

/// Judges the last segment, or the one in front of it if the last is a key or a number: `/user/logout/0a1b2c3d`.
fn is_log_out_path(path: &str) -> bool {
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    let Some(last) = segments.next() else { return false };
    is_log_out_page(last) || (is_key(last) && segments.next().is_some_and(is_log_out_page))
}

/// A segment, without the session id that Java appends: `logout.php`, `Special:UserLogout`, `logout;jsessionid=1`.
fn is_log_out_page(segment: &str) -> bool {
    let segment = percent_decode_str(segment.split(';').next().unwrap_or_default()).decode_utf8_lossy();
    let is_script = |ending: &str| SCRIPTS.iter().any(|script| ending.eq_ignore_ascii_case(script));
    let stem = match segment.rsplit_once('.') {
        Some((stem, ending)) if is_script(ending) => stem,
        _ => &segment,
    };
    is_word(stem) || stem.rsplit_once(':').is_some_and(|(_, page)| is_word(page))
}

fn is_log_out_parameter(pair: &str) -> bool {
    let Some((key, value)) = pair.split_once('=') else { return is_log_out_path(pair) };
    let (key, value) = (percent_decode_str(key).decode_utf8_lossy(), percent_decode_str(value).decode_utf8_lossy());
    let is = |name: &&str| key.eq_ignore_ascii_case(name);
    if ACTIONS.iter().any(&is) {
        // Joomla puts the component first: `task=user.logout`.
        return is_log_out_path(&value) || value.rsplit_once('.').is_some_and(|(_, task)| is_word(task));
    }
    if ROUTES.iter().any(is) {
        return value.contains('/') && is_log_out_path(&value);
    }
    let name = word(&key);
    let is_key = KEY_ENDS.iter().any(|end| name.strip_suffix(end).is_some_and(|name| LOG_OUT_PAGES.has(name)));
    is_key || (is_word(&key) && !matches!(&*value, "0" | "no" | "false"))
}

/// The letters and digits of a text in lower case, without separators.
pub(super) fn word(text: &str) -> String {
    text.chars().filter(|of| of.is_alphanumeric()).map(|of| of.to_ascii_lowercase()).collect()
}

/// True if the text is a log-out word; separators around and within it are ignored.
fn is_word(text: &str) -> bool {
    // No word is longer, even with separators.
    text.len() <= 40 && LOG_OUT_PAGES.has(&word(text))
}

/// True for an identifier of a session or a member: a number, or letters with digits among them.
pub(super) fn is_key(segment: &str) -> bool {
    let is_long = segment.len() >= 8 && segment.bytes().any(|of| of.is_ascii_digit());
    let is_number = segment.bytes().all(|of| of.is_ascii_digit());
    (is_number || is_long) && segment.bytes().all(|of| of.is_ascii_alphanumeric() || b"-_,".contains(&of))
}

#[cfg(test)]
mod tests;
