//! Range: whatever is asked for lies inside the representation, and no byte is sent twice.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vervet_http::range::{RANGES_MAX, Selection, select};

fuzz_target!(|data: &[u8]| {
    let Some((length, value)) = data.split_first_chunk::<8>() else {
        return;
    };
    // Half of the lengths are small, where ranges meet the end.
    let length = u64::from_le_bytes(*length);
    let length = if length % 2 == 0 { length } else { length % 1000 };
    let Selection::Partial(set) = select(value, length) else {
        return;
    };
    let ranges = set.as_slice();
    assert!(!ranges.is_empty() && ranges.len() <= RANGES_MAX);
    for (at, range) in ranges.iter().enumerate() {
        assert!(range.first() <= range.last() && range.last() < length);
        for other in &ranges[..at] {
            assert!(range.last() < other.first() || other.last() < range.first());
        }
    }
});
