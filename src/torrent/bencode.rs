//! Spans of bencoded values (BEP 3, "bencoding"): where each value begins and ends, without copying any.
//!
//! All torrent data from the network passes here first. The scanner is iterative, keeps its stack in one machine
//! word, allocates only the spans of the top-level keys, and rejects bombs by `limits::BENCODE_DEPTH_MAX`,
//! `limits::BENCODE_TOKENS_MAX` and `limits::DICTIONARY_KEYS_MAX`. [`Dict`] and [`List`] read only spans that it has
//! checked.
//!
//! It is as strict as libtorrent's `bdecode` and no stricter, so that the two agree on what a torrent is. The only
//! exception is the last of these limits: real torrents have a dozen keys. Keys may be unsorted or repeated (the
//! first counts), integers and lengths may have leading zeros, and bytes after the dictionary are ignored.
//! [`is_canonical`] is the strict form that BEP 52 requires.
//!
//! It never re-encodes: an infohash is taken over the bytes as sent.

use std::ops::Range;

use crate::limits::{BENCODE_DEPTH_MAX, BENCODE_TOKENS_MAX, DICTIONARY_KEYS_MAX};

/// What is wrong with a bencoded value, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {fault}")]
pub struct BencodeError {
    /// Offset from the first byte given to the scanner.
    pub at: usize,
    pub fault: BencodeFault,
}

/// The kinds of [`BencodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BencodeFault {
    #[error("the data ends inside a value")]
    UnexpectedEnd,
    #[error("expected a dictionary")]
    ExpectedDictionary,
    #[error("expected a value: d, l, i or a digit")]
    ExpectedValue,
    #[error("expected a dictionary key: a digit, or e")]
    ExpectedKey,
    #[error("expected a digit")]
    ExpectedDigit,
    #[error("an integer of more than {} digits", INTEGER_DIGITS_MAX)]
    IntegerTooLong,
    #[error("a string length of more than {} digits", LENGTH_DIGITS_MAX)]
    LengthTooLong,
    #[error("nested deeper than {} levels", BENCODE_DEPTH_MAX)]
    TooDeep,
    #[error("more than {} values", BENCODE_TOKENS_MAX)]
    TooManyTokens,
    #[error("more than {} keys", DICTIONARY_KEYS_MAX)]
    TooManyKeys,
    #[error("longer than 4 GiB")]
    TooLong,
}

/// Digits of an integer, leading zeros included; libtorrent's limit.
const INTEGER_DIGITS_MAX: usize = 20;

/// Digits of a string's length, leading zeros included; libtorrent's limit.
const LENGTH_DIGITS_MAX: usize = 16;

// One bit of a u128 per open container.
const _: () = assert!(BENCODE_DEPTH_MAX <= 128);

/// The top-level dictionary's extent and entries, as offsets into the scanned bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DictSpans {
    /// Bytes of the dictionary, from its `d` to its `e`.
    pub len: usize,
    entries: Vec<Entry>,
}

/// `u32` halves the memory of a dictionary of a million keys; the scanner refuses longer inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key_start: u32,
    key_end: u32,
    value_end: u32,
}

impl DictSpans {
    /// Entries in the order of the bytes: (key without its length prefix, value whole).
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (Range<usize>, Range<usize>)> + '_ {
        self.entries.iter().map(|entry| {
            let (key_start, key_end) = (entry.key_start as usize, entry.key_end as usize);
            (key_start..key_end, key_end..entry.value_end as usize)
        })
    }

    /// The span of the value of the first entry with this key.
    #[must_use]
    pub fn find(&self, bytes: &[u8], key: &[u8]) -> Option<Range<usize>> {
        self.entries().find(|(at, _)| bytes.get(at.clone()) == Some(key)).map(|(_, value)| value)
    }
}

/// Checks the dictionary at the start of `bytes` and returns the spans of its entries. Bytes after it are ignored.
///
/// Memory: 12 bytes per top-level key. Time: linear, bounded by the caps named in the module documentation.
///
/// # Errors
/// [`BencodeError`] with the offset of the first byte that cannot be part of a dictionary.
pub fn scan_dictionary(bytes: &[u8]) -> Result<DictSpans, BencodeError> {
    let mut tokens_left = BENCODE_TOKENS_MAX;
    scan_dictionary_within(bytes, &mut tokens_left)
}

