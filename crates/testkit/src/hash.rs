//! A short name for the content of a file, to compare what was served with what is on the disk.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes` as 64 lower-case hexadecimal digits, the way `sha256sum` prints it.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes.as_ref()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a String takes what is written to it");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of FIPS 180-2, appendix B.1, and of the empty message.
    #[test]
    fn agrees_with_the_standard() {
        assert_eq!(
            sha256_hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            sha256_hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
