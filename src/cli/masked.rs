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
mod tests;
