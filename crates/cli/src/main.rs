//! The vervet command.

mod arguments;
mod config;
mod console;
mod default_listen;
mod deferred;
mod environment;
mod failure;
mod lab;
mod load;
mod passwd;
mod reference;
mod run;
mod serve;
mod terminal;
mod version;
mod watch;

use std::process::ExitCode;

use arguments::Command;

// musl's takes a lock for every call: with two workers it is what they wait for. glibc's costs a
// tenth of a request whose file was not in memory, and keeps more of what it has had.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let result = match arguments::read().command {
        Command::Serve(arguments) => serve::serve(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Check(arguments) => config::check(&arguments),
        Command::Config(command) => config::config(&command),
        Command::Version(arguments) => version::print(&arguments),
        Command::Limits => config::limits(),
        Command::Passwd(arguments) => passwd::passwd(&arguments),
        Command::Watch(arguments) => watch::watch(&arguments),
        Command::Load(arguments) => load::load(&arguments),
        Command::Lab(command) => lab::lab(&command),
        Command::Generate(arguments) => reference::generate(&arguments),
    };
    result.unwrap_or_else(|failure| failure.report())
}
