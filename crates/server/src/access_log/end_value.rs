//! The values that are known when an exchange has ended, as they stand in a line.

use std::net::IpAddr;

use vervet_engine::exchange::Finished;

use super::layout::{Piece, put};
use super::number::{push_address, push_number, push_three};
use super::plan::Names;
use super::pretty;
use super::record::Record;
use super::variable::Value;
use super::when::Clock;

/// All that a line is made of at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// What was noted of the request; none for what the engine refused before a handler saw it.
    pub(super) record: Option<&'a Record>,
    /// The first of the record's segments that is of this line, and the first of its response fields.
    pub(super) first: (usize, usize),
    pub(super) finished: &'a Finished<'a>,
    pub(super) names: &'a Names,
    pub(super) clock: &'a Clock,
    /// How many requests the line stands for.
    pub(super) sample: u32,
}

impl Line<'_> {
    pub(super) fn segment(&self, index: usize) -> Option<&[u8]> {
        self.record?.segment(self.first.0 + index)
    }

    pub(super) fn response(&self, index: usize) -> Option<&[u8]> {
        self.record?.response(self.first.1 + index)
    }

    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.finished.peer.map(|peer| peer.ip())
    }

    pub(super) fn client(&self) -> Option<IpAddr> {
        self.record.and_then(Record::client).or_else(|| self.peer())
    }
}

/// Appends the value of a piece. Says whether it is known.
pub(super) fn push(out: &mut Vec<u8>, piece: &Piece, line: &Line<'_>) -> bool {
    let (finished, form) = (line.finished, piece.form);
    let origin = || line.record.map(Record::origin).unwrap_or_default();
    match &piece.value {
        Value::Client => push_address(out, line.client()),
        Value::Forwarder if line.client() == line.peer() => return false,
        Value::Peer | Value::Forwarder => push_address(out, line.peer()),
        Value::Port => {
            return finished
                .peer
                .is_some_and(|peer| push_number(out, u64::from(peer.port())));
        }
        Value::Time(style) => line.clock.push(out, *style),
        Value::Status => push_three(out, u32::from(finished.status.code())),
        Value::Bytes => return push_number(out, finished.content_bytes),
        Value::Milliseconds => return push_number(out, finished.duration_ms),
        Value::Seconds => {
            push_number(out, finished.duration_ms / 1000);
            out.push(b'.');
            push_three(out, (finished.duration_ms % 1000) as u32);
        }
        Value::Site => {
            let name = line.names.site(origin());
            return name.is_some_and(|name| put(out, name.as_bytes(), form));
        }
        Value::Route => {
            let name = line.names.route(origin());
            return name.is_some_and(|name| put(out, name.as_bytes(), form));
        }
        Value::Fault => {
            return finished
                .fault
                .is_some_and(|fault| put(out, fault.as_bytes(), form));
        }
        Value::Sampled if line.sample <= 1 => return false,
        Value::Sample | Value::Sampled => return push_number(out, u64::from(line.sample)),
        _ => return pretty::push(out, &piece.value, line),
    }
    true
}
