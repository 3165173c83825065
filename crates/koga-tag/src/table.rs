//! Rows as typed nested columns, and the Parquet file that they make.
//!
//! Each block becomes one row group, encoded as a file of its own: so threads encode side by side, and what is written
//! for a block is the same whatever was written before. The whole file is the row groups' bytes one after the other, and a
//! footer that knows where each begins.

use std::{collections::BTreeSet, sync::Arc};

use arrow_array::{
    ArrayRef, ListArray, RecordBatch, StructArray,
    builder::{Int32Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames, StringBuilder},
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use koga::{Finding, Line, Report, Superseded, shakmaty::Square};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    errors::{ParquetError, Result},
    file::{
        metadata::{
            ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataReader, ParquetMetaDataWriter,
            RowGroupMetaData,
        },
        properties::{EnabledStatistics, WriterProperties},
    },
    schema::types::ColumnPath,
};

use crate::{csv::Row, findings::Marks, names::themes};

/// What every Parquet file begins with, and what stands behind its footer's length.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// The footer's entry for one row group whose bytes follow a [`MAGIC`].
#[derive(Debug)]
pub(crate) struct Group(RowGroupMetaData);

/// Collects the rows of a block.
pub(crate) struct Table {
    schema: Arc<Schema>,
    properties: WriterProperties,
    given: Vec<Cells>,
    /// The numbers of a row, before any of it is kept.
    numbers: Vec<Option<i64>>,
    themes: ListBuilder<StringBuilder>,
    headline: Int32Builder,
    won: Int32Builder,
    findings: FindingCells,
    superseded: FindingCells,
    by: StringBuilder,
    rule: StringBuilder,
    rows: usize,
}

/// A column of the input.
enum Cells {
    Text(StringBuilder),
    Number(Int32Builder),
    Big(Int64Builder),
    Words(ListBuilder<StringBuilder>),
}

impl Cells {
    /// By the name in the Lichess files; text if it is none of theirs.
    fn of(name: &str) -> Cells {
        match name {
            "Rating" | "RatingDeviation" | "Popularity" | "NbPlays" | "cp" | "mate" | "depth" => {
                Cells::Number(Int32Builder::new())
            }
            "knodes" => Cells::Big(Int64Builder::new()),
            "Themes" | "OpeningTags" => Cells::Words(ListBuilder::new(StringBuilder::new())),
            _ => Cells::Text(StringBuilder::new()),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Cells::Text(cells) => Arc::new(cells.finish()),
            Cells::Number(cells) => Arc::new(cells.finish()),
            Cells::Big(cells) => Arc::new(cells.finish()),
            Cells::Words(cells) => Arc::new(cells.finish()),
        }
    }
}

