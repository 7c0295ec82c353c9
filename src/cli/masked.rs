//! What was learned of requests as it may be shown: constants that may be a token of one session are masked, whoever looks on.

use crate::login::secret::{MASK, told};
use crate::shortcut::is_of_access;
use crate::shortcut::written::{Written, WrittenCall};

/// The endpoint as it may be shown, and whether something of it is masked.
pub(super) fn masked(written: &Written) -> (Written, bool) {
    let mut shown = written.clone();
    let own = [&mut shown.headers, &mut shown.form];
    let before = shown.before.iter_mut().flat_map(|WrittenCall { headers, form, .. }| [headers, form]);
    for (name, value) in own.into_iter().chain(before).flatten() {
        mask(name, value);
    }
    mask_query(&mut shown.url);
    mask_json(&mut shown.json);
    if let Some(before) = &mut shown.before {
        mask_query(&mut before.url);
        mask_json(&mut before.json);
    }
    let is_masked = shown != *written;
    (shown, is_masked)
}

/// Masks a constant that may open the data for one session; what is filled anew for each page stays.
fn mask(name: &str, value: &mut String) {
    let core = value.rsplit(' ').next().unwrap_or_default();
    if is_of_access(name) && !value.contains('{') && told(core) == MASK {
        let front = value.len() - core.len();
        value.replace_range(front.., MASK);
    }
}

fn mask_query(url: &mut String) {
    // A question mark within braces is none.
    let Some((address, query)) = url.split_once('?') else { return };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) => {
            let mut value = value.to_owned();
            mask(name, &mut value);
            format!("{name}={value}")
        }
        None => pair.to_owned(),
    });
    *url = format!("{address}?{}", pairs.collect::<Vec<_>>().join("&"));
}

fn mask_json(text: &mut Option<String>) {
    let Some(mut json) = text.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok()) else {
        return;
    };
    let before = json.clone();
    mask_members(&mut json);
    if json != before {
        *text = Some(json.to_string());
    }
}

fn mask_members(json: &mut serde_json::Value) {
    match json {
        serde_json::Value::Object(members) => {
            for (name, inner) in members {
                match inner {
                    serde_json::Value::String(text) => mask(name, text),
                    inner => mask_members(inner),
                }
            }
        }
        serde_json::Value::Array(elements) => elements.iter_mut().for_each(mask_members),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_that_may_be_a_token_are_masked_and_what_is_filled_in_stays() {
        let token = "K89769362";
        let written = Written {
            url: format!("/api?api_key={token}&keyword=linux&page={{@query.page|1}}&build=20261122"),
            headers: [
                ("x-api-key".to_owned(), token.to_owned()),
                ("authorization".to_owned(), "Bearer {@before.access}".to_owned()),
                ("accept".to_owned(), "application/json".to_owned()),
            ]
            .into(),
            json: Some(format!("{{\"auth\":[{{\"token\":\"{token}\"}}],\"page\":1}}")),
            before: Some(WrittenCall {
                url: "/auth".to_owned(),
                form: [("secret".to_owned(), token.to_owned())].into(),
                ..WrittenCall::default()
            }),
            ..Written::default()
        };
        let (shown, is_masked) = masked(&written);
        assert!(is_masked && !format!("{shown:?}").contains(token), "{shown:?}");
        assert_eq!(shown.url, format!("/api?api_key={MASK}&keyword=linux&page={{@query.page|1}}&build=20261122"));
        assert_eq!(shown.headers["authorization"], "Bearer {@before.access}");
        assert_eq!(shown.headers["accept"], "application/json");
        assert_eq!(masked(&shown), (shown.clone(), false));
    }
}
