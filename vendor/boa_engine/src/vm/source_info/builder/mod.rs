//! gleaner: positions are written down where they change, in the order of the code. What stood here kept ranges that nest and flattened
//! them; it told no position behind the last of them, and the one before in between.

use boa_ast::Position;

use crate::vm::source_info::Entry;

#[derive(Debug, Default)]
pub(crate) struct SourceMapBuilder {
    entries: Vec<Entry>,
    current: Option<Position>,
}

impl SourceMapBuilder {
    pub(crate) fn build(self) -> Box<[Entry]> {
        self.entries.into_boxed_slice()
    }

    /// What is emitted from `pc` on is of this position. Gives the one before, which is to be set again.
    pub(crate) fn set(&mut self, pc: u32, position: Option<Position>) -> Option<Position> {
        if self.current == position {
            return position;
        }
        // Where nothing was emitted under a position, it leaves no trace.
        if self.entries.last().is_some_and(|last| last.pc == pc) {
            self.entries.pop();
        }
        if self.entries.last().and_then(|last| last.position) != position {
            self.entries.push(Entry { pc, position });
        }
        std::mem::replace(&mut self.current, position)
    }
}
