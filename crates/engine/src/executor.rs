//! A small executor for futures that live and die on the reactor's thread.
//!
//! It owns the futures and the queue of those to be polled; it has no timers and no sockets. Wakers
//! may be used from any thread.
//!
//! One queue serves wakes of this thread and of others: an uncontended lock costs less than
//! distinguishing the threads. The system call of [`Notify`] is made only for the first wake after
//! the executor ran dry.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::notify::Notify;

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Whether [`Executor::run_ready`] left tasks to be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remaining {
    /// No tasks are ready; the executor notifies when there are some.
    Nothing,
    /// The budget was used up with tasks still ready: call again without sleeping.
    Tasks,
}

/// Owns the tasks, and drops all of them when it is dropped.
pub struct Executor {
    slots: Vec<Slot>,
    free: Vec<u32>,
    ready: VecDeque<TaskId>,
    inbox: Rc<Inbox>,
    queue: Arc<Queue>,
}

impl Executor {
    /// Creates an executor without tasks that calls `notify` when [`Executor::run_ready`] should be
    /// called.
    pub fn new(notify: Arc<dyn Notify>) -> Executor {
        let woken = WokenTasks {
            tasks: Vec::new(),
            notify_armed: true,
        };
        let queue = Arc::new(Queue {
            notify,
            woken: Mutex::new(woken),
        });
        Executor {
            slots: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            inbox: Rc::new(Inbox {
                tasks: RefCell::default(),
                queue: Arc::clone(&queue),
            }),
            queue,
        }
    }

    /// Returns a handle for spawning tasks.
    pub fn spawner(&self) -> Spawner {
        Spawner(Rc::downgrade(&self.inbox))
    }

    /// Returns the number of tasks that have not completed.
    pub fn tasks(&self) -> usize {
        self.slots.len() - self.free.len() + self.inbox.tasks.borrow().len()
    }

    /// Polls ready and new tasks, at most `budget` polls.
    pub fn run_ready(&mut self, budget: usize) -> Remaining {
        for _ in 0..budget {
            if self.ready.is_empty() && self.collect() == Remaining::Nothing {
                return Remaining::Nothing;
            }
            if let Some(id) = self.ready.pop_front() {
                self.poll(id);
            }
        }
        if self.ready.is_empty() {
            return self.collect();
        }
        Remaining::Tasks
    }

    /// Moves woken and new tasks to `ready`; arms the notification if there are none.
    fn collect(&mut self) -> Remaining {
        for task in self.inbox.tasks.take() {
            self.admit(task);
        }
        let mut woken = self.queue.lock();
        self.ready.extend(woken.tasks.drain(..));
        woken.notify_armed = self.ready.is_empty();
        if woken.notify_armed {
            return Remaining::Nothing;
        }
        Remaining::Tasks
    }

    fn admit(&mut self, task: Task) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let slot = &mut self.slots[index as usize];
        let id = TaskId {
            index,
            generation: slot.generation,
        };
        let handle = Arc::new(Handle {
            id,
            queued: AtomicBool::new(true),
            queue: Arc::clone(&self.queue),
        });
        slot.waker = Some((Waker::from(Arc::clone(&handle)), handle));
        slot.task = Some(task);
        self.ready.push_back(id);
    }

    fn poll(&mut self, id: TaskId) {
        let slot = &mut self.slots[id.index as usize];
        if slot.generation != id.generation {
            return;
        }
        // Taken from its slot while polled: a task that panics must not be polled again.
        let (Some(mut task), Some((waker, handle))) = (slot.task.take(), &slot.waker) else {
            return;
        };
        // Cleared before the poll: a wake during the poll must queue the task again.
        handle.queued.store(false, Ordering::SeqCst);
        let cx = &mut Context::from_waker(waker);
        let polled = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(cx)));
        if let Ok(Poll::Pending) = polled {
            slot.task = Some(task);
            return;
        }
        slot.waker = None;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
        if let Err(panic) = polled {
            resume_unwind(panic);
        }
    }
}

/// Spawns tasks; cheap to clone, stays on the reactor's thread, and may outlive the executor.
#[derive(Clone)]
pub struct Spawner(Weak<Inbox>);

