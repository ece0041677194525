//! The host's monotonic clock as a plain number, which other processes can compare with.

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn monotonic() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is valid for writes. This clock cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
