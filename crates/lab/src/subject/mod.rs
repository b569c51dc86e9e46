//! Subjects as processes: found, started on private ports and folders, waited for, watched over, and certainly ended.

mod children;
mod folder;
mod found;
mod listening;
mod program;
mod ready;
mod running;

pub use children::Children;
pub use folder::{CopyError, copy_app};
pub use found::{Found, Missing, find_subject};
pub use listening::{holds, listeners};
pub use program::find;
pub use ready::NotReady;
pub use running::{Running, StartError, Wanted};

pub(crate) use children::{cores_here, tree};
pub(crate) use found::{of_command, ours};
pub(crate) use program::first_line;
