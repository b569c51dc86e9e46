//! Subjects as processes: found, started on private ports and folders, waited for, watched over,
//! and certainly ended.

mod children;
mod folder;
mod program;
mod ready;
mod running;

pub use children::Children;
pub use folder::{CopyError, copy_app};
pub use program::{Missing, SubjectProgram, find, find_subject};
pub use ready::{NotReady, holds, listeners};
pub use running::{Running, StartError, StartOptions};

pub(crate) use children::{cores_here, tree};
pub(crate) use program::{first_line, of_command, ours};
pub(crate) use running::end_of;
