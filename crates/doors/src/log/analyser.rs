//! What an access means, from the catalogue: socket, unit, instance, register, event, fields.

use std::fmt::Write;

use pericore_catalog::Role;
use pericore_catalog::decode::{self, Decoded, FieldValue, largest, selecting_bits};
use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::Wiring;
use pericore_registers::{Address, Outcome};

use super::entry::{Entry, Kind};

/// Tells what accesses to a machine mean.
#[derive(Debug)]
pub struct Analyser {
    /// A machine at reset, for its address map only.
    chassis: Chassis,
}

impl Analyser {
    /// For machines of a shape.
    pub fn new(shape: &Shape) -> Self {
        let wiring = Wiring::new(shape.family, shape.sockets);
        // Nothing runs on it: any period will do.
        Self { chassis: Chassis::new(shape.clone(), wiring, |_| 2) }
    }

    /// The meaning of an access, in a line of text.
    pub fn explain(&self, entry: &Entry, outcome: &Outcome<u64>) -> String {
        let value = match (entry.kind, outcome) {
            (Kind::Write(value), _) => value,
            (Kind::Read, Ok(value)) => *value,
            (Kind::Read, Err(_)) => 0,
        };
        let Some((socket, target, byte)) = self.chassis.locate(entry.address) else {
            return self.elsewhere(&entry.address);
        };
        let unit = self.chassis.shape().family.units[usize::from(target.unit)];
        let register = &unit.registers[usize::from(target.register.register)];
        let mut text = format!("socket {socket} {}", unit.name);
        if unit.instances > 1 {
            let _ = write!(text, "{}", target.instance);
        }
        let _ = write!(text, " {}", register.member_name(target.register.member));
        let bits = u32::from(register.width);
        let (low, high) = (8 * u32::from(byte), 8 * (u32::from(byte) + u32::from(entry.width.bytes())));
        if low > 0 || high < bits {
            let _ = write!(text, "[{}:{low}]", high.min(bits) - 1);
        }
        let covered = entry.width.mask() << low & largest(register);
        let (family, member) = (self.chassis.shape().family, target.register.member);
        match decode::register(family, unit, register, member, value << low & covered) {
            Ok(decoded) => describe_value(&mut text, &decoded, covered),
            Err(error) => _ = write!(text, ": {error}"),
        }
        text
    }

    fn elsewhere(&self, address: &Address) -> String {
        match *address {
            Address::Msr { cpu, msr } => match self.chassis.core_msr_name(msr) {
                Some(name) => format!("cpu {cpu} {name}"),
                None => "no such register".to_owned(),
            },
            Address::Pci { offset: ..0x40, .. } => "configuration header".to_owned(),
            Address::Pci { .. } | Address::Mmio { .. } => "no register here".to_owned(),
        }
    }
}

/// What a value says, as far as an access carried it: `covered` masks the bits that it did.
fn describe_value(text: &mut String, decoded: &Decoded, covered: u64) {
    let value = decoded.value & covered;
    if matches!(decoded.register.role, Role::Counter | Role::FixedCounter | Role::FreeRunning) {
        let _ = write!(text, " = {value}");
        return;
    }
    text.push(':');
    if let Some(selected) = selected(decoded) {
        let _ = write!(text, " {selected}");
    }
    let carried = decoded.fields().filter(|field| field.field.bits.mask() & covered != 0 && field.value != 0);
    for FieldValue { field, value } in carried.filter(FieldValue::is_meaningful) {
        let _ = match field.bits.width {
            1 => write!(text, " {}", field.name),
            _ => write!(text, " {}={value:#x}", field.name),
        };
    }
    match decoded.reserved_bits() & covered {
        0 => {}
        reserved => _ = write!(text, " reserved bits {reserved:#x}"),
    }
    if value == 0 {
        text.push_str(" 0");
    }
}

