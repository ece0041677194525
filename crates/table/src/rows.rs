//! Rows on their way into a row group, column by column.

use std::io;

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use pericore_observe::record::{count_text, sample_text};

use crate::columns::COLUMNS;
use crate::held::Settled;
use crate::row::Constants;

/// Rows, column by column.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<Values>,
    rows: usize,
}

/// The values of a column, and for each row whether it has one.
#[derive(Debug)]
enum Values {
    Long(Vec<i64>, Vec<i16>),
    Integer(Vec<i32>, Vec<i16>),
    Double(Vec<f64>, Vec<i16>),
    Text(Vec<ByteArray>, Vec<i16>),
}

impl Rows {
    /// None yet.
    pub fn new() -> Self {
        let values = |physical| match physical {
            Physical::INT32 => Values::Integer(Vec::new(), Vec::new()),
            Physical::DOUBLE => Values::Double(Vec::new(), Vec::new()),
            Physical::BYTE_ARRAY => Values::Text(Vec::new(), Vec::new()),
            _ => Values::Long(Vec::new(), Vec::new()),
        };
        Self { columns: COLUMNS.iter().map(|column| values(column.physical())).collect(), rows: 0 }
    }

    /// How many.
    pub const fn len(&self) -> usize {
        self.rows
    }

    /// Adds the rows of a sample.
    pub fn push(&mut self, constants: &Constants, settled: &Settled) -> io::Result<()> {
        let recorded = &settled.recorded;
        let mut of_sample = Some(text(sample_text(recorded.end, &recorded.sample)?));
        for row in constants.rows_of(settled) {
            let (place, count) = (row.place, row.count);
            let mut columns = self.columns.iter_mut();
            let mut next = || columns.next().expect("as many values as columns");
            next().long(Some(row.time));
            next().text(constants.host.clone());
            next().integer(i32::from(place.socket));
            next().text(Some(place.unit.clone()));
            next().integer(i32::from(place.instance));
            next().text(Some(place.event.clone()));
            next().long(count.count.map(u64::cast_signed));
            next().double(row.duty);
            next().text(Some(ByteArray::from(Bytes::from_static(row.validity.as_bytes()))));
            next().double(Some(row.seconds));
            next().double(Some(row.elapsed));
            next().long(Some(row.sample.cast_signed()));
            next().long(Some(row.tsc_cycles.cast_signed()));
            next().double(count.standard_error);
            next().long(row.truth.map(u64::cast_signed));
            next().text(count_text(count)?.map(text));
            next().text(of_sample.take());
            self.rows += 1;
        }
        Ok(())
    }

    /// Writes them as one row group, and forgets them.
    pub fn write<W: io::Write + Send>(&mut self, file: &mut SerializedFileWriter<W>) -> Result<()> {
        let mut group = file.next_row_group()?;
        for (values, column) in self.columns.iter_mut().zip(&COLUMNS) {
            let Some(mut writer) = group.next_column()? else { break };
            values.write(&mut writer, column.may_be_missing)?;
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

fn text(text: String) -> ByteArray {
    ByteArray::from(text.into_bytes())
}

impl Values {
    fn long(&mut self, value: Option<i64>) {
        if let Self::Long(values, levels) = self {
            push(values, levels, value);
        }
    }

    fn integer(&mut self, value: i32) {
        if let Self::Integer(values, levels) = self {
            push(values, levels, Some(value));
        }
    }

    fn double(&mut self, value: Option<f64>) {
        if let Self::Double(values, levels) = self {
            push(values, levels, value);
        }
    }

    fn text(&mut self, value: Option<ByteArray>) {
        if let Self::Text(values, levels) = self {
            push(values, levels, value);
        }
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>, may_be_missing: bool) -> Result<()> {
        let levels = |levels: &mut Vec<i16>| may_be_missing.then(|| std::mem::take(levels));
        match self {
            Self::Long(values, l) => {
                writer.typed::<Int64Type>().write_batch(&std::mem::take(values), levels(l).as_deref(), None)?;
                l.clear();
            }
            Self::Integer(values, l) => {
                writer.typed::<Int32Type>().write_batch(&std::mem::take(values), levels(l).as_deref(), None)?;
                l.clear();
            }
            Self::Double(values, l) => {
                writer.typed::<DoubleType>().write_batch(&std::mem::take(values), levels(l).as_deref(), None)?;
                l.clear();
            }
            Self::Text(values, l) => {
                writer.typed::<ByteArrayType>().write_batch(&std::mem::take(values), levels(l).as_deref(), None)?;
                l.clear();
            }
        }
        Ok(())
    }
}

/// A level of 1 is a value, one of 0 none.
fn push<T>(values: &mut Vec<T>, levels: &mut Vec<i16>, value: Option<T>) {
    levels.push(i16::from(value.is_some()));
    values.extend(value);
}
