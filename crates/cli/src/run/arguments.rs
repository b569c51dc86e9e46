//! What can be typed after `vervet run`.

use clap::Args;
use vervet_server::web::TraceRule;

use crate::config::FileArguments;

/// What is served.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) file: FileArguments,
    /// Tell on the error log how each request was decided, part by part with its time; with a RULE, only requests whose
    /// path fits a pattern such as /shop/*, or whose client is an address or in a network; repeatable
    #[arg(
        long,
        value_name = "RULE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "*"
    )]
    pub(crate) trace: Vec<TraceRule>,
}
