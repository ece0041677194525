//! A journal as text: a header, a line for each register, and a checksum.

use pericore_registers::{Address, Bdf, Width};

use super::journal::Saved;
use super::on_disk::{EARLIER, Journal, JournalError, MARK, VERSION};

impl Journal {
    /// The file's text.
    pub fn to_text(&self) -> String {
        let one_line = |text: &str| text.replace(['\n', '\r'], " ");
        let (pid, started, boot, machine) = (self.pid, self.started, one_line(&self.boot), one_line(&self.machine));
        let mut text = format!("{MARK}{VERSION}\npid {pid}\nstarted {started}\nboot {boot}\nmachine {machine}\n");
        for Saved { socket, instance, register, address, width, value, written } in &self.saved {
            let place = match address {
                Address::Msr { cpu, msr } => format!("msr {cpu} {msr:#x}"),
                Address::Pci { bdf: Bdf { segment, bus, device, function }, offset } => {
                    format!("pcicfg {segment:#x} {bus:#x} {device:#x} {function:#x} {offset:#x}")
                }
                Address::Mmio { physical } => format!("mmio {physical:#x}"),
            };
            text += &format!("save {socket} {instance} {register} {} {value:#x} {place}\n", width.bytes());
            if !written.is_empty() {
                let values: Vec<String> = written.iter().map(|value| format!("{value:#x}")).collect();
                text += &format!("wrote {}\n", values.join(" "));
            }
        }
        let sum = checksum(&text);
        text + &format!("checksum {sum:#018x}\n")
    }

    /// Reads a journal's text.
    ///
    /// # Errors
    /// [`JournalError::Damaged`].
    pub fn parse(text: &str) -> Result<Self, JournalError> {
        let journal = "the journal";
        let damaged = |line: usize, what: &str| {
            let (journal, what) = (journal.to_owned(), what.to_owned());
            JournalError::Damaged { journal, line, what }
        };
        let body = text.strip_suffix('\n').and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1);
        let (body, last) = text.split_at(body);
        let lines = body.lines().count();
        let version = body.lines().next().and_then(|line| line.strip_prefix(MARK));
        if !version.is_some_and(|version| [VERSION, EARLIER].contains(&version)) {
            return Err(damaged(1, "it is no journal of this version"));
        }
        if last != format!("checksum {:#018x}\n", checksum(body)) {
            return Err(damaged(lines + 1, "the checksum does not fit the lines above"));
        }
        let mut journal = Self { pid: 0, started: 0, boot: String::new(), machine: String::new(), saved: Vec::new() };
        for (at, line) in body.lines().enumerate().skip(1) {
            match line.split_once(' ') {
                Some(("pid", pid)) => journal.pid = pid.parse().map_err(|_| damaged(at + 1, "it names no process"))?,
                Some(("started", started)) => {
                    journal.started = started.parse().map_err(|_| damaged(at + 1, "it names no time"))?;
                }
                Some(("boot", boot)) => boot.clone_into(&mut journal.boot),
                Some(("machine", machine)) => machine.clone_into(&mut journal.machine),
                Some(("save", entry)) => {
                    journal.saved.push(saved(entry).ok_or_else(|| damaged(at + 1, "it names no register"))?);
                }
                Some(("wrote", values)) => {
                    let values: Option<Vec<u64>> = values.split(' ').map(number).collect();
                    let (last, values) = journal
                        .saved
                        .last_mut()
                        .zip(values)
                        .ok_or_else(|| damaged(at + 1, "it has no values of a register above"))?;
                    last.written = values;
                }
                _ => return Err(damaged(at + 1, "it starts with no known word")),
            }
        }
        Ok(journal)
    }
}

fn saved(entry: &str) -> Option<Saved> {
    let words: Vec<&str> = entry.split(' ').collect();
    let [socket, instance, register, width, value, space, place @ ..] = &words[..] else { return None };
    let place: Vec<u64> = place.iter().map(|word| number(word)).collect::<Option<_>>()?;
    let address = match (*space, &place[..]) {
        ("msr", &[cpu, msr]) => Address::Msr { cpu: cpu.try_into().ok()?, msr: msr.try_into().ok()? },
        ("pcicfg", &[segment, bus, device, function, offset]) => Address::Pci {
            bdf: Bdf {
                segment: segment.try_into().ok()?,
                bus: bus.try_into().ok()?,
                device: device.try_into().ok()?,
                function: function.try_into().ok()?,
            },
            offset: offset.try_into().ok()?,
        },
        ("mmio", &[physical]) => Address::Mmio { physical },
        _ => return None,
    };
    let width = match number(width)? {
        1 => Width::B1,
        2 => Width::B2,
        4 => Width::B4,
        8 => Width::B8,
        _ => return None,
    };
    let value = number(value).filter(|value| value & !width.mask() == 0)?;
    let (instance, register) = ((*instance).to_owned(), (*register).to_owned());
    Some(Saved { socket: socket.parse().ok()?, instance, register, address, width, value, written: Vec::new() })
}

