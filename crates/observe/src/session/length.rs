//! How long samples last: sockets are stopped one after the other, so each has a length of its own.

use std::collections::BTreeMap;

use super::{Moment, Sample};

/// How long counters ran.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Length {
    /// In seconds.
    pub seconds: f64,
    /// In cycles of the time-stamp counter.
    pub tsc_cycles: u64,
}

impl Length {
    pub(super) const fn between(from: Moment, to: Moment) -> Self {
        Self { seconds: (to.seconds - from.seconds).max(0.0), tsc_cycles: to.tsc.wrapping_sub(from.tsc) }
    }

    fn and(self, later: Self) -> Self {
        let tsc_cycles = self.tsc_cycles.saturating_add(later.tsc_cycles);
        Self { seconds: self.seconds + later.seconds, tsc_cycles }
    }

    /// The mean of lengths; none of no lengths.
    fn mean(lengths: &[Self]) -> Option<Self> {
        let first = lengths.first()?;
        if lengths.iter().all(|length| length == first) {
            return Some(*first);
        }
        #[expect(clippy::cast_precision_loss, reason = "sockets are few")]
        let seconds = lengths.iter().map(|length| length.seconds).sum::<f64>() / lengths.len() as f64;
        let cycles = lengths.iter().map(|length| u128::from(length.tsc_cycles)).sum::<u128>() / lengths.len() as u128;
        Some(Self { seconds, tsc_cycles: u64::try_from(cycles).unwrap_or(u64::MAX) })
    }
}

impl Sample {
    /// A sample without counts, from the length of each socket.
    pub(crate) fn of_sockets(lengths: impl IntoIterator<Item = (u16, Length)>) -> Self {
        let sockets: BTreeMap<u16, Length> = lengths.into_iter().collect();
        let all: Vec<Length> = sockets.values().copied().collect();
        let Length { seconds, tsc_cycles } = Length::mean(&all).unwrap_or_default();
        let are_alike = all.windows(2).all(|two| two[0] == two[1]);
        Self { seconds, tsc_cycles, sockets: if are_alike { BTreeMap::new() } else { sockets }, ..Self::default() }
    }

    /// The length in a socket.
    pub fn length_in(&self, socket: u16) -> Length {
        self.sockets.get(&socket).copied().unwrap_or(Length { seconds: self.seconds, tsc_cycles: self.tsc_cycles })
    }

    /// The sockets that it has counts of, with the length in each.
    pub(crate) fn lengths(&self) -> Vec<(u16, Length)> {
        let mut sockets: Vec<u16> = self.counts.iter().map(|count| count.socket).collect();
        sockets.sort_unstable();
        sockets.dedup();
        sockets.into_iter().map(|socket| (socket, self.length_in(socket))).collect()
    }

    /// The length of what is added up over sockets: the mean of theirs. Counts that rise equally fast in all of them are their rate times
    /// it, however far the lengths lie apart.
    pub fn length_over(&self, sockets: impl IntoIterator<Item = u16>) -> Length {
        let lengths: Vec<Length> = sockets.into_iter().map(|socket| self.length_in(socket)).collect();
        Length::mean(&lengths).unwrap_or(Length { seconds: self.seconds, tsc_cycles: self.tsc_cycles })
    }

    /// Makes it longer by a later sample.
    pub(super) fn lengthen(&mut self, later: &Self) {
        let known: Vec<u16> = self.sockets.keys().chain(later.sockets.keys()).copied().collect();
        self.sockets =
            known.into_iter().map(|socket| (socket, self.length_in(socket).and(later.length_in(socket)))).collect();
        self.seconds += later.seconds;
        self.tsc_cycles = self.tsc_cycles.saturating_add(later.tsc_cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::{Length, Sample};

    fn length(seconds: f64, tsc_cycles: u64) -> Length {
        Length { seconds, tsc_cycles }
    }

    #[test]
    fn sockets_have_lengths_of_their_own_where_they_differ() {
        let alike = Sample::of_sockets([(0, length(0.1, 7)), (1, length(0.1, 7)), (2, length(0.1, 7))]);
        assert_eq!((alike.seconds, alike.tsc_cycles, alike.sockets.len()), (0.1, 7, 0));
        assert_eq!(alike.length_in(1), length(0.1, 7));
        let apart = Sample::of_sockets([(0, length(1.0, 100)), (1, length(2.0, 201))]);
        assert_eq!((apart.seconds, apart.tsc_cycles), (1.5, 150));
        assert_eq!([apart.length_in(0), apart.length_in(1)], [length(1.0, 100), length(2.0, 201)]);
        assert_eq!(apart.length_over([1]), length(2.0, 201));
        assert_eq!(apart.length_over([0, 1]).seconds, 1.5);
    }

    #[test]
    fn lengths_add_up_socket_by_socket() {
        let mut sum = Sample::default();
        sum.lengthen(&Sample::of_sockets([(0, length(1.0, 10)), (1, length(1.0, 10))]));
        assert_eq!(sum.sockets.len(), 0);
        sum.lengthen(&Sample::of_sockets([(0, length(1.0, 10)), (1, length(3.0, 30))]));
        sum.lengthen(&Sample::of_sockets([(0, length(1.0, 10)), (1, length(1.0, 10))]));
        assert_eq!([sum.length_in(0), sum.length_in(1)], [length(3.0, 30), length(5.0, 50)]);
        assert_eq!((sum.seconds, sum.tsc_cycles), (4.0, 40));
    }
}
