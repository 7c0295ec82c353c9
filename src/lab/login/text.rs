//! A model as text: in its stored form, and as graphs.

use std::fmt::Write as _;

use gleaner_login::model::Model;
use gleaner_login::tree::{Node, Tree};

/// The stored form of the model: one tree per line, so that diffs are readable.
///
/// # Errors
/// None for a model of this room.
pub fn json(model: &Model) -> Result<String, serde_json::Error> {
    let trees = model.trees.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(format!(
        "{{\"features\":{},\n\"threshold\":{},\n\"trees\":[\n{}\n]}}\n",
        serde_json::to_string(&model.features)?,
        model.threshold,
        trees.join(",\n")
    ))
}

/// The trees as consecutive DOT graphs.
#[must_use]
pub fn dot(model: &Model) -> String {
    model.trees.iter().enumerate().map(|(at, tree)| tree_dot(tree, at, &model.features)).collect()
}

/// One tree as a DOT graph.
fn tree_dot(tree: &Tree, at: usize, features: &[String]) -> String {
    let mut out = format!("digraph \"tree {at}\" {{\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (place, node) in tree.nodes().iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = match *node {
            Node::Cut { feature, at, gain, low, high } => writeln!(
                out,
                "  n{place} [label=\"{}\\ngain {gain:.3}\"];\n  n{place} -> n{low} [label=\"≤ {at}\"];\n  n{place} -> n{high} [label=\"> {at}\"];",
                features[feature]
            ),
            Node::Leaf { logins, others } => {
                let colour = if logins > others { "palegreen" } else { "mistyrose" };
                writeln!(
                    out,
                    "  n{place} [label=\"{logins} login, {others} other\", style=filled, fillcolor={colour}];"
                )
            }
        };
    }
    out.push_str("}\n");
    out
}
