//! The names that rows refer to.

use std::collections::HashMap;

/// Names by index. The first use of a name gives it its index.
#[derive(Default)]
pub struct Names {
    /// In the order of their indices.
    pub all: Vec<String>,
    known: HashMap<String, u32>,
}

impl Names {
    /// The index of a name.
    pub fn index(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.known.get(name) {
            return index;
        }
        let index = self.all.len() as u32;
        self.all.push(name.to_owned());
        self.known.insert(name.to_owned(), index);
        index
    }
}
