//! Request targets: a decoded path never leads upwards, and encodes back to itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vervet_http::method::Method;
use vervet_http::target::{NormalPath, RequestTarget, percent_encode_path, query_pairs};

fuzz_target!(|data: &[u8]| {
    for method in [Method::Connect, Method::Options, Method::Get] {
        let Ok(target) = RequestTarget::parse(data, method) else {
            continue;
        };
        if let Some(query) = target.raw_query() {
            query_pairs(query).for_each(drop);
        }
        if let Some(authority) = target.authority() {
            assert!(data.len() >= authority.host().len());
        }
        if let Some(Ok(path)) = target.raw_path().map(NormalPath::decode) {
            check_path(&path);
        }
    }
});

fn check_path(path: &NormalPath<'_>) {
    let bytes = path.as_bytes();
    assert!(bytes.starts_with(b"/") && !bytes.contains(&0));
    for segment in bytes.split(|&byte| byte == b'/') {
        assert!(segment != b".." && segment != b".", "{}", bytes.escape_ascii());
    }
    let encoded = percent_encode_path(bytes);
    let again = NormalPath::decode(encoded.as_bytes()).expect("an encoded path decodes");
    assert_eq!(again.as_bytes(), bytes);
}
