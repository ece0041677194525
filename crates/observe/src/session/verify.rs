//! What a journal says is checked against the catalogue before anything is written: only what a session of ours saves
//! is put back.

use pericore_catalog::{Family, Register, Unit};
use pericore_registers::{AccessError, Address, RegisterSpace};

use super::SessionError;
use super::journal::Saved;
use super::leave::Leaving;
use super::neighbours::instance_of;
use super::on_disk::{Journal, JournalError, Restored};
use super::ours::{Ours, Overwriting};
use crate::discover::{Cpu, Place, Presence, Topology, discover};
use crate::permits::documented;
use crate::plan::{Control, controls_of, resets};

/// What a check of an entry came to.
enum Verdict {
    /// The register, at the place where discovery finds it now, with the value to write, and what of it was the
    /// session's.
    Good(Saved, Ours),
    /// Such a register exists on this family, but does not answer now.
    Absent(Saved, String),
    /// No session saves that.
    Foreign(String),
}

impl Journal {
    /// Puts the registers back, in order; on another boot only looks at them. Each entry must be a register of a PMON
    /// unit that sessions overwrite, at the place where discovery finds it on the machine behind `space`, of the same
    /// width, and without bits that reset counters: else nothing is written. Bits that no document gives stay as they
    /// are, whatever the journal says.
    ///
    /// # Errors
    /// [`JournalError::Foreign`] if an entry is something else, [`JournalError::Unchecked`] if the machine's units
    /// cannot be found, [`SessionError::Restore`] if registers refuse their old values.
    pub fn restore(
        &self,
        space: &mut impl RegisterSpace,
        family: &'static Family,
        cpus: &[Cpu],
        boot: &str,
    ) -> Result<Restored, SessionError> {
        let is_of_this_boot = self.boot == boot;
        let (verdicts, topology) = self.judge(space, family, cpus)?;
        if !is_of_this_boot {
            let mut look = |verdict, entry: &Saved| {
                let outcome = match verdict {
                    Verdict::Good(Saved { address, width, .. }, _) => space.read(address, width),
                    Verdict::Absent(..) | Verdict::Foreign(_) => {
                        Err(AccessError::Unreachable { address: entry.address })
                    }
                };
                (entry.clone(), outcome)
            };
            let found = verdicts.into_iter().zip(&self.saved).map(|(verdict, entry)| look(verdict, entry)).collect();
            return Ok(Restored::OtherBoot { found });
        }
        let (mut good, mut absent, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for (verdict, entry) in verdicts.into_iter().zip(&self.saved) {
            match verdict {
                Verdict::Good(saved, ours) => {
                    if saved.value != entry.value {
                        left.push((entry.clone(), saved.value ^ entry.value));
                    }
                    good.push((saved, ours));
                }
                Verdict::Absent(saved, why) => absent.push((saved, why)),
                Verdict::Foreign(why) => return Err(JournalError::Foreign { entry: entry.to_string(), why }.into()),
            }
        }
        // Who counts by now and is in no journal did not when the session began, or still does: neither is frozen for
        // what was.
        let controls: Vec<(u16, Control)> = topology
            .sockets
            .iter()
            .flat_map(|socket| {
                let all = controls_of(family, socket, |_, _| true);
                all.into_iter().map(|control| (socket.number, control))
            })
            .collect();
        let others = Leaving { saved: &good, controls: &controls, before: &[] }.put_back(space)?;
        match absent.first() {
            None => Ok(Restored::PutBack { registers: good.len() - others.len(), left, others }),
            Some((first, why)) => Err(SessionError::Restore {
                refused: absent.len(),
                first: first.to_string(),
                error: AccessError::Io { address: first.address, message: why.clone() },
            }),
        }
    }

    /// Judges all entries, on all that was found of the machine. Where units lie may depend on which of them
    /// discovery looks for, so that it is asked as sessions do: for those that are needed, then for all.
    fn judge(
        &self,
        space: &mut impl RegisterSpace,
        family: &'static Family,
        cpus: &[Cpu],
    ) -> Result<(Vec<Verdict>, Topology), JournalError> {
        let unchecked = |error| JournalError::Unchecked { why: format!("{error}") };
        let named = |unit: &Unit| {
            self.saved
                .iter()
                .any(|entry| instance_of(family, &entry.instance).is_some_and(|(of, _)| of.name == unit.name))
        };
        let topology = discover(space, family, cpus, named).map_err(unchecked)?;
        let verdicts = self.judge_on(space, &topology, cpus);
        let is_whole = |verdict: &Verdict| matches!(verdict, Verdict::Good(_, Ours::Gate { is_whole: true, .. }));
        let is_good = |verdict: &Verdict| matches!(verdict, Verdict::Good(..));
        if verdicts.iter().all(is_good) && !verdicts.iter().any(is_whole) {
            return Ok((verdicts, topology));
        }
        let Ok(whole) = discover(space, family, cpus, |_| true) else { return Ok((verdicts, topology)) };
        let again = self.judge_on(space, &whole, cpus);
        let better = |(first, second)| if matches!(first, Verdict::Good(..)) { first } else { second };
        Ok((verdicts.into_iter().zip(again).map(better).collect(), whole))
    }

    fn judge_on(&self, space: &mut impl RegisterSpace, topology: &Topology, cpus: &[Cpu]) -> Vec<Verdict> {
        self.saved.iter().map(|entry| judge(entry, space, topology, cpus).unwrap_or_else(Verdict::Foreign)).collect()
    }
}

/// Judges one entry; what no session saves is an error, with the reason.
fn judge(entry: &Saved, space: &mut impl RegisterSpace, topology: &Topology, cpus: &[Cpu]) -> Result<Verdict, String> {
    let family = topology.family;
    let Some((unit, number)) = instance_of(family, &entry.instance) else {
        return Err(format!("{} has no PMON unit of that name", family.name));
    };
    let Some((register, member)) = register_of(unit, &entry.register) else {
        return Err("the unit has no such register".to_owned());
    };
    if Overwriting::of(register.role).is_none() {
        return Err("sessions never overwrite that register".to_owned());
    }
    let absent = |why: String| Ok(Verdict::Absent(entry.clone(), why));
    let Some(socket) = topology.sockets.iter().find(|socket| socket.number == entry.socket) else {
        return absent(format!("no online CPU is in socket {}", entry.socket));
    };
    let place = match socket.locate(unit, number, register, member) {
        Ok(place) => place,
        Err(error) => return absent(error.to_string()),
    };
    if let Address::Msr { cpu, .. } = entry.address
        && let Some(other) = cpus.iter().find(|other| other.number == cpu && other.package != entry.socket)
    {
        return Err(format!("CPU {cpu} is in socket {}", other.package));
    }
    if !is_at(entry, place) {
        return Err(format!("that register is at {}, {} bytes wide", place.address, place.width.bytes()));
    }
    if let Some(Presence::Absent { why }) = socket.presence(unit).get(usize::from(number)) {
        return absent(why.clone());
    }
    if entry.value & resets(register) != 0 {
        return Err(format!("bits {:#x} reset counters, and are never saved", entry.value & resets(register)));
    }
    // The hardware may have set bits that no document gives when the session began, and others since: those are not for
    // a journal to say.
    let now = space.read(place.address, place.width).ok().filter(|value| *value != place.width.mask()).unwrap_or(0);
    let documented = documented(unit, register);
    let value = entry.value & documented | now & !documented;
    Ok(Verdict::Good(
        Saved { address: place.address, value, ..entry.clone() },
        Ours::of_journal(register, &entry.written),
    ))
}

/// A register of a unit by the name that journals give it.
fn register_of(unit: &'static Unit, name: &str) -> Option<(&'static Register, u8)> {
    let mut members =
        unit.registers.iter().flat_map(|register| (0..register.count).map(move |member| (register, member)));
    members.find(|(register, member)| register.member_name(*member) == name)
}

/// True if an entry is for that place. The MSRs of a socket are reached through any of its CPUs.
fn is_at(entry: &Saved, place: Place) -> bool {
    let is_same = match (entry.address, place.address) {
        (Address::Msr { msr, .. }, Address::Msr { msr: known, .. }) => msr == known,
        (address, known) => address == known,
    };
    is_same && entry.width == place.width
}
