//! The last samples as a line of bars.

use pericore_report::NO_NUMBER;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const SIGNS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// The last `width` samples, the newest at the right; the tallest bar is the greatest of them, the lowest is 0 or less,
/// and one without a number has its mark.
pub fn line<'a>(samples: impl ExactSizeIterator<Item = &'a Option<f64>>, width: usize, unicode: bool) -> String {
    let bars = if unicode { BLOCKS } else { SIGNS };
    let before = samples.len().saturating_sub(width);
    let samples: Vec<Option<f64>> = samples.skip(before).copied().collect();
    let greatest = samples.iter().flatten().copied().fold(0.0, f64::max);
    let bar = |sample: &Option<f64>| match sample {
        None => NO_NUMBER,
        Some(number) if *number <= 0.0 => bars[0],
        // From 1, for a number that is not 0 stands above one that is, to 7.
        Some(number) => bars[((number / greatest * 7.0).ceil() as usize).clamp(1, 7)],
    };
    let line: String = samples.iter().map(bar).collect();
    format!("{line:>width$}")
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn bars_stand_on_nothing_and_the_newest_is_at_the_right() {
        let samples = [Some(0.0), Some(0.1), Some(35.0), Some(70.0), None, Some(-1.0)];
        assert_eq!(line(samples.iter(), 8, true), "  ▁▂▅█!▁");
        assert_eq!(line(samples.iter(), 8, false), "  _.=#!_");
        assert_eq!(line(samples.iter(), 3, true), "█!▁");
        assert_eq!(line([Some(0.0), Some(0.0)].iter(), 2, true), "▁▁");
        assert_eq!(line([].iter(), 2, true), "  ");
    }
}
