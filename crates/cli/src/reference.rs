//! Manual pages, completions and the reference, made from the definition of the command line, the
//! table of limits and the declarations of the directives.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, Args, Command};
use clap_complete::Shell;
use vervet_load::scenario::Document as Scenario;
use vervet_report::forms::{definitions_markdown, schema as report_schema, stream_schema};
use vervet_server::access_log::{Argument, VARIABLES, Variable};
use vervet_server::config::{Section as _, manual, reference, schema};
use vervet_server::engine::limits::limits_markdown;
use vervet_server::settings::Document;
use vervet_watch::Written;

use crate::arguments;
use crate::failure::Failure;

/// Columns of text in the files: they must not depend on the terminal they are made in.
const COLUMNS: usize = 100;

/// Each file by its name below the root of the repository.
pub(crate) fn files() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = arguments::command().term_width(COLUMNS);
    command.build();
    let mut files = vec![
        ("docs/limits.md".to_owned(), limits_markdown().into_bytes()),
        ("docs/reference/serve.md".to_owned(), serve_markdown(&command).into_bytes()),
    ];
    for page in manual_pages(&command) {
        let mut text = Vec::new();
        page.render(&mut text)?;
        files.push((format!("docs/man/{}", page.get_filename()), text));
    }
    for (shell, name) in
        [(Shell::Bash, "vervet.bash"), (Shell::Zsh, "_vervet"), (Shell::Fish, "vervet.fish")]
    {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), "vervet", &mut text);
        files.push((format!("docs/completions/{name}"), text));
    }
    files.extend(configuration());
    files.extend(scenarios());
    files.extend(load_reports());
    Ok(files)
}

/// What is made from the declarations: a page for each section, the manual page of the file, and
/// the schema for editors.
fn configuration() -> Vec<(String, Vec<u8>)> {
    let root = Document::declaration();
    let pages = reference(root).into_iter();
    let mut files: Vec<_> = pages
        .map(|page| {
            let name = format!("docs/reference/config/{}", page.file);
            (name, page.text.into_bytes())
        })
        .collect();
    let page = manual(root, "vervet.toml", "the configuration of vervet run and vervet check");
    files.push(("docs/man/vervet.toml.5".to_owned(), page.into_bytes()));
    files.push((
        "docs/reference/watch.schema.json".to_owned(),
        format!("{:#}\n", Written::schema().to_value()).into_bytes(),
    ));
    files.push(("docs/reference/log-format.md".to_owned(), log_format_markdown().into_bytes()));
    files.push((
        "docs/reference/vervet.schema.json".to_owned(),
        format!("{:#}\n", schema(root)).into_bytes(),
    ));
    files
}

/// The reference of scenario files and their schema.
fn scenarios() -> Vec<(String, Vec<u8>)> {
    let root = Scenario::declaration();
    let pages = reference(root).into_iter().map(|page| {
        let name = format!("docs/reference/scenario/{}", page.file);
        (name, page.text.into_bytes())
    });
    let schema = format!("{:#}\n", schema(root)).into_bytes();
    let schema = ("docs/reference/scenario.schema.json".to_owned(), schema);
    pages.chain([schema]).collect()
}

/// What reports of load runs mean, and their schemas.
fn load_reports() -> [(String, Vec<u8>); 3] {
    [
        ("docs/load-report.md", definitions_markdown()),
        ("docs/schema/load-report.json", report_schema()),
        ("docs/schema/load-stream.json", stream_schema()),
    ]
    .map(|(name, text)| (name.to_owned(), text.into_bytes()))
}

/// The variables of a format of access logs.
fn log_format_markdown() -> String {
    let mut page = String::from(
        "# Access log formats\n\nA format is `common`, `combined`, `json` or `pretty`, or a text with \
         variables, such as `{client} \"{request}\" {status}`. Double a brace to write it literally.\n\n\
         | variable | nginx | value |\n|---|---|---|\n",
    );
    for variable in VARIABLES {
        let nginx = match variable.nginx {
            "" => String::new(),
            name => format!("`{name}`"),
        };
        // Writing to a String does not fail.
        let _ = writeln!(
            page,
            "| {} | {nginx} | {} |",
            spellings(variable).join(", "),
            variable.meaning.replace('|', "\\|")
        );
    }
    page
}

