//! Counting in a thread of its own: the sampling driver runs there, and a marker is an order that it takes between
//! two samples.
//!
//! The thread owns the counters and the regions, so that any thread of the program may set markers, and a software
//! machine, which belongs to one
//! thread, can be counted as well.

mod at_exit;
mod desk;
mod line;
mod local;
mod software;
mod sums;
mod wanted;

use std::sync::Arc;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use crate::code::{CallFailure, Code};
use desk::{MarkerOrder, OrderReply};
use line::{OrderLine, end_of};
pub use sums::{FigureQuery, RegionFigure, Which};
use wanted::Sizes;
pub use wanted::{CountedEvents, CountedMachine};

/// Bytes of stack that planning and the models need at least.
const STACK: usize = 8 << 20;

/// A thread that counts.
#[derive(Debug)]
pub struct CountingThread {
    sizes: Sizes,
    line: Arc<OrderLine>,
}

impl CountingThread {
    /// Starts the counters.
    ///
    /// # Errors
    /// What stands in the way. Everything is as before then.
    pub fn begin(target: CountedMachine, wanted: CountedEvents) -> Result<Self, CallFailure> {
        let (orders, received) = mpsc::channel();
        let (begun, ready) = mpsc::channel();
        let count = move || match target {
            CountedMachine::Local => local::count(&wanted, received, &begun),
            CountedMachine::Software { machine, workload } => {
                software::count(&machine, &workload, &wanted, received, &begun)
            }
        };
        let thread = Builder::new().name("pericore".to_owned()).stack_size(STACK).spawn(count);
        let thread =
            thread.map_err(|error| CallFailure::failed(format!("cannot start a thread: {error}; see ulimit -u")))?;
        match ready.recv() {
            Ok(sizes) => {
                let line = Arc::new(OrderLine::new(orders, thread));
                at_exit::remember(&line);
                Ok(Self { sizes, line })
            }
            // It has ended before it was ready.
            Err(_) => Err(end_of(thread).err().unwrap_or_else(|| CallFailure::failed("counting has not begun"))),
        }
    }

    /// Events that were asked for.
    pub const fn events(&self) -> usize {
        self.sizes.events
    }

    /// Metrics that were asked for.
    pub const fn metrics(&self) -> usize {
        self.sizes.metrics
    }

    /// Starts a region.
    ///
    /// # Errors
    /// Counting has failed.
    pub fn start(&self, region: &str) -> Result<Code, CallFailure> {
        self.order(MarkerOrder::Start(region.to_owned())).map(OrderReply::code)
    }

    /// Stops a region.
    ///
    /// # Errors
    /// It is not open, or counting has failed.
    pub fn stop(&self, region: &str) -> Result<Code, CallFailure> {
        self.order(MarkerOrder::Stop(region.to_owned())).map(OrderReply::code)
    }

    /// Lets time pass.
    ///
    /// # Errors
    /// Counting has failed.
    pub fn run(&self, length: Duration) -> Result<Code, CallFailure> {
        self.order(MarkerOrder::Run(length)).map(OrderReply::code)
    }

    /// A figure of a region.
    ///
    /// # Errors
    /// There is no such region, event, metric or socket, or counting has failed.
    pub fn figure(&self, question: FigureQuery) -> Result<RegionFigure, CallFailure> {
        match self.order(MarkerOrder::Figure(question))? {
            OrderReply::Figure(figure) => Ok(*figure),
            OrderReply::Code(_) => Err(CallFailure::failed("there is no figure")),
        }
    }

    /// Ends counting; what was overwritten is put back.
    ///
    /// # Errors
    /// What could not be put back, or what had ended counting before.
    pub fn close(self) -> Result<(), CallFailure> {
        self.line.close()
    }

    fn order(&self, order: MarkerOrder) -> Result<OrderReply, CallFailure> {
        self.line.order(order)
    }
}
