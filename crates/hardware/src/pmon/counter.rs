//! One counter: what it takes from its input each cycle, in closed form over cycles in which nothing changes.
//!
//! Order of the stages, as in the guides (E5-2600 1.4, Emerald Rapids 1.5): threshold, invert, edge detect. What a threshold of
//! 0 does is in `catalog/undefined.toml`.

use super::state::CounterState;

/// How a counter shapes its input; from the control register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conditioning {
    /// Compare the cycle's increment with this value; 0 adds the increment itself.
    pub thresh: u32,
    /// Count where the comparison fails.
    pub invert: bool,
    /// Count rising edges of the comparison.
    pub edge: bool,
    /// A second condition that must hold in the same cycle.
    pub gate: Option<GateCondition>,
    /// The input is a clock at half the rate of the unit's: of two cycles the second has no increment.
    pub halves: bool,
}

/// A comparison of a second level, joined to the first (E5-2600 Table 2-80, cases 5 and 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateCondition {
    /// The level must reach this value; 0 adds the level up while the first condition holds.
    pub thresh: u32,
    /// The level must stay below it.
    pub invert: bool,
    /// Count rising edges of this comparison, while the first condition holds.
    pub edge: bool,
}

impl GateCondition {
    /// The comparator's output for a level.
    const fn open(self, level: u64) -> bool {
        let thresh = if self.thresh == 0 { 1 } else { self.thresh as u64 };
        (level >= thresh) != self.invert
    }
}

impl Conditioning {
    /// True if increments add up unshaped.
    pub const fn is_raw(self) -> bool {
        self.thresh == 0 && !self.edge && self.gate.is_none() && !self.halves
    }

    /// True if the gate's level adds up while the first condition holds.
    const fn adds_gate(self) -> bool {
        matches!(self.gate, Some(GateCondition { thresh: 0, edge: false, .. })) && !self.edge
    }

    /// The first comparator's output for an increment of `x` in one cycle.
    const fn holds(self, x: u64) -> bool {
        let thresh = if self.thresh == 0 { 1 } else { self.thresh as u64 };
        (x >= thresh) != self.invert
    }

    /// Both comparators' output, with the gate's level at `gate`.
    pub fn asserted(self, x: u64, gate: u64) -> bool {
        self.holds(x) && self.gate.is_none_or(|condition| condition.open(gate))
    }
}

/// A counter register with its input stage. Times are cycles of the unit's clock. What adding up unshaped needs comes first, and fits one
/// line of the host's cache.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Counter {
    value: u64,
    mask: u64,
    /// Entries that match, for inputs that hold a level.
    level: u64,
    /// The first cycle that is not accounted for yet.
    at: u64,
    /// Increments add up unshaped.
    raw: bool,
    running: bool,
    /// Output of the comparators in the cycle before `at`.
    asserted: bool,
    /// Output of the gate's comparator in the cycle before `at`.
    open: bool,
    overflowed: bool,
    /// The level of the gate, where there is one.
    gate: u64,
    /// Increments seen in cycle `at`.
    pending: u64,
    conditioning: Conditioning,
}

impl Counter {
    /// A stopped counter of `width` bits at zero.
    pub fn new(width: u8) -> Self {
        Self {
            value: 0,
            mask: u64::MAX >> (64 - u32::from(width)),
            conditioning: Conditioning::default(),
            raw: true,
            running: false,
            level: 0,
            gate: 0,
            pending: 0,
            at: 0,
            asserted: false,
            open: false,
            overflowed: false,
        }
    }

    /// Bits of the register.
    pub const fn width(&self) -> u8 {
        (64 - self.mask.leading_zeros()) as u8
    }

    /// Gives the register another number of bits, 1 to 64. What it holds above them is lost.
    pub fn set_width(&mut self, width: u8) {
        self.mask = u64::MAX >> (64 - u32::from(width.clamp(1, 64)));
        self.value &= self.mask;
    }

    /// The register's value at the start of cycle `cycle`.
    pub fn value(&mut self, cycle: u64) -> u64 {
        self.advance(cycle);
        self.value
    }

    /// Sets the register. Bits above the width are dropped.
    pub fn set_value(&mut self, value: u64, cycle: u64) {
        self.advance(cycle);
        self.value = value & self.mask;
    }

