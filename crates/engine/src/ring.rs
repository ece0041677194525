//! A queue of fixed capacity: what the hardware has, and no heap.

/// First in, first out, for at most `N` items; `N` is a power of two.
#[derive(Debug, Clone)]
pub struct Ring<T, const N: usize> {
    items: [T; N],
    first: u32,
    len: u32,
}

impl<T: Copy, const N: usize> Ring<T, N> {
    const MASK: u32 = {
        assert!(N.is_power_of_two());
        N as u32 - 1
    };

    /// An empty queue; `filler` fills the unused places.
    pub const fn new(filler: T) -> Self {
        Self { items: [filler; N], first: 0, len: 0 }
    }

    /// Items in the queue.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// True if there are none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest item.
    #[inline]
    pub fn front(&self) -> Option<T> {
        if self.len == 0 { None } else { Some(self.items[(self.first & Self::MASK) as usize]) }
    }

    /// The youngest item.
    pub fn back(&self) -> Option<T> {
        if self.len == 0 { None } else { Some(self.items[((self.first + self.len - 1) & Self::MASK) as usize]) }
    }

    /// Adds an item.
    ///
    /// # Panics
    /// If the queue is full: the model's credits and buffers must not let that happen.
    #[inline]
    pub fn push(&mut self, item: T) {
        assert!((self.len as usize) < N, "a queue of {N} overflows");
        self.items[(self.first.wrapping_add(self.len) & Self::MASK) as usize] = item;
        self.len += 1;
    }

    /// The item at a place, the oldest being at 0; something else where there is none.
    #[inline]
    pub const fn at(&self, place: usize) -> T {
        self.items[(self.first.wrapping_add(place as u32) & Self::MASK) as usize]
    }

    /// Adds an item at a place: those from there on come after it.
    ///
    /// # Panics
    /// If the queue is full, as for [`Ring::push`].
    #[inline]
    pub fn insert(&mut self, place: usize, item: T) {
        self.push(item);
        for behind in (place + 1..self.len()).rev() {
            let before = self.at(behind - 1);
            self.items[(self.first.wrapping_add(behind as u32) & Self::MASK) as usize] = before;
        }
        self.items[(self.first.wrapping_add(place as u32) & Self::MASK) as usize] = item;
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let item = self.front()?;
        self.len -= 1;
        // An empty ring starts again where it is warm.
        self.first = if self.len == 0 { 0 } else { (self.first + 1) & Self::MASK };
        Some(item)
    }

    /// All items, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len).map(|index| self.items[((self.first + index) & Self::MASK) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;

    #[test]
    fn items_come_out_in_the_order_they_went_in() {
        let mut ring = Ring::<u32, 4>::new(0);
        for round in 0..10 {
            for n in 0..3 {
                ring.push(round * 3 + n);
            }
            assert_eq!((ring.front(), ring.back(), ring.len()), (Some(round * 3), Some(round * 3 + 2), 3));
            assert_eq!(ring.iter().collect::<Vec<_>>(), [round * 3, round * 3 + 1, round * 3 + 2]);
            for n in 0..3 {
                assert_eq!(ring.pop(), Some(round * 3 + n));
            }
            assert!(ring.is_empty() && ring.pop().is_none());
        }
    }

    #[test]
    fn an_item_finds_its_place_among_others() {
        let mut ring = Ring::<u32, 8>::new(0);
        // Not at the start of the array.
        (0..6).for_each(|n| ring.push(n));
        (0..5).for_each(|n| assert_eq!(ring.pop(), Some(n)));
        for (place, item) in [(1, 9), (0, 1), (1, 3), (4, 11)] {
            ring.insert(place, item);
        }
        assert_eq!(ring.iter().collect::<Vec<_>>(), [1, 3, 5, 9, 11]);
        assert_eq!((ring.at(0), ring.at(3), ring.len()), (1, 9, 5));
    }

    #[test]
    #[should_panic(expected = "overflows")]
    fn a_full_queue_takes_no_more() {
        let mut ring = Ring::<u32, 2>::new(0);
        (0..3).for_each(|n| ring.push(n));
    }
}
