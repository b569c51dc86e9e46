//! Notifications of the service manager: ready, reloading, stopping, a status line and the watchdog
//! (`sd_notify(3)`).
//!
//! The socket is determined once, at the start; without one, notifications are dropped.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A state that the service manager is notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// All listeners are open, or a reload is over.
    Ready,
    /// The configuration is being reloaded; [`State::Ready`] must follow.
    Reloading,
    /// The server drains.
    Stopping,
    /// Nothing but that it is alive: owed to a watchdog.
    Alive,
}

/// Sends notifications to the service manager; without a socket, it does nothing.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    socket: Option<UnixDatagram>,
    watchdog: Option<Duration>,
}

impl Notifier {
    /// Reads the environment: `NOTIFY_SOCKET`, and `WATCHDOG_USEC` if it is for the process
    /// `own_pid`.
    ///
    /// # Errors
    /// The socket that the environment names cannot be opened.
    pub(crate) fn from_environment(
        variable: &dyn Fn(&str) -> Option<String>,
        own_pid: u32,
    ) -> io::Result<Notifier> {
        let socket = match variable("NOTIFY_SOCKET") {
            Some(name) if !name.is_empty() => Some(connected(&name)?),
            _ => None,
        };
        let watchdog = variable("WATCHDOG_USEC").and_then(|text| text.parse().ok());
        let is_ours = variable("WATCHDOG_PID").is_none_or(|pid| pid.parse() == Ok(own_pid));
        let watchdog = watchdog.filter(|microseconds| is_ours && *microseconds > 0);
        Ok(Notifier { socket, watchdog: watchdog.map(Duration::from_micros) })
    }

    /// Interval of [`State::Alive`]: half the timeout of the watchdog. `None` without one.
    pub(crate) fn watchdog_interval(&self) -> Option<Duration> {
        self.watchdog.map(|time| time / 2)
    }

    /// Sends a state, with a status line unless it is empty. Does not block.
    ///
    /// # Errors
    /// The manager does not receive it: its queue is full, or it exited. The server continues.
    pub(crate) fn notify(&self, state: State, status: &str) -> io::Result<()> {
        let Some(socket) = &self.socket else {
            return Ok(());
        };
        let mut message = match state {
            State::Ready => "READY=1\n".to_owned(),
            State::Reloading => format!("RELOADING=1\nMONOTONIC_USEC={}\n", monotonic_us()),
            State::Stopping => "STOPPING=1\n".to_owned(),
            State::Alive => "WATCHDOG=1\n".to_owned(),
        };
        if !status.is_empty() {
            // Text after a line break would be read as another assignment.
            let status = status.replace(['\n', '\r', '\0'], " ");
            message.push_str("STATUS=");
            message.push_str(&status);
            message.push('\n');
        }
        socket.send(message.as_bytes()).map(drop)
    }
}

/// A socket of the file system, or with `@` one of the abstract name space.
fn connected(name: &str) -> io::Result<UnixDatagram> {
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn monotonic_us() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
}

#[cfg(test)]
mod tests {
    use vervet_testkit::{PATIENCE, TempTree};

    use super::*;

    fn notifier(variables: &[(&str, &str)]) -> io::Result<Notifier> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Notifier::from_environment(&variable, 4711)
    }

    /// The notification that a manager receives for a state.
    fn notified(manager: &UnixDatagram, name: &str, state: State, status: &str) -> String {
        manager.set_read_timeout(Some(PATIENCE)).unwrap();
        let notifier = notifier(&[("NOTIFY_SOCKET", name)]).unwrap();
        notifier.notify(state, status).unwrap();
        let mut buffer = [0; 4096];
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn a_manager_that_is_not_there_is_an_error_and_none_is_none() {
        let tree = TempTree::new();
        let path = tree.join("nobody");
        let path = path.to_str().unwrap();
        assert!(notifier(&[("NOTIFY_SOCKET", path)]).is_err());
        assert!(notifier(&[("NOTIFY_SOCKET", "relative/path")]).is_err());
        for variables in [&[][..], &[("NOTIFY_SOCKET", "")]] {
            let notifier = notifier(variables).unwrap();
            notifier.notify(State::Ready, "all is well").unwrap();
        }
    }

    #[test]
    fn a_lost_or_busy_service_manager_does_not_block() {
        let tree = TempTree::new();
        let path = tree.join("socket");
        let manager = UnixDatagram::bind(&path).unwrap();
        let notifier = notifier(&[("NOTIFY_SOCKET", path.to_str().unwrap())]).unwrap();
        // It does not read: its queue is full some day.
        let error = (0..100_000).find_map(|_| notifier.notify(State::Alive, "").err());
        assert_eq!(error.unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(manager);
        notifier.notify(State::Alive, "").unwrap_err();
    }

    #[test]
    fn each_state_has_its_notification() {
        let tree = TempTree::new();
        let path = tree.join("socket");
        let manager = UnixDatagram::bind(&path).unwrap();
        let name = path.to_str().unwrap();
        let notify = |state, status| notified(&manager, name, state, status);
        assert_eq!(notify(State::Ready, ""), "READY=1\n");
        assert_eq!(notify(State::Ready, "3 sites"), "READY=1\nSTATUS=3 sites\n");
        assert_eq!(notify(State::Stopping, "draining"), "STOPPING=1\nSTATUS=draining\n");
        assert_eq!(notify(State::Alive, ""), "WATCHDOG=1\n");
        assert_eq!(notify(State::Alive, "a\nREADY=1\r\n"), "WATCHDOG=1\nSTATUS=a READY=1  \n");
        let before = monotonic_us();
        let reloading = notify(State::Reloading, "");
        let time = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap();
        let time: i64 = time.strip_suffix('\n').unwrap().parse().unwrap();
        assert!(before <= time && time <= monotonic_us());
    }

    #[test]
    fn the_abstract_name_space_is_spoken_to() {
        let name = format!("vervet-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let manager = UnixDatagram::bind_addr(&address).unwrap();
        assert_eq!(notified(&manager, &format!("@{name}"), State::Ready, ""), "READY=1\n");
    }

    #[test]
    fn the_watchdog_is_answered_twice_in_its_time() {
        let check = |variables: &[(&str, &str)], expected: Option<u64>| {
            let interval = notifier(variables).unwrap().watchdog_interval();
            assert_eq!(interval, expected.map(Duration::from_micros), "{variables:?}");
        };
        check(&[], None);
        check(&[("WATCHDOG_USEC", "x")], None);
        check(&[("WATCHDOG_USEC", "0")], None);
        check(&[("WATCHDOG_USEC", "30000000"), ("WATCHDOG_PID", "4712")], None);
        check(&[("WATCHDOG_USEC", "30000000"), ("WATCHDOG_PID", "4711")], Some(15_000_000));
        check(&[("WATCHDOG_USEC", "30000000")], Some(15_000_000));
    }
}
