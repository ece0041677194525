//! What whoever starts a session decides.

use super::OtherSessions;
use super::journal::Saved;
use super::on_disk::{HeldJournals, JournalError, JournalFile};

/// How a session treats others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Use counters even if another tool is using them.
    pub take_over: bool,
    /// How closely controls are watched for changes by others.
    pub guard: Guard,
    /// Where to journal what will be overwritten; without it a killed session cannot be undone.
    pub journal: Option<JournalFile>,
    /// The sessions beside which this one is put back, one at a time.
    pub other_sessions: Option<OtherSessions>,
}

impl Options {
    /// Where journals are written: the session's own, and one for others where that is not among those that they look
    /// at.
    pub fn journals(&self) -> impl Iterator<Item = JournalFile> {
        let is_seen = |known: &&OtherSessions| self.journal.as_ref().is_some_and(|journal| known.holds(&journal.path));
        let for_others = self.other_sessions.as_ref().filter(|known| !is_seen(known)).map(|known| known.journal(0));
        for_others.into_iter().chain(self.journal.clone())
    }

    /// Writes the journals, and tells the sessions of other users.
    ///
    /// # Errors
    /// [`JournalError`]; none of the files is there then.
    pub(crate) fn write_journals(&self, saved: &[Saved]) -> Result<HeldJournals, JournalError> {
        let held = HeldJournals::write(self.journals(), saved)?;
        let note = self.other_sessions.as_ref().map_or(Ok(Vec::new()), |known| known.leave_note(saved, held.first()));
        held.with_note(note)
    }
}

/// When all that counts depend on is looked at again: controls, filters, and what stops counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Guard {
    /// With every 20th sample.
    #[default]
    InTurn,
    /// With each sample.
    All,
    /// Only on request.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Others see a session by a journal in their folder: where the user's own is elsewhere, there is one more.
    #[test]
    fn a_journal_for_others_is_written_where_the_own_one_is_elsewhere() {
        let others = OtherSessions::new("/state", "local", "boot");
        let own =
            |path: &str| Some(JournalFile { path: path.into(), boot: "boot".to_owned(), machine: "local".to_owned() });
        let named = format!("/state/{}-0.journal", std::process::id());
        for (journal, other_sessions, paths) in [
            (None, None, &[][..]),
            (own("/a/b.journal"), None, &["/a/b.journal"]),
            (None, Some(&others), &[named.as_str()]),
            (own("/a/b.journal"), Some(&others), &[named.as_str(), "/a/b.journal"]),
            (own("/state/b.journal"), Some(&others), &["/state/b.journal"]),
            (own("/state/b.text"), Some(&others), &[named.as_str(), "/state/b.text"]),
        ] {
            let options = Options { journal, other_sessions: other_sessions.cloned(), ..Options::default() };
            let found: Vec<_> = options.journals().map(|file| file.path).collect();
            assert_eq!(found, paths.iter().map(std::path::PathBuf::from).collect::<Vec<_>>());
        }
    }
}
