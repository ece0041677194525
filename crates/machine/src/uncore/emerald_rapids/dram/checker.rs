//! An independent reading of JESD79-5 for DDR5-5600B: checks a subchannel's command stream, knowing nothing of the scheduler.
//!
//! Every number stands here again, written from the standard, so that a wrong one in the scheduler shows.

use crate::ledger::{Command, CommandRecord};

const CL: u64 = 46;
const CWL: u64 = 44;
const BURST: u64 = 8;
const T_RCD: u64 = 45;
const T_RP: u64 = 45;
const T_RAS: u64 = 90;
const T_RC: u64 = 135;
const T_RRD_S: u64 = 8;
const T_RRD_L: u64 = 14;
const T_FAW: u64 = 32;
const T_CCD_S: u64 = 8;
const T_CCD_L: u64 = 14;
const T_CCD_L_WR: u64 = 28;
const T_WTR_S: u64 = 7;
const T_WTR_L: u64 = 28;
const T_WR: u64 = 84;
const T_RTP: u64 = 21;
const T_RFC: u64 = 826;
const T_REFI: u64 = 10920;
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

#[derive(Clone, Copy, Default)]
struct Group {
    activated: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
}

#[derive(Default)]
struct Rank {
    banks: [Bank; 32],
    groups: [Group; 8],
    activates: Vec<u64>,
    read: Option<u64>,
    written: Option<u64>,
    refreshed: Option<u64>,
    refreshes: u64,
}

/// Use of the data bus: first cycle, cycle after the last, rank, write.
type Burst = (u64, u64, u8, bool);

/// Checks the commands of one subchannel, in order.
///
/// # Panics
/// On the first command that breaks a rule.
pub fn check(commands: &[CommandRecord]) {
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
        let (b, g) = (usize::from(command.bank), usize::from(command.bank) % 8);
        let (bank, group) = (rank.banks[b], rank.groups[g]);
        match command.command {
            Command::Activate => {
                assert_eq!(bank.open, None, "{}", at("activate of an open bank"));
                wait(bank.precharged, T_RP, "tRP");
                wait(bank.activated, T_RC, "tRC");
                wait(rank.activates.last().copied(), T_RRD_S, "tRRD_S");
                wait(group.activated, T_RRD_L, "tRRD_L");
                let fourth = rank.activates.len().checked_sub(4).map(|index| rank.activates[index]);
                wait(fourth, T_FAW, "tFAW");
                rank.activates.push(now);
                rank.groups[g].activated = Some(now);
                rank.banks[b].activated = Some(now);
                rank.banks[b].open = Some(command.row);
            }
            Command::Read | Command::Underfill | Command::WriteMajor | Command::WriteOpportunistic => {
                let write = !matches!(command.command, Command::Read | Command::Underfill);
                assert_eq!(bank.open, Some(command.row), "{}", at("column command to another row"));
                wait(bank.activated, T_RCD, "tRCD");
                if write {
                    wait(rank.written, T_CCD_S, "tCCD_S");
                    wait(group.written, T_CCD_L_WR, "tCCD_L_WR");
                } else {
                    wait(rank.read, T_CCD_S, "tCCD_S");
                    wait(group.read, T_CCD_L, "tCCD_L");
                    wait(rank.written, CWL + BURST + T_WTR_S, "tWTR_S");
                    wait(group.written, CWL + BURST + T_WTR_L, "tWTR_L");
                }
                let start = now + if write { CWL } else { CL };
                if let Some((_, end, other, other_write)) = bus {
                    let gap = if other != command.rank || other_write != write { SWITCH } else { 0 };
                    assert!(start >= end + gap, "{}", at("data bus"));
                }
                bus = Some((start, start + BURST, command.rank, write));
                *(if write { &mut rank.banks[b].written } else { &mut rank.banks[b].read }) = Some(now);
                *(if write { &mut rank.groups[g].written } else { &mut rank.groups[g].read }) = Some(now);
                *(if write { &mut rank.written } else { &mut rank.read }) = Some(now);
            }
            Command::PrechargeMiss | Command::PrechargeIdle | Command::PrechargeAll => {
                let all = command.command == Command::PrechargeAll;
                let chosen = if all { 0..32 } else { b..b + 1 };
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
    // At most four refreshes may be put off, and none is sent before it is due.
    for (number, rank) in ranks.iter().enumerate() {
        let due = last.unwrap_or(0) / T_REFI;
        assert!(rank.refreshes + 5 >= due, "rank {number}: {} refreshes in {due} intervals", rank.refreshes);
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
        check(&[
            command(0, Command::Activate, 0, 7),
            command(45, Command::Read, 0, 7),
            command(90, Command::PrechargeMiss, 0, 0),
        ]);
    }

    #[test]
    #[should_panic(expected = "tRCD")]
    fn an_early_read_is_found() {
        check(&[command(0, Command::Activate, 0, 7), command(44, Command::Read, 0, 7)]);
    }

    #[test]
    #[should_panic(expected = "tRRD_L")]
    fn an_early_activate_of_the_same_group_is_found() {
        check(&[command(0, Command::Activate, 0, 7), command(13, Command::Activate, 8, 7)]);
    }

    #[test]
    #[should_panic(expected = "tRRD_S")]
    fn an_early_activate_is_found() {
        check(&[command(0, Command::Activate, 0, 1), command(7, Command::Activate, 1, 1)]);
    }
}
