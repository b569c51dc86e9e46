//! Redis and what speaks its protocol: Valkey.

use redis::{Client, Connection as Session, RedisError, cmd};

use super::store::{Connection, Place, Store, getting, putting};
use crate::problem::Problem;

pub(super) static STORE: Store = Store { name: "redis", version: None, create, connect };

struct Open(Session);

fn create(place: &Place) -> Result<(), Problem> {
    let mut session = session(place)?;
    let emptied: Result<(), RedisError> = cmd("FLUSHALL").exec(&mut session);
    emptied.map_err(Problem::of("empty the store"))
}

fn connect(place: &Place) -> Result<Box<dyn Connection>, Problem> {
    Ok(Box::new(Open(session(place)?)))
}

fn session(place: &Place) -> Result<Session, Problem> {
    let address = format!("redis+unix://{}", place.at.display());
    let client = Client::open(address).map_err(Problem::of("understand the address"))?;
    client.get_connection().map_err(Problem::of("connect to the store"))
}

impl Connection for Open {
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Problem> {
        let put: Result<(), RedisError> = cmd("SET").arg(key).arg(value).exec(&mut self.0);
        put.map_err(Problem::of(putting(key)))
    }

    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, Problem> {
        let value = cmd("GET").arg(key).query(&mut self.0);
        value.map_err(|error: RedisError| Problem::of(getting(key))(error))
    }

    fn close(mut self: Box<Self>) -> Result<(), Problem> {
        let ended: Result<(), RedisError> = cmd("QUIT").exec(&mut self.0);
        ended.map_err(Problem::of("take leave of the store"))
    }
}
