//! A planted bug, to see that the fuzzer finds one: a reader who believes that a chunk size has one
//! digit. The run of this target must fail, and no seed of it does.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vervet_fuzz::{Event, read};

const HEAD: &[u8] = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

fuzz_target!(|data: &[u8]| {
    for event in read(&[HEAD, data]) {
        if let Event::Content(bytes) = event {
            assert!(bytes.len() < 16, "canary: content of {} bytes", bytes.len());
        }
    }
});
