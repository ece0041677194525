//! Where a unit's registers keep what the hardware acts on, worked out once for all its instances.

use pericore_catalog::{BitRange, FieldAccess, Register, Role, Unit};

/// A register of a unit by its row in the catalogue, with its place in the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterRef {
    /// Index into the unit's registers.
    pub register: u8,
    /// Member of the array; 0 for single registers.
    pub member: u8,
}

/// A register of an instance: its number among the unit's registers, array members counted one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotRef(pub u16);

/// What stands behind a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Stored bits.
    Stored,
    /// Stored bits that tell of overflows.
    Status,
    /// A counter, by its number in the instance.
    Counter(u8),
}

/// A register, or one member of an array.
#[derive(Debug)]
pub struct Slot {
    /// Its row in the catalogue.
    pub register: &'static Register,
    /// Member of the array.
    pub member: u8,
    pub kind: Kind,
    /// Bits that keep what software writes.
    pub kept: u64,
    /// Bits that a written 1 clears.
    pub cleared: u64,
    /// Bits whose writing the guides leave undefined: reserved ones.
    pub reserved: u64,
}

/// Masks of the fields of a counter's control; 0 where there is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct ControlBits {
    /// Non-zero bits enable: `en`, or where there is none the event select (Emerald Rapids 1.6).
    pub enable: u64,
    pub reset: u64,
    pub freeze_on_overflow: u64,
    pub interrupt: u64,
    pub invert: u64,
    pub edge: u64,
    pub occupancy_reset: u64,
    pub occupancy_select: u64,
    pub occupancy_invert: u64,
    pub occupancy_edge: u64,
    pub thresh: Option<BitRange>,
}

impl ControlBits {
    fn of(register: &Register) -> Self {
        let mask = |name: &str| register.field(name).map_or(0, |field| field.bits.mask());
        let enable = match mask("en") {
            0 => mask("ev_sel"),
            en => en,
        };
        Self {
            enable,
            reset: mask("rst"),
            freeze_on_overflow: mask("frz_ovf"),
            interrupt: mask("pmi_en"),
            invert: mask("invert"),
            edge: mask("edge_det"),
            occupancy_reset: mask("occ_ctr_rst"),
            occupancy_select: mask("occ_sel"),
            occupancy_invert: mask("occ_invert"),
            occupancy_edge: mask("occ_edge_det"),
            thresh: register.field("thresh").map(|field| field.bits),
        }
    }
}

/// A counter of an instance.
#[derive(Debug, Clone, Copy)]
pub struct CounterPlace {
    /// The counter's register.
    pub slot: u16,
    /// The register that controls it; none for free-running counters.
    pub control: Option<u16>,
    pub bits: ControlBits,
    /// Its enable in the global control (Nehalem).
    pub global_enable: u64,
    /// Its overflow in the unit's status (Emerald Rapids), or in the global status (Nehalem). Fixed counters of Emerald Rapids have none.
    pub overflow: u64,
    /// Bits of the register.
    pub width: u8,
}

/// A unit's control.
#[derive(Debug, Clone, Copy)]
pub struct UnitControl {
    pub slot: u16,
    pub freeze: u64,
    /// Where there is a freeze enable, both bits must be set (E5-2600 Table 2-9).
    pub freeze_enable: u64,
    pub reset_counters: u64,
    pub reset_controls: u64,
}

/// The socket-wide control.
#[derive(Debug, Clone)]
pub struct GlobalControl {
    pub slot: u16,
    /// Freezes the socket (Emerald Rapids).
    pub freeze: u64,
    /// An overflow interrupt stops all counters (Nehalem).
    pub freeze_on_interrupt: u64,
    /// Cores that an overflow interrupts, by their bit (Nehalem).
    pub interrupted: Vec<u64>,
}

/// Nehalem's overflow registers.
#[derive(Debug, Clone)]
pub struct OverflowControl {
    /// A bit here clears a bit of the global status.
    pub clears: Vec<(u64, u64)>,
    /// Bits of the global status: something changed, an interrupt was asked for.
    pub changed: u64,
    pub interrupted: u64,
}