impl Table {
    /// An empty table with the columns of the input, then Koga's.
    pub(crate) fn new(columns: &[String]) -> Table {
        let mut table = Table {
            schema: Arc::new(Schema::empty()),
            properties: WriterProperties::default(),
            given: columns.iter().map(|name| Cells::of(name)).collect(),
            numbers: vec![None; columns.len()],
            themes: ListBuilder::new(StringBuilder::new()),
            headline: Int32Builder::new(),
            won: Int32Builder::new(),
            findings: FindingCells::default(),
            superseded: FindingCells::default(),
            by: StringBuilder::new(),
            rule: StringBuilder::new(),
            rows: 0,
        };
        let names = column_names(columns);
        let arrays = table.finish();
        let own = ["KogaThemes", "KogaHeadline", "KogaWon", "KogaFindings", "KogaSuperseded"];
        let names = names.iter().map(String::as_str).chain(own);
        let fields = names.zip(&arrays).enumerate().map(|(n, (name, array))| {
            let nullable = n < columns.len() || matches!(name, "KogaHeadline");
            Field::new(name, array.data_type().clone(), nullable)
        });
        table.schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("koga version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).expect("3 is a level")))
            .set_max_row_group_row_count(None)
            .set_max_row_group_bytes(None)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        // Hardly ever twice the same.
        for name in ["PuzzleId", "FEN", "Moves", "GameUrl", "id", "fen", "moves"] {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), false);
        }
        table.properties = properties.build();
        table
    }

    /// Adds a row. What is wrong with it is said of a column, and then nothing is added.
    pub(crate) fn push(
        &mut self,
        fields: &Row,
        line: &Line,
        report: &Report,
    ) -> std::result::Result<(), (usize, String)> {
        for (n, (cells, field)) in self.given.iter().zip(fields.iter()).enumerate() {
            let range = match cells {
                Cells::Number(_) => i64::from(i32::MIN)..=i64::from(i32::MAX),
                Cells::Big(_) => i64::MIN..=i64::MAX,
                Cells::Text(_) | Cells::Words(_) => continue,
            };
            let field = field.trim_ascii();
            self.numbers[n] = match field.parse() {
                Ok(number) if range.contains(&number) => Some(number),
                _ if field.is_empty() => None,
                _ => return Err((n, format!("\"{field}\" is not a whole number of this column's range"))),
            };
        }
        for ((cells, field), number) in self.given.iter_mut().zip(fields.iter()).zip(&self.numbers) {
            match cells {
                Cells::Text(cells) if field.is_empty() => cells.append_null(),
                Cells::Text(cells) => cells.append_value(field),
                Cells::Number(cells) => cells.append_option(number.and_then(|number| i32::try_from(number).ok())),
                Cells::Big(cells) => cells.append_option(*number),
                Cells::Words(cells) => {
                    field.split_ascii_whitespace().for_each(|word| cells.values().append_value(word));
                    cells.append(true);
                }
            }
        }
        themes(report).for_each(|theme| self.themes.values().append_value(theme));
        self.themes.append(true);
        self.headline.append_option(report.headline.map(int));
        self.won.append_value(line.won());
        report.findings.iter().for_each(|finding| self.findings.push(finding));
        self.findings.end_row();
        for Superseded { finding, by, rule } in &report.superseded {
            self.superseded.push(finding);
            self.by.append_value(by.name());
            self.rule.append_value(rule.id);
        }
        self.superseded.end_row();
        self.rows += 1;
        Ok(())
    }

    /// The rows as a row group, and what the footer needs to say of it; the table is empty then.
    pub(crate) fn encode(&mut self) -> Result<(Vec<u8>, Option<Group>)> {
        if self.rows == 0 {
            return Ok((Vec::new(), None));
        }
        let (file, metadata) = self.file()?;
        let mut bytes = file;
        let [group] = metadata.row_groups() else {
            return Err(ParquetError::General("a block must make one row group".to_owned()));
        };
        let footer = footer_length(&bytes)?;
        bytes.truncate(bytes.len() - footer);
        bytes.drain(..MAGIC.len());
        Ok((bytes, Some(Group(group.clone()))))
    }

    /// The rows as a file of their own, and its footer as a reader sees it.
    fn file(&mut self) -> Result<(Vec<u8>, ParquetMetaData)> {
        let rows = std::mem::take(&mut self.rows);
        let arrays = self.finish();
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, Arc::clone(&self.schema), Some(self.properties.clone()))?;
        if rows > 0 {
            writer.write(&RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)?;
        }
        writer.close()?;
        let footer = file.len() - footer_length(&file)?;
        let metadata = ParquetMetaDataReader::decode_metadata(&file[footer..file.len() - 8])?;
        Ok((file, metadata))
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        let by: [(&str, ArrayRef); 2] = [("by", Arc::new(self.by.finish())), ("rule", Arc::new(self.rule.finish()))];
        let mut arrays: Vec<ArrayRef> = self.given.iter_mut().map(Cells::finish).collect();
        arrays.push(Arc::new(self.themes.finish()));
        arrays.push(Arc::new(self.headline.finish()));
        arrays.push(Arc::new(self.won.finish()));
        arrays.push(self.findings.finish([]));
        arrays.push(self.superseded.finish(by));
        arrays
    }
}

/// Every column needs a name of its own, capitals apart: some readers do not tell them apart.
fn column_names(columns: &[String]) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    columns
        .iter()
        .enumerate()
        .map(|(n, name)| {
            let mut name = if name.is_empty() { format!("Column{}", n + 1) } else { name.clone() };
            while !taken.insert(name.to_ascii_lowercase()) {
                name.push('_');
            }
            name
        })
        .collect()
}

/// The length of a file's footer with the length and the magic behind it.
fn footer_length(file: &[u8]) -> Result<usize> {
    let tail = file.len().checked_sub(8).and_then(|at| file[at..].first_chunk::<4>());
    let length = tail.map(|bytes| u32::from_le_bytes(*bytes) as usize + 8).filter(|length| *length <= file.len());
    length.ok_or_else(|| ParquetError::General("a file without footer".to_owned()))
}

/// Findings, several a row.
struct FindingCells {
    /// Where each row's findings end.
    ends: Vec<i32>,
    tactic: StringBuilder,
    role: StringBuilder,
    kind: StringBuilder,
    ply: Int32Builder,
    piece: StringBuilder,
    targets: ListBuilder<StringBuilder>,
    squares: MapBuilder<StringBuilder, ListBuilder<StringBuilder>>,
    prize: Int32Builder,
    won: Int32Builder,
}

impl Default for FindingCells {
    fn default() -> FindingCells {
        let names = MapFieldNames { entry: "key_value".into(), key: "key".into(), value: "value".into() };
        FindingCells {
            ends: vec![0],
            tactic: StringBuilder::new(),
            role: StringBuilder::new(),
            kind: StringBuilder::new(),
            ply: Int32Builder::new(),
            piece: StringBuilder::new(),
            targets: ListBuilder::new(StringBuilder::new()),
            squares: MapBuilder::new(Some(names), StringBuilder::new(), ListBuilder::new(StringBuilder::new())),
            prize: Int32Builder::new(),
            won: Int32Builder::new(),
        }
    }
}