    /// Starts or stops counting. The comparator goes on while the counter stands, so that starting makes no edge.
    pub fn set_running(&mut self, running: bool, cycle: u64) {
        self.advance(cycle);
        self.running = running;
    }

    /// True if it counts.
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// A new input: its level and the gate's now, and how it is shaped. The edge detector starts from the comparator's present
    /// output.
    pub fn program(&mut self, conditioning: Conditioning, level: u64, gate: u64, cycle: u64) {
        self.advance(cycle);
        self.conditioning = conditioning;
        self.raw = conditioning.is_raw();
        self.level = level;
        self.gate = gate;
        self.pending = 0;
        self.asserted = !self.raw && conditioning.asserted(level, gate);
        self.open = conditioning.gate.is_some_and(|condition| condition.open(gate));
    }

    /// `count` increments in `cycle`.
    pub fn pulse(&mut self, count: u64, cycle: u64) {
        if !self.raw {
            self.advance(cycle);
            self.pending += count;
        } else if self.running {
            self.add(count, 1);
        }
    }

    /// `count` increments, which add up unshaped; false, and nothing is done, if the register wraps.
    #[inline]
    pub(super) fn tally(&mut self, count: u64) -> bool {
        let counted = if self.running { count } else { 0 };
        let fits = counted <= self.mask - self.value;
        self.value += if fits { counted } else { 0 };
        fits
    }

    /// The level changes in `cycle`; the new level holds for that cycle.
    pub fn change_level(&mut self, delta: i64, cycle: u64) {
        self.advance(cycle);
        self.level = self.level.saturating_add_signed(delta);
    }

    /// The level, which adds up unshaped, changes by one; false, and nothing is done, if the register wraps before that.
    #[inline]
    pub(super) fn step<const UP: bool>(&mut self, cycle: u64) -> bool {
        let counted = if self.running { cycle.saturating_sub(self.at) } else { 0 };
        let Some(gain) = self.level.checked_mul(counted).filter(|gain| *gain <= self.mask - self.value) else {
            return false;
        };
        self.value += gain;
        self.at = self.at.max(cycle);
        self.level = if UP { self.level + 1 } else { self.level.saturating_sub(1) };
        true
    }

    /// The gate's level changes in `cycle`.
    pub fn change_gate(&mut self, delta: i64, cycle: u64) {
        self.advance(cycle);
        self.gate = self.gate.saturating_add_signed(delta);
    }

    /// True if increments add up unshaped.
    pub(super) const fn is_raw(&self) -> bool {
        self.raw
    }

    /// The level that the counter sees.
    pub const fn level(&self) -> u64 {
        self.level
    }

    /// Accounts for all cycles before `cycle`.
    #[inline]
    pub fn advance(&mut self, cycle: u64) {
        if cycle <= self.at {
            return;
        }
        let cycles = cycle - self.at;
        self.at = cycle;
        if !self.raw {
            self.advance_shaped(cycles);
        } else if self.running {
            self.add(self.level, cycles);
        }
    }

    #[inline(never)]
    fn advance_shaped(&mut self, cycles: u64) {
        let counted = if self.conditioning.halves {
            self.of_half_clock(cycles)
        } else {
            // Pulses belong to the first cycle; the rest see the level alone.
            let first = self.level + std::mem::take(&mut self.pending);
            self.shaped(first, cycles - 1)
        };
        if self.running {
            self.wrap(counted);
        }
    }

    /// What the comparator gives with a clock at half the rate: in a cycle with an increment, and in one without.
    fn half_clock_holds(&self) -> [bool; 2] {
        if self.conditioning.thresh == 0 && !self.conditioning.edge {
            // Increments add up.
            return [true, false];
        }
        [self.level, 0].map(|increment| self.conditioning.holds(increment))
    }

    /// What the last `cycles` add with a clock at half the rate, behind the comparator.
    fn of_half_clock(&self, cycles: u64) -> u128 {
        let from = self.at - cycles;
        let with = self.at.div_ceil(2) - from.div_ceil(2);
        u128::from(match self.half_clock_holds() {
            // Of two cycles one does, and it begins an edge.
            [true, false] => with,
            [false, true] => cycles - with,
            [true, true] if !self.conditioning.edge => cycles,
            _ => 0,
        })
    }

