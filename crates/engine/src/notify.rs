//! How another thread notifies a reactor that something is ready.

/// Notifies a reactor, such as through an eventfd.
///
/// `notify` may be called from any thread, including the reactor's own, and must neither block nor
/// call back into the caller.
pub trait Notify: Send + Sync {
    /// Notifies the reactor. Several calls before the reactor looks may count as one.
    fn notify(&self);
}

impl<F: Fn() + Send + Sync> Notify for F {
    fn notify(&self) {
        self();
    }
}
