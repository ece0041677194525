//! A grid as the file has it: machines x workloads x parameters, and what is counted in each.

/// A value with the place in the file's text where it begins.
#[derive(Debug, Clone)]
pub struct InText<T> {
    pub at: usize,
    pub value: T,
}

/// A parameter of machine or workload, with its values.
#[derive(Debug, Clone)]
pub struct Axis {
    pub name: String,
    pub values: Vec<InText<String>>,
}

/// What is counted, and for how long.
#[derive(Debug, Clone, Default)]
pub struct GridCounting {
    pub events: Vec<InText<String>>,
    pub metrics: Vec<InText<String>>,
    pub interval: Option<InText<f64>>,
    pub timeout: Option<InText<f64>>,
    pub rotate: Option<InText<f64>>,
    pub truth: bool,
    pub cold: bool,
}

/// All combinations of these.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    pub at: usize,
    pub machines: Vec<InText<String>>,
    pub workloads: Vec<InText<String>>,
    pub machine: Vec<Axis>,
    pub workload: Vec<Axis>,
    pub counting: GridCounting,
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
pub struct Combination<'g> {
    pub machine: &'g InText<String>,
    pub workload: &'g InText<String>,
    /// Parameters of the machine with their values.
    pub of_machine: Vec<(&'g str, &'g InText<String>)>,
    /// The same of the workload.
    pub of_workload: Vec<(&'g str, &'g InText<String>)>,
}

impl Grid {
    /// All combinations; the last parameter changes fastest.
    pub fn choices(&self) -> impl Iterator<Item = Combination<'_>> {
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
            Combination {
                machine: &self.machines[machine],
                workload: &self.workloads[workload],
                of_machine: chosen(&self.machine, &of_machine),
                of_workload: chosen(&self.workload, &of_workload),
            }
        })
    }
}

fn chosen<'g>(axes: &'g [Axis], picked: &[usize]) -> Vec<(&'g str, &'g InText<String>)> {
    axes.iter().zip(picked).map(|(axis, &index)| (&*axis.name, &axis.values[index])).collect()
}
