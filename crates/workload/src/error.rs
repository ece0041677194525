//! What can be wrong with a workload's text.

/// A workload that cannot be run. Each message names the key, the value and what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// No workload of that name.
    #[error("there is no workload {name:?}{}; known: {known}", did_you_mean(.nearest))]
    UnknownWorkload {
        /// The name given.
        name: String,
        /// Names that look alike.
        nearest: Vec<&'static str>,
        /// All names.
        known: String,
    },
    /// A key that the workload does not take.
    #[error("workload {workload} has no key {key:?}{}; its keys: {known}", did_you_mean(.nearest))]
    UnknownKey {
        /// The workload.
        workload: &'static str,
        /// The key given.
        key: String,
        /// Keys that look alike.
        nearest: Vec<&'static str>,
        /// All keys of the workload.
        known: String,
    },
    /// A key given twice.
    #[error("key {key} is given twice, the second time as {value:?}: keep one of them")]
    Repeated {
        /// The key.
        key: &'static str,
        /// The second value.
        value: String,
    },
    /// A key without value.
    #[error("key {key:?} has no value: write {key}=NUMBER")]
    NoValue {
        /// The key.
        key: String,
    },
    /// A value that is no number.
    #[error("{key}={value} is no number of 64 bits: digits, then k, M, G or T for powers of 1024")]
    NotANumber {
        /// The key.
        key: &'static str,
        /// The value given.
        value: String,
    },
    /// A number outside what the key accepts.
    #[error("{key}={value} is out of range: {key} goes from {least} to {most}{}", reason(.why))]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The value given.
        value: String,
        /// Least accepted value.
        least: u64,
        /// Greatest accepted value.
        most: u64,
        /// Where the limit comes from, if that is not plain.
        why: &'static str,
    },
    /// Pages of another size than there are.
    #[error("pages={value}: pages have 4K or 2M")]
    NoSuchPages {
        /// The value given.
        value: String,
    },
    /// Keys that contradict each other.
    #[error("{key} and {other} exclude each other ({why}): keep one of them")]
    Exclude {
        /// A key.
        key: &'static str,
        /// The other one.
        other: &'static str,
        /// Why they do.
        why: &'static str,
    },
    /// More memory than the machine has.
    #[error("footprint={value} is larger than memory: the machine has {memory} bytes ({} GiB)", .memory >> 30)]
    FootprintBeyondMemory {
        /// The value given.
        value: String,
        /// Bytes of memory.
        memory: u64,
    },
}

/// The end of a message on a name that is not known.
pub(super) fn did_you_mean(nearest: &[&str]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(" or ")) }
}

fn reason(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}
