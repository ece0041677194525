//! The L2's prefetchers: the other line of a pair, and streams within a page (Intel optimization manual, Sandy Bridge: both fetch into
//! L2 or LLC; how eager they are is not published, so the distance is an assumption).

/// Streams that a core's prefetcher follows: 32 pages, as the manual says.
const STREAMS: usize = 32;
/// Lines of a 4 KiB page; streams end with it.
const PAGE_LINES: u32 = 64;
/// Lines that a stream is kept ahead of its accesses.
const DISTANCE: u32 = 4;
/// Steps in one direction that make a stream.
const STEPS: u8 = 2;

/// Lines to fetch at most for one access.
pub const MOST: usize = DISTANCE as usize + 1;

#[derive(Debug, Clone, Copy, Default)]
struct Stream {
    /// Page number and 1, so that 0 is no page.
    page: u32,
    line: u32,
    upwards: bool,
    steps: u8,
}

/// The prefetchers of one core.
#[derive(Debug)]
pub struct Prefetcher {
    streams: [Stream; STREAMS],
    next: usize,
}

impl Default for Prefetcher {
    fn default() -> Self {
        Self { streams: [Stream::default(); STREAMS], next: 0 }
    }
}

impl Prefetcher {
    /// The lines that an access makes worth having, most wanted first.
    pub fn wants(&mut self, line: u32, miss: bool) -> ([u32; MOST], usize) {
        let (mut lines, mut count) = ([0; MOST], 0);
        let page = line / PAGE_LINES;
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.page == page + 1) else {
            self.streams[self.next] = Stream { page: page + 1, line, upwards: true, steps: 0 };
            self.next = (self.next + 1) % STREAMS;
            if miss {
                (lines[0], count) = (line ^ 1, 1);
            }
            return (lines, count);
        };
        if line != stream.line {
            let upwards = line > stream.line;
            let near = line.abs_diff(stream.line) <= 2;
            stream.steps =
                if near && upwards == stream.upwards { stream.steps.saturating_add(1) } else { u8::from(near) };
            stream.upwards = upwards;
            stream.line = line;
        }
        if stream.steps >= STEPS {
            for step in 1..=DISTANCE {
                let ahead = if stream.upwards { line.checked_add(step) } else { line.checked_sub(step) };
                if let Some(ahead) = ahead.filter(|ahead| ahead / PAGE_LINES == page) {
                    lines[count] = ahead;
                    count += 1;
                }
            }
        }
        if miss && !lines[..count].contains(&(line ^ 1)) {
            lines[count] = line ^ 1;
            count += 1;
        }
        (lines, count)
    }
}

#[cfg(test)]
mod tests {
    use super::Prefetcher;

    fn wants(prefetcher: &mut Prefetcher, line: u32, miss: bool) -> Vec<u32> {
        let (lines, count) = prefetcher.wants(line, miss);
        lines[..count].to_vec()
    }

    #[test]
    fn a_miss_wants_its_neighbour_and_a_stream_what_comes_next() {
        let mut prefetcher = Prefetcher::default();
        assert_eq!(wants(&mut prefetcher, 640, true), [641]);
        assert_eq!(wants(&mut prefetcher, 641, false), [0_u32; 0]);
        assert_eq!(wants(&mut prefetcher, 642, true), [643, 644, 645, 646]);
        assert_eq!(wants(&mut prefetcher, 701, true), [700], "a jump is no stream");
        assert_eq!(wants(&mut prefetcher, 702, false), [0_u32; 0]);
        assert_eq!(wants(&mut prefetcher, 703, false), [0_u32; 0], "streams end with their page");
    }

    #[test]
    fn streams_go_down_too() {
        let mut prefetcher = Prefetcher::default();
        for line in [100, 99, 98] {
            prefetcher.wants(line, false);
        }
        assert_eq!(wants(&mut prefetcher, 97, false), [96, 95, 94, 93]);
    }
}