/// A unit's registers.
#[derive(Debug)]
pub struct Layout {
    pub unit: &'static Unit,
    pub slots: Vec<Slot>,
    /// First slot of each register.
    starts: Vec<u16>,
    /// Programmable counters, then fixed ones, then free-running ones.
    pub counters: Vec<CounterPlace>,
    /// Counters that controls, freezes and resets reach: all but free-running ones.
    pub controlled: usize,
    pub unit_control: Option<UnitControl>,
    pub unit_status: Option<u16>,
    pub global_control: Option<GlobalControl>,
    /// First slot and number of the global status registers.
    pub global_status: Option<(u16, u16)>,
    pub overflow_control: Option<OverflowControl>,
}

impl Layout {
    /// The layout of a unit.
    pub fn new(unit: &'static Unit) -> Self {
        let mut layout = Self {
            unit,
            slots: Vec::new(),
            starts: Vec::new(),
            counters: Vec::new(),
            controlled: 0,
            unit_control: None,
            unit_status: None,
            global_control: None,
            global_status: None,
            overflow_control: None,
        };
        for register in unit.registers {
            layout.starts.push(layout.slots.len() as u16);
            let (kept, cleared, reserved) = access(register);
            layout.slots.extend((0..register.count).map(|member| Slot {
                register,
                member,
                kind: match register.role {
                    Role::UnitStatus | Role::GlobalStatus => Kind::Status,
                    _ => Kind::Stored,
                },
                kept,
                cleared,
                reserved,
            }));
        }
        layout.place_counters(Role::Counter, Some(Role::Control));
        layout.place_counters(Role::FixedCounter, Some(Role::FixedControl));
        layout.controlled = layout.counters.len();
        layout.place_counters(Role::FreeRunning, None);
        layout.unit_status = layout.first(Role::UnitStatus);
        layout.global_status =
            layout.first(Role::GlobalStatus).map(|slot| (slot, layout.slots[usize::from(slot)].register.count.into()));
        layout.unit_control = layout.first(Role::UnitControl).map(|slot| {
            let mask = |name: &str| layout.mask(slot, name);
            UnitControl {
                slot,
                freeze: mask("frz"),
                freeze_enable: mask("frz_en"),
                reset_counters: mask("rst_ctrs"),
                reset_controls: mask("rst_ctrl"),
            }
        });
        layout.global_control = layout.first(Role::GlobalControl).map(|slot| GlobalControl {
            slot,
            freeze: layout.mask(slot, "frz_all"),
            freeze_on_interrupt: layout.mask(slot, "pmi_frz"),
            interrupted: numbered(|core| layout.mask(slot, &format!("en_pmi_core{core}"))),
        });
        layout.overflow_control = layout.overflow_control();
        layout
    }

    /// Gives each register of a role a counter.
    fn place_counters(&mut self, role: Role, control: Option<Role>) {
        let control = control.and_then(|role| self.first(role));
        let bits = control.map(|slot| ControlBits::of(self.slots[usize::from(slot)].register)).unwrap_or_default();
        let global = self.first(Role::GlobalControl);
        let status = self.first(Role::GlobalStatus).filter(|_| self.first(Role::OverflowControl).is_some());
        let short = if role == Role::Counter { "pc" } else { "fc" };
        let slots = (0..self.slots.len()).filter(|&slot| self.slots[slot].register.role == role);
        for (number, slot) in slots.collect::<Vec<_>>().into_iter().enumerate() {
            let register = self.slots[slot].register;
            let member = u16::from(self.slots[slot].member);
            let named = |register: Option<u16>, prefix: &str| {
                register.map_or(0, |register| self.mask(register, &format!("{prefix}_{short}{number}")))
            };
            let overflow = match status {
                Some(status) => named(Some(status), "ovf"),
                None if role == Role::Counter => 1 << number,
                None => 0,
            };
            let place = CounterPlace {
                slot: slot as u16,
                control: control.map(|first| first + member),
                bits,
                global_enable: named(global, "en"),
                overflow,
                width: register.field("event_count").map_or(register.width, |field| field.bits.width),
            };
            self.slots[slot].kind = Kind::Counter(self.counters.len() as u8);
            self.counters.push(place);
        }
    }

