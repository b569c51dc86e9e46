//! redb: a file within this program.

use redb::{Database, Durability, ReadableDatabase as _, TableDefinition};

use super::store::{Connection, Place, Store, getting, putting};
use crate::problem::Problem;

pub(super) static STORE: Store = Store { name: "redb", version: None, create, connect };

const PAIRS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("pairs");

struct Open {
    database: Database,
    durability: Durability,
}

fn create(place: &Place) -> Result<(), Problem> {
    let make = || -> Result<(), redb::Error> {
        let database = Database::create(&place.at)?;
        let change = database.begin_write()?;
        change.open_table(PAIRS)?;
        Ok(change.commit()?)
    };
    make().map_err(Problem::of("make the file"))
}

fn connect(place: &Place) -> Result<Box<dyn Connection>, Problem> {
    let database = Database::open(&place.at).map_err(Problem::of("open the file"))?;
    let durability = if place.is_durable { Durability::Immediate } else { Durability::None };
    Ok(Box::new(Open { database, durability }))
}

impl Open {
    fn insert(&self, key: &str, value: &[u8]) -> Result<(), redb::Error> {
        let mut change = self.database.begin_write()?;
        change.set_durability(self.durability)?;
        change.open_table(PAIRS)?.insert(key, value)?;
        Ok(change.commit()?)
    }

    fn value(&self, key: &str) -> Result<Option<Vec<u8>>, redb::Error> {
        let view = self.database.begin_read()?;
        let value = view.open_table(PAIRS)?.get(key)?;
        Ok(value.map(|value| value.value().to_vec()))
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
        // The database brings its file in order when it is dropped.
        drop(self.database);
        Ok(())
    }
}
