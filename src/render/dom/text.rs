//! Character data (DOM §4.10, §4.11): offsets are UTF-16 units as scripts count them, the data is UTF-8.

use super::Error;
use super::node::{NodeData, NodeId, NodeKind};
use super::record::Mutation;
use super::tree::Tree;

/// UTF-16 units of a text.
pub fn utf16_len(text: &str) -> usize {
    // Every non-continuation byte starts a character; characters of four bytes are two units.
    text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}

/// The byte at which a UTF-16 unit begins; `None` beyond the end, or inside a surrogate pair.
pub fn byte_of_unit(text: &str, unit: usize) -> Option<usize> {
    if text.is_ascii() {
        return (unit <= text.len()).then_some(unit);
    }
    let mut seen = 0;
    for (byte, character) in text.char_indices() {
        if seen >= unit {
            return (seen == unit).then_some(byte);
        }
        seen += character.len_utf16();
    }
    (seen == unit).then_some(text.len())
}

/// Units `from..to` of a text; half a surrogate pair reads as U+FFFD.
fn slice_units(text: &str, from: usize, to: usize) -> String {
    if let (Some(from), Some(to)) = (byte_of_unit(text, from), byte_of_unit(text, to)) {
        return text[from..to].to_owned();
    }
    let units: Vec<u16> = text.encode_utf16().skip(from).take(to - from).collect();
    String::from_utf16_lossy(&units)
}

impl Tree {
    /// The data of text, CDATA sections, comments and processing instructions.
    pub fn character_data(&self, id: NodeId) -> Option<&str> {
        match self.data(id) {
            NodeData::Text(data) | NodeData::CData(data) | NodeData::Comment(data) => Some(data),
            NodeData::Instruction(instruction) => Some(&instruction.data),
            _ => None,
        }
    }

    fn character_data_mut(&mut self, id: NodeId) -> Option<&mut String> {
        match self.data_mut(id)? {
            NodeData::Text(data) | NodeData::CData(data) | NodeData::Comment(data) => Some(data),
            NodeData::Instruction(instruction) => Some(&mut instruction.data),
            _ => None,
        }
    }

    /// `data.substringData(offset, count)`, in UTF-16 units.
    ///
    /// # Errors
    /// [`Error::IndexSize`] for an offset beyond the end, [`Error::NotSupported`] for a node without data.
    pub fn substring_data(&self, id: NodeId, offset: usize, count: usize) -> Result<String, Error> {
        let data = self.character_data(id).ok_or(Error::NotSupported)?;
        let length = utf16_len(data);
        if offset > length {
            return Err(Error::IndexSize);
        }
        Ok(slice_units(data, offset, offset.saturating_add(count).min(length)))
    }

    /// "Replace data" (DOM §4.10), in UTF-16 units: the basis of all writes of character data.
    ///
    /// # Errors
    /// [`Error::IndexSize`], [`Error::NotSupported`] as above, [`Error::Full`].
    pub fn replace_data(&mut self, id: NodeId, offset: usize, count: usize, new: &str) -> Result<(), Error> {
        let data = self.character_data(id).ok_or(Error::NotSupported)?;
        let length = utf16_len(data);
        if offset > length {
            return Err(Error::IndexSize);
        }
        let end = offset.saturating_add(count).min(length);
        let replaced = match (byte_of_unit(data, offset), byte_of_unit(data, end)) {
            (Some(from), Some(to)) => [&data[..from], new, &data[to..]].concat(),
            _ => [&slice_units(data, 0, offset), new, &slice_units(data, end, length)].concat(),
        };
        self.check_room(0, replaced.len().saturating_sub(data.len()))?;
        self.put_data(id, replaced, offset, end - offset, utf16_len(new));
        Ok(())
    }

    /// `node.data = …`: replaces all of it.
    pub fn set_data(&mut self, id: NodeId, new: &str) -> Result<(), Error> {
        let data = self.character_data(id).ok_or(Error::NotSupported)?;
        let removed = utf16_len(data);
        self.check_room(0, new.len().saturating_sub(data.len()))?;
        self.put_data(id, new.to_owned(), 0, removed, utf16_len(new));
        Ok(())
    }

