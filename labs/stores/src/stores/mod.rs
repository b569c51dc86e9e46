//! The stores. Each is one file and one line of the list.

mod mariadb;
mod memcached;
mod redb;
mod redis;
mod sqlite;
mod store;

pub(crate) use store::{Connection, Place, Store, store};
