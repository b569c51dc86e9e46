//! What is to be started.

use std::path::{Path, PathBuf};

/// What is to be started: files that are written first, then processes in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Files of the subject's own folder, by name, with what is written into them.
    pub files: Vec<(String, String)>,
    /// The processes; all of them together are the subject.
    pub parts: Vec<Part>,
}

/// One process of a subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables that are added to its environment.
    pub environment: Vec<(String, String)>,
    /// A file, such as the socket of the one before, that has to be there before it is started.
    pub after: Option<PathBuf>,
}

impl Launch {
    /// One process.
    pub fn of<'a>(program: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        Self::default().and(program, arguments)
    }

    /// One process more.
    #[must_use]
    pub fn and<'a>(mut self, program: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let program = program.display().to_string();
        let arguments = arguments.into_iter().map(str::to_owned);
        self.parts.push(Part {
            command: std::iter::once(program).chain(arguments).collect(),
            ..Part::default()
        });
        self
    }

    /// The last process is started when a file, such as the socket of the one before, is there.
    #[must_use]
    pub fn after(mut self, file: &str) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.after = Some(file.into());
        }
        self
    }

    /// With a file.
    #[must_use]
    pub fn file(mut self, name: &str, text: impl Into<String>) -> Self {
        self.files.push((name.to_owned(), text.into()));
        self
    }

    /// With a variable for all processes.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        for part in &mut self.parts {
            part.environment.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}
