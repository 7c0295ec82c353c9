//! The class of each shape; shapes that were not sampled have the class of their like (LEARNING §14.9).

use std::collections::HashMap;

use super::Chooser;
use crate::learner::Ask;
use crate::map::ShapeId;
use crate::parts::is_program;
use crate::shape::Shape;
use gleaner_rules::{Class, is_router};

/// Sampled shapes that must be alike, and the share of them that must have one class.
const SAMPLED_MIN: usize = 2;
const AGREEING: f64 = 0.8;

impl<A: Ask> Chooser<'_, '_, A> {
    pub(super) fn classify(&mut self) {
        let choice = &mut self.choice;
        for shape in &choice.things.downloads {
            choice.classes.insert(*shape, Class::Download);
        }
        for shape in &choice.things.details {
            choice.classes.insert(*shape, Class::Detail);
        }
        for shape in choice.lists.iter().flat_map(|list| &list.shapes) {
            choice.classes.entry(*shape).or_insert(Class::Index);
        }
        for shape in &choice.hubs {
            choice.classes.entry(*shape).or_insert(Class::Page);
        }
        let map = &self.run.map;
        if let Some((start, _)) = map.pages().min_by_key(|(_, page)| page.order) {
            choice.classes.entry(map.shape_of(map.end_of(start))).or_insert(Class::Page);
            choice.classes.entry(map.shape_of(start)).or_insert(Class::Page);
        }
        let mut alike: HashMap<String, Vec<Option<Class>>> = HashMap::new();
        for (id, shape) in map.shapes() {
            if map.pages_of(id).any(|(_, page)| page.is_page() || page.is_torrent()) {
                alike.entry(without_words(shape)).or_default().push(choice.classes.get(&id).copied());
            }
        }
        let inherited: Vec<(ShapeId, Class)> = map
            .shapes()
            .filter(|(id, _)| !choice.classes.contains_key(id) && !choice.barred.contains(id))
            .filter(|(id, _)| map.pages_of(*id).next().is_none())
            .filter(|(id, _)| map.urls_of(*id).iter().any(|url| map.url(*url).refused.is_none()))
            .filter_map(|(id, shape)| Some((id, class_of(alike.get(&without_words(shape))?)?)))
            .collect();
        choice.classes.extend(inherited);
    }
}

/// The class of most.
fn class_of(classes: &[Option<Class>]) -> Option<Class> {
    let count = |of: Option<Class>| classes.iter().filter(|class| **class == of).count();
    let best = classes.iter().flatten().copied().max_by_key(|class| count(Some(*class)))?;
    let is_agreed = classes.len() >= SAMPLED_MIN && count(Some(best)) as f64 >= AGREEING * classes.len() as f64;
    is_agreed.then_some(best)
}

/// A shape with one sign for all words but the first and what programs are told apart by.
fn without_words(shape: &Shape) -> String {
    let segments: Vec<&str> = shape.path.split('/').skip(1).collect();
    let mut out = String::new();
    for (index, segment) in segments.iter().enumerate() {
        let (stem, extension) =
            segment.rfind('.').filter(|dot| *dot > 0).map_or((*segment, ""), |dot| segment.split_at(dot));
        let is_word = index > 0 && !stem.is_empty() && !stem.contains('{') && !is_program(extension);
        out.extend(["/", if is_word { "{w}" } else { stem }, extension]);
    }
    for (key, form) in &shape.query {
        let is_word = !form.is_empty() && !form.contains('{') && !is_router(key);
        out.extend(["&", key, "=", if is_word { "{w}" } else { form }]);
    }
    out
}
