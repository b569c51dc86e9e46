//! JSON: one document that is written as it goes, so that an hour takes no more memory than a
//! second; or a line for each record.

use std::io::{self, Write};

use serde::Serialize;
use vervet_watch::{Head, Record, Sample, Summary};

use super::watch_loop::View;

/// One document.
#[derive(Debug)]
pub(crate) struct Document<W> {
    to: W,
    /// What stands before the next sample.
    separator: &'static str,
}

impl<W: Write> Document<W> {
    /// Written to `to`.
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            separator: "\n",
        }
    }
}

impl<W: Write> View for Document<W> {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        write!(self.to, "{{\"head\":{},\n\"samples\":[", text(head)?)
    }

    fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        write!(self.to, "{}{}", self.separator, text(sample)?)?;
        self.separator = ",\n";
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        writeln!(self.to, "\n],\n\"summary\":{}}}", text(summary)?)?;
        self.to.flush()
    }
}

/// A line for each record.
#[derive(Debug)]
pub(crate) struct Lines<W>(W);

impl<W: Write> Lines<W> {
    /// Written to `to`.
    pub(crate) fn new(to: W) -> Self {
        Self(to)
    }

    fn line(&mut self, record: &Record) -> io::Result<()> {
        writeln!(self.0, "{}", text(record)?)?;
        self.0.flush()
    }
}

impl<W: Write> View for Lines<W> {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        self.line(&Record::Head(head.clone()))
    }

    fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        self.line(&Record::Sample(Box::new(sample.clone())))
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.line(&Record::Summary(Box::new(summary.clone())))
    }
}

fn text(value: &impl Serialize) -> io::Result<String> {
    serde_json::to_string(value).map_err(io::Error::from)
}
