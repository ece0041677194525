//! Page walks of a core, and the accesses that wait for them.
//!
//! A walk reads one line: that of the last level of the page tables, which has the entry of its page. The entries above
//! it are taken as known, since the paging-structure caches of these cores, whose sizes are not published, keep them:
//! one entry of the next level stands for 512 pages, or 2 MiB of memory where pages have 4 KiB.

use pericore_engine::{NEVER, Tick};
use pericore_workload::PageSize;

use super::{DataTlb, PageFound, TranslationSizes};

/// A walk under way.
#[derive(Debug, Clone, Copy)]
struct Walk {
    page: u32,
    /// The line that it reads.
    line: u32,
    /// When it ends; [`NEVER`] until its line has come.
    ends: Tick,
}

/// An access that waits for its page.
#[derive(Debug, Clone, Copy)]
struct Waiting<A> {
    thread: u16,
    page: u32,
    /// The line with the page's entry.
    line: u32,
    access: A,
    /// The page is known: nothing but a buffer may be missing.
    known: bool,
}

/// A core's data TLB and its page walkers. `A` is an access as the model holds it.
#[derive(Debug)]
pub struct PageWalks<A> {
    tlb: DataTlb,
    walkers: usize,
    walks: Vec<Walk>,
    /// In the order in which they came.
    waiting: Vec<Waiting<A>>,
}

impl<A: Copy> PageWalks<A> {
    /// Those of a core that knows no page yet.
    pub fn new(sizes: &TranslationSizes, pages: PageSize) -> Self {
        let walkers = usize::from(sizes.walkers);
        Self { tlb: DataTlb::new(sizes, pages), walkers, walks: Vec::with_capacity(walkers), waiting: Vec::new() }
    }

    /// Looks a page up.
    pub fn find(&mut self, page: u32) -> PageFound {
        self.tlb.find(page)
    }

    /// Looks a page up and takes it in by function; true if a line of the page tables must be read for that.
    pub fn warm(&mut self, page: u32) -> bool {
        let walks = self.tlb.find(page) == PageFound::Nowhere;
        if walks {
            self.tlb.fill(page);
        }
        walks
    }

    /// Accesses of a thread that wait.
    pub fn waiting(&self, thread: u16) -> usize {
        self.waiting.iter().filter(|waiting| waiting.thread == thread).count()
    }

    /// A thread's access waits for its page, whose entry lies in a line.
    pub fn delay(&mut self, thread: u16, page: u32, line: u32, access: A) {
        self.waiting.push(Waiting { thread, page, line, access, known: false });
    }

    /// Begins the next walk, if one is needed and a walker is free: gives the thread that it is for, and the line to be
    /// read. Its model says when that [`came`](Self::came), or [`gives it up`](Self::give_up).
    pub fn begin(&mut self) -> Option<(u16, u32)> {
        if self.walks.len() == self.walkers {
            return None;
        }
        let walked = |page| self.walks.iter().any(|walk| walk.page == page);
        let next = self.waiting.iter().find(|waiting| !waiting.known && !walked(waiting.page))?;
        let (thread, page, line) = (next.thread, next.page, next.line);
        self.walks.push(Walk { page, line, ends: NEVER });
        Some((thread, line))
    }

    /// The walk that was begun last could not read its line: it begins again later.
    pub fn give_up(&mut self) {
        self.walks.pop();
    }

    /// A line has come, and walks that read it end at a tick; true if there are any.
    pub fn came(&mut self, line: u32, ends: Tick) -> bool {
        let mut any = false;
        for walk in self.walks.iter_mut().filter(|walk| walk.line == line && walk.ends == NEVER) {
            walk.ends = ends;
            any = true;
        }
        any
    }

    /// Walks that end by now give their walkers back, and what waits for their pages may go on.
    pub fn end(&mut self, now: Tick) {
        let (tlb, waiting) = (&mut self.tlb, &mut self.waiting);
        self.walks.retain(|walk| {
            let over = walk.ends <= now;
            if over {
                tlb.fill(walk.page);
                waiting.iter_mut().for_each(|waiting| waiting.known |= waiting.page == walk.page);
            }
            !over
        });
    }

    /// Takes out the first access whose page is known, with its thread.
    pub fn take_known(&mut self) -> Option<(u16, A)> {
        let index = self.waiting.iter().position(|waiting| waiting.known)?;
        let Waiting { thread, access, .. } = self.waiting.remove(index);
        Some((thread, access))
    }

    /// An access that was taken out has no buffer yet: it is the first to be taken again.
    pub fn keep(&mut self, thread: u16, access: A) {
        self.waiting.insert(0, Waiting { thread, page: 0, line: 0, access, known: true });
    }
}
