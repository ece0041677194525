//! One boot of a machine under injected signals.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pericore_doors::guest::{self, Access, Boot, Hardware, Output, Prepared, Report};
use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::Wiring;

use super::injection::Injection;

/// What a boot left behind.
pub struct Run {
    pub report: Report,
    pub output: String,
    pub errors: String,
    pub accesses: Vec<Access>,
}

/// Ticks of every clock's cycle, and of a second: 2.7 GHz.
pub const PERIOD: u64 = 8;
pub const TICKS_PER_SECOND: u64 = 21_600_000_000;

/// A machine of one socket with eight cores.
pub fn hardware(family: &str, inject: impl FnOnce(&mut Wiring) -> Injection) -> Arc<Mutex<Hardware>> {
    hardware_of(family, 1, 8, inject)
}

/// A machine of so many sockets with so many cores each.
pub fn hardware_of(
    family: &str,
    sockets: u16,
    cores: u16,
    inject: impl FnOnce(&mut Wiring) -> Injection,
) -> Arc<Mutex<Hardware>> {
    let family = pericore_catalog::family(family).unwrap();
    let shape = Shape::new(family, sockets, cores, 1).unwrap();
    let mut wiring = Wiring::new(family, sockets);
    let injection = inject(&mut wiring);
    let chassis = Chassis::new(shape, wiring, |_| PERIOD);
    let mut hardware = Hardware::new(chassis, Box::new(injection), TICKS_PER_SECOND);
    hardware.keep_accesses();
    Arc::new(Mutex::new(hardware))
}

/// Boots, runs a shell script, and takes everything in.
pub fn run(hardware: &Arc<Mutex<Hardware>>, script: &str) -> Run {
    run_with(hardware, script, |_| {})
}

/// The same with other settings.
pub fn run_with(hardware: &Arc<Mutex<Hardware>>, script: &str, change: impl FnOnce(&mut Boot)) -> Run {
    let prepared = Prepared::get().unwrap_or_else(|error| panic!("{error}"));
    let mut boot = Boot::new(["sh", "-c", script].map(str::to_owned).to_vec());
    // For a host that is very busy.
    boot.timeout = Duration::from_secs(900);
    change(&mut boot);
    let (out, output) = guest::collector();
    let (err, errors) = guest::collector();
    let report = guest::run(&prepared, &boot, hardware, Output { out, errors: err });
    let text = |bytes: &Mutex<Vec<u8>>| String::from_utf8_lossy(&bytes.lock().unwrap()).into_owned();
    let (output, errors) = (text(&output), text(&errors));
    let report = report.unwrap_or_else(|error| panic!("{error}\n{output}\n{errors}"));
    let accesses = hardware.lock().unwrap().accesses().to_vec();
    if let Some(folder) = std::env::var_os("PERICORE_GUEST_LOGS") {
        let lines: String = accesses
            .iter()
            .map(|access| format!("{:?} {}\n", access.at, access.entry().with_value(&access.outcome)))
            .collect();
        let name = hardware.lock().unwrap().shape().family.name;
        std::fs::write(std::path::Path::new(&folder).join(name), format!("{lines}\n{output}\n{errors}\n{report:?}\n"))
            .unwrap();
    }
    Run { report, output, errors, accesses }
}
