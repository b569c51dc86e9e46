//! Pages: templates that are rendered for each request.
//!
//! [`Page`] is what reactors share: options, files, the last valid edition. [`Renderer`] renders it
//! on one reactor, without a socket. [`PageAction`] answers with it. The language is that of
//! minijinja; `docs/pages.md` is the guide.

mod checks;
mod edition;
mod effects;
mod folder;
mod form;
mod handler;
mod input;
mod limited;
pub mod limits;
mod lines;
mod moment;
mod notice;
mod options;
mod outline;
mod outline_walk;
mod page;
mod pairs;
mod parameter_settings;
mod parameters;
mod problem;
mod rendered;
mod renderer;
mod scope;
mod set_cookie;
mod settings;
mod sized;
mod sources;
mod target;

pub use handler::{PageAction, PageHandler};
pub use input::Input;
pub use limits::PageLimits;
pub use options::{Mode, PageOptions, StandardError};
pub use page::{Counts, Page, PageError};
pub use parameter_settings::{ParameterKind, ParameterSettings, Plain};
pub use parameters::{Absent, BadParameter, Parameter, ParameterType, Source};
pub use problem::PageProblem;
pub use rendered::{Rendered, Voice};
pub use renderer::Renderer;
pub use settings::{PageSettings, PageSetup};
