//! Somebody who reads the metrics of a server each second, as Prometheus would.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

const EVERY: Duration = Duration::from_secs(1);

/// Reads until it is dropped.
pub(crate) struct Scraper {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Scraper {
    /// Begins with one reading that has to succeed.
    pub(crate) fn start(socket: &Path) -> Result<Self> {
        let metrics = scrape(socket).context("cannot scrape the metrics")?;
        ensure!(metrics.contains("# EOF"), "the metrics have no end");
        let socket: PathBuf = socket.to_owned();
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // One that fails shows in the next run, which begins with one.
                let _ = scrape(&socket);
            }
        });
        Ok(Self {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Scraper {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

fn scrape(socket: &Path) -> Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
