//! When windows are enough for an error that is requested.

/// Windows go on until half of the widest interval is within what is requested.
#[derive(Debug)]
pub struct ErrorPace {
    requested: f64,
    /// Windows after which the intervals are looked at next.
    next: u64,
    /// Looks in a row at which it was reached.
    in_a_row: u32,
}

/// Where chance alone makes an interval narrow, it is wider at the next look: so many looks are within the error.
const LOOKS: u32 = 2;

impl ErrorPace {
    /// Until an error is reached, as a share, but not before there are so many windows.
    pub const fn new(requested: f64, least: u64) -> Self {
        Self { requested, next: least, in_a_row: 0 }
    }

    /// True if the intervals are to be looked at now.
    pub const fn is_due(&self, windows: u64) -> bool {
        windows >= self.next
    }

    /// Half of the widest interval is such a share of its number by now; none if no number has an interval.
    pub fn look(&mut self, widest: Option<f64>, windows: u64) {
        let is_within = widest.is_some_and(|widest| widest <= self.requested);
        self.in_a_row = if is_within { self.in_a_row + 1 } else { 0 };
        // A quarter more each time: what is run too long is little, and so is what looking costs.
        self.next = windows + (windows / 4).max(1);
    }

    /// True if windows are enough.
    pub const fn is_reached(&self) -> bool {
        self.in_a_row >= LOOKS
    }
}

/// How densely the windows of a program lie while an error is requested: more densely as long as it is not reached, and
/// more thinly where fewer windows do. How long the program goes on is not known.
#[derive(Debug)]
pub struct Density {
    requested: f64,
    one_in: u32,
}

/// The densest and the thinnest windows.
const DENSITIES: [u32; 2] = [2, 10_000];
/// Below such a share of the error, half of the windows may do.
const AMPLE: f64 = 0.8;

impl Density {
    /// The densest, until it is known what the error takes.
    pub const fn new(requested: f64) -> Self {
        Self { requested, one_in: DENSITIES[0] }
    }

    /// One of so many accesses is to be counted.
    pub const fn one_in(&self) -> u32 {
        self.one_in
    }

    /// Half of the widest interval is such a share of its number by now; none if no number has an interval. True if
    /// the density changes with it.
    pub fn look(&mut self, widest: Option<f64>) -> bool {
        let [densest, thinnest] = DENSITIES;
        let one_in = match widest {
            Some(widest) if widest <= AMPLE * self.requested => (self.one_in * 2).min(thinnest),
            Some(widest) if widest <= self.requested => self.one_in,
            _ => (self.one_in / 2).max(densest),
        };
        std::mem::replace(&mut self.one_in, one_in) != one_in
    }
}

#[cfg(test)]
mod tests {
    use super::{Density, ErrorPace};

    #[test]
    fn windows_are_as_dense_as_the_error_takes() {
        let mut density = Density::new(0.10);
        let mut after = |widest| (density.look(Some(widest)), density.one_in());
        assert_eq!([after(0.2), after(0.08), after(0.05)], [(false, 2), (true, 4), (true, 8)]);
        assert_eq!([after(0.09), after(0.11), after(0.07)], [(false, 8), (true, 4), (true, 8)]);
        assert!(density.look(None));
        assert_eq!(density.one_in(), 4);
        assert!((0..12).all(|_| density.look(Some(0.0))) && !density.look(Some(0.0)));
        assert_eq!(density.one_in(), 10_000);
    }

    #[test]
    fn it_goes_on_until_two_looks_are_within_the_error() {
        let mut pace = ErrorPace::new(0.02, 80);
        assert!(!pace.is_due(79) && pace.is_due(80));
        pace.look(Some(0.019), 80);
        assert!(!pace.is_reached() && !pace.is_due(99) && pace.is_due(100));
        pace.look(Some(0.021), 100);
        pace.look(Some(0.02), 125);
        assert!(!pace.is_reached());
        pace.look(Some(0.018), 156);
        assert!(pace.is_reached());
    }

    #[test]
    fn without_a_number_nothing_is_reached() {
        let mut pace = ErrorPace::new(0.5, 1);
        for windows in 1..9 {
            pace.look(None, windows);
        }
        assert!(!pace.is_reached());
    }
}
