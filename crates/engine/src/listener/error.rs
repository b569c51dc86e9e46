//! Errors of opening a listener, with the operator's next step.

use std::fmt;
use std::io;

use rustix::io::Errno;

/// Why a listener could not be opened. All of these are errors of the configuration or the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The system rejected the address.
    Address {
        /// The address as written.
        address: String,
        /// The error of the system.
        errno: Errno,
    },
    /// The system rejected an option of the socket.
    Option {
        /// The address as written.
        address: String,
        /// The option of [`ListenOptions`](super::ListenOptions).
        option: &'static str,
        /// The error of the system.
        errno: Errno,
    },
    /// The option cannot be changed on an open socket, and this one has another value.
    Fixed {
        /// The address as written.
        address: String,
        /// The option of [`ListenOptions`](super::ListenOptions).
        option: &'static str,
    },
    /// A server already listens on the unix socket.
    UnixInUse(String),
    /// The path of the unix socket exists and is not a socket.
    UnixPathTaken(String),
    /// No socket of this name or number was inherited.
    NotInherited(String),
    /// An inherited descriptor is not a listening stream socket.
    NotListening(String),
    /// `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES` are inconsistent; the text is the reason.
    Environment(String),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::Address { address, errno } => {
                write!(f, "cannot bind {address}: {}", words(*errno))?;
                match remedy(*errno) {
                    Some(remedy) => write!(f, " ({remedy})"),
                    None => Ok(()),
                }
            }
            BindError::Option { address, option, errno } => {
                write!(f, "cannot set {option} of {address}: {}", words(*errno))?;
                match *option {
                    "congestion" => f.write_str(
                        " (/proc/sys/net/ipv4/tcp_allowed_congestion_control lists the available ones)",
                    ),
                    _ => Ok(()),
                }
            }
            BindError::Fixed { address, option } => write!(
                f,
                "cannot change {option} of {address} while it listens (close it first, then listen again)"
            ),
            BindError::UnixInUse(address) => {
                write!(
                    f,
                    "cannot bind {address}: a server answers there already (stop it, or choose another path)"
                )
            }
            BindError::UnixPathTaken(address) => {
                write!(
                    f,
                    "cannot bind {address}: the path exists and is not a socket (remove it, or choose another path)"
                )
            }
            BindError::NotInherited(address) => write!(
                f,
                "cannot listen on {address}: the parent process left no such socket (LISTEN_FDS and LISTEN_FDNAMES say what it left)"
            ),
            BindError::NotListening(address) => {
                write!(
                    f,
                    "cannot listen on {address}: the descriptor is not a listening stream socket"
                )
            }
            BindError::Environment(problem) => {
                write!(f, "cannot take over inherited sockets: {problem}")
            }
        }
    }
}

impl std::error::Error for BindError {}

/// Returns the system's error message without its number.
fn words(errno: Errno) -> String {
    match errno {
        Errno::ADDRINUSE => "address in use".to_owned(),
        Errno::ADDRNOTAVAIL => "no interface of this machine has the address".to_owned(),
        _ => {
            let text = io::Error::from(errno).to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut letters = text.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
        }
    }
}

fn remedy(errno: Errno) -> Option<&'static str> {
    match errno {
        Errno::ACCESS | Errno::PERM => Some("run as root, or grant cap_net_bind_service"),
        Errno::ADDRINUSE => Some(
            "stop the program that listens there, which ss -ltnp names, or choose another port",
        ),
        Errno::ADDRNOTAVAIL => Some("ip address lists what there is"),
        Errno::AFNOSUPPORT => Some("the kernel has no such protocol, try an IPv4 address"),
        Errno::NOENT => Some("create the directory first"),
        Errno::MFILE | Errno::NFILE => Some("raise the limit of open files"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(errno: Errno, expected: &str) {
        let error = BindError::Address { address: "0.0.0.0:443".to_owned(), errno };
        assert_eq!(error.to_string(), format!("cannot bind 0.0.0.0:443: {expected}"));
    }

    #[test]
    fn each_refusal_names_the_next_step() {
        check(Errno::ACCESS, "permission denied (run as root, or grant cap_net_bind_service)");
        check(
            Errno::ADDRINUSE,
            "address in use (stop the program that listens there, which ss -ltnp names, or choose another port)",
        );
        check(
            Errno::ADDRNOTAVAIL,
            "no interface of this machine has the address (ip address lists what there is)",
        );
        check(Errno::NOMEM, "cannot allocate memory");
    }
}
