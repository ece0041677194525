//! What can happen in a unit, by the name of the subevent that counts it: the vocabulary that model and ledger share.
//!
//! A name is `unit/EVENT.SUBEVENT`. Behind a `+` stand further subevents of the same event that the same happening is part of:
//! the signal then carries the bits of all of them. Of levels, behind `|` stand further ones that hold at the same time, behind `!` the
//! one that holds while there is no room left, behind `?` the one that holds while there is anything; a row that begins with `?` has no
//! others than these.

mod devices;
mod home;
mod links;
mod platform;

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
    let start = if !entry.is_empty() && entry[0] == b'?' { 1 } else { 0 };
    if entry.len() < start + name.len() {
        return false;
    }
    let mut index = 0;
    while index < name.len() {
        if entry[start + index] != name[index] {
            return false;
        }
        index += 1;
    }
    entry.len() == start + index || matches!(entry[start + index], b'+' | b'|' | b'!' | b'?')
}

/// The unit of a row.
pub fn unit_of(row: &str) -> &str {
    row.trim_start_matches('?').split('/').next().unwrap_or_default()
}

/// Everything that happens at once.
pub const DEEDS: &[&str] = &joined::<
    { home::DEEDS.len() + devices::DEEDS.len() + links::DEEDS.len() + platform::DEEDS.len() },
>(&[home::DEEDS, devices::DEEDS, links::DEEDS, platform::DEEDS]);
/// Everything that lasts.
pub const LEVELS: &[&str] = &joined::<
    { home::LEVELS.len() + devices::LEVELS.len() + links::LEVELS.len() + platform::LEVELS.len() },
>(&[home::LEVELS, devices::LEVELS, links::LEVELS, platform::LEVELS]);

/// A value for each deed. With their number in the type, the place of one that is known needs no check.
pub type OfDeeds<T> = Box<[T; DEEDS.len()]>;
/// A value for each level.
pub type OfLevels<T> = Box<[T; LEVELS.len()]>;

/// Such a table, of its rows.
///
/// # Panics
/// If they are not as many as it has.
pub fn table<T, const N: usize>(rows: Vec<T>) -> Box<[T; N]> {
    rows.try_into().unwrap_or_else(|rows: Vec<T>| panic!("{} rows of {N}", rows.len()))
}

/// The rows of all parts.
const fn joined<const N: usize>(parts: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut row = 0;
        while row < parts[part].len() {
            all[next] = parts[part][row];
            (row, next) = (row + 1, next + 1);
        }
        part += 1;
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
