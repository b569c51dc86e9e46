//! A small executor for futures on the reactor's thread.
//!
//! It owns the futures; it has no timers and no sockets. A waker may be used from any thread: it
//! posts its task to the reactor, which polls it on its own thread.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use slab::Slab;

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Makes the reactor call [`Executor::poll`] for a woken task, or [`Executor::start_new`] if there
/// are new tasks.
pub(crate) type Post = dyn Fn(Posted) + Send + Sync;

/// What a reactor is notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Posted {
    NewTask,
    Woken(TaskId),
}

/// Identifies a task; a later task in the same slot has another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskId {
    index: usize,
    generation: u32,
}

/// Owns the tasks, and drops all of them when it is dropped.
pub(crate) struct Executor {
    slots: Slab<Slot>,
    /// The number of tasks so far, wrapping.
    generation: u32,
    new: Rc<NewTasks>,
}

impl Executor {
    /// Creates an executor without tasks.
    pub(crate) fn new(post: Arc<Post>) -> Executor {
        Executor {
            slots: Slab::new(),
            generation: 0,
            new: Rc::new(NewTasks { tasks: RefCell::default(), post }),
        }
    }

    /// Returns a handle for spawning tasks.
    pub(crate) fn spawner(&self) -> Spawner {
        Spawner(Rc::downgrade(&self.new))
    }

    /// Polls the tasks that were spawned since the last call for the first time.
    pub(crate) fn start_new(&mut self) {
        for task in self.new.tasks.take() {
            self.generation = self.generation.wrapping_add(1);
            let slot = self.slots.vacant_entry();
            let id = TaskId { index: slot.key(), generation: self.generation };
            let handle = Arc::new(Handle {
                id,
                posted: AtomicBool::new(true),
                post: Arc::clone(&self.new.post),
            });
            slot.insert(Slot { waker: Waker::from(Arc::clone(&handle)), handle, task: Some(task) });
            self.poll(id);
        }
    }

    /// Polls a woken task; does nothing if it has completed.
    pub(crate) fn poll(&mut self, id: TaskId) {
        let slot = self.slots.get_mut(id.index);
        let Some(slot) = slot.filter(|slot| slot.handle.id == id) else {
            return;
        };
        // Taken from its slot while polled: a task that panics must not be polled again.
        let Some(mut task) = slot.task.take() else {
            return;
        };
        // Cleared before the poll: a wake during the poll must post the task again.
        slot.handle.posted.store(false, Ordering::SeqCst);
        let polled = task.as_mut().poll(&mut Context::from_waker(&slot.waker));
        if polled.is_pending() {
            slot.task = Some(task);
        } else {
            self.slots.remove(id.index);
        }
    }
}

/// Spawns tasks; cheap to clone, stays on the reactor's thread, and may outlive the executor.
#[derive(Clone)]
pub struct Spawner(Weak<NewTasks>);

impl Spawner {
    /// Spawns a future, which is polled for the first time in this turn of the reactor or the next.
    /// It is dropped at once if the reactor has ended.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        if let Some(new) = self.0.upgrade() {
            new.tasks.borrow_mut().push(Box::pin(future));
            (new.post)(Posted::NewTask);
        }
    }
}

/// New tasks, separate from the slots so that a task may spawn while it is polled.
struct NewTasks {
    tasks: RefCell<Vec<Task>>,
    post: Arc<Post>,
}

struct Slot {
    waker: Waker,
    handle: Arc<Handle>,
    /// `None` while it is polled.
    task: Option<Task>,
}

struct Handle {
    id: TaskId,
    /// The task is posted and not polled yet: it is posted once, however often it is woken.
    posted: AtomicBool,
    post: Arc<Post>,
}

impl Wake for Handle {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.posted.swap(true, Ordering::SeqCst) {
            (self.post)(Posted::Woken(self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::{Receiver, channel};
    use std::task::Poll;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// An executor and what it has posted.
    fn executor() -> (Executor, Receiver<Posted>) {
        let (sender, posted) = channel();
        let post = move |item| {
            let _ = sender.send(item);
        };
        (Executor::new(Arc::new(post)), posted)
    }

    /// Handles everything that is posted, as a reactor does. Returns the number of items.
    fn run(executor: &mut Executor, posted: &Receiver<Posted>) -> usize {
        posted.try_iter().map(|item| handle(executor, item)).count()
    }

    fn handle(executor: &mut Executor, item: Posted) {
        match item {
            Posted::NewTask => executor.start_new(),
            Posted::Woken(task) => executor.poll(task),
        }
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
            if count.get() < until { Poll::Pending } else { Poll::Ready(()) }
        });
        (polls, waker, future)
    }

    #[test]
    fn a_completed_task_is_never_polled_again() {
        let (mut executor, posted) = executor();
        let (polls, waker, future) = polled(1);
        executor.spawner().spawn(future);
        run(&mut executor, &posted);
        assert_eq!((polls.get(), executor.slots.len()), (1, 0));
        let stale = waker.borrow_mut().take().unwrap();
        let (next_polls, _next_waker, next) = polled(9);
        executor.spawner().spawn(next);
        run(&mut executor, &posted);
        stale.wake();
        run(&mut executor, &posted);
        assert_eq!(
            (polls.get(), next_polls.get()),
            (1, 1),
            "a stale waker must not reach the slot's next task"
        );
    }

