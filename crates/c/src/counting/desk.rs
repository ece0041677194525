//! Where orders arrive while the driver runs: what needs a sample waits for it, the rest is done at once.

use std::cell::RefCell;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use pericore_observe::plan::Plan;
use pericore_observe::session::Sample;

use super::sums::{FigureQuery, RegionFigure, RegionSums};
use crate::code::{CallFailure, Code};

/// What a function of the library wants done.
#[derive(Debug)]
pub enum MarkerOrder {
    Start(String),
    Stop(String),
    Figure(FigureQuery),
    Run(Duration),
}

/// An order, and where its reply goes.
#[derive(Debug)]
pub struct OrderRequest {
    pub order: MarkerOrder,
    pub reply: SyncSender<Result<OrderReply, CallFailure>>,
}

/// What comes of an order.
#[derive(Debug)]
pub enum OrderReply {
    Code(Code),
    Figure(Box<RegionFigure>),
}

impl OrderReply {
    pub fn code(self) -> Code {
        match self {
            Self::Code(code) => code,
            Self::Figure(_) => Code::Ok,
        }
    }
}

/// What the clock has to do with an order.
#[derive(Debug)]
pub enum Next {
    /// Nothing: it is done.
    Nothing,
    /// It waits for a sample, which is to be taken now.
    Sample,
    /// Time is to pass, so many seconds; the reply comes afterwards.
    Run(Duration, SyncSender<Result<OrderReply, CallFailure>>),
}

/// The regions, and the order that waits for a sample.
#[derive(Debug)]
pub struct Desk {
    plan: Plan,
    sums: RefCell<RegionSums>,
    waiting: RefCell<Option<OrderRequest>>,
}

impl Desk {
    /// For counters that run by this plan.
    pub fn new(plan: Plan) -> Self {
        Self { plan, sums: RefCell::default(), waiting: RefCell::default() }
    }

    /// An order arrives.
    pub fn receive(&self, request: OrderRequest) -> Next {
        let needs_sample = match &request.order {
            MarkerOrder::Run(length) => return Next::Run(*length, request.reply),
            // From a stop or start on it is another sum; where the region stays open it is the same.
            MarkerOrder::Start(region) => !self.sums.borrow().is_open(region),
            MarkerOrder::Stop(region) => self.sums.borrow().ends_at_stop(region),
            MarkerOrder::Figure(question) => self.sums.borrow().is_open(&question.region),
        };
        if needs_sample {
            self.waiting.replace(Some(request));
            return Next::Sample;
        }
        self.carry_out(request);
        Next::Nothing
    }

    /// A sample arrives, and what has waited for it is done.
    pub fn take(&self, sample: &Sample) {
        self.sums.borrow_mut().add(sample);
        if let Some(request) = self.waiting.take() {
            self.carry_out(request);
        }
    }

    fn carry_out(&self, OrderRequest { order, reply }: OrderRequest) {
        let mut sums = self.sums.borrow_mut();
        let outcome = match order {
            MarkerOrder::Start(region) => {
                sums.start(region);
                Ok(OrderReply::Code(Code::Ok))
            }
            MarkerOrder::Stop(region) => sums.stop(&region).map(|()| OrderReply::Code(Code::Ok)),
            MarkerOrder::Figure(question) => sums.figure(&self.plan, &question).map(Box::new).map(OrderReply::Figure),
            MarkerOrder::Run(_) => Ok(OrderReply::Code(Code::Ok)),
        };
        // The caller waits for it: it can only be gone with its process.
        let _ = reply.send(outcome);
    }
}
