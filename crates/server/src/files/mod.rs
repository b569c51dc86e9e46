//! The file server: from the path of a request to the answer with a file, a listing or an error.

pub mod cache;
pub mod compression;
mod decision;
mod doorkeeper;
mod handler;
mod job;
pub mod listing;
mod listing_json;
mod listing_page;
pub mod listing_share;
pub mod options;
mod pool;
pub(crate) mod preference;
mod ranges;
pub mod representation;
mod request;
mod resolver;
pub mod root;
mod shared;
mod walk;

pub use decision::{Decision, Whole};
pub(crate) use handler::Page;
pub use handler::{Files, Usage};
pub use job::Job;
pub use options::FilesOptions;
pub use pool::FilesPool;
pub use request::Asked;
pub use shared::{FilesError, FilesShared};
