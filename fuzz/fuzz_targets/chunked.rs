//! Chunked content behind a fixed head: the same events however the bytes are cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vervet_fuzz::{Event, check_cuts};

const HEAD: &[u8] = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

fuzz_target!(|data: &[u8]| {
    let cut = HEAD.len() + data.first().map_or(0, |&byte| usize::from(byte) % 64);
    let events = check_cuts(&[HEAD, data].concat(), cut);
    let content: usize = events
        .iter()
        .map(|event| if let Event::Content(bytes) = event { bytes.len() } else { 0 })
        .sum();
    assert!(content <= data.len());
});
