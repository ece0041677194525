//! How a session's registers are put back, whoever counts by then.
//!
//! A control or a filter that somebody else has written since is theirs and stays. Then everything that the gates
//! concern is looked at: where a counter runs that is not ours and did not run when the session began, freezes go off
//! and enables stay on. Between that look and the write that follows it, somebody may still join: see `docs/others.md`.

use std::collections::HashSet;

use pericore_registers::{AccessError, Address, Operation, Outcome, RegisterSpace, Width};

use super::in_use::{is_running, may_use_a_filter};
use super::journal::Saved;
use super::ours::Ours;
use super::{SessionError, journal};
use crate::plan::{Control, halves, instance_name};

/// Of registers behind memory that the kernel has taken away: a driver has claimed the device since, and has them.
pub const REVOKED: &str = "the kernel took this memory away while it was in use: a driver has claimed the device; \
     leave its units out, or count them with --through kernel";

/// Of a register that is powered down, or gone.
const ALL_ONES: &str = "the register reads as all ones";

/// The lower half of a register of 8 bytes, which is written by itself.
const LOWER: u64 = 0xffff_ffff;

/// What is known when registers are put back.
pub(super) struct Leaving<'a> {
    /// What was overwritten, in the order of putting it back.
    pub(super) saved: &'a [(Saved, Ours)],
    /// The controls that gates and filters concern, with their sockets.
    pub(super) controls: &'a [(u16, Control)],
    /// Controls of others that ran before the session began, and what they held.
    pub(super) before: &'a [(Address, u64)],
}

/// Who counts in the scopes of gates and filters, and did not before.
struct Newcomers<'a>(Vec<(u16, &'a Control, Outcome<u64>)>);

