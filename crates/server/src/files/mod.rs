//! The file server: responds to a request path with a file, a listing or an error.

mod admission;
mod byte_cache;
pub mod cache;
mod compressed;
mod decision;
mod handler;
pub mod listing;
mod listing_json;
mod listing_page;
pub mod listing_share;
mod lookup;
pub mod options;
mod ranges;
mod reason;
mod regular;
pub mod representation;
mod request;
pub mod root;
mod shared;
mod walk;

pub use decision::{Decision, Job, Whole};
pub(crate) use handler::Page;
pub use handler::{Files, Usage};
pub use options::FilesOptions;
pub use regular::{ReadError, read_regular};
pub use request::FileRequest;
pub use shared::{FilesError, FilesPool, FilesShared};