/// [`scan_dictionary`] with a budget of values that several scans share.
///
/// # Errors
/// As [`scan_dictionary`]; [`BencodeFault::TooManyTokens`] when the budget is used up.
pub fn scan_dictionary_within(bytes: &[u8], tokens_left: &mut usize) -> Result<DictSpans, BencodeError> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(BencodeError { at: 0, fault: BencodeFault::TooLong });
    }
    match bytes.first() {
        Some(b'd') => {}
        Some(_) => {
            return Err(BencodeError { at: 0, fault: BencodeFault::ExpectedDictionary });
        }
        None => {
            return Err(BencodeError { at: 0, fault: BencodeFault::UnexpectedEnd });
        }
    }
    // The dictionary itself and its end.
    *tokens_left = tokens_left.checked_sub(2).ok_or(BencodeError { at: 0, fault: BencodeFault::TooManyTokens })?;
    let mut at = 1;
    let mut entries = Vec::new();
    loop {
        match byte(bytes, at)? {
            b'e' => return Ok(DictSpans { len: at + 1, entries }),
            b'0'..=b'9' => {}
            _ => {
                return Err(BencodeError { at, fault: BencodeFault::ExpectedKey });
            }
        }
        let key = string(bytes, at)?;
        *tokens_left = tokens_left.checked_sub(1).ok_or(BencodeError { at, fault: BencodeFault::TooManyTokens })?;
        at = skip_value(bytes, key.end, 1, tokens_left)?;
        if entries.len() == DICTIONARY_KEYS_MAX {
            return Err(BencodeError { at, fault: BencodeFault::TooManyKeys });
        }
        // The casts are exact: every offset is at most bytes.len(), which fits u32.
        #[allow(clippy::cast_possible_truncation)]
        entries.push(Entry { key_start: key.start as u32, key_end: key.end as u32, value_end: at as u32 });
    }
}

#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> Result<u8, BencodeError> {
    match bytes.get(at) {
        Some(&byte) => Ok(byte),
        None => Err(BencodeError { at, fault: BencodeFault::UnexpectedEnd }),
    }
}

/// The content of the string whose length begins at `at`. The caller has checked the first digit.
#[inline(always)]
fn string(bytes: &[u8], at: usize) -> Result<Range<usize>, BencodeError> {
    let mut length = 0;
    let mut cursor = at;
    loop {
        let digit = byte(bytes, cursor)?;
        if digit == b':' && cursor > at {
            break;
        }
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return Err(BencodeError { at: cursor, fault: BencodeFault::ExpectedDigit });
        }
        // No overflow: before this line the length is at most bytes.len(), which fits u32.
        length = length * 10 + value as usize;
        if length > bytes.len() {
            return Err(BencodeError { at, fault: BencodeFault::UnexpectedEnd });
        }
        cursor += 1;
        if cursor - at > LENGTH_DIGITS_MAX {
            return Err(BencodeError { at, fault: BencodeFault::LengthTooLong });
        }
    }
    let start = cursor + 1;
    if length > bytes.len() - start {
        return Err(BencodeError { at, fault: BencodeFault::UnexpectedEnd });
    }
    Ok(start..start + length)
}

/// The offset after the integer whose `i` is at `at`.
#[inline(always)]
fn integer_end(bytes: &[u8], at: usize) -> Result<usize, BencodeError> {
    let mut cursor = at + 1;
    if byte(bytes, cursor)? == b'-' {
        cursor += 1;
    }
    let first_digit = cursor;
    loop {
        let digit = byte(bytes, cursor)?;
        if digit == b'e' && cursor > first_digit {
            return Ok(cursor + 1);
        }
        if !digit.is_ascii_digit() {
            return Err(BencodeError { at: cursor, fault: BencodeFault::ExpectedDigit });
        }
        cursor += 1;
        if cursor - first_digit > INTEGER_DIGITS_MAX {
            return Err(BencodeError { at, fault: BencodeFault::IntegerTooLong });
        }
    }
}

