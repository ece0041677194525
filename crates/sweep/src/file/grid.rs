//! A grid as the file has it: machines x workloads x parameters, and what is counted in each.

/// A value with the place in the file's text where it begins.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    pub at: usize,
    pub value: T,
}

/// A parameter of machine or workload, with its values.
#[derive(Debug, Clone)]
pub struct Axis {
    pub name: String,
    pub values: Vec<Placed<String>>,
}

/// What is counted, and for how long.
#[derive(Debug, Clone, Default)]
pub struct Counting {
    pub events: Vec<Placed<String>>,
    pub metrics: Vec<Placed<String>>,
    pub interval: Option<Placed<f64>>,
    pub timeout: Option<Placed<f64>>,
    pub rotate: Option<Placed<f64>>,
    pub truth: bool,
    pub cold: bool,
}

/// All combinations of these.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    pub at: usize,
    pub machines: Vec<Placed<String>>,
    pub workloads: Vec<Placed<String>>,
    pub machine: Vec<Axis>,
    pub workload: Vec<Axis>,
    pub counting: Counting,
}

impl Grid {
    /// Number of combinations.
    pub fn size(&self) -> u64 {
        let axes = self.machine.iter().chain(&self.workload).map(|axis| axis.values.len());
        let sizes = axes.chain([self.machines.len(), self.workloads.len()]);
        sizes.fold(1, |product, size| product.saturating_mul(size as u64))
    }
}

/// One combination.
#[derive(Debug, Clone)]
pub struct Choice<'g> {
    pub machine: &'g Placed<String>,
    pub workload: &'g Placed<String>,
    /// Parameters of the machine with their values.
    pub of_machine: Vec<(&'g str, &'g Placed<String>)>,
    /// The same of the workload.
    pub of_workload: Vec<(&'g str, &'g Placed<String>)>,
}

impl Grid {
    /// All combinations; the last parameter changes fastest.
    pub fn choices(&self) -> impl Iterator<Item = Choice<'_>> {
        (0..self.size()).map(|number| {
            let mut rest = number;
            let mut digit = |size: usize| {
                let digit = rest % size as u64;
                rest /= size as u64;
                digit as usize
            };
            let mut pick = |axes: &'_ [Axis]| -> Vec<usize> {
                let mut picked: Vec<usize> = axes.iter().rev().map(|axis| digit(axis.values.len())).collect();
                picked.reverse();
                picked
            };
            let (of_workload, of_machine) = (pick(&self.workload), pick(&self.machine));
            let workload = digit(self.workloads.len());
            let machine = digit(self.machines.len());
            Choice {
                machine: &self.machines[machine],
                workload: &self.workloads[workload],
                of_machine: chosen(&self.machine, &of_machine),
                of_workload: chosen(&self.workload, &of_workload),
            }
        })
    }
}

fn chosen<'g>(axes: &'g [Axis], picked: &[usize]) -> Vec<(&'g str, &'g Placed<String>)> {
    axes.iter().zip(picked).map(|(axis, &index)| (&*axis.name, &axis.values[index])).collect()
}
