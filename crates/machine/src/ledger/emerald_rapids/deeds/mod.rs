//! What can happen in a unit, by the name of the subevent that counts it: the vocabulary that model and ledger share.
//!
//! A name is `unit/EVENT.SUBEVENT`. Behind a `+` stand further subevents of the same event that the same happening is part of:
//! the signal then carries the bits of all of them. Of levels, behind `|` stand further ones that hold at the same time, behind `!` the
//! one that holds while there is no room left, behind `?` the one that holds while there is anything.

mod home;
mod outside;

/// Index into [`DEEDS`].
pub type Deed = u16;
/// Index into [`LEVELS`].
pub type LevelId = u16;

/// The index of a deed; found when the program is compiled.
pub const fn deed(name: &str) -> Deed {
    find(DEEDS, name)
}

/// The index of a level; found when the program is compiled.
pub const fn level(name: &str) -> LevelId {
    find(LEVELS, name)
}

const fn find(table: &[&str], name: &str) -> u16 {
    let mut index = 0;
    while index < table.len() {
        if starts_as(table[index].as_bytes(), name.as_bytes()) {
            return index as u16;
        }
        index += 1;
    }
    panic!("no such name")
}

/// True if an entry's first name is `name`.
const fn starts_as(entry: &[u8], name: &[u8]) -> bool {
    if entry.len() < name.len() {
        return false;
    }
    let mut index = 0;
    while index < name.len() {
        if entry[index] != name[index] {
            return false;
        }
        index += 1;
    }
    entry.len() == name.len() || matches!(entry[index], b'+' | b'|' | b'!' | b'?')
}

/// Everything that happens at once.
pub const DEEDS: &[&str] = &joined::<{ home::DEEDS.len() + outside::DEEDS.len() }>(home::DEEDS, outside::DEEDS);
/// Everything that lasts.
pub const LEVELS: &[&str] = &joined::<{ home::LEVELS.len() + outside::LEVELS.len() }>(home::LEVELS, outside::LEVELS);

const fn joined<const N: usize>(first: &[&'static str], second: &[&'static str]) -> [&'static str; N] {
    let mut all = [""; N];
    let mut index = 0;
    while index < N {
        all[index] = if index < first.len() { first[index] } else { second[index - first.len()] };
        index += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{DEEDS, deed, level};

    #[test]
    fn names_are_found_by_their_first_part() {
        assert_eq!(deed("cha/REQUESTS.READS_LOCAL"), 0);
        assert_eq!(DEEDS[usize::from(deed("cha/XPT_PREF.DROP0"))], "cha/XPT_PREF.DROP0+DROP0_NOCRD");
        assert_eq!(level("cha/RxC_INSERTS.IPQ"), 1);
    }
}