impl Spawner {
    /// Spawns a future; its first poll is in the next [`Executor::run_ready`]. Dropped at once if
    /// the executor is gone.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        if let Some(inbox) = self.0.upgrade() {
            inbox.tasks.borrow_mut().push(Box::pin(future));
            inbox.queue.push(None);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct TaskId {
    index: u32,
    generation: u32,
}

#[derive(Default)]
struct Slot {
    /// Counts the tasks that this slot has had: wakers of a completed task have no effect.
    generation: u32,
    task: Option<Task>,
    waker: Option<(Waker, Arc<Handle>)>,
}

/// New tasks, separate from the slots so that a task may spawn while it is polled.
struct Inbox {
    tasks: RefCell<Vec<Task>>,
    queue: Arc<Queue>,
}

struct Queue {
    notify: Arc<dyn Notify>,
    woken: Mutex<WokenTasks>,
}

struct WokenTasks {
    tasks: Vec<TaskId>,
    /// The executor ran dry and nobody has rung since.
    notify_armed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, WokenTasks> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the task, if any; notifies, without holding the lock, if the executor sleeps.
    fn push(&self, id: Option<TaskId>) {
        let mut woken = self.lock();
        woken.tasks.extend(id);
        let armed = std::mem::replace(&mut woken.notify_armed, false);
        drop(woken);
        if armed {
            self.notify.notify();
        }
    }
}

struct Handle {
    id: TaskId,
    /// The task is in the queue: it is queued once, however often it is woken.
    queued: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for Handle {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::SeqCst) {
            self.queue.push(Some(self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, channel, sync_channel};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// An executor and the number of its notifications.
    fn counted() -> (Executor, Arc<AtomicUsize>) {
        let notifications = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&notifications);
        let notify = move || {
            counter.fetch_add(1, Ordering::SeqCst);
        };
        (Executor::new(Arc::new(notify)), notifications)
    }

    fn take(notifications: &AtomicUsize) -> usize {
        notifications.swap(0, Ordering::SeqCst)
    }

    type LastWaker = Rc<RefCell<Option<Waker>>>;

    /// A task that counts its polls, stores its waker and completes at the given poll.
    fn polled(until: usize) -> (Rc<Cell<usize>>, LastWaker, impl Future<Output = ()>) {
        let polls = Rc::new(Cell::new(0));
        let waker = Rc::new(RefCell::new(None));
        let (count, slot) = (Rc::clone(&polls), Rc::clone(&waker));
        let future = poll_fn(move |cx| {
            *slot.borrow_mut() = Some(cx.waker().clone());
            count.set(count.get() + 1);
            if count.get() < until {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        (polls, waker, future)
    }

    #[test]
    fn a_completed_task_is_never_polled_again() {
        let (mut executor, notifications) = counted();
        let (polls, waker, future) = polled(1);
        executor.spawner().spawn(future);
        assert_eq!(executor.run_ready(8), Remaining::Nothing);
        assert_eq!((polls.get(), executor.tasks()), (1, 0));
        let stale = waker.borrow_mut().take().unwrap();
        let (next_polls, _next_waker, next) = polled(9);
        executor.spawner().spawn(next);
        executor.run_ready(8);
        take(&notifications);
        stale.wake();
        executor.run_ready(8);
        assert_eq!(
            (polls.get(), next_polls.get()),
            (1, 1),
            "a stale waker must not reach the slot's next task"
        );
    }

    #[test]
    fn many_wakes_are_one_poll_and_one_ring() {
        let (mut executor, notifications) = counted();
        let (polls, waker, future) = polled(9);
        executor.spawner().spawn(future);
        assert_eq!(take(&notifications), 1);
        executor.run_ready(8);
        let waker = waker.borrow().clone().unwrap();
        for _ in 0..5 {
            waker.wake_by_ref();
        }
        assert_eq!(take(&notifications), 1);
        executor.run_ready(8);
        assert_eq!(polls.get(), 2);
    }

    #[test]
    fn a_wake_during_the_poll_polls_again() {
        let (mut executor, _) = counted();
        let polls = Rc::new(Cell::new(0));
        let count = Rc::clone(&polls);
        executor.spawner().spawn(poll_fn(move |cx| {
            count.set(count.get() + 1);
            cx.waker().wake_by_ref();
            if count.get() < 3 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        }));
        assert_eq!(executor.run_ready(8), Remaining::Nothing);
        assert_eq!((polls.get(), executor.tasks()), (3, 0));
    }

    #[test]
    fn the_budget_is_exact_and_what_is_left_is_said() {
        for (budget, expected, polled_tasks) in [
            (2, Remaining::Tasks, 2),
            (3, Remaining::Nothing, 3),
            (0, Remaining::Tasks, 0),
        ] {
            let (mut executor, _) = counted();
            let polls = Rc::new(Cell::new(0));
            for _ in 0..3 {
                let polls = Rc::clone(&polls);
                executor
                    .spawner()
                    .spawn(async move { polls.set(polls.get() + 1) });
            }
            assert_eq!(executor.run_ready(budget), expected, "budget {budget}");
            assert_eq!(polls.get(), polled_tasks, "budget {budget}");
        }
    }

    #[test]
    fn a_task_may_spawn() {
        let (mut executor, _) = counted();
        let done = Rc::new(Cell::new(false));
        let (spawner, inner) = (executor.spawner(), Rc::clone(&done));
        executor
            .spawner()
            .spawn(async move { spawner.spawn(async move { inner.set(true) }) });
        executor.run_ready(8);
        assert!(done.get());
    }

    #[test]
    fn dropping_the_executor_drops_tasks_polled_and_new_and_leaves_wakers_harmless() {
        let (mut executor, _) = counted();
        let alive = Rc::new(());
        let (_, waker, future) = polled(9);
        for _ in 0..2 {
            let (held, spawner) = (Rc::clone(&alive), executor.spawner());
            executor.spawner().spawn(async move {
                std::future::pending::<()>().await;
                drop((held, spawner));
            });
            executor.run_ready(8);
        }
        executor.spawner().spawn(future);
        executor.run_ready(8);
        let (held, spawner) = (Rc::clone(&alive), executor.spawner());
        executor
            .spawner()
            .spawn(async move { drop((held, spawner)) });
        let spawner = executor.spawner();
        drop(executor);
        assert_eq!(Rc::strong_count(&alive), 1);
        waker.borrow().as_ref().unwrap().wake_by_ref();
        spawner.spawn(async { panic!("must not run") });
    }

    #[test]
    fn a_panicking_task_is_gone_and_the_others_go_on() {
        let (mut executor, _) = counted();
        executor.spawner().spawn(async { panic!("expected") });
        let (polls, _waker, future) = polled(1);
        executor.spawner().spawn(future);
        let run = std::panic::AssertUnwindSafe(|| executor.run_ready(8));
        assert!(std::panic::catch_unwind(run).is_err());
        assert_eq!(executor.run_ready(8), Remaining::Nothing);
        assert_eq!((polls.get(), executor.tasks()), (1, 0));
    }

    /// Sleeps until notified, until `rounds` wakes of another thread have each been handled.
    #[test]
    fn wakes_of_other_threads_are_never_lost() {
        const ROUNDS: usize = 20_000;
        let (bell, rung) = sync_channel(1);
        let mut executor = Executor::new(Arc::new(move || {
            let _ = bell.try_send(());
        }));
        let (ask, asked) = channel::<(Waker, Arc<AtomicBool>)>();
        let waking = thread::spawn(move || {
            for (waker, flag) in asked {
                flag.store(true, Ordering::SeqCst);
                waker.wake();
            }
        });
        let done = Rc::new(Cell::new(0));
        for _ in 0..4 {
            let (ask, done) = (ask.clone(), Rc::clone(&done));
            executor.spawner().spawn(async move {
                for _ in 0..ROUNDS / 4 {
                    let flag = Arc::new(AtomicBool::new(false));
                    let mut sent = false;
                    poll_fn(|cx| {
                        if !std::mem::replace(&mut sent, true) {
                            ask.send((cx.waker().clone(), Arc::clone(&flag))).unwrap();
                        }
                        if flag.load(Ordering::SeqCst) {
                            Poll::Ready(())
                        } else {
                            Poll::Pending
                        }
                    })
                    .await;
                    done.set(done.get() + 1);
                }
            });
        }
        drop(ask);
        run_until_done(&mut executor, &rung);
        assert_eq!(done.get(), ROUNDS);
        waking.join().unwrap();
    }

    fn run_until_done(executor: &mut Executor, rung: &Receiver<()>) {
        while executor.tasks() > 0 {
            if executor.run_ready(3) == Remaining::Nothing && executor.tasks() > 0 {
                rung.recv_timeout(Duration::from_secs(20))
                    .expect("the wake-up was lost");
            }
        }
    }
}
