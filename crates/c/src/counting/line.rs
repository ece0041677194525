//! The way to the thread that counts.

use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use super::desk::{MarkerOrder, OrderReply, OrderRequest};
use crate::code::CallFailure;

/// The way to the thread, until it is closed.
#[derive(Debug)]
pub(super) struct OrderLine(Mutex<Option<(Sender<OrderRequest>, LineThread)>>);

/// Ends with what stopped counting.
pub(super) type LineThread = JoinHandle<Result<(), CallFailure>>;

impl OrderLine {
    pub(super) fn new(orders: Sender<OrderRequest>, thread: LineThread) -> Self {
        Self(Mutex::new(Some((orders, thread))))
    }

    /// Has something done there, and waits for it.
    pub(super) fn order(&self, order: MarkerOrder) -> Result<OrderReply, CallFailure> {
        let (reply, replied) = mpsc::sync_channel(1);
        let sent = match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((orders, _)) => orders.send(OrderRequest { order, reply }).is_ok(),
            None => false,
        };
        let ended = || CallFailure::failed("counting has ended, see what pericore_close returns");
        if !sent {
            return Err(ended());
        }
        replied.recv().unwrap_or_else(|_| Err(ended()))
    }

    pub(super) fn close(&self) -> Result<(), CallFailure> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The thread ends when nobody can order anything any more.
        open.map_or(Ok(()), |(orders, thread)| {
            drop(orders);
            end_of(thread)
        })
    }
}

/// What a thread ended with.
pub(super) fn end_of(thread: LineThread) -> Result<(), CallFailure> {
    let defect = |_| Err(CallFailure::failed("a defect of libpericore ended counting; please report it"));
    thread.join().unwrap_or_else(defect)
}
