//! Request heads, pipelined or not: the same events however the bytes are cut, and no accepted head
//! that another reader could see other lines in.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vervet_fuzz::{Event, check_cuts};
use vervet_http::h1::ContentLength;

fuzz_target!(|data: &[u8]| {
    let cut = data.first().map_or(0, |&byte| usize::from(byte));
    for event in check_cuts(data, cut) {
        if let Event::Head { target, fields, content, raw, .. } = event {
            check_lines(&raw);
            assert!(!target.is_empty() && target.iter().all(u8::is_ascii_graphic));
            check_framing(&fields, content);
        }
    }
});

fn check_lines(raw: &[u8]) {
    for (at, &byte) in raw.iter().enumerate() {
        match byte {
            b'\n' => assert_eq!(raw[at - 1], b'\r', "bare LF"),
            b'\r' => assert_eq!(raw[at + 1], b'\n', "bare CR"),
            _ => assert_ne!(byte, 0),
        }
    }
}

fn check_framing(fields: &[(String, Vec<u8>)], content: ContentLength) {
    let count =
        |name: &str| fields.iter().filter(|field| field.0.eq_ignore_ascii_case(name)).count();
    let (lengths, codings) = (count("content-length"), count("transfer-encoding"));
    assert!(count("host") <= 1 && lengths + codings <= 1);
    match content {
        ContentLength::None => assert_eq!(codings, 0),
        ContentLength::Length(_) => assert_eq!(lengths, 1),
        ContentLength::Chunked => assert_eq!(codings, 1),
        ContentLength::UntilClose => panic!("a request cannot end with the connection"),
    }
}
