//! A list as a Parquet file: a column for each field of [`Record`], lists and their elements as nested ones.
//! <https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists>

use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::ExportError;
use super::list::Record;
use super::whole_file::WholeFile;
use crate::limits::{TABLE_BYTES_MAX, TABLE_ROWS_MAX};

/// The columns, in the order of [`Rows::add`].
const SCHEMA: &str = "message torrents {
    optional binary infohash_v1 (UTF8); optional binary infohash_v2 (UTF8); required binary kind (UTF8); required binary name (UTF8);
    required int64 payload_bytes (INTEGER(64,false)); required int64 file_count (INTEGER(64,false));
    required int64 category (INTEGER(64,false)); required binary category_name (UTF8); required boolean private;
    required int64 piece_bytes (INTEGER(64,false)); required int64 pieces (INTEGER(64,false));
    optional binary created (UTF8); optional binary created_by (UTF8); optional binary comment (UTF8);
    required group trackers (LIST) { repeated group list { required binary element (UTF8); } }
    required group web_seeds (LIST) { repeated group list { required binary element (UTF8); } }
    required group similar (LIST) { repeated group list { required binary element (UTF8); } }
    required group collections (LIST) { repeated group list { required binary element (UTF8); } }
    optional binary update_url (UTF8); required int64 metainfo_bytes (INTEGER(64,false)); required binary sha256 (UTF8);
    optional binary stored (UTF8); optional binary site (UTF8);
    required group sources (LIST) { repeated group list { required group element {
        required binary site (UTF8); required binary url (UTF8); optional binary via (UTF8); optional binary label (UTF8);
        required binary first_seen (UTF8); required binary last_seen (UTF8); } } }
    required group files (LIST) { repeated group list { required group element {
        required binary path (UTF8); required int64 bytes (INTEGER(64,false)); } } }
}";

/// A Parquet file being written.
pub(super) struct Table {
    writer: SerializedFileWriter<BufWriter<WholeFile>>,
    rows: Rows,
}

/// Rows that are not written yet, column by column.
#[derive(Default)]
struct Rows {
    columns: Vec<Column>,
    count: usize,
    /// That the values take.
    bytes: usize,
}

/// The values of a column, and the levels of Dremel's encoding where it has some.
#[derive(Default)]
struct Column {
    texts: Vec<ByteArray>,
    numbers: Vec<i64>,
    flags: Vec<bool>,
    /// How much of the path to the value is there.
    definition: Vec<i16>,
    /// 0 begins a list, 1 goes on with it.
    repetition: Vec<i16>,
}

impl Table {
    pub fn begin(file: BufWriter<WholeFile>, dest: &Path) -> Result<Self, ExportError> {
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let schema = parse_message_type(SCHEMA).map_err(|error| failed(dest, error))?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties));
        Ok(Self { writer: writer.map_err(|error| failed(dest, error))?, rows: Rows::default() })
    }

    pub fn put(&mut self, record: &Record<'_>, dest: &Path) -> Result<(), ExportError> {
        self.rows.add(record);
        if self.rows.count >= TABLE_ROWS_MAX || self.rows.bytes >= TABLE_BYTES_MAX {
            self.write().map_err(|error| failed(dest, error))?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group()?;
        for column in &rows.columns {
            let Some(mut writer) = group.next_column()? else { break };
            let levels = |levels: &Vec<i16>| (!levels.is_empty()).then(|| levels.clone());
            let (definition, repetition) = (levels(&column.definition), levels(&column.repetition));
            let (definition, repetition) = (definition.as_deref(), repetition.as_deref());
            if !column.numbers.is_empty() {
                writer.typed::<Int64Type>().write_batch(&column.numbers, definition, repetition)?;
            } else if !column.flags.is_empty() {
                writer.typed::<BoolType>().write_batch(&column.flags, definition, repetition)?;
            } else if column.is_of_numbers() {
                writer.typed::<Int64Type>().write_batch(&[], definition, repetition)?;
            } else {
                writer.typed::<ByteArrayType>().write_batch(&column.texts, definition, repetition)?;
            }
            writer.close()?;
        }
        group.close().map(|_| ())
    }

    pub fn finish(mut self, dest: &Path) -> Result<BufWriter<WholeFile>, ExportError> {
        if self.rows.count > 0 {
            self.write().map_err(|error| failed(dest, error))?;
        }
        self.writer.into_inner().map_err(|error| failed(dest, error))
    }
}

