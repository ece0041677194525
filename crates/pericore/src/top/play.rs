//! A recording instead of a measurement: its samples are shown one after the other.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use pericore_dashboard::TimeOfDay;
use pericore_recordings::{TimeSpan, is_object};
use pericore_report::fewer::Fewer;

use super::watch::Watch;
use crate::failure::Failure;
use crate::measure::{Ender, Interrupt, MeasureArgs, Wakeup};
use crate::report::recording::Recording;

/// Bytes that recordings begin with, in their two forms.
const BEGINNINGS: [&[u8]; 2] = [b"{\"pericore-recording\"", b"PAR1"];

/// A sample is shown for so many seconds at least, unless the user says otherwise: those of virtual time are shorter
/// than can be seen.
const LEAST_TIME: f64 = 0.1;

/// True if the file begins as a recording does.
pub fn is_recording(path: &Path) -> bool {
    // No program has such a name: whether it is a recording, its first line tells.
    if is_object(path) {
        return true;
    }
    let mut begin = Vec::new();
    // A pipe or a device would block, or lose what is read.
    let is_file = std::fs::metadata(path).is_ok_and(|known| known.is_file());
    let read = is_file.then(|| File::open(path).and_then(|file| file.take(64).read_to_end(&mut begin)));
    matches!(read, Some(Ok(_))) && BEGINNINGS.iter().any(|known| begin.starts_with(known))
}

/// Shows the samples of a recording: each for as long as it took, or for so many milliseconds; as text without a pause.
/// On a terminal the last one stays until the user ends it.
///
/// # Errors
/// A file that is no recording, or has not what is asked for; a display that fails.
pub fn run(args: &MeasureArgs, path: &Path, shown_for: Option<f64>, mut watch: Watch) -> Result<ExitCode, Failure> {
    if let Some(option) = args.only_for_measurements() {
        return Err(Failure::usage(format!("{option} is for measurements, and {} is a recording", path.display())));
    }
    let mut recording = Recording::open(path, &args.wanted, TimeSpan { from: None, to: None })?;
    let first = recording.next()?;
    let interrupt = Interrupt::watch()?;
    let mut wakeup = Wakeup::new()?;
    let ender = wakeup.ender().clone();
    let is_over = |ender: &Ender| ender.is_requested() || interrupt.signal().is_some();
    let about = recording.about();
    let (title, started) = (about.title.clone(), about.started.clone());
    let seconds = first.as_ref().map_or(0.0, |interval| interval.sample.seconds);
    {
        let layout = recording.layout();
        watch.start(title, layout.looked_at.len(), &Fewer::of(&layout), &ender)?;
    }
    watch.set_interval(seconds);
    let is_on_screen = watch.is_on_screen();
    let mut next = first;
    while let Some(interval) = next.take().filter(|_| !is_over(&ender)) {
        let at = TimeOfDay::after(started.as_deref(), interval.end.unwrap_or_default());
        watch.show(&recording.layout(), &interval.sample, interval.end, at)?;
        next = recording.next()?;
        if is_on_screen && next.is_some() {
            let time = shown_for.map_or_else(|| interval.sample.seconds.max(LEAST_TIME), |time| time / 1e3);
            sleep(&mut wakeup, time, &|| is_over(&ender))?;
        }
    }
    while is_on_screen && !is_over(&ender) {
        wakeup.sleep(None)?;
    }
    watch.end()?;
    if !is_over(&ender) {
        recording.finish()?;
    }
    Ok(interrupt.exit(ExitCode::SUCCESS))
}

/// Waits, unless the end comes first.
fn sleep(wakeup: &mut Wakeup, seconds: f64, is_over: &dyn Fn() -> bool) -> Result<(), Failure> {
    let began = std::time::Instant::now();
    while !is_over() {
        let left = seconds - began.elapsed().as_secs_f64();
        if left <= 0.0 {
            break;
        }
        wakeup.sleep(Some(left))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample stays on the screen for its time, however often something wakes the sleeper; and for none at the end.
    #[test]
    fn a_sample_is_shown_for_its_time() {
        let mut wakeup = Wakeup::new().unwrap();
        let began = std::time::Instant::now();
        sleep(&mut wakeup, 0.03, &|| false).unwrap();
        assert!(began.elapsed().as_secs_f64() >= 0.03);
        sleep(&mut wakeup, 1e9, &|| true).unwrap();
    }
}
