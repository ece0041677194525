//! Lists of CPUs, as sysfs writes them.

/// More CPUs than Linux supports: a list that says so is no list.
const MOST: u32 = 1 << 16;

/// Reads `0-3,8,10-11`.
pub(crate) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MOST {
            return None;
        }
        numbers.extend(first..=last);
        if numbers.len() > MOST as usize {
            return None;
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::cpu_list;

    /// As `/sys/devices/system/cpu/online` has them.
    #[test]
    fn lists_have_ranges_and_an_end() {
        assert_eq!(cpu_list("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(cpu_list("65535").map(|cpus| cpus.len()), Some(1));
        assert_eq!(cpu_list("0-65535").map(|cpus| cpus.len()), Some(65536), "as many as Linux can have");
        for text in ["", "3-1", "0-", "65536", "0-65536", "a", "0-65534,0-9,0", "0-65535,0"] {
            assert_eq!(cpu_list(text), None, "{text}");
        }
    }
}
