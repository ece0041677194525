//! What an access means, from the catalogue: socket, unit, instance, register, event, fields.

use std::fmt::Write;

use pericore_catalog::{Register, Role, Unit};
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
        describe_value(&mut text, unit, register, value << low, entry.width.mask() << low);
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

fn describe_value(text: &mut String, unit: &Unit, register: &Register, value: u64, covered: u64) {
    if matches!(register.role, Role::Counter | Role::FixedCounter | Role::FreeRunning) {
        let _ = write!(text, " = {value}");
        return;
    }
    text.push(':');
    if register.role == Role::Control
        && let Some(event) = event_name(unit, register, value)
    {
        let _ = write!(text, " {event}");
    }
    let mut any = false;
    for field in register.fields.iter().filter(|field| field.bits.mask() & covered != 0) {
        let bits = field.bits.get(value);
        if bits != 0 && !matches!(field.name, "ig") {
            let _ = if field.bits.width == 1 {
                write!(
                    text,
                    " {}",
                    if field.name == "rsv" { format!("rsv[{}]", field.bits) } else { field.name.to_owned() }
                )
            } else {
                write!(text, " {}={bits:#x}", field.name)
            };
            any = true;
        }
    }
    if !any {
        text.push_str(" 0");
    }
}

/// The event that a control value selects: the one that shares most of its bits.
fn event_name(unit: &Unit, register: &Register, value: u64) -> Option<String> {
    let select = register.field("ev_sel")?.bits;
    let umask = register.field("umask").map(|field| field.bits);
    let umask_of = |config: u64| umask.map_or(0, |bits| bits.get(config));
    let same_code = |event: &&pericore_catalog::Event| select.get(event.config) == select.get(value);
    let event = unit
        .events
        .iter()
        .filter(same_code)
        .filter(|event| {
            let extra = event.config & !umask.map_or(0, |bits| bits.mask());
            value & extra == extra
        })
        .max_by_key(|event| event.config.count_ones())?;
    let exact = event.subevents.iter().find(|subevent| umask_of(subevent.config) == umask_of(value));
    match exact {
        Some(subevent) => Some(format!("{}.{}", event.name, subevent.name)),
        // Code 0 without a umask is an empty register.
        None => (select.get(value) != 0).then(|| event.name.to_owned()),
    }
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
    fn half_a_counter_says_which_half() {
        let address = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0xa4 };
        let entry = Entry { address, width: Width::B4, kind: Kind::Read, faulted: false };
        assert_eq!(analyser().explain(&entry, &Ok(1)), "socket 1 imc0 ctr0[63:32] = 4294967296");
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
