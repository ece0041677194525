//! How many sockets and CPUs a machine has, and where its uncore buses are.

use pericore_catalog::{Family, Identity, OnePer, SocketBus, Unit};

/// The most sockets that a machine can have: eight node IDs of three bits (UBox GIDNIDMAP).
const MOST_SOCKETS: u16 = 8;

/// The size of a machine.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Processor family.
    pub family: &'static Family,
    /// Sockets, 1 to 8.
    pub sockets: u16,
    /// Cores of a socket that take part: all logical CPUs are theirs.
    pub cores: u16,
    /// Cores that a socket was built with. Firmware may have left out some; the others are the first.
    pub built: u16,
    /// Hardware threads of a core.
    pub threads: u16,
    /// LLC slices of a socket that are in use: the first so many.
    pub slices: u16,
    /// Buses that a socket's uncore takes: one, or two where a unit has a placement on the next bus.
    uncore_buses: u16,
    /// Stacks of a socket that have a bus each; none where the uncore has buses of its own.
    stacks: u16,
}

/// A machine that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Too many or no sockets.
    #[error("{0} sockets: a machine has 1, 2, 4 or 8 sockets")]
    Sockets(u16),
    /// No cores, no threads, or more than APIC IDs can number.
    #[error("{cores} cores of {threads} threads: a socket has 1 to 128 cores of 1 or 2 threads")]
    Cores {
        /// Cores of a socket.
        cores: u16,
        /// Threads of a core.
        threads: u16,
    },
    /// More cores that take part than there are, or none.
    #[error("{active} active cores: a socket of this machine has 1 to {built}")]
    Active {
        /// Cores asked for.
        active: u16,
        /// Cores that there are.
        built: u16,
    },
    /// More slices in use than there are, or none.
    #[error("{slices} slices: a socket of {family} has 1 to {most}")]
    Slices {
        /// Slices asked for.
        slices: u16,
        /// Family.
        family: &'static str,
        /// Slices that there are.
        most: u16,
    },
}

impl Shape {
    /// A machine of `sockets` sockets with `cores` cores of `threads` threads each, and every slice in use.
    ///
    /// # Errors
    /// [`ShapeError`] if the sockets cannot be numbered.
    pub fn new(family: &'static Family, sockets: u16, cores: u16, threads: u16) -> Result<Self, ShapeError> {
        if !matches!(sockets, 1 | 2 | 4 | MOST_SOCKETS) {
            return Err(ShapeError::Sockets(sockets));
        }
        if !(1..=128).contains(&cores) || !(1..=2).contains(&threads) {
            return Err(ShapeError::Cores { cores, threads });
        }
        let placements = family.units.iter().flat_map(|unit| unit.placements);
        let after = |bus| if let SocketBus::Uncore(after) = bus { u16::from(after) } else { 0 };
        let uncore_buses = 1 + placements.map(|placement| after(placement.bus)).max().unwrap_or(0);
        let buses = family.identity(Identity::StackBuses);
        let stacks = buses.map_or(0, |(_, register)| register.stack_buses().count() as u16);
        Ok(Self { family, sockets, cores, built: cores, threads, slices: most_slices(family), uncore_buses, stacks })
    }

    /// The same machine with only the first `active` cores of each socket taking part, as firmware's setting of active
    /// cores has it: the others have no logical CPUs and no MSRs, but APIC IDs keep room for them. Slices and what
    /// monitors them stay.
    ///
    /// # Errors
    /// [`ShapeError`] if there are not so many.
    pub fn with_active_cores(self, active: u16) -> Result<Self, ShapeError> {
        if active == 0 || active > self.built {
            return Err(ShapeError::Active { active, built: self.built });
        }
        Ok(Self { cores: active, ..self })
    }

    /// The same machine with only the first `slices` LLC slices of each socket in use. On E5-2600 the monitors of the
    /// others stay, for their ring stops (2.3.1); on Emerald Rapids they are gone, and CAPID6 and CAPID7 tell (1.7.1).
    ///
    /// # Errors
    /// [`ShapeError`] if there are not so many.
    pub fn with_slices(self, slices: u16) -> Result<Self, ShapeError> {
        let most = most_slices(self.family);
        if slices == 0 || slices > most {
            return Err(ShapeError::Slices { slices, family: self.family.name, most });
        }
        Ok(Self { slices, ..self })
    }

