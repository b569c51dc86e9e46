//! The target of a watch, as given on the command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Suffixes of systemd units that have a cgroup.
const UNITS: &[&str] = &[".service", ".scope", ".slice"];

/// A process tree, by process ID, name, port or cgroup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A process and its descendants.
    Pid(u32),
    /// All processes with that name, and their descendants.
    Name(String),
    /// The processes that listen on that TCP port, and their descendants.
    Port(u16),
    /// The processes of a cgroup and its descendants; an absolute path, with or without the mount
    /// point.
    Cgroup(PathBuf),
    /// The processes of a systemd unit.
    Unit(String),
    /// A bare number: the process ID or the port.
    Number(u32),
}

impl FromStr for Target {
    type Err = TargetError;

    /// `1234`, `pid:1234`, `:8080`, `port:8080`, `nginx`, `name:nginx`, `nginx.service`,
    /// `unit:nginx`, `/sys/fs/cgroup/a`, `cgroup:/a`.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let pid = |text: &str| {
            let pid = text.parse().ok().filter(|pid| *pid != 0);
            pid.ok_or_else(|| TargetError::Pid(text.to_owned()))
        };
        let port = |text: &str| {
            let port = text.parse().ok().filter(|port| *port != 0);
            port.ok_or_else(|| TargetError::Port(text.to_owned()))
        };
        match text.split_once(':') {
            Some((_, "")) => Err(TargetError::Empty),
            Some(("pid", rest)) => pid(rest).map(Self::Pid),
            Some(("" | "port", rest)) => port(rest).map(Self::Port),
            Some(("name", rest)) => Ok(Self::Name(rest.to_owned())),
            Some(("cgroup", rest)) => {
                Ok(Self::Cgroup(format!("/{}", rest.trim_matches('/')).into()))
            }
            Some(("unit", rest)) if UNITS.iter().any(|end| rest.ends_with(end)) => {
                Ok(Self::Unit(rest.to_owned()))
            }
            Some(("unit", rest)) => Ok(Self::Unit(format!("{rest}.service"))),
            _ if text.trim().is_empty() => Err(TargetError::Empty),
            _ if text.bytes().all(|byte| byte.is_ascii_digit()) => pid(text).map(Self::Number),
            _ if text.starts_with('/') => Ok(Self::Cgroup(text.into())),
            _ if UNITS.iter().any(|end| text.ends_with(end)) => Ok(Self::Unit(text.to_owned())),
            _ => Ok(Self::Name(text.to_owned())),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pid(pid) => write!(f, "pid:{pid}"),
            Self::Name(name) => write!(f, "name:{name}"),
            Self::Port(port) => write!(f, "port:{port}"),
            Self::Cgroup(path) => write!(f, "cgroup:{}", path.display()),
            Self::Unit(unit) => write!(f, "unit:{unit}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// Why a text is not a valid target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// The text, or the part after the prefix, is empty.
    Empty,
    /// `pid:` is not followed by a process ID.
    Pid(String),
    /// `port:` is not followed by a port from 1 to 65535.
    Port(String),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "the target is empty: expected a process ID, a name, a port or a cgroup",
            ),
            Self::Pid(text) => write!(f, "\"{}\" is not a process ID", text.escape_debug()),
            Self::Port(text) => {
                write!(f, "\"{}\" is not a port (1 to 65535)", text.escape_debug())
            }
        }
    }
}

impl std::error::Error for TargetError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Target, TargetError>) {
        assert_eq!((text, text.parse()), (text, expected));
    }

    #[test]
    fn invalid_targets_are_refused() {
        for text in ["", " ", "pid:", "name:", ":"] {
            check(text, Err(TargetError::Empty));
        }
        for text in ["0", "-1", "x", "4294967296"] {
            check(&format!("pid:{text}"), Err(TargetError::Pid(text.into())));
        }
        for text in ["0", "-1", "http", "65536"] {
            check(&format!(":{text}"), Err(TargetError::Port(text.into())));
            check(&format!("port:{text}"), Err(TargetError::Port(text.into())));
        }
        check("0", Err(TargetError::Pid("0".into())));
    }

    #[test]
    fn each_kind_has_its_spelling_and_a_prefix() {
        check("12", Ok(Target::Number(12)));
        check("pid:12", Ok(Target::Pid(12)));
        check(":80", Ok(Target::Port(80)));
        check("port:65535", Ok(Target::Port(65535)));
        check("nginx", Ok(Target::Name("nginx".into())));
        check("name:12", Ok(Target::Name("12".into())));
        check("nginx: master", Ok(Target::Name("nginx: master".into())));
        check("nginx.service", Ok(Target::Unit("nginx.service".into())));
        check("unit:nginx", Ok(Target::Unit("nginx.service".into())));
        check("unit:user.slice", Ok(Target::Unit("user.slice".into())));
        check("/sys/fs/cgroup/a", Ok(Target::Cgroup("/sys/fs/cgroup/a".into())));
        check("cgroup:a/b/", Ok(Target::Cgroup("/a/b".into())));
    }

    #[test]
    fn displayed_targets_parse() {
        for text in ["12", "pid:12", "port:80", "name:a b", "unit:a.scope", "cgroup:/a"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
    }
}
