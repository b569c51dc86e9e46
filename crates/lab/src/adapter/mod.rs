//! Adapters: how each server is found and started. An adapter is one file, and its two lines here.
//!
//! An adapter starts nothing: it receives a [`Setup`] and returns what to start with which files
//! ([`Launch`]); [`crate::subject`] starts it.

mod apache;
mod apache_php;
mod bjoern;
mod granian;
mod gunicorn;
mod h2o;
mod lighttpd;
mod nginx;
mod nginx_phpfpm;
mod python;
mod setup;
mod tornado;
mod uvicorn;
mod uwsgi;
mod vervet;

pub use setup::{Kind, Launch, Process, Row, Settings, Setup, Traffic};

pub(crate) use apache_php::has_php_module;
pub(crate) use nginx_phpfpm::has_php_fpm;

/// All adapters, in the order in which they are listed.
pub const ADAPTERS: &[&Adapter] = &[
    &vervet::ADAPTER,
    &nginx::ADAPTER,
    &lighttpd::ADAPTER,
    &h2o::ADAPTER,
    &apache::ADAPTER,
    &apache_php::ADAPTER,
    &nginx_phpfpm::ADAPTER,
    &tornado::ADAPTER,
    &gunicorn::ADAPTER,
    &granian::ADAPTER,
    &uvicorn::ADAPTER,
    &uwsgi::ADAPTER,
    &bjoern::ADAPTER,
];

/// How one kind of server is found and started.
#[derive(Debug)]
pub struct Adapter {
    /// Its name in a lab file.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Where its program is looked for.
    pub program: Program,
    /// Further programs, packages or modules that it needs.
    pub beside: &'static [&'static str],
    /// How to get it, as the end of the sentence "to get it, ...".
    pub get: &'static str,
    /// What it serves: files or an application.
    pub serves: Serves,
    /// What a lab file may set.
    pub settings: &'static [Row],
    /// The arguments with which its program prints its version.
    pub version: &'static [&'static str],
    /// What is to be started.
    pub launch: fn(&Setup<'_>) -> Launch,
}

/// Where a program is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// This very program, or the first `vervet` in `PATH`.
    Ours,
    /// The first of these names in `PATH` and the system's folders.
    Named(&'static [&'static str]),
    /// A Python that has this module.
    Module(&'static str),
}

/// What an adapter serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// The generated files; with `app` the pages that it holds.
    Files,
    /// Serves the application in `app`, which is required.
    App,
}

/// The adapter of a name.
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().copied().find(|one| one.name == name)
}

/// The names of all.
pub fn names() -> Vec<&'static str> {
    ADAPTERS.iter().map(|one| one.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_there_once_and_says_how_to_get_it() {
        let mut names = names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ADAPTERS.len());
        for one in ADAPTERS {
            assert!(!one.about.is_empty() && !one.get.is_empty(), "{}", one.name);
            assert_eq!(adapter(one.name).map(|found| found.name), Some(one.name));
        }
        assert!(adapter("no-such-server").is_none());
    }

    /// The folder of the adapters.
    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/adapter");

    /// An adapter that is added touches its own file and this one: no other file names it.
    #[test]
    fn an_adapter_touches_two_files() {
        let source = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
        let files: Vec<_> =
            std::fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path()).collect();
        let adapters = files
            .iter()
            .filter(|file| !file.ends_with("mod.rs"))
            .filter(|file| source(file).contains("static ADAPTER: Adapter"));
        let mut count = 0;
        for adapter in adapters {
            let name = adapter.file_stem().unwrap().to_str().unwrap();
            let named = [format!("&{name}::ADAPTER"), format!("mod {name};")];
            let naming = files.iter().filter(|file| {
                let text = source(file);
                named.iter().any(|piece| text.contains(piece.as_str()))
            });
            let naming: Vec<_> =
                naming.map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
            assert_eq!(naming, ["mod.rs"], "{name}");
            count += 1;
        }
        assert_eq!(count, ADAPTERS.len());
    }

    #[test]
    fn defaults_of_settings_are_values_of_them() {
        for row in ADAPTERS.iter().flat_map(|one| one.settings) {
            assert_eq!(row.refusal(row.default), None, "{}", row.name);
        }
    }
}