    /// LLC slices of a socket, those that are not in use counted in.
    pub fn all_slices(&self) -> u16 {
        most_slices(self.family)
    }

    /// True if a unit's instance is there.
    pub fn has(&self, unit: &Unit, instance: u16) -> bool {
        let discovered = unit.discovery_type.is_some();
        instance < self.slices || !discovered || unit.one_per != Some(OnePer::Slice)
    }

    /// Logical CPUs: first thread of every core of socket 0, of socket 1, …; then the second threads in the same order.
    pub const fn cpus(&self) -> u32 {
        self.sockets as u32 * self.cores as u32 * self.threads as u32
    }

    /// The socket that a logical CPU belongs to.
    #[inline]
    pub fn socket_of_cpu(&self, cpu: u32) -> Option<u16> {
        (cpu < self.cpus()).then(|| (cpu / u32::from(self.cores) % u32::from(self.sockets)) as u16)
    }

    /// Socket, core of the socket and thread of the core of a logical CPU.
    pub fn place_of_cpu(&self, cpu: u32) -> Option<(u16, u16, u16)> {
        let socket = self.socket_of_cpu(cpu)?;
        let (cores, all) = (u32::from(self.cores), u32::from(self.cores) * u32::from(self.sockets));
        Some((socket, (cpu % cores) as u16, (cpu / all) as u16))
    }

    /// The logical CPU of a thread of a core of a socket, if it takes part.
    pub fn cpu_at(&self, socket: u16, core: u16, thread: u16) -> Option<u32> {
        let is_there = socket < self.sockets && core < self.cores && thread < self.threads;
        let first = u32::from(thread) * u32::from(self.cores) * u32::from(self.sockets);
        is_there.then(|| first + self.first_cpu(socket) + u32::from(core))
    }

    /// The first logical CPU of a socket.
    pub const fn first_cpu(&self, socket: u16) -> u32 {
        socket as u32 * self.cores as u32
    }

    /// The uncore bus of a socket. Firmware puts it at the end of each socket's share of the buses: 0xff alone, 0x7f
    /// and 0xff for two sockets of E5-2600; 0x7e and 0xfe where the uncore has two buses.
    #[inline]
    pub const fn uncore_bus(&self, socket: u16) -> u8 {
        (((socket + 1) << (8 - self.sockets.trailing_zeros())) - self.uncore_buses) as u8
    }

    /// The first bus of a socket's share.
    pub const fn first_bus(&self, socket: u16) -> u8 {
        (socket * (256 / self.sockets)) as u8
    }

    /// A bus of a socket. Firmware gives each stack an equal part of the socket's share; the first bus of it is the
    /// stack's.
    pub fn bus(&self, socket: u16, bus: SocketBus) -> u8 {
        match bus {
            SocketBus::Uncore(after) => self.uncore_bus(socket) + after,
            SocketBus::Stack(stack) => self.first_bus(socket) + stack * self.buses_of_stack(),
        }
    }

    /// The buses of a socket's stacks, by number; none where the uncore has buses of its own.
    pub fn stack_buses(&self, socket: u16) -> impl Iterator<Item = u8> + '_ {
        (0..self.stacks as u8).map(move |stack| self.bus(socket, SocketBus::Stack(stack)))
    }

    fn buses_of_stack(&self) -> u8 {
        (256 / self.sockets / self.stacks.max(1)).min(u8::MAX.into()) as u8
    }

    /// The socket whose share a bus belongs to, and which of the socket's it is, if it is one: how many buses it lies
    /// after the uncore bus, or the stack whose bus it is.
    #[inline]
    pub fn socket_of_bus(&self, bus: u8) -> Option<(u16, u8)> {
        // There are 1, 2, 4 or 8 sockets.
        let socket = u16::from(bus) >> (8 - self.sockets.trailing_zeros());
        if self.stacks > 0 {
            let stack = self.stack_buses(socket).position(|own| own == bus)?;
            return Some((socket, stack as u8));
        }
        Some((socket, bus.checked_sub(self.uncore_bus(socket))?))
    }
}

/// LLC slices of a socket, all told.
fn most_slices(family: &Family) -> u16 {
    family.unit_per(OnePer::Slice).map_or(1, |unit| unit.instances)
}
