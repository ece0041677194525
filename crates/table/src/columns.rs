//! The columns of the table, in their order.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

/// A column: its name, what its values are, and whether a value may be missing.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
    pub may_be_missing: bool,
}

/// What a value is.
#[derive(Debug, Clone, Copy)]
pub enum ColumnKind {
    /// Microseconds since 1970, UTC: SQL engines do less with nanoseconds, or refuse them.
    Time,
    /// 64 bits with sign.
    Long,
    /// 64 bits without sign.
    Count,
    /// 32 bits with sign.
    Integer,
    /// A floating-point number of 64 bits.
    Double,
    /// UTF-8.
    Text,
}

const fn column(name: &'static str, kind: ColumnKind, may_be_missing: bool) -> Column {
    Column { name, kind, may_be_missing }
}

/// All columns. `rows.rs` fills them in this order.
pub const COLUMNS: [Column; 17] = [
    column("time", ColumnKind::Time, false),
    column("host", ColumnKind::Text, true),
    column("socket", ColumnKind::Integer, false),
    column("unit", ColumnKind::Text, false),
    column("instance", ColumnKind::Integer, false),
    column("event", ColumnKind::Text, false),
    column("count", ColumnKind::Count, true),
    column("duty", ColumnKind::Double, true),
    column("validity", ColumnKind::Text, false),
    column("seconds", ColumnKind::Double, false),
    column("elapsed", ColumnKind::Double, false),
    column("sample", ColumnKind::Long, false),
    column("tsc_cycles", ColumnKind::Count, false),
    column("standard_error", ColumnKind::Double, true),
    column("truth", ColumnKind::Count, true),
    column("count_json", ColumnKind::Text, true),
    column("sample_json", ColumnKind::Text, true),
];

/// The table's schema.
///
/// # Panics
/// Never: the columns are constants, which a test builds.
pub fn schema() -> TypePtr {
    let fields = COLUMNS.iter().map(|column| Arc::new(column.primitive())).collect();
    let table = Type::group_type_builder("pericore").with_fields(fields).build();
    Arc::new(table.expect("columns with names of their own"))
}

/// How the table is written.
pub fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("pericore {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    // Counts hardly ever come again: a dictionary of them is larger than they are.
    for name in ["count", "truth"] {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), false);
    }
    // Statistics of texts that nobody looks for would only make footers longer.
    for name in ["count_json", "sample_json"] {
        properties = properties.set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::None);
    }
    properties.build()
}

impl Column {
    /// What its values are in the file.
    pub const fn physical(&self) -> Physical {
        match self.kind {
            ColumnKind::Time | ColumnKind::Long | ColumnKind::Count => Physical::INT64,
            ColumnKind::Integer => Physical::INT32,
            ColumnKind::Double => Physical::DOUBLE,
            ColumnKind::Text => Physical::BYTE_ARRAY,
        }
    }

    fn primitive(&self) -> Type {
        let logical = match self.kind {
            ColumnKind::Time => Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            ColumnKind::Count => Some(LogicalType::integer(64, false)),
            ColumnKind::Text => Some(LogicalType::String),
            ColumnKind::Long | ColumnKind::Integer | ColumnKind::Double => None,
        };
        let repetition = if self.may_be_missing { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let primitive = Type::primitive_type_builder(self.name, self.physical());
        primitive.with_repetition(repetition).with_logical_type(logical).build().expect("a type that fits its meaning")
    }
}
