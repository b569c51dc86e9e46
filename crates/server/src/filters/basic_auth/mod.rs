//! Basic authentication (RFC 7617): users from files and from the configuration, passwords verified
//! away from the reactors.

mod credentials;
mod entry;
mod filter;
mod memory;
mod settings;
mod user_file;
mod users;
mod verifier;

pub use entry::{
    ARGON2_KIB_MAX, ARGON2_PASSES_MAX, BCRYPT_COST_MAX, BCRYPT_PASSWORD_BYTES_MAX, Entry,
    EntryError, HashError, OldHashes, hash_argon2id, hash_bcrypt,
};
pub use filter::{BasicAuth, BasicAuthCounters, BasicAuthOptions, RealmError};
pub use settings::Auth;
pub use user_file::{
    USER_FILE_BYTES_MAX, USER_NAME_BYTES_MAX, UserFileError, UserFileProblem, UserNameError,
    check_user_name, parse_user_file,
};
pub use users::{Say, UserSources, Users};
pub use verifier::{Verifier, WAITING_MAX};
