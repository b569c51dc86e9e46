//! The options of a listening socket, each declared in one row of [`listen_options!`].
//!
//! From a row follow the field of [`ListenOptions`] with its default, what may change while the
//! socket listens, and the call that sets it on a TCP socket; in the server, the directive of
//! `[[listen]]` with its documentation, type, default and bounds. Options that bind a socket, or
//! that belong to unix sockets, have no setter: `bind.rs` and `endpoint.rs` read their fields.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use ipnet::IpNet;
use rustix::net::sockopt::{
    set_socket_recv_buffer_size, set_socket_send_buffer_size, set_tcp_congestion,
};

use super::endpoint::ListenerKey;
use crate::reactor::sys;

/// The default backlog in connections; the kernel limits it to `net.core.somaxconn`. Clients retry
/// connections beyond it after a second.
pub const BACKLOG: u32 = 4096;

/// The table of options: passes its rows to the macro `$next`.
///
/// A row is documentation for users, a name, and `DIRECTIVE => { OPTION }`. The directive is what
/// a section of a document declares: type, default (`_`: none) and bounds. Its types are resolved
/// where `$next` uses them, since this crate knows no documents. The option is the type and the
/// default in [`ListenOptions`], a rule that compares the values before and after a reload, and
/// optionally a function that sets the value on a TCP socket.
#[macro_export]
macro_rules! listen_options {
    ($next:ident) => {
        $next! {
            /// The maximum number of connections that wait to be accepted; the kernel limits it to
            /// `net.core.somaxconn`.
            backlog: u32 = 4096 in 1..=65535 => { u32 = BACKLOG, may_change }
            /// One socket per worker: the kernel distributes connections among them
            /// (`SO_REUSEPORT`), and other processes may bind the same address.
            reuse_port: bool = false => { bool = false, must_stay }
            /// Accept a connection only when its first bytes have arrived, or after this time
            /// (`TCP_DEFER_ACCEPT`); `"0s"` accepts at once.
            // Saves 8.5 against 11 us for each short connection.
            defer_accept: Time = "1s" in "0s"..="60s"
                => { Duration = Duration::from_secs(1), may_change, set_defer_accept }
            /// The maximum number of connections whose request may come with the SYN
            /// (`TCP_FASTOPEN`); 0 disables it.
            fastopen: u32 = 0 in 0..=65535 => {
                u32 = 0,
                must_stay_set,
                |socket, queue| match *queue {
                    0 => Ok(()),
                    queue => sys::set_tcp_fastopen(socket, queue),
                }
            }
            /// Congestion control by its kernel name, such as `"bbr"`; without it the default of
            /// the system.
            congestion: Option<Text> = _ => {
                Option<String> = None,
                must_stay_set,
                |socket, name| set_if_some(name.as_ref(), |name| set_tcp_congestion(socket, name))
            }
            /// Kernel send buffer of each connection (`SO_SNDBUF`); without it the kernel adapts
            /// it to the connection.
            send_buffer: Option<Size> = _ in "4KiB"..="1GiB" => {
                Option<usize> = None,
                must_stay_set,
                |socket, bytes| set_if_some(*bytes, |bytes| set_socket_send_buffer_size(socket, bytes))
            }
            /// Kernel receive buffer of each connection (`SO_RCVBUF`); without it the kernel
            /// adapts it to the connection.
            receive_buffer: Option<Size> = _ in "4KiB"..="1GiB" => {
                Option<usize> = None,
                must_stay_set,
                |socket, bytes| set_if_some(*bytes, |bytes| set_socket_recv_buffer_size(socket, bytes))
            }
            /// Reject IPv4 clients on an IPv6 address; otherwise `[::]` accepts both.
            v6only: bool = false => { bool = false, must_stay }
            /// Permissions of the file of a unix socket, in octal; without it the umask applies.
            mode: Option<Mode> = _ => { Option<u32> = None, must_stay_set }
            /// Networks whose connections begin with a PROXY protocol header (version 1 or 2). On
            /// a unix socket any network stands for all connections.
            proxy_protocol_from: Vec<Network> = _ => { Vec<IpNet> = Vec::new(), may_change }
        }
    };
}

