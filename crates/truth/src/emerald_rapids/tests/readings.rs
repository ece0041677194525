//! What second readers found: counts that both readers once had wrong, from the guide's sentences.

use pericore_dram::{Command, CommandRecord, Lane, MajorMode, MemoryState, Sent};
use pericore_facts::emerald_rapids::{MemoryFact, MemoryUnitFact, SubchannelPlace};

use super::{
    Arbitration, DeviceRequest, DeviceStation, Fact, FlowRing, Kind, LINK, LinkFact, LinkMessage, LinkWidth, Outcome,
    ReturnedCredits, counts, of, packet,
};

/// Table 2-154: cycles with the clock enabled, from the start until it is disabled from 10 to 30. Table 2-159: a mode
/// that changes while nothing of the other kind waits preempts nothing.
#[test]
fn clocks_that_are_enabled_and_modes_that_preempt() {
    let mode = |from, to, preempts| MemoryFact::Mode { from, to, preempts };
    let facts = [
        (0, MemoryFact::Starts),
        (10, MemoryFact::State(MemoryState::ClockOn(0), false)),
        (30, MemoryFact::State(MemoryState::ClockOn(0), true)),
        (40, mode(MajorMode::Read, MajorMode::Write, false)),
        (50, mode(MajorMode::Write, MajorMode::Read, true)),
    ];
    let place = SubchannelPlace { channel: (0, 0), half: 0 };
    let at = of(&facts.map(|(at, fact)| (at, Fact::Memory(place, fact))), 100);
    counts(&at, 0, "imc/POWER_CKE_CYCLES.LOW_0", 80);
    counts(&at, 0, "imc/POWER_CKE_CYCLES.LOW_1", 100);
    counts(&at, 0, "imc/MAJOR_MODE_CHANGE_PCH0.PR_TO_PW", 1);
    counts(&at, 0, "imc/PREEMPTION_MM_SWITCH.WMM_PCH0", 0);
    counts(&at, 0, "imc/PREEMPTION_MM_SWITCH.RMM_PCH0", 1);
}

/// The read data buffer is the channel's: one half reads from 10 to 20 and from 30 to 40, the other from 15 to 25. A
/// read that completes a partial write goes past it.
#[test]
fn a_buffer_holds_what_either_half_reads() {
    let command = |command, cycle| {
        let record = CommandRecord { cycle, command, rank: 0, bank: 0, row: 0, closes: false };
        MemoryFact::Command(Sent { record, lane: Lane::Reads, mode: MajorMode::Read, starved: false })
    };
    let facts = [
        (10, 0, command(Command::Read, 10)),
        (12, 0, command(Command::Underfill, 12)),
        (15, 1, command(Command::Read, 15)),
        (20, 0, MemoryFact::Delivers),
        (25, 1, MemoryFact::Delivers),
        (30, 0, command(Command::Read, 30)),
        (40, 0, MemoryFact::Delivers),
    ];
    let at = facts.map(|(at, half, fact)| (at, Fact::Memory(SubchannelPlace { channel: (0, 0), half }, fact)));
    let at = of(&at, 100);
    counts(&at, 0, "imc/RDB_INSERTS.ALL", 3);
    counts(&at, 0, "imc/RDB_OCCUPANCY", 30);
    counts(&at, 0, "imc/RDB_NE.PCH0", 20);
    for either in ["RDB_NE.ALL", "RDB_NOT_EMPTY", "RDB_FULL"] {
        counts(&at, 0, &format!("imc/{either}"), 25);
    }
}

/// Section 2.4.5: double words that the card asks for; of a part of a line there are four.
#[test]
fn a_part_of_a_line_is_fewer_double_words() {
    let [part, line] = [Kind::DmaPartial, Kind::DmaWrite].map(|kind| DeviceRequest { kind, port: 5, walk: 0 });
    let at = of(&[part, line].map(|request| (1, Fact::Device((0, 0), DeviceStation::Enters, request))), 10);
    counts(&at, 0, "iio/DATA_REQ_OF_CPU.MEM_WRITE.PART5", 4 + 16);
    counts(&at, 0, "iio/TXN_REQ_OF_CPU.MEM_WRITE.PART5", 2);
}

/// Section 2.6.6: flits past the buffer, by slot: a header, and three flits of its line, which fills all slots. A
/// request to shut down is seen by who sends it and by who gets it.
#[test]
fn a_line_goes_past_the_buffer_in_four_flits() {
    let line = packet(LinkMessage::PeerWrite, 0);
    let facts = [(3, LinkFact::PassesReceiver(line, [false; 3])), (5, LinkFact::ShutsDown(true))];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Link(LINK, fact))), 10);
    counts(&at, 0, "upi/RxL_BYPASSED.SLOT0", 4);
    counts(&at, 0, "upi/RxL_BYPASSED.SLOT2", 3);
    counts(&at, 0, "upi/POWER_L1_REQ", 1);
    counts(&at, 1, "upi/POWER_L1_REQ", 1);
    counts(&at, 1, "upi/POWER_L1_NACK", 0);
}

