//! QEMU's command line: a PC whose CPU calls itself a Xeon of the family.

use std::os::fd::RawFd;
use std::path::Path;
use std::process::Command;

use pericore_machine::chassis::Shape;

use super::plan::Plan;
use super::session::Boot;

/// CPUs that the guest has, beyond which QEMU under TCG only gets slower.
const MOST_CORES: u16 = 8;

/// The guest's memory. The file system takes up to 150 of it.
const MEGABYTES: u16 = 640;
/// Slots of bus 0 for QEMU's devices, away from those that the machine may have there.
const PROXY_SLOT: usize = 0x18;
const FIRST_BRIDGE_SLOT: usize = 0x10;

/// Descriptors of QEMU's ends of our sockets.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    /// Kernel log, output, errors, talk: the guest's serial ports in this order.
    pub serial: [RawFd; 4],
    /// gdb stub, if the machine is connected.
    pub gdb: Option<RawFd>,
    /// Memory proxy, if the machine has memory windows.
    pub proxy: Option<RawFd>,
    /// File system.
    pub file_system: RawFd,
}

/// CPUs of the guest that run.
pub fn running_cpus(shape: Option<&Shape>, all_cpus: bool) -> u16 {
    shape.map_or(1, |shape| if all_cpus { shape.sockets * guest_cores(shape) } else { shape.sockets })
}

/// Cores of a socket in the guest.
pub fn guest_cores(shape: &Shape) -> u16 {
    shape.cores.min(MOST_CORES)
}

/// CPUs that the guest brings up besides CPU 0: the first of each further socket.
pub fn further_cpus(shape: &Shape) -> Vec<u32> {
    (1..shape.sockets).map(|socket| u32::from(socket * guest_cores(shape))).collect()
}

/// QEMU's command line.
pub fn command(kernel: &Path, plan: &Plan, boot: &Boot, ends: &Ends) -> Command {
    let (cores, sockets) = plan.shape.as_ref().map_or((1, 1), |shape| (guest_cores(shape), shape.sockets));
    let mut command = Command::new(&boot.qemu);
    command.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-accel", "tcg"]);
    let each = MEGABYTES / sockets;
    for socket in 0..sockets {
        // Memory that the proxy could share: it insists. A node for each socket: tools look for a device's socket by
        // it.
        command.arg("-object").arg(format!("memory-backend-memfd,id=ram{socket},size={each}M"));
        let (first, last) = (socket * cores, (socket + 1) * cores - 1);
        command.arg("-numa").arg(format!("node,nodeid={socket},cpus={first}-{last},memdev=ram{socket}"));
    }
    command.arg("-m").arg(format!("{}M", each * sockets)).args(["-machine", "q35,hpet=on"]);
    command.arg("-cpu").arg(cpu(plan.shape.as_ref(), boot.cpu_model));
    command.arg("-smp").arg(format!("{},sockets={sockets},cores={cores},threads=1", cores * sockets));
    command.arg("-kernel").arg(kernel);
    command.arg("-initrd").arg(format!("/proc/self/fd/{}", ends.file_system));
    command.arg("-append").arg(kernel_arguments(sockets, boot));
    for (index, end) in ends.serial.iter().enumerate() {
        command.arg("-chardev").arg(format!("socket,id=s{index},fd={end}"));
        command.arg("-serial").arg(format!("chardev:s{index}"));
    }
    // Host bridges for the machine's buses: the kernel scans only buses that firmware's tables name.
    for (index, bus) in plan.buses.iter().filter(|&&bus| bus != 0).enumerate() {
        let (slot, node) =
            (FIRST_BRIDGE_SLOT + index, plan.shape.as_ref().map_or(0, |shape| socket_of_bus(shape, *bus)));
        command.arg("-device").arg(format!("pxb-pcie,bus=pcie.0,addr={slot:#x},bus_nr={bus},numa_node={node}"));
    }
    if let Some(gdb) = ends.gdb {
        command.arg("-chardev").arg(format!("socket,id=gdb,fd={gdb}")).args(["-gdb", "chardev:gdb", "-S"]);
    }
    if let Some(proxy) = ends.proxy {
        command.arg("-device").arg(format!("x-pci-proxy-dev,bus=pcie.0,addr={PROXY_SLOT:#x},fd={proxy}"));
    }
    command
}

/// The socket that a bus belongs to.
fn socket_of_bus(shape: &Shape, bus: u8) -> u16 {
    let of_uncore = shape.socket_of_bus(bus).map(|(socket, _)| socket);
    of_uncore.or_else(|| (0..shape.sockets).find(|&socket| shape.first_bus(socket) == bus)).unwrap_or(0)
}

/// A model that TCG can run, with the family's signature. Without the hypervisor bit, or intel-uncore will not load;
/// without the timer and interrupt controller that live in MSRs, with instructions for segment bases, because each MSR
/// access is a stop.
fn cpu(shape: Option<&Shape>, claimed: Option<u8>) -> String {
    let part = shape.and_then(|shape| shape.family.processor.as_ref());
    let model = claimed.map(u16::from).or_else(|| Some(part?.model.model));
    let model = model.map_or_else(String::new, |model| format!(",model={model}"));
    let rest = part.map_or_else(String::new, |part| format!(",stepping={},model-id={}", part.stepping, part.brand));
    format!("SandyBridge{model}{rest},-hypervisor,+fsgsbase,-tsc-deadline,-x2apic")
}