    #[test]
    fn many_wakes_are_one_poll_and_one_notification() {
        let (mut executor, posted) = executor();
        let (polls, waker, future) = polled(9);
        executor.spawner().spawn(future);
        assert_eq!(run(&mut executor, &posted), 1);
        let waker = waker.borrow().clone().unwrap();
        for _ in 0..5 {
            waker.wake_by_ref();
        }
        assert_eq!(run(&mut executor, &posted), 1);
        assert_eq!(polls.get(), 2);
    }

    #[test]
    fn a_wake_during_the_poll_polls_again() {
        let (mut executor, posted) = executor();
        let polls = Rc::new(Cell::new(0));
        let count = Rc::clone(&polls);
        executor.spawner().spawn(poll_fn(move |cx| {
            count.set(count.get() + 1);
            cx.waker().wake_by_ref();
            if count.get() < 3 { Poll::Pending } else { Poll::Ready(()) }
        }));
        // One poll for each item: a task that wakes itself lets others run in between.
        executor.start_new();
        assert_eq!(polls.get(), 1);
        run(&mut executor, &posted);
        assert_eq!((polls.get(), executor.slots.len()), (3, 0));
    }

    #[test]
    fn a_task_may_spawn() {
        let (mut executor, posted) = executor();
        let done = Rc::new(Cell::new(false));
        let (spawner, inner) = (executor.spawner(), Rc::clone(&done));
        executor.spawner().spawn(async move { spawner.spawn(async move { inner.set(true) }) });
        executor.start_new();
        assert!(!done.get(), "a task never runs inside another");
        run(&mut executor, &posted);
        assert!(done.get());
    }

    #[test]
    fn dropping_the_executor_drops_tasks_polled_and_new_and_leaves_wakers_harmless() {
        let (mut executor, posted) = executor();
        let alive = Rc::new(());
        let (_, waker, future) = polled(9);
        for _ in 0..2 {
            let (held, spawner) = (Rc::clone(&alive), executor.spawner());
            executor.spawner().spawn(async move {
                std::future::pending::<()>().await;
                drop((held, spawner));
            });
            run(&mut executor, &posted);
        }
        executor.spawner().spawn(future);
        run(&mut executor, &posted);
        let (held, spawner) = (Rc::clone(&alive), executor.spawner());
        executor.spawner().spawn(async move { drop((held, spawner)) });
        let spawner = executor.spawner();
        drop(executor);
        assert_eq!(Rc::strong_count(&alive), 1);
        waker.borrow().as_ref().unwrap().wake_by_ref();
        spawner.spawn(async { panic!("must not run") });
    }

    #[test]
    fn a_panicking_task_is_not_polled_again_and_the_others_go_on() {
        let (mut executor, posted) = executor();
        let (polls, waker, future) = polled(3);
        executor.spawner().spawn(async move {
            future.await;
            panic!("expected");
        });
        let (others, other_waker, other) = polled(2);
        executor.spawner().spawn(other);
        run(&mut executor, &posted);
        let wake = |waker: &LastWaker| waker.borrow().clone().unwrap().wake();
        wake(&waker);
        run(&mut executor, &posted);
        wake(&waker);
        let panicking = AssertUnwindSafe(|| run(&mut executor, &posted));
        assert!(catch_unwind(panicking).is_err());
        wake(&waker);
        wake(&other_waker);
        run(&mut executor, &posted);
        assert_eq!((polls.get(), others.get()), (3, 2));
    }

    /// Sleeps until notified, until `ROUNDS` wakes of another thread have each been handled.
    #[test]
    fn wakes_of_other_threads_are_never_lost() {
        const ROUNDS: usize = 20_000;
        let (mut executor, posted) = executor();
        let (wakers, to_wake) = channel::<(Waker, Arc<AtomicBool>)>();
        let waking = thread::spawn(move || {
            for (waker, flag) in to_wake {
                flag.store(true, Ordering::SeqCst);
                waker.wake();
            }
        });
        let done = Rc::new(Cell::new(0));
        for _ in 0..4 {
            let (wakers, done) = (wakers.clone(), Rc::clone(&done));
            executor.spawner().spawn(async move {
                for _ in 0..ROUNDS / 4 {
                    let flag = Arc::new(AtomicBool::new(false));
                    let mut sent = false;
                    poll_fn(|cx| {
                        if !std::mem::replace(&mut sent, true) {
                            wakers.send((cx.waker().clone(), Arc::clone(&flag))).unwrap();
                        }
                        if flag.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
                    })
                    .await;
                    done.set(done.get() + 1);
                }
            });
        }
        drop(wakers);
        executor.start_new();
        while !executor.slots.is_empty() {
            let item = posted.recv_timeout(Duration::from_secs(20));
            handle(&mut executor, item.expect("the wake-up was lost"));
        }
        assert_eq!(done.get(), ROUNDS);
        waking.join().unwrap();
    }
}
