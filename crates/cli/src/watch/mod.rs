//! `vervet watch`: what a tree of processes uses, as a table, a live view or data.

mod arguments;
mod command;
mod data;
mod live;
mod rates;
mod summary;
mod table;
mod watch_loop;

pub(crate) use arguments::WatchArguments;
pub(crate) use command::watch;
pub(crate) use summary::described;
