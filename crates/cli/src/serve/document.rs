//! The configuration of the flags of `vervet serve`. Values are passed as text: the configuration
//! parses them, and its findings name the flag.

use std::path::Path;
use std::time::Duration;

use vervet_server::config::{Documents, Reading, Size, Time};
use vervet_server::engine::limits::Limits;
use vervet_server::settings::Document;

use super::arguments::{LogArguments, ServeArguments};
use crate::default_listen::ListenerAddress;
use crate::failure::Failure;

/// Internal name of the access log.
const LOG: &str = "access";

/// Reads the flags as a document that listens at these addresses.
///
/// # Errors
/// A path is not valid UTF-8.
pub(super) fn read(
    arguments: &ServeArguments,
    listen: &[ListenerAddress],
) -> Result<Reading<Document>, Failure> {
    // Environment variables are flags already: the parser of the command line reads them.
    let mut document = Documents::new(&|_| None);
    add_process(&mut document, arguments);
    let account = [("user", &arguments.account.user), ("group", &arguments.account.group)];
    for (directive, name) in account {
        if let Some(name) = name {
            document.flag_within(directive, &format!("--{directive}"), name);
        }
    }
    let log = add_log(&mut document, &arguments.log)?;
    for place in listen {
        add_listener(&mut document, arguments, place);
    }
    document.open_table("site");
    if let Some(log) = log {
        document.flag_within("log", "--log", log);
    }
    add_files(&mut document, arguments)?;
    Ok(document.read())
}

fn add_process(document: &mut Documents<'_>, arguments: &ServeArguments) {
    let work = &arguments.work;
    document.flag_within("workers", "--workers", &work.workers);
    document.flag_within("overload", "--overload", &work.overload);
    let drain = work.drain_timeout.iter();
    let drain = drain.map(|time| ("drain_timeout_ms", "--drain-timeout", with_seconds(time)));
    let limits = work.limit.iter().map(|(name, value)| {
        let value = with_unit_of(name, value);
        (name.as_str(), "--limit", value)
    });
    let limits: Vec<_> = limits.chain(drain).collect();
    for (index, (name, flag, value)) in limits.iter().enumerate() {
        // The last value of a limit counts.
        if limits[index + 1..].iter().all(|(later, ..)| later != name) {
            document.flag_within(&format!("limits.{name}"), flag, value);
        }
    }
}

/// Declares the access log, and returns its name; `None` without one.
fn add_log(
    document: &mut Documents<'_>,
    arguments: &LogArguments,
) -> Result<Option<&'static str>, Failure> {
    let is_stdout = arguments.log_file == Path::new("-");
    let default = if is_stdout { "pretty" } else { "combined" };
    let format = arguments.log.as_deref().unwrap_or(default);
    if format == "none" {
        return Ok(None);
    }
    document.flag_within(&format!("log.{LOG}.format"), "--log", format);
    if is_stdout {
        document.flag_within(&format!("log.{LOG}.stream"), "--log-file", "stdout");
    } else {
        let file = text(&arguments.log_file)?;
        document.flag_within(&format!("log.{LOG}.file"), "--log-file", file);
    }
    Ok(Some(LOG))
}

fn add_listener(document: &mut Documents<'_>, arguments: &ServeArguments, place: &ListenerAddress) {
    let (listen, sockets) = (&arguments.listen, &arguments.sockets);
    document.open_table("listen");
    let mut flag = |directive, flag, value: &str| document.flag_within(directive, flag, value);
    flag("address", "--listen", &place.address.to_string());
    if let Some(mode) = &listen.unix_mode {
        flag("mode", "--unix-mode", mode);
    }
    if !listen.proxy_protocol.is_empty() {
        let networks = listen.proxy_protocol.join(",");
        flag("proxy_protocol_from", "--proxy-protocol", &networks);
    }
    flag("backlog", "--backlog", &sockets.backlog.to_string());
    flag("fastopen", "--fastopen", &sockets.fastopen.to_string());
    if sockets.reuse_port {
        flag("reuse_port", "--reuse-port", "true");
    }
    if sockets.no_defer_accept {
        flag("defer_accept", "--no-defer-accept", "0s");
    }
    if let Some(congestion) = &sockets.congestion {
        flag("congestion", "--congestion", congestion);
    }
}

fn add_files(document: &mut Documents<'_>, arguments: &ServeArguments) -> Result<(), Failure> {
    let files = &arguments.files;
    let mut flag = |directive, flag, value: &str| document.flag_within(directive, flag, value);
    flag("root.root", "PATH", text(&arguments.path)?);
    flag("root.index", "--index", &files.index.join(","));
    flag("root.max_age", "--max-age", &with_seconds(&files.max_age));
    let listing = if files.no_listing { "false" } else { "true" };
    flag("root.listing", "--no-listing", listing);
    if files.spa {
        flag("root.spa", "--spa", "true");
    }
    if files.hidden {
        flag("root.hidden", "--hidden", "true");
    }
    if files.follow_symlinks {
        flag("root.symlinks", "--follow-symlinks", "follow");
    }
    if files.no_compression {
        flag("root.compression", "--no-compression", "off");
    }
    Ok(())
}

fn text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| Failure::Other(format!("{} is not valid UTF-8", path.display())))
}

/// A time; a bare number is in seconds. An invalid one stays as it is, for the findings.
fn with_seconds(time: &str) -> String {
    with_unit(time, Duration::from_secs(1))
}

/// The value of a limit. A bare number is in the unit of the limit; `k`, `m` and `g` count in 1024
/// for bytes, in 1000 for other things.
fn with_unit_of(limit: &str, value: &str) -> String {
    let unit = Limits::row(limit).map_or("", |row| row.unit);
    if unit == "ms" {
        return with_unit(value, Duration::from_millis(1));
    }
    let step = if unit.starts_with("bytes") { 1024 } else { 1000 };
    let number = Size::with_step(value, step).map(Size::bytes);
    number.map_or_else(|_| value.to_owned(), |number| number.to_string())
}

fn with_unit(time: &str, default_unit: Duration) -> String {
    let read = Time::with_default_unit(time, default_unit);
    read.map_or_else(|_| time.to_owned(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: &str, value: &str, expected: &str) {
        assert_eq!(with_unit_of(limit, value), expected, "{limit}={value}");
    }

    #[test]
    fn bare_numbers_have_the_unit_of_the_limit() {
        check("head_timeout_ms", "500", "500ms");
        check("head_timeout_ms", "1.5s", "1s500ms");
        check("head_bytes_max", "64", "64");
        check("head_bytes_max", "64k", "65536");
        check("head_bytes_max", "64KB", "64000");
        check("content_bytes_max", "1.5m", "1572864");
        check("content_rate_min", "1K", "1024");
        check("requests_per_connection_max", "10k", "10000");
        check("requests_per_connection_max", "many", "many");
        check("no_such_limit", "64", "64");
        assert_eq!(with_seconds("30"), "30s");
        assert_eq!(with_seconds("30ms"), "30ms");
    }
}
