//! Rows of a row group, sample by sample.

use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::reader::RowGroupReader;

/// Reads those columns of a row group that a recording comes from.
pub struct Batches {
    sockets: Column<Int32Type>,
    units: Column<ByteArrayType>,
    instances: Column<Int32Type>,
    events: Column<ByteArrayType>,
    counts: Column<Int64Type>,
    truths: Column<Int64Type>,
    count_json: Column<ByteArrayType>,
    sample_json: Column<ByteArrayType>,
}

/// The rows of a sample.
#[derive(Debug)]
pub struct Batch {
    pub sockets: Vec<Option<i32>>,
    pub units: Vec<Option<ByteArray>>,
    pub instances: Vec<Option<i32>>,
    pub events: Vec<Option<ByteArray>>,
    pub counts: Vec<Option<i64>>,
    pub truths: Vec<Option<i64>>,
    pub count_json: Vec<Option<ByteArray>>,
    pub sample_json: Vec<Option<ByteArray>>,
}

impl Batches {
    /// The columns of a row group.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(group: &dyn RowGroupReader) -> Result<Self, String> {
        Ok(Self {
            sockets: Column::of(group, "socket")?,
            units: Column::of(group, "unit")?,
            instances: Column::of(group, "instance")?,
            events: Column::of(group, "event")?,
            counts: Column::of(group, "count")?,
            truths: Column::of(group, "truth")?,
            count_json: Column::of(group, "count_json")?,
            sample_json: Column::of(group, "sample_json")?,
        })
    }

    /// The next rows.
    ///
    /// # Errors
    /// There are not so many, or a page is damaged.
    pub fn next(&mut self, rows: usize) -> Result<Batch, String> {
        Ok(Batch {
            sockets: self.sockets.next(rows)?,
            units: self.units.next(rows)?,
            instances: self.instances.next(rows)?,
            events: self.events.next(rows)?,
            counts: self.counts.next(rows)?,
            truths: self.truths.next(rows)?,
            count_json: self.count_json.next(rows)?,
            sample_json: self.sample_json.next(rows)?,
        })
    }
}

/// A column of a row group.
struct Column<T: DataType> {
    name: &'static str,
    reader: ColumnReaderImpl<T>,
    may_be_missing: bool,
}

impl<T: DataType> Column<T> {
    fn of(group: &dyn RowGroupReader, name: &'static str) -> Result<Self, String> {
        let columns = group.metadata().columns();
        let at = columns.iter().position(|column| column.column_descr().path().string() == name);
        let at = at.ok_or_else(|| format!("the column {name:?} is missing"))?;
        let column = columns[at].column_descr();
        let (found, wanted) = (column.physical_type(), T::get_physical_type());
        if found != wanted || column.max_rep_level() != 0 || column.max_def_level() > 1 {
            return Err(format!("the column {name:?} is no plain column of {wanted}"));
        }
        let may_be_missing = column.max_def_level() == 1;
        let reader = group.get_column_reader(at).map_err(|error| format!("the column {name:?}: {error}"))?;
        Ok(Self { name, reader: get_typed_column_reader(reader), may_be_missing })
    }

    fn next(&mut self, rows: usize) -> Result<Vec<Option<T::T>>, String> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < rows {
            let levels = self.may_be_missing.then_some(&mut levels);
            let records = self.reader.read_records(rows - read, levels, None, &mut values);
            let (records, ..) = records.map_err(|error| format!("the column {:?}: {error}", self.name))?;
            if records == 0 {
                return Err(format!("the column {:?} ends in the middle of a sample", self.name));
            }
            read += records;
        }
        if !self.may_be_missing {
            return Ok(values.into_iter().map(Some).collect());
        }
        let mut values = values.into_iter();
        Ok(levels.iter().map(|level| if *level == 1 { values.next() } else { None }).collect())
    }
}
