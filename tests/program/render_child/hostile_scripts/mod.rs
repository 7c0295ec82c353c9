//! Pages that try to stay, to grow, to nest or to break the engine's foundations, each with its allowed ends.

use gleaner_render::wire::Outcome;

/// The allowed ends of a page, as named in `pages.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    Spent,
    Lost,
}

impl End {
    /// How a page ended that affected only itself.
    pub fn of(told: Option<&Outcome>) -> Self {
        match told {
            Some(outcome) if outcome.spent.is_some() => Self::Spent,
            Some(_) => Self::Done,
            None => Self::Lost,
        }
    }
}

pub struct Hostile {
    pub ends: Vec<End>,
    pub text: String,
}

impl Hostile {
    /// Whether the text is a whole page instead of a script.
    pub fn is_markup(&self) -> bool {
        self.text.starts_with('<')
    }
}

/// All of them.
pub fn all() -> Vec<Hostile> {
    let path = concat!(env!("GLEANER_ROOT"), "/tests/program/render_child/hostile_scripts/pages.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let read = |line: &str| {
        let (ends, text) = line.split_once(' ').unwrap_or_else(|| panic!("no end is named: {line}"));
        let end = |name: &str| match name {
            "done" => End::Done,
            "spent" => End::Spent,
            "lost" => End::Lost,
            other => panic!("no page ends as `{other}`: {line}"),
        };
        Hostile { ends: ends.split(',').map(end).collect(), text: text.to_owned() }
    };
    lines.map(read).collect()
}
