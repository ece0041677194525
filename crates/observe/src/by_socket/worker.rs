//! A socket's thread: it holds the session on the socket, carries orders out, and changes rounds when it is time.

use std::any::Any;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use pericore_registers::RegisterSpace;

use super::turns::Turns;
use crate::plan::Plan;
use crate::session::{Moment, Options, Sample, Saved, Session, SessionError};

/// The time, from any thread.
#[derive(Clone)]
pub struct WorkerClock(Arc<dyn Fn() -> Moment + Send + Sync>);

impl WorkerClock {
    /// A clock.
    pub fn new(now: impl Fn() -> Moment + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    fn now(&self) -> Moment {
        (self.0)()
    }
}

impl fmt::Debug for WorkerClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkerClock")
    }
}

/// What is done in a thread.
type Order<S> = Box<dyn FnOnce(&mut SocketRun<S>) + Send>;

/// Where the reply to an order arrives.
pub(super) type Replies<T> = Receiver<T>;

/// What a thread begins with.
pub(super) struct WorkerSetup {
    pub(super) plan: Plan,
    pub(super) options: Options,
    pub(super) turns: Turns,
    pub(super) clock: WorkerClock,
}

/// What a thread holds.
pub(super) struct SocketRun<S: RegisterSpace> {
    pub(super) session: Session<S>,
    turns: Turns,
    clock: WorkerClock,
    /// When the first round began, and when the next one is to begin, if events take turns.
    began: Instant,
    due: Option<Instant>,
    /// Where it is noted that everything is put back; taken by the first try, as a second one finds nothing to do.
    is_put_back: Option<Arc<AtomicBool>>,
}

impl<S: RegisterSpace> SocketRun<S> {
    pub(super) fn begin(&mut self) -> Result<(), SessionError> {
        self.session.begin(&mut |_: &mut S| self.clock.now())?;
        self.began = Instant::now();
        if self.session.plan().rounds() > 1 {
            self.due = self.next_change();
        }
        Ok(())
    }

    pub(super) fn sample(&mut self) -> Sample {
        self.session.sample(|_| self.clock.now())
    }

    pub(super) fn sample_on_overflow(&mut self) -> Option<Sample> {
        self.session.sample_on_overflow(|_| self.clock.now())
    }

    /// Changes rounds; the next change comes after a length that follows from what this one cost.
    pub(super) fn rotate(&mut self) {
        let before = self.session.paused();
        self.session.rotate(|_| self.clock.now());
        self.turns.note_cost(self.session.paused() - before);
        self.due = self.due.and_then(|_| self.next_change());
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// As [`Session::stop`].
    pub(super) fn put_back(&mut self) -> Result<(), SessionError> {
        let is_put_back = self.is_put_back.take();
        let outcome = self.session.put_back();
        if let (Some(is_put_back), Ok(())) = (is_put_back, &outcome) {
            is_put_back.store(true, Ordering::Release);
        }
        outcome
    }

    /// Never, if that is farther than the clock goes.
    fn next_change(&self) -> Option<Instant> {
        let now = Instant::now();
        now.checked_add(self.turns.next((now - self.began).as_secs_f64()))
    }

    fn run(mut self, orders: &Receiver<Order<S>>) {
        loop {
            let order = match self.due {
                None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => orders.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match order {
                Ok(order) => order(&mut self),
                Err(RecvTimeoutError::Timeout) => self.rotate(),
                // Nobody gives orders any more.
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

impl<S: RegisterSpace> Drop for SocketRun<S> {
    /// Also when an order panics.
    fn drop(&mut self) {
        // Those who wait learn it from what is noted.
        let _ = self.put_back();
    }
}

/// What a thread panicked with.
pub(super) type Panic = Box<dyn Any + Send>;

/// How a thread ended.
pub(super) struct Ended<T> {
    /// What came of the last order; nothing if there was a panic, then or before.
    pub(super) outcome: Option<T>,
    /// The panic, unless it was told before.
    pub(super) panic: Option<Panic>,
    /// True if the registers of the socket hold what they held before.
    pub(super) is_put_back: bool,
}

/// A thread.
pub(super) struct SocketThread<S: RegisterSpace> {
    orders: Option<Sender<Order<S>>>,
    thread: Option<JoinHandle<()>>,
    is_put_back: Arc<AtomicBool>,
}

impl<S: RegisterSpace> fmt::Debug for SocketThread<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketThread").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl<S: RegisterSpace + 'static> SocketThread<S> {
    /// Starts a thread, which looks at its socket; what will be overwritten there is its first reply.
    ///
    /// # Errors
    /// [`SessionError::Thread`] if the system refuses one.
    #[expect(clippy::type_complexity, reason = "a thread and its first reply")]
    pub(super) fn spawn(
        setup: WorkerSetup,
        registers: impl FnOnce(u16) -> S + Send + 'static,
    ) -> Result<(Self, Replies<Result<Vec<Saved>, SessionError>>), SessionError> {
        let (orders, received) = channel::<Order<S>>();
        let (looked, replies) = channel();
        let socket = setup.plan.sockets.first().map_or(0, |part| part.socket);
        let is_put_back = Arc::new(AtomicBool::new(false));
        let noted = Some(is_put_back.clone());
        let run = move || {
            let WorkerSetup { plan, options, turns, clock } = setup;
            // Here, since what is opened and where it is read from belongs to the thread.
            match Session::look(registers(socket), plan, &options) {
                Ok(session) => {
                    let began = Instant::now();
                    let running = SocketRun { session, turns, clock, began, due: None, is_put_back: noted };
                    // Who does not wait for it drops the orders, too.
                    let _ = looked.send(Ok(running.session.journal()));
                    running.run(&received);
                }
                Err(error) => drop(looked.send(Err(error))),
            }
        };
        let thread = Builder::new().name(format!("socket {socket}")).spawn(run);
        let thread = thread.map_err(|error| SessionError::Thread { socket, message: error.to_string() })?;
        Ok((Self { orders: Some(orders), thread: Some(thread), is_put_back }, replies))
    }

    /// Gives an order.
    pub(super) fn order<T: Send + 'static>(
        &self,
        order: impl FnOnce(&mut SocketRun<S>) -> T + Send + 'static,
    ) -> Replies<T> {
        let (reply, replies) = channel();
        let order: Order<S> = Box::new(move |running| {
            let _ = reply.send(order(running));
        });
        if let Some(orders) = &self.orders {
            // A thread that has ended has no reply either: `reply` finds out why.
            let _ = orders.send(order);
        }
        replies
    }

    /// Waits for what came of an order. A panic of the thread goes on here.
    pub(super) fn reply<T>(&mut self, replies: Replies<T>) -> T {
        replies.recv().unwrap_or_else(|_| {
            let ended = self.thread.take().map(JoinHandle::join);
            match ended {
                Some(Err(panic)) => resume_unwind(panic),
                _ => unreachable!("a thread carries out its orders before it ends"),
            }
        })
    }

    /// Waits for the last order, and for the end of the thread.
    pub(super) fn end<T>(mut self, replies: &Replies<T>) -> Ended<T> {
        let outcome = replies.recv().ok();
        self.orders = None;
        let panic = self.thread.take().and_then(|thread| thread.join().err());
        Ended { outcome, panic, is_put_back: self.is_put_back.load(Ordering::Acquire) }
    }
}