    fn overflow_control(&self) -> Option<OverflowControl> {
        let slot = self.first(Role::OverflowControl)?;
        let status = self.first(Role::GlobalStatus)?;
        let fields = self.slots[usize::from(slot)].register.fields.iter();
        let clears = fields
            .filter_map(|field| Some((field.bits.mask(), self.mask(status, field.name.strip_prefix("clr_")?))))
            .collect();
        Some(OverflowControl { clears, changed: self.mask(status, "chg"), interrupted: self.mask(status, "ovf_pmi") })
    }

    /// First slot of the first register of a role.
    fn first(&self, role: Role) -> Option<u16> {
        self.slots.iter().position(|slot| slot.register.role == role).map(|slot| slot as u16)
    }

    /// Mask of a field of a register; 0 if there is none.
    fn mask(&self, slot: u16, field: &str) -> u64 {
        self.slots[usize::from(slot)].register.field(field).map_or(0, |field| field.bits.mask())
    }

    /// The unit.
    pub const fn unit(&self) -> &'static Unit {
        self.unit
    }

    /// How many counters there are of all kinds.
    pub fn counters(&self) -> usize {
        self.counters.len()
    }

    /// A register that is no counter, by the name of the array member.
    pub fn stored_named(&self, name: &str) -> Option<SlotRef> {
        let named =
            |slot: &Slot| !matches!(slot.kind, Kind::Counter(_)) && slot.register.member_name(slot.member) == name;
        self.slots.iter().position(named).map(|slot| SlotRef(slot as u16))
    }

    /// Bits of the register in a slot.
    pub fn width(&self, slot: SlotRef) -> u8 {
        self.slots[usize::from(slot.0)].register.width
    }

    /// The number of the counter in a slot, if one is there.
    pub fn counter(&self, slot: SlotRef) -> Option<u8> {
        match self.slots[usize::from(slot.0)].kind {
            Kind::Counter(number) => Some(number),
            _ => None,
        }
    }

    /// The slot of a counter, if there is such a counter.
    pub fn counter_slot(&self, counter: u8) -> Option<SlotRef> {
        self.counters.get(usize::from(counter)).map(|place| SlotRef(place.slot))
    }

    /// Register and member behind a slot.
    pub fn register(&self, slot: SlotRef) -> RegisterRef {
        let register = self.starts.partition_point(|&start| start <= slot.0) - 1;
        RegisterRef { register: register as u8, member: (slot.0 - self.starts[register]) as u8 }
    }

    /// A member of a register.
    pub fn at(&self, register: usize, member: u8) -> SlotRef {
        SlotRef(self.starts[register] + u16::from(member))
    }
}

/// The values for 0, 1, … until one is 0.
fn numbered(value: impl Fn(u8) -> u64) -> Vec<u64> {
    (0..u8::MAX).map(value).take_while(|&value| value != 0).collect()
}

/// Bits that keep what is written, bits that a written 1 clears, and reserved bits.
fn access(register: &Register) -> (u64, u64, u64) {
    let (mut kept, mut cleared, mut reserved) = (0, 0, 0);
    for field in register.fields {
        let mask = field.bits.mask();
        match field.access {
            FieldAccess::ReadWrite | FieldAccess::ReadWriteVolatile => kept |= mask,
            // Reset bits act and are gone; freeze bits read back, as drivers that read, modify and write expect.
            FieldAccess::WriteOnly if field.name.starts_with("frz") => kept |= mask,
            FieldAccess::ReadWriteOneClears => cleared |= mask,
            FieldAccess::Reserved if field.name != "ig" => reserved |= mask,
            FieldAccess::WriteOnly
            | FieldAccess::ReadOnly
            | FieldAccess::ReadOnlyVolatile
            | FieldAccess::Reserved
            | FieldAccess::Ignored => {}
        }
    }
    (kept, cleared, reserved)
}
