//! How numbers are written so that they do not move: a row keeps its symbol and its decimals as long as nothing greater
//! comes.

use pericore_metrics::UnitOfMeasure;

/// The symbol and the decimals of a row's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    factor: f64,
    /// What the numbers are of.
    pub symbol: &'static str,
    decimals: usize,
}

impl Scale {
    /// For numbers of which none is further from 0 than `greatest`.
    pub fn of(unit: UnitOfMeasure, greatest: f64) -> Self {
        let (scaled, symbol) = unit.scaled(greatest);
        let factor = if greatest == 0.0 { unit.in_symbol(1.0) } else { scaled / greatest };
        // Five digits or so tell what there is to tell.
        let decimals = match scaled.abs() {
            ..1e3 => 3,
            1e3..1e4 => 2,
            1e4..1e5 => 1,
            _ => 0,
        };
        Self { factor, symbol, decimals }
    }

    /// A number beside an axis, in few digits.
    pub fn short(&self, number: f64) -> String {
        pericore_report::summary::digits(number * self.factor)
    }

    /// A number. What is too small for the decimals is not shown as a 0 that it is not.
    pub fn text(&self, number: f64) -> String {
        const HUGE: f64 = 1e9;
        let scaled = number * self.factor;
        if scaled.abs() >= HUGE {
            return format!("{scaled:.3e}");
        }
        let decimals = self.decimals;
        let text = format!("{scaled:.decimals$}");
        if text.contains(|digit| ('1'..='9').contains(&digit)) {
            return text;
        }
        let least = || format!("{:.decimals$}", 0.1_f64.powi(i32::try_from(decimals).unwrap_or(0)));
        match scaled {
            ..0.0 => format!(">-{}", least()),
            0.0 => format!("{:.decimals$}", 0.0),
            _ => format!("<{}", least()),
        }
    }
}

/// A time in few digits: `26 s`, `10 us`.
pub fn span(seconds: f64) -> String {
    let (scaled, symbol) = UnitOfMeasure::Seconds.scaled(seconds);
    // What is not whole only by the way it is computed.
    let is_whole = scaled >= 10.0 || (scaled - scaled.round()).abs() < 1e-6;
    if is_whole { format!("{scaled:.0} {symbol}") } else { format!("{scaled:.1} {symbol}") }
}

/// What stands in a number's place where there is none.
pub const NOTHING: &str = "-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_row_share_symbol_and_decimals() {
        let scale = Scale::of(UnitOfMeasure::BytesPerSecond, 12.3456e9);
        assert_eq!(scale.symbol, "GB/s");
        assert_eq!(
            [12.3456e9, 450e6, 0.0, -2e9].map(|number| scale.text(number)),
            ["12.346", "0.450", "0.000", "-2.000"]
        );
        assert_eq!(Scale::of(UnitOfMeasure::Percent, 0.5).text(0.25), "25.000");
        assert_eq!(Scale::of(UnitOfMeasure::Percent, 0.0).text(0.25), "25.000");
        assert_eq!(Scale::of(UnitOfMeasure::PerSecond, 0.0).text(0.0), "0.000");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(
            [1.0, 0.5, 26.0, 1e-5, 3.4e-4, 2.5].map(span),
            ["1 s", "500 ms", "26 s", "10 us", "340 us", "2.5 s"]
        );
    }

    #[test]
    fn what_is_not_nothing_is_not_shown_as_nothing() {
        let scale = Scale::of(UnitOfMeasure::BytesPerSecond, 12e9);
        assert_eq!([3e5, 5e5, -3e5, -0.0].map(|number| scale.text(number)), ["<0.001", "0.001", ">-0.001", "0.000"]);
        assert_eq!(Scale::of(UnitOfMeasure::Count, 123_456.0).text(0.25), "<1");
    }

    #[test]
    fn wide_numbers_stay_narrow() {
        let texts = |number: f64| Scale::of(UnitOfMeasure::Count, number).text(number);
        assert_eq!([999.5, 1234.5, 12_345.6, 123_456_789.4].map(texts), ["999.500", "1234.50", "12345.6", "123456789"]);
        assert_eq!(texts(1.8e19), "1.800e19");
        assert_eq!(texts(-1.8e19), "-1.800e19");
    }
}
