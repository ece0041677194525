//! Names of what happens, turned into their numbers when the program is compiled: a search of the table while it runs would cost more
//! than the happening.

/// The number of a deed by its name, as [`deeds::deed`](super::deeds::deed) has it.
macro_rules! deed {
    ($name:literal) => {
        const { $crate::ledger::emerald_rapids::deeds::deed($name) }
    };
}

/// The number of a level by its name, as [`deeds::level`](super::deeds::level) has it.
macro_rules! level {
    ($name:literal) => {
        const { $crate::ledger::emerald_rapids::deeds::level($name) }
    };
}

pub(crate) use {deed, level};
