//! Files of parts: any of them is a part of which a machine can be made, or an error.

use pericore_machine::{MachineSpec, add_part};

/// Any bytes.
pub fn run(data: &[u8]) {
    match add_part(crate::text(data)) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(name) => {
            let spec = MachineSpec::parse(name).expect("a machine of that name");
            let (parameters, shape) = (spec.parameters().expect("a model"), spec.shape().expect("a shape"));
            assert!(shape.cores <= parameters.cores() && parameters.clocks().is_ok());
        }
    }
}
