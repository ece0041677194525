//! Power, messages, devices, rings and memory states: every count of a software E5-2600 equals the ledger's figure, exactly.
//!
//! The events, their filters and the ledger's names for them stand here by hand.

use pericore_machine::ledger::Question;
use pericore_machine::ledger::e5_2600::Window;
use pericore_tests::rig::{Measured, Rig, measure, plan};

/// Ticks of a run at most: two virtual milliseconds.
const RUN: u64 = 43_200_000;

/// Short phases in which each of the events below happens.
const SCENARIO: &str = "
phase shared
  workload random:requests=4000,threads=16,footprint=16k,read=60
  frequency 3100MHz
  memory-error every 20reads
phase turbo
  idle 30us
  frequency 3100MHz
phase dirty
  workload stream:requests=5000,stride=128k,footprint=1G,read=0
  throttle rank0 40%
  msi every 1us
  ipi every 1us
  monitor0 every 1us
  phold every 2us
phase scattered
  workload ntstore:requests=2000,partial=100,stride=4k,footprint=512M
  critical 30%
phase written
  workload dma-write:requests=3000,threads=16,allocate=20,stride=128k,footprint=4G
  device-write every 200ns
phase fetched
  workload dma-read:requests=1500,threads=16,stride=128k,footprint=4G
  device-read every 200ns
  prochot internal
phase evening
  idle 60us
  sleep c6
  wake every 20us
  self-refresh after 1us
  frequency 1200MHz
  io-floor 1500MHz
phase end
  idle 30us
  power-down slow
";