impl Leaving<'_> {
    /// Puts everything back that is not somebody else's by now, and tells what is.
    ///
    /// # Errors
    /// [`SessionError::Restore`] with the registers that refused.
    pub(super) fn put_back(&self, space: &mut impl RegisterSpace) -> Result<Vec<Saved>, SessionError> {
        let is_control = |ours: &Ours| matches!(ours, Ours::Setting { is_filter: false, .. });
        let mut others = Vec::new();
        let mut failures = Vec::new();
        let mut ours = Vec::new();
        for ((saved, of), held) in self.saved.iter().zip(self.look(space)) {
            let Ours::Setting { bits, values, .. } = of else {
                ours.push((saved, of));
                continue;
            };
            match held {
                Some(Ok(held)) if is_ours(saved, *bits, values, held) => ours.push((saved, of)),
                Some(Ok(_)) => others.push(saved.clone()),
                // Somebody else may have it by now: its journal stays, and what is in it can be put back later.
                Some(Err(error)) => failures.push((saved.clone(), error)),
                None => {}
            }
        }
        let controls = ours.iter().filter(|(_, of)| is_control(of));
        write(space, controls.map(|(saved, _)| (*saved, saved.value)), &mut failures);
        let newcomers = self.newcomers(space, &ours);
        let filters = ours.iter().filter(|(_, of)| matches!(of, Ours::Setting { is_filter: true, .. }));
        let (kept, free): (Vec<_>, Vec<_>) = filters.partition(|(saved, _)| newcomers.use_filters_of(saved));
        for (saved, _) in kept {
            match newcomers.unseen(saved, false) {
                Some(error) => failures.push((saved.clone(), error)),
                None => others.push(saved.clone()),
            }
        }
        write(space, free.into_iter().map(|(saved, _)| (saved, saved.value)), &mut failures);
        for (saved, of) in ours {
            let Ours::Gate { bits, stops, enables, keeps, is_whole } = of else { continue };
            let disturbed = newcomers.count_behind(saved, *is_whole);
            // It is made safe for who may count there, and stays in the journal until that can be looked at.
            failures.extend(newcomers.unseen(saved, *is_whole).map(|error| (saved.clone(), error)));
            // Of what is powered down nothing of others could be kept: as it reads, it would enable all.
            match something(&saved.read(), space.read(saved.address, saved.width)) {
                Ok(held) => {
                    let value = match disturbed {
                        // A session that was killed while it read had its enables off, and somebody may use one now.
                        // Where a control is off, its enable does nothing.
                        true => held & (bits | keeps) & !stops | enables,
                        false => held & keeps | saved.value & bits,
                    };
                    write(space, [(saved, value)], &mut failures);
                }
                Err(error) => failures.push((saved.clone(), error)),
            }
        }
        let is_revoked = |(_, error): &(Saved, AccessError)| matches!(error, AccessError::Permission { remedy, .. } if *remedy == REVOKED);
        let (revoked, failures): (Vec<_>, Vec<_>) = failures.into_iter().partition(is_revoked);
        others.extend(revoked.into_iter().map(|(saved, _)| saved));
        journal::some_refused(failures)?;
        Ok(others)
    }

    /// What the settings hold now; gates are not looked at yet. What cannot be read is asked again, once.
    fn look(&self, space: &mut impl RegisterSpace) -> Vec<Option<Outcome<u64>>> {
        let is_setting = |of: &Ours| matches!(of, Ours::Setting { .. });
        let settings = self.saved.iter().filter(|(_, of)| is_setting(of));
        let reads: Vec<Operation> = settings.map(|(saved, _)| saved.read()).collect();
        let mut outcomes = Vec::with_capacity(reads.len());
        space.batch(&reads, &mut outcomes);
        let again = |(read, outcome)| something(&read, outcome).or_else(|_| something(&read, space.carry_out(read)));
        let mut outcomes = reads.into_iter().zip(outcomes).map(again);
        self.saved.iter().map(|(_, of)| if is_setting(of) { outcomes.next() } else { None }).collect()
    }

    /// Looks at the controls behind what is still to be put back.
    fn newcomers(&self, space: &mut impl RegisterSpace, ours: &[(&Saved, &Ours)]) -> Newcomers<'_> {
        let gates = ours.iter().filter(|(_, of)| matches!(of, Ours::Gate { is_whole: true, .. }));
        let whole: HashSet<u16> = gates.map(|(saved, _)| saved.socket).collect();
        let of_instances = ours
            .iter()
            .filter(|(_, of)| matches!(of, Ours::Gate { is_whole: false, .. } | Ours::Setting { is_filter: true, .. }));
        let instances: HashSet<(u16, &str)> =
            of_instances.map(|(saved, _)| (saved.socket, saved.instance.as_str())).collect();
        let concerns = |socket: u16, control: &Control| {
            whole.contains(&socket)
                || instances.contains(&(socket, instance_name(control.unit, control.number).as_str()))
        };
        let controls: Vec<&(u16, Control)> =
            self.controls.iter().filter(|(socket, control)| concerns(*socket, control)).collect();
        let reads: Vec<Operation> = controls.iter().map(|(_, control)| control.place.read()).collect();
        let mut outcomes = Vec::with_capacity(reads.len());
        space.batch(&reads, &mut outcomes);
        let own: HashSet<Address> = ours.iter().map(|(saved, _)| saved.address).collect();
        let mut found = Vec::new();
        for ((socket, control), outcome) in controls.into_iter().zip(outcomes) {
            let Control { unit, register, place, .. } = control;
            match outcome {
                Ok(value) if value == place.width.mask() || !is_running(unit, register, value) => {}
                Ok(value) if own.contains(&place.address) || self.before.contains(&(place.address, value)) => {}
                Ok(value) => found.push((*socket, control, Ok(value))),
                // What may not be looked at may count.
                Err(error @ AccessError::Permission { .. }) => found.push((*socket, control, Err(error))),
                // What does not answer does not count.
                Err(_) => {}
            }
        }
        Newcomers(found)
    }
}

impl Newcomers<'_> {
    fn count_behind(&self, gate: &Saved, is_whole: bool) -> bool {
        self.0.iter().any(|(socket, control, _)| {
            *socket == gate.socket && (is_whole || instance_name(control.unit, control.number) == gate.instance)
        })
    }

    /// Why a control behind a register could not be looked at, if that is all that is known of it: nobody is known to
    /// count there.
    fn unseen(&self, saved: &Saved, is_whole: bool) -> Option<AccessError> {
        let mut behind = self.0.iter().filter(|(socket, control, _)| {
            *socket == saved.socket && (is_whole || instance_name(control.unit, control.number) == saved.instance)
        });
        let first = behind.next()?;
        let error = first.2.as_ref().err()?;
        behind.all(|(.., value)| value.is_err()).then(|| error.clone())
    }

    fn use_filters_of(&self, filter: &Saved) -> bool {
        self.0.iter().any(|(socket, control, value)| {
            *socket == filter.socket
                && instance_name(control.unit, control.number) == filter.instance
                && value.as_ref().map_or(true, |value| may_use_a_filter(control.unit, control.register, *value))
        })
    }
}

