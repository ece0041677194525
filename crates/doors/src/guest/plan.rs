//! What a machine asks of QEMU.

use std::sync::{Mutex, PoisonError};

use pericore_machine::chassis::Shape;

use super::error::GuestError;
use super::hardware::Hardware;
use super::proxy::config::{MOST_WINDOWS, Window};
use super::qemu;

/// What a machine asks of QEMU; nothing, without one.
#[derive(Debug, Default)]
pub struct Plan {
    /// The machine's shape.
    pub shape: Option<Shape>,
    /// Memory windows.
    pub windows: Vec<Window>,
    /// Buses with functions.
    pub buses: Vec<u8>,
    /// CPUs to bring up besides CPU 0.
    pub further_cpus: Vec<u32>,
}

impl Plan {
    /// Asks the machine.
    ///
    /// # Errors
    /// [`GuestError::Windows`] if its memory windows are too many.
    pub fn new(hardware: &Mutex<Hardware>) -> Result<Self, GuestError> {
        let hardware = hardware.lock().unwrap_or_else(PoisonError::into_inner);
        let windows = Window::covering(hardware.windows());
        if windows.len() > MOST_WINDOWS {
            return Err(GuestError::Windows(windows.len()));
        }
        let shape = hardware.shape().clone();
        let further_cpus = qemu::further_cpus(&shape);
        Ok(Self { shape: Some(shape), windows, buses: hardware.buses(), further_cpus })
    }
}