    fn put_data(&mut self, target: NodeId, new: String, offset: usize, removed: usize, added: usize) {
        let added_bytes = new.len();
        let Some(data) = self.character_data_mut(target) else {
            return;
        };
        let old = std::mem::replace(data, new);
        self.count_text(old.len(), added_bytes);
        self.data_replaced(target, offset, removed, added);
        self.record(|| Mutation::Text { target, old, offset, removed, added });
    }

    /// Appends in place: the parser receives long texts in many pieces.
    pub(super) fn extend_data(&mut self, target: NodeId, more: &str) {
        if self.character_data(target).is_none() {
            return;
        }
        let old = |tree: &Self| tree.character_data(target).unwrap_or_default().to_owned();
        self.record_extension(target, utf16_len(more), old);
        if let Some(data) = self.character_data_mut(target) {
            data.push_str(more);
        }
        self.count_text(0, more.len());
    }

    /// `text.splitText(offset)` (DOM §4.11); returns the new node.
    pub fn split_text(&mut self, id: NodeId, offset: usize) -> Result<NodeId, Error> {
        if !self.is_text(id) {
            return Err(Error::NotSupported);
        }
        let rest = self.substring_data(id, offset, usize::MAX)?;
        let count = utf16_len(&rest);
        let new = self.create_text(self.document_of(id), rest)?;
        if let Some(parent) = self.parent(id) {
            self.insert(parent, new, self.next_sibling(id));
            self.text_split(id, new, offset);
        }
        self.replace_data(id, offset, count, "")?;
        Ok(new)
    }

    /// `node.normalize()` (DOM §4.4): removes empty texts and merges adjacent ones. CDATA sections stay.
    pub fn normalize(&mut self, root: NodeId) -> Result<(), Error> {
        let is_plain = |tree: &Self, id: NodeId| tree.kind(id) == NodeKind::Text;
        let mut at = self.next_in_order(root, root);
        while let Some(id) = at {
            at = self.next_in_order(id, root);
            if !is_plain(self, id) {
                continue;
            }
            if self.character_data(id).is_some_and(str::is_empty) {
                self.remove(id);
                continue;
            }
            let run: Vec<NodeId> = std::iter::successors(self.next_sibling(id), |id| self.next_sibling(*id))
                .take_while(|next| is_plain(self, *next))
                .collect();
            if run.is_empty() {
                continue;
            }
            let more: String = run.iter().filter_map(|next| self.character_data(*next)).collect();
            let length = self.character_data(id).map_or(0, utf16_len);
            self.replace_data(id, length, 0, &more)?;
            let mut joined = length;
            for next in run {
                self.text_joined(id, next, joined);
                joined += self.character_data(next).map_or(0, utf16_len);
                self.remove(next);
            }
            at = self.next_in_order(id, root);
        }
        Ok(())
    }

    /// `textContent` (DOM §4.4); `None` for documents and document types.
    pub fn text_content(&self, id: NodeId) -> Option<String> {
        match self.kind(id) {
            NodeKind::Element | NodeKind::Fragment => {
                let texts = self.descendants(id).filter(|node| self.is_text(*node));
                Some(texts.filter_map(|text| self.character_data(text)).collect())
            }
            NodeKind::Attribute => self.attr_value(id).map(str::to_owned),
            _ => self.character_data(id).map(str::to_owned),
        }
    }

    /// The data of the text children (DOM §4.11 "child text content"): the source of a script or style.
    pub fn child_text(&self, id: NodeId) -> String {
        self.children(id).filter(|child| self.is_text(*child)).filter_map(|text| self.character_data(text)).collect()
    }

    /// `textContent = …` (DOM §4.4 "string replace all").
    pub fn set_text_content(&mut self, id: NodeId, text: &str) -> Result<(), Error> {
        match self.kind(id) {
            NodeKind::Element | NodeKind::Fragment => {
                let new = match text {
                    "" => None,
                    text => Some(self.create_text(self.document_of(id), text.to_owned())?),
                };
                self.replace_all(id, new);
                Ok(())
            }
            NodeKind::Document | NodeKind::DocumentType | NodeKind::Vacant => Ok(()),
            NodeKind::Attribute => self.set_attr_value(id, text),
            _ => self.set_data(id, text),
        }
    }
}
