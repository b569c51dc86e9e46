//! Labelled numbers: lines of `NAME: NUMBER unit`, and pairs of lines, one of names and one of
//! numbers.

/// The number after `label` in a text whose lines begin with their labels: `Pss:   345 kB`,
/// `usage_usec 123`. The label is given with its colon where it has one.
pub(crate) fn number_after(text: &[u8], label: &str) -> Option<u64> {
    let lines = text.split(|byte| *byte == b'\n');
    let mut rests = lines.filter_map(|line| line.strip_prefix(label.as_bytes()));
    let rest = rests.find(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))?;
    let rest = std::str::from_utf8(rest).ok()?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// The number of `name` in a text of pairs of lines, both beginning with `group`:
/// `/proc/net/netstat`, `/proc/net/snmp`.
pub(crate) fn paired(text: &[u8], group: &str, name: &str) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let of_group = |line: &&str| line.strip_prefix(group).is_some_and(|rest| rest.starts_with(':'));
    let mut lines = text.lines().filter(of_group);
    let names = lines.next()?;
    let numbers = lines.next()?;
    let at = names.split(' ').position(|word| word == name)?;
    numbers.split(' ').nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, label: &str, expected: Option<u64>) {
        assert_eq!(number_after(text.as_bytes(), label), expected, "{text:?} {label}");
    }

    #[test]
    fn a_missing_label_has_no_value() {
        check("", "Pss:", None);
        check("Pss:", "Pss:", None);
        check("Pss: ", "Pss:", None);
        check("Pss: x kB", "Pss:", None);
        check("Pss: -1 kB", "Pss:", None);
        check("SwapPss: 3 kB", "Pss:", None);
        check("usage_usec_more 3", "usage_usec", None);
    }

    #[test]
    fn the_number_after_the_label_is_read() {
        let text = "5650-7ffc ---p 00000000 00:00 0  [rollup]\nRss:   1740 kB\nPss:    245 kB\nSwapPss:  9 kB\n";
        check(text, "Rss:", Some(1740));
        check(text, "Pss:", Some(245));
        check(text, "SwapPss:", Some(9));
        check("usage_usec 12\nuser_usec 7\n", "user_usec", Some(7));
        check("voluntary_ctxt_switches:\t3\n", "voluntary_ctxt_switches:", Some(3));
    }

    #[track_caller]
    fn check_pair(text: &str, group: &str, name: &str, expected: Option<u64>) {
        assert_eq!(paired(text.as_bytes(), group, name), expected, "{text:?}");
    }

    #[test]
    fn pairs_that_are_cut_short_give_nothing() {
        check_pair("", "Tcp", "RetransSegs", None);
        check_pair("Tcp: RetransSegs\n", "Tcp", "RetransSegs", None);
        check_pair("Tcp: MaxConn RetransSegs\nTcp: -1\n", "Tcp", "RetransSegs", None);
        check_pair("Tcp: MaxConn RetransSegs\nTcp: -1 5\n", "Tcp", "MaxConn", None);
        check_pair("Tcp: A\nTcp: 5\n", "Tcp", "B", None);
        check_pair("TcpExt: A\nTcpExt: 5\n", "Tcp", "A", None);
    }

    #[test]
    fn the_number_below_the_name_is_taken() {
        let text = "Ip: A B\nIp: 1 2\nTcp: MaxConn RetransSegs\nTcp: -1 5\n";
        check_pair(text, "Tcp", "RetransSegs", Some(5));
        check_pair(text, "Ip", "B", Some(2));
        assert_eq!(paired(b"Ip: \xff\n", "Ip", "A"), None);
    }
}
