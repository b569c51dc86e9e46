//! Listeners on real sockets: errors and their texts, socket options, and files of unix sockets.
use std::fs;
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use vervet_engine::listener::{Inherited, ListenAddress, ListenOptions, Listener};

const SOON: Duration = Duration::from_millis(150);
const LATE: Duration = Duration::from_secs(20);

fn bound(address: &str, options: &ListenOptions) -> Listener {
    Listener::bind(&address.parse().unwrap(), options).unwrap()
}

#[track_caller]
fn refused(address: &str, expected: &str) {
    let error = Listener::bind(&address.parse().unwrap(), &ListenOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

fn plain() -> ListenOptions {
    ListenOptions { defer_accept: Duration::ZERO, ..ListenOptions::default() }
}

/// Whether a connection is there to be accepted within `time`; takes it.
fn accepts(listener: &Listener, time: Duration) -> bool {
    let time = Timespec::try_from(time).unwrap();
    poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&time)).unwrap();
    rustix::net::accept(listener).is_ok()
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("vervet-listener-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    path
}

#[test]
fn an_address_in_use_names_the_next_step() {
    let first = bound("127.0.0.1:0", &plain());
    refused(
        &first.to_string(),
        &format!(
            "cannot bind {first}: address in use (stop the program that listens there, which ss -ltnp names, or choose another port)"
        ),
    );
}

#[test]
fn an_address_of_no_interface_is_refused() {
    // RFC 5737 §3: documentation only, no machine has it.
    refused(
        "192.0.2.1:0",
        "cannot bind 192.0.2.1:0: no interface of this machine has the address (ip address lists what there is)",
    );
}

#[test]
fn an_unknown_congestion_control_is_refused() {
    let options = ListenOptions { congestion: Some("nosuch".to_owned()), ..plain() };
    let error = Listener::bind(&"127.0.0.1:0".parse().unwrap(), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot set congestion of 127.0.0.1:0: no such file or directory (/proc/sys/net/ipv4/tcp_allowed_congestion_control lists the available ones)"
    );
}

#[test]
fn options_are_set_on_the_socket() {
    let options = ListenOptions {
        reuse_port: true,
        fastopen: 16,
        congestion: Some("reno".to_owned()),
        send_buffer: Some(50_000),
        receive_buffer: Some(60_000),
        ..ListenOptions::default()
    };
    let listener = bound("127.0.0.1:0", &options);
    assert!(sockopt::tcp_nodelay(&listener).unwrap());
    assert!(sockopt::socket_reuseport(&listener).unwrap());
    assert_eq!(sockopt::tcp_congestion(&listener).unwrap(), "reno");
    // socket(7): the kernel doubles what is asked for.
    assert_eq!(sockopt::socket_send_buffer_size(&listener).unwrap(), 100_000);
    assert_eq!(sockopt::socket_recv_buffer_size(&listener).unwrap(), 120_000);
    let second = bound(&listener.to_string(), &options);
    assert_eq!(second.local_address(), listener.local_address());
}

#[test]
fn a_deferred_connection_comes_with_its_first_byte() {
    for (seconds, at_once) in [(0, true), (5, false)] {
        let options = ListenOptions { defer_accept: Duration::from_secs(seconds), ..plain() };
        let listener = bound("127.0.0.1:0", &options);
        assert_eq!(listener.defers_accept(), !at_once);
        let mut peer = TcpStream::connect(listener.local_address().unwrap()).unwrap();
        assert_eq!(accepts(&listener, SOON), at_once);
        peer.write_all(b"G").unwrap();
        assert_eq!(accepts(&listener, SOON), !at_once);
    }
}

#[test]
fn refused_handshakes_leave_those_under_way() {
    let options = ListenOptions { defer_accept: Duration::from_secs(5), ..plain() };
    let listener = bound("127.0.0.1:0", &options);
    let address = listener.local_address().unwrap();
    let mut under_way = TcpStream::connect(address).unwrap();
    assert!(listener.refuse_handshakes());
    let error = TcpStream::connect_timeout(&address, SOON).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    under_way.write_all(b"G").unwrap();
    assert!(accepts(&listener, LATE));
    drop(listener);
    let error = TcpStream::connect_timeout(&address, LATE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn any_address_is_both_protocols() {
    let listener = bound(":0", &plain());
    let port = listener.local_address().unwrap().port();
    let mut addresses = vec![SocketAddr::from(([127, 0, 0, 1], port))];
    if listener.local_address().unwrap().is_ipv6() {
        addresses.push(SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port)));
    }
    for address in addresses {
        let _peer = TcpStream::connect(address).unwrap();
        assert!(accepts(&listener, LATE), "{address}");
    }
}

#[test]
fn v6only_keeps_ipv4_off() {
    let options = ListenOptions { v6only: true, ..plain() };
    let Ok(listener) = Listener::bind(&"[::]:0".parse().unwrap(), &options) else {
        return;
    };
    let port = listener.local_address().unwrap().port();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(TcpStream::connect(("::1", port)).is_ok());
}

#[test]
fn a_stale_unix_socket_is_replaced_and_a_live_one_is_not() {
    let folder = folder("stale");
    let path = folder.join("site.sock");
    let address = format!("unix:{}", path.display());
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "the standard library leaves the file");
    let listener = bound(&address, &plain());
    refused(
        &address,
        &format!(
            "cannot bind {address}: a server answers there already (stop it, or choose another path)"
        ),
    );
    let _peer = UnixStream::connect(&path).unwrap();
    // The first connection in the queue is the probe's.
    assert!(accepts(&listener, LATE) && accepts(&listener, LATE));
    drop(listener);
    assert!(!path.exists(), "the owner removes its file");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_is_not_a_socket_is_kept() {
    let folder = folder("file");
    let path = folder.join("notes.txt");
    fs::write(&path, "precious").unwrap();
    let address = format!("unix:{}", path.display());
    refused(
        &address,
        &format!(
            "cannot bind {address}: the path exists and is not a socket (remove it, or choose another path)"
        ),
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    let missing = format!("unix:{}/nowhere/site.sock", folder.display());
    refused(
        &missing,
        &format!("cannot bind {missing}: no such file or directory (create the directory first)"),
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_file_of_another_owner_stays() {
    let folder = folder("owner");
    let path = folder.join("site.sock");
    let listener = bound(&format!("unix:{}", path.display()), &plain());
    fs::remove_file(&path).unwrap();
    let _next = UnixListener::bind(&path).unwrap();
    drop(listener);
    assert!(path.exists());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_mode_of_a_unix_socket_is_exact() {
    let folder = folder("mode");
    for mode in [0o600, 0o660, 0o666, 0o777] {
        let path = folder.join(format!("{mode:o}.sock"));
        let options = ListenOptions { mode: Some(mode), ..plain() };
        let _listener = bound(&format!("unix:{}", path.display()), &options);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_abstract_socket_has_no_file() {
    let address = format!("unix:@vervet-{}", std::process::id());
    let listener = bound(&address, &plain());
    assert_eq!((listener.to_string(), listener.local_address()), (address.clone(), None));
    assert!(!listener.refuse_handshakes());
    assert!(Listener::bind(&address.parse().unwrap(), &plain()).is_err());
}

#[test]
fn a_descriptor_is_taken_over_by_number() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = socket.local_addr().unwrap();
    let listener = bound(&format!("fd:{}", socket.into_raw_fd()), &plain());
    assert_eq!(listener.local_address(), Some(local));
    let peer = TcpStream::connect(local).unwrap();
    assert!(accepts(&listener, LATE));
    assert!(!accepts(&listener, SOON), "it must not block");
    assert!(!listener.refuse_handshakes(), "the parent and others may share it");
    drop((listener, peer));
    assert!(TcpStream::connect(local).is_err(), "it is closed with the listener");
}

#[test]
fn a_descriptor_that_does_not_listen_is_refused() {
    let (one, _other) = UnixStream::pair().unwrap();
    let name = format!("fd:{}", one.as_raw_fd());
    let error = Listener::adopt(OwnedFd::from(one), &name.parse().unwrap(), &plain()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot listen on {name}: the descriptor is not a listening stream socket")
    );
    refused(
        "fd:2147483647",
        "cannot listen on fd:2147483647: the parent process left no such socket (LISTEN_FDS and LISTEN_FDNAMES say what it left)",
    );
    refused(
        "fd:web",
        "cannot listen on fd:web: the parent process left no such socket (LISTEN_FDS and LISTEN_FDNAMES say what it left)",
    );
}

#[test]
fn listed_networks_speak_the_proxy_protocol() {
    let networks = ["10.0.0.0/8", "2001:db8::/32"].map(|network| network.parse().unwrap());
    let options = ListenOptions { proxy_protocol_from: networks.to_vec(), ..plain() };
    let listener = bound("127.0.0.1:0", &options);
    let rows = [
        ("10.1.2.3", true),
        ("::ffff:10.1.2.3", true),
        ("11.0.0.1", false),
        ("2001:db8::1", true),
        ("2001:db9::1", false),
    ];
    for (peer, expected) in rows {
        assert_eq!(
            listener.expects_proxy_header(Some(peer.parse::<IpAddr>().unwrap())),
            expected,
            "{peer}"
        );
    }
    assert!(listener.expects_proxy_header(None));
    assert!(!bound("127.0.0.1:0", &plain()).expects_proxy_header(None));
}

/// Runs [`as_a_child`] in a process whose descriptors 3 and 4 are `socket`, with the given
/// environment; gives what it printed.
fn child(socket: TcpListener, environment: &[(&str, &str)]) -> String {
    let output = Command::new("sh")
        .args(["-c", "exec \"$0\" \"$@\" 3<&0 4<&0 </dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "listener::as_a_child", "--ignored", "--nocapture"])
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Not a test of its own: the other process of the next one.
#[test]
#[ignore = "run by announced_sockets_are_taken_over_by_name"]
fn as_a_child() {
    let variable = |name: &str| std::env::var(name).ok();
    let mut inherited = match Inherited::from_environment(&variable, std::process::id()) {
        Ok(inherited) => inherited,
        Err(error) => return println!("error: {error}"),
    };
    for name in ["fd:web", "fd:4", "fd:web"] {
        let address: ListenAddress = name.parse().unwrap();
        match Listener::open(&address, &plain(), &mut inherited) {
            Ok(listener) => println!("{name} is {listener}"),
            Err(error) => println!("{error}"),
        }
    }
}

#[test]
fn announced_sockets_are_taken_over_by_name() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = socket.local_addr().unwrap();
    let said = child(socket, &[("LISTEN_FDS", "2"), ("LISTEN_FDNAMES", "web:admin")]);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("fd:")).collect();
    assert_eq!(
        lines,
        [
            format!("fd:web is {local}"),
            format!("fd:4 is {local}"),
            "cannot listen on fd:web: the parent process left no such socket (LISTEN_FDS and LISTEN_FDNAMES say what it left)".to_owned(),
        ]
    );
}

#[test]
fn announced_sockets_that_are_not_there_are_an_error() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let said = child(socket, &[("LISTEN_FDS", "900")]);
    assert!(said.contains("error: cannot listen on fd:"), "{said}");
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let said = child(socket, &[("LISTEN_FDS", "2"), ("LISTEN_PID", "1")]);
    assert!(said.contains("cannot listen on fd:web"), "another process is meant: {said}");
}