/// Table 2-375: a line that waits seven cycles for credits is blocked in each of them. Table 2-253: data that does not
/// go straight to the core, all of it beside the cisgress path.
#[test]
fn who_cannot_pay_is_blocked_in_each_cycle() {
    let mut outcomes = [[Outcome::Idle; 7]; 2];
    outcomes[1][3] = Outcome::Poor;
    let arbitration = Arbitration { outcomes, times: 7, ..Arbitration::default() };
    let at = of(
        &[
            (8, Fact::Link(LINK, LinkFact::Arbitrates(arbitration))),
            (9, Fact::MemoryUnit((0, 0), MemoryUnitFact::NotDirect)),
        ],
        10,
    );
    counts(&at, 0, "m3upi/RxC_ARB_NOCRD_VN1.BL_RSP", 7);
    counts(&at, 0, "m2m/DIRECT2CORE_NOT_TAKEN_DIRSTATE.EGRESS", 1);
    counts(&at, 0, "m2m/DIRECT2CORE_NOT_TAKEN_DIRSTATE.NON_CISGRESS", 1);
}

/// Table 2-137: rows opened for reads and for writes. One that is opened to complete a line is opened for a read.
#[test]
fn a_row_for_an_underfill_is_opened_for_a_read() {
    let opens = |lane, starved| {
        let record = CommandRecord { cycle: 0, command: Command::Activate, rank: 0, bank: 0, row: 7, closes: false };
        MemoryFact::Command(Sent { record, lane, mode: MajorMode::Write, starved })
    };
    let facts = [
        opens(Lane::Reads, false),
        opens(Lane::Underfills, false),
        opens(Lane::Underfills, true),
        opens(Lane::Writes, false),
    ];
    let place = SubchannelPlace { channel: (0, 0), half: 0 };
    let at = of(&facts.map(|fact| (5, Fact::Memory(place, fact))), 10);
    counts(&at, 0, "imc/ACT_PRIO.RD_NORMAL_PCH0", 2);
    counts(&at, 0, "imc/ACT_PRIO.RD_STARVED_PCH0", 1);
    counts(&at, 0, "imc/ACT_PRIO.WR_NORMAL_PCH0", 1);
    counts(&at, 0, "imc/ACT_PRIO.WR_STARVED_PCH0", 0);
}

/// Section 2.3.5: a channel refreshes itself while both of its halves do. Section 2.9.3, Table 2-416: writebacks for
/// other sockets, of which there are none, are as many as those for this one while none of these waits.
#[test]
fn both_halves_refresh_themselves_and_none_is_as_many_as_none() {
    let half = |half| SubchannelPlace { channel: (0, 0), half };
    let refreshes = |of, at, on| (at, Fact::Memory(half(of), MemoryFact::State(MemoryState::SelfRefresh, on)));
    let line = packet(LinkMessage::Writeback, 1);
    let link = |at, fact| (at, Fact::Link(LINK, fact));
    let facts = [
        link(0, LinkFact::Width(None, LinkWidth::Full)),
        refreshes(0, 10, true),
        refreshes(1, 20, true),
        link(30, LinkFact::EntersFlow(line)),
        link(37, LinkFact::LeavesFlow(line)),
        refreshes(0, 40, false),
        refreshes(1, 60, false),
    ];
    let at = of(&facts, 100);
    counts(&at, 0, "imc/POWER_SELF_REFRESH", 20);
    counts(&at, 0, "m3upi/WB_OCC_COMPARE.RT_LT_LOCALDEST_VN1", 7);
    counts(&at, 0, "m3upi/WB_OCC_COMPARE.RT_EQ_LOCALDEST_VN1", 93);
    counts(&at, 0, "m3upi/WB_OCC_COMPARE.RT_EQ_LOCALDEST_VN0", 100);
    counts(&at, 1, "m3upi/WB_OCC_COMPARE.RT_EQ_LOCALDEST_VN0", 0);
}

/// Table 2-228: while a direction has few lanes, its clock goes on for what comes and goes, flit by flit: a line is one
/// of its header and three more.
#[test]
fn each_flit_keeps_the_clock_of_a_narrow_link_going() {
    let (line, credits) = (packet(LinkMessage::PeerWrite, 0), ReturnedCredits::default());
    let facts = [
        (0, LinkFact::Width(None, LinkWidth::Half)),
        (3, LinkFact::PassesReceiver(line, [false; 3])),
        (4, LinkFact::WaitsAtReceiver(packet(LinkMessage::ReadData, 0), [false; 3], FlowRing::Address)),
        (5, LinkFact::GivesCredits(credits)),
        (6, LinkFact::Ships { lines: true, beside_line: false, queued: false }),
        (7, LinkFact::Leaves { messages: 1, alone: false, queued: false, lines: true, beside_line: false }),
        (8, LinkFact::Width(Some(LinkWidth::Half), LinkWidth::Full)),
        (9, LinkFact::PassesReceiver(line, [false; 3])),
    ];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Link(LINK, fact))), 10);
    for (name, expected) in [("RXQ_BYPASS", 4), ("RXQ", 1), ("RXQ_CRED", 1), ("TXQ", 4)] {
        counts(&at, 0, &format!("upi/TxL0P_CLK_ACTIVE.{name}"), expected);
    }
}
