//! `MariaDB`, and `MySQL`.

use mysql::prelude::Queryable as _;
use mysql::{Conn, OptsBuilder, Statement};

use super::store::{Connection, Place, Store, getting, putting};
use crate::problem::Problem;

pub(super) static STORE: Store = Store { name: "mariadb", version: None, create, connect };

/// The database, which is created for each run.
const DATABASE: &str = "lab";

struct Open {
    session: Conn,
    insert: Statement,
    select: Statement,
}

fn create(place: &Place) -> Result<(), Problem> {
    let make = || -> mysql::Result<()> {
        let mut session = session(place, None)?;
        session.query_drop(format!("DROP DATABASE IF EXISTS {DATABASE}"))?;
        session.query_drop(format!("CREATE DATABASE {DATABASE}"))?;
        let index = if place.has_index { ", UNIQUE KEY pairs_by_name (name)" } else { "" };
        session.query_drop(format!(
            "CREATE TABLE {DATABASE}.pairs (name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, \
             value BLOB NOT NULL{index}) ENGINE = InnoDB"
        ))
    };
    make().map_err(Problem::of("make the table"))
}

fn connect(place: &Place) -> Result<Box<dyn Connection>, Problem> {
    let open = || -> mysql::Result<Open> {
        let mut session = session(place, Some(DATABASE))?;
        let insert = session.prep("INSERT INTO pairs (name, value) VALUES (?, ?)")?;
        let select = session.prep("SELECT value FROM pairs WHERE name = ? LIMIT 1")?;
        Ok(Open { session, insert, select })
    };
    Ok(Box::new(open().map_err(Problem::of("connect to MariaDB"))?))
}

fn session(place: &Place, database: Option<&str>) -> mysql::Result<Conn> {
    let options = OptsBuilder::new()
        .socket(Some(place.at.display().to_string()))
        .user(Some("root"))
        .db_name(database);
    Conn::new(options)
}

impl Connection for Open {
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Problem> {
        let put = self.session.exec_drop(&self.insert, (key, value));
        put.map_err(Problem::of(putting(key)))
    }

    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, Problem> {
        let value = self.session.exec_first(&self.select, (key,));
        value.map_err(|error: mysql::Error| Problem::of(getting(key))(error))
    }

    fn close(self: Box<Self>) -> Result<(), Problem> {
        // The session says so to the server when it is dropped.
        drop(self.session);
        Ok(())
    }
}
