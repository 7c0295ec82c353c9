//! Menus and dialogs over a page that cannot be reached while they are open.

use std::collections::HashSet;

use super::super::controls::Control;
use super::Explorer;
use crate::dom::{NodeId, Tree};
use crate::web::interact::press_key;
use crate::web::read;

impl Explorer<'_> {
    /// Closes what a row's control opened if it blocks the rest of the page: by Escape, or by a second click.
    pub(super) fn leave_menu(&mut self, opener: &Control, before: &[Control]) {
        if !self.is_shut_off(before) {
            return;
        }
        let id = opener.id;
        self.act("leave the menu", |window| {
            window.engine.with(|context| press_key("Escape", 27, id, context));
        });
        if self.is_shut_off(before) {
            self.act("leave the menu", |window| window.click_node(id));
        }
    }

    /// Whether a control that could be clicked is still in place but inert.
    fn is_shut_off(&mut self, before: &[Control]) -> bool {
        self.look_around();
        let now: HashSet<NodeId> = self.sight.controls.iter().map(|of| of.id).collect();
        let gone: Vec<NodeId> = before.iter().map(|of| of.id).filter(|id| !now.contains(id)).collect();
        if gone.is_empty() {
            return false;
        }
        let is_inert =
            |tree: &Tree, id: NodeId| tree.element(id).is_some_and(|of| of.attribute(&"inert".into()).is_some());
        let found = self.window.engine.look(|context| {
            read(context, |tree| {
                let is_shut = |id: &NodeId| {
                    tree.is_connected(*id) && [*id].into_iter().chain(tree.ancestors(*id)).any(|of| is_inert(tree, of))
                };
                gone.iter().any(is_shut)
            })
        });
        found == Some(true)
    }
}
