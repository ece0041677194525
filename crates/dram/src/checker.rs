//! An independent reading of the JEDEC standards: checks a channel's command stream, knowing nothing of the scheduler.
//!
//! Every number stands here again, written from the standard, so that a wrong one in the scheduler shows.

use crate::facts::{Command, CommandRecord};
pub use crate::standard::{DDR3_1333H, DDR3_1600K, DDR4_3200AA, DDR5_4800B, DDR5_5600B, Standard};

/// Gap on the data bus when its driver changes: not of the standards, but of any board.
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

#[derive(Clone)]
struct Rank {
    banks: Vec<Bank>,
    groups: Vec<Group>,
    activates: Vec<u64>,
    read: Option<u64>,
    written: Option<u64>,
    refreshed: Option<u64>,
    refreshes: u64,
}

/// Use of the data bus: first cycle, cycle after the last, rank, write.
type Burst = (u64, u64, u8, bool);

/// Checks the commands of one channel, in order. `refi` replaces the standard's for tests that refresh more often, and is `None` where
/// the channel may refresh itself.
///
/// # Panics
/// On the first command that breaks a rule.
pub fn check(standard: &Standard, commands: &[CommandRecord], refi: Option<u64>) {
    let s = standard;
    let idle = Rank {
        banks: vec![Bank::default(); s.banks],
        groups: vec![Group::default(); s.groups],
        activates: Vec::new(),
        read: None,
        written: None,
        refreshed: None,
        refreshes: 0,
    };
    let mut ranks = vec![idle; s.ranks];
    let mut bus_free = 0;
    let mut last = 0;
    let mut bus: Option<Burst> = None;
    for command in commands {
        let at = |what: &str| format!("{what}: {command:?}");
        let now = command.cycle;
        assert!(now >= bus_free, "{}", at("two commands at a time, or not in order"));
        last = now;
        let wait = |since: Option<u64>, gap: u64, what: &str| {
            assert!(since.is_none_or(|since| now >= since + gap), "{} since {since:?}", at(what));
        };
        let rank = &mut ranks[usize::from(command.rank)];
        wait(rank.refreshed, s.rfc, "tRFC");
        let (b, g) = (usize::from(command.bank), usize::from(command.bank) % s.groups);
        let (bank, group) = (rank.banks[b], rank.groups[g]);
        bus_free = now + 1;
        match command.command {
            Command::Activate => {
                bus_free = now + s.long_command;
                assert_eq!(bank.open, None, "{}", at("activate of an open bank"));
                wait(bank.precharged, s.rp, "tRP");
                wait(bank.activated, s.rc, "tRC");
                wait(rank.activates.last().copied(), s.rrd_s, "tRRD_S");
                wait(group.activated, s.rrd_l, "tRRD_L");
                let fourth = rank.activates.len().checked_sub(4).map(|index| rank.activates[index]);
                wait(fourth, s.faw, "tFAW");
                rank.activates.push(now);
                rank.groups[g].activated = Some(now);
                rank.banks[b].activated = Some(now);
                rank.banks[b].open = Some(command.row);
            }
            Command::Read | Command::Underfill | Command::WriteMajor | Command::WriteOpportunistic => {
                bus_free = now + s.long_command;
                let write = matches!(command.command, Command::WriteMajor | Command::WriteOpportunistic);
                assert_eq!(bank.open, Some(command.row), "{}", at("column command to another row"));
                wait(bank.activated, s.rcd, "tRCD");
                if write {
                    wait(rank.written, s.ccd_s, "tCCD_S");
                    wait(group.written, s.ccd_l_wr, "tCCD_L_WR");
                } else {
                    wait(rank.read, s.ccd_s, "tCCD_S");
                    wait(group.read, s.ccd_l, "tCCD_L");
                    wait(rank.written, s.cwl + s.burst + s.wtr_s, "tWTR_S");
                    wait(group.written, s.cwl + s.burst + s.wtr_l, "tWTR_L");
                }
                let start = now + if write { s.cwl } else { s.cl };
                if let Some((_, end, other, other_write)) = bus {
                    let gap = if other != command.rank || other_write != write { SWITCH } else { 0 };
                    assert!(start >= end + gap, "{}", at("data bus"));
                }
                bus = Some((start, start + s.burst, command.rank, write));
                if command.closes {
                    let since = if write { now + s.cwl + s.burst + s.wr } else { now + s.rtp };
                    let opened = bank.activated.map_or(0, |activated| activated + s.ras);
                    let read = bank.read.map_or(0, |read| read + s.rtp);
                    let written = bank.written.map_or(0, |written| written + s.cwl + s.burst + s.wr);
                    rank.banks[b].open = None;
                    rank.banks[b].precharged = Some(since.max(opened).max(read).max(written));
                }
                *(if write { &mut rank.banks[b].written } else { &mut rank.banks[b].read }) = Some(now);
                *(if write { &mut rank.groups[g].written } else { &mut rank.groups[g].read }) = Some(now);
                *(if write { &mut rank.written } else { &mut rank.read }) = Some(now);
            }
            Command::PrechargeMiss | Command::PrechargeIdle | Command::PrechargeAll => {
                let all = command.command == Command::PrechargeAll;
                let chosen = if all { &mut rank.banks[..] } else { &mut rank.banks[b..=b] };
                assert!(chosen.iter().any(|bank| bank.open.is_some()), "{}", at("nothing to close"));
                for bank in chosen.iter_mut().filter(|bank| bank.open.is_some()) {
                    wait(bank.activated, s.ras, "tRAS");
                    wait(bank.read, s.rtp, "tRTP");
                    wait(bank.written, s.cwl + s.burst + s.wr, "tWR");
                    bank.open = None;
                    bank.precharged = Some(now);
                }
            }
            Command::RefreshIdle | Command::RefreshForced => {
                for bank in &rank.banks {
                    assert_eq!(bank.open, None, "{}", at("refresh with an open bank"));
                    wait(bank.precharged, s.rp, "tRP before refresh");
                }
                rank.refreshed = Some(now);
                rank.refreshes += 1;
            }
        }
    }
    // Only so many refreshes may be put off, and none is sent before it is due.
    let Some(refi) = refi else { return };
    for (number, rank) in ranks.iter().enumerate() {
        let due = last / refi;
        assert!(rank.refreshes + s.postponed + 1 >= due, "rank {number}: {} refreshes of {due}", rank.refreshes);
        assert!(rank.refreshes <= due + 1, "rank {number}: {} refreshes of {due}", rank.refreshes);
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, CommandRecord, DDR3_1600K, DDR4_3200AA, DDR5_5600B, Standard};

    fn command(cycle: u64, command: Command, bank: u8, row: u32) -> CommandRecord {
        CommandRecord { cycle, command, rank: 0, bank, row, closes: false }
    }

    fn check(standard: &Standard, commands: &[CommandRecord]) {
        super::check(standard, commands, Some(standard.refi));
    }

    fn activates(commands: &[(u64, u8)]) -> Vec<CommandRecord> {
        commands.iter().map(|&(cycle, bank)| command(cycle, Command::Activate, bank, 1)).collect()
    }

    #[test]
    fn a_plain_read_passes() {
        for (standard, read, close) in [(DDR3_1600K, 11, 28), (DDR4_3200AA, 22, 52), (DDR5_5600B, 45, 90)] {
            let commands = [
                command(0, Command::Activate, 0, 7),
                command(read, Command::Read, 0, 7),
                command(close, Command::PrechargeMiss, 0, 0),
            ];
            check(&standard, &commands);
        }
    }

    #[test]
    #[should_panic(expected = "tRCD")]
    fn an_early_read_is_found() {
        check(&DDR3_1600K, &[command(0, Command::Activate, 0, 7), command(10, Command::Read, 0, 7)]);
    }

    /// Activated at 0, read at 11 (tRCD), its row closed by itself at 28 (tRAS), open again from 39 (tRP).
    fn read_that_closes(again: u64) -> [CommandRecord; 3] {
        let read = CommandRecord { closes: true, ..command(11, Command::Read, 0, 7) };
        [command(0, Command::Activate, 0, 7), read, command(again, Command::Activate, 0, 8)]
    }

    #[test]
    fn a_row_may_close_by_itself() {
        check(&DDR3_1600K, &read_that_closes(39));
    }

    #[test]
    #[should_panic(expected = "tRP")]
    fn an_activate_before_a_row_has_closed_by_itself_is_found() {
        check(&DDR3_1600K, &read_that_closes(38));
    }

    #[test]
    #[should_panic(expected = "another row")]
    fn a_read_of_a_row_that_closed_by_itself_is_found() {
        let [activate, read, _] = read_that_closes(39);
        check(&DDR3_1600K, &[activate, read, command(15, Command::Read, 0, 7)]);
    }

    #[test]
    #[should_panic(expected = "tFAW")]
    fn a_fifth_activate_is_found() {
        check(&DDR3_1600K, &activates(&[(0, 0), (5, 1), (10, 2), (15, 3), (23, 4)]));
    }

    #[test]
    #[should_panic(expected = "another row")]
    fn a_read_of_another_row_is_found() {
        check(&DDR3_1600K, &[command(0, Command::Activate, 0, 7), command(11, Command::Read, 0, 8)]);
    }

    #[test]
    #[should_panic(expected = "tRRD_L")]
    fn an_early_activate_of_the_same_group_is_found() {
        check(&DDR5_5600B, &activates(&[(0, 0), (13, 8)]));
    }

    #[test]
    #[should_panic(expected = "tRRD_S")]
    fn an_early_activate_is_found() {
        check(&DDR5_5600B, &activates(&[(0, 0), (7, 1)]));
    }

    #[test]
    #[should_panic(expected = "two commands")]
    fn a_command_in_the_second_cycle_of_another_is_found() {
        check(&DDR5_5600B, &[command(0, Command::Activate, 0, 7), command(1, Command::RefreshIdle, 0, 0)]);
    }

    /// Two banks with open rows, and column commands to them.
    fn columns(of: &[(u64, Command, u8)]) -> Vec<CommandRecord> {
        let mut commands = activates(&[(0, 0), (8, 4), (16, 1)]);
        commands.extend(of.iter().map(|&(cycle, what, bank)| command(cycle, what, bank, 1)));
        commands
    }

    #[test]
    fn reads_of_two_groups_follow_each_other_closely() {
        check(&DDR4_3200AA, &columns(&[(40, Command::Read, 0), (44, Command::Read, 1), (48, Command::Read, 4)]));
    }

    #[test]
    #[should_panic(expected = "tCCD_L")]
    fn an_early_read_of_the_same_group_is_found() {
        check(&DDR4_3200AA, &columns(&[(40, Command::Read, 0), (47, Command::Read, 4)]));
    }

    #[test]
    #[should_panic(expected = "tWTR_L")]
    fn an_early_read_after_a_write_of_the_group_is_found() {
        check(&DDR4_3200AA, &columns(&[(40, Command::WriteMajor, 0), (71, Command::Read, 4)]));
    }

    #[test]
    #[should_panic(expected = "tWTR_S")]
    fn an_early_read_after_a_write_of_another_group_is_found() {
        check(&DDR4_3200AA, &columns(&[(40, Command::WriteMajor, 0), (63, Command::Read, 1)]));
    }
}