/// A number in hexadecimal digits behind `0x`, else in decimal ones.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// FNV-1a, 64 bits: against torn and edited files, not against forgers.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        let saved = |address, width, value| Saved {
            socket: 1,
            instance: "cbo3".to_owned(),
            register: "ctl0".to_owned(),
            address,
            width,
            value,
            written: if value == 0 { vec![0, 0x40_0304] } else { Vec::new() },
        };
        Journal {
            pid: 4711,
            started: 815,
            boot: "0f1e".to_owned(),
            machine: "e5-2600:sockets=2".to_owned(),
            saved: vec![
                saved(Address::Msr { cpu: 8, msr: 0xd70 }, Width::B8, 0x40_0136),
                saved(Address::Pci { bdf: Bdf::new(0x7f, 16, 1), offset: 0xd8 }, Width::B4, 0),
                saved(Address::Mmio { physical: 0xfe00_0000_1234 }, Width::B8, u64::MAX),
            ],
        }
    }

    #[test]
    fn text_and_back() {
        assert_eq!(Journal::parse(&journal().to_text()), Ok(journal()));
    }

    /// Its checksum fits, and a line of it cannot be.
    #[test]
    fn a_line_that_cannot_be_is_named_by_its_number() {
        let text = journal().to_text();
        let body: Vec<&str> = text.lines().filter(|line| !line.starts_with("checksum")).collect();
        for (at, word) in [(1, "pid"), (2, "started"), (5, "save")] {
            assert!(body[at].starts_with(word), "{}", body[at]);
            let broken = format!("{word} -");
            let mut lines = body.clone();
            lines[at] = &broken;
            let body = lines.join("\n") + "\n";
            let text = format!("{body}checksum {:#018x}\n", checksum(&body));
            let refused = Journal::parse(&text).unwrap_err();
            assert!(matches!(refused, JournalError::Damaged { line, .. } if line == at + 1), "{refused:?}");
        }
    }

    #[test]
    fn any_cut_and_any_changed_byte_is_noticed() {
        let text = journal().to_text();
        for end in 0..text.len() {
            assert!(Journal::parse(&text[..end]).is_err(), "cut at {end}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(Journal::parse(&changed).is_err(), "changed at {at}");
        }
    }

    /// Places that no register has, values that are wider than their cycle, and words that are missing or too many.
    #[test]
    fn what_names_no_register_is_refused() {
        let msr = |entry: &str| saved(entry).map(|saved| (saved.address, saved.value));
        assert_eq!(msr("1 cbo3 ctl0 8 0x136 msr 8 0xd70"), Some((Address::Msr { cpu: 8, msr: 0xd70 }, 0x136)));
        let bdf = Bdf { segment: 2, bus: 0x7f, device: 16, function: 1 };
        let pci = "0 imc0 ctl0 4 0xffffffff pcicfg 2 0x7f 16 1 0xd8";
        assert_eq!(msr(pci), Some((Address::Pci { bdf, offset: 0xd8 }, 0xffff_ffff)));
        for (width, value, is_there) in
            [(1, "0xff", true), (1, "0x100", false), (2, "0xffff", true), (2, "0x10000", false), (3, "0", false)]
        {
            let found = saved(&format!("0 imc0 ctl0 {width} {value} mmio 0x1000"));
            assert_eq!(found.map(|saved| saved.width.bytes()), is_there.then_some(width), "{width} {value}");
        }
        for entry in [
            "",
            "1 cbo3 ctl0 8 0x136",
            "1 cbo3 ctl0 8 0x136 msr 8",
            "1 cbo3 ctl0 8 0x136 msr 8 0xd70 1",
            "1 cbo3 ctl0 8 0x136 msr 8 0x100000000",
            "65536 cbo3 ctl0 8 0x136 msr 8 0xd70",
            "1 cbo3 ctl0 8 0x136 pcicfg 0 0x100 0 0 0",
            "1 cbo3 ctl0 8 0x136 pcicfg 0x10000 0 0 0 0",
            "1 cbo3 ctl0 8 0x136 pcicfg 0 0 0 0 0x10000",
            "1 cbo3 ctl0 8 0x136 port 8",
            "1 cbo3 ctl0 4 0x100000000 msr 8 0xd70",
        ] {
            assert_eq!(msr(entry), None, "{entry}");
        }
        assert_eq!(["0x1f", "31", "0x", "1f", ""].map(number), [Some(31), Some(31), None, None, None]);
    }

    /// FNV-1a: the values that its authors give for these texts.
    #[test]
    fn the_checksum_is_that_of_its_authors() {
        assert_eq!(
            ["", "a", "foobar"].map(checksum),
            [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8]
        );
    }
}
