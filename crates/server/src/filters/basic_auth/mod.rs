//! Basic authentication (RFC 7617): users from files and from the configuration, passwords verified
//! on separate threads.

mod credentials;
mod filter;
mod memory;
mod settings;
mod stored_hash;
mod user_file;
mod users;
mod verifier;

pub use filter::{BasicAuth, BasicAuthCounters, BasicAuthOptions, RealmError};
pub use settings::Auth;
pub use stored_hash::{
    ARGON2_KIB_MAX, ARGON2_PASSES_MAX, BCRYPT_COST_MAX, BCRYPT_PASSWORD_BYTES_MAX, HashError,
    OldHashes, StoredHash, StoredHashError, hash_argon2id, hash_bcrypt,
};
pub use user_file::{
    USER_FILE_BYTES_MAX, USER_NAME_BYTES_MAX, UserFileError, UserFileProblem, UserNameError,
    check_user_name, parse_user_file,
};
pub use users::{ReportError, UserSources, Users};
pub use verifier::{Verifier, WAITING_MAX};
