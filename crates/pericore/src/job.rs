//! Stopping as the jobs of a shell stop: by SIGTSTP, which does nothing where no shell could have them go on again.

/// Stops this process, all its threads, until it goes on.
pub fn stop() {
    with_disposition(libc::SIG_DFL, || {
        // SAFETY: no memory is involved.
        unsafe { libc::raise(libc::SIGTSTP) };
    });
}

/// Stops the others of the process group, so that the shell notices. Of our own threads any might take a signal to the group, and the
/// others would go on meanwhile: so it is for the others alone.
pub fn stop_others() {
    with_disposition(libc::SIG_IGN, || {
        // SAFETY: no memory is involved.
        unsafe { libc::kill(0, libc::SIGTSTP) };
    });
}

/// Sends while this is to be done about a stop, and no handler of ours; afterwards that is in its place again.
fn with_disposition(disposition: libc::sighandler_t, send: impl FnOnce()) {
    // SAFETY: structures of numbers; neither what is ignored nor what is the system's runs code of ours, and what was there before was right.
    unsafe {
        let (mut other, mut before): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        other.sa_sigaction = disposition;
        libc::sigaction(libc::SIGTSTP, &raw const other, &raw mut before);
        send();
        libc::sigaction(libc::SIGTSTP, &raw const before, std::ptr::null_mut());
    }
}
