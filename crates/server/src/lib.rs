//! Files, listings, compression and the access log over the engine.

pub mod access_log;
mod asked;
pub mod compression;
mod decision;
mod error_page;
pub mod file_cache;
pub mod files;
mod files_pool;
mod files_shared;
pub mod filters;
mod head;
mod job;
pub mod listing;
mod listing_json;
mod listing_page;
pub mod matching;
pub mod offload;
pub mod options;
pub mod pages;
mod preference;
mod range_answer;
pub mod representation;
mod resolver;
pub mod root;
pub mod settings;
mod timestamp;
mod walk;
pub mod web;

pub use asked::Asked;
pub use decision::{Decision, Whole};
pub use files::{Files, Usage};
pub use files_pool::FilesPool;
pub use files_shared::{FilesError, FilesShared};
pub use job::Job;
pub use options::FilesOptions;
pub use vervet_engine as engine;
