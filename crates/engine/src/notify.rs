//! How another thread tells a reactor that something is ready.

/// A bell at the reactor's door: an eventfd, or an eventfd behind a list of who rang.
///
/// `notify` may be called from any thread, the reactor's own too, and must neither block nor call back into the caller.
pub trait Notify: Send + Sync {
    /// Rings. Ringing twice before the reactor looks may count as once.
    fn notify(&self);
}

impl<F: Fn() + Send + Sync> Notify for F {
    fn notify(&self) {
        self();
    }
}
