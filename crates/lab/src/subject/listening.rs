//! Who listens on a port, as /proc tells.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::TcpListener;

/// A port of 127.0.0.1 that nobody has at this moment.
pub(crate) fn free_port() -> io::Result<u16> {
    TcpListener::bind(("127.0.0.1", 0))?
        .local_addr()
        .map(|address| address.port())
}

/// The TCP sockets of this network namespace that listen on a port, by their numbers (inodes).
pub fn listeners(port: u16) -> BTreeSet<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables = tables.map(|table| fs::read_to_string(table).unwrap_or_default());
    tables.iter().flat_map(|table| parse(table, port)).collect()
}

/// Whether a process holds one of some sockets; `false` for one that is gone or another user's.
pub fn holds(pid: u32, sockets: &BTreeSet<String>) -> bool {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    let links = entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| {
            let link = link.to_string_lossy().into_owned();
            Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .any(|inode| sockets.contains(&inode))
}

fn parse(table: &str, port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let suffix = format!(":{port:04X}");
    let rows = table
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.len() > 9 && row[1].ends_with(&suffix) && row[3] == LISTEN)
        .map(|row| row[9].to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_listeners_only() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:2710 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 555 1\n\
            1: 0100007F:2710 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 556 1\n\
            2: 0100007F:2711 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 557 1\n";
        assert_eq!(parse(table, 10_000), ["555"]);
        assert!(parse(table, 50_000).is_empty());
    }

    #[test]
    fn this_process_holds_its_listener() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let sockets = listeners(listener.local_addr().unwrap().port());
        assert_eq!(sockets.len(), 1);
        assert!(holds(std::process::id(), &sockets));
        assert!(!holds(1, &BTreeSet::new()));
    }
}
