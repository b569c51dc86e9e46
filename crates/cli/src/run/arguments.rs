//! What can be typed after `vervet run`.

use clap::Args;

use crate::config::FileArguments;

/// What is served.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) file: FileArguments,
}