/// The offset after the value at `at`, which lies inside `depth_outside` containers.
///
/// `dicts` is the stack: bit 0 is set if the innermost open container is a dictionary. No state is needed for "key or value
/// next": a key and its value are consumed in one iteration, and when a container closes, its parent always expects a key
/// or an element.
fn skip_value(
    bytes: &[u8],
    mut at: usize,
    depth_outside: usize,
    tokens_left: &mut usize,
) -> Result<usize, BencodeError> {
    let mut dicts: u128 = 0;
    let mut depth = 0;
    let mut tokens = *tokens_left;
    loop {
        let mut first = byte(bytes, at)?;
        if depth > 0 {
            if first == b'e' {
                at += 1;
                depth -= 1;
                dicts >>= 1;
                if depth == 0 {
                    *tokens_left = tokens;
                    return Ok(at);
                }
                continue;
            }
            if dicts & 1 == 1 {
                if !first.is_ascii_digit() {
                    return Err(BencodeError { at, fault: BencodeFault::ExpectedKey });
                }
                at = string(bytes, at)?.end;
                first = byte(bytes, at)?;
                // The end of a container is counted with its start, a key with its value.
                tokens = tokens.saturating_sub(1);
            }
        }
        if tokens < 2 {
            return Err(BencodeError { at, fault: BencodeFault::TooManyTokens });
        }
        tokens -= 1;
        match first {
            b'0'..=b'9' => at = string(bytes, at)?.end,
            b'i' => at = integer_end(bytes, at)?,
            b'd' | b'l' => {
                depth += 1;
                tokens -= 1;
                if depth_outside + depth >= BENCODE_DEPTH_MAX {
                    return Err(BencodeError { at, fault: BencodeFault::TooDeep });
                }
                dicts = (dicts << 1) | u128::from(first == b'd');
                at += 1;
                continue;
            }
            _ => {
                return Err(BencodeError { at, fault: BencodeFault::ExpectedValue });
            }
        }
        if depth == 0 {
            *tokens_left = tokens;
            return Ok(at);
        }
    }
}

/// Skips UTF-8 BOMs and ASCII white space. Sites that include one file in another send several BOMs.
#[must_use]
pub fn skip_blank(mut bytes: &[u8]) -> &[u8] {
    loop {
        bytes = match bytes {
            [0xef, 0xbb, 0xbf, rest @ ..] | [b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c, rest @ ..] => rest,
            _ => return bytes,
        };
    }
}

/// What the first bytes of a body look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `d<length>:<printable key><beginning of a value>`: all dictionaries written by programs begin like this.
    Dictionary,
    /// More bytes are needed.
    Unknown,
    /// Something else, including prose (`d8:announcement`): no value begins with `m`.
    Other,
}

/// Checks the first key of a possible non-empty dictionary. A key is text of at most 999 bytes here.
#[must_use]
pub fn dictionary_shape(bytes: &[u8]) -> Shape {
    let Some((first, rest)) = bytes.split_first() else {
        return Shape::Unknown;
    };
    let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    if *first != b'd' || digits > 3 || (digits == 0 && !rest.is_empty()) {
        return Shape::Other;
    }
    let length = rest[..digits].iter().fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
    let Some((colon, rest)) = rest[digits..].split_first() else {
        return Shape::Unknown;
    };
    let key = &rest[..length.min(rest.len())];
    if *colon != b':' || !key.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return Shape::Other;
    }
    match rest.get(length) {
        Some(b'0'..=b'9' | b'd' | b'l' | b'i') => Shape::Dictionary,
        Some(_) => Shape::Other,
        None => Shape::Unknown,
    }
}

/// One value of a span that [`scan_dictionary`] has checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Integer(Integer<'a>),
    String(&'a [u8]),
    List(List<'a>),
    Dict(Dict<'a>),
}

/// An integer as written, between `i` and `e`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer<'a>(&'a [u8]);

/// The content of a list. Iteration stops at the first error, which a checked span does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List<'a>(&'a [u8]);

/// The content of a dictionary, after its `d`. Iterates like [`List`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dict<'a>(&'a [u8]);

impl Integer<'_> {
    /// The number, or zero if it does not fit, as in libtorrent.
    #[must_use]
    pub fn get(self) -> i64 {
        let (negative, digits) = match self.0 {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let mut number: i64 = 0;
        for digit in digits {
            let grown = number.checked_mul(10).and_then(|number| number.checked_add(i64::from(digit - b'0')));
            match grown {
                Some(grown) => number = grown,
                None => return 0,
            }
        }
        if negative { -number } else { number }
    }
}

/// Takes the value at the front of `rest`; None at an `e`, at the end or at an error.
#[inline]
fn take_value<'a>(rest: &mut &'a [u8]) -> Option<Value<'a>> {
    let bytes = *rest;
    let (value, end) = match bytes.first()? {
        b'0'..=b'9' => {
            let content = string(bytes, 0).ok()?;
            (Value::String(&bytes[content.clone()]), content.end)
        }
        b'i' => {
            let end = integer_end(bytes, 0).ok()?;
            (Value::Integer(Integer(&bytes[1..end - 1])), end)
        }
        container @ (b'd' | b'l') => {
            let mut tokens_left = BENCODE_TOKENS_MAX + 2;
            let end = skip_value(bytes, 0, 0, &mut tokens_left).ok()?;
            let inside = &bytes[1..end];
            (if *container == b'd' { Value::Dict(Dict(inside)) } else { Value::List(List(inside)) }, end)
        }
        _ => return None,
    };
    *rest = &bytes[end..];
    Some(value)
}

