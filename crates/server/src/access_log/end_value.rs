//! The values that are known when an exchange has ended, as they stand in a line.

use std::net::IpAddr;

use vervet_engine::exchange::Finished;

use super::layout::Found;
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

impl<'a> Line<'a> {
    pub(super) fn segment(&self, index: usize) -> Option<&'a [u8]> {
        self.record?.segment(self.first.0 + index)
    }

    pub(super) fn response(&self, index: usize) -> Option<&'a [u8]> {
        self.record?.response(self.first.1 + index)
    }

    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.finished.peer.map(|peer| peer.ip())
    }

    pub(super) fn client(&self) -> Option<IpAddr> {
        self.record.and_then(Record::client).or_else(|| self.peer())
    }
}

/// The value of a piece at the end of an exchange.
pub(super) fn find<'a>(value: &Value, line: &Line<'a>) -> Found<'a> {
    let finished = line.finished;
    let origin = || line.record.map(Record::origin).unwrap_or_default();
    match value {
        Value::Forwarder if line.client() == line.peer() => Found::Nothing,
        Value::Port => finished
            .peer
            .map_or(Found::Nothing, |peer| Found::Number(u64::from(peer.port()))),
        Value::Bytes => Found::Number(finished.content_bytes),
        Value::Milliseconds => Found::Number(finished.duration_ms),
        Value::Site => Found::foreign(line.names.site(origin()).map(str::as_bytes)),
        Value::Route => Found::foreign(line.names.route(origin()).map(str::as_bytes)),
        Value::Fault => Found::foreign(finished.fault.map(str::as_bytes)),
        Value::Sampled if line.sample <= 1 => Found::Nothing,
        Value::Sample | Value::Sampled => Found::Number(u64::from(line.sample)),
        Value::FaultInBrackets if finished.fault.is_none() => Found::Nothing,
        _ => Found::Composed,
    }
}

/// Appends a value that is not there as such.
pub(super) fn compose(out: &mut Vec<u8>, value: &Value, line: &Line<'_>) {
    let finished = line.finished;
    match value {
        Value::Client => push_address(out, line.client()),
        Value::Peer | Value::Forwarder => push_address(out, line.peer()),
        Value::Time(style) => line.clock.push(out, *style),
        Value::Status => push_three(out, finished.status.code()),
        Value::Seconds => {
            push_number(out, finished.duration_ms / 1000);
            out.push(b'.');
            push_three(out, (finished.duration_ms % 1000) as u16);
        }
        _ => pretty::push(out, value, line),
    }
}
