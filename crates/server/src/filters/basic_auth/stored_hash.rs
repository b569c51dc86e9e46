//! Password hashes: Argon2id or bcrypt, and `{SHA}` of old user files if the configuration allows
//! it.

use std::fmt;
use std::str::FromStr as _;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, Params, PasswordHasher, PasswordVerifier};
use base64ct::{Base64, Encoding};
use bcrypt::HashParts;
use sha1::{Digest, Sha1};

use super::verifier::OnVerifier;

/// The most memory that one verification may take, in KiB; the default of the tool is 19 MiB.
pub const ARGON2_KIB_MAX: u32 = 256 * 1024;

/// The most passes over that memory.
pub const ARGON2_PASSES_MAX: u32 = 64;

/// The highest accepted cost of bcrypt: some four seconds.
pub const BCRYPT_COST_MAX: u32 = 16;

/// Maximum length of a password for bcrypt, in bytes: it ignores further ones.
pub const BCRYPT_PASSWORD_BYTES_MAX: usize = 72;

/// Whether `{SHA}` hashes are accepted. They have no salt and can be tried at billions per second:
/// anyone who reads the file can recover the passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OldHashes {
    /// `{SHA}` hashes are an error.
    #[default]
    Refused,
    /// `{SHA}` hashes are accepted, to migrate users.
    Allowed,
}

/// The stored hash of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredHash {
    text: String,
    kind: Kind,
}

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    Argon2id,
    Bcrypt,
    Sha([u8; 20]),
}

/// What a verification costs: hashes of the same work take the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashWork {
    Argon2id { kib: u32, passes: u32, lanes: u32 },
    Bcrypt { cost: u32 },
    Sha,
}

impl HashWork {
    /// The approximate time of a verification, in microseconds on a usual processor.
    pub(super) fn cost_us(self) -> u64 {
        match self {
            Self::Argon2id { kib, passes, .. } => u64::from(kib) * u64::from(passes) / 2,
            Self::Bcrypt { cost } => 60 << cost,
            Self::Sha => 1,
        }
    }
}

/// Why a text is not a valid hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredHashError {
    /// A hash of this kind that is malformed or truncated.
    Malformed(&'static str),
    /// Verifying it would take too much time or memory.
    TooCostly,
    /// `{SHA}` without the switch.
    Old,
    /// Another kind, or the password itself.
    Unknown,
}

/// Why a password could not be hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashError {
    /// Longer than [`BCRYPT_PASSWORD_BYTES_MAX`]: the rest would not count.
    TooLong,
    /// The cost is out of bounds: 4 to [`BCRYPT_COST_MAX`].
    Cost(u32),
    /// The system gave no random bytes, or no memory.
    System(String),
}

