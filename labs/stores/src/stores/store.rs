//! What a store is, and the one list of them.

use std::path::PathBuf;

use super::{mariadb, memcached, redb, redis, sqlite};
use crate::problem::Problem;

/// All stores.
const STORES: &[&Store] =
    &[&memcached::STORE, &redis::STORE, &redb::STORE, &sqlite::STORE, &mariadb::STORE];

/// How one store is filled and read.
pub(crate) struct Store {
    /// Its name.
    pub(crate) name: &'static str,
    /// The version of one that is within this program, where it says so.
    pub(crate) version: Option<fn() -> &'static str>,
    /// Makes it, empty: a file with its table, or a server that has nothing.
    pub(crate) create: fn(&Place) -> Result<(), Problem>,
    /// Opens a new connection to it.
    pub(crate) connect: fn(&Place) -> Result<Box<dyn Connection>, Problem>,
}

/// Where a store is, and how it is to be kept.
#[derive(Debug)]
pub(crate) struct Place {
    /// The socket of its server, or its file.
    pub(crate) at: PathBuf,
    /// Whether a put is on the disk when it returns. A server has a flag for that.
    pub(crate) is_durable: bool,
    /// Whether there is an index on the keys of a table.
    pub(crate) has_index: bool,
}

/// A store that is open. Each put is a change of its own.
pub(crate) trait Connection {
    /// Puts a value under a key that is not there.
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Problem>;
    /// The value of a key.
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, Problem>;
    /// Closes it, in order.
    fn close(self: Box<Self>) -> Result<(), Problem>;
}

/// The store of a name.
pub(crate) fn store(name: &str) -> Result<&'static Store, Problem> {
    let known = STORES.iter().copied();
    known.clone().find(|store| store.name == name).ok_or_else(|| {
        let names: Vec<&str> = known.map(|store| store.name).collect();
        Problem::Own(format!("there is no store {name}: one of {}", names.join(", ")))
    })
}

/// What a put that fails was doing.
pub(super) fn putting(key: &str) -> String {
    format!("put {key}")
}

/// What a get that fails was doing.
pub(super) fn getting(key: &str) -> String {
    format!("get {key}")
}
