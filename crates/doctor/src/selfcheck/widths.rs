//! Where counters wrap: each is set so that it passes its end early in a run.

use pericore_registers::RegisterSpace;

use super::clocks::Rate;
use super::numbers::Numbered;
use super::tested::Bench;
use super::time::TestTime;
use super::verdict::Verdicts;

const REMEDY: &str = "counts of it are wrong when it wraps: read it more often; send this report with --bundle FILE";

/// A clock may be so much faster or slower than it was a moment ago: the uncore's goes from 0.8 to 2.5 GHz with the
/// load.
const ROOM: f64 = 4.0;

/// Looks at all counters that count as they should.
pub fn check<S: RegisterSpace>(
    bench: &mut Bench<'_, S, impl TestTime<S>>,
    state: &mut [Numbered],
    rates: &[Rate],
    verdicts: &mut Verdicts,
) {
    let window = bench.window();
    // On a busy machine a run takes longer than it should, and never less.
    let before_end = |number: usize| (rates[number].0 * window / ROOM / 2.0) as u64;
    let start = |number: usize, max: u64| max - before_end(number);
    bench.set(|number, tested| start(number, tested.bits.max()));
    let set = bench.read();
    let run = bench.run(window, |_| true);
    for (number, tested) in bench.counters.iter().enumerate() {
        if state[number] != Numbered::Sound || before_end(number) == 0 {
            continue;
        }
        let (Ok(set), Ok(value)) = (&set[number], &run.values[number]) else { continue };
        let (bits, wrote) = (tested.bits, start(number, tested.bits.max()));
        let [before, _, _, stopped] = &run.spans[tested.place];
        let most = (rates[number].1 * (stopped.seconds - before.seconds) * ROOM) as u64;
        let width = bits.width;
        let text = if *set != bits.set(0, wrote) {
            let kept = bits.get(*set) & wrote;
            Some(format!(
                "reads {set:#x} after {:#x} was written: it has {} bits",
                bits.set(0, wrote),
                64 - kept.leading_zeros()
            ))
        } else if value & !bits.mask() != 0 {
            Some(format!("goes on to {value:#x} past its end: it has more bits"))
        } else if bits.get(*value) >= wrote {
            Some(format!("does not wrap: it stands at {value:#x}"))
        } else if bits.get(*value) > most {
            Some(format!("wraps to {value:#x}, and {most:#x} at the most was due"))
        } else {
            None
        };
        if let Some(text) = text {
            state[number] = Numbered::Reported;
            let document = tested.source;
            verdicts.differs(
                tested.unit.name,
                format!("{} {text}; {width} are documented ({document})", tested.name()),
                REMEDY,
            );
        }
    }
}
