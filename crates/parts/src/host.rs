//! Hints to the machine that the model runs on.

pub use pericore_engine::host::prefetch;

/// Bytes of the host's pages, or a multiple of that.
#[cfg(target_os = "linux")]
const PAGE: usize = 1 << 16;

/// Asks the host to keep a large block in large pages, if it has not been written to yet: accesses all over it would otherwise spend more
/// time on the host's page tables than on the memory. Has no effect on the model.
pub fn large_pages<T>(block: &[T]) {
    #[cfg(target_os = "linux")]
    {
        let start = block.as_ptr().addr().next_multiple_of(PAGE);
        let end = (block.as_ptr().addr() + size_of_val(block)) / PAGE * PAGE;
        if start < end {
            // SAFETY: the pages lie within a live block, and the advice leaves their contents as they are.
            unsafe {
                libc::madvise(block.as_ptr().with_addr(start).cast_mut().cast(), end - start, libc::MADV_HUGEPAGE)
            };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = block;
}
