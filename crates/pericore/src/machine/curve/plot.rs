//! A plot of points, as lines of text.

/// Lines of the plot's field.
const HEIGHT: usize = 16;
/// Columns left of it: a number and the axis.
const MARGIN: usize = 8;

/// The lines of a plot of `points`, which are not negative, with the units of both axes; both begin at 0. `width`
/// columns in all.
pub fn rows(points: &[(f64, f64)], (across, up): (&str, &str), width: usize) -> Vec<String> {
    let columns = width.saturating_sub(MARGIN + 1).max(10);
    let most = |of: fn(&(f64, f64)) -> f64| round_up(points.iter().map(of).fold(0.0, f64::max));
    let (widest, highest) = (most(|point| point.0), most(|point| point.1));
    let mut field = vec![vec![' '; columns]; HEIGHT];
    for &(x, y) in points {
        let place = |value: f64, most: f64, cells: usize| ((value / most * cells as f64) as usize).min(cells - 1);
        field[HEIGHT - 1 - place(y, highest, HEIGHT)][place(x, widest, columns)] = '*';
    }
    let mut rows = vec![format!("{up:>6}")];
    for (index, cells) in field.iter().enumerate() {
        // The number is that of the line's upper edge.
        let value = highest * (HEIGHT - index) as f64 / HEIGHT as f64;
        let number = if index % 4 == 0 { format!("{value:.0}") } else { String::new() };
        let cells: String = cells.iter().collect();
        rows.push(format!("{number:>6} |{}", cells.trim_end()));
    }
    rows.push(format!("{:>6} +{}", 0, "-".repeat(columns)));
    let (middle, end) = (format!("{:.0}", widest / 2.0), format!("{widest:.0} {across}"));
    let half = columns / 2;
    rows.push(format!("{:>MARGIN$}{middle:>half$}{end:>1$}", "", columns - half));
    rows
}

/// The next of 1, 1.5, 2, 3, 4, 5, 8 and their products with powers of ten.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0];
    steps.iter().map(|step| step * power).find(|&step| step >= value).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn points_lie_at_their_values_on_the_axes() {
        let rows = rows(&[(0.0, 100.0), (100.0, 400.0), (50.0, 101.0)], ("GB/s", "ns"), 49);
        assert_eq!(rows.len(), 19);
        // 40 columns for 0 to 100, 16 lines for 0 to 400: 25 a line.
        assert_eq!(rows[1], format!("   400 |{:39}*", ""));
        assert_eq!(rows[12], format!("       |*{:19}*", ""));
        assert_eq!(rows[13], "   100 |");
        assert_eq!(rows[17], format!("     0 +{}", "-".repeat(40)));
        assert_eq!(rows[18], format!("{:8}{:>20}{:>20}", "", "50", "100 GB/s"));
        assert!(rows.iter().all(|row| row.len() <= 49));
    }

    #[test]
    fn nothing_is_no_panic() {
        assert_eq!(rows(&[], ("x", "y"), 5).len(), 19);
    }
}
