//! Events of the memory channels: section 2.5.8.

use pericore_dram::{Command, MemoryState, Pending};

use crate::e5_2600::snapshot::Snapshot;

/// The number in a subevent's name `RANKn`. Ranks that a channel does not have are in no state.
fn rank_number(subevent: &str) -> Option<u8> {
    subevent.strip_prefix("RANK")?.parse().ok().filter(|&rank| rank < 8)
}

/// An event of a memory channel.
pub(super) fn value(at: &Snapshot, index: usize, event: &str, subevent: &str) -> Option<u64> {
    let cells = at.cells.channels.get(index)?;
    let (plain, underfills) = (cells.command(Command::Read), cells.command(Command::Underfill));
    let reads = plain + underfills;
    let state = |state: MemoryState| cells.state(state);
    let (major, opportunistic) = (cells.command(Command::WriteMajor), cells.command(Command::WriteOpportunistic));
    let (rpq, wpq) = (cells.queue(Pending::Reads), cells.queue(Pending::Writes));
    Some(match (event, subevent) {
        // The fixed counter counts the same cycles.
        ("CLOCKTICKS" | "DCLK_FIXED", "") => at.clocks.dclk.cycles(at.now),
        ("ACT_COUNT", "") => cells.command(Command::Activate),
        ("PRE_COUNT", "PAGE_MISS") => cells.command(Command::PrechargeMiss),
        ("PRE_COUNT", "PAGE_CLOSE") => cells.command(Command::PrechargeIdle),
        ("CAS_COUNT", "RD_REG") => plain,
        ("CAS_COUNT", "RD_UNDERFILL") => underfills,
        ("CAS_COUNT", "RD") => reads,
        ("CAS_COUNT", "WR_WMM") => major,
        ("CAS_COUNT", "WR_RMM") => opportunistic,
        ("CAS_COUNT", "WR") => major + opportunistic,
        ("CAS_COUNT", "ALL") => reads + major + opportunistic,
        ("DRAM_REFRESH", "HIGH") => cells.command(Command::RefreshIdle),
        ("DRAM_REFRESH", "PANIC") => cells.command(Command::RefreshForced),
        ("DRAM_PRE_ALL", "") => cells.command(Command::PrechargeAll),
        ("MAJOR_MODES", "READ") => cells.modes[0].nonempty(),
        ("MAJOR_MODES", "WRITE") => cells.modes[1].nonempty(),
        ("MAJOR_MODES", "PARTIAL") => cells.modes[2].nonempty(),
        ("MAJOR_MODES", "ISOCH") => cells.modes[3].nonempty(),
        ("PREEMPTION", "RD_PREEMPT_RD") => cells.preemptions[0],
        ("PREEMPTION", "RD_PREEMPT_WR") => cells.preemptions[1],
        ("ECC_CORRECTABLE_ERRORS", "") => cells.corrected,
        ("POWER_THROTTLE_CYCLES", rank) => state(MemoryState::Throttled(rank_number(rank)?)),
        ("POWER_SELF_REFRESH", "") => state(MemoryState::SelfRefresh),
        ("POWER_CKE_CYCLES", rank) => state(MemoryState::ClockOn(rank_number(rank)?)),
        ("POWER_CHANNEL_DLLOFF", "") => state(MemoryState::DllOff),
        ("POWER_CHANNEL_PPD", "") => state(MemoryState::PoweredDown),
        ("POWER_CRITICAL_THROTTLE_CYCLES", "") => state(MemoryState::Critical),
        ("RPQ_INSERTS", "") => rpq.entries,
        ("RPQ_OCCUPANCY", "") => rpq.cycles(),
        ("RPQ_CYCLES_NE", "") => rpq.nonempty(),
        ("RPQ_CYCLES_FULL", "") => rpq.full(),
        ("WPQ_INSERTS", "") => wpq.entries,
        ("WPQ_OCCUPANCY", "") => wpq.cycles(),
        ("WPQ_CYCLES_NE", "") => wpq.nonempty(),
        ("WPQ_CYCLES_FULL", "") => wpq.full(),
        ("WPQ_READ_HIT", "") => cells.forwards,
        ("WPQ_WRITE_HIT", "") => cells.merges,
        _ => return None,
    })
}
