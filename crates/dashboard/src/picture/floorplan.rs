//! Where the instances of a unit are on the die.

/// Rows of the die that have instances of a unit; empty names are other parts.
pub struct Floorplan<'s> {
    rows: Vec<Vec<&'s str>>,
}

impl<'s> Floorplan<'s> {
    /// Of a plan as the catalogue has it, if it has all of these instances.
    pub fn of(plan: &[&'s str], instances: &[&str]) -> Option<Self> {
        let is_ours = |name: &&str| instances.contains(name);
        let row = |row: &&'s str| row.split(' ').map(|name| if is_ours(&name) { name } else { "" }).collect::<Vec<_>>();
        let rows: Vec<Vec<&str>> = plan.iter().map(row).filter(|row| row.iter().any(|name| !name.is_empty())).collect();
        let is_placed = |name: &&str| rows.iter().any(|row| row.contains(name));
        (!instances.is_empty() && instances.iter().all(is_placed)).then_some(Self { rows })
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        (self.rows.iter().map(Vec::len).max().unwrap_or(0), self.rows.len())
    }

    /// The instance at a place, if there is one.
    pub fn at(&self, column: usize, row: usize) -> Option<&'s str> {
        self.rows.get(row)?.get(column).copied().filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::Floorplan;

    const DIE: [&str; 3] = ["io0 io1 io2", "cha0 . cha1", "mem0 cha2 mem1"];

    #[test]
    fn rows_without_instances_are_left_out() {
        let plan = Floorplan::of(&DIE, &["cha0", "cha1", "cha2"]).unwrap();
        assert_eq!(plan.size(), (3, 2));
        let names = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (3, 1), (0, 2)].map(|(column, row)| plan.at(column, row));
        assert_eq!(names, [Some("cha0"), None, Some("cha1"), None, Some("cha2"), None, None]);
    }

    #[test]
    fn a_plan_that_lacks_an_instance_is_none() {
        assert!(Floorplan::of(&DIE, &["cha0", "cha3"]).is_none() && Floorplan::of(&[], &["cha0"]).is_none());
        assert!(Floorplan::of(&DIE, &[]).is_none());
    }
}
