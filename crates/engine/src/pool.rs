//! Things under way, by small numbers that are used again.

/// Live items with 16-bit numbers. The pool grows to what is under way at most, once, and then takes no more memory. The last number is
/// no item's: it can stand for none.
#[derive(Debug)]
pub struct Pool<T> {
    slots: Vec<T>,
    live: Vec<bool>,
    free: Vec<u16>,
}

impl<T> Pool<T> {
    /// An empty pool with room for `capacity` items.
    pub fn new(capacity: usize) -> Self {
        Self {
            slots: Vec::with_capacity(capacity),
            live: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
        }
    }

    /// Adds an item and gives its number.
    ///
    /// # Panics
    /// If there are more items than numbers: the model's buffers and credits must not let that happen, and two items of one number would be
    /// counted as one.
    pub fn add(&mut self, item: T) -> u16 {
        match self.free.pop() {
            Some(number) => {
                self[number] = item;
                self.live[usize::from(number)] = true;
                number
            }
            None => {
                let number = self.slots.len();
                assert!(number < usize::from(u16::MAX), "more than {number} items are under way");
                self.slots.push(item);
                self.live.push(true);
                number as u16
            }
        }
    }

    /// Gives a number back.
    pub fn remove(&mut self, number: u16) {
        debug_assert!(self.live[usize::from(number)], "item {number} is removed twice");
        self.live[usize::from(number)] = false;
        self.free.push(number);
    }

    /// The live items.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().zip(&self.live).filter(|&(_, &live)| live).map(|(item, _)| item)
    }

    /// True if nothing is live.
    pub const fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }
}

impl<T> std::ops::Index<u16> for Pool<T> {
    type Output = T;

    fn index(&self, number: u16) -> &T {
        &self.slots[usize::from(number)]
    }
}

impl<T> std::ops::IndexMut<u16> for Pool<T> {
    fn index_mut(&mut self, number: u16) -> &mut T {
        &mut self.slots[usize::from(number)]
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn numbers_are_used_again() {
        let mut pool = Pool::new(2);
        let (a, b) = (pool.add('a'), pool.add('b'));
        assert_eq!((pool[a], pool[b]), ('a', 'b'));
        pool.remove(a);
        assert_eq!(pool.iter().collect::<String>(), "b");
        assert_eq!(pool.add('c'), a);
        pool.remove(a);
        pool.remove(b);
        assert!(pool.is_empty());
    }

    #[test]
    #[should_panic(expected = "more than 65535 items")]
    fn no_two_items_have_one_number() {
        let mut pool = Pool::new(1 << 16);
        (0..u16::MAX).for_each(|number| assert_eq!(pool.add(()), number));
        pool.add(());
    }
}
