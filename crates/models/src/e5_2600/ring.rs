//! The ring of a socket: slices and their cores have the first stops, then come the home agent's side and the
//! input-output side, where the links to other sockets are too.

use super::Parameters;

/// The stops of a socket's ring that are no slice's.
#[derive(Debug, Clone, Copy)]
pub struct RingStops {
    cores: u8,
}

impl RingStops {
    /// The rings of a part.
    pub const fn new(parameters: &Parameters) -> Self {
        Self { cores: parameters.cores }
    }

    /// The stop of the home agent.
    #[inline]
    pub const fn home(self) -> u8 {
        self.cores
    }

    /// The stop of input-output and of the links.
    #[inline]
    pub const fn io(self) -> u8 {
        self.cores + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight slices with their cores are stops 0 to 7.
    #[test]
    fn the_home_agent_and_input_output_come_behind_the_slices() {
        let rings = RingStops::new(&Parameters::e5_2680());
        assert_eq!((rings.home(), rings.io()), (8, 9));
    }
}