/// Unit, event and subevent, and the filter that goes with them.
type Row = (&'static str, &'static str, &'static str, &'static [(&'static str, u64)]);

const ROWS: &[Row] = &[
    ("imc", "CAS_COUNT", "RD_UNDERFILL", &[]),
    ("imc", "MAJOR_MODES", "PARTIAL", &[]),
    ("imc", "PREEMPTION", "RD_PREEMPT_WR", &[]),
    ("imc", "ECC_CORRECTABLE_ERRORS", "", &[]),
    ("imc", "POWER_THROTTLE_CYCLES", "RANK0", &[]),
    ("imc", "POWER_CRITICAL_THROTTLE_CYCLES", "", &[]),
    ("imc", "POWER_CKE_CYCLES", "RANK0", &[]),
    ("imc", "POWER_CKE_CYCLES", "RANK1", &[]),
    ("imc", "POWER_CHANNEL_PPD", "", &[]),
    ("imc", "POWER_CHANNEL_DLLOFF", "", &[]),
    ("imc", "POWER_SELF_REFRESH", "", &[]),
    ("pcu", "CLOCKTICKS", "", &[]),
    ("pcu", "VOLT_TRANS_CYCLES_INCREASE", "", &[]),
    ("pcu", "VOLT_TRANS_CYCLES_DECREASE", "", &[]),
    ("pcu", "FREQ_TRANS_CYCLES", "", &[]),
    ("pcu", "FREQ_MAX_OS_CYCLES", "", &[]),
    ("pcu", "FREQ_MIN_IO_P_CYCLES", "", &[]),
    ("pcu", "PROCHOT_INTERNAL_CYCLES", "", &[]),
    ("pcu", "FREQ_BAND0_CYCLES", "", &[("band0", 15)]),
    ("pcu", "FREQ_BAND1_CYCLES", "", &[("band1", 28)]),
    ("pcu", "POWER_STATE_OCCUPANCY", "CORES_C0", &[]),
    ("pcu", "POWER_STATE_OCCUPANCY", "CORES_C3", &[]),
    ("pcu", "POWER_STATE_OCCUPANCY", "CORES_C6", &[]),
    ("pcu", "DEMOTIONS_CORE3", "", &[]),
    ("pcu", "CORE3_TRANSITION_CYCLES", "", &[]),
    ("pcu", "TOTAL_TRANSITION_CYCLES", "", &[]),
    ("ubox", "EVENT_MSG", "MSI_RCVD", &[]),
    ("ubox", "EVENT_MSG", "IPI_RCVD", &[]),
    ("ubox", "FILTER_MATCH", "DISABLE", &[]),
    ("ubox", "U2C_EVENTS", "MONITOR_T0", &[]),
    ("ubox", "PHOLD_CYCLES", "ASSERT_TO_ACK", &[]),
    ("ubox", "PHOLD_CYCLES", "ACK_TO_DEASSERT", &[]),
    ("r2pcie", "RING_AD_USED", "CW_EVEN", &[]),
    ("r2pcie", "RING_BL_USED", "CCW_ODD", &[]),
    ("r2pcie", "RING_IV_USED", "ANY", &[]),
    ("r2pcie", "TxR_CYCLES_NE", "AD", &[]),
    ("r2pcie", "TxR_CYCLES_FULL", "AD", &[]),
    ("r2pcie", "TxR_NACKS", "AD", &[]),
    ("r2pcie", "TxR_NACKS", "BL", &[]),
    ("r2pcie", "TxR_INSERTS", "", &[]),
    ("r2pcie", "RxR_CYCLES_NE", "DRS", &[]),
    ("r2pcie", "RxR_CYCLES_NE", "NCB", &[]),
    ("r2pcie", "IIO_CREDITS_USED", "NCS", &[]),
    ("r2pcie", "IIO_CREDITS_ACQUIRED", "DRS", &[]),
    ("r2pcie", "IIO_CREDITS_REJECT", "DRS", &[]),
    ("cbo", "TOR_INSERTS", "OPCODE", &[("opc", 0x18D)]),
    ("cbo", "TOR_INSERTS", "OPCODE", &[("opc", 0x19C)]),
    ("cbo", "TOR_OCCUPANCY", "MISS_OPCODE", &[("opc", 0x19E)]),
    ("cbo", "RING_AD_USED", "UP_EVEN", &[]),
    ("cbo", "RING_AK_USED", "DOWN_ODD", &[]),
    ("cbo", "RING_BL_USED", "UP_ODD", &[]),
    ("cbo", "RING_IV_USED", "ANY", &[]),
    ("cbo", "RxR_INSERTS", "VFIFO", &[]),
    ("cbo", "RxR_OCCUPANCY", "IRQ_REJECTED", &[]),
    ("cbo", "RxR_IRQ_RETRY", "ANY", &[]),
    ("cbo", "RxR_IRQ_RETRY", "ADDR_CONFLICT", &[]),
    ("cbo", "RxR_EXT_STARVED", "ISMQ_BIDS", &[]),
    ("cbo", "ISMQ_DRD_MISS_OCC", "", &[]),
    ("cbo", "TxR_ADS_USED", "", &[]),
    ("ha", "IMC_WRITES", "PARTIAL", &[]),
    ("ha", "RING_AD_USED", "CW_ODD", &[]),
    ("ha", "RING_AK_USED", "CCW_EVEN", &[]),
    ("ha", "RING_BL_USED", "CW_EVEN", &[]),
    ("ha", "RING_BL_USED", "CCW_ODD", &[]),
];

fn text((unit, event, subevent, filters): Row) -> String {
    let name = if subevent.is_empty() { event.to_owned() } else { format!("{event}.{subevent}") };
    let filters: String = filters.iter().map(|(field, value)| format!(",{field}={value:#x}")).collect();
    format!("{unit}/{name}{filters}/")
}

#[test]
fn every_count_equals_the_ledger_and_counts_something() {
    let mut rig = Rig::new(SCENARIO, None);
    let mut rounds: Vec<Vec<Row>> = Vec::new();
    for &row in ROWS {
        let fits = rounds.iter().position(|round| {
            let texts: Vec<String> = round.iter().chain([&row]).map(|&row| text(row)).collect();
            plan(&mut rig, &texts, &[]).is_some()
        });
        match fits {
            Some(index) => rounds[index].push(row),
            None => rounds.push(vec![row]),
        }
    }
    let mut dead = Vec::new();
    for round in rounds {
        let texts: Vec<String> = round.iter().map(|&row| text(row)).collect();
        let mut rig = Rig::new(SCENARIO, None);
        let plan = plan(&mut rig, &texts, &[]).expect("the round fits");
        let Measured { plan, sample, truth: (before, after) } = measure(rig, plan, RUN);
        let window = Window::between(&before, &after);
        for (listed, (unit, event, subevent, filters)) in plan.selection.listed.iter().zip(round) {
            let subevent = Some(subevent).filter(|name| !name.is_empty());
            let mut total = 0;
            for count in sample.counts.iter().filter(|count| count.event == listed.event) {
                let truth =
                    window.truth(count.instance, Question::new(unit, event).subevent(subevent).filtered(filters));
                let truth = truth.unwrap_or_else(|| panic!("the ledger has no truth for {}", listed.label));
                assert_eq!(count.count, Some(truth), "{} in instance {}", listed.label, count.instance);
                total += truth;
            }
            if total == 0 {
                dead.push(listed.label.clone());
            }
        }
    }
    assert!(dead.is_empty(), "what never counts proves nothing: {dead:?}");
}
