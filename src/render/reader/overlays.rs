//! Links with a URL whose click opens something over the page instead: an attribute marks them for the script that does it.

use html5ever::local_name;
use url::{Position, Url};

use super::words::{NEVER_NAMES, OVERLAYS, says};
use crate::dom::Element;

/// Attributes that mark them.
const SAYING: &[&str] = &["class", "rel", "data-toggle", "data-bs-toggle", "data-xf-click", "data-role", "data-action"];

/// Extensions of image URLs: an overlay with an image has no links.
const PICTURES: &[&str] = &["jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "bmp"];

/// The target of a link whose click opens something on this page.
pub(super) fn address(element: &Element, base: &Url) -> Option<Url> {
    let href = element.attribute(&local_name!("href"))?;
    let is_named = |text: &str| OVERLAYS.are_in(text);
    let says_so = element.attributes().iter().any(|attribute| {
        let name = &*attribute.name.local;
        let of_script = name.strip_prefix("data-").is_some_and(is_named);
        of_script || SAYING.contains(&name) && is_named(&attribute.value.to_lowercase())
    });
    let url = says_so.then(|| base.join(href).ok())??;
    let end = url.path().rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
    // "/delete/5" deletes as soon as a script fetches it, whatever the label.
    let rest = url[Position::BeforePath..].to_lowercase();
    let may = url.origin() == base.origin() && !PICTURES.contains(&&*end) && !says(NEVER_NAMES, &rest, true);
    may.then_some(url)
}

/// Whether an element is a dialog or a menu over the page.
pub(super) fn is_one(element: &Element) -> bool {
    let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
    let role = attribute("role");
    &*element.name().local == "dialog"
        || matches!(role, "dialog" | "alertdialog" | "menu" | "listbox")
        || attribute("aria-modal") == "true"
}
