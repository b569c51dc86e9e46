//! Listening sockets inherited from a parent process, announced by `LISTEN_FDS`, `LISTEN_PID` and
//! `LISTEN_FDNAMES`.

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::SocketType;
use rustix::net::sockopt::{socket_acceptconn, socket_type};

use super::address::ListenAddress;
use super::error::BindError;
use crate::reactor::sys;

/// The first announced descriptor (`sd_listen_fds(3)`).
const FIRST: RawFd = 3;
/// The maximum number of inherited sockets.
pub const INHERITED_MAX: usize = 1024;
/// The name of a socket announced without one.
const UNNAMED: &str = "unknown";

/// The inherited sockets that no listener has taken yet. The rest is closed when dropped.
#[derive(Debug, Default)]
pub struct Inherited {
    sockets: Vec<(String, OwnedFd)>,
}

impl Inherited {
    /// Takes over what the environment announces to the process `own_pid`; nothing if it announces
    /// nothing, or to another process.
    ///
    /// Call it once, and take the variables out of the environment of child processes. A parent
    /// that cannot know the pid beforehand may leave out `LISTEN_PID`.
    pub fn from_environment(
        variable: &dyn Fn(&str) -> Option<String>,
        own_pid: u32,
    ) -> Result<Inherited, BindError> {
        let Some(count) = variable("LISTEN_FDS") else {
            return Ok(Inherited::default());
        };
        if variable("LISTEN_PID").is_some_and(|pid| pid.parse() != Ok(own_pid)) {
            return Ok(Inherited::default());
        }
        let names = names(&count, variable("LISTEN_FDNAMES").as_deref())?;
        let mut sockets = Vec::with_capacity(names.len());
        for (number, name) in (FIRST..).zip(names) {
            sockets.push((name, adopt(number)?));
        }
        Ok(Inherited { sockets })
    }

    /// Names and numbers of the sockets not taken yet, in the order announced.
    pub fn remaining(&self) -> impl Iterator<Item = (&str, RawFd)> {
        self.sockets.iter().map(|(name, socket)| (name.as_str(), socket.as_raw_fd()))
    }

    /// Returns the socket that `address` names; of several with one name, the first.
    pub(super) fn take(&mut self, address: &ListenAddress) -> Result<OwnedFd, BindError> {
        let position = self.sockets.iter().position(|(name, socket)| match address {
            ListenAddress::Descriptor(number) => socket.as_raw_fd() == *number,
            ListenAddress::Named(wanted) => name == wanted,
            _ => false,
        });
        match (position, address) {
            (Some(index), _) => Ok(self.sockets.remove(index).1),
            (None, ListenAddress::Descriptor(number)) => adopt(*number),
            (None, _) => Err(BindError::NotInherited(address.to_string())),
        }
    }
}

fn names(count: &str, names: Option<&str>) -> Result<Vec<String>, BindError> {
    let count: usize =
        count.parse().ok().filter(|count| *count <= INHERITED_MAX).ok_or_else(|| {
            BindError::Environment(format!("LISTEN_FDS is \"{count}\" (0 to {INHERITED_MAX})"))
        })?;
    let Some(names) = names else {
        return Ok(vec![UNNAMED.to_owned(); count]);
    };
    let names: Vec<String> = names.split(':').map(str::to_owned).collect();
    if names.len() != count {
        return Err(BindError::Environment(format!(
            "LISTEN_FDNAMES has {} names for LISTEN_FDS={count}",
            names.len()
        )));
    }
    Ok(names)
}

fn adopt(number: RawFd) -> Result<OwnedFd, BindError> {
    let address = || ListenAddress::Descriptor(number).to_string();
    let socket = sys::adopt_listening(number).map_err(|error| match error.raw_os_error() {
        Some(libc::EBADF) => BindError::NotInherited(address()),
        _ => BindError::NotListening(address()),
    })?;
    prepare(&socket).ok_or_else(|| BindError::NotListening(address()))?;
    Ok(socket)
}

/// Checks that a descriptor is a listening stream socket and makes it close-on-exec and
/// non-blocking; `None` if it is not.
pub(super) fn prepare(socket: &OwnedFd) -> Option<()> {
    let fd = socket.as_fd();
    let listening = socket_acceptconn(fd).ok()? && socket_type(fd).ok()? == SocketType::STREAM;
    if !listening {
        return None;
    }
    fcntl_setfd(fd, FdFlags::CLOEXEC).ok()?;
    let flags = fcntl_getfl(fd).ok()?;
    fcntl_setfl(fd, flags | OFlags::NONBLOCK).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(count: &str, names_variable: Option<&str>, expected: Result<&[&str], &str>) {
        let result = names(count, names_variable).map_err(|error| error.to_string());
        let expected = expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(
            result,
            expected.map_err(|problem| format!("cannot take over inherited sockets: {problem}"))
        );
    }

    #[test]
    fn names_fit_the_count() {
        check("x", None, Err("LISTEN_FDS is \"x\" (0 to 1024)"));
        check("-1", None, Err("LISTEN_FDS is \"-1\" (0 to 1024)"));
        check("1025", None, Err("LISTEN_FDS is \"1025\" (0 to 1024)"));
        check("2", Some("a"), Err("LISTEN_FDNAMES has 1 names for LISTEN_FDS=2"));
        check("1", Some("a:b"), Err("LISTEN_FDNAMES has 2 names for LISTEN_FDS=1"));
        check("0", None, Ok(&[]));
        check("2", None, Ok(&["unknown", "unknown"]));
        check("2", Some("web:admin"), Ok(&["web", "admin"]));
        assert_eq!(names("1024", None).unwrap().len(), INHERITED_MAX);
    }

    #[test]
    fn announcements_to_others_are_not_for_us() {
        let announced = |name: &str| match name {
            "LISTEN_FDS" => Some("2".to_owned()),
            "LISTEN_PID" => Some("4711".to_owned()),
            _ => None,
        };
        let inherited = Inherited::from_environment(&announced, 4712).unwrap();
        assert_eq!(inherited.remaining().count(), 0);
        let inherited = Inherited::from_environment(&|_| None, 4712).unwrap();
        assert_eq!(inherited.remaining().count(), 0);
    }
}
