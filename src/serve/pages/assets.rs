//! The style and the script of the pages, embedded: each under a name of its content, so that browsers keep it for ever.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

use crate::problem::Problem;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("live.js");

static STYLE_NAME: LazyLock<String> = LazyLock::new(|| named("style", "css", STYLE));
static SCRIPT_NAME: LazyLock<String> = LazyLock::new(|| named("live", "js", SCRIPT));

fn named(stem: &str, ending: &str, text: &str) -> String {
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(text.as_bytes()));
    format!("{stem}.{}.{ending}", &hash[..12])
}

/// Path of the style.
#[must_use]
pub fn style() -> String {
    format!("/assets/{}", *STYLE_NAME)
}

/// Path of the script.
#[must_use]
pub fn script() -> String {
    format!("/assets/{}", *SCRIPT_NAME)
}

/// `/assets/NAME`: the same for everybody.
pub async fn asset(Path(name): Path<String>) -> Result<Response, Problem> {
    let (kind, text) = match name {
        name if name == *STYLE_NAME => ("text/css; charset=utf-8", STYLE),
        name if name == *SCRIPT_NAME => ("text/javascript; charset=utf-8", SCRIPT),
        _ => return Err(Problem::not_found("nothing is here", "load the page again: it names its files")),
    };
    let kept = "public, max-age=31536000, immutable";
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, kept)], text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_and_the_script_are_small_and_load_nothing() {
        assert!(STYLE.len() <= 15_000, "{} bytes of style", STYLE.len());
        assert!(SCRIPT.len() <= 4_000, "{} bytes of script", SCRIPT.len());
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains("://") && !text.contains("@import"), "it names something else");
        }
    }
}
