//! The phases, one after the other, each with its time.

use std::fmt::Arguments;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::pairs::Pairs;
use crate::problem::Problem;
use crate::stores::{Connection, Place, Store};

/// Passes through all phases of a store and tells each as it ends.
pub(crate) fn pass(
    store: &Store,
    place: &Place,
    pairs: &Pairs,
    output: &mut dyn Write,
) -> Result<(), Problem> {
    if let Some(version) = store.version {
        tell(output, format_args!("fact version {}", version()))?;
    }
    let begin = Instant::now();
    (store.create)(place)?;
    ended(output, "create", 1, begin.elapsed())?;

    let begin = Instant::now();
    let mut connection = (store.connect)(place)?;
    ended(output, "connect", 1, begin.elapsed())?;

    let begin = Instant::now();
    put(connection.as_mut(), pairs)?;
    ended(output, "put", pairs.count(), begin.elapsed())?;

    let order = pairs.drawn();
    let begin = Instant::now();
    get(connection.as_mut(), pairs, &order)?;
    ended(output, "get", pairs.count(), begin.elapsed())?;

    let begin = Instant::now();
    connection.close()?;
    ended(output, "close", 1, begin.elapsed())
}

fn put(connection: &mut dyn Connection, pairs: &Pairs) -> Result<(), Problem> {
    let (mut key, mut value) = (String::new(), Vec::new());
    for number in pairs.in_order() {
        Pairs::key(number, &mut key);
        pairs.value(number, &mut value);
        connection.put(&key, &value)?;
    }
    Ok(())
}

fn get(connection: &mut dyn Connection, pairs: &Pairs, order: &[u32]) -> Result<(), Problem> {
    let (mut key, mut value) = (String::new(), Vec::new());
    for &number in order {
        Pairs::key(number, &mut key);
        pairs.value(number, &mut value);
        match connection.get(&key)? {
            Some(found) if found == value => {}
            Some(found) => return Err(Problem::Wrong(another(&key, &value, &found))),
            None => {
                let what = format!("wrong answer: {key} was put and is not there");
                return Err(Problem::Wrong(what));
            }
        }
    }
    Ok(())
}

/// What is said of a value that is not the one that was put.
fn another(key: &str, put: &[u8], found: &[u8]) -> String {
    const SHOWN: usize = 40;
    let shown = |value: &[u8]| value[..value.len().min(SHOWN)].escape_ascii().to_string();
    format!(
        "wrong answer: {key} has the value `{}` ({} bytes), and was put as `{}` ({} bytes)",
        shown(found),
        found.len(),
        shown(put),
        put.len()
    )
}

/// Reports a phase that has ended, at once, so that progress is visible.
fn ended(
    output: &mut dyn Write,
    phase: &str,
    operations: u32,
    time: Duration,
) -> Result<(), Problem> {
    let time = time.as_nanos();
    tell(output, format_args!("phase {phase} {operations} {time}"))
}

fn tell(output: &mut dyn Write, line: Arguments<'_>) -> Result<(), Problem> {
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .map_err(|error| Problem::Own(format!("cannot tell what was found: {error}")))
}
