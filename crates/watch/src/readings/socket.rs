//! `/proc/net/tcp` and `tcp6`: who listens, and the links of descriptors that are sockets.

/// State of a socket that listens, `proc_net_tcp.txt` of the kernel's documentation.
const LISTENS: &str = "0A";

/// The inodes of the sockets that listen on a port, whatever the address. Lines that cannot be read
/// are passed over.
pub(crate) fn listening_inodes(text: &[u8], port: u16) -> Vec<u64> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().skip(1);
    lines.filter_map(|line| listening_inode(line, port)).collect()
}

fn listening_inode(line: &str, port: u16) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (_, local_port) = fields.nth(1)?.rsplit_once(':')?;
    let state = fields.nth(1)?;
    if state != LISTENS || u16::from_str_radix(local_port, 16) != Ok(port) {
        return None;
    }
    // queues, timer, retransmits, user, timeout
    fields.nth(5)?.parse().ok()
}

/// The inode in what a descriptor links to, `socket:[547]`; `None` if it is not a socket.
pub(crate) fn socket_inode(link: &[u8]) -> Option<u64> {
    let number = link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
        \x20  0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 547 1 00000000e50b129b 100 0 0 10 0\n\
        \x20  1: 0100007F:07E8 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 600 1 0000000000000000 20 4 30 10 -1\n\
        \x20  2: 00000000000000000000000001000000:07E8 00000000000000000000000000000000:0000 \
        0A 00000000:00000000 00:00000000 00000000     0        0 700 1 0 100 0 0 10 0\n";

    #[track_caller]
    fn check(text: &str, port: u16, expected: &[u64]) {
        assert_eq!(listening_inodes(text.as_bytes(), port), expected, "{text}");
    }

    #[test]
    fn truncated_lines_are_skipped() {
        check("", 2024, &[]);
        check("  sl  local_address\n", 2024, &[]);
        let cut = TABLE.find(" 547").unwrap();
        check(&TABLE[..cut], 2024, &[]);
        check(&TABLE.replace("547", "x"), 2024, &[700]);
        check(&TABLE.replacen("00000000:07E8", "0000000007E8", 1), 2024, &[700]);
    }

    #[test]
    fn listeners_on_the_port_are_found() {
        check(TABLE, 2024, &[547, 700]);
        check(TABLE, 2025, &[]);
        check(TABLE, 40000, &[]);
    }

    #[test]
    fn links_of_sockets_have_an_inode() {
        assert_eq!(socket_inode(b"socket:[547]"), Some(547));
        for link in ["pipe:[547]", "/dev/null", "socket:[]", "socket:[x]", "socket:[1", ""] {
            assert_eq!(socket_inode(link.as_bytes()), None, "{link}");
        }
    }
}
