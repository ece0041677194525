//! The wires of a machine.

use pericore_hardware::signal::{SignalSink, Wiring, WiringError};
use pericore_models::e5_2600::Parameters;

use super::agent::AgentWires;
use super::channels::{ChannelWires, bind_channel};
use super::device::DeviceWires;
use super::home::{HomeWires, bind_home};
use super::links::{LinkWires, bind_links};
use super::power::PowerWires;
use super::rings::RingWires;
use super::slices::{SliceTags, SliceWires, bind_slice, bind_tags};

/// The wires of a machine, and what stands on them.
#[derive(Debug)]
pub struct E5Signals {
    pub(super) slices: Vec<SliceWires>,
    pub(super) tags: SliceTags,
    pub(super) homes: Vec<HomeWires>,
    pub(super) channels: Vec<ChannelWires>,
    pub(super) links: Vec<LinkWires>,
    pub(super) rings: RingWires,
    /// By socket.
    pub(super) power: Vec<PowerWires>,
    pub(super) agents: Vec<AgentWires>,
    pub(super) devices: Vec<DeviceWires>,
    /// Slices of a socket, as a power of two.
    pub(super) slice_bits: u32,
}

impl E5Signals {
    /// Binds the wires of an idle machine.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue lacks a name.
    pub fn bind(wiring: &mut Wiring, parameters: &Parameters) -> Result<Self, WiringError> {
        let others = parameters.sockets > 1;
        let mut signals = Self {
            tags: bind_tags(wiring, others)?,
            slices: Vec::new(),
            homes: Vec::new(),
            channels: Vec::new(),
            power: Vec::new(),
            agents: Vec::new(),
            devices: Vec::new(),
            links: if others { bind_links(wiring, parameters.sockets, parameters.link_credits)? } else { Vec::new() },
            rings: RingWires::new(wiring, parameters)?,
            slice_bits: parameters.cores.trailing_zeros(),
        };
        for socket in 0..u16::from(parameters.sockets) {
            for slice in 0..u16::from(parameters.cores) {
                signals.slices.push(bind_slice(wiring, socket, slice, others)?);
            }
            signals.homes.push(bind_home(wiring, socket, parameters)?);
            for channel in 0..u16::from(parameters.channels) {
                signals.channels.push(bind_channel(wiring, socket, channel, parameters)?);
            }
            signals.power.push(PowerWires::bind(wiring, socket)?);
            signals.agents.push(AgentWires::bind(wiring, socket)?);
            signals.devices.push(DeviceWires::bind(wiring, socket)?);
        }
        Ok(signals)
    }

    /// Emits what holds before anything happens.
    pub fn start<S: SignalSink>(&self, sink: &mut S) {
        self.homes.iter().for_each(|home| home.conflicts.start(sink));
    }

    /// Somebody listens to the queue of requests of a slice.
    pub fn observes_ingress(&self, slice: usize) -> bool {
        self.slices[slice].ingress.is_observed()
    }
}