/// Declares [`ListenOptions`] from the rows of the table.
macro_rules! declare_options {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident: $directive:ty = $directive_default:tt $(in $low:literal..=$high:literal)?
            => { $type:ty = $default:expr, $reload:expr $(, $set:expr)? }
    )*) => {
        /// Options of a listening socket. Accepted connections inherit the TCP options, which so
        /// cost no call per connection.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct ListenOptions {
            /// The key by which services identify the listener.
            pub key: ListenerKey,
            $($(#[doc = $doc])* pub $name: $type,)*
        }

        impl Default for ListenOptions {
            fn default() -> ListenOptions {
                ListenOptions { key: ListenerKey::default(), $($name: $default,)* }
            }
        }

        impl ListenOptions {
            /// Returns the first option that cannot become that of `after` on an open socket.
            pub(super) fn first_fixed(&self, after: &ListenOptions) -> Option<&'static str> {
                $(
                    let may_change: fn(&$type, &$type) -> bool = $reload;
                    if !may_change(&self.$name, &after.$name) {
                        return Some(stringify!($name));
                    }
                )*
                None
            }

            /// Sets the options of TCP on a socket; an error comes with the name of its option.
            pub(super) fn set_on(&self, socket: BorrowedFd<'_>) -> Result<(), (&'static str, io::Error)> {
                $($(
                    let set: fn(BorrowedFd<'_>, &$type) -> io::Result<()> = $set;
                    set(socket, &self.$name).map_err(|error| (stringify!($name), error))?;
                )?)*
                Ok(())
            }
        }
    };
}

listen_options!(declare_options);

fn may_change<T>(_before: &T, _after: &T) -> bool {
    true
}

fn must_stay<T: PartialEq>(before: &T, after: &T) -> bool {
    before == after
}

/// The kernel has no call that returns the option to its default.
fn must_stay_set<T: PartialEq + Default>(before: &T, after: &T) -> bool {
    *before == T::default() || *after != T::default()
}

fn set_defer_accept(socket: BorrowedFd<'_>, time: &Duration) -> io::Result<()> {
    sys::set_tcp_defer_accept(socket, u32::try_from(time.as_secs()).unwrap_or(u32::MAX))
}

fn set_if_some<T, E: Into<io::Error>>(
    value: Option<T>,
    set: impl FnOnce(T) -> Result<(), E>,
) -> io::Result<()> {
    value.map_or(Ok(()), |value| set(value).map_err(E::into))
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macro declares public items")]
mod tests {
    use super::*;

    declare_options! {
        /// An option that only this row knows.
        mast_height: Option<Size> = _ => {
            Option<u32> = Some(12),
            must_stay_set,
            |_, height| set_if_some(*height, |height| match height {
                60.. => Err(io::Error::from(io::ErrorKind::InvalidInput)),
                _ => Ok(()),
            })
        }
    }

    fn with_height(mast_height: Option<u32>) -> ListenOptions {
        ListenOptions { mast_height, ..ListenOptions::default() }
    }

    #[test]
    fn the_default_follows_from_the_row() {
        assert_eq!(ListenOptions::default().mast_height, Some(12));
    }

    #[test]
    fn the_reload_rule_follows_from_the_row() {
        let check = |before, after, expected| {
            let fixed = with_height(before).first_fixed(&with_height(after));
            assert_eq!(fixed, expected, "{before:?} {after:?}");
        };
        check(None, Some(1), None);
        check(Some(1), Some(2), None);
        check(Some(1), None, Some("mast_height"));
    }

    #[test]
    fn the_setter_follows_from_the_row() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let set = |height| {
            let socket = std::os::fd::AsFd::as_fd(&socket);
            let result = with_height(height).set_on(socket);
            result.map_err(|(option, _)| option)
        };
        assert_eq!(set(None), Ok(()));
        assert_eq!(set(Some(59)), Ok(()));
        assert_eq!(set(Some(60)), Err("mast_height"));
    }
}