impl StoredHash {
    /// Parses a hash, as it follows the name in a user file.
    pub fn parse(text: &str, old: OldHashes) -> Result<Self, StoredHashError> {
        let kind = if text.starts_with("$argon2id$") {
            check_argon2id(text)?;
            Kind::Argon2id
        } else if ["$2a$", "$2b$", "$2y$"].iter().any(|kind| text.starts_with(kind)) {
            let parts =
                HashParts::from_str(text).map_err(|_| StoredHashError::Malformed("bcrypt"))?;
            if parts.get_cost() > BCRYPT_COST_MAX {
                return Err(StoredHashError::TooCostly);
            }
            Kind::Bcrypt
        } else if let Some(encoded) = text.strip_prefix("{SHA}") {
            if old == OldHashes::Refused {
                return Err(StoredHashError::Old);
            }
            let mut digest = [0; 20];
            let decoded = Base64::decode(encoded, &mut digest).map(<[u8]>::len);
            if decoded != Ok(20) {
                return Err(StoredHashError::Malformed("{SHA}"));
            }
            Kind::Sha(digest)
        } else {
            return Err(StoredHashError::Unknown);
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    /// The hash as it stands in the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether this is the password. Takes its time, so it runs nowhere but on a thread of the
    /// verifier.
    pub(super) fn verify(&self, password: &[u8], _: &OnVerifier) -> bool {
        match &self.kind {
            Kind::Argon2id => {
                Argon2::default().verify_password(password, self.text.as_str()).is_ok()
            }
            Kind::Bcrypt => bcrypt::verify(password, &self.text).unwrap_or(false),
            Kind::Sha(expected) => is_equal(&Sha1::digest(password), expected),
        }
    }

    /// The algorithm and its parameters.
    pub(super) fn work(&self) -> HashWork {
        match &self.kind {
            Kind::Argon2id => {
                let params = PasswordHash::new(&self.text).map(|hash| Params::try_from(&hash));
                let Ok(Ok(params)) = params else { return HashWork::Sha };
                HashWork::Argon2id {
                    kib: params.m_cost(),
                    passes: params.t_cost(),
                    lanes: params.p_cost(),
                }
            }
            Kind::Bcrypt => {
                let cost = HashParts::from_str(&self.text).map_or(0, |parts| parts.get_cost());
                HashWork::Bcrypt { cost }
            }
            Kind::Sha(_) => HashWork::Sha,
        }
    }

    /// A hash that costs as much as those of `vervet passwd` and that no password matches.
    pub(super) fn decoy() -> Self {
        const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGF0IGFsbA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        Self { text: NOBODY.to_owned(), kind: Kind::Argon2id }
    }
}

/// Hashes a password by Argon2id with what OWASP asks for at the least: 19 MiB, 2 passes, 1 lane.
pub fn hash_argon2id(password: &str) -> Result<String, HashError> {
    let hash = Argon2::default().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| HashError::System(error.to_string()))
}

/// Hashes a password by bcrypt, for files that other servers read as well. The time doubles with
/// each step of the cost.
pub fn hash_bcrypt(password: &str, cost: u32) -> Result<String, HashError> {
    if password.len() > BCRYPT_PASSWORD_BYTES_MAX {
        return Err(HashError::TooLong);
    }
    if !(4..=BCRYPT_COST_MAX).contains(&cost) {
        return Err(HashError::Cost(cost));
    }
    let parts = bcrypt::hash_with_result(password, cost)
        .map_err(|error| HashError::System(error.to_string()))?;
    // As `htpasswd -B` writes it: older readers know only this version.
    Ok(parts.format_for_version(bcrypt::Version::TwoY))
}

fn check_argon2id(text: &str) -> Result<(), StoredHashError> {
    const MALFORMED: StoredHashError = StoredHashError::Malformed("Argon2id");
    let hash = PasswordHash::new(text).map_err(|_| MALFORMED)?;
    if hash.salt.is_none() || hash.hash.is_none() {
        return Err(MALFORMED);
    }
    let params = Params::try_from(&hash).map_err(|_| MALFORMED)?;
    if params.m_cost() > ARGON2_KIB_MAX || params.t_cost() > ARGON2_PASSES_MAX {
        return Err(StoredHashError::TooCostly);
    }
    Ok(())
}

/// Compares without telling by its time where the two begin to differ.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let difference = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && std::hint::black_box(difference) == 0
}

impl fmt::Debug for StoredHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Even the hash is nothing for a log.
        formatter.write_str(match self.kind {
            Kind::Argon2id => "Argon2id",
            Kind::Bcrypt => "bcrypt",
            Kind::Sha(_) => "{SHA}",
        })
    }
}

impl fmt::Display for StoredHashError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(kind) => {
                write!(formatter, "the {kind} hash is malformed or truncated: set the password again with `vervet passwd`")
            }
            Self::TooCostly => write!(
                formatter,
                "verifying the hash would take too long (at most {} MiB and {ARGON2_PASSES_MAX} passes of Argon2id, cost \
                 {BCRYPT_COST_MAX} of bcrypt): set the password again with `vervet passwd`",
                ARGON2_KIB_MAX / 1024
            ),
            Self::Old => formatter.write_str(
                "anyone who reads the file can recover the password of a {SHA} hash: set it again with `vervet passwd`, or allow old_hashes = true for now",
            ),
            Self::Unknown => formatter.write_str(
                "not an Argon2id ($argon2id$...) or bcrypt ($2y$...) hash: set the password with `vervet passwd`",
            ),
        }
    }
}

impl std::error::Error for StoredHashError {}

impl fmt::Display for HashError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(
                formatter,
                "the password is longer than the {BCRYPT_PASSWORD_BYTES_MAX} bytes that bcrypt uses: choose a shorter one, or Argon2id"
            ),
            Self::Cost(cost) => {
                write!(formatter, "invalid bcrypt cost {cost}: expected 4 to {BCRYPT_COST_MAX}")
            }
            Self::System(error) => write!(formatter, "the password could not be hashed: {error}"),
        }
    }
}

