use std::collections::BTreeMap;

use pericore_workload::PageSize;
use proptest::prelude::*;

use super::{DataTlb, PageFound, PageWalks, TlbSize, Translation, TranslationSizes};

/// Four entries in two ways, and eight in two; large pages have two entries, and none in the second level.
const SMALL: TranslationSizes = TranslationSizes {
    first: [TlbSize { entries: 4, ways: 2 }, TlbSize { entries: 2, ways: 2 }],
    second: [TlbSize { entries: 8, ways: 2 }, TlbSize::NONE],
    second_cycles: 7,
    walk_cycles: 19,
    walkers: 1,
};

/// Pages 0, 2, 4 share a set of the first level; in the second, 0 and 4 share one, and 2 has another.
#[test]
fn a_page_that_gave_way_in_the_first_level_is_in_the_second() {
    let mut tlb = DataTlb::new(&SMALL, PageSize::Small);
    assert_eq!(tlb.find(0), PageFound::Nowhere);
    [0, 2, 4].iter().for_each(|&page| tlb.fill(page));
    assert_eq!([4, 2, 0].map(|page| tlb.find(page)), [PageFound::First, PageFound::First, PageFound::Second]);
    // The first level has taken it back in for page 4, which was not used for longer than page 2.
    assert_eq!([0, 2, 4].map(|page| tlb.find(page)), [PageFound::First, PageFound::First, PageFound::Second]);
    // A third page of the second level's set: 0 was used before 4.
    tlb.fill(8);
    assert_eq!([4, 8].map(|page| tlb.find(page) == PageFound::Nowhere), [false, false]);
    [6, 10, 12].iter().for_each(|&page| tlb.fill(page));
    assert_eq!(tlb.find(0), PageFound::Nowhere, "gone in both");
}

#[test]
fn large_pages_have_entries_of_their_own_number_and_no_second_level() {
    let mut tlb = DataTlb::new(&SMALL, PageSize::Large);
    [1, 2, 3].iter().for_each(|&page| tlb.fill(page));
    assert_eq!([1, 2, 3].map(|page| tlb.find(page)), [PageFound::Nowhere, PageFound::First, PageFound::First]);
    assert_eq!(SMALL.check(), Ok(()));
    let odd = TlbSize { entries: 7, ways: 2 };
    assert!(TranslationSizes { first: [odd, odd], ..SMALL }.check().is_err());
}

/// With one walker the second page waits for the first one's walk, and what waits for one page goes on together.
#[test]
fn walks_are_as_many_as_there_are_walkers_and_accesses_to_one_page_share_one() {
    let mut walks = PageWalks::new(&SMALL, PageSize::Small);
    for (thread, page, line, access) in [(0, 3, 100, 'a'), (1, 3, 100, 'b'), (0, 9, 101, 'c')] {
        assert_eq!(walks.find(page), PageFound::Nowhere);
        walks.delay(thread, page, line, access);
    }
    assert_eq!((walks.waiting(0), walks.waiting(1)), (2, 1));
    assert_eq!((walks.begin(), walks.begin()), (Some((0, 100)), None));
    assert!(!walks.came(101, 50) && walks.came(100, 50));
    walks.end(49);
    assert_eq!((walks.take_known(), walks.begin()), (None, None));
    walks.end(50);
    assert_eq!(walks.find(3), PageFound::First);
    assert_eq!((walks.take_known(), walks.take_known(), walks.take_known()), (Some((0, 'a')), Some((1, 'b')), None));
    assert_eq!((walks.begin(), walks.waiting(0)), (Some((0, 101)), 1));
}

/// A walk that found no buffer for its read begins again, and an access without a buffer stays the next.
#[test]
fn what_finds_no_buffer_has_its_turn_again() {
    let two = TranslationSizes { walkers: 2, ..SMALL };
    let mut walks = PageWalks::new(&two, PageSize::Small);
    [(8, 200), (16, 201), (24, 203)].iter().for_each(|&(page, line)| walks.delay(0, page, line, page));
    assert_eq!((walks.begin(), walks.begin(), walks.begin()), (Some((0, 200)), Some((0, 201)), None));
    walks.give_up();
    assert_eq!(walks.begin(), Some((0, 201)));
    assert!(walks.came(201, 5) && walks.came(200, 5));
    walks.end(5);
    let (thread, first) = walks.take_known().expect("the first");
    walks.keep(thread, first);
    assert_eq!((walks.take_known(), walks.take_known()), (Some((0, 8)), Some((0, 16))));
    assert_eq!(walks.begin(), Some((0, 203)));
}

/// A line of 64 bytes has eight entries of 8 bytes. Page 1 is the first, and of 64 GiB the tables begin 128 MiB below
/// the top.
#[test]
fn eight_pages_share_a_line_of_their_nodes_tables() {
    let node = 64_u64 << 30;
    let tables = pericore_workload::PageTables::new(PageSize::Small, node);
    let on: Translation<()> = Translation::new(Some(tables), &SMALL, 1);
    let first = ((node - (128 << 20)) / 64) as u32;
    let entries = [1, 8, 9, 17].map(|page| on.page_among_nodes(page, 5, node).1);
    assert_eq!(entries, [first, first, first + 1, first + 2]);
    // Line 2^30 is the second node's first, whose pages are others.
    let (here, there) = (on.page_among_nodes(9, 5, node), on.page_among_nodes(9, 1 << 30 | 5, node));
    assert_eq!(there.1, here.1 + (1 << 30));
    assert_ne!(there.0, here.0);
    assert!(on.is_on() && !Translation::<()>::off().is_on());
}

proptest! {
    /// A page is there if fewer others of its set than there are ways have been used since.
    #[test]
    fn a_level_keeps_what_was_used_last_in_each_set(
        pages in prop::collection::vec(0_u32..40, 1..300),
        ways in 1_u16..6,
    ) {
        let sets = 4_u16;
        let size = TlbSize { entries: sets * ways, ways };
        let sizes = TranslationSizes { first: [TlbSize::NONE; 2], second: [size; 2], ..SMALL };
        let mut tlb = DataTlb::new(&sizes, PageSize::Small);
        // By set, its pages, the one used last at the end.
        let mut used: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for page in pages {
            let set = used.entry(page % u32::from(sets)).or_default();
            let kept = set.iter().rev().take(ways.into()).any(|&known| known == page);
            prop_assert_eq!(tlb.find(page) != PageFound::Nowhere, kept);
            tlb.fill(page);
            set.retain(|&known| known != page);
            set.push(page);
        }
    }
}