impl FindingCells {
    fn push(&mut self, finding: &Finding) {
        self.tactic.append_value(finding.tactic.name());
        self.role.append_value(finding.role.name());
        self.kind.append_option(finding.kind.map(|kind| kind.name()));
        self.ply.append_value(int(finding.ply));
        append_square(&mut self.piece, finding.piece);
        finding.targets.iter().for_each(|sq| append_square(self.targets.values(), *sq));
        self.targets.append(true);
        for (mark, set) in finding.marks() {
            self.squares.keys().append_value(mark);
            set.into_iter().for_each(|sq| append_square(self.squares.values().values(), sq));
            self.squares.values().append(true);
        }
        self.squares.append(true).expect("as many keys as values");
        self.prize.append_option(finding.prize);
        self.won.append_option(finding.won);
    }

    fn end_row(&mut self) {
        let count = arrow_array::builder::ArrayBuilder::len(&self.tactic);
        self.ends.push(int(count));
    }

    fn finish<const N: usize>(&mut self, more: [(&str, ArrayRef); N]) -> ArrayRef {
        let cells: [(&str, ArrayRef); 9] = [
            ("tactic", Arc::new(self.tactic.finish())),
            ("role", Arc::new(self.role.finish())),
            ("kind", Arc::new(self.kind.finish())),
            ("ply", Arc::new(self.ply.finish())),
            ("piece", Arc::new(self.piece.finish())),
            ("targets", Arc::new(self.targets.finish())),
            ("squares", Arc::new(self.squares.finish())),
            ("prize", Arc::new(self.prize.finish())),
            ("won", Arc::new(self.won.finish())),
        ];
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = cells
            .into_iter()
            .chain(more)
            .map(|(name, array)| {
                let nullable = matches!(name, "kind" | "prize" | "won");
                (Field::new(name, array.data_type().clone(), nullable), array)
            })
            .unzip();
        let fields = Fields::from(fields);
        let ends = std::mem::replace(&mut self.ends, vec![0]);
        let item = Arc::new(Field::new("item", DataType::Struct(fields.clone()), false));
        let structs = StructArray::new(fields, arrays, None);
        Arc::new(ListArray::new(item, OffsetBuffer::new(ScalarBuffer::from(ends)), Arc::new(structs), None))
    }
}

fn append_square(cells: &mut StringBuilder, sq: Square) {
    let name = [b'a' + sq.file() as u8, b'1' + sq.rank() as u8];
    cells.append_value(std::str::from_utf8(&name).expect("letters and digits"));
}

fn int(n: usize) -> i32 {
    i32::try_from(n).expect("a block holds fewer")
}

/// The footer of a file that grows by row groups.
#[derive(Debug)]
pub(crate) struct Footer {
    file: ParquetMetaData,
    groups: Vec<RowGroupMetaData>,
}

impl Footer {
    /// Of a file with these columns and no rows yet.
    pub(crate) fn new(columns: &[String]) -> Result<Footer> {
        let (_, file) = Table::new(columns).file()?;
        Ok(Footer { file, groups: Vec::new() })
    }

    /// Takes up a footer that an earlier run wrote with [`Footer::bytes`].
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let start = bytes.len() - footer_length(bytes)?;
        let file = ParquetMetaDataReader::decode_metadata(&bytes[start..bytes.len() - 8])?;
        self.groups = file.row_groups().to_vec();
        Ok(())
    }

    /// Notes a row group whose bytes begin at `offset`.
    pub(crate) fn push(&mut self, group: Group, offset: u64) -> Result<()> {
        let shift = i64::try_from(offset).expect("a file is smaller") - MAGIC.len() as i64;
        let moved = |column: &ColumnChunkMetaData| {
            let dictionary = column.dictionary_page_offset().map(|offset| offset + shift);
            let data = column.data_page_offset() + shift;
            let builder = column.clone().into_builder();
            builder.set_data_page_offset(data).set_dictionary_page_offset(dictionary).build()
        };
        let columns = group.0.columns().iter().map(moved).collect::<Result<Vec<_>>>()?;
        let first = group.0.file_offset().map(|offset| offset + shift);
        let mut builder = group.0.into_builder().set_column_metadata(columns);
        // The ordinal is a 16-bit number: past it, it is left as it is.
        builder = builder.set_ordinal(i32::try_from(self.groups.len()).unwrap_or(0).min(i32::from(i16::MAX)));
        if let Some(first) = first {
            builder = builder.set_file_offset(first);
        }
        self.groups.push(builder.build()?);
        Ok(())
    }

    /// What stands behind the last row group.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let rows = self.groups.iter().map(RowGroupMetaData::num_rows).sum();
        let file = self.file.file_metadata();
        let file = parquet::file::metadata::FileMetaData::new(
            file.version(),
            rows,
            file.created_by().map(str::to_owned),
            file.key_value_metadata().cloned(),
            file.schema_descr_ptr(),
            file.column_orders().cloned(),
        );
        let metadata = ParquetMetaDataBuilder::new(file).set_row_groups(self.groups.clone()).build();
        let mut bytes = Vec::new();
        ParquetMetaDataWriter::new(&mut bytes, &metadata).finish()?;
        Ok(bytes)
    }
}
