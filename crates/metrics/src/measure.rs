//! Units of measure, a closed set, and how they are shown.

use std::fmt;

/// What a metric's number is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitOfMeasure {
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// A share. The number is a fraction, 1 for all; it is shown in per cent.
    Percent,
    /// A plain quotient.
    Ratio,
    /// Cycles of the unit's clock.
    Cycles,
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// A number of things.
    Count,
    /// Things a second.
    PerSecond,
    /// Hertz.
    Hertz,
}

impl UnitOfMeasure {
    /// All units of measure.
    pub const ALL: [Self; 10] = [
        Self::Bytes,
        Self::BytesPerSecond,
        Self::Percent,
        Self::Ratio,
        Self::Cycles,
        Self::Nanoseconds,
        Self::Seconds,
        Self::Count,
        Self::PerSecond,
        Self::Hertz,
    ];

    /// The symbol used in the catalogue and in machine-readable output.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::Percent => "%",
            Self::Ratio => "ratio",
            Self::Cycles => "cycles",
            Self::Nanoseconds => "ns",
            Self::Seconds => "s",
            Self::Count => "count",
            Self::PerSecond => "/s",
            Self::Hertz => "Hz",
        }
    }

    /// The unit of measure with this symbol.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.symbol() == symbol)
    }

    /// Whether numbers in this unit add up over parts of a machine, if the unit tells: bytes do, shares do not, and a
    /// number of things may be a
    /// sum or a mean.
    pub const fn adds_up(self) -> Option<bool> {
        match self {
            Self::Bytes | Self::BytesPerSecond => Some(true),
            Self::Percent | Self::Ratio | Self::Cycles | Self::Nanoseconds | Self::Hertz => Some(false),
            Self::Seconds | Self::Count | Self::PerSecond => None,
        }
    }

    /// Why a number cannot be right in this unit, if so: a share is not more than all, and only a plain number is less than nothing.
    ///
    /// ```
    /// # use pericore_metrics::UnitOfMeasure;
    /// assert_eq!(UnitOfMeasure::Percent.objection(1.0), None);
    /// assert_eq!(UnitOfMeasure::Percent.objection(1.5), Some("it cannot be more than 100 %"));
    /// assert_eq!(UnitOfMeasure::Cycles.objection(-3.0), Some("it cannot be less than 0"));
    /// assert_eq!(UnitOfMeasure::Ratio.objection(-3.0), None);
    /// ```
    pub fn objection(self, number: f64) -> Option<&'static str> {
        match self {
            Self::Count | Self::Ratio => None,
            Self::Percent if number > 1.0 => Some("it cannot be more than 100 %"),
            _ if number < 0.0 => Some("it cannot be less than 0"),
            _ => None,
        }
    }

    /// `number` in the unit's symbol, as machine-readable output shows it: only per cent differs from the number itself.
    pub fn in_symbol(self, number: f64) -> f64 {
        if self == Self::Percent { number * 100.0 } else { number }
    }

    /// `number` scaled for people, with the symbol that then fits. Prefixes are decimal: 1 GB is 10^9 bytes.
    ///
    /// ```
    /// use pericore_metrics::UnitOfMeasure;
    /// assert_eq!(UnitOfMeasure::BytesPerSecond.scaled(12.3e9), (12.3, "GB/s"));
    /// assert_eq!(UnitOfMeasure::Percent.scaled(0.25), (25.0, "%"));
    /// ```
    pub fn scaled(self, number: f64) -> (f64, &'static str) {
        const NANO: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];
        let steps: &[(f64, &'static str)] = match self {
            Self::Bytes => &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
            Self::BytesPerSecond => &[(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
            Self::Hertz => &[(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz"), (1.0, "Hz")],
            Self::PerSecond => &[(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")],
            Self::Seconds => &NANO,
            Self::Nanoseconds => {
                // Latencies compare best in one unit; only what is far from nanoseconds is scaled.
                return if number.abs() < 1e6 { (number, "ns") } else { Self::Seconds.scaled(number / 1e9) };
            }
            Self::Percent => return (number * 100.0, "%"),
            Self::Ratio => return (number, ""),
            Self::Cycles => return (number, "cycles"),
            Self::Count => return (number, ""),
        };
        let fits = steps.iter().find(|(step, _)| number.abs() >= *step);
        // Below the smallest step, zero among them, the plain symbol says it best.
        let (step, symbol) = fits.copied().unwrap_or_else(|| (1.0, self.symbol()));
        (number / step, symbol)
    }
}

impl fmt::Display for UnitOfMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

#[cfg(test)]
mod tests {
    use super::UnitOfMeasure;

    #[test]
    fn symbols_are_distinct_and_found_again() {
        for unit in UnitOfMeasure::ALL {
            assert_eq!(UnitOfMeasure::from_symbol(unit.symbol()), Some(unit));
        }
        assert_eq!(UnitOfMeasure::from_symbol("furlongs"), None);
    }

    /// Two sockets move the bytes of both, at the clock of each.
    #[test]
    fn bytes_add_up_and_shares_do_not() {
        let symbols = |adds_up| {
            UnitOfMeasure::ALL
                .into_iter()
                .filter(|unit| unit.adds_up() == adds_up)
                .map(|unit| unit.symbol())
                .collect::<Vec<_>>()
        };
        assert_eq!(symbols(Some(true)), ["B", "B/s"]);
        assert_eq!(symbols(Some(false)), ["%", "ratio", "cycles", "ns", "Hz"]);
    }

    #[test]
    fn only_plain_numbers_are_less_than_nothing_and_only_shares_have_an_end() {
        for unit in UnitOfMeasure::ALL {
            let is_plain = matches!(unit.symbol(), "ratio" | "count");
            assert_eq!(unit.objection(-1e-9).is_none(), is_plain, "{unit}");
            assert_eq!((unit.objection(0.0), unit.objection(1.0)), (None, None), "{unit}");
            assert_eq!(unit.objection(1.1).is_some(), unit.symbol() == "%", "{unit}");
        }
    }

    #[test]
    fn prefixes_are_decimal_and_zero_keeps_the_plain_symbol() {
        assert_eq!(UnitOfMeasure::Bytes.scaled(1024.0), (1.024, "kB"));
        assert_eq!(UnitOfMeasure::Bytes.scaled(0.0), (0.0, "B"));
        assert_eq!(UnitOfMeasure::Seconds.scaled(0.25), (250.0, "ms"));
        assert_eq!(UnitOfMeasure::Nanoseconds.scaled(81_250.0), (81_250.0, "ns"));
        assert_eq!(UnitOfMeasure::BytesPerSecond.scaled(-2e6), (-2.0, "MB/s"));
    }

    /// The symbols stand in the catalogue and in machine-readable output: by hand from `catalog/README.md`'s list.
    #[test]
    fn the_symbols_are_those_that_are_written() {
        let symbols = UnitOfMeasure::ALL.map(|unit| unit.to_string());
        assert_eq!(symbols, ["B", "B/s", "%", "ratio", "cycles", "ns", "s", "count", "/s", "Hz"]);
        assert_eq!(UnitOfMeasure::Percent.in_symbol(0.125), 12.5);
        assert_eq!(UnitOfMeasure::Ratio.in_symbol(0.125), 0.125);
        assert_eq!(UnitOfMeasure::Bytes.in_symbol(64.0), 64.0);
    }

    /// Each prefix from its first number on, and the one below just before it.
    #[test]
    fn every_prefix_starts_at_its_power_of_ten() {
        use UnitOfMeasure as U;
        let ladders: [(U, &[&str]); 4] = [
            (U::Bytes, &["B", "kB", "MB", "GB", "TB"]),
            (U::BytesPerSecond, &["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]),
            (U::Hertz, &["Hz", "kHz", "MHz", "GHz"]),
            (U::PerSecond, &["/s", "k/s", "M/s", "G/s"]),
        ];
        for (unit, symbols) in ladders {
            for (power, symbol) in symbols.iter().enumerate() {
                let step = [1.0, 1e3, 1e6, 1e9, 1e12][power];
                assert_eq!(unit.scaled(step), (1.0, *symbol));
                assert_eq!(unit.scaled(-2.5 * step), (-2.5, *symbol));
                assert_eq!(unit.scaled(999.0 * step).1, *symbol, "{unit}");
            }
            assert_eq!(unit.scaled(0.25), (0.25, symbols[0]));
            let most = 10f64.powi(3 * (symbols.len() as i32 - 1));
            assert_eq!(unit.scaled(5000.0 * most), (5000.0, symbols[symbols.len() - 1]));
        }
        for (number, shown) in [(90.0, (90.0, "s")), (1.0, (1.0, "s")), (0.0, (0.0, "s")), (4e-12, (4e-12, "s"))] {
            assert_eq!(U::Seconds.scaled(number), shown);
        }
        for (number, symbol) in
            [(0.999, "ms"), (1e-3, "ms"), (0.5e-3, "us"), (1e-6, "us"), (0.5e-6, "ns"), (1e-9, "ns")]
        {
            assert_eq!(U::Seconds.scaled(number).1, symbol, "{number}");
        }
        let (number, symbol) = U::Seconds.scaled(20e-6);
        assert!((number - 20.0).abs() < 1e-9 && symbol == "us", "{number} {symbol}");
        assert_eq!(U::Nanoseconds.scaled(999_999.0), (999_999.0, "ns"));
        assert_eq!(U::Nanoseconds.scaled(1e6), (1.0, "ms"));
        assert_eq!(U::Nanoseconds.scaled(-2e6), (-2.0, "ms"));
        assert_eq!(U::Nanoseconds.scaled(3e9), (3.0, "s"));
        let plain = [U::Ratio, U::Cycles, U::Count].map(|unit| unit.scaled(12_345.0));
        assert_eq!(plain, [(12_345.0, ""), (12_345.0, "cycles"), (12_345.0, "")]);
        assert_eq!(U::Percent.scaled(0.5), (50.0, "%"));
    }
}