/// True if a setting still holds what the session wrote, or what it held before: a late write may be on its way.
fn is_ours(saved: &Saved, bits: u64, values: &[u64], held: u64) -> bool {
    let upper = if saved.width == Width::B8 { saved.value & !LOWER } else { saved.value };
    let own = values.iter().chain([&saved.value, &upper]);
    own.into_iter().any(|value| (held ^ value) & bits == 0)
}

/// What a read gave, unless it is all ones: what is powered down does not tell what it holds.
fn something(read: &Operation, outcome: Outcome<u64>) -> Outcome<u64> {
    match outcome {
        Ok(held) if held == read.width().mask() => {
            Err(AccessError::Io { address: read.address(), message: ALL_ONES.to_owned() })
        }
        other => other,
    }
}

/// Writes whole registers, and notes those that refuse.
fn write<'s>(
    space: &mut impl RegisterSpace,
    values: impl IntoIterator<Item = (&'s Saved, u64)>,
    failures: &mut Vec<(Saved, AccessError)>,
) {
    let write = |(saved, value): (&'s Saved, u64)| {
        let whole = Operation::Write { address: saved.address, width: saved.width, value };
        halves(whole).map(move |operation| (saved, operation))
    };
    let writes: Vec<(&Saved, Operation)> = values.into_iter().flat_map(write).collect();
    let operations: Vec<Operation> = writes.iter().map(|(_, operation)| *operation).collect();
    let mut outcomes = Vec::with_capacity(operations.len());
    space.batch(&operations, &mut outcomes);
    failures.extend(
        writes.iter().zip(outcomes).filter_map(|((saved, _), outcome)| Some(((*saved).clone(), outcome.err()?))),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(width: Width, value: u64) -> Saved {
        let address = Address::Msr { cpu: 0, msr: 0xd10 };
        let (instance, register) = ("cbo0".to_owned(), "ctl0".to_owned());
        Saved { socket: 0, instance, register, address, width, value, written: Vec::new() }
    }

    /// What the session wrote, what was there before, and half of that: all other values are somebody else's. Bits that
    /// do not read back do not matter.
    #[test]
    fn a_setting_is_ours_if_it_holds_what_is_known() {
        let before = saved(Width::B8, 0x12_0000_0334);
        let written = [0x40_0136, 0x40_0137];
        for (held, ours) in [
            (0x40_0136, true),
            (0x40_0137, true),
            (0x12_0000_0334, true),
            (0x12_0000_0000, true),
            (0x40_0138, false),
            (0, false),
            (0x12_0000_0335, false),
            (1 << 63 | 0x40_0136, true),
        ] {
            assert_eq!(is_ours(&before, !(1 << 63), &written, held), ours, "{held:#x}");
        }
        assert!(!is_ours(&saved(Width::B4, 0x334), 0xffff_ffff, &[], 0), "four bytes are written at once");
        assert!(is_ours(&saved(Width::B4, 0x334), 0, &[], 0x999), "of no bit anything is known");
    }

    #[test]
    fn all_ones_are_no_value_of_a_register() {
        let read = |width| Operation::Read { address: Address::Msr { cpu: 0, msr: 0xd10 }, width };
        for (width, held, is_known) in [
            (Width::B8, u64::MAX, false),
            (Width::B8, 0xffff_ffff, true),
            (Width::B4, 0xffff_ffff, false),
            (Width::B4, 0xffff_fffe, true),
        ] {
            assert_eq!(something(&read(width), Ok(held)).ok(), is_known.then_some(held), "{held:#x}");
        }
        let address = Address::Msr { cpu: 0, msr: 0xd10 };
        let refused = Err(AccessError::GeneralProtection { address });
        assert_eq!(something(&read(Width::B8), refused.clone()), refused);
    }
}
