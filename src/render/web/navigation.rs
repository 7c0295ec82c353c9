//! Where scripts want the page to go: written down as links with how they came about, and the page goes on.

use std::cell::RefCell;

use boa_engine::Context;
use url::Url;

/// What made the page go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Link,
    Form,
    Window,
}

/// An address that the page wanted to go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Navigation {
    pub url: Url,
    pub method: String,
    pub body: Vec<u8>,
    pub content_type: String,
    pub how: How,
}

impl Navigation {
    /// An address that is only looked up.
    pub fn get(url: Url, how: How) -> Self {
        Self { url, method: "GET".to_owned(), body: Vec::new(), content_type: String::new(), how }
    }
}

#[derive(Default)]
struct Navigations(RefCell<Vec<Navigation>>);

/// The addresses that the page wanted to go to, so far.
pub fn taken(context: &Context) -> Vec<Navigation> {
    context.get_data::<Navigations>().map(|all| all.0.borrow().clone()).unwrap_or_default()
}

/// Writes down where a script or a reader wants the page to go.
pub fn navigate(wanted: Navigation, _replace: bool, context: &mut Context) {
    if !context.host_defined_mut().has::<Navigations>() {
        context.insert_data(Navigations::default());
    }
    if let Some(all) = context.get_data::<Navigations>() {
        let mut all = all.0.borrow_mut();
        if all.len() < crate::limits::RENDER_TASKS_MAX as usize {
            all.push(wanted);
        }
    }
}
