//! Where the totals of deeds and levels lie: those of an instance side by side, since much of what it does happens together.

use super::deeds::LevelId;
use super::{Shape, deeds};

/// Where the totals of deeds and levels lie.
#[derive(Debug, Clone)]
pub struct Places {
    pub deeds: Vec<Place>,
    pub levels: Vec<Place>,
}

/// Where the totals of a deed or level lie.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Where that of the unit's first instance is.
    pub base: u32,
    /// Totals of an instance.
    width: u16,
    /// Instances of a socket.
    pub per_socket: u16,
}

impl Place {
    /// How far an instance's totals are from the first one's.
    #[inline]
    pub const fn distance(self, socket: u16, index: u16) -> usize {
        (socket * self.per_socket + index) as usize * self.width as usize
    }

    /// Where an instance's total is.
    #[inline]
    pub const fn of(self, socket: u16, index: u16) -> usize {
        self.base as usize + self.distance(socket, index)
    }
}

/// An instance of a unit, found once for all that happens there.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    /// Its socket, and its number there.
    pub socket: u16,
    /// Its number in its socket.
    pub index: u16,
    /// How far its totals are from those of the first instance.
    pub(super) distance: u32,
}

/// A level of an instance of its unit, found once for everybody who keeps something of it.
#[derive(Debug, Clone, Copy)]
pub struct LevelSpot {
    /// The level.
    pub level: LevelId,
    /// Socket of the instance.
    pub socket: u16,
    /// Its number in its socket.
    pub index: u16,
    /// A number of its own among the levels of all instances: where its totals are.
    pub place: u32,
}

/// The places of a table's rows, and how many totals there are.
pub fn places(shape: &Shape, table: &[&str]) -> (Vec<Place>, usize) {
    let mut units: Vec<(&str, Place)> = Vec::new();
    for name in table {
        let unit = deeds::unit_of(name);
        match units.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, place)) => place.width += 1,
            None => units.push((unit, Place { base: 0, width: 1, per_socket: shape.instances(unit) })),
        }
    }
    // Units one after the other; then each row of a unit takes the next of its totals.
    let mut next = 0;
    for (_, place) in &mut units {
        place.base = next;
        next += u32::from(place.width) * u32::from(place.per_socket * shape.sockets);
    }
    let places = table.iter().filter_map(|name| {
        let (_, place) = units.iter_mut().find(|(unit, _)| *unit == deeds::unit_of(name))?;
        let row = *place;
        place.base += 1;
        Some(row)
    });
    (places.collect(), next as usize)
}

#[cfg(test)]
mod tests {
    use super::places;
    use crate::ledger::emerald_rapids::{LinkMessage, Shape};

    #[test]
    fn the_totals_of_an_instance_lie_side_by_side() {
        let shape = Shape {
            sockets: 2,
            units: vec![("cha", 3), ("m2m", 2)],
            tiles: Vec::new(),
            link_codes: [0; LinkMessage::COUNT],
            pending: [0; 2],
            rooms: Vec::new(),
        };
        let (places, totals) = places(&shape, &["cha/A", "m2m/B", "cha/C"]);
        // Two totals of each of six agents, one of each of four others.
        assert_eq!(totals, 16);
        let at = |row: usize, socket, index| places[row].of(socket, index);
        assert_eq!([at(0, 0, 0), at(2, 0, 0), at(0, 0, 1), at(0, 1, 0), at(2, 1, 2)], [0, 1, 2, 6, 11]);
        assert_eq!([at(1, 0, 0), at(1, 1, 1)], [12, 15]);
    }
}