    /// What a cycle with increment `first` and `rest` cycles of the level alone add, behind the comparators.
    fn shaped(&mut self, first: u64, rest: u64) -> u128 {
        let conditioning = self.conditioning;
        let (now, then) = (conditioning.asserted(first, self.gate), conditioning.asserted(self.level, self.gate));
        let before = std::mem::replace(&mut self.asserted, if rest > 0 { then } else { now });
        let open = conditioning.gate.is_some_and(|condition| condition.open(self.gate));
        let was_open = std::mem::replace(&mut self.open, open);
        let cycles = |now: bool, then: bool| u128::from(now) + if then { u128::from(rest) } else { 0 };
        if conditioning.adds_gate() {
            u128::from(self.gate) * cycles(conditioning.holds(first), conditioning.holds(self.level))
        } else if conditioning.gate.is_some_and(|condition| condition.edge) {
            u128::from(open && !was_open && now)
        } else if conditioning.edge {
            u128::from(!before && now) + u128::from(rest > 0 && !now && then)
        } else {
            cycles(now, then)
        }
    }

    /// Adds `count` times `each`, which almost always fits.
    #[inline]
    fn add(&mut self, count: u64, each: u64) {
        let (product, overflows) = count.overflowing_mul(each);
        // A register is never above its mask, so this cannot underflow.
        if !overflows && product <= self.mask - self.value {
            self.value += product;
        } else {
            self.wrap(u128::from(count) * u128::from(each));
        }
    }

    #[cold]
    fn wrap(&mut self, count: u128) {
        let sum = u128::from(self.value) + count;
        self.overflowed |= sum > u128::from(self.mask);
        self.value = sum as u64 & self.mask;
    }

    /// The cycle by whose start the counter may have wrapped if its input stays as it is; `None` if it stands still. Early is
    /// allowed, late is not.
    pub fn wraps_at(&self) -> Option<u64> {
        if !self.running {
            return None;
        }
        let room = self.mask - self.value + 1;
        let steady = self.conditioning.asserted(self.level, self.gate);
        let rate = if self.conditioning.halves {
            let [holds, holds_without] = self.half_clock_holds();
            u64::from(holds != holds_without || holds && !self.conditioning.edge)
        } else if self.raw {
            self.level
        } else if self.conditioning.adds_gate() {
            self.gate
        } else if self.counts_edges() {
            // With a constant input the next cycle brings the only edge; what is pending may bring one, and one after it.
            let opens = self.conditioning.gate.is_some_and(|condition| condition.open(self.gate)) && !self.open;
            let due = self.pending > 0 || opens || (steady && !self.asserted);
            return (due && room <= 2).then(|| self.at.saturating_add(1));
        } else if self.pending > 0 && room == 1 {
            return Some(self.at.saturating_add(1));
        } else {
            u64::from(steady)
        };
        // What is pending counts once more than the rate; an early look costs nothing but the look.
        (rate > 0).then(|| self.at.saturating_add(room.div_ceil(rate)))
    }

    const fn counts_edges(&self) -> bool {
        self.conditioning.edge || matches!(self.conditioning.gate, Some(GateCondition { edge: true, .. }))
    }

    /// The register, without what is not accounted for yet.
    pub(super) const fn held(&self) -> u64 {
        self.value
    }

    /// True if the counter wrapped and nobody has acted on it yet.
    pub(super) const fn has_overflowed(&self) -> bool {
        self.overflowed
    }

    /// What it holds at the start of a cycle.
    pub fn save(&mut self, cycle: u64) -> CounterState {
        self.advance(cycle);
        CounterState {
            value: self.value,
            level: self.level,
            gate: self.gate,
            pending: self.pending,
            ahead: self.at - cycle,
            asserted: (self.asserted, self.open),
            overflowed: self.overflowed,
        }
    }

    /// Puts back what [`Self::save`] gave; shape and enable stay as they are.
    pub fn restore(&mut self, state: &CounterState, cycle: u64) {
        self.value = state.value & self.mask;
        self.level = state.level;
        self.gate = state.gate;
        self.pending = state.pending;
        self.at = cycle.saturating_add(state.ahead);
        (self.asserted, self.open) = state.asserted;
        self.overflowed = state.overflowed;
    }

    /// True if the counter wrapped since the last call.
    pub fn take_overflow(&mut self) -> bool {
        std::mem::take(&mut self.overflowed)
    }
}