/// Takes the key at the front of `rest`; None at an `e`, at the end or at an error.
#[inline]
fn take_key<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let bytes = *rest;
    if !bytes.first()?.is_ascii_digit() {
        return None;
    }
    let content = string(bytes, 0).ok()?;
    *rest = &bytes[content.end..];
    Some(&bytes[content])
}

impl<'a> Value<'a> {
    /// Reads the value at the start of `checked`.
    #[must_use]
    pub fn read(checked: &'a [u8]) -> Option<Self> {
        take_value(&mut { checked })
    }

    #[must_use]
    pub fn as_dict(self) -> Option<Dict<'a>> {
        if let Self::Dict(dict) = self { Some(dict) } else { None }
    }

    #[must_use]
    pub fn as_list(self) -> Option<List<'a>> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    #[must_use]
    pub fn as_string(self) -> Option<&'a [u8]> {
        if let Self::String(string) = self { Some(string) } else { None }
    }

    #[must_use]
    pub fn as_integer(self) -> Option<i64> {
        if let Self::Integer(integer) = self { Some(integer.get()) } else { None }
    }
}

impl<'a> List<'a> {
    /// The elements in byte order.
    pub fn iter(self) -> impl Iterator<Item = Value<'a>> {
        let mut rest = self.0;
        std::iter::from_fn(move || take_value(&mut rest))
    }
}

impl<'a> Dict<'a> {
    /// The entries in byte order.
    pub fn entries(self) -> impl Iterator<Item = (&'a [u8], Value<'a>)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let key = take_key(&mut rest)?;
            take_value(&mut rest).map(|value| (key, value))
        })
    }

    /// The value of the first entry with this key.
    #[must_use]
    pub fn find(self, key: &[u8]) -> Option<Value<'a>> {
        self.entries().find(|(at, _)| *at == key).map(|(_, value)| value)
    }

    /// A walk through nested dictionaries in one pass, at any depth.
    #[must_use]
    pub fn walk(self) -> Walk<'a> {
        Walk { rest: self.0 }
    }
}

/// A position inside nested dictionaries, before a key or an end.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    /// Takes the next key; None at the end of a dictionary.
    pub fn key(&mut self) -> Option<&'a [u8]> {
        take_key(&mut self.rest)
    }

    /// Takes the whole value after a key.
    pub fn value(&mut self) -> Option<Value<'a>> {
        take_value(&mut self.rest)
    }

    /// Enters the dictionary after a key; false if the value is not a dictionary.
    pub fn enter(&mut self) -> bool {
        self.eat(b'd')
    }

    /// Leaves a dictionary after its last entry; false if entries are left.
    pub fn leave(&mut self) -> bool {
        self.eat(b'e')
    }

    /// True at the end of a dictionary.
    #[must_use]
    pub fn at_end(&self) -> bool {
        self.rest.first() == Some(&b'e')
    }

    fn eat(&mut self, wanted: u8) -> bool {
        match self.rest.split_first() {
            Some((&first, rest)) if first == wanted => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }
}

/// True if every dictionary in the checked value has its keys sorted and unrepeated, and no integer or string length
/// has a leading zero. BEP 52 requires it: if two encodings of one dictionary were valid, a v2 infohash would not be
/// unique. `i-0e` passes, as in libtorrent.
#[must_use]
pub fn is_canonical(checked: &[u8]) -> bool {
    // The last key seen in each open container; None in lists and before the first key.
    let mut open: Vec<(bool, Option<&[u8]>)> = Vec::new();
    let mut rest = checked;
    loop {
        let Some(&first) = rest.first() else { return false };
        if let Some((is_dict, last_key)) = open.last_mut() {
            if first == b'e' {
                rest = &rest[1..];
                open.pop();
                if open.is_empty() {
                    return true;
                }
                continue;
            }
            if *is_dict {
                if has_leading_zero(rest) {
                    return false;
                }
                let Some(key) = take_key(&mut rest) else { return false };
                if last_key.is_some_and(|last_key| last_key >= key) {
                    return false;
                }
                *last_key = Some(key);
            }
        }
        match rest.first() {
            Some(kind @ (b'd' | b'l')) => {
                open.push((*kind == b'd', None));
                rest = &rest[1..];
                continue;
            }
            Some(b'i') if has_leading_zero(&rest[1..]) => return false,
            Some(b'0'..=b'9') if has_leading_zero(rest) => return false,
            _ if take_value(&mut rest).is_none() => return false,
            _ => {}
        }
        if open.is_empty() {
            return true;
        }
    }
}

fn has_leading_zero(number: &[u8]) -> bool {
    matches!(number, [b'0', b'0'..=b'9', ..])
}

#[cfg(test)]
mod tests;
