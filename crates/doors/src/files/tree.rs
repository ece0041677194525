//! A fixed tree of files, by absolute path and by number.

use std::collections::BTreeMap;

use pericore_registers::Bdf;

/// What is behind a name.
#[derive(Debug)]
pub enum Content {
    /// Names and node numbers.
    Folder(BTreeMap<String, u64>),
    /// The MSRs of a CPU of the machine.
    Msr {
        /// The machine's number.
        cpu: u32,
    },
    /// The CPUID leaves of a CPU of the machine.
    Cpuid {
        /// The machine's number.
        cpu: u32,
    },
    /// Configuration space of a PCI function.
    Config {
        /// The function.
        bdf: Bdf,
        /// Its size.
        bytes: u16,
    },
    /// Physical memory: registers, nothing else.
    Memory {
        /// False if nobody may open it.
        is_open: bool,
    },
    /// Constant bytes.
    Text(Vec<u8>),
    /// Constant bytes that programs map.
    Mapped(&'static [u8]),
}

/// A file or folder.
#[derive(Debug)]
pub struct Node {
    /// Number of the folder that it is in; the root is its own.
    pub parent: u64,
    /// Permission bits.
    pub mode: u16,
    /// What is in it.
    pub content: Content,
}

impl Node {
    /// Size as `stat` shows it. Register files other than configuration space have none.
    pub fn size(&self) -> u64 {
        match &self.content {
            Content::Config { bytes, .. } => u64::from(*bytes),
            Content::Text(bytes) => bytes.len() as u64,
            Content::Mapped(bytes) => bytes.len() as u64,
            Content::Folder(_) | Content::Msr { .. } | Content::Cpuid { .. } | Content::Memory { .. } => 0,
        }
    }
}

/// All files. Numbers count from 1, the root's.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node { parent: 1, mode: 0o755, content: Content::Folder(BTreeMap::new()) }] }
    }
}

impl Tree {
    /// Adds a file at an absolute path, with the folders that lead to it.
    pub fn add(&mut self, path: &str, mode: u16, content: Content) {
        let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
        let mut folder = 1;
        let mut content = Some(content);
        while let Some(name) = names.next() {
            if let Some(existing) = self.child(folder, name) {
                folder = existing;
                continue;
            }
            let (mode, content) = match (names.peek(), content.take()) {
                (None, Some(file)) => (mode, file),
                (_, kept) => {
                    content = kept;
                    (0o755, Content::Folder(BTreeMap::new()))
                }
            };
            self.nodes.push(Node { parent: folder, mode, content });
            let number = self.nodes.len() as u64;
            if let Content::Folder(names) = &mut self.nodes[folder as usize - 1].content {
                names.insert(name.to_owned(), number);
            }
            folder = number;
        }
    }

    /// A file by number.
    pub fn node(&self, number: u64) -> Option<&Node> {
        self.nodes.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// A file of a folder by name.
    pub fn child(&self, folder: u64, name: &str) -> Option<u64> {
        match &self.node(folder)?.content {
            Content::Folder(names) => names.get(name).copied(),
            _ => None,
        }
    }

    /// A file by absolute path.
    pub fn find(&self, path: &str) -> Option<&Node> {
        let names = path.split('/').filter(|name| !name.is_empty());
        self.node(names.into_iter().try_fold(1, |folder, name| self.child(folder, name))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_with_the_first_file_and_are_shared() {
        let mut tree = Tree::default();
        tree.add("/dev/cpu/0/msr", 0o600, Content::Msr { cpu: 0 });
        tree.add("/dev/cpu/1/msr", 0o600, Content::Msr { cpu: 7 });
        assert!(matches!(tree.find("/dev/cpu/1/msr").map(|node| &node.content), Some(Content::Msr { cpu: 7 })));
        assert!(tree.find("/dev/cpu/2/msr").is_none());
        let Some(Node { content: Content::Folder(names), .. }) = tree.find("/dev/cpu") else { panic!("a folder") };
        assert_eq!(names.keys().collect::<Vec<_>>(), ["0", "1"]);
    }
}
