//! Archives that the kernel unpacks into its first root file system: the `newc` format of cpio.

/// An archive being written.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    inode: u32,
}

/// Mode bits of a directory and of a regular file.
const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;

impl Archive {
    /// Adds a directory; its parents must have been added.
    pub fn directory(&mut self, path: &str) {
        self.entry(path, DIRECTORY | 0o755, &[]);
    }

    /// Adds a file.
    pub fn file(&mut self, path: &str, permissions: u32, content: &[u8]) {
        self.entry(path, FILE | permissions, content);
    }

    /// The finished archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.inode += 1;
        let path = path.trim_start_matches('/');
        // Magic; inode, mode, owner, group, links, time, size, device and special device as two numbers each, name size, checksum.
        let size = content.len() as u32;
        let fields = [self.inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, path.len() as u32 + 1, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend(format!("{field:08X}").bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::Archive;

    #[test]
    fn names_and_contents_start_at_multiples_of_four() {
        let mut archive = Archive::default();
        archive.directory("/run");
        archive.file("/run/a", 0o755, b"xyz");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("07070100000001000041ED"), "{text}");
        // 110 bytes of header, "run" and padding; then the header of "run/a": mode 100755, size 3, name size 6.
        let second = &text[116..];
        assert_eq!(&second[..22], "07070100000002000081ED");
        assert_eq!((&second[54..62], &second[94..102]), ("00000003", "00000006"));
        assert_eq!(&second[110..120], "run/a\0xyz\0");
        assert!(text.contains("TRAILER!!!"));
    }
}