/// The event that a control value selects, with its subevents; nothing for an empty register.
fn selected(decoded: &Decoded) -> Option<String> {
    if decoded.register.role != Role::Control || decoded.value & selecting_bits(decoded.register) == 0 {
        return None;
    }
    let Some(counted) = decoded.counts(|_| None) else { return Some("no known event".to_owned()) };
    let subevents: Vec<&str> = counted.subevents.iter().map(|subevent| subevent.name).collect();
    let mut name = counted.event.name.to_owned();
    if !subevents.is_empty() {
        let _ = write!(name, ".{}", subevents.join("|"));
    }
    if let Some(condition) = counted.condition {
        let _ = write!(name, " while {}", condition.name);
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use pericore_registers::{Bdf, Width};

    use super::*;

    fn analyser() -> Analyser {
        Analyser::new(&Shape::new(pericore_catalog::family("e5-2600").unwrap(), 2, 8, 1).unwrap())
    }

    #[test]
    fn a_control_write_names_socket_unit_register_and_event() {
        let address = Address::Pci { bdf: Bdf::new(0x7f, 16, 4), offset: 0xd8 };
        let entry = Entry { address, width: Width::B4, kind: Kind::Write(0x40_0304), faulted: false };
        let text = analyser().explain(&entry, &Ok(0));
        assert_eq!(text, "socket 0 imc2 ctl0: CAS_COUNT.RD en umask=0x3 ev_sel=0x4");
    }

    #[test]
    fn values_that_no_document_knows_are_called_so() {
        let explain = |offset, value| {
            let address = Address::Pci { bdf: Bdf::new(0x7f, 16, 4), offset };
            let entry = Entry { address, width: Width::B4, kind: Kind::Write(value), faulted: false };
            analyser().explain(&entry, &Ok(0))
        };
        // PCM resets with bit 1, which the memory controller does not have (the guide's Table 2-60).
        assert_eq!(explain(0xf4, 0x1_0102), "socket 0 imc2 unit_ctl: frz_en frz reserved bits 0x2");
        assert_eq!(explain(0xd8, 0x40_00ee), "socket 0 imc2 ctl0: no known event en ev_sel=0xee");
        assert_eq!(explain(0xd8, 0x44_0101), "socket 0 imc2 ctl0: ACT_COUNT en edge_det umask=0x1 ev_sel=0x1");
        assert_eq!(explain(0xd8, 0), "socket 0 imc2 ctl0: 0");
    }

    #[test]
    fn half_a_counter_says_which_half() {
        let address = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0xa4 };
        let entry = Entry { address, width: Width::B4, kind: Kind::Read, faulted: false };
        assert_eq!(analyser().explain(&entry, &Ok(1)), "socket 1 imc0 ctr0[63:32] = 4294967296");
    }

    /// The guide's Table 2-60: a control has its event in bits 7:0, its umask in 15:8 and its enable in bit 22. Half of
    /// it has half of the fields, and the bits that it does not have are not reserved.
    #[test]
    fn part_of_a_register_has_its_fields_alone() {
        let explain = |offset, width, value| {
            let address = Address::Pci { bdf: Bdf::new(0x7f, 16, 4), offset };
            let entry = Entry { address, width, kind: Kind::Write(value), faulted: false };
            analyser().explain(&entry, &Ok(0))
        };
        let low = explain(0xd8, Width::B2, 0x0304);
        assert!(low.starts_with("socket 0 imc2 ctl0[15:0]:") && low.ends_with("umask=0x3 ev_sel=0x4"), "{low}");
        let high = explain(0xda, Width::B2, 0x40);
        assert!(high.starts_with("socket 0 imc2 ctl0[31:16]:") && high.ends_with(" en"), "{high}");
        assert_eq!(explain(0xa0, Width::B4, 7), "socket 0 imc2 ctr0[31:0] = 7");
        assert_eq!(explain(0xa0, Width::B8, 7), "socket 0 imc2 ctr0 = 7");
    }

    #[test]
    fn registers_of_the_cores_have_names_and_others_none() {
        let address = Address::Msr { cpu: 1, msr: 0x38f };
        let entry = Entry { address, width: Width::B8, kind: Kind::Write(0), faulted: false };
        assert_eq!(analyser().explain(&entry, &Ok(0)), "cpu 1 IA32_PERF_GLOBAL_CTRL");
        let address = Address::Msr { cpu: 0, msr: 0x620 };
        let entry = Entry { address, width: Width::B8, kind: Kind::Read, faulted: true };
        let error = pericore_registers::AccessError::GeneralProtection { address };
        assert_eq!(analyser().explain(&entry, &Err(error)), "no such register");
    }
}