fn failed(dest: &Path, error: ParquetError) -> ExportError {
    // A full disk stands within it.
    let error = match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(error) => std::io::Error::other(error),
        },
        error => std::io::Error::other(error),
    };
    ExportError::io(dest, "write", error)
}

impl Column {
    /// A list of numbers without any in these rows.
    fn is_of_numbers(&self) -> bool {
        self.texts.capacity() == 0 && self.numbers.capacity() > 0
    }
}

/// What a value takes beside its text.
const VALUE_BYTES: usize = 64;

/// Goes through the columns of a row.
struct Filling<'r> {
    rows: &'r mut Rows,
    next: usize,
}

impl Filling<'_> {
    fn column(&mut self) -> &mut Column {
        self.next += 1;
        if self.rows.columns.len() < self.next {
            self.rows.columns.push(Column::default());
        }
        &mut self.rows.columns[self.next - 1]
    }

    fn text(&mut self, text: &str) {
        self.rows.bytes += text.len() + VALUE_BYTES;
        self.column().texts.push(text.into());
    }

    fn maybe(&mut self, text: Option<&str>) {
        self.rows.bytes += text.map_or(0, str::len) + VALUE_BYTES;
        let column = self.column();
        column.definition.push(i16::from(text.is_some()));
        column.texts.extend(text.map(ByteArray::from));
    }

    /// Numbers are unsigned, as the schema says.
    fn number(&mut self, number: u64) {
        self.column().numbers.push(number.cast_signed());
    }

    fn flag(&mut self, flag: bool) {
        self.column().flags.push(flag);
    }

    /// A list; of texts that may be absent, each level is one deeper.
    fn texts<'t>(&mut self, texts: impl Iterator<Item = Option<&'t str>>, may_be_absent: bool) {
        let there = if may_be_absent { 2 } else { 1 };
        let (mut is_empty, mut bytes) = (true, 0);
        let column = self.column();
        for text in texts {
            column.repetition.push(i16::from(!is_empty));
            column.definition.push(if text.is_some() { there } else { 1 });
            column.texts.extend(text.map(ByteArray::from));
            bytes += text.map_or(0, str::len) + VALUE_BYTES;
            is_empty = false;
        }
        if is_empty {
            column.repetition.push(0);
            column.definition.push(0);
        }
        self.rows.bytes += bytes;
    }

    fn list(&mut self, texts: &[String]) {
        self.texts(texts.iter().map(|text| Some(text.as_str())), false);
    }

    fn numbers(&mut self, numbers: impl Iterator<Item = u64>) {
        let column = self.column();
        column.numbers.reserve(1);
        let mut is_empty = true;
        for number in numbers {
            column.repetition.push(i16::from(!is_empty));
            column.definition.push(1);
            column.numbers.push(number.cast_signed());
            is_empty = false;
        }
        if is_empty {
            column.repetition.push(0);
            column.definition.push(0);
        }
    }
}

impl Rows {
    fn add(&mut self, record: &Record<'_>) {
        self.count += 1;
        let mut at = Filling { rows: self, next: 0 };
        at.maybe(record.infohash_v1.as_deref());
        at.maybe(record.infohash_v2.as_deref());
        at.text(record.kind);
        at.text(record.name);
        at.number(record.payload_bytes);
        at.number(record.file_count.into());
        at.number(record.category.into());
        at.text(&record.category_name);
        at.flag(record.private);
        at.number(record.piece_bytes);
        at.number(record.pieces);
        at.maybe(record.created.as_deref());
        at.maybe(record.created_by.as_deref());
        at.maybe(record.comment.as_deref());
        at.list(&record.trackers);
        at.list(&record.web_seeds);
        at.list(&record.similar);
        at.list(&record.collections);
        at.maybe(record.update_url.as_deref());
        at.number(record.metainfo_bytes.into());
        at.text(&record.sha256);
        at.maybe(record.stored.as_deref());
        at.maybe(record.site);
        let sources = &record.sources;
        at.texts(sources.iter().map(|source| Some(source.site)), false);
        at.texts(sources.iter().map(|source| Some(&*source.url)), false);
        at.texts(sources.iter().map(|source| source.via.as_deref()), true);
        at.texts(sources.iter().map(|source| source.label), true);
        at.texts(sources.iter().map(|source| Some(&*source.first_seen)), false);
        at.texts(sources.iter().map(|source| Some(&*source.last_seen)), false);
        at.texts(record.files.iter().map(|file| Some(file.path)), false);
        at.numbers(record.files.iter().map(|file| file.bytes));
    }
}
