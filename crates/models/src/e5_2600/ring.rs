//! The ring of a socket: slices and their cores have the first stops, then come the home agent's side and the
//! input-output side, where the links to other sockets are too.

use super::Parameters;

/// The ways round a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    /// From lower to higher stops.
    Clockwise,
    /// From higher to lower ones.
    CounterClockwise,
}

/// Stops that the tables have room for: a power of two.
const ROOM: usize = 16;

/// The stops of a socket's ring, and which ways pass the home agent's.
#[derive(Debug, Clone)]
pub struct RingStops {
    cores: u8,
    stops: u8,
    /// By sender and receiver: steps to the home agent's stop, where it lies between them; counter-clockwise below 0.
    to_home: [[i8; ROOM]; ROOM],
    /// Stops to which the home agent's messages go counter-clockwise, one bit each.
    backwards: u16,
}

impl RingStops {
    /// The rings of a part.
    pub fn new(parameters: &Parameters) -> Self {
        let mut rings =
            Self { cores: parameters.cores, stops: parameters.ring_stops, to_home: [[0; ROOM]; ROOM], backwards: 0 };
        for from in 0..rings.stops.min(ROOM as u8) {
            for to in 0..rings.stops.min(ROOM as u8) {
                let (direction, length) = rings.way(from, to);
                let steps = rings.steps_to_home(from, direction);
                let signed = if direction == Direction::Clockwise { steps as i8 } else { -(steps as i8) };
                rings.to_home[usize::from(from)][usize::from(to)] = if steps < length { signed } else { 0 };
            }
            let backwards = rings.way(rings.home(), from).0 == Direction::CounterClockwise;
            rings.backwards |= u16::from(backwards) << from;
        }
        rings
    }

    /// The stop of the home agent.
    #[inline]
    pub const fn home(&self) -> u8 {
        self.cores
    }

    /// The stop of input-output and of the links.
    #[inline]
    pub const fn io(&self) -> u8 {
        self.cores + 1
    }

    /// The way from one stop to another, the shorter one, and its steps.
    const fn way(&self, from: u8, to: u8) -> (Direction, u8) {
        let clockwise = (to + self.stops - from) % self.stops;
        if clockwise > self.stops / 2 {
            (Direction::CounterClockwise, self.stops - clockwise)
        } else {
            (Direction::Clockwise, clockwise)
        }
    }

    /// The direction in which the home agent's messages go to a stop.
    #[inline]
    pub const fn direction_home_to(&self, to: u8) -> Direction {
        if self.backwards >> to & 1 == 1 { Direction::CounterClockwise } else { Direction::Clockwise }
    }

    /// If the home agent's stop lies between two others, in which direction messages pass it, and after how many steps.
    #[inline]
    pub fn passes_home(&self, from: u8, to: u8) -> Option<(Direction, u8)> {
        match self.to_home[usize::from(from) % ROOM][usize::from(to) % ROOM] {
            0 => None,
            steps @ 1.. => Some((Direction::Clockwise, steps as u8)),
            steps => Some((Direction::CounterClockwise, steps.unsigned_abs())),
        }
    }

    /// Steps from a stop to the home agent's in a direction.
    pub const fn steps_to_home(&self, from: u8, direction: Direction) -> u8 {
        let clockwise = (self.home() + self.stops - from) % self.stops;
        match direction {
            Direction::Clockwise => clockwise,
            Direction::CounterClockwise => (self.stops - clockwise) % self.stops,
        }
    }

    /// The direction of the way from a slice to input-output.
    pub const fn direction_to_io(&self, from: u8) -> Direction {
        self.way(from, self.io()).0
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

    /// Of ten stops, the home agent's is 8: 5 to 9 goes up past it, 1 to 7 down past 0, 9 and 8, and 1 to 6 is five
    /// steps either way and goes up.
    #[test]
    fn the_shorter_way_may_pass_the_home_agent() {
        let rings = RingStops::new(&Parameters::e5_2680());
        assert_eq!(rings.passes_home(5, 9), Some((Direction::Clockwise, 3)));
        assert_eq!(rings.passes_home(1, 7), Some((Direction::CounterClockwise, 3)));
        for (from, to) in [(1, 6), (8, 0), (5, 8), (9, 2), (3, 3)] {
            assert_eq!(rings.passes_home(from, to), None, "from {from} to {to}");
        }
        assert_eq!(
            (rings.direction_home_to(3), rings.direction_home_to(4)),
            (Direction::Clockwise, Direction::CounterClockwise)
        );
        assert_eq!(
            (rings.direction_to_io(4), rings.direction_to_io(2)),
            (Direction::Clockwise, Direction::CounterClockwise)
        );
        assert_eq!(rings.steps_to_home(9, Direction::Clockwise), 9);
    }
}
