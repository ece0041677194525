//! An independent reading of JESD79-3 for DDR3-1600K: checks a channel's command stream, knowing nothing of the scheduler.
//!
//! Every number stands here again, written from the standard, so that a wrong one in the scheduler shows.

use crate::ledger::{Command, CommandRecord};

const CL: u64 = 11;
const CWL: u64 = 8;
const BURST: u64 = 4;
const T_RCD: u64 = 11;
const T_RP: u64 = 11;
const T_RAS: u64 = 28;
const T_RC: u64 = 39;
const T_RRD: u64 = 5;
const T_FAW: u64 = 24;
const T_CCD: u64 = 4;
const T_WTR: u64 = 6;
const T_WR: u64 = 12;
const T_RTP: u64 = 6;
const T_RFC: u64 = 208;
/// Gap on the data bus when its driver changes: not of the standard, but of any board.
const SWITCH: u64 = 2;

#[derive(Clone, Copy, Default)]
struct Bank {
    open: Option<u32>,
    activated: Option<u64>,
    precharged: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
}

#[derive(Default)]
struct Rank {
    banks: [Bank; 8],
    activates: Vec<u64>,
    read: Option<u64>,
    written: Option<u64>,
    refreshed: Option<u64>,
    refreshes: u64,
}

/// Use of the data bus: first cycle, cycle after the last, rank, write.
type Burst = (u64, u64, u8, bool);

/// Checks the commands of one channel, in order. `trefi` is 6240 but for tests that refresh more often, and `None`
/// where the channel may refresh itself.
///
/// # Panics
/// On the first command that breaks a rule.
pub fn check(commands: &[CommandRecord], trefi: Option<u64>) {
    let mut ranks = [Rank::default(), Rank::default()];
    let mut last: Option<u64> = None;
    let mut bus: Option<Burst> = None;
    for command in commands {
        let at = |what: &str| format!("{what}: {command:?}");
        let now = command.cycle;
        assert!(last.is_none_or(|last| now > last), "{}", at("two commands in a cycle, or not in order"));
        last = Some(now);
        let wait = |since: Option<u64>, gap: u64, what: &str| {
            assert!(since.is_none_or(|since| now >= since + gap), "{} since {since:?}", at(what));
        };
        let rank = &mut ranks[usize::from(command.rank)];
        if command.command != Command::PrechargeIdle {
            wait(rank.refreshed, T_RFC, "tRFC");
        }
        let bank = rank.banks[usize::from(command.bank)];
        match command.command {
            Command::Activate => {
                assert_eq!(bank.open, None, "{}", at("activate of an open bank"));
                wait(bank.precharged, T_RP, "tRP");
                wait(bank.activated, T_RC, "tRC");
                wait(rank.activates.last().copied(), T_RRD, "tRRD");
                let fourth = rank.activates.len().checked_sub(4).map(|index| rank.activates[index]);
                wait(fourth, T_FAW, "tFAW");
                rank.activates.push(now);
                let bank = &mut rank.banks[usize::from(command.bank)];
                bank.activated = Some(now);
                bank.open = Some(command.row);
            }
            Command::Read | Command::Underfill | Command::WriteMajor | Command::WriteOpportunistic => {
                let write = matches!(command.command, Command::WriteMajor | Command::WriteOpportunistic);
                assert_eq!(bank.open, Some(command.row), "{}", at("column command to another row"));
                wait(bank.activated, T_RCD, "tRCD");
                wait(rank.read, T_CCD, "tCCD");
                wait(rank.written, T_CCD, "tCCD");
                if !write {
                    wait(rank.written, CWL + BURST + T_WTR, "tWTR");
                }
                let start = now + if write { CWL } else { CL };
                if let Some((_, end, other, other_write)) = bus {
                    let gap = if other != command.rank || other_write != write { SWITCH } else { 0 };
                    assert!(start >= end + gap, "{}", at("data bus"));
                }
                bus = Some((start, start + BURST, command.rank, write));
                let bank = &mut rank.banks[usize::from(command.bank)];
                *(if write { &mut bank.written } else { &mut bank.read }) = Some(now);
                *(if write { &mut rank.written } else { &mut rank.read }) = Some(now);
            }
            Command::PrechargeMiss | Command::PrechargeIdle | Command::PrechargeAll => {
                let all = command.command == Command::PrechargeAll;
                let chosen = if all { 0..8 } else { usize::from(command.bank)..usize::from(command.bank) + 1 };
                assert!(
                    rank.banks[chosen.clone()].iter().any(|bank| bank.open.is_some()),
                    "{}",
                    at("nothing to close")
                );
                for bank in rank.banks[chosen].iter_mut().filter(|bank| bank.open.is_some()) {
                    wait(bank.activated, T_RAS, "tRAS");
                    wait(bank.read, T_RTP, "tRTP");
                    wait(bank.written, CWL + BURST + T_WR, "tWR");
                    bank.open = None;
                    bank.precharged = Some(now);
                }
            }
            Command::RefreshIdle | Command::RefreshForced => {
                for bank in &rank.banks {
                    assert_eq!(bank.open, None, "{}", at("refresh with an open bank"));
                    wait(bank.precharged, T_RP, "tRP before refresh");
                }
                rank.refreshed = Some(now);
                rank.refreshes += 1;
            }
        }
    }
    // At most eight refreshes may be put off, and none is sent before it is due.
    let Some(trefi) = trefi else { return };
    for (number, rank) in ranks.iter().enumerate() {
        let due = last.unwrap_or(0) / trefi;
        assert!(rank.refreshes + 9 >= due, "rank {number}: {} refreshes in {due} intervals", rank.refreshes);
        assert!(rank.refreshes <= due + 1, "rank {number}: {} refreshes in {due} intervals", rank.refreshes);
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, CommandRecord, check};

    fn command(cycle: u64, command: Command, bank: u8, row: u32) -> CommandRecord {
        CommandRecord { cycle, command, rank: 0, bank, row }
    }

    #[test]
    fn a_plain_read_passes() {
        check(
            &[
                command(0, Command::Activate, 0, 7),
                command(11, Command::Read, 0, 7),
                command(28, Command::PrechargeMiss, 0, 0),
            ],
            Some(6240),
        );
    }

    #[test]
    #[should_panic(expected = "tRCD")]
    fn an_early_read_is_found() {
        check(&[command(0, Command::Activate, 0, 7), command(10, Command::Read, 0, 7)], Some(6240));
    }

    #[test]
    #[should_panic(expected = "tFAW")]
    fn a_fifth_activate_is_found() {
        check(&[0, 5, 10, 15, 23].map(|cycle| command(cycle, Command::Activate, (cycle / 5) as u8, 1)), Some(6240));
    }

    #[test]
    #[should_panic(expected = "another row")]
    fn a_read_of_another_row_is_found() {
        check(&[command(0, Command::Activate, 0, 7), command(11, Command::Read, 0, 8)], Some(6240));
    }
}
