//! Looking at a machine's registers and writing them.

use std::io::{self, Write};

use pericore_catalog::decode::{self, AddressQuery, find_address};
use pericore_catalog::search::hint;
use pericore_machine::chassis::{Chassis, RegisterPlace};
use pericore_registers::{Address, Width};

use crate::failure::Failure;
use crate::target;

/// Prints shape and blocks, and the registers whose value is not the reset value.
///
/// # Errors
/// Output that cannot be written.
pub fn show(machine: &mut Chassis) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let shape = machine.shape().clone();
    writeln!(
        out,
        "EMULATED {}: {} socket{} of {} cores{} with {} threads",
        shape.family.name,
        shape.sockets,
        if shape.sockets == 1 { "" } else { "s" },
        shape.cores,
        if shape.built > shape.cores { format!(" ({} built)", shape.built) } else { String::new() },
        shape.threads
    )?;
    for socket in 0..shape.sockets {
        let stacks: Vec<String> = shape.stack_buses(socket).map(|bus| format!("{bus:#04x}")).collect();
        let buses = match stacks[..] {
            [] => format!("uncore bus {:#04x}", shape.uncore_bus(socket)),
            _ => format!("stacks on buses {}", stacks.join(" ")),
        };
        writeln!(out, "  socket {socket}: CPU {} first, {buses}", shape.first_cpu(socket))?;
    }
    for unit in shape.family.units {
        let present = (0..unit.instances).filter(|&instance| shape.has(unit, instance)).count();
        writeln!(
            out,
            "  {:<8} {present:>3} a socket, {} counters of {} bits: {}",
            unit.name, unit.counters, unit.counter_width, unit.title
        )?;
    }
    let places: Vec<RegisterPlace> = machine.registers().collect();
    let (mut changed, mut silent) = (0, 0);
    for place in &places {
        match machine.peek(place) {
            Ok(value) if value == place.register.reset => {}
            // Of a block that is hidden.
            Ok(value) if value == place.width.mask() && !has_function(machine, place) => silent += 1,
            Ok(value) => {
                changed += 1;
                writeln!(out, "  {:<22} {value:#x}", place.name())?;
            }
            // Of such a block in MSRs.
            Err(_) => silent += 1,
        }
    }
    let silent = if silent == 0 { String::new() } else { format!(", {silent} do not answer") };
    let state = match changed {
        0 => "all at their reset values".to_owned(),
        _ => format!("{changed} not at their reset values"),
    };
    writeln!(out, "{} registers, {state}{silent}", places.len())?;
    Ok(out.flush()?)
}

/// False if a register is in a function of configuration space that is not there: its vendor is all ones.
fn has_function(machine: &mut Chassis, place: &RegisterPlace) -> bool {
    let Address::Pci { bdf, .. } = place.address else { return true };
    let vendor = RegisterPlace { address: Address::Pci { bdf, offset: 0 }, width: Width::B4, ..*place };
    machine.peek(&vendor).is_ok_and(|vendor| vendor != Width::B4.mask())
}

/// Prints registers with their fields.
///
/// # Errors
/// A name that no register has, or an address at which none begins.
pub fn peek(machine: &mut Chassis, names: &[String]) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for name in names {
        for place in find(machine, name)? {
            let value = machine.peek(&place).map_err(Failure::failed)?;
            writeln!(out, "{:<22} {:<26} {value:#x}", place.name(), place.address)?;
            let family = machine.shape().family;
            let decoded =
                decode::register(family, place.unit, place.register, place.member, value).map_err(Failure::failed)?;
            for field in decoded.fields().filter(|field| field.value != 0) {
                writeln!(out, "    {:<7} {:<14} {:#x}", field.field.bits.to_string(), field.field.name, field.value)?;
            }
        }
    }
    Ok(out.flush()?)
}

/// Carries out `NAME=VALUE` and `ADDRESS=VALUE` writes, in order.
///
/// # Errors
/// A text that is no write, a name that no register has, or a register that refuses the value.
pub fn poke(machine: &mut Chassis, writes: &[String]) -> Result<(), Failure> {
    for write in writes {
        let wrong = || {
            Failure::usage(format!(
                "{write:?} is not an assignment; give NAME=VALUE or ADDRESS=VALUE, for example cbo0/ctl0=0x400137"
            ))
        };
        let (name, value) = write.split_once('=').ok_or_else(wrong)?;
        let value = match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => value.parse(),
        };
        let value =
            value.map_err(|_| Failure::usage(format!("{write}: give a number of at most 64 bits, as 17 or 0x11")))?;
        for place in find(machine, name)? {
            if value & !place.width.mask() != 0 {
                return Err(Failure::usage(format!("{write}: {} holds {} bytes", place.name(), place.width.bytes())));
            }
            machine.poke(&place, value).map_err(Failure::failed)?;
        }
    }
    Ok(())
}

/// The registers that a name or an address means, in every socket if none stands in front.
fn find(machine: &Chassis, name: &str) -> Result<Vec<RegisterPlace>, Failure> {
    let (socket, place) = match name.split_once('/') {
        Some((socket, place)) if socket.bytes().all(|digit| digit.is_ascii_digit()) => (Some(socket), place),
        _ => (None, name),
    };
    if let Ok(query) = AddressQuery::parse(place) {
        return at_address(machine, socket, place, &query);
    }
    let places = machine.find_registers(&target::place_name(name));
    if places.is_empty() {
        let family = machine.shape().family.name;
        let all: Vec<String> = machine.registers().map(|place| place.name()).collect();
        // Without a socket in front if the user gave none: the first socket speaks for all.
        let known = all.iter().filter_map(|known| match name.matches('/').count() {
            2.. => Some(known.as_str()),
            _ => known.strip_prefix("0/"),
        });
        let near = hint(name, known);
        return Err(Failure::usage(format!(
            "no register {name:?}{near}; write [SOCKET/]UNIT[N]/REGISTER[M] or an address; pericore list --registers --machine {family} shows both"
        )));
    }
    Ok(places)
}

/// The registers that begin at an address.
fn at_address(
    machine: &Chassis,
    socket: Option<&str>,
    text: &str,
    query: &AddressQuery<'_>,
) -> Result<Vec<RegisterPlace>, Failure> {
    let family = machine.shape().family;
    let known = find_address(family, query);
    let bus = bus(text);
    let meant = |place: &RegisterPlace| {
        let here = known.iter().any(|at| {
            at.byte == 0
                && at.unit.name == place.unit.name
                && at.instance.is_none_or(|instance| instance == place.instance)
                && (at.register.name, at.member) == (place.register.name, place.member)
        });
        let on_bus = match place.address {
            Address::Pci { bdf, .. } => bus.is_none_or(|bus| bus == bdf.bus),
            _ => true,
        };
        here && on_bus && socket.is_none_or(|socket| place.socket.to_string() == socket)
    };
    let places: Vec<RegisterPlace> = machine.registers().filter(meant).collect();
    if places.is_empty() {
        return Err(Failure::usage(format!(
            "no register of this machine begins at {text}; pericore list --registers --machine {} shows the addresses",
            family.name
        )));
    }
    Ok(places)
}

/// The bus of a PCI address, where it has one: `ff:10.0+0xd8`, `0000:ff:10.0+0xd8`.
fn bus(text: &str) -> Option<u8> {
    let (function, _) = text.split_once('+')?;
    let (front, device) = function.rsplit_once(':')?;
    // `D8:F2` names no bus.
    if device.contains('.') { u8::from_str_radix(front.rsplit(':').next()?, 16).ok() } else { None }
}
