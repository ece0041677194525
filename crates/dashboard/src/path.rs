//! From the whole system down to counters, and back up.

/// A table of rows. The first three are added up by [`super::SCOPES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowTable {
    /// The whole system.
    System,
    /// Each socket.
    Socket,
    /// Each instance of a unit.
    Instance,
    /// Each counter's event in each instance.
    Counter,
}

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// Where it leads.
    pub table: RowTable,
    /// Rows of this event or metric only.
    pub name: Option<String>,
    /// Rows of this socket only.
    pub socket: Option<u16>,
    /// Rows of this instance only.
    pub instance: Option<String>,
    /// Where the cursor was above.
    pub cursor: usize,
}

impl PathStep {
    /// What it has narrowed the rows down to, in words.
    pub fn words(&self) -> String {
        match (&self.instance, &self.name, self.socket) {
            (Some(instance), ..) => format!("counters of {instance}"),
            (None, _, Some(socket)) => format!("S{socket}"),
            (None, Some(name), None) => name.clone(),
            (None, None, None) => String::new(),
        }
    }
}
