//! `SQLite`: a file within this program.

use rusqlite::{Connection as Database, OptionalExtension as _};

use super::store::{Connection, Place, Store, getting, putting};
use crate::problem::Problem;

pub(super) static STORE: Store =
    Store { name: "sqlite", version: Some(rusqlite::version), create, connect };

const TABLE: &str = "PRAGMA journal_mode = WAL;
CREATE TABLE pairs (name TEXT NOT NULL, value BLOB NOT NULL);";
const INDEX: &str = "CREATE UNIQUE INDEX pairs_by_name ON pairs (name);";

struct Open(Database);

fn create(place: &Place) -> Result<(), Problem> {
    let make = || -> rusqlite::Result<()> {
        let database = Database::open(&place.at)?;
        database.execute_batch(TABLE)?;
        if place.has_index {
            database.execute_batch(INDEX)?;
        }
        database.close().map_err(|(_, error)| error)
    };
    make().map_err(Problem::of("make the file"))
}

fn connect(place: &Place) -> Result<Box<dyn Connection>, Problem> {
    let open = || -> rusqlite::Result<Database> {
        let database = Database::open(&place.at)?;
        let when = if place.is_durable { "FULL" } else { "OFF" };
        database.pragma_update(None, "synchronous", when)?;
        Ok(database)
    };
    Ok(Box::new(Open(open().map_err(Problem::of("open the file"))?)))
}

impl Open {
    fn insert(&self, key: &str, value: &[u8]) -> rusqlite::Result<()> {
        let insert = "INSERT INTO pairs (name, value) VALUES (?1, ?2)";
        self.0.prepare_cached(insert)?.execute((key, value))?;
        Ok(())
    }

    fn value(&self, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
        let select = "SELECT value FROM pairs WHERE name = ?1 LIMIT 1";
        let mut select = self.0.prepare_cached(select)?;
        select.query_row((key,), |row| row.get(0)).optional()
    }
}

impl Connection for Open {
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Problem> {
        self.insert(key, value).map_err(Problem::of(putting(key)))
    }

    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, Problem> {
        self.value(key).map_err(Problem::of(getting(key)))
    }

    fn close(self: Box<Self>) -> Result<(), Problem> {
        let closed = self.0.close().map_err(|(_, error)| error);
        closed.map_err(Problem::of("close the file"))
    }
}
