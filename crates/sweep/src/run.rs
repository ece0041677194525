//! A run of a sweep: a value that any process can carry out.

use std::io;

use pericore_emulation::{Experiment, ExperimentError};
use pericore_observe::record::Ending;
use pericore_observe::session::SessionError;
use pericore_table::{FlushPace, TableWriter};
use serde::{Deserialize, Serialize};

use crate::key::{Keys, digest};

/// Virtual seconds of a row group: as `pericore record` has it, whose tables are the same to the byte.
const PACE: FlushPace = FlushPace { seconds: 1e-4 };

/// A run: what is measured, and where its table goes. As JSON it can be sent to another host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepRun {
    /// The folder of its table in the data set: `machine=NAME/workload=NAME/…`, as Hive and others lay out tables.
    pub partition: String,
    /// The key of the run with this version of Pericore: 16 hexadecimal digits.
    pub key: String,
    /// What is measured.
    pub experiment: Experiment,
}

/// The table of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTable {
    /// A whole Parquet file (`docs/recording.md`).
    pub bytes: Vec<u8>,
    /// The digest of the bytes: 16 hexadecimal digits.
    pub digest: String,
}

/// Why a run has no table.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The experiment cannot be carried out.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The run was made by another version.
    #[error(
        "the run was made by another version or build of pericore, or with another catalogue: its key is {expected}, \
         here it is {found}; use the same on all hosts"
    )]
    OtherVersion {
        /// The key that came with the run.
        expected: String,
        /// The key of the same experiment here.
        found: String,
    },
    /// The table cannot be written in memory.
    #[error("cannot make the table: {0}")]
    Table(#[from] io::Error),
}

impl From<SessionError> for RunError {
    fn from(error: SessionError) -> Self {
        Self::Experiment(error.into())
    }
}

impl SweepRun {
    /// Measures, and makes the table in memory.
    ///
    /// # Errors
    /// [`RunError`] if this version would make another table than the one that made the run, or if the measurement
    /// fails.
    pub fn carry_out(&self) -> Result<RunTable, RunError> {
        let found = Keys::default().key(&self.experiment)?;
        if found != self.key {
            return Err(RunError::OtherVersion { expected: self.key.clone(), found });
        }
        let started = self.experiment.start()?;
        let mut writer = TableWriter::begin(Vec::new(), &started.header(), PACE)?;
        started.run(|end, sample, truth| {
            writer.sample(end, sample, truth)?;
            Ok::<_, RunError>(())
        })?;
        writer.end(&Ending::Whole)?;
        Ok(RunTable::of(std::mem::take(writer.output_mut())))
    }
}

impl RunTable {
    /// Bytes with their digest.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { digest: digest(&bytes), bytes }
    }

    /// What another process sent: the digest in 16 bytes of text, then the bytes. `None` if they do not fit each other.
    pub fn received(message: &[u8]) -> Option<Self> {
        let (sent, bytes) = message.split_at_checked(DIGITS)?;
        let table = Self::of(bytes.to_vec());
        (sent == table.digest.as_bytes()).then_some(table)
    }
}

/// Digits of a key or digest.
pub(crate) const DIGITS: usize = 16;