impl std::error::Error for HashError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(text: &str, old: OldHashes, expected: StoredHashError) {
        assert_eq!(StoredHash::parse(text, old).err(), Some(expected), "{text}");
    }

    #[track_caller]
    fn check(text: &str, password: &str, expected: bool) {
        let hash = StoredHash::parse(text, OldHashes::Allowed).unwrap();
        let found = OnVerifier::run_here(|on| hash.verify(password.as_bytes(), on));
        assert_eq!(found, expected, "{password} for {text}");
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        let unknown = [
            "",
            "secret",
            "$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/",
            "$1$abc$def",
            "$6$salt$hash",
            "$argon2i$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$AAAA",
            "$2x$04$abcdefghijklmnopqrstuu1234567890123456789012345678901",
            "{SSHA}AAAA",
            "{sha}AAAA",
            "$argon2id",
        ];
        for text in unknown {
            check_error(text, OldHashes::Allowed, StoredHashError::Unknown);
        }
        for text in [
            "$argon2id$",
            "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ",
            "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$!!!!",
            "$argon2id$v=19$m=0,t=1,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
        ] {
            check_error(text, OldHashes::Refused, StoredHashError::Malformed("Argon2id"));
        }
        for text in
            ["$2y$", "$2y$04$short", "$2b$xx$abcdefghijklmnopqrstuu1234567890123456789012345678901"]
        {
            check_error(text, OldHashes::Refused, StoredHashError::Malformed("bcrypt"));
        }
        for text in [
            "{SHA}",
            "{SHA}AAAA",
            "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g",
            "{SHA}!6ph5Mm5Pz8GgiULbPgzG37mj9g=",
        ] {
            check_error(text, OldHashes::Allowed, StoredHashError::Malformed("{SHA}"));
        }
    }

    #[test]
    fn old_entries_need_their_switch() {
        check_error("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", OldHashes::Refused, StoredHashError::Old);
        check("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "password", true);
        check("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "Password", false);
    }

    #[test]
    fn entries_that_would_hold_up_everybody_are_refused() {
        check_error(
            "$argon2id$v=19$m=262145,t=1,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
            OldHashes::Refused,
            StoredHashError::TooCostly,
        );
        check_error(
            "$argon2id$v=19$m=8,t=65,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
            OldHashes::Refused,
            StoredHashError::TooCostly,
        );
        check_error(
            "$2y$17$L6Bc/AlTQHyd9liGgGEZyOFLPHNgyxeEPfgYfBCVxJ7JIlwxyVU3u",
            OldHashes::Refused,
            StoredHashError::TooCostly,
        );
    }

    /// Made by the reference implementation of Argon2 and by OpenBSD's bcrypt.
    #[test]
    fn entries_of_other_tools_open_to_their_password_alone() {
        let argon2id = "$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";
        let lanes =
            "$argon2id$v=19$m=64,t=2,p=2$69jV4IdvGZQ$J4ntKW+7SmB67xlLVfmocYVSyx+P2r8idMd1AFenEb4";
        let bcrypt = "$2b$04$AFDc5nZYJFJtqgNUybCbFOPCn5u4nEsZyH7vVLPjGPd1OZtbZ11Em";
        for (hash, password) in
            [(argon2id, "open sesame"), (lanes, "\u{f6}:pen"), (bcrypt, "open sesame")]
        {
            check(hash, "", false);
            check(hash, "open sesam", false);
            check(hash, "Open sesame", false);
            check(hash, password, true);
        }
    }

    #[test]
    fn bcrypt_is_written_for_older_readers() {
        let hash = hash_bcrypt("open sesame", 4).unwrap();
        assert!(hash.starts_with("$2y$04$") && hash.len() == 60, "{hash}");
        check(&hash, "open sesam", false);
        check(&hash, "open sesame", true);
    }

    #[test]
    fn hashes_are_salted_and_open_to_their_password() {
        let (one, other) = (hash_argon2id("p:w").unwrap(), hash_argon2id("p:w").unwrap());
        assert_ne!(one, other);
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        check(&one, "p:w", true);
        check(&one, "p:x", false);
    }

    #[test]
    fn bcrypt_is_given_what_it_can_tell_apart() {
        let longest = "x".repeat(BCRYPT_PASSWORD_BYTES_MAX);
        assert!(hash_bcrypt(&longest, 4).is_ok());
        assert_eq!(hash_bcrypt(&format!("{longest}x"), 4), Err(HashError::TooLong));
        assert_eq!(hash_bcrypt("x", 3), Err(HashError::Cost(3)));
        assert_eq!(hash_bcrypt("x", 17), Err(HashError::Cost(17)));
    }

    #[test]
    fn nothing_opens_the_decoy() {
        let decoy = StoredHash::decoy();
        assert!(StoredHash::parse(decoy.text(), OldHashes::Refused).is_ok());
        assert!(!OnVerifier::run_here(|on| decoy.verify(b"", on)));
    }

    #[test]
    fn a_debug_line_shows_no_hash() {
        let hash =
            StoredHash::parse("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", OldHashes::Allowed).unwrap();
        assert_eq!(format!("{hash:?}"), "{SHA}");
    }
}
