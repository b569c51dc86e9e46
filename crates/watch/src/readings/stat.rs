//! `/proc/PID/stat`: `proc_pid_stat(5)`. It is read of each process in each sample, so nothing is
//! allocated.

/// The fields that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat<'a> {
    /// At most 15 bytes, any but zero.
    pub(crate) name: &'a [u8],
    /// `Z` waits to be reaped.
    pub(crate) state: u8,
    pub(crate) parent: u32,
    pub(crate) minor_faults: u64,
    pub(crate) reaped_minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) reaped_major_faults: u64,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    pub(crate) reaped_user_ticks: u64,
    pub(crate) reaped_system_ticks: u64,
    pub(crate) threads: u32,
    /// Since the machine was started.
    pub(crate) start_ticks: u64,
    pub(crate) rss_pages: u64,
}

/// Parses the line. A name may hold spaces and parentheses: it ends at the last one.
pub(crate) fn stat(text: &[u8]) -> Option<Stat<'_>> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let name = text.get(open + 1..close)?;
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    // pgrp, session, tty_nr, tpgid, flags
    let mut number = |skipped: usize| -> Option<u64> { fields.nth(skipped)?.parse().ok() };
    Some(Stat {
        name,
        state,
        parent,
        minor_faults: number(5)?,
        reaped_minor_faults: number(0)?,
        major_faults: number(0)?,
        reaped_major_faults: number(0)?,
        user_ticks: number(0)?,
        system_ticks: number(0)?,
        reaped_user_ticks: number(0)?,
        reaped_system_ticks: number(0)?,
        // priority, nice
        threads: u32::try_from(number(2)?).ok()?,
        // itrealvalue
        start_ticks: number(1)?,
        // vsize
        rss_pages: number(1)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REST: &str = "S 7 1 1 0 -1 4194560 101 102 103 104 11 12 13 14 20 0 5 0 9000 3133440 394 1844674407 1 2 3";

    #[track_caller]
    fn check(text: &[u8], expected: Option<&[u8]>) {
        assert_eq!(stat(text).map(|stat| stat.name), expected, "{text:?}");
    }

    #[test]
    fn truncated_text_has_no_value() {
        let line = format!("12 (nginx) {REST}");
        let enough = line.find(" 1844674407").unwrap();
        for end in 0..enough - 3 {
            check(&line.as_bytes()[..end], None);
        }
        check(&line.as_bytes()[..enough], Some(b"nginx"));
    }

    #[test]
    fn an_invalid_line_has_no_value() {
        for text in ["", "12", "12 )(", "12 (a)", "12 (a) S x", "12 (a) S -1 1 1", "(", ")"] {
            check(text.as_bytes(), None);
        }
        check(format!("12 (a) {}", REST.replace("101", "-1")).as_bytes(), None);
        check(format!("12 (a) {}", REST.replace("101", "1e3")).as_bytes(), None);
    }

    #[test]
    fn names_may_hold_anything() {
        for name in ["a b", "a) S 1 (b", "()", ")", "(", "", "tmux: server", "\u{fc}"] {
            check(format!("12 ({name}) {REST}").as_bytes(), Some(name.as_bytes()));
        }
        let mut bytes = b"12 (\xff\n\xfe) ".to_vec();
        bytes.extend(REST.as_bytes());
        check(&bytes, Some(b"\xff\n\xfe"));
    }

    #[test]
    fn each_field_is_its_own() {
        let line = format!("12 (nginx) {REST}\n");
        let expected = Stat {
            name: b"nginx",
            state: b'S',
            parent: 7,
            minor_faults: 101,
            reaped_minor_faults: 102,
            major_faults: 103,
            reaped_major_faults: 104,
            user_ticks: 11,
            system_ticks: 12,
            reaped_user_ticks: 13,
            reaped_system_ticks: 14,
            threads: 5,
            start_ticks: 9000,
            rss_pages: 394,
        };
        assert_eq!(stat(line.as_bytes()), Some(expected));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            stat(&bytes);
        }
    }
}
