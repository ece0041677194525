//! The guest's time.
//!
//! The rule that ties both clocks: **a second of the guest is a second of the machine.** QEMU's virtual clock, from which the guest
//! has its TSC and every other time source, runs with the host's clock while vCPUs run and stands still while the gdb stub holds
//! them. At each stop the HPET's main counter tells it to 10 ns, so MSRs and configuration space are accessed at exactly the
//! guest's time. A memory access comes while the guest runs: its time is that of the last stop and what has passed on the host's
//! clock since the guest was resumed. Time never goes back; what the guess was ahead, the next stops take in.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The guest's time, for whoever asks while it runs or stands.
#[derive(Debug, Default)]
pub struct GuestClock {
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    before: Duration,
    running_since: Option<Instant>,
}

impl GuestClock {
    /// The guest starts to run.
    pub fn run(&self) {
        self.change(|state| {
            state.running_since.get_or_insert_with(Instant::now);
        });
    }

    /// The guest stands still, at a time of its own clock.
    pub fn stop_at(&self, guest: Duration) {
        self.change(|state| *state = State { before: state.before.max(guest), running_since: None });
    }

    /// The guest's time now.
    pub fn now(&self) -> Duration {
        let mut now = Duration::ZERO;
        self.change(|state| now = state.before + state.running_since.map_or(Duration::ZERO, |since| since.elapsed()));
        now
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        // Plain values: a panic while they are held leaves them whole.
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_guest_does_not_age_and_time_does_not_go_back() {
        let clock = GuestClock::default();
        let second = Duration::from_secs(1);
        clock.stop_at(second);
        assert_eq!(clock.now(), second);
        clock.run();
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.now() >= second + Duration::from_millis(2));
        clock.stop_at(second / 2);
        assert_eq!(clock.now(), second);
    }
}
