//! Learned requests in printable form: constants that may be a session token are masked, whatever their name and
//! whoever reads them.

use percent_encoding::percent_decode_str;

use gleaner_login::secret::MASK;
use gleaner_page::shortcut::secrets;
use gleaner_page::shortcut::written::{Written, WrittenCall, WrittenFrom, WrittenLink};

/// The endpoint in printable form, and whether any part is masked.
pub(super) fn masked(written: &Written) -> (Written, bool) {
    let mut shown = written.clone();
    let before =
        shown.before.iter_mut().flat_map(|WrittenCall { headers, form, .. }| [("header", headers), ("form", form)]);
    for (kind, all) in [("header", &mut shown.headers), ("form", &mut shown.form)].into_iter().chain(before) {
        for (name, value) in all {
            mask(&format!("{kind}.{}", name.to_ascii_lowercase()), value);
        }
    }
    mask_address(&mut shown.url);
    mask_json(&mut shown.json);
    if let Some(before) = &mut shown.before {
        mask_address(&mut before.url);
        mask_json(&mut before.json);
    }
    for link in &mut shown.link {
        let (WrittenLink::Of(link) | WrittenLink::From(WrittenFrom { link, .. })) = link;
        mask_query(link);
    }
    shown.constant.iter_mut().for_each(mask_query);
    let is_masked = shown != *written;
    (shown, is_masked)
}

/// Masks a part of a request that may grant access to the data; parts that are filled in for each page stay.
fn mask(part: &str, value: &mut String) {
    let text = value.clone();
    for secret in secrets(part, &text) {
        *value = value.replace(secret, MASK);
    }
}

/// The same for a percent-encoded part.
fn masked_part(part: &str, value: &str) -> String {
    let decoded = percent_decode_str(value).decode_utf8_lossy();
    let mut masked = value.to_owned();
    for secret in secrets(part, &decoded) {
        masked = masked.replace(secret, MASK);
        // Secrets in escaped form.
        if percent_decode_str(&masked).decode_utf8_lossy().contains(secret) {
            return MASK.to_owned();
        }
    }
    masked
}

fn mask_address(url: &mut String) {
    let path = url.find("://").map_or(0, |at| url[at + 3..].find('/').map_or(url.len(), |slash| at + 3 + slash));
    let end = url[path..].find('?').map_or(url.len(), |at| path + at);
    let segments: Vec<String> = url[path..end].split('/').map(|segment| masked_part("path.0", segment)).collect();
    url.replace_range(path..end, &segments.join("/"));
    mask_query(url);
}

fn mask_query(url: &mut String) {
    // A question mark inside braces does not start a query.
    let Some((address, query)) = url.split_once('?') else { return };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) => format!("{name}={}", masked_part(&format!("query.{name}"), value)),
        None => pair.to_owned(),
    });
    *url = format!("{address}?{}", pairs.collect::<Vec<_>>().join("&"));
}

fn mask_json(text: &mut Option<String>) {
    let Some(mut json) = text.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok()) else {
        return;
    };
    let before = json.clone();
    mask_members("", &mut json);
    if json != before {
        *text = Some(json.to_string());
    }
}

/// Masks members with a secret name, and lists below one.
fn mask_members(name: &str, json: &mut serde_json::Value) {
    match json {
        serde_json::Value::Object(members) => members.iter_mut().for_each(|(name, inner)| mask_members(name, inner)),
        serde_json::Value::Array(elements) => elements.iter_mut().for_each(|inner| mask_members(name, inner)),
        serde_json::Value::String(text) => mask(&format!("json.{name}"), text),
        serde_json::Value::Number(number) if !secrets(&format!("json.{name}"), &number.to_string()).is_empty() => {
            *json = MASK.into();
        }
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
                ("x-app".to_owned(), token.to_owned()),
                ("authorization".to_owned(), "Bearer {@before.access}".to_owned()),
                ("accept".to_owned(), "application/json".to_owned()),
            ]
            .into(),
            json: Some(format!("{{\"auth\":[{{\"token\":[\"{token}\"]}}],\"page\":1}}")),
            link: vec![WrittenLink::Of(format!("/download/{{id}}?passkey={token}"))],
            constant: vec![format!("https://h.example/rss?u={token}"), "https://h.example/top?by=seeds".to_owned()],
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
        assert_eq!(shown.constant[1], written.constant[1]);
        assert_eq!(masked(&shown), (shown.clone(), false));
        // Inside paths and parameters of JSON, and with escapes.
        let long = "SECRETab12cd34ef56ab78cd";
        for (url, wanted) in [
            (
                format!("https://h.example/api/{long}/list?page={{@query.page}}"),
                format!("https://h.example/api/{MASK}/list?page={{@query.page}}"),
            ),
            (
                format!("/api?v=%7B%22by%22%3A%22{long}%22%2C%22page%22%3A{{@query.page}}%7D"),
                format!("/api?v=%7B%22by%22%3A%22{MASK}%22%2C%22page%22%3A{{@query.page}}%7D"),
            ),
            ("/api?t=ab%2B12cd34ef%3D".to_owned(), format!("/api?t={MASK}")),
            ("/api/v1?from={@now}".to_owned(), "/api/v1?from={@now}".to_owned()),
        ] {
            let (shown, is_masked) = masked(&Written { url: url.clone(), ..Written::default() });
            assert_eq!((shown.url, is_masked), (wanted.clone(), wanted != url));
        }
    }
}
