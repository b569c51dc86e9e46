//! `vervet run`: the sites of a configuration file.

use std::process::ExitCode;

use clap::Args;
use vervet_server::engine::Carrier;
use vervet_server::web::TraceRule;

use super::lifecycle::ConfigurationSource;
use super::start::{Launch, launch};
use crate::config::{Examiner, FileArguments, plan, read};
use crate::default_listen::DefaultListen;
use crate::environment;
use crate::failure::Failure;

/// The arguments of `vervet run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) file: FileArguments,
    /// Log how each request is processed, step by step with timings, to the error log; with RULE,
    /// only requests whose path matches a pattern such as /shop/*, or whose client is in a network
    /// such as 10.0.0.0/8; repeatable
    #[arg(
        long,
        value_name = "RULE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "*"
    )]
    pub(crate) trace: Vec<TraceRule>,
}

/// Serves a configuration file until a signal ends the process.
pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let file = &arguments.file;
    let inherited = environment::inherited()?;
    let default_listen = DefaultListen::from_environment(&inherited)?.addresses();
    let examiner = Examiner::Starting(Some(&file.file));
    let planned = plan(read(file)?, &file.file, &default_listen, examiner)?;
    let source = ConfigurationSource::File { file: file.clone(), default_listen };
    launch(Launch { planned, source, inherited, carrier: Carrier::Thread, trace: &arguments.trace })
}