/// The spellings of a variable, with each word that may follow its colon.
fn spellings(variable: &Variable) -> Vec<String> {
    let name = variable.name;
    match variable.argument {
        Argument::None => vec![format!("`{{{name}}}`")],
        Argument::Name => vec![format!("`{{{name}:NAME}}`")],
        Argument::OneOf(words) => std::iter::once(format!("`{{{name}}}`"))
            .chain(words.iter().map(|word| format!("`{{{name}:{word}}}`")))
            .collect(),
    }
}

/// A page for the program and for each command, those below others included.
fn manual_pages(command: &Command) -> Vec<clap_mangen::Man> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let page = clap_mangen::Man::new(command.clone().name(name.to_owned())).date("");
    let visible = command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
    std::iter::once(page).chain(visible.flat_map(manual_pages)).collect()
}

fn serve_markdown(command: &Command) -> String {
    let mut page = String::from(
        "# vervet serve\n\nOptions of `vervet serve`, generated from the same definition as `vervet serve --help`.\n",
    );
    let Some(serve) = command.find_subcommand("serve") else {
        return page;
    };
    let mut heading = "";
    for argument in serve.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let next = argument.get_help_heading().unwrap_or("Options");
        if next != heading && !argument.is_positional() {
            heading = next;
            let _ = write!(
                page,
                "\n## {heading}\n\n| option | default | variable | what it does |\n|---|---|---|---|\n"
            );
        } else if argument.is_positional() {
            page.push_str(
                "\n| argument | default | variable | what it does |\n|---|---|---|---|\n",
            );
        }
        push_row(&mut page, argument);
    }
    let after = serve.get_after_help().map(ToString::to_string).unwrap_or_default();
    // Writing to a String does not fail.
    let _ = write!(page, "\n```text\n{after}\n```\n");
    page
}

fn push_row(page: &mut String, argument: &Arg) {
    let takes_values = argument.get_action().takes_values();
    let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
    let value = argument
        .get_value_names()
        .and_then(|names| names.first())
        .filter(|_| takes_values)
        .map_or_else(String::new, |name| format!(" {name}"));
    let name = match argument.get_long() {
        Some(long) => format!("--{long}{value}"),
        None => value,
    };
    let help = argument.get_help().map_or_else(String::new, ToString::to_string);
    let help = help.replace('\n', " ").replace('|', "\\|");
    // What no single value can say, the help says in brackets.
    let (help, said) = match help.rsplit_once(" [default: ") {
        Some((help, said)) => (help.to_owned(), said.trim_end_matches(']').to_owned()),
        None => (help, String::new()),
    };
    let default = argument
        .get_default_values()
        .first()
        .filter(|_| takes_values)
        .map_or(said, |value| format!("`{}`", text(value)));
    let variable = argument.get_env().map_or_else(String::new, |name| format!("`{}`", text(name)));
    // Writing to a String does not fail.
    let _ = writeln!(
        page,
        "| `{}` | {default} | {variable} | {help}{} |",
        name.trim(),
        choice(argument)
    );
}

/// The values that can be chosen from.
fn choice(argument: &Arg) -> String {
    let values = argument.get_possible_values();
    let names: Vec<_> = values
        .iter()
        .filter(|_| argument.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(": {}", names.join(", ")),
    }
}

/// The arguments of `vervet generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// Root of the directory tree to write to, laid out as in the repository
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

/// Writes all generated files.
pub(crate) fn generate(arguments: &GenerateArguments) -> Result<ExitCode, Failure> {
    for (name, content) in files().map_err(Failure::Output)? {
        let path = arguments.dir.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        }
        std::fs::write(&path, content).map_err(Failure::write(&path))?;
    }
    Ok(ExitCode::SUCCESS)
}