fn kernel_arguments(sockets: u16, boot: &Boot) -> String {
    // The tables name all buses there are: no search for others. Symbols hold only without address randomisation;
    // without mitigations fewer MSRs are written at every switch.
    // No counter's overflow interrupts: a watchdog would wait for it in vain, and have a counter for itself.
    let fixed = "console=ttyS0 nokaslr mitigations=off nmi_watchdog=0 panic=-1 pci=lastbus=0";
    // Only one CPU of a socket runs: register accesses stop all of them.
    let cpus = match (boot.all_cpus, sockets) {
        (true, _) => "",
        (false, 1) => " nr_cpus=1",
        (false, _) => " maxcpus=1",
    };
    let more = if boot.append.is_empty() { "" } else { " " };
    format!("{fixed}{cpus}{more}{}", boot.append)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(family: &str, sockets: u16, cores: u16) -> Shape {
        Shape::new(pericore_catalog::family(family).unwrap(), sockets, cores, 1).unwrap()
    }

    /// QEMU's options with their values, as it is started for a machine with functions on these buses.
    fn options(shape: Option<Shape>, buses: &[u8]) -> Vec<(String, String)> {
        let plan = Plan { shape, buses: buses.to_vec(), ..Plan::default() };
        let ends = Ends { serial: [3, 4, 5, 6], gdb: Some(7), proxy: None, file_system: 8 };
        let boot = Boot { append: "quiet".to_owned(), ..Boot::new(vec!["true".to_owned()]) };
        let command = command(Path::new("/boot/kernel"), &plan, &boot, &ends);
        let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let pairs = words.windows(2).filter(|pair| pair[0].starts_with('-') && !pair[1].starts_with('-'));
        pairs.map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }

    fn values<'o>(options: &'o [(String, String)], name: &str) -> Vec<&'o str> {
        options.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }

    /// A node for each socket with its CPUs and its share of 640 MB, at most eight CPUs of each; a bridge for each bus
    /// but 0, on the node of the socket that the bus belongs to.
    #[test]
    fn each_socket_is_a_node_with_its_cpus_and_buses() {
        let two = options(Some(shape("emerald-rapids", 2, 10)), &[0, 0x7e, 0x7f, 0x80, 0xfe]);
        let nodes = ["node,nodeid=0,cpus=0-7,memdev=ram0", "node,nodeid=1,cpus=8-15,memdev=ram1"];
        assert_eq!(values(&two, "-numa"), nodes);
        let memory = ["memory-backend-memfd,id=ram0,size=320M", "memory-backend-memfd,id=ram1,size=320M"];
        assert_eq!(values(&two, "-object"), memory);
        assert_eq!((values(&two, "-m"), values(&two, "-smp")), (vec!["640M"], vec!["16,sockets=2,cores=8,threads=1"]));
        let bridge = |slot, bus, node| format!("pxb-pcie,bus=pcie.0,addr={slot},bus_nr={bus},numa_node={node}");
        let bridges = [("0x10", 126, 0), ("0x11", 127, 0), ("0x12", 128, 1), ("0x13", 254, 1)];
        assert_eq!(values(&two, "-device"), bridges.map(|(slot, bus, node)| bridge(slot, bus, node)));
        assert_eq!(values(&two, "-kernel"), ["/boot/kernel"]);
        assert_eq!(values(&two, "-initrd"), ["/proc/self/fd/8"]);
        let serial: Vec<String> = (0..4).map(|port| format!("chardev:s{port}")).collect();
        assert_eq!(values(&two, "-serial"), serial);
        let ends: Vec<String> = (0..4).map(|port| format!("socket,id=s{port},fd={}", port + 3)).collect();
        assert_eq!(values(&two, "-chardev"), [&ends[..], &["socket,id=gdb,fd=7".to_owned()]].concat());
        assert!(values(&two, "-append")[0].ends_with("pci=lastbus=0 maxcpus=1 quiet"), "{two:?}");
        let alone = options(None, &[]);
        assert_eq!(values(&alone, "-smp"), ["1,sockets=1,cores=1,threads=1"]);
        assert!(values(&alone, "-append")[0].ends_with(" nr_cpus=1 quiet"), "{alone:?}");
    }

    /// Of a socket's CPUs one runs, or as many as the guest has of it; without a machine there is one.
    #[test]
    fn as_many_cpus_run_as_are_brought_up() {
        let running = |sockets, cores, all| running_cpus(Some(&shape("emerald-rapids", sockets, cores)), all);
        assert_eq!([running(2, 4, false), running(2, 4, true), running(2, 10, true)], [2, 8, 16]);
        assert_eq!([running_cpus(None, false), running_cpus(None, true)], [1, 1]);
    }

    /// CPUs are numbered socket by socket; the first of each is brought up.
    #[test]
    fn the_first_cpu_of_each_further_socket_is_brought_up() {
        for (sockets, cores, further) in [(1, 8, &[][..]), (2, 8, &[8]), (4, 2, &[2, 4, 6]), (2, 64, &[8])] {
            let family = if cores > 8 { "emerald-rapids" } else { "e5-2600" };
            assert_eq!(further_cpus(&shape(family, sockets, cores)), further, "{sockets} sockets of {cores}");
        }
    }
}
