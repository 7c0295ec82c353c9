//! Turns the response of a frame into a document: its type, its charset, its markup.

use boa_engine::{Context, JsResult};
use encoding_rs::Encoding;
use html5ever::local_name;

use crate::dom::{NodeId, Parser, Step, Tree};
use crate::web::{change, read, settle};
use crate::wire::Response;

/// Document types that `contentType` can report; a frame with another type shows text.
const TYPES: &[&str] = &[
    "text/html",
    "text/plain",
    "text/css",
    "text/javascript",
    "application/json",
    "text/xml",
    "application/xml",
    "application/xhtml+xml",
    "image/svg+xml",
    "image/png",
    "image/gif",
    "image/jpeg",
    "image/bmp",
    "image/webp",
];

/// The type of a response, and its encoding if declared.
fn told(response: &Response) -> (&'static str, Option<&'static Encoding>) {
    let header = response.header("content-type").unwrap_or("text/html");
    let (kind, parameters) = header.split_once(';').unwrap_or((header, ""));
    let kind = kind.trim().to_ascii_lowercase();
    let kind = TYPES.iter().copied().find(|known| *known == kind).unwrap_or("text/plain");
    let label = parameters.split(';').find_map(|one| one.trim().strip_prefix("charset="));
    let declared = label.and_then(|label| Encoding::for_label(label.trim_matches(['"', ' ']).as_bytes()));
    (kind, Encoding::for_bom(&response.body).map(|(encoding, _)| encoding).or(declared))
}

/// The document of a response (HTML §7.5); its scripts do not run.
///
/// # Errors
/// When the page's trees are full.
pub(super) fn document_from(response: &Response, context: &mut Context) -> JsResult<NodeId> {
    let (kind, told) = told(response);
    let encoding = told.unwrap_or(encoding_rs::UTF_8);
    let (text, ..) = encoding.decode(&response.body);
    if kind.starts_with("image/") && !kind.ends_with("xml") {
        return fill("<img>", kind, "UTF-8", context);
    }
    if kind != "text/html" {
        return if kind.ends_with("xml") {
            fill_xml(&text, kind, encoding.name(), context)
        } else {
            fill(&plain(&text), kind, encoding.name(), context)
        };
    }
    let document = fill(&text, kind, encoding.name(), context)?;
    // "Changing the encoding while parsing" (HTML §13.2.3.5): the markup declares another encoding, and is parsed again.
    let named = read(context, |tree| encoding_in(tree, document));
    match named.filter(|named| told.is_none() && *named != encoding) {
        Some(named) => {
            let (text, ..) = named.decode(&response.body);
            fill(&text, kind, named.name(), context)
        }
        None => Ok(document),
    }
}

/// The markup of a response whose scripts will run, and its encoding; `None` if it has no scripts.
///
/// # Errors
/// As [`document_from`].
pub(super) fn with_scripts(response: &Response, context: &mut Context) -> JsResult<Option<(String, &'static str)>> {
    let (kind, told) = told(response);
    let encoding = told.unwrap_or(encoding_rs::UTF_8);
    let (text, ..) = encoding.decode(&response.body);
    if kind != "text/html" || !has_scripts(&text) {
        return Ok(None);
    }
    if told.is_none() && text.contains("charset") {
        let draft = fill(&text, kind, encoding.name(), context)?;
        if let Some(named) = read(context, |tree| encoding_in(tree, draft)).filter(|named| *named != encoding) {
            let (text, ..) = named.decode(&response.body);
            return Ok(Some((text.into_owned(), named.name())));
        }
    }
    Ok(Some((text.into_owned(), encoding.name())))
}

/// Whether markup seems to contain scripts or inline handlers, so that it needs a window.
pub(super) fn has_scripts(markup: &str) -> bool {
    let bytes = markup.as_bytes();
    let is_at = |at: usize, word: &str| {
        bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let begins_attribute = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'/');
    let is_handler = |at: usize| {
        let name = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        name > 2 && bytes[at + name..].trim_ascii_start().first() == Some(&b'=')
    };
    (0..bytes.len()).any(|at| match bytes[at] {
        b'<' => is_at(at, "<script"),
        byte if begins_attribute(byte) => is_at(at + 1, "on") && is_handler(at + 1),
        _ => false,
    })
}

/// A plain text as a document.
fn plain(text: &str) -> String {
    format!("<pre>{}</pre>", text.replace('&', "&amp;").replace('<', "&lt;"))
}

/// The encoding declared by a document's `meta`.
fn encoding_in(tree: &Tree, document: NodeId) -> Option<&'static Encoding> {
    tree.descendants(document).find_map(|id| {
        let element = tree.element(id).filter(|element| element.is_html(&local_name!("meta")))?;
        let label = match element.attribute(&local_name!("charset")) {
            Some(label) => label,
            None => {
                let is_type = element.attribute(&local_name!("http-equiv"))?.eq_ignore_ascii_case("content-type");
                element.attribute(&local_name!("content")).filter(|_| is_type)?.split_once("charset=")?.1
            }
        };
        let encoding = Encoding::for_label(label.trim().as_bytes())?;
        // UTF-16 could not have been parsed this far, and `x-user-defined` is not used on the web.
        let is_wide = encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE;
        Some(if is_wide {
            encoding_rs::UTF_8
        } else if encoding == encoding_rs::X_USER_DEFINED {
            encoding_rs::WINDOWS_1252
        } else {
            encoding
        })
    })
}

/// A document from markup, whose scripts do not run.
///
/// # Errors
/// As [`document_from`].
pub(super) fn fill(
    markup: &str,
    kind: &'static str,
    encoding: &'static str,
    context: &mut Context,
) -> JsResult<NodeId> {
    let document = change(context, |tree| {
        let document = tree.create_document(true)?;
        if let Some(data) = tree.document_data_mut(document) {
            (data.content_type, data.encoding) = (kind, encoding);
        }
        let mut parser = Parser::new(tree, document);
        let mut text = markup;
        while let Step::Script(_) = parser.feed(tree, text)? {
            text = "";
        }
        parser.finish(tree)?;
        Ok(document)
    })?;
    settle(context);
    Ok(document)
}

/// A document from XML; an error document if it is not well-formed.
fn fill_xml(text: &str, kind: &'static str, encoding: &'static str, context: &mut Context) -> JsResult<NodeId> {
    change(context, |tree| {
        let document = tree.parse_xml_document(text, kind)?;
        if let Some(data) = tree.document_data_mut(document) {
            data.encoding = encoding;
        }
        Ok(document)
    })
}

#[cfg(test)]
mod tests {
    use super::has_scripts;

    #[test]
    fn scripts_and_handlers_are_seen_and_words_are_not() {
        for (markup, has) in [
            ("<p>one two=3 on = 4", false),
            ("<p>once upon a=b", false),
            ("<SCRIPT src=x>", true),
            ("<body onload=go()>", true),
            ("<img src='x'onerror = 'y'>", true),
            ("<p only =x>", true),
            ("", false),
        ] {
            assert_eq!(has_scripts(markup), has, "{markup}");
        }
    }
}
