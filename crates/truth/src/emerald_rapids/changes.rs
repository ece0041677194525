//! When the levels of an agent's queue and table change: the truth of counts that are shaped by a threshold or by
//! edges. Kept only when asked for, as it grows with the run.

use super::requests;
use crate::{Question, Shaped};
use pericore_facts::emerald_rapids::Class;

/// What changes.
#[derive(Debug, Clone, Copy)]
enum Level {
    /// Requests of cores that wait to be looked up.
    Ingress,
    /// Entries of a class in the table of requests, by [`Class::index`].
    Table(u16),
}

/// All changes, in the order in which they were told.
#[derive(Debug, Clone, Default)]
pub struct Changes(Vec<(u16, Level, u64, i8)>);

impl Changes {
    /// The ingress queue of an agent, numbered over the machine, changes in a cycle.
    pub fn ingress(&mut self, agent: u16, cycle: u64, by: i8) {
        self.0.push((agent, Level::Ingress, cycle, by));
    }

    /// So do the entries of a class in its table.
    pub fn table(&mut self, agent: u16, class: Class, cycle: u64, by: i8) {
        self.0.push((agent, Level::Table(class.index() as u16), cycle, by));
    }

    /// What an occupancy event, by the guide's names, gives behind a threshold; `None` for events whose changes are
    /// not kept.
    pub fn shaped(&self, agent: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        let wanted: Box<dyn Fn(Level) -> bool> = match (question.event, question.subevent) {
            ("RxC_OCCUPANCY", "IRQ") => Box::new(|level| matches!(level, Level::Ingress)),
            ("TOR_OCCUPANCY", name) => {
                let of_class = requests::selection(name, None, &[])?;
                Box::new(move |level| matches!(level, Level::Table(index) if of_class(Class::of(index.into()))))
            }
            _ => return None,
        };
        let of_agent = self.0.iter().filter(|(of, level, ..)| *of == agent && wanted(*level));
        Some(Shaped::of(of_agent.map(|&(_, _, cycle, by)| (cycle, by.into())), threshold))
    }
}
