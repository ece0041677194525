//! PCI Express lanes: what devices and a socket's input-output can carry in one direction.

use pericore_engine::{ParameterError, Tick};

use crate::line::LINE_BYTES;

/// Parts of a tick in which a lane's time is kept: a line's time is no whole number of ticks.
const FINE: u64 = 1 << 10;

/// The lanes of a socket's input-output, as data with its source in the presets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoLanes {
    /// Lanes of a socket.
    pub lanes: u16,
    /// Lanes of a device. Devices with more lanes in all than the socket has share those, as behind a switch.
    pub device_lanes: u16,
    /// Bits a second of a lane, in millions, with those of the encoding.
    pub megatransfers: u64,
    /// Bits of data among bits on the lane.
    pub encoding: [u64; 2],
    /// Bytes of data in a packet.
    pub payload: u64,
    /// Bytes of a packet besides its data.
    pub overhead: u64,
}

impl IoLanes {
    /// Time of a line on so many lanes, in parts of a tick, rounded up.
    fn line(&self, lanes: u16, ticks_per_second: u64) -> u64 {
        let wide = u128::from;
        let bits = wide(LINE_BYTES * 8 * (self.payload + self.overhead)) * wide(self.encoding[1]);
        let rate =
            wide(self.payload) * wide(self.encoding[0]) * wide(lanes.into()) * wide(self.megatransfers) * 1_000_000;
        let time = (bits * wide(ticks_per_second) * wide(FINE)).div_ceil(rate);
        u64::try_from(time).expect("a line takes less than an age: `check` bounds the rates")
    }

    /// Ticks of a line on a device's lanes.
    pub fn device_interval(&self, ticks_per_second: u64) -> Tick {
        self.line(self.device_lanes, ticks_per_second).div_ceil(FINE)
    }

    /// A direction of all lanes, idle.
    pub fn direction(&self, ticks_per_second: u64) -> Lanes {
        Lanes { line: self.line(self.lanes, ticks_per_second), free: 0 }
    }

    /// Checks that the time of a line can be worked out.
    ///
    /// # Errors
    /// [`ParameterError`] for the first value that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let range = ParameterError::unless_within;
        range("lanes", self.lanes.into(), 1, 1024)?;
        range("device_lanes", self.device_lanes.into(), 1, self.lanes.into())?;
        range("megatransfers", self.megatransfers, 2500, 64_000)?;
        range("encoding", self.encoding[1], 1, 1024)?;
        range("encoding", self.encoding[0], 1, self.encoding[1])?;
        range("payload", self.payload, LINE_BYTES, 4096)?;
        range("overhead", self.overhead, 0, 64)
    }
}

/// A direction of a socket's lanes: carries one line after the other.
#[derive(Debug)]
pub struct Lanes {
    line: u64,
    /// When the lanes are free again, in parts of a tick.
    free: u64,
}

impl Lanes {
    /// The next line goes, at `from` at the earliest: the ticks at which it begins and is through.
    pub fn carry(&mut self, from: Tick) -> (Tick, Tick) {
        let begins = self.free.max(from * FINE);
        self.free = begins + self.line;
        (begins.div_ceil(FINE), self.free.div_ceil(FINE))
    }
}

#[cfg(test)]
mod tests {
    use super::IoLanes;

    /// Forty lanes of the third generation, with packets of 256 bytes that have 24 around them.
    const FORTY: IoLanes =
        IoLanes { lanes: 40, device_lanes: 8, megatransfers: 8000, encoding: [128, 130], payload: 256, overhead: 24 };

    #[test]
    fn forty_lanes_of_the_third_generation_carry_their_rate() {
        // 40 lanes * 8 GT/s * 128/130 / 8 = 39.385 GB/s; packets of 256 bytes with 24 around them: 36.0 of it are data.
        let bare = IoLanes { overhead: 0, ..FORTY };
        for (io, expected) in [(bare, 39.385e9), (FORTY, 36.009e9)] {
            // Ticks of a picosecond.
            let mut lanes = io.direction(1_000_000_000_000);
            let through = (0..10_000).map(|_| lanes.carry(0).1).last().unwrap();
            let rate = 640_000.0 / (through as f64 * 1e-12);
            assert!((rate / expected - 1.0).abs() < 1e-4, "{rate}");
            // Eight lanes carry a fifth of it: 64 B in 8.887 ns at 36.0 GB/s.
            let device = 64.0 / (expected / 5.0) * 1e12;
            assert!((io.device_interval(1_000_000_000_000) as f64 - device).abs() < 1.0);
        }
    }

    #[test]
    fn what_comes_to_idle_lanes_goes_at_once() {
        let mut lanes = FORTY.direction(1_000_000_000_000);
        // 64 B at 36.009 GB/s: 1777.3 ps.
        assert_eq!(lanes.carry(5000), (5000, 6778));
        assert_eq!(lanes.carry(5000), (6778, 8555));
        assert_eq!(lanes.carry(9000).0, 9000);
    }
}
