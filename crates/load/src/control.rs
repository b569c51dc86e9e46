//! Changing a run while it is made.

use std::sync::Arc;
use std::sync::Mutex;

use vervet_engine::reactor::{Command, Handle, Receipt};

use crate::generator::Message;
use crate::pacer::Pacer;

/// Changes a run from any thread. What is asked of a run that is over is not heard.
#[derive(Clone, Debug)]
pub struct Control {
    threads: Arc<Mutex<Vec<Handle<Message>>>>,
}

impl Control {
    pub(crate) fn new(threads: Vec<Handle<Message>>) -> Self {
        Self {
            threads: Arc::new(Mutex::new(threads)),
        }
    }

    /// Be so many users in all, each with a connection: more begin at once, those too many end after what they have under way.
    pub fn set_users(&self, users: u32) {
        self.tell(&Message::Users(users));
    }

    /// Keep to this shape from now on, in open load; its time begins now.
    pub fn set_pacer(&self, pacer: Arc<dyn Pacer>) {
        self.tell(&Message::Pace(pacer));
    }

    /// End now; what has no answer yet is censored.
    pub fn stop(&self) {
        self.tell(&Message::Stop);
    }

    fn tell(&self, message: &Message) {
        let threads = self
            .threads
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for thread in threads.iter() {
            let (reply, _) = Receipt::new(1);
            thread.command(Command::Tell(message.clone()), reply);
        }
    }
}
