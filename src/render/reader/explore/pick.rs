//! Select lists built by scripts. Each is opened once to learn its options. An option then works as a tab: a click opens the list and
//! chooses it.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::super::controls::{Choice as Offer, Control, Rank};
use super::super::pickers::{self, Popup, is_opener_kind};
use super::super::shown::News;
use super::Explorer;
use crate::dom::NodeId;
use crate::web::read;

/// Opened lists by their openers.
#[derive(Default)]
pub(super) struct Pickers {
    known: HashMap<u64, Picker>,
    /// Containers of options: no option is a control by itself.
    roots: HashSet<NodeId>,
    /// The page posted something by itself; some pages request their lists that way.
    posts: bool,
}

struct Picker {
    options: Vec<String>,
    /// The option chosen in the first state.
    chosen: String,
    /// Some of its options cannot be chosen.
    is_cut: bool,
}

/// Whether a control opens a select list that was not opened yet.
pub(super) fn is_opener(control: &Control) -> bool {
    control.option.is_none() && is_opener_kind(&control.kind)
}

fn kind_of(opener: u64) -> String {
    format!("select of {opener:x}")
}

fn identity_of(opener: u64, option: &str) -> u64 {
    xxh3_64(format!("{opener:x} {option}").as_bytes())
}

impl Explorer<'_> {
    /// Opens a list for the first time.
    pub(super) fn open_picker(&mut self, control: &Control) -> News {
        self.tried.clicked.insert(control.identity);
        let reach = self.reach;
        self.pickers.posts |= self.window.engine.page().borrow().posted > 0;
        let chosen = pickers::chosen(self.window, control.id);
        let mut popup = Popup::default();
        self.window.engine.page().borrow_mut().sends_gets_only = true;
        let news = self.act(&format!("open {}", control.words), |window| {
            popup = pickers::open(window, control.id, None, reach);
        });
        self.window.engine.page().borrow_mut().sends_gets_only = self.turns.only;
        // An autocomplete list does not exist before something is typed.
        let is_cut = popup.has_more || popup.offers.is_empty() && !pickers::is_typed_in(self.window, control.id);
        let options = popup.offers.into_iter().map(|offer| offer.text).collect();
        self.pickers.roots.extend(popup.root);
        self.pickers.known.insert(control.identity, Picker { options, chosen, is_cut });
        // Forces a new scan, since the container of its options is now known.
        self.sight.seen.0 = u64::MAX;
        self.look_around();
        news
    }

    /// Chooses an option; the list may have other options afterwards.
    pub(super) fn pick(&mut self, control: &Control, option: &Offer) -> News {
        let reach = self.reach;
        let mut popup = Popup::default();
        let unsent = self.window.engine.page().borrow().unsent;
        let news = self.act(&format!("choose {}", option.text), |window| {
            popup = pickers::open(window, control.id, Some(&option.text), reach);
        });
        self.pickers.roots.extend(popup.root);
        let is_unsent = self.window.engine.page().borrow().unsent > unsent;
        if let Some(picker) = self.pickers.known.get_mut(&option.opener) {
            picker.is_cut |= is_unsent;
            for offer in popup.offers {
                if !picker.options.contains(&offer.text) {
                    picker.options.push(offer.text);
                }
            }
        }
        self.sight.seen.0 = u64::MAX;
        self.look_around();
        news
    }

    /// Replaces the openers of opened lists by their options, and drops the containers of these.
    pub(super) fn offer_options(&mut self, controls: &mut Vec<Control>) {
        if self.pickers.known.is_empty() {
            return;
        }
        let roots = &self.pickers.roots;
        let inside = self.window.engine.look(|context| {
            read(context, |tree| {
                let is_inside =
                    |id: NodeId| roots.contains(&id) || tree.ancestors(id).any(|above| roots.contains(&above));
                controls.iter().map(|of| of.id).filter(|id| is_inside(*id)).collect::<HashSet<NodeId>>()
            })
        });
        let inside = inside.unwrap_or_default();
        controls.retain(|of| !inside.contains(&of.id));
        let openers: Vec<Control> = controls.iter().filter(|of| is_opener(of)).cloned().collect();
        for opener in openers {
            let Some(picker) = self.pickers.known.get(&opener.identity) else { continue };
            let chosen = pickers::chosen(self.window, opener.id);
            for option in picker.options.iter().filter(|option| **option != chosen) {
                let names = (kind_of(opener.identity), identity_of(opener.identity, option));
                let plain = Control::plain(opener.id, Rank::Tab, names, option.clone());
                let text = option.clone();
                let option = Some(Offer { text: option.clone(), opener: opener.identity });
                controls.push(Control { text, option, unsure: !self.pickers.posts, ..plain });
            }
        }
    }

    /// Whether options that may show more were not chosen.
    pub(super) fn has_unchosen(&self) -> bool {
        self.pickers.known.iter().any(|(opener, picker)| {
            let is_left = |option: &String| {
                *option != picker.chosen && !self.tried.clicked.contains(&identity_of(*opener, option))
            };
            picker.is_cut || !self.is_given_up(&kind_of(*opener), Rank::Tab) && picker.options.iter().any(is_left)
        })
    }
}
